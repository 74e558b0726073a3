//! What a person accepts or hands back survives a process that is killed, and is taken once.

use std::time::Duration;

use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::repository::Repository as _;
use sequester_core::run::{Event, Outcome, PersonChoice, Recorded, Scope};
use sequester_core::store::RunStore as _;
use tokio::time::timeout;

use super::run::write_then_report;
use super::stage::Stage;

/// The first owes a file that it never writes; the second builds on it.
const PLAN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt, owed.txt]}\n```\n\nWrite the letter a.\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nWrite the letter b.\n";

fn play(task: &str, messages: &[Message]) -> Reply {
    write_then_report(task, messages)
}

fn about_a() -> Scope {
    Scope { task: Some("a".into()), ..Scope::default() }
}

/// A run that waits for a person, and their word.
async fn told(word: PersonChoice) -> Stage {
    let stage = Stage::new(PLAN, &[("README.md", "Letters\n")], play);
    assert_eq!(stage.conduct().await, Ok(Outcome::Waiting));
    let state = stage.state();
    let question = state.inbox().next().unwrap().0.clone();
    let by = "Ada".to_owned();
    let event = if word == PersonChoice::Accepted {
        Event::QuestionAnswered { question, answer: "Accept as it is".to_owned(), by }
    } else {
        let parked = state.task(&"a".into()).unwrap().parked().unwrap();
        let mut change = stage.trees.between(parked.base, parked.tree).unwrap();
        let mut owed = change.entries[0].clone();
        "owed.txt".clone_into(&mut owed.path);
        change.entries.push(owed);
        let (base, tree) = (parked.base, stage.trees.with_change(parked.base, &change).unwrap());
        Event::TaskHandedBack { base: base.clone(), tree, by, left_out: Vec::new() }
    };
    stage.tell(about_a(), event).await;
    stage
}

fn count(log: &[Recorded], is: impl Fn(&Event) -> bool) -> usize {
    log.iter().filter(|one| is(&one.entry.event)).count()
}

#[tokio::test(start_paused = true)]
async fn a_person_s_word_is_taken_once_after_whatever_batch_the_process_is_killed() {
    for word in [PersonChoice::Accepted, PersonChoice::HandedBack] {
        let whole = told(word).await;
        let before = whole.store.batches();
        assert_eq!(whole.conduct().await, Ok(Outcome::Done), "{word:?}");
        let breaches = whole.audit().breaches;
        assert_eq!(breaches, [], "{word:?}");
        for batches in 0..whole.store.batches() - before {
            let stage = told(word).await;
            stage.store.cut_after(batches);
            // Whoever appends after the cut waits for ever.
            let _ = timeout(Duration::from_mins(1), stage.conduct()).await;
            stage.store.revive();
            let ended = stage.conduct().await;
            assert_eq!(ended, Ok(Outcome::Done), "{word:?} after {batches}");
            assert_eq!(stage.files(), whole.files(), "{word:?} after {batches}");
            assert_eq!(stage.commits(), whole.commits(), "{word:?} after {batches}");
            let log = stage.log();
            let committed = count(&log, |event| matches!(event, Event::TaskCommitted { .. }));
            let accepted = count(&log, |event| matches!(event, Event::ChangeAccepted { .. }));
            let wanted = usize::from(word == PersonChoice::Accepted);
            assert_eq!((committed, accepted), (2, wanted), "{word:?} after {batches}");
            assert_eq!(stage.audit().breaches, [], "{word:?} after {batches}");
            let person = stage.state().task(&"a".into()).unwrap().ended.clone().unwrap().person;
            assert_eq!(person.unwrap().choice, word);
        }
    }
}

/// The prompts that the first attempt of a task was shown.
fn prompt(stage: &Stage, task: &str) -> String {
    let shown = stage.log().into_iter().find_map(|one| match one.entry.event {
        Event::AttemptStarted(started) if one.entry.scope.task == Some(task.into()) => {
            Some(started.context.prompt)
        }
        _ => None,
    });
    String::from_utf8(stage.store.blob(&shown.unwrap()).unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_builds_on_a_persons_result_is_not_told_a_report_as_fact() {
    let stage = told(PersonChoice::HandedBack).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let shown = prompt(&stage, "b");
    assert!(shown.contains("A person made this change by hand"), "{shown}");
    let stage = told(PersonChoice::Accepted).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let shown = prompt(&stage, "b");
    assert!(shown.contains("this summary is not verified"), "{shown}");
}
