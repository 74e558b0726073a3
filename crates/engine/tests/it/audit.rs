//! What the controller records of a run proves it, however the run went.

use std::time::Duration;

use sequester_audit::Rule;
use sequester_core::message::Message;
use sequester_core::run::Outcome;
use sequester_testkit::provider::calls;
use serde_json::json;

use super::run::{PLAN, report, write_then_report};
use super::stage::Stage;

fn stage() -> Stage {
    Stage::new(PLAN, &[("README.md", "Letters\n")], write_then_report)
}

fn is_proved(stage: &Stage, contexts: usize, how: &str) {
    let audit = stage.audit();
    assert_eq!(audit.breaches, [], "{how}");
    assert_eq!(audit.contexts, contexts, "{how}");
}

#[tokio::test]
async fn a_plain_run_is_proved() {
    let stage = stage();
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    is_proved(&stage, 4, "plain");
}

#[tokio::test]
async fn a_run_with_a_fix_is_proved() {
    let lie = |task: &str, messages: &[Message]| {
        let Some(Message::User(prompt)) = messages.first() else { return report(task) };
        let is_told = prompt.contains("What speaks against the change");
        if task == "a" && !is_told { report(task) } else { write_then_report(task, messages) }
    };
    let stage = Stage::new(PLAN, &[], lie);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    is_proved(&stage, 5, "with a fix");
}

async fn kill_after(stage: &Stage, batches: usize) {
    stage.store.cut_after(batches);
    let _ = tokio::time::timeout(Duration::from_mins(1), stage.conduct()).await;
    stage.store.revive();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_killed_once_or_twice_is_proved() {
    let whole = stage();
    whole.conduct().await.unwrap();
    for batches in 1..whole.store.batches() {
        let stage = stage();
        kill_after(&stage, batches).await;
        kill_after(&stage, 2).await;
        assert_eq!(stage.conduct().await, Ok(Outcome::Done), "killed after {batches}");
        assert_eq!(stage.files(), whole.files(), "killed after {batches}");
        is_proved(&stage, 4, &format!("killed after {batches}"));
    }
}

/// The jails of these tests hide nothing: who reads the plan there sees what the others are to do.
#[tokio::test]
async fn a_subagent_that_reads_the_plan_is_found() {
    let plan = PLAN.replace(
        "Write the letter b.",
        "Write the letter that tells every customer about the new prices of next spring.",
    );
    let peek = |task: &str, messages: &[Message]| match messages.len() {
        1 if task == "c" => calls(&[("Read", json!({"path": "plan.md"}))]),
        3 if task == "c" => write_then_report(task, &messages[..1]),
        _ => write_then_report(task, messages),
    };
    let stage = Stage::new(&plan, &[("plan.md", &plan)], peek);
    assert_eq!(stage.conduct().await, Ok(Outcome::Done));
    let breaches = stage.audit().breaches;
    let [breach] = &breaches[..] else { panic!("{breaches:?}") };
    assert_eq!((breach.task.clone(), breach.rule), (Some("c".into()), Rule::Leak));
    assert!(breach.detail.contains("task `b`"), "{}", breach.detail);
}
