//! The audit finds each breach that is planted, and nothing where there is none.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sequester_audit::Rule;
use sequester_core::context::{
    self, Clarification, Content, Given, IsolatedContext, Kind, Manifest, Part, Share,
};
use sequester_core::digest::Digest;
use sequester_core::message::Message;
use sequester_core::path::RepoPath;
use sequester_core::run::{AttemptStarted, Event, Recorded, Scope};
use sequester_testkit::{PlanText, TaskText, world};

use crate::recording::{Files, Recording, Script};

/// Words that only the task `ledger` says.
pub(crate) const FOREIGN: &str =
    "every booking keeps the balance of both accounts before money moves anywhere";

fn plan() -> PlanText {
    let task = |id: &str, title: &str, text: &str, needs: &[&str]| TaskText {
        id: id.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        modify: vec!["src/lib.rs".to_owned()],
        constraints: vec![format!("Nothing else than {id} is touched.")],
        ..TaskText::default()
    };
    let ledger = format!("Write the ledger so that {FOREIGN}.");
    PlanText {
        title: "A small bank".to_owned(),
        constraints: vec!["No new dependencies.".to_owned()],
        prose: "Some prose that nobody may see.".to_owned(),
        tasks: vec![
            task(
                "parser",
                "Read amounts",
                "Amounts are read with their currency and their sign from one line.",
                &[],
            ),
            task("ledger", "Keep the books", &ledger, &["parser"]),
            task(
                "screen",
                "Show amounts",
                "Amounts are shown with two digits behind the point, aligned to the right.",
                &["parser", "ledger"],
            ),
            task(
                "letter",
                "Write letters",
                "Letters go out on the first working day of every month by post.",
                &[],
            ),
            task(
                "stamps",
                "Buy stamps",
                "Stamps are bought when fewer than twenty letters could still be sent.",
                &["letter"],
            ),
        ],
    }
}

fn files() -> Files {
    Files::from([
        ("src/lib.rs".to_owned(), "pub mod bank;\n".to_owned()),
        ("src/bank.rs".to_owned(), "pub struct Bank;\n".to_owned()),
    ])
}

pub(crate) fn record(script: &Script) -> Recording {
    let mut plan = plan();
    // One file cannot be changed side by side.
    plan.tasks.iter_mut().skip(1).for_each(|task| task.modify.clear());
    Recording::new(&plan, &files(), script)
}

fn clean() -> Recording {
    record(&Script::default())
}

/// The rules that were broken, by task.
pub(crate) fn broken(recording: &Recording) -> Vec<(String, Rule)> {
    let audit = recording.audit();
    let mut broken: Vec<(String, Rule)> = audit
        .breaches
        .iter()
        .map(|breach| {
            (breach.task.as_ref().map(ToString::to_string).unwrap_or_default(), breach.rule)
        })
        .collect();
    broken.sort();
    broken.dedup();
    broken
}

pub(crate) fn finds(recording: &Recording, task: &str, rule: Rule) {
    let all = broken(recording);
    assert!(all.contains(&(task.to_owned(), rule)), "{all:?}");
    assert!(all.iter().all(|(other, _)| other == task), "others are blamed: {all:?}");
}

fn is_of(scope: &Scope, task: &str, attempt: u32) -> bool {
    scope.task.as_ref().is_some_and(|id| id.as_str() == task) && scope.attempt == Some(attempt)
}

/// Changes the beginning of a task's first attempt.
fn alter(
    recording: &mut Recording,
    task: &str,
    change: impl FnOnce(&mut AttemptStarted, &mut crate::recording::Kept),
) {
    let kept = &mut recording.kept;
    let started = recording.events.iter_mut().find_map(|recorded| {
        let first = is_of(&recorded.entry.scope, task, 1);
        match &mut recorded.entry.event {
            Event::AttemptStarted(started) if first => Some(started),
            _ => None,
        }
    });
    change(started.unwrap(), kept);
}

fn alter_manifest(recording: &mut Recording, task: &str, change: impl FnOnce(&mut Manifest)) {
    alter(recording, task, |started, kept| {
        let mut manifest = serde_json::from_slice(&kept.blobs[&started.context.manifest]).unwrap();
        change(&mut manifest);
        started.context.manifest = kept.keep(&manifest);
    });
}

/// Changes the messages that a request of a task's first attempt adds.
fn alter_message(
    recording: &mut Recording,
    task: &str,
    wanted: u32,
    change: impl Fn(&mut Message),
) {
    let kept = &mut recording.kept;
    for recorded in &mut recording.events {
        let first = is_of(&recorded.entry.scope, task, 1);
        if let Event::TurnStarted { turn, messages, .. } = &mut recorded.entry.event
            && *turn == wanted
            && first
        {
            let mut message = serde_json::from_slice(&kept.blobs[&messages[0]]).unwrap();
            change(&mut message);
            messages[0] = kept.keep(&message);
        }
    }
}

fn renumber(recording: &mut Recording) {
    for (at, recorded) in recording.events.iter_mut().enumerate() {
        recorded.seq = at as u64 + 1;
    }
}

/// Puts words into a fragment of the prompt, with all offsets and digests as they would be.
fn plant(mut context: IsolatedContext, kind: Kind, words: &str) -> IsolatedContext {
    let rows = &mut context.manifest.fragments;
    let at = rows.iter().position(|row| row.part == Part::Prompt && row.kind == kind).unwrap();
    context.prompt.insert_str(rows[at].end, words);
    rows[at].end += words.len();
    for row in rows[at + 1..].iter_mut().filter(|row| row.part == Part::Prompt) {
        row.start += words.len();
        row.end += words.len();
    }
    context.digest = IsolatedContext::digest_of(&context.system, &context.prompt);
    context
}

#[test]
fn a_clean_run_has_no_breach() {
    let audit = clean().audit();
    assert_eq!(audit.breaches, []);
    assert_eq!((audit.contexts, audit.requests), (10, 40));
    assert!(audit.fragments > 100, "{}", audit.fragments);
}

#[test]
fn ten_and_more_generated_runs_are_clean() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for _ in 0..24 {
        let world = world().new_tree(&mut runner).unwrap().current();
        let recording = Recording::new(&world.plan, &world.files, &Script::default());
        let audit = recording.audit();
        assert_eq!(audit.breaches, [], "{}", world.plan.write());
        assert_eq!(audit.contexts, 2 * world.plan.tasks.len());
    }
}

#[test]
fn a_run_without_a_context_is_not_ok() {
    let mut recording = clean();
    recording.events.truncate(1);
    assert!(!recording.audit().is_ok());
}

#[test]
fn a_foreign_sentence_in_a_tool_result_is_found() {
    let result =
        |id: &str| if id == "letter" { format!("src/x.rs: {FOREIGN}") } else { String::new() };
    finds(&record(&Script { result: Box::new(result), ..Script::default() }), "letter", Rule::Leak);
}

#[test]
fn what_was_said_in_an_attempt_that_nobody_took_up_is_judged_too() {
    let result =
        |id: &str| if id == "letter" { format!("src/x.rs: {FOREIGN}") } else { String::new() };
    let mut recording = record(&Script { result: Box::new(result), ..Script::default() });
    let ends = |one: &Recorded| {
        is_of(&one.entry.scope, "letter", 1) && matches!(one.entry.event, Event::AttemptEnded(_))
    };
    let end = recording.events.iter().position(ends).unwrap();
    recording.events.truncate(end);
    let retry = vec!["letter".into()];
    recording.tell(Scope::default(), Event::RunResumed { retry, budget: None });
    finds(&recording, "letter", Rule::Leak);
}

#[test]
fn what_a_task_it_needs_left_is_no_breach() {
    let own = |id: &str| if id == "ledger" { format!("{FOREIGN} as asked") } else { String::new() };
    assert_eq!(broken(&record(&Script { result: Box::new(own), ..Script::default() })), []);
}

#[test]
fn the_plan_in_the_repository_excuses_nothing() {
    let text = plan().write();
    let result = move |id: &str| if id == "stamps" { text.clone() } else { String::new() };
    finds(&record(&Script { result: Box::new(result), ..Script::default() }), "stamps", Rule::Leak);
}

#[test]
fn a_foreign_sentence_in_a_prompt_is_found_though_its_digest_fits() {
    let context = |id: &str, context| match id {
        "letter" => plant(context, Kind::Task, FOREIGN),
        _ => context,
    };
    let recording = record(&Script { context: Box::new(context), ..Script::default() });
    finds(&recording, "letter", Rule::Leak);
    finds(&recording, "letter", Rule::Fragment);
}

#[test]
fn words_that_the_product_does_not_say_are_no_frame() {
    let context = |id: &str, context| match id {
        "letter" => plant(context, Kind::Frame, "Be quick."),
        _ => context,
    };
    finds(
        &record(&Script { context: Box::new(context), ..Script::default() }),
        "letter",
        Rule::Fragment,
    );
}

#[test]
fn a_changed_digest_is_found() {
    let mut recording = clean();
    alter(&mut recording, "letter", |started, _| started.context.digest = Digest::of(b"another"));
    finds(&recording, "letter", Rule::Digest);
}

#[test]
fn a_missing_blob_is_found() {
    let mut recording = clean();
    alter(&mut recording, "letter", |started, kept| {
        kept.blobs.remove(&started.context.prompt).unwrap();
    });
    finds(&recording, "letter", Rule::Blob);
}

#[test]
fn a_blob_with_other_bytes_is_found() {
    let mut recording = clean();
    alter(&mut recording, "letter", |started, kept| {
        kept.blobs.insert(started.context.prompt.clone(), b"other".to_vec());
    });
    let blamed = |task: &str| (task.to_owned(), Rule::Blob);
    assert_eq!(broken(&recording), [blamed(""), blamed("letter")]);
}

#[test]
fn a_record_that_no_promise_is_judged_by_is_what_its_name_says_too() {
    let mut recording = clean();
    let digest = recording.kept.keep_bytes(b"kept".to_vec());
    recording.kept.blobs.insert(digest, b"other".to_vec());
    assert_eq!(broken(&recording), [(String::new(), Rule::Blob)]);
}

#[test]
fn a_dropped_row_is_found() {
    let mut recording = clean();
    alter_manifest(&mut recording, "letter", |manifest| {
        let at = manifest.fragments.iter().position(|row| row.kind == Kind::Constraint).unwrap();
        manifest.fragments.remove(at);
    });
    finds(&recording, "letter", Rule::Manifest);
}

#[test]
fn rows_that_overlap_are_found() {
    let mut recording = clean();
    alter_manifest(&mut recording, "letter", |manifest| {
        let at = manifest.fragments.iter().position(|row| row.kind == Kind::Constraint).unwrap();
        manifest.fragments[at].start -= 1;
    });
    finds(&recording, "letter", Rule::Manifest);
}

#[test]
fn a_fragment_under_another_rule_is_found() {
    let mut recording = clean();
    alter_manifest(&mut recording, "letter", |manifest| {
        let row = manifest.fragments.iter_mut().find(|row| row.kind == Kind::Constraint).unwrap();
        row.rule = context::Rule::RankedFile;
    });
    finds(&recording, "letter", Rule::Fragment);
}

#[test]
fn a_tool_that_was_carried_out_and_not_listed_is_found() {
    let mut recording = clean();
    for recorded in &mut recording.events {
        let first = is_of(&recorded.entry.scope, "letter", 1);
        if let Event::CallsStarted { calls, .. } = &mut recorded.entry.event
            && first
        {
            *calls = vec!["WebFetch".to_owned()];
        }
    }
    finds(&recording, "letter", Rule::Tool);
}

#[test]
fn a_tool_that_no_reply_asked_for_is_found() {
    let mut recording = clean();
    for recorded in &mut recording.events {
        let first = is_of(&recorded.entry.scope, "letter", 1);
        if let Event::CallsStarted { turn: 1, calls } = &mut recorded.entry.event
            && first
        {
            *calls = vec!["Bash".to_owned()];
        }
    }
    finds(&recording, "letter", Rule::Request);
}

#[test]
fn a_listed_tool_outside_the_profile_is_found() {
    let tools = |id: &str| {
        if id == "letter" { vec!["Read", "Write", "Task"] } else { vec!["Read", "Write"] }
    };
    finds(&record(&Script { tools: Box::new(tools), ..Script::default() }), "letter", Rule::Tool);
}

#[test]
fn a_task_that_only_checks_is_no_breach() {
    let mut recording = clean();
    let scope = Scope { task: Some("letter".into()), ..Scope::default() };
    recording.events.retain(|recorded| {
        let is_it = recorded.entry.scope.task == scope.task;
        let ends =
            matches!(&recorded.entry.event, Event::TaskVerified { .. } | Event::TaskEnded(_));
        !is_it || ends
    });
    for recorded in &mut recording.events {
        if let Event::TaskEnded(ended) = &mut recorded.entry.event
            && recorded.entry.scope.task == scope.task
        {
            ended.tree = None;
        }
    }
    renumber(&mut recording);
    let of_it: Vec<_> =
        broken(&recording).into_iter().filter(|(task, _)| task == "letter").collect();
    assert_eq!(of_it, []);
}

#[test]
fn tools_that_were_shown_and_not_logged_are_found() {
    let mut recording = clean();
    alter(&mut recording, "letter", |started, _| drop(started.tools.pop()));
    finds(&recording, "letter", Rule::Tool);
}

#[test]
fn a_host_that_was_reached_and_not_granted_is_found() {
    let mut recording = clean();
    let at = recording.events.iter().position(|recorded| is_of(&recorded.entry.scope, "letter", 1));
    let mut asked = recording.events[at.unwrap()].clone();
    let (host, why) = ("example.com".to_owned(), String::new());
    asked.entry.event = Event::HostAsked { host, port: 443, allowed: true, why };
    recording.events.insert(at.unwrap() + 1, asked);
    renumber(&mut recording);
    finds(&recording, "letter", Rule::Host);
}

#[test]
fn a_record_of_a_task_it_does_not_need_is_found() {
    let context = |_: &str, mut context: IsolatedContext| {
        let rows = context.manifest.fragments.iter_mut();
        rows.filter(|row| row.kind == Kind::Record).for_each(|row| row.rule = context::Rule::Need);
        context
    };
    let script =
        Script { context: Box::new(context), share: Share::AllEarlier, ..Script::default() };
    finds(&record(&script), "stamps", Rule::Fragment);
}

#[test]
fn a_siblings_file_in_a_context_is_found() {
    let shown = |id: &str| match id {
        "letter" => Files::from([(
            "src/made_ledger.rs".to_owned(),
            "// letters working day month\n".to_owned(),
        )]),
        _ => Files::new(),
    };
    finds(
        &record(&Script { shown: Box::new(shown), ..Script::default() }),
        "letter",
        Rule::Fragment,
    );
}

#[test]
fn a_file_with_other_content_than_in_the_tree_is_found() {
    let shown = |id: &str| match id {
        "parser" => Files::from([("src/lib.rs".to_owned(), "pub mod ledger;\n".to_owned())]),
        _ => Files::new(),
    };
    finds(
        &record(&Script { shown: Box::new(shown), ..Script::default() }),
        "parser",
        Rule::Fragment,
    );
}

#[test]
fn a_reply_that_was_changed_before_the_next_request_is_found() {
    let mut recording = clean();
    alter_message(&mut recording, "letter", 2, |message| {
        let Message::Assistant(said) = message else { panic!("{message:?}") };
        said.text.push_str(" And more.");
    });
    finds(&recording, "letter", Rule::Request);
}

#[test]
fn a_first_message_that_is_not_the_prompt_is_found() {
    let mut recording = clean();
    alter_message(&mut recording, "letter", 1, |message| *message = Message::User("Do it.".into()));
    finds(&recording, "letter", Rule::Request);
}

#[test]
fn a_request_that_leaves_something_out_is_found() {
    let mut recording = clean();
    for recorded in &mut recording.events {
        let first = is_of(&recorded.entry.scope, "letter", 1);
        if let Event::TurnStarted { turn: 2, messages, .. } = &mut recorded.entry.event
            && first
        {
            messages.pop();
        }
    }
    finds(&recording, "letter", Rule::Request);
}

#[test]
fn a_doubled_commit_is_found() {
    let mut recording = clean();
    let last = recording.events.last().unwrap().clone();
    recording.events.push(last);
    renumber(&mut recording);
    finds(&recording, "stamps", Rule::Commit);
}

#[test]
fn a_task_that_is_done_without_passing_its_checks_is_found() {
    let mut recording = clean();
    let failing = recording.kept.keep(&"It fails.");
    for recorded in &mut recording.events {
        let of = recorded.entry.scope.task.as_ref().is_some_and(|id| id.as_str() == "letter");
        if let Event::TaskVerified { failing: said, .. } = &mut recorded.entry.event
            && of
        {
            *said = Some(failing.clone());
        }
    }
    finds(&recording, "letter", Rule::Evidence);
}

#[test]
fn an_answer_that_nobody_gave_is_found() {
    let given = |id: &str| {
        let answer = Clarification {
            id: "r1-1".to_owned(),
            task: id.into(),
            question: "Which paper?".to_owned(),
            answer: "The thick one.".to_owned(),
        };
        if id == "letter" { vec![answer] } else { Vec::new() }
    };
    finds(
        &record(&Script { clarifications: Box::new(given), ..Script::default() }),
        "letter",
        Rule::Fragment,
    );
}

#[test]
fn a_file_that_nobody_granted_to_the_task_is_found() {
    let given = |id: &str| {
        let path = RepoPath::parse("dist/app.js").unwrap();
        let content = Content::Outside(Ok(b"let a = 1;\n".to_vec()));
        let file = Given { task: id.into(), path, content };
        if id == "letter" { vec![file] } else { Vec::new() }
    };
    finds(
        &record(&Script { given: Box::new(given), ..Script::default() }),
        "letter",
        Rule::Fragment,
    );
}

#[test]
fn a_base_with_a_siblings_change_is_found() {
    let mut recording = clean();
    let mut foreign = None;
    alter(&mut recording, "screen", |started, _| foreign = Some(started.base.clone()));
    alter(&mut recording, "letter", |started, _| started.base = foreign.unwrap());
    finds(&recording, "letter", Rule::Base);
}

#[test]
fn another_system_part_for_the_same_agent_is_found() {
    let context = |id: &str, mut context: IsolatedContext| {
        if id == "letter" {
            context.system = format!("{}Hurry.", context.system).into();
            let mut rows = context.manifest.fragments.iter_mut();
            rows.rfind(|row| row.part == Part::System).unwrap().end += "Hurry.".len();
            context.digest = IsolatedContext::digest_of(&context.system, &context.prompt);
        }
        context
    };
    finds(
        &record(&Script { context: Box::new(context), ..Script::default() }),
        "letter",
        Rule::Prefix,
    );
}

#[test]
fn a_missing_event_is_found() {
    let mut recording = clean();
    recording.events.remove(5);
    assert_eq!(broken(&recording), [(String::new(), Rule::Log)]);
}

#[test]
fn tasks_that_the_plan_does_not_have_are_found() {
    let mut recording = clean();
    if let Event::RunStarted(started) = &mut recording.events[0].entry.event {
        started.tasks[0].text = Digest::of(b"another text");
    }
    assert!(broken(&recording).contains(&(String::new(), Rule::Plan)));
}
