//! Giving work to another subagent: what the tool looks like, and what comes back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::Value;

use super::Outcome;
use crate::context::TaskCall;
use crate::excerpt::cap;
use crate::message::Call;
use crate::profile::TASK;
use crate::report::{Conclusion, Report, SUMMARY_TOKENS, numbered, schema_of};
use crate::tool::{self, Effect, Spec};

/// The tool, for these agents with what each is for.
pub fn task_spec(agents: &BTreeMap<&str, &str>) -> Spec {
    let mut parameters = schema_of::<TaskCall>();
    if let Some(kind) = parameters.pointer_mut("/properties/subagent_type") {
        kind["enum"] = agents.keys().copied().collect();
    }
    let mut description = "\
Gives a piece of the work to a fresh subagent and waits for it. It starts in your workspace as it is now and knows only the prompt; \
you get its summary and findings and nothing else of it, and if it says PROCEED, what it changed is in your workspace. \
Several calls in one reply run side by side as far as they change nothing. Agents:\n"
        .to_owned();
    for (name, purpose) in agents {
        // Writing to a string cannot fail.
        let _ = writeln!(description, "- {name}: {purpose}");
    }
    Spec {
        name: TASK.into(),
        description: description.into(),
        parameters: Arc::new(parameters),
        effect: Effect::Delegates,
    }
}

/// Agents that make no sense as the child of another: they answer the runtime, or delegate themselves.
const NOT_DELEGATED: [&str; 4] = ["drafter", "orchestrator", "quality-reviewer", "spec-reviewer"];

/// Whether a subagent may give work to an agent of this name.
pub fn takes_tasks(agent: &str) -> bool {
    !NOT_DELEGATED.contains(&agent)
}

/// What a call asks for; else what is wrong with it.
pub fn read_task(call: &Call) -> Result<TaskCall, String> {
    let asked = TaskCall::deserialize(&call.arguments)
        .map_err(|error| format!("The arguments of `{TASK}` cannot be read: {error}."))?;
    let empty = |text: &str| text.trim().is_empty();
    if empty(&asked.prompt) || empty(&asked.description) {
        return Err("`prompt` and `description` must say something.".to_owned());
    }
    Ok(asked)
}

/// All that comes back of another subagent: how it ended, its summary, what it found, and why it did not go on if it did not.
pub fn hand_back(outcome: &Outcome, report: Option<&Report>) -> tool::Outcome {
    let Some(report) = report else {
        let text = format!("It brought no report. {}", outcome.sentence());
        return tool::Outcome::Failed(cap(text, BYTES));
    };
    let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let status = word(serde_json::json!(report.verdict.status()));
    let decision = word(serde_json::json!(report.verdict.decision()));
    let mut text = format!("{status}, {decision}\n");
    // Writing to a string cannot fail.
    match &report.verdict {
        Conclusion::Proceed => {}
        Conclusion::Stop { reason, resolution, .. } => {
            let _ = writeln!(text, "It stopped: {reason}");
            if let Some(resolution) = resolution {
                let _ = writeln!(text, "What would help: {resolution}");
            }
        }
        Conclusion::Clarify { questions, .. } => {
            text += "It cannot go on without an answer. Give the work again with the answer, or ask yourself:\n";
            for question in questions {
                let _ = writeln!(text, "- {}", question.question);
            }
        }
    }
    let mut text = cap(text, BYTES);
    let _ = write!(text, "\n{}", report.context_summary);
    let findings = numbered(report, SUMMARY_TOKENS);
    if !report.phase().changes_files() && !findings.is_empty() {
        let _ = write!(text, "\n\n{findings}");
    }
    tool::Outcome::Output(text)
}

/// What is told where the work is done and its change could not be taken.
pub const UNTAKEN: &str = "Its change could not be taken.";

/// Of all but summary and findings, which have limits of their own.
const BYTES: usize = 4 << 10;
