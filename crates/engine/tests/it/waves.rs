//! Where all earlier waves are shared, what a task is shown does not depend on who was faster, nor on when a conflict was found.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sequester_core::agent::CUT_OFF;
use sequester_core::context::Share;
use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::recall::Relevance;
use sequester_core::run::{Event, Outcome};
use sequester_core::store::RunStore as _;
use sequester_testkit::provider::calls;
use serde_json::json;

use super::stage::Stage;

const WORDS: &str =
    "Stamps, envelopes, parcels, couriers, weights, scales, sacks, vans, counters and queues";

/// Tasks with what they need; all of them are about the same.
fn plan(tasks: &[(&str, &str)]) -> String {
    let mut plan = "---\nsequester: 1\n---\n# Letters\n\n".to_owned();
    for (id, needs) in tasks {
        let block = format!("```task\nneeds: [{needs}]\nfiles: {{create: [{id}.txt]}}\n```");
        let _ = write!(plan, "## [{id}] Write {id}\n\n{block}\n\n{WORDS}.\n\n");
    }
    plan
}

/// What the calls so far brought, but for those that were cut off.
fn results(messages: &[Message]) -> Vec<&str> {
    let results = messages.iter().filter_map(|message| match message {
        Message::Results(results) => results.last().map(|one| one.text.as_str()),
        _ => None,
    });
    results.filter(|text| *text != CUT_OFF).collect()
}

/// Looks around for so many turns, reads the list, writes what it makes of it and its letter, and reports what it had read.
fn work(task: &str, messages: &[Message], looks: usize, make: fn(&str, &str) -> String) -> Reply {
    let results = results(messages);
    let write = |path: String, content: String| {
        calls(&[("Write", json!({"path": path, "content": content}))])
    };
    let found = results.get(looks).copied().unwrap_or_default();
    let list = if found == "It is not there." { "" } else { found };
    match results.len().checked_sub(looks) {
        None => calls(&[("Read", json!({"path": format!("none-{}.txt", results.len())}))]),
        Some(0) => calls(&[("Read", json!({"path": "list.txt"}))]),
        Some(1) => write("list.txt".to_owned(), make(task, list)),
        Some(2) => write(format!("{task}.txt"), "letter\n".to_owned()),
        Some(_) => {
            let words: Vec<&str> = WORDS.split([',', ' ']).rev().collect();
            let read = list.split_whitespace().collect::<Vec<_>>().join("-");
            let summary = format!("{}; {task} after ({read}).", words.join(" "));
            calls(&[(
                "report",
                json!({
                    "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
                    "findings": {"files_changed": [], "tests_written": []},
                    "context_summary": summary,
                    "self_review": [{"item": "It is there", "ok": true}],
                }),
            )])
        }
    }
}

type Prompts = BTreeMap<(String, u32), String>;

/// What every attempt was shown, and the branch.
async fn play(
    tasks: &[(&str, &str)],
    (slow, looks): (&'static str, usize),
    jobs: usize,
    make: fn(&str, &str) -> String,
) -> (Prompts, Vec<String>) {
    let looks = move |task: &str| if task == slow { looks } else { 0 };
    let play = move |task: &str, messages: &[Message]| work(task, messages, looks(task), make);
    let (share, relevance) = (Share::AllEarlier, Relevance::Seed);
    let stage = Stage { jobs, share, relevance, ..Stage::new(&plan(tasks), &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let audit = stage.audit();
    assert!(audit.is_ok(), "{slow}, {jobs} jobs: {:?}", audit.breaches);
    let shown = stage.log().into_iter().filter_map(|one| match one.entry.event {
        Event::AttemptStarted(started) => {
            let prompt = stage.store.blob(&started.context.prompt).unwrap();
            let attempt = (one.entry.scope.task?.to_string(), one.entry.scope.attempt?);
            Some((attempt, String::from_utf8(prompt).unwrap()))
        }
        _ => None,
    });
    (shown.collect(), stage.commits())
}

/// Plays it with each task as the slow one: all is the same each time. As each task was shown it last, and the branch.
async fn play_all(
    tasks: &'static [(&str, &str)],
    make: fn(&str, &str) -> String,
) -> (BTreeMap<String, String>, Vec<String>) {
    let first = play(tasks, ("", 0), 1, make).await;
    for (slow, _) in tasks {
        for (looks, jobs) in [(1, 2), (3, 4), (7, 4), (12, 4)] {
            let again = play(tasks, (slow, looks), jobs, make).await;
            assert_eq!(again, first, "{slow} looks {looks} times, {jobs} jobs");
        }
    }
    let last = first.0.into_iter().map(|((task, _), prompt)| (task, prompt)).collect();
    (last, first.1)
}

#[tokio::test]
async fn a_conflict_found_early_or_late_shows_nobody_anything_else() {
    // Third waves before first ones in the plan; `z` does not fit `a`, nor `c` what `e` did.
    let tasks = &[("a", ""), ("b", "a"), ("c", "b"), ("z", ""), ("e", "z"), ("f", "e")];
    let add = |task: &str, list: &str| format!("{list}{task}\n");
    let (shown, commits) = play_all(tasks, add).await;
    let wanted = ["Write a", "Write z", "Write b", "Write e", "Write c", "Write f"];
    assert_eq!(commits, wanted, "wave after wave, each in the plan's order");
    assert!(shown["b"].contains("z after (a)"), "{}", shown["b"]);
    assert!(shown["c"].contains("e after (a-z-b)"), "{}", shown["c"]);
}

#[tokio::test]
async fn what_does_not_fit_in_the_base_of_one_task_is_done_again_before_its_whole_wave_begins() {
    // `x` and `b` write the same. Done again on top of `a`, `x` hides on the branch that `b` does not fit `a`; `t` needs just these two.
    let tasks = &[("a", ""), ("x", ""), ("b", ""), ("u", "x"), ("t", "a, b"), ("v", "u")];
    let make = |task: &str, list: &str| match task {
        "a" => "A\n".to_owned(),
        "x" | "b" => "B\n".to_owned(),
        _ => format!("{list}{task}\n"),
    };
    let (shown, _) = play_all(tasks, make).await;
    assert!(shown["u"].contains("b after (B)"), "{}", shown["u"]);
}
