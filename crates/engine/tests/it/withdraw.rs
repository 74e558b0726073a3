//! A result that does not fit, with work built on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sequester_core::agent::{self, CUT_OFF};
use sequester_core::context::Share;
use sequester_core::future::BoxFuture;
use sequester_core::jail::{Cell, Error, Jail, Jails};
use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::run::{Event, Outcome, Purpose};
use sequester_core::tool::Spec;
use sequester_engine::read;
use sequester_testkit::memory::{MemoryJails, MemoryStore};
use sequester_testkit::provider::calls;
use serde_json::json;

use super::run::{report, write_then_report};
use super::stage::{Stage, run};

/// `x` and `a` side by side; `c` on `a`, `d` on `c`. All of them add a line to one list without saying so.
const PLAN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [x] Write x\n\n```task\nfiles: {create: [x.txt]}\n```\n\nWrite the letter x.\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [c] Write c\n\n```task\nneeds: [a]\nfiles: {create: [c.txt]}\n```\n\nWrite the letter c.\n\n\
## [d] Write d\n\n```task\nneeds: [c]\nfiles: {create: [d.txt]}\n```\n\nWrite the letter d.\n";

/// Looks around for so many turns, then adds its line to the list, writes its letter, reports.
pub(super) fn add_line(task: &str, messages: &[Message], looks: usize) -> Reply {
    let results = results(messages);
    let write = |path: String, content: String| {
        calls(&[("Write", json!({"path": path, "content": content}))])
    };
    match results.len().checked_sub(looks) {
        None => calls(&[("Read", json!({"path": format!("none-{}.txt", results.len())}))]),
        Some(0) => calls(&[("Read", json!({"path": "list.txt"}))]),
        Some(1) => {
            let list = results.last().copied().filter(|list| *list != "It is not there.");
            write("list.txt".to_owned(), format!("{}{task}\n", list.unwrap_or_default()))
        }
        Some(2) => write(format!("{task}.txt"), "letter\n".to_owned()),
        Some(_) => report(task),
    }
}

fn results(messages: &[Message]) -> Vec<&str> {
    let results = messages.iter().filter_map(|message| match message {
        Message::Results(results) => results.last().map(|one| one.text.as_str()),
        _ => None,
    });
    results.filter(|text| *text != CUT_OFF).collect()
}

/// `x` and `d` take so many turns more than the others.
fn stage(of_x: usize, of_d: usize, jobs: usize) -> Stage {
    let play = move |task: &str, messages: &[Message]| {
        let looks = match task {
            "x" => of_x,
            "d" => of_d,
            _ => 0,
        };
        add_line(task, messages, looks)
    };
    Stage { jobs, ..Stage::new(PLAN, &[], play) }
}

#[tokio::test]
async fn whatever_was_built_on_it_by_then_is_built_anew_on_what_fits() {
    for jobs in [1, 2, 4] {
        for looks in [0, 2, 4, 8, 12] {
            let stage = stage(looks, 4, jobs);
            assert_eq!(stage.conduct().await, Ok(Outcome::Done));
            assert_eq!(stage.files()["list.txt"], "x\na\nc\nd\n", "{jobs} jobs, {looks} looks");
            assert_eq!(stage.commits(), ["Write x", "Write a", "Write c", "Write d"]);
            let audit = stage.audit();
            assert!(audit.is_ok(), "{jobs} jobs, {looks} looks: {:?}", audit.breaches);
        }
    }
}

#[tokio::test]
async fn an_attempt_on_it_is_stopped_and_says_why() {
    // However slow the machine is at what: `x` ends soon after `d` has begun, which has far to go then.
    let (has_begun, of_x) = (AtomicBool::new(false), AtomicUsize::new(usize::MAX));
    let play = move |task: &str, messages: &[Message]| {
        let looks = match task {
            "d" => {
                has_begun.store(true, Ordering::Relaxed);
                70
            }
            "x" => {
                std::thread::sleep(Duration::from_millis(2));
                if has_begun.load(Ordering::Relaxed) {
                    of_x.fetch_min(results(messages).len(), Ordering::Relaxed);
                }
                of_x.load(Ordering::Relaxed)
            }
            _ => 0,
        };
        add_line(task, messages, looks)
    };
    let stage = Stage { jobs: 4, ..Stage::new(PLAN, &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let state = stage.state();
    let tried: Vec<_> = state.task(&"d".into()).unwrap().tried().collect();
    let ends: Vec<_> = tried.iter().map(|one| (one.purpose, one.outcome.clone())).collect();
    let wanted =
        [(Purpose::First, agent::Outcome::Cancelled), (Purpose::Rebased, agent::Outcome::Done)];
    assert_eq!(ends, wanted);
    assert!(tried[0].trouble.as_ref().unwrap().contains("done again"));
    assert!(tried[0].spent.turns < 70, "it was not let run out");
    let replies =
        stage.log().into_iter().filter(|one| matches!(one.entry.event, Event::TurnEnded { .. }));
    let paid: u64 = replies
        .map(|one| match one.entry.event {
            Event::TurnEnded { usage, .. } => usage.total(),
            _ => 0,
        })
        .sum();
    assert_eq!(state.cost.usage.total(), paid, "what it cost is counted");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_meanwhile_ends_the_same() {
    for batches in 1.. {
        let stage = stage(8, 2, 4);
        stage.store.cut_after(batches);
        let killed = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        if killed.is_ok() {
            assert!(batches > 40, "it ended after {batches}");
            break;
        }
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "after {batches}");
        assert_eq!(stage.files()["list.txt"], "x\na\nc\nd\n", "after {batches}");
        let audit = stage.audit();
        assert!(audit.is_ok(), "after {batches}: {:?}", audit.breaches);
    }
}

#[tokio::test]
async fn nobody_begins_with_records_of_an_earlier_wave_that_were_withdrawn_meanwhile() {
    let plan = format!(
        "{PLAN}\n## [e] Write e\n\n```task\nneeds: [x]\nfiles: {{create: [e.txt]}}\n```\n\nWrite the letter e.\n"
    );
    for looks in 0..8 {
        let play = move |task: &str, messages: &[Message]| match task {
            "e" => write_then_report(task, messages),
            "x" => add_line(task, messages, looks),
            _ => add_line(task, messages, 0),
        };
        let stage = Stage { jobs: 4, share: Share::AllEarlier, ..Stage::new(&plan, &[], play) };
        assert_eq!(stage.conduct().await, Ok(Outcome::Done));
        let audit = stage.audit();
        assert!(audit.is_ok(), "{looks} looks: {:?}", audit.breaches);
    }
}

/// Jails in which nothing that holds `b.txt` is looked at before `a` is done a second time.
struct Patient {
    jails: MemoryJails,
    store: MemoryStore,
}

impl Jails for Patient {
    fn specs(&self) -> Vec<Spec> {
        self.jails.specs()
    }

    fn open<'a>(&'a self, cell: &'a Cell) -> BoxFuture<'a, Result<Box<dyn Jail>, Error>> {
        let is_again = || {
            let run = read(&self.store, &run()).unwrap();
            run.task(&"a".into()).is_some_and(|a| a.is_done() && a.attempts > 1)
        };
        Box::pin(async move {
            while self.jails.0.files(&cell.base).unwrap().contains_key("b.txt") && !is_again() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            self.jails.open(cell).await
        })
    }
}

#[tokio::test]
async fn what_is_verified_meanwhile_is_verified_anew_however_far_below_it_something_is_done_again()
{
    // `x`, done again on top of `w`, hides on the branch that `a` does not fit `w`; `t`, which waits for `s`, needs both.
    let tasks = [
        ("w", "files: {create: [w.txt]}"),
        ("x", "files: {create: [x.txt]}"),
        ("a", "files: {create: [a.txt]}"),
        ("b", "needs: [a]\nfiles: {create: [b.txt]}"),
        ("c", "needs: [b]\nworkflow: parallel\nchecks: [\"has b.txt\"]"),
        ("s", "files: {create: [s.txt]}"),
        ("t", "needs: [w, a, s]\nfiles: {create: [t.txt]}"),
    ];
    let task = |(id, block): (&str, &str)| {
        format!("## [{id}] Write {id}\n\n```task\n{block}\n```\n\nWrite {id}.\n\n")
    };
    let plan = tasks.map(task).concat();
    let plan = format!("---\nsequester: 1\n---\n# Letters\n\n{plan}");
    let play = |task: &str, messages: &[Message]| {
        let results = messages.iter().filter_map(|message| match message {
            Message::Results(results) => results.last().map(|one| one.text.clone()),
            _ => None,
        });
        let results: Vec<String> = results.collect();
        let looks = if task == "s" { 40 } else { 0 };
        let write = |path: &str, content: &str| {
            calls(&[("Write", json!({"path": path, "content": content}))])
        };
        let listed = match task {
            "w" => Some("W\n"),
            "x" | "a" => Some("XA\n"),
            _ => None,
        };
        match (results.len().checked_sub(looks), listed) {
            (None, _) => calls(&[("Read", json!({"path": format!("none-{}", results.len())}))]),
            (Some(0), _) => calls(&[("Read", json!({"path": "list.txt"}))]),
            (Some(1), Some(listed)) => write("list.txt", listed),
            (Some(1), None) | (Some(2), Some(_)) => write(&format!("{task}.txt"), &results[looks]),
            _ => report(task),
        }
    };
    let mut stage = Stage { jobs: 8, ..Stage::new(&plan, &[], play) };
    let (jails, store) = (MemoryJails(stage.trees.clone()), stage.store.clone());
    stage.jails = Arc::new(Patient { jails, store });
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let verified = stage.log().into_iter().filter_map(|one| match one.entry.event {
        Event::TaskVerified { tree, .. } if one.entry.scope.task == Some("c".into()) => Some(tree),
        _ => None,
    });
    let verified: Vec<_> = verified.map(|tree| stage.trees.files(&tree).unwrap()).collect();
    assert_eq!(verified.last().unwrap()["a.txt"], b"XA\n", "as `a` is the second time");
}
