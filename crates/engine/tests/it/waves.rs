//! What a task is shown and built on does not depend on who was faster, nor on when a conflict was found.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sequester_core::agent::CUT_OFF;
use sequester_core::context::Share;
use sequester_core::id::TreeId;
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

/// What every attempt that counts was built on and shown.
type Shown = BTreeMap<String, Vec<(TreeId, String)>>;

/// That, the branch and its files.
type Came = (Shown, Vec<String>, BTreeMap<String, String>);

async fn play(
    (share, tasks): (Share, &[(&str, &str)]),
    (slow, looks): (&'static str, usize),
    jobs: usize,
    make: fn(&str, &str) -> String,
) -> Came {
    let looks = move |task: &str| if task == slow { looks } else { 0 };
    let play = move |task: &str, messages: &[Message]| work(task, messages, looks(task), make);
    let relevance = Relevance::Seed;
    let stage = Stage { jobs, share, relevance, ..Stage::new(&plan(tasks), &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let audit = stage.audit();
    assert!(audit.is_ok(), "{slow}, {jobs} jobs: {:?}", audit.breaches);
    let (mut shown, state) = (Shown::new(), stage.state());
    for one in stage.log() {
        let Event::AttemptStarted(started) = one.entry.event else { continue };
        let (task, attempt) = (one.entry.scope.task.unwrap(), one.entry.scope.attempt.unwrap());
        if !state.task(&task).unwrap().is_void(attempt) {
            let prompt = stage.store.blob(&started.context.prompt).unwrap();
            let prompt = String::from_utf8(prompt).unwrap();
            shown.entry(task.to_string()).or_default().push((started.base, prompt));
        }
    }
    (shown, stage.commits(), stage.files())
}

/// Plays it with each task as the slow one: all is the same each time. As each task was shown it last, and the branch.
async fn play_all(
    share: Share,
    tasks: &'static [(&str, &str)],
    make: fn(&str, &str) -> String,
) -> (BTreeMap<String, String>, Vec<String>) {
    let first = play((share, tasks), ("", 0), 1, make).await;
    for (slow, _) in tasks {
        for (looks, jobs) in [(1, 2), (3, 4), (7, 4), (12, 4)] {
            let again = play((share, tasks), (slow, looks), jobs, make).await;
            assert_eq!(again, first, "{slow} looks {looks} times, {jobs} jobs, {share:?}");
        }
    }
    let last = |(task, mut all): (String, Vec<(TreeId, String)>)| (task, all.pop().unwrap().1);
    (first.0.into_iter().map(last).collect(), first.1)
}

#[tokio::test]
async fn a_conflict_found_early_or_late_shows_nobody_anything_else() {
    // Third waves before first ones in the plan; `z` does not fit `a`, nor `c` what `e` did.
    let tasks = &[("a", ""), ("b", "a"), ("c", "b"), ("z", ""), ("e", "z"), ("f", "e")];
    let add = |task: &str, list: &str| format!("{list}{task}\n");
    let (shown, commits) = play_all(Share::AllEarlier, tasks, add).await;
    let wanted = ["Write a", "Write z", "Write b", "Write e", "Write c", "Write f"];
    assert_eq!(commits, wanted, "wave after wave, each in the plan's order");
    assert!(shown["b"].contains("z after (a)"), "{}", shown["b"]);
    assert!(shown["c"].contains("e after (a-z-b)"), "{}", shown["c"]);
}

/// `x` and `b` write the same. Done again on top of `a`, `x` hides on the branch that `b` does not fit `a`.
fn hide(task: &str, list: &str) -> String {
    match task {
        "a" => "A\n".to_owned(),
        "x" | "b" => "B\n".to_owned(),
        _ => format!("{list}{task}\n"),
    }
}

#[tokio::test]
async fn what_does_not_fit_in_the_base_of_one_task_is_done_again_before_its_whole_wave_begins() {
    // `t` needs just `a` and `b`.
    let tasks = &[("a", ""), ("x", ""), ("b", ""), ("u", "x"), ("t", "a, b"), ("v", "u")];
    let (shown, _) = play_all(Share::AllEarlier, tasks, hide).await;
    assert!(shown["u"].contains("b after (B)"), "{}", shown["u"]);
}

#[tokio::test]
async fn what_does_not_fit_in_the_base_of_one_task_is_done_again_before_it_is_on_the_branch() {
    // `d` is built on `b`, and fast or slow; `t` needs just `a` and `b`, and waits for `w`.
    let tasks = &[("a", ""), ("x", ""), ("b", ""), ("d", "b"), ("w", ""), ("t", "a, b, w")];
    let make = |task: &str, list: &str| match task {
        "w" => list.to_owned(),
        _ => hide(task, list),
    };
    for share in Share::ALL {
        let (shown, commits) = play_all(share, tasks, make).await;
        let seen = share == Share::None || shown["d"].contains("b after (B)");
        assert!(seen, "{share:?}: {}", shown["d"]);
        assert_eq!(commits.len(), tasks.len(), "{share:?}: nothing came onto the branch twice");
    }
}
