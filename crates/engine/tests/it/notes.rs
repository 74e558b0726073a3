//! What tasks write into the project's notes, in whole runs: who sees it, and that it reaches the file once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sequester_audit::Rule;
use sequester_core::context::Kind;
use sequester_core::message::Message;
use sequester_core::notes::{Notebook as _, Notes};
use sequester_core::provider::Reply;
use sequester_core::record::Switches;
use sequester_core::run::{Event, Outcome, Scope};
use sequester_testkit::provider::calls;
use serde_json::json;

use super::records::{digests, passed, shown, told};
use super::run::{PLAN, write_then_report};
use super::stage::Stage;

const PERSONS: &str = "# Notes\n\n## House rules\n\nLetters are lower case.\n\n## Old\n\n";

/// Writes a note first, then does its work.
fn noting(task: &str, messages: &[Message]) -> Reply {
    match messages.len() {
        1 => {
            let content = format!("- the letter {task} has a note; note-{task}");
            calls(&[("update_notes", json!({"section": "Findings", "content": content}))])
        }
        3 => write_then_report(task, &messages[..1]),
        _ => write_then_report(task, messages),
    }
}

fn stage() -> Stage {
    let switches = Switches { summaries: false, ..Switches::default() };
    Stage { switches, noted: PERSONS, ..Stage::new(PLAN, &[], noting) }
}

/// Events that say so, by task and in the order of the plan.
fn merged(stage: &Stage) -> Vec<(String, Vec<String>)> {
    let log = stage.log();
    let mut all: Vec<(String, Vec<String>)> = log
        .iter()
        .filter_map(|one| match &one.entry.event {
            Event::NotesMerged { sections, .. } => {
                Some((one.entry.scope.task.as_ref()?.to_string(), sections.clone()))
            }
            _ => None,
        })
        .collect();
    all.sort();
    all
}

/// Who wrote what into the file, in the order of the plan.
fn file(stage: &Stage) -> Vec<(String, String)> {
    let notes = Notes::parse(&stage.notes.read().unwrap());
    let mut all: Vec<_> =
        notes.entries().into_iter().map(|one| (one.author, one.content)).collect();
    all.sort();
    all
}

#[tokio::test]
async fn notes_pass_along_the_needs_a_persons_to_all_and_each_reaches_the_file_once() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let (b, d) = ("a/note/Findings", "c/note/Findings b/note/Findings a/note/Findings");
    assert_eq!(passed(&stage), told([("a", ""), ("b", b), ("c", b), ("d", d)]));
    for one in shown(&stage) {
        let persons: Vec<&str> = one
            .rows
            .iter()
            .filter(|row| row.kind == Kind::Note)
            .map(|row| row.source.as_str())
            .collect();
        assert_eq!(persons, ["notes: House rules"], "{}", one.task);
        assert!(one.prompt.contains("Letters are lower case."), "{}", one.prompt);
        let is_blind = |(own, other): (&str, &str)| {
            one.task != own || !one.prompt.contains(&format!("note-{other}"))
        };
        assert!([("b", "c"), ("c", "b"), ("a", "a")].into_iter().all(is_blind), "{}", one.prompt);
    }
    let each = |task: &str| (task.to_owned(), vec!["Findings".to_owned()]);
    assert_eq!(merged(&stage), ["a", "b", "c", "d"].map(each));
    let wrote = |task: &str| {
        let content = format!("- the letter {task} has a note; note-{task}");
        (format!("task {task} of run r1"), content)
    };
    assert_eq!(file(&stage), ["a", "b", "c", "d"].map(wrote));
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn what_is_switched_off_is_neither_shown_nor_written() {
    let stage = Stage { switches: Switches { notes: false, ..Switches::default() }, ..stage() };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(merged(&stage), []);
    assert_eq!(stage.notes.read(), Ok(String::new()));
    assert!(shown(&stage).iter().all(|one| !one.prompt.contains("note-")));
}

#[tokio::test(start_paused = true)]
async fn whoever_is_killed_at_any_moment_leaves_the_same_notes_and_contexts() {
    let whole = stage();
    whole.conduct().await.unwrap();
    for batches in 1..whole.store.batches() {
        let stage = stage();
        stage.store.cut_after(batches);
        let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "killed after {batches}");
        assert_eq!(file(&stage), file(&whole), "killed after {batches}");
        assert_eq!(merged(&stage), merged(&whole), "killed after {batches}");
        assert_eq!(digests(&stage), digests(&whole), "killed after {batches}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_file_is_in_the_log_though_what_the_task_needs_is_done_again() {
    let whole = stage();
    whole.conduct().await.unwrap();
    let mut found = 0;
    // The notes are merged beside the work, so that not every time a cut falls between the file and the log.
    let cuts = (0..20).flat_map(|_| 1..whole.store.batches());
    for batches in cuts {
        if found > 0 && batches == 1 {
            break;
        }
        let stage = stage();
        stage.store.cut_after(batches);
        let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        stage.store.revive();
        let unnoted = stage.state().unnoted();
        if !unnoted.iter().any(|task| task.as_str() == "b") {
            continue;
        }
        found += 1;
        let event = Event::RunResumed { retry: vec!["a".into()], budget: None };
        stage.tell(Scope::default(), event).await;
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "killed after {batches}");
        let recorded = merged(&stage);
        assert!(recorded.iter().any(|(task, _)| task == "b"), "{batches}: {recorded:?}");
    }
    assert!(found > 0);
}

#[tokio::test(start_paused = true)]
async fn what_reached_the_file_and_not_the_log_goes_with_what_is_taken_back() {
    // Done again it stops, or is done without a note.
    let again = |task: &str, stops: bool| {
        let (decision, reason) =
            if stops { ("STOP", "It cannot be done.") } else { ("PROCEED", "") };
        calls(&[(
            "report",
            json!({
                "task_id": task, "phase": "write", "status": "complete", "decision": decision,
                "findings": {"files_changed": [], "tests_written": []},
                "context_summary": "Nothing is noted.", "reason": reason,
                "self_review": [{"item": "It is there", "ok": true}],
            }),
        )])
    };
    let mut found = [0, 0];
    for batches in (0..20).flat_map(|_| 1..30) {
        for stops in [true, false] {
            if found[usize::from(stops)] > 1 {
                continue;
            }
            let is_again = Arc::new(AtomicBool::new(false));
            let now = Arc::clone(&is_again);
            let play =
                move |task: &str, messages: &[Message]| match (task, now.load(Ordering::Relaxed)) {
                    ("a", true) if stops => again(task, true),
                    ("a", true) if messages.len() > 1 => again(task, false),
                    ("a", true) => write_then_report(task, messages),
                    _ => noting(task, messages),
                };
            let stage = Stage { jobs: 1, ..Stage::new(PLAN, &[], play) };
            stage.store.cut_after(batches);
            let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
            stage.store.revive();
            let of_a =
                |stage: &Stage| file(stage).iter().any(|(who, _)| who.starts_with("task a "));
            if !of_a(&stage) || merged(&stage).iter().any(|(task, _)| task == "a") {
                continue;
            }
            found[usize::from(stops)] += 1;
            is_again.store(true, Ordering::Relaxed);
            let event = Event::RunResumed { retry: vec!["a".into()], budget: None };
            stage.tell(Scope::default(), event).await;
            let outcome = if stops { Outcome::Failed } else { Outcome::Done };
            assert_eq!(stage.conduct().await, Ok(outcome), "killed after {batches}");
            assert!(!of_a(&stage), "killed after {batches}: {:?}", file(&stage));
            let said = merged(&stage).into_iter().filter(|(task, _)| task == "a");
            assert_eq!(said.collect::<Vec<_>>(), [("a".to_owned(), Vec::new())]);
        }
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
}

#[tokio::test]
async fn whoever_waits_for_the_file_holds_back_neither_work_nor_commits_but_the_end() {
    let stage = Stage { jobs: 1, ..stage() };
    let held = stage.notes.hold();
    let all_is_done = async {
        while stage.commits().len() < 4 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!((merged(&stage), stage.state().ended), (vec![], None));
        drop(held);
    };
    let all_is_done = tokio::time::timeout(Duration::from_mins(1), all_is_done);
    let (outcome, in_time) = tokio::join!(stage.conduct(), all_is_done);
    assert_eq!((outcome, in_time.is_ok()), (Ok(Outcome::Done), true));
    assert_eq!(merged(&stage).len(), 4);
}

#[tokio::test]
async fn what_the_file_refused_is_merged_later() {
    let mut found = Vec::new();
    for refusals in [1, 100] {
        let stage = stage();
        stage.notes.refuse(refusals);
        assert_eq!(stage.conduct().await, Ok(Outcome::Done));
        found.push(file(&stage).len());
        stage.notes.refuse(0);
        assert_eq!(stage.conduct().await, Ok(Outcome::Done));
        assert_eq!(file(&stage).len(), 4);
        // Said each time, and then done once.
        let done = merged(&stage).into_iter().filter(|(_, sections)| !sections.is_empty());
        assert_eq!(done.count(), 4);
    }
    assert_eq!(found, [4, 0]);
}

#[tokio::test]
async fn notes_of_a_report_count_also_those_of_a_try_that_was_mended() {
    let play = |task: &str, messages: &[Message]| {
        let Some(Message::User(prompt)) = messages.first() else { panic!() };
        let is_fix = prompt.contains("What speaks against the change");
        if task != "b" || is_fix {
            return write_then_report(task, messages);
        }
        calls(&[(
            "report",
            json!({
                "task_id": task, "phase": "write", "status": "complete", "decision": "PROCEED",
                "findings": {"files_changed": [], "tests_written": []},
                "context_summary": "Nothing was written.",
                "notes": [{"section": "TODO", "content": "- note-first"}],
                "self_review": [{"item": "It is there", "ok": true}],
            }),
        )])
    };
    let stage = Stage { noted: "", ..Stage::new(PLAN, &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(merged(&stage), [("b".to_owned(), vec!["TODO".to_owned()])]);
    assert_eq!(file(&stage), [("task b of run r1".to_owned(), "- note-first".to_owned())]);
    let seen = shown(&stage).into_iter().filter(|one| one.prompt.contains("note-first"));
    let seen: BTreeSet<String> = seen.map(|one| one.task).collect();
    assert_eq!(seen, BTreeSet::from(["d".to_owned()]));
}

#[tokio::test]
async fn what_a_task_noted_goes_with_what_is_taken_back() {
    let stops = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&stops);
    let play = move |task: &str, messages: &[Message]| {
        if task != "a" || !now.load(Ordering::Relaxed) {
            return noting(task, messages);
        }
        calls(&[(
            "report",
            json!({
                "task_id": task, "phase": "write", "status": "complete", "decision": "STOP",
                "findings": {"files_changed": [], "tests_written": []},
                "context_summary": "It cannot be done.", "reason": "It cannot be done.",
                "self_review": [{"item": "It is there", "ok": false}],
            }),
        )])
    };
    let stage = Stage { noted: PERSONS, ..Stage::new(PLAN, &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let wrote = |stage: &Stage| -> Vec<String> {
        file(stage).into_iter().map(|(author, _)| author).collect()
    };
    let all = ["a", "b", "c", "d"].map(|task| format!("task {task} of run r1"));
    assert_eq!(wrote(&stage), all);
    stops.store(true, Ordering::Relaxed);
    let again = || Event::RunResumed { retry: vec!["a".into()], budget: None };
    stage.tell(Scope::default(), again()).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Failed));
    assert_eq!(wrote(&stage), all[1..]);
    stops.store(false, Ordering::Relaxed);
    stage.tell(Scope::default(), again()).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(wrote(&stage), all);
    assert_eq!(stage.state().unnoted(), []);
}

#[tokio::test]
async fn a_note_that_no_person_wrote_is_a_breach() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let before = stage.audit();
    assert_eq!(before.breaches, []);
    // The same run, as if other notes had stood there when it began.
    let mut log = stage.log();
    if let Event::RunStarted(started) = &mut log[0].entry.event {
        started.notes = None;
    }
    let after = stage.audit_of(&log);
    let forged = after.breaches.iter().filter(|one| one.rule == Rule::Fragment).count();
    assert_eq!(forged, 4, "{:?}", after.breaches);
}
