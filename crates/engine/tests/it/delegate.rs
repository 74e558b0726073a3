//! Subagents that give work to subagents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sequester_audit::{Archive, Breach, Ports, Rule, audit};
use sequester_core::agent::CUT_OFF;
use sequester_core::budget::Budget;
use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::id::TreeId;
use sequester_core::message::Message;
use sequester_core::profile::Profiles;
use sequester_core::provider::Reply;
use sequester_core::repository::Snapshot;
use sequester_core::run::{AttemptStarted, Event, Outcome, Purpose, Recorded};
use sequester_core::tool::Returned;
use sequester_testkit::provider::{calls, text};
use serde_json::{Value, json};

use super::stage::{Stage, run};

const PLAN: &str = "---\nsequester: 1\nconstraints: [\"British spelling\"]\n---\n# Letters\n\n\
## [a] Write a\n\n```task\nprofile: full-access\nfiles: {create: [a.txt]}\n```\n\n\
Write the letter a, which thanks every guest of the summer for having come so far.\n\n\
## [b] Write b\n\n```task\nfiles: {create: [b.txt]}\n```\n\n\
Write the letter b, which asks the landlord to mend the roof before the winter sets in.\n";

const SECRET: &str = "SESAME, as the one who delegates thinks to itself";

fn report(phase: &str, findings: &Value, summary: &str) -> Reply {
    calls(&[("report", reported(phase, findings, summary))])
}

fn reported(phase: &str, findings: &Value, summary: &str) -> Value {
    json!({
        "task_id": "a", "phase": phase, "status": "complete", "decision": "PROCEED",
        "findings": findings, "context_summary": summary,
        "self_review": [{"item": "It is there", "ok": true}],
    })
}

fn wrote(summary: &str) -> Reply {
    report("write", &json!({"files_changed": [], "tests_written": []}), summary)
}

fn found(summary: &str) -> Reply {
    let findings = json!({
        "existing_implementations": [], "conflicts": [], "patterns_found": [], "recommendations": [],
    });
    report("research", &findings, summary)
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("Write", json!({"path": path, "content": content}))
}

fn give(agent: &str, description: &str, prompt: &str) -> (&'static str, Value) {
    let asked = json!({"subagent_type": agent, "description": description, "prompt": prompt});
    ("Task", asked)
}

fn title(messages: &[Message]) -> &str {
    let Some(Message::User(prompt)) = messages.first() else { return "" };
    prompt.split("**Title:** ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// What was called and answered, by its path or description.
fn done(messages: &[Message]) -> BTreeSet<String> {
    let mut done = BTreeSet::new();
    for pair in messages.windows(2) {
        let [Message::Assistant(said), Message::Results(results)] = pair else { continue };
        for (call, result) in said.calls.iter().zip(results) {
            let name = [&call.arguments["path"], &call.arguments["description"]];
            let name = name.iter().find_map(|one| one.as_str());
            if result.text != CUT_OFF {
                done.extend(name.map(str::to_owned));
            }
        }
    }
    done
}

/// Notes something, looks around by two others at once, lets a third one write, and reports.
fn lead(task: &str, messages: &[Message]) -> Reply {
    let done = done(messages);
    let has = |name: &str| done.contains(name);
    match title(messages) {
        "Write b" => super::run::write_then_report(task, messages),
        "Write a" if !has("notes.txt") => {
            let mut reply = calls(&[write("notes.txt", "thanks\n")]);
            SECRET.clone_into(&mut reply.said.text);
            reply
        }
        "Write a" if !has("find letters") => calls(&[
            give("Explore", "find letters", "Say which letters are in `README.md`."),
            give("Explore", "find notes", "Say what `notes.txt` holds."),
        ]),
        "Write a" if !has("write it") => {
            calls(&[give("general-purpose", "write it", "Put thanks into `a.txt`.")])
        }
        "Write a" if !has("a.txt") => calls(&[("Read", json!({"path": "a.txt"}))]),
        "Write a" => wrote("Wrote a with help."),
        "find letters" if !has("README.md") => calls(&[("Read", json!({"path": "README.md"}))]),
        "find letters" => found("There are letters."),
        "find notes" if !has("notes.txt") => calls(&[("Read", json!({"path": "notes.txt"}))]),
        "find notes" => found("The notes say thanks."),
        "write it" if !has("a.txt") => calls(&[write("a.txt", "thank you\n")]),
        "write it" => wrote("Thanked them."),
        other => panic!("nobody gave `{other}`"),
    }
}

fn stage() -> Stage {
    Stage::new(PLAN, &[("README.md", "ALPHA and OMEGA\n")], lead)
}

fn started(log: &[Recorded]) -> Vec<(u32, &AttemptStarted)> {
    let of_a = log.iter().filter(|one| one.entry.scope.task == Some("a".into()));
    let started = of_a.filter_map(|one| match &one.entry.event {
        Event::AttemptStarted(started) => Some((one.entry.scope.attempt?, &**started)),
        _ => None,
    });
    started.collect()
}

/// All requests, by the title of who sent them.
type Heard = Arc<Mutex<Vec<(String, String)>>>;

fn listening() -> (Heard, Stage) {
    let heard = Heard::default();
    let ear = Arc::clone(&heard);
    let stage = Stage::new(PLAN, &[("README.md", "ALPHA and OMEGA\n")], move |task, messages| {
        let said = serde_json::to_string(messages).unwrap();
        ear.lock().unwrap().push((title(messages).to_owned(), said));
        lead(task, messages)
    });
    (heard, stage)
}

#[tokio::test]
async fn others_start_fresh_and_nothing_but_their_summary_comes_back() {
    let (heard, stage) = listening();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let heard = heard.lock().unwrap().clone();
    let of = |who: &str| -> String {
        heard.iter().filter(|(title, _)| title == who).map(|(_, said)| said.as_str()).collect()
    };
    for child in ["find letters", "find notes", "write it"] {
        let said = of(child);
        assert!(!said.is_empty() && said.contains("British spelling"), "{child}");
        for foreign in ["SESAME", "every guest of the summer", "landlord", "with help"] {
            assert!(!said.contains(foreign), "`{child}` was shown `{foreign}`");
        }
    }
    let parent = of("Write a");
    for summary in ["There are letters.", "The notes say thanks.", "Thanked them."] {
        assert!(parent.contains(summary), "{summary}");
    }
    assert!(!parent.contains("OMEGA"), "what another read stays with it");
    assert!(of("find letters").contains("OMEGA"));
    assert!(!of("find letters").contains("The notes say thanks."), "they are blind to each other");
}

#[tokio::test]
async fn what_another_changed_is_in_the_workspace_and_in_the_commit() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert_eq!(stage.commits(), ["Write a", "Write b"]);
    let files = stage.files();
    assert_eq!((files["a.txt"].as_str(), files["notes.txt"].as_str()), ("thank you\n", "thanks\n"));
}

#[tokio::test(start_paused = true)]
async fn those_that_only_look_work_side_by_side() {
    let meet = |task: &str, messages: &[Message]| {
        let mut reply = lead(task, messages);
        if title(messages).starts_with("find") && messages.len() == 1 {
            "meet".clone_into(&mut reply.said.text);
        }
        reply
    };
    let stage = Stage::new(PLAN, &[("README.md", "ALPHA and OMEGA\n")], meet);
    let ended = tokio::time::timeout(Duration::from_hours(1), stage.conduct()).await;
    assert_eq!(ended.unwrap(), Ok(Outcome::Done));
    let tried = stage.state().task(&"a".into()).unwrap().tried().count();
    assert_eq!(tried, 1, "they met, and nobody ran out of time");
}

#[tokio::test]
async fn another_gets_what_both_profiles_grant_and_cannot_delegate_itself() {
    let stage = stage();
    stage.conduct().await.unwrap();
    let log = stage.log();
    let told: Vec<(u32, String, Option<u32>, bool, bool, bool)> = started(&log)
        .into_iter()
        .map(|(number, one)| {
            let has = |tool: &str| one.tools.iter().any(|name| name == tool);
            let parent = one.parent.as_ref().map(|parent| parent.attempt);
            (number, one.agent.clone(), parent, has("Write"), has("Task"), has("WebFetch"))
        })
        .collect();
    let row = |number, agent: &str, parent, write, task, fetch| {
        (number, agent.to_owned(), parent, write, task, fetch)
    };
    assert_eq!(
        told,
        [
            row(1, "writer", None, true, true, true),
            row(2, "Explore", Some(1), false, false, false),
            row(3, "Explore", Some(1), false, false, false),
            row(4, "general-purpose", Some(1), true, false, false),
        ]
    );
}

#[tokio::test]
async fn subagents_stand_one_below_the_other_as_deep_as_is_configured() {
    let chain = |task: &str, messages: &[Message]| {
        let name = title(messages);
        let deeper = match name {
            "Write b" => return super::run::write_then_report(task, messages),
            "Write a" => "one",
            "one" => "two",
            _ => "three",
        };
        if done(messages).contains(deeper) {
            return wrote(name);
        }
        if name == "two" {
            let is_written = !done(messages).is_empty();
            return if is_written { wrote(name) } else { calls(&[write("a.txt", "deep\n")]) };
        }
        calls(&[give("lead", deeper, "Go on.")])
    };
    let stage = Stage { depth: 2, ..Stage::new(PLAN, &[], chain) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let log = stage.log();
    let tasks = started(&log).into_iter().map(|(_, one)| {
        let task = one.tools.iter().any(|name| name == "Task");
        (one.parent.as_ref().map(|parent| parent.attempt), task)
    });
    assert_eq!(tasks.collect::<Vec<_>>(), [(None, true), (Some(1), true), (Some(2), false)]);
    assert_eq!(stage.files()["a.txt"], "deep\n");
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn who_delegates_pays_for_it() {
    let budget = Budget { tokens: Some(3_000), ..Budget::default() };
    let stage = Stage { budget, ..stage() };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let log = stage.log();
    let caps: Vec<u64> =
        started(&log).into_iter().map(|(_, one)| one.budget.tokens.unwrap()).collect();
    // Two turns of 110 tokens were used, and two are asked at once; then four more turns, and the third of its own.
    assert_eq!(caps, [3_000, (3_000 - 220) / 2, (3_000 - 220) / 2, 3_000 - 220 - 440 - 110]);
    let state = stage.state();
    let task = state.task(&"a".into()).unwrap();
    assert_eq!(task.used(1), task.cost, "with all that it delegated");
    assert_eq!(task.cost.usage.total(), 11 * 110);
}

#[tokio::test]
async fn a_budget_that_others_used_up_lets_only_the_report_follow() {
    let budget = Budget { tokens: Some(1_000), ..Budget::default() };
    let stage = Stage { budget, ..stage() };
    assert_eq!(stage.conduct().await, Ok(Outcome::BudgetExhausted));
    let state = stage.state();
    assert!(state.task(&"a".into()).unwrap().cost.usage.total() <= 1_000 + 110);
}

#[tokio::test]
async fn who_asks_or_stops_says_so_and_its_change_is_not_taken() {
    let heard: Arc<Mutex<String>> = Arc::default();
    let ear = Arc::clone(&heard);
    let stage = Stage::new(PLAN, &[], move |task, messages| {
        let done = done(messages);
        match title(messages) {
            "Write b" => super::run::write_then_report(task, messages),
            "Write a" if !done.contains("ask") => calls(&[
                give("general-purpose", "ask", "Write it in a colour."),
                give("general-purpose", "stop", "Write it in ink."),
                give("nobody", "none", "Write it."),
            ]),
            "Write a" if !done.contains("a.txt") => {
                *ear.lock().unwrap() = serde_json::to_string(messages).unwrap();
                calls(&[write("a.txt", "plain\n")])
            }
            "Write a" => wrote("Wrote it plainly."),
            name if !done.contains("half.txt") => calls(&[write("half.txt", name)]),
            "ask" => calls(&[("ask", json!({"questions": ["Which colour?"]}))]),
            _ => {
                let mut stop = reported(
                    "write",
                    &json!({"files_changed": [], "tests_written": []}),
                    "No ink.",
                );
                stop["decision"] = "STOP".into();
                stop["reason"] = "The ink is dry.".into();
                calls(&[("report", stop)])
            }
        }
    });
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let heard = heard.lock().unwrap().clone();
    for told in ["CLARIFY", "Which colour?", "STOP", "The ink is dry.", "There is no such agent"] {
        assert!(heard.contains(told), "{told}: {heard}");
    }
    assert!(!stage.files().contains_key("half.txt"));
    assert!(stage.state().questions.is_empty(), "only who is asked by the run asks a person");
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn a_run_that_delegates_is_proved() {
    let stage = stage();
    stage.conduct().await.unwrap();
    let audit = stage.audit();
    assert_eq!(audit.breaches, []);
    assert_eq!(audit.contexts, 5);
    assert!(!audit.unproved.iter().any(|one| one.contains("delegated")), "{:?}", audit.unproved);
}

/// Records of a run with something changed in them.
struct Forged<'a> {
    ports: Ports<'a>,
    blobs: BTreeMap<Digest, Vec<u8>>,
}

impl Archive for Forged<'_> {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.blobs.get(digest).cloned().or_else(|| self.ports.blob(digest))
    }

    fn damaged(&self) -> Vec<Option<Digest>> {
        self.ports.damaged()
    }

    fn tree(&self, tree: &TreeId) -> Option<Arc<dyn Snapshot>> {
        self.ports.tree(tree)
    }

    fn between(&self, from: &TreeId, to: &TreeId) -> Option<Change> {
        self.ports.between(from, to)
    }
}

/// What the audit finds where events of `a` are changed so.
fn forge(stage: &Stage, change: impl Fn(u32, &mut Event, &mut Forged<'_>)) -> Vec<Breach> {
    let run = run();
    let ports = Ports { run: &run, store: &stage.store, repository: Some(&stage.trees) };
    let mut forged = Forged { ports, blobs: BTreeMap::new() };
    let mut log = stage.log();
    for one in log.iter_mut().filter(|one| one.entry.scope.task == Some("a".into())) {
        let number = one.entry.scope.attempt.unwrap_or(0);
        change(number, &mut one.entry.event, &mut forged);
    }
    audit(&log, &forged).breaches
}

#[tokio::test]
async fn what_was_not_delegated_so_is_found() {
    let stage = stage();
    stage.conduct().await.unwrap();
    let is = |breaches: &[Breach], attempt: u32, rule: Rule, words: &str| {
        let found = |one: &Breach| {
            one.attempt == Some(attempt) && one.rule == rule && one.detail.contains(words)
        };
        assert!(breaches.iter().any(found), "{rule:?}: {breaches:?}");
    };
    let other = forge(&stage, |number, event, _| {
        if let (2, Event::AttemptStarted(started)) = (number, event) {
            started.parent.as_mut().unwrap().call = "call-1".to_owned();
        }
    });
    is(&other, 2, Rule::Fragment, "is not what its source says");
    let narrow = forge(&stage, |number, event, _| {
        if let (1, Event::AttemptStarted(started)) = (number, event) {
            started.profile = "research".to_owned();
            let narrow = Profiles::built_in().get("research").unwrap().granted();
            started.sources.as_mut().unwrap().granted = narrow;
        }
    });
    is(&narrow, 4, Rule::Tool, "`Write` was listed, which `research` did not grant");
    let base = forge(&stage, |number, event, _| {
        if let (3, Event::AttemptStarted(started)) = (number, event) {
            started.base = "elsewhere".into();
        }
    });
    is(&base, 3, Rule::Base, "who delegated it");
    let more = forge(&stage, |number, event, forged| {
        let (1, Event::CallsEnded { results, .. }) = (number, event) else { return };
        let mut told: Vec<Returned> =
            serde_json::from_slice(&forged.blob(results).unwrap()).unwrap();
        let summaries = |one: &&mut Returned| one.outcome.text().contains("There are letters.");
        for one in told.iter_mut().filter(summaries) {
            one.outcome = one.outcome.clone().map(|text| text + " It read ALPHA and OMEGA.");
        }
        let bytes = serde_json::to_vec(&told).unwrap();
        *results = Digest::of(&bytes);
        forged.blobs.insert(results.clone(), bytes);
    });
    is(&more, 1, Rule::Request, "More than its summary");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_after_any_batch_goes_on_where_its_subagents_were() {
    let whole = stage();
    whole.conduct().await.unwrap();
    let kept = |stage: &Stage| {
        let ends = |one: &&Recorded| matches!(one.entry.event, Event::TurnEnded { .. });
        stage.log().iter().filter(ends).count()
    };
    for batches in 1..whole.store.batches() {
        let stage = stage();
        stage.store.cut_after(batches);
        let killed = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        assert!(killed.is_err(), "it was killed after {batches}");
        let (paid, before) = (kept(&stage), stage.asked.lock().unwrap().len());
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "after {batches}");
        assert_eq!(stage.files(), whole.files(), "after {batches}");
        assert_eq!(stage.commits(), whole.commits(), "after {batches}");
        let again = stage.asked.lock().unwrap().values().filter(|times| **times > 1).count();
        assert!(again <= before - paid, "{again} of {paid} paid turns were paid again");
        let log = stage.log();
        assert_eq!(started(&log).len(), 4, "no attempt is begun anew after {batches}");
        assert_eq!(stage.audit().breaches, [], "after {batches}");
    }
}

#[tokio::test]
async fn a_run_that_rests_while_another_works_is_taken_up_there() {
    let (heard, stage) = listening();
    let park = stage.park.clone();
    let play = Arc::clone(&stage.play);
    let stage = Stage {
        play: Arc::new(move |task, messages| {
            if title(messages) == "find notes" && messages.len() == 1 {
                park.stop();
            }
            play(task, messages)
        }),
        jobs: 1,
        ..stage
    };
    assert_eq!(stage.conduct().await, Ok(Outcome::Stopped));
    let running = stage.state().task(&"a".into()).unwrap().running.len();
    assert!(running > 1, "it and another one are under way");
    let stage = Stage { park: sequester_engine::Stop::default(), play: Arc::new(lead), ..stage };
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    assert!(stage.asked.lock().unwrap().values().all(|times| *times == 1), "nothing is paid twice");
    assert_eq!(stage.audit().breaches, []);
    drop(heard);
}

#[tokio::test(start_paused = true)]
async fn when_time_is_over_for_who_waits_it_is_over_for_whom_it_waits() {
    let hang = |task: &str, messages: &[Message]| match title(messages) {
        "Write a" => calls(&[give("Explore", "hang", "Never come back.")]),
        "hang" => text("hang"),
        _ => super::run::write_then_report(task, messages),
    };
    let budget = Budget { wall: Duration::from_secs(5), ..Budget::default() };
    let stage = Stage { budget, ..Stage::new(PLAN, &[], hang) };
    assert_eq!(stage.conduct().await, Ok(Outcome::Waiting), "a person is asked what now");
    let state = stage.state();
    let task = state.task(&"a".into()).unwrap();
    assert!(task.running.is_empty());
    assert_eq!(task.all_tried().filter(|one| one.parent.is_some()).count(), 2);
    assert_eq!(task.tried().count(), 2);
    assert_eq!(stage.audit().breaches, []);
}

/// Whose first model is not there for `write it`, and whose second needs two tries for `find notes`.
fn shaky() -> Stage {
    let play = |task: &str, messages: &[Message]| {
        let mut reply = lead(task, messages);
        match title(messages) {
            "write it" => "down".clone_into(&mut reply.said.text),
            "find notes" if messages.len() > 1 => return blocked(),
            _ => {}
        }
        reply
    };
    let models = vec!["m".to_owned(), "n".to_owned()];
    Stage { models, ..Stage::new(PLAN, &[("README.md", "ALPHA and OMEGA\n")], play) }
}

fn blocked() -> Reply {
    let none = json!({
        "existing_implementations": [], "conflicts": [], "patterns_found": [], "recommendations": [],
    });
    let mut report = reported("research", &none, "It cannot be found.");
    (report["status"], report["decision"]) = ("blocked".into(), "STOP".into());
    report["reason"] = "There are no notes.".into();
    calls(&[("report", report)])
}

/// Of the attempts at `a`: who asked for it, which model, why.
fn climbed(stage: &Stage) -> Vec<(Option<u32>, String, Purpose)> {
    let log = stage.log();
    let told = started(&log).into_iter().map(|(_, one)| {
        (one.parent.as_ref().map(|parent| parent.attempt), one.model.clone(), one.purpose)
    });
    told.collect()
}

#[tokio::test]
async fn what_a_model_cannot_do_for_another_goes_to_the_next_one() {
    let stage = shaky();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let row = |parent, model: &str, purpose| (parent, model.to_owned(), purpose);
    assert_eq!(
        climbed(&stage),
        [
            row(None, "m", Purpose::First),
            row(Some(1), "m", Purpose::Delegated),
            row(Some(1), "m", Purpose::Delegated),
            row(Some(1), "n", Purpose::NextModel),
            row(Some(1), "m", Purpose::Delegated),
            row(Some(1), "n", Purpose::NextModel),
        ]
    );
    assert_eq!(stage.files()["a.txt"], "thank you\n");
    let state = stage.state();
    let task = state.task(&"a".into()).unwrap();
    assert_eq!(task.used(1), task.cost, "all of them are paid by who asked");
    let spent: u64 = task.all_tried().map(|tried| tried.spent.usage.total()).sum();
    assert_eq!(spent, task.cost.usage.total());
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test]
async fn the_next_model_is_paid_from_what_is_left_and_asked_only_then() {
    let whole = shaky();
    whole.conduct().await.unwrap();
    let budget = Budget { tokens: Some(1_500), ..Budget::default() };
    let stage = Stage { budget, ..shaky() };
    stage.conduct().await.unwrap();
    let state = stage.state();
    let task = state.task(&"a".into()).unwrap();
    assert!(task.cost.usage.total() <= 1_500 + 110, "{:?}", task.cost);
    assert_eq!(stage.audit().breaches, []);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_killed_while_another_climbs_climbs_no_further_than_it_would_have() {
    let whole = shaky();
    whole.conduct().await.unwrap();
    for batches in 1..whole.store.batches() {
        let stage = shaky();
        stage.store.cut_after(batches);
        let killed = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        assert!(killed.is_err(), "it was killed after {batches}");
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "after {batches}");
        assert_eq!(stage.files(), whole.files(), "after {batches}");
        assert_eq!(climbed(&stage).len(), climbed(&whole).len(), "after {batches}");
        assert_eq!(stage.audit().breaches, [], "after {batches}");
    }
}
