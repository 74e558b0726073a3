//! Steps of one task that run side by side, whatever happens to the others and to the process.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sequester_core::agent::CUT_OFF;
use sequester_core::message::Message;
use sequester_core::provider::Reply;
use sequester_core::report::{Findings, Phase};
use sequester_core::run::{Event, Outcome, Step, Workflow};
use sequester_engine::Trouble;
use sequester_testkit::provider::calls;
use serde_json::json;

use super::run::{report, write_then_report};
use super::stage::Stage;
use super::withdraw::add_line;

/// Two that look, side by side; who writes; two that judge it, side by side.
fn workflow() -> Workflow {
    let step = |id: &str, agent: &str, needs: Option<&str>| Step {
        id: id.to_owned(),
        agent: Some(agent.to_owned()),
        needs: needs.map(|needs| needs.split_whitespace().map(str::to_owned).collect()),
        ..Step::default()
    };
    let steps = vec![
        step("left", "researcher", Some("")),
        step("right", "Explore", Some("")),
        step("write", "writer", None),
        step("good", "reviewer", Some("write")),
        step("works", "verifier", Some("write")),
    ];
    Workflow { name: "beside".to_owned(), steps, ..Workflow::default() }
}

fn phase(messages: &[Message]) -> &str {
    let Some(Message::User(prompt)) = messages.first() else { return "" };
    let phase = prompt.split("**Phase:** ").nth(1).and_then(|rest| rest.lines().next());
    phase.unwrap_or_default()
}

/// What a subagent that only looks hands back.
fn looked(task: &str, phase: &str) -> Reply {
    let mut findings = serde_json::to_value(Findings::none(Phase::named(phase).unwrap())).unwrap();
    match phase {
        "review" => {
            let pass = json!({"verdict": "pass", "findings": []});
            findings = json!({"spec": pass, "quality": pass});
        }
        "verify" => {
            let text = format!("Write the letter {task}.");
            findings["requirements"] =
                json!([{"text": text, "met": true, "proof": "It is there."}]);
        }
        _ => {
            findings["patterns_found"] =
                json!([format!("Letters such as {task} end with a newline.")]);
        }
    }
    calls(&[(
        "report",
        json!({
            "task_id": task, "phase": phase, "status": "complete", "decision": "PROCEED",
            "findings": findings, "context_summary": format!("Looked at {task}."),
        }),
    )])
}

/// Who writes asks first for what the two that looked found, and goes on only with both findings.
fn play(task: &str, messages: &[Message]) -> Reply {
    if let ("write", Some(Message::Results(results))) = (phase(messages), messages.get(2)) {
        let found = results[0].text.matches("end with a newline").count();
        assert!(found == 2 || results[0].text == CUT_OFF, "{}", results[0].text);
    }
    match phase(messages) {
        "write" if messages.len() == 1 => {
            calls(&[("recall", json!({"query": "newline of letters"}))])
        }
        "write" if messages.len() == 3 => write_then_report(task, &messages[..1]),
        "write" => report(task),
        phase => looked(task, phase),
    }
}

/// `x` and `a` change one list without saying so; `c` is built on `a`.
const PLAN: &str = "---\nsequester: 1\n---\n# Letters\n\n\
## [x] Write x\n\n```task\nfiles: {create: [x.txt]}\n```\n\nWrite the letter x.\n\n\
## [a] Write a\n\n```task\nfiles: {create: [a.txt]}\n```\n\nWrite the letter a.\n\n\
## [c] Write c\n\n```task\nneeds: [a]\nfiles: {create: [c.txt]}\n```\n\nWrite the letter c.\n";

fn stage(play: impl Fn(&str, &[Message]) -> Reply + Send + Sync + 'static) -> Stage {
    Stage { workflow: "beside", own: vec![workflow()], ..Stage::new(PLAN, &[], play) }
}

#[tokio::test]
async fn what_two_of_one_phase_found_can_be_recalled_and_is_proved() {
    let stage = stage(play);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let audit = stage.audit();
    assert_eq!(audit.breaches, []);
    assert_eq!(steps(&stage), ["left", "right", "write", "good", "works"]);
}

/// Of the attempts for `a`, by their numbers.
fn steps(stage: &Stage) -> Vec<String> {
    let state = stage.state();
    let tried = state.task(&"a".into()).unwrap().tried();
    let steps: BTreeMap<u32, String> = tried.map(|one| (one.number, one.step.clone())).collect();
    steps.into_values().collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_with_steps_side_by_side_that_is_killed_anywhere_ends_the_same() {
    let whole = stage(play);
    assert_eq!(whole.conduct().await, Ok(Outcome::Done));
    for batches in 1..whole.store.batches() {
        let stage = stage(play);
        stage.store.cut_after(batches);
        let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
        stage.store.revive();
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "killed after {batches}");
        assert_eq!(stage.files(), whole.files(), "killed after {batches}");
        // A number that nothing was recorded for is given to nobody.
        let sorted = |stage: &Stage| BTreeSet::from_iter(steps(stage));
        assert_eq!(sorted(&stage), sorted(&whole), "killed after {batches}");
        assert_eq!(stage.audit().breaches, [], "killed after {batches}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_withdrawn_under_steps_side_by_side_is_built_again_wherever_the_run_is_killed() {
    // `x` comes onto the branch after `a` was built without it, and `c` on that.
    let slowly = |task: &str, messages: &[Message]| {
        let mut reply = match phase(messages) {
            "write" => add_line(task, messages, 0),
            phase => looked(task, phase),
        };
        if task == "x" || task == "c" && phase(messages) == "research" {
            reply.said.text = if task == "x" { "brief" } else { "slow" }.to_owned();
        }
        reply
    };
    let ends_well = async |stage: &Stage, how: String| {
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "{how}");
        assert_eq!(stage.files()["list.txt"], "x\na\nc\n", "{how}");
        assert_eq!(stage.audit().breaches, [], "{how}");
    };
    let whole = stage(slowly);
    ends_well(&whole, "whole".to_owned()).await;
    let state = whole.state();
    let cut = state.task(&"c".into()).unwrap().tried().filter(|one| one.trouble.is_some()).count();
    assert_eq!(cut, 2, "both that looked for `c` were stopped");
    for batches in 1..whole.store.batches() {
        let stage = stage(slowly);
        stage.store.cut_after(batches);
        let _ = tokio::time::timeout(Duration::from_mins(10), stage.conduct()).await;
        stage.store.revive();
        ends_well(&stage, format!("killed after {batches}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_cannot_begin_ends_its_task_after_those_beside_it() {
    let slowly = |task: &str, messages: &[Message]| {
        let mut reply = play(task, messages);
        "slow".clone_into(&mut reply.said.text);
        reply
    };
    let mut stage = stage(slowly);
    let (message, hint) = ("There is too much to show.".to_owned(), "Split it.".to_owned());
    stage.trouble = Some(("a/researcher", Trouble::Crew { message: message.clone(), hint }));
    assert_eq!(stage.conduct().await, Ok(Outcome::Failed));
    let log = stage.log();
    let of_a = log.iter().filter(|one| one.entry.scope.task == Some("a".into()));
    let told = of_a.filter_map(|one| match &one.entry.event {
        Event::AttemptStarted(started) => Some(format!("+{}", started.step)),
        Event::AttemptEnded(_) => Some("-".to_owned()),
        Event::TaskEnded(ended) => ended.reason.clone(),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), ["+right", "-", message.as_str()]);
    assert_eq!(stage.audit().breaches, []);
}
