//! What tasks ask of the run, held against what there is.

use sequester_core::budget;
use sequester_core::fault::{Code, Fault};
use sequester_core::plan::Task;
use sequester_core::source::Origin;

use super::{Agents, misspelt};
use crate::failure::Failure;

/// What is wrong with the values of one task, each where it stands. What the plan sets for all of them is told of each.
/// A plan may ask for no more than a file of the repository may, unless the person accepted it.
pub(crate) fn faults(task: &Task, agents: &Agents, plan: &Origin) -> Vec<Fault> {
    let asked = &task.settings;
    let mut faults = Vec::new();
    let mut tell = |key: &str, code: Code, said: String, hint: String| {
        let place = asked.places.get(key).copied().unwrap_or(task.place);
        let whose =
            if place < task.place { "The plan".to_owned() } else { format!("Task `{}`", task.id) };
        faults.push(Fault::new(code, place, format!("{whose} {said}"), hint));
    };
    match asked.agent.as_deref().map(|name| (name, agents.find(name))) {
        Some((name, Err(failure))) => {
            let (said, hint) = unusable("agent", name, &failure);
            tell("agent", failure.code(), said, hint);
        }
        Some((name, Ok(role))) => {
            if let Err(error) = agents.profiles.get_for(&role.profile, plan) {
                let profile = &role.profile;
                let said = format!(
                    "asks for the agent `{name}`, whose profile `{profile}` a plan cannot ask for."
                );
                tell("agent", error.code(), said, error.hint());
            }
        }
        None => {}
    }
    if let Some(name) = asked.profile.as_deref() {
        if let Err(failure) = agents.profile(name) {
            let said = format!("asks for the profile `{name}`, which cannot be used.");
            tell("profile", failure.code(), said, explained(&failure));
        } else if let Err(error) = agents.profiles.get_for(name, plan) {
            let said = format!("asks for the profile `{name}`, which a plan cannot ask for.");
            tell("profile", error.code(), said, error.hint());
        }
    }
    if let Some((message, hint)) = asked.model.as_deref().and_then(misspelt) {
        tell(
            "model",
            Code::UnknownModel,
            format!("asks for a model that is none. {message}"),
            hint,
        );
    }
    if let Some(text) = asked.budget.as_deref().filter(|text| budget::parse(text).is_err()) {
        let hint = "Write tokens such as `200k`, or dollars such as `5usd`.".to_owned();
        tell(
            "budget",
            Code::BadSyntax,
            format!("has the budget `{text}`, which cannot be read."),
            hint,
        );
    }
    match asked.workflow.as_deref().map(|name| (name, agents.workflow(name))) {
        Some((name, Err(failure))) => {
            let (said, hint) = unusable("workflow", name, &failure);
            tell("workflow", failure.code(), said, hint);
        }
        Some((name, Ok(workflow))) => {
            if let Some((step, error)) = agents.refused_step(workflow, plan) {
                let said = format!(
                    "asks for the workflow `{name}`, whose step `{}` has a profile that a plan cannot ask for.",
                    step.id
                );
                tell("workflow", error.code(), said, error.hint());
            }
        }
        None => {}
    }
    faults
}

/// What a task asks for that there is not, or that cannot be used as it is, and what to do.
fn unusable(kind: &str, name: &str, failure: &Failure) -> (String, String) {
    let (is, hint) = match failure.code() {
        Code::UnknownAgent | Code::UnknownWorkflow => ("does not exist", failure.hint().to_owned()),
        _ => ("cannot be used", explained(failure)),
    };
    (format!("asks for the {kind} `{name}`, which {is}."), hint)
}

/// Why a file that was asked for cannot be used, and what to do.
fn explained(failure: &Failure) -> String {
    let place = match failure.place() {
        "" => String::new(),
        place => format!("{place}: "),
    };
    format!("{place}{} {}", failure.message(), failure.hint())
}
