//! Artifacts and backpacks in whole runs: who gets them, that no timing and no crash changes them, and that none can be forged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sequester_audit::{Archive, Rule, audit};
use sequester_core::agent::Inherited;
use sequester_core::change::Change;
use sequester_core::context::Share;
use sequester_core::digest::Digest;
use sequester_core::id::TreeId;
use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::record::{Catalogue, Seeker, Switches};
use sequester_core::repository::{Repository as _, Snapshot};
use sequester_core::run::{AttemptStarted, Event, Outcome, Scope};
use sequester_core::store::{Batch, RunStore as _};
use sequester_engine::Trouble;
use sequester_testkit::provider::calls;
use serde_json::{Value, json};

use super::run::{PLAN, write_then_report};
use super::stage::Stage;

type Steps = Vec<(&'static str, Value)>;

fn pack(item: &str) -> (&'static str, Value) {
    ("add_to_backpack", json!({ "item": item }))
}

fn artifact(label: &str, content: &str, refs: &[&str]) -> (&'static str, Value) {
    ("record_artifact", json!({"type": label, "content": content, "refs": refs}))
}

/// Does these, then writes the task's file and reports.
fn doing(steps: impl Fn(&str, bool) -> Steps) -> impl Fn(&str, &[Message]) -> Reply {
    move |task, messages| {
        let Some(Message::User(prompt)) = messages.first() else { panic!("nobody asked") };
        let steps = steps(task, prompt.contains("What speaks against the change"));
        let at = messages.len() / 2;
        match steps.get(at) {
            Some((name, arguments)) => calls(&[(*name, arguments.clone())]),
            None if at == steps.len() => write_then_report(task, &messages[..1]),
            None => write_then_report(task, messages),
        }
    }
}

fn steps(task: &str, _: bool) -> Steps {
    match task {
        "a" => vec![
            pack("Stamps cost 80 cents."),
            pack("The printer is broken."),
            artifact("TODO", "Buy stamps.", &[]),
        ],
        "b" => vec![("remove_from_backpack", json!({"item": "a/pack-2"})), pack("Ada posts it.")],
        "c" => vec![pack("Bea reads it.")],
        _ => Vec::new(),
    }
}

fn on(play: impl Fn(&str, &[Message]) -> Reply + Send + Sync + 'static) -> Stage {
    Stage { switches: Switches::ALL, ..Stage::new(PLAN, &[], play) }
}

fn begun(stage: &Stage) -> Vec<(String, AttemptStarted)> {
    let log = stage.log();
    let begun = log.iter().filter_map(|one| match &one.entry.event {
        Event::AttemptStarted(started) => {
            Some((one.entry.scope.task.clone()?.to_string(), (**started).clone()))
        }
        _ => None,
    });
    begun.collect()
}

fn inherited(stage: &Stage, started: &AttemptStarted) -> Inherited {
    let blob = started.inherited.as_ref().map(|digest| stage.store.blob(digest).unwrap());
    blob.map(|bytes| serde_json::from_slice(&bytes).unwrap()).unwrap_or_default()
}

/// Ids of what each task began with.
fn packs(stage: &Stage) -> BTreeMap<String, String> {
    let ids = |started: &AttemptStarted| {
        let all = inherited(stage, started).backpack;
        all.iter().map(|one| one.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    begun(stage).iter().map(|(task, started)| (task.clone(), ids(started))).collect()
}

fn told(list: [(&str, &str); 4]) -> BTreeMap<String, String> {
    list.into_iter().map(|(task, ids)| (task.to_owned(), ids.to_owned())).collect()
}

/// Contexts and what they began with, by digest.
fn digests(stage: &Stage) -> Vec<(String, Digest, Option<Digest>)> {
    let all = begun(stage).into_iter();
    let mut all: Vec<_> =
        all.map(|(task, one)| (task, one.context.digest, one.inherited)).collect();
    all.sort();
    all
}

fn records(stage: &Stage) -> Vec<(String, String)> {
    let (state, mut catalogue) = (stage.state(), Catalogue::default());
    let person = Seeker::person(&state);
    let missing = catalogue.missing(&state, &person);
    catalogue.fill(&missing, |digest| stage.store.blob(digest)).unwrap();
    let all = catalogue.all(&person);
    let all = all.iter().map(|one| &one.record).filter(|record| !record.label.is_empty());
    all.map(|record| (record.id.to_string(), record.text.clone())).collect()
}

#[tokio::test]
async fn a_backpack_travels_along_the_needs_and_a_removal_holds_for_descendants() {
    let stage = on(doing(steps));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let (all, d) = ("a/pack-1 a/pack-2", "a/pack-1 b/pack-1 c/pack-1");
    assert_eq!(packs(&stage), told([("a", ""), ("b", all), ("c", all), ("d", d)]));
    assert_eq!(stage.audit().breaches, []);

    let none = Stage { share: Share::None, ..on(doing(|_, _| Vec::new())) };
    assert_eq!(none.conduct().await, Ok(Outcome::Done));
    assert_eq!(packs(&none), told([("a", ""), ("b", ""), ("c", ""), ("d", "")]));
}

#[tokio::test]
async fn how_many_work_at_once_does_not_change_what_is_handed_over() {
    let whole = on(doing(steps));
    whole.conduct().await.unwrap();
    for jobs in [1, 16] {
        let stage = Stage { jobs, ..on(doing(steps)) };
        assert_eq!(stage.conduct().await, Ok(Outcome::Done));
        assert_eq!(digests(&stage), digests(&whole), "{jobs} jobs");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_takes_a_run_up_goes_on_with_the_same_backpack() {
    let whole = on(doing(steps));
    whole.conduct().await.unwrap();
    for batches in 1..whole.store.batches() {
        let stage = on(doing(steps));
        stage.store.cut_after(batches);
        let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "killed after {batches}");
        assert_eq!(digests(&stage), digests(&whole), "killed after {batches}");
        assert_eq!(records(&stage), records(&whole), "killed after {batches}");
        assert_eq!(stage.audit().breaches, [], "killed after {batches}");
    }
}

#[tokio::test]
async fn a_fix_adds_to_what_was_left_before_it() {
    // The first attempt of `b` leaves something and writes nothing: its change is missing.
    let first = |task: &str, messages: &[Message]| {
        let Some(Message::User(prompt)) = messages.first() else { panic!("nobody asked") };
        let is_fix = prompt.contains("What speaks against the change");
        if task == "b" && !is_fix {
            return match messages.len() {
                1 => {
                    let (name, arguments) = artifact("FINDING", "It is a letter.", &[]);
                    calls(&[(name, arguments)])
                }
                _ => super::run::report(task),
            };
        }
        let steps = |task: &str, is_fix: bool| match (task, is_fix) {
            ("b", true) => vec![artifact("DECISION", "Write it now.", &["finding-1"])],
            _ => Vec::new(),
        };
        doing(steps)(task, messages)
    };
    let stage = on(first);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let mut left = records(&stage);
    left.retain(|(id, _)| id.starts_with("b/"));
    let left: Vec<(&str, &str)> = left.iter().map(|(id, text)| (&**id, &**text)).collect();
    // Both reports name the file, and it is read out of the first.
    let wanted = [
        ("b/finding-1", "It is a letter."),
        ("b/resource-1", "b.txt"),
        ("b/decision-1", "Write it now."),
    ];
    assert_eq!(left, wanted);
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn the_end_of_a_run_lists_what_is_still_to_be_done() {
    let stage = on(doing(steps));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let Some(Event::RunEnded { todos, .. }) = stage.log().pop().map(|one| one.entry.event) else {
        panic!("the run has not ended");
    };
    let todos: Vec<(&str, &str)> = todos.iter().map(|one| (&*one.id, one.text.as_str())).collect();
    assert_eq!(todos, [("a/todo-1", "Buy stamps.")]);
}

#[tokio::test]
async fn what_was_recalled_can_be_referred_to() {
    let recall = |task: &str, is_fix: bool| match task {
        "b" => vec![
            ("recall", json!({"query": "stamps cost cents"})),
            artifact("FINDING", "They are cheap.", &["a/pack-1"]),
        ],
        _ => steps(task, is_fix),
    };
    let stage = on(doing(recall));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let ids: Vec<String> = records(&stage).into_iter().map(|(id, _)| id).collect();
    assert!(ids.contains(&"b/finding-1".to_owned()), "{ids:?}");
    assert_eq!(stage.audit().breaches, []);
}

/// What is in the store, but for some of it.
struct Forged<'a>(&'a Stage, BTreeMap<Digest, Vec<u8>>);

impl Archive for Forged<'_> {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.1.get(digest).cloned().or_else(|| self.0.store.blob(digest).ok())
    }

    fn damaged(&self) -> Vec<Option<Digest>> {
        Vec::new()
    }

    fn tree(&self, tree: &TreeId) -> Option<Arc<dyn Snapshot>> {
        self.0.trees.snapshot(tree).ok()
    }

    fn between(&self, from: &TreeId, to: &TreeId) -> Option<Change> {
        self.0.trees.between(from, to).ok()
    }
}

#[tokio::test]
async fn a_backpack_that_nobody_packed_so_is_a_breach() {
    let stage = on(doing(steps));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    for (from, to, is_found) in [
        ("nowhere to be found", "x", false),
        ("80 cents", "90 cents", true),
        ("\"task\":\"a\"", "\"task\":\"d\"", true),
        ("a/pack-1", "a/pack-7", true),
    ] {
        let (mut log, mut batch) = (stage.log(), Batch::default());
        for one in log.iter_mut().filter(|one| one.entry.scope.task == Some("c".into())) {
            let Event::AttemptStarted(started) = &mut one.entry.event else { continue };
            let Some(digest) = &mut started.inherited else { continue };
            let text = String::from_utf8(stage.store.blob(digest).unwrap()).unwrap();
            *digest = batch.keep(text.replace(from, to).into_bytes());
        }
        let blobs = batch.blobs.iter().map(|one| (Digest::of(one), one.to_vec())).collect();
        let audit = audit(&log, &Forged(&stage, blobs));
        let rules: Vec<Rule> = audit.breaches.iter().map(|one| one.rule).collect();
        assert_eq!(rules.contains(&Rule::Fragment), is_found, "{from}: {:?}", audit.breaches);
    }
}

/// Three in a row.
const CHAIN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [b] Write b\n\n```task\nneeds: [a]\nfiles: {create: [b.txt]}\n```\n\nWrite the letter b.\n\n\
## [c] Write c\n\n```task\nneeds: [b]\nfiles: {create: [c.txt]}\n```\n\nWrite the letter c.\n";

/// The first of the chain is done again while the second stands and the third has not begun.
async fn redone(jobs: usize, batches: usize) -> Stage {
    let tries = AtomicUsize::new(0);
    let play = doing(move |task, _| match task {
        "a" if tries.fetch_add(1, Ordering::Relaxed) < 3 => vec![pack("Stamps cost 80 cents.")],
        "a" => vec![pack("Stamps cost 90 cents.")],
        "b" => vec![pack("Ada posts it.")],
        _ => Vec::new(),
    });
    let trouble = Trouble::Crew { message: "Not yet.".to_owned(), hint: String::new() };
    let (trouble, switches) = (Some(("c", trouble)), Switches::ALL);
    let mut stage = Stage { trouble, jobs, switches, ..Stage::new(CHAIN, &[], play) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Failed));
    stage.trouble = None;
    let retry = vec!["a".into(), "c".into()];
    stage.tell(Scope::default(), Event::RunResumed { retry, budget: None }).await;
    stage.store.cut_after(batches);
    if tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await.is_err() {
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "after {batches}");
    }
    stage
}

#[tokio::test(start_paused = true)]
async fn nobody_begins_on_what_stands_while_something_below_it_is_done_again() {
    let wanted = redone(1, 10_000).await;
    assert_eq!(packs(&wanted)["c"], "a/pack-1 b/pack-1");
    let all = begun(&wanted);
    let last = inherited(&wanted, &all.last().unwrap().1);
    assert_eq!(last.backpack[0].item.item, "Stamps cost 90 cents.");
    let of_c = |stage: &Stage| -> Vec<_> {
        digests(stage).into_iter().filter(|(task, ..)| task == "c").collect()
    };
    for (jobs, batches) in [(4, 10_000), (4, 3), (4, 9), (1, 12)] {
        let stage = redone(jobs, batches).await;
        assert_eq!(of_c(&stage), of_c(&wanted), "{jobs} jobs, killed after {batches}");
        assert_eq!(stage.audit().breaches, []);
    }
}

#[tokio::test]
async fn what_a_done_task_needed_then_is_seen_whatever_the_plan_says_now() {
    let play = || {
        doing(|task, _| match task {
            "a" => vec![pack("Stamps cost 80 cents.")],
            "b" => vec![pack("Ada posts it.")],
            _ => Vec::new(),
        })
    };
    let trouble = Trouble::Crew { message: "Not yet.".to_owned(), hint: String::new() };
    let (trouble, switches) = (Some(("c", trouble)), Switches::ALL);
    let mut stage = Stage { trouble, switches, ..Stage::new(CHAIN, &[], play()) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Failed));
    stage.trouble = None;
    stage.plan = Stage::new(&CHAIN.replace("needs: [a]\n", ""), &[], play()).plan;
    let retry = vec!["c".into()];
    stage.tell(Scope::default(), Event::RunResumed { retry, budget: None }).await;
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let (c, items) = (super::records::shown(&stage).pop().unwrap(), "a/pack-1 b/pack-1");
    assert_eq!((c.task.as_str(), packs(&stage)["c"].as_str()), ("c", items));
    for id in items.split(' ') {
        assert!(c.rows.iter().any(|row| row.source.contains(id)), "{id}: {:?}", c.rows);
    }
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn what_is_shown_of_a_kind_that_does_not_pass_is_a_breach() {
    let stage = on(doing(steps));
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let off = [
        Switches { artifacts: false, ..Switches::ALL },
        Switches { backpack: false, ..Switches::ALL },
        Switches { summaries: false, ..Switches::ALL },
    ];
    assert_eq!(stage.audit().breaches, []);
    for switches in off {
        let mut log = stage.log();
        let Event::RunStarted(started) = &mut log[0].entry.event else { panic!("{:?}", log[0]) };
        started.settings.records = switches;
        let breaches = stage.audit_of(&log).breaches;
        assert!(breaches.iter().any(|one| one.rule == Rule::Fragment), "{switches:?}");
    }
}
