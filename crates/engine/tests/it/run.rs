use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sequester_core::agent::CUT_OFF;
use sequester_core::message::{Answered, Message};
use sequester_core::moment::Moment;
use sequester_core::provider::Reply;
use sequester_core::run::{Event, Outcome, Purpose};
use sequester_engine::Clock;
use sequester_testkit::provider::calls;
use serde_json::json;

use super::stage::Stage;

/// Four tasks: `b` and `c` side by side on `a`, `d` on both.
pub(super) const PLAN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt], read: [a.txt]}\n```\n\nWrite the letter b.\n\n\
## [c] Write c\n\n```task\nneeds: [a]\nfiles: {create: [c.txt]}\n```\n\nWrite the letter c.\n\n\
## [d] Write d\n\n```task\nneeds: [b, c]\nfiles: {create: [d.txt], read: [b.txt, c.txt]}\n```\n\nWrite the letter d.\n";

pub(super) fn report(task: &str) -> Reply {
    calls(&[(
        "report",
        json!({
            "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
            "findings": {"files_changed": [format!("{task}.txt")], "tests_written": []},
            "context_summary": format!("Wrote {task}."),
            "self_review": [{"item": "It is there", "ok": true}],
        }),
    )])
}

/// Writes the task's file, and again if that was cut off; then reports.
pub(super) fn write_then_report(task: &str, messages: &[Message]) -> Reply {
    let is_cut = |one: &Answered| one.text == CUT_OFF;
    let written = messages.iter().rev().find_map(|message| match message {
        Message::Results(results) => Some(!results.iter().any(is_cut)),
        _ => None,
    });
    if written == Some(true) {
        return report(task);
    }
    let path = format!("{task}.txt");
    calls(&[("Write", json!({"path": path, "content": format!("letter {task}\n")}))])
}

fn stage() -> Stage {
    Stage::new(PLAN, &[("README.md", "Letters\n")], write_then_report)
}

#[tokio::test]
async fn every_task_becomes_one_commit_in_the_plans_order_and_sees_what_it_builds_on() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(stage.commits(), ["Write a", "Write b", "Write c", "Write d"]);
    let files: Vec<String> = stage.files().into_keys().collect();
    assert_eq!(files, ["README.md", "a.txt", "b.txt", "c.txt", "d.txt"]);
    let state = stage.state();
    let base = |task: &str| {
        let tree = state.task(&task.into()).unwrap().base.clone().unwrap();
        stage.trees.files(&tree).unwrap().into_keys().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(base("c"), "README.md a.txt", "a sibling's change is invisible");
    assert_eq!(base("d"), "README.md a.txt b.txt c.txt");
}

/// Digests of all contexts, by task and attempt.
fn contexts(stage: &Stage) -> BTreeMap<String, String> {
    let log = stage.log();
    let shown = log.iter().filter_map(|one| match &one.entry.event {
        Event::AttemptStarted(started) => {
            let scope = &one.entry.scope;
            let key = format!("{:?} {:?}", scope.task, scope.attempt);
            Some((key, started.context.digest.to_string()))
        }
        _ => None,
    });
    shown.collect()
}

#[tokio::test]
async fn contexts_and_tree_do_not_depend_on_how_many_work_at_once() {
    let one = Stage { jobs: 1, ..stage() };
    let many = Stage { jobs: 16, ..stage() };
    one.conduct().await.unwrap();
    many.conduct().await.unwrap();
    assert_eq!(contexts(&one), contexts(&many));
    assert_eq!(one.files(), many.files());
    assert_eq!(one.commits(), many.commits());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_after_any_batch_ends_as_if_it_had_not_been() {
    let whole = stage();
    whole.conduct().await.unwrap();
    for batches in 1.. {
        let stage = stage();
        stage.store.cut_after(batches);
        let killed = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        if let Ok(ended) = killed {
            // What ends together is kept together, so that one run has a few batches less than another.
            assert_eq!(ended, Ok(Outcome::Done), "after {batches}");
            assert!(batches * 3 > whole.store.batches() * 2, "it ended after {batches}");
            break;
        }
        // A reply may be lost between its delivery and its append: one of each attempt that is under way.
        let state = stage.state();
        let under_way: usize = state.tasks.iter().map(|task| task.running.len()).sum();
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "after {batches}");
        assert_eq!(stage.files(), whole.files(), "after {batches}");
        assert_eq!(stage.commits(), whole.commits(), "after {batches}");
        let again: u32 = stage.delivered.lock().unwrap().values().map(|times| times - 1).sum();
        assert!(again as usize <= under_way, "{again} replies were paid again after {batches}");
        let attempts = stage
            .log()
            .iter()
            .filter(|one| matches!(one.entry.event, Event::AttemptStarted(_)))
            .count();
        assert_eq!(attempts, 4, "no attempt is begun anew after {batches}");
    }
}

#[tokio::test]
async fn a_clock_that_goes_backwards_changes_nothing_but_times() {
    struct Backwards(AtomicU64);
    impl Clock for Backwards {
        fn now(&self) -> Moment {
            Moment(self.0.fetch_sub(1_000, Ordering::Relaxed))
        }
    }
    let (whole, back) = (stage(), AtomicU64::new(1_794_819_912_345));
    whole.conduct().await.unwrap();
    let stage = Stage { clock: Arc::new(Backwards(back)), ..stage() };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(contexts(&stage), contexts(&whole));
    assert_eq!((stage.files(), stage.commits()), (whole.files(), whole.commits()));
    let log = stage.log();
    assert!(log.is_sorted_by_key(|one| (one.seq, one.at)), "events stay in order");
    assert_eq!(log.len(), whole.log().len());
}

#[tokio::test]
async fn a_subagent_that_lies_about_its_files_is_refuted_and_told_what_is_missing() {
    let lie = |task: &str, messages: &[Message]| {
        let Some(Message::User(prompt)) = messages.first() else { return report(task) };
        let is_told = prompt.contains("What speaks against the change");
        if task == "a" && !is_told { report(task) } else { write_then_report(task, messages) }
    };
    let stage = Stage::new(PLAN, &[], lie);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let state = stage.state();
    let tried: Vec<Purpose> =
        state.task(&"a".into()).unwrap().tried().map(|one| one.purpose).collect();
    assert_eq!(tried, [Purpose::First, Purpose::Fix]);
    assert_eq!(stage.files()["a.txt"], "letter a\n");
}

#[tokio::test]
async fn tasks_that_change_one_file_without_saying_so_are_done_one_after_the_other() {
    let both = |task: &str, messages: &[Message]| {
        let seen = messages.iter().rev().find_map(|message| match message {
            Message::Results(results) => results.last().map(|one| one.text.clone()),
            _ => None,
        });
        let write = |path: &str, content: String| {
            calls(&[("Write", json!({"path": path, "content": content}))])
        };
        match seen.as_deref() {
            None => calls(&[("Read", json!({"path": "list.txt"}))]),
            Some("Written.") if messages.len() > 6 => report(task),
            Some("Written.") => write(&format!("{task}.txt"), "letter\n".to_owned()),
            Some(list) => {
                let list = if list == "It is not there." { "" } else { list };
                write("list.txt", format!("{list}{task}\n"))
            }
        }
    };
    let stage = Stage::new(PLAN, &[], both);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(stage.files()["list.txt"], "a\nb\nc\nd\n");
    let state = stage.state();
    let purposes: Vec<Purpose> =
        state.task(&"c".into()).unwrap().tried().map(|one| one.purpose).collect();
    // The commit of `c` and the base of `d` both find it.
    assert_eq!(purposes, [Purpose::First, Purpose::Rebased]);
    let log = stage.log();
    let said = log.iter().filter(|one| matches!(one.entry.event, Event::MergeConflicted { .. }));
    assert_eq!(said.count(), 1);
}
