//! What happened, in a sentence for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::event::{
    AttemptEnded, AttemptStarted, CheckEnded, Delegation, Ended, Event, Found, Purpose, TaskEnded,
};
use super::outcome::{Outcome, Tally};
use super::said::Said;
use crate::change::Refused;
use crate::id::TaskId;

/// An event as a sentence, without its time and place.
pub fn sentence(event: &Event) -> String {
    match event {
        Event::RunStarted(started) if started.plan.path.is_empty() => {
            let title = started.tasks.first().map(|task| task.title.as_str()).unwrap_or_default();
            format!("The run starts with the task `{title}`, for the branch `{}`.", started.branch)
        }
        Event::RunStarted(started) => format!(
            "The run starts with {} of `{}`, for the branch `{}`.",
            plural(started.tasks.len(), "task"),
            started.plan.path,
            started.branch
        ),
        Event::RunResumed { retry, budget } => {
            let mut text = "It is taken up again".to_owned();
            if budget.is_some() {
                text += " with a new budget";
            }
            if !retry.is_empty() {
                let _ = write!(text, ", and tries {} again", names(retry));
            }
            text + "."
        }
        Event::PlanChanged { plan, .. } if plan.path.is_empty() => {
            "The task goes to other models.".to_owned()
        }
        Event::PlanChanged { plan, .. } => {
            format!("The plan `{}` was edited: open tasks take the new text.", plan.path)
        }
        Event::AgentsChanged { models, profile } => agents_changed(models, profile.as_deref()),
        Event::RunCancelled { by } => format!("{by} cancelled the run."),
        Event::LetterTaken { letter } => format!("Word {letter} of another process is taken."),
        Event::RunEnded { outcome, tasks, .. } => run_ended(*outcome, tasks),
        Event::QuestionAsked(asked) => format!("Question `{}`: {}", asked.question, asked.text),
        Event::QuestionAnswered { question, answer, by } => {
            format!("{by} answers `{question}`: {answer}")
        }
        Event::ClarificationAdded { text, by } => format!("{by} adds a clarification: {text}"),
        Event::FilesGranted { files } => files_granted(files),
        Event::AttemptStarted(started) => attempt_started(started),
        Event::TurnStarted { turn, messages, .. } => {
            format!("Turn {turn}: {} sent.", plural(messages.len(), "new message"))
        }
        Event::TurnEnded { turn, usage, .. } => {
            format!("Turn {turn}: {} tokens in, {} out.", usage.input, usage.output)
        }
        Event::TurnFailed { turn, error, .. } => format!("Turn {turn} failed: {}", error.message),
        Event::CallsStarted { turn, calls } => format!("Turn {turn} calls {}.", calls.join(", ")),
        Event::CallsEnded { turn, change, .. } => {
            let changed = if change.is_some() { "; the workspace changed" } else { "" };
            format!("The calls of turn {turn} ended{changed}.")
        }
        Event::HostAsked { host, port, allowed, why } => {
            let word = if *allowed { "reached" } else { "was refused" };
            format!("A program {word} `{host}:{port}`: {why}")
        }
        Event::AttemptEnded(ended) => attempt_ended(ended),
        Event::CheckStarted { check, .. } => {
            format!("The check `{}` ({}) starts.", check.command, check.kind.as_str())
        }
        Event::CheckEnded(ended) => check_ended(ended),
        Event::TaskVerified { failing: None, .. } => {
            "The runtime found nothing against the change.".to_owned()
        }
        Event::TaskVerified { .. } => {
            "The runtime found what speaks against the change.".to_owned()
        }
        Event::StepSkipped { step, reason } => format!("Step `{step}` skipped: {reason}."),
        Event::ChangeAccepted { left_out, .. } => accepted(left_out),
        Event::AcceptRefused { why } => format!("The change cannot be accepted: {why}"),
        Event::TaskHandedBack { by, left_out, .. } => handed_back(by, left_out),
        Event::TaskCommitted { commit, .. } => {
            format!("The change is on the branch as `{}`.", short(commit.as_str()))
        }
        Event::MergeConflicted { paths } => {
            format!("The change does not fit what others did to {}.", paths.join(", "))
        }
        Event::NotesMerged { sections, told, .. } => notes_merged(sections, told),
        Event::TaskEnded(ended) => task_ended(ended),
    }
}

fn notes_merged(sections: &[String], told: &[String]) -> String {
    let names = sections.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut text = match sections {
        [] if told.is_empty() => "The notes have nothing of it any more.".to_owned(),
        [] => "The notes stay as they are.".to_owned(),
        _ => format!("The notes have its sections {names}."),
    };
    for one in told {
        let _ = write!(text, " {one}");
    }
    text
}

fn files_granted(files: &BTreeMap<String, Found>) -> String {
    let told = files.iter().map(|(path, found)| match found {
        Found::Blob(_) => format!("`{path}`"),
        Found::Refused(why) => format!("`{path}`, not shown: {why}"),
    });
    format!("Read for it: {}.", told.collect::<Vec<_>>().join("; "))
}

fn run_ended(outcome: Outcome, tasks: &Tally) -> String {
    let outcome = outcome.as_str().replace('_', " ");
    let mut text = format!("The run ends: {outcome}. {} done", tasks.done);
    for (count, word) in [
        (tasks.failed, "failed"),
        (tasks.blocked, "blocked"),
        (tasks.waiting, "waiting"),
        (tasks.skipped, "skipped"),
        (tasks.cancelled, "cancelled"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {word}");
        }
    }
    text + "."
}

fn attempt_started(started: &AttemptStarted) -> String {
    let why = match started.purpose {
        // Who delegated it is said apart.
        Purpose::First | Purpose::Delegated => "",
        Purpose::Repeat => ", since the one before brought no valid report",
        Purpose::NextModel => ", since the model before gave up",
        Purpose::Simplified => ", with less handed over",
        Purpose::Answered => ", with an answer",
        Purpose::Fix => ", to mend the change",
        Purpose::Stronger => ", with a stronger model from the clean base",
        Purpose::Rebased => ", on the new base",
        Purpose::Retried => ", since a person wants it tried again",
    };
    let (agent, model, tokens) = (&started.agent, &started.model, started.context.tokens);
    let mut text =
        format!("A fresh `{agent}` starts with `{model}` and a context of {tokens} tokens{why}");
    if let Some(Delegation { attempt, description, .. }) = &started.parent {
        let _ = write!(text, ", delegated by attempt {attempt}: {description}");
    }
    text + "."
}

fn attempt_ended(ended: &AttemptEnded) -> String {
    let mut text = ended.outcome.sentence();
    if let Some(Said::Proceed { passed: Some(false), against, .. }) = &ended.said {
        text = format!("It objects: {}.", against.join("; "));
    }
    if let Some(trouble) = &ended.trouble {
        let _ = write!(text, " Its change could not be taken: {trouble}");
    }
    if !ended.refused.is_empty() {
        let _ = write!(text, " Not taken: {}.", ended.refused.names());
    }
    text
}

fn check_ended(ended: &CheckEnded) -> String {
    let word = if ended.passed { "passed" } else { "failed" };
    let place = match (ended.is_base, ended.is_red) {
        (true, _) => " on the task's base",
        (_, true) => " on the task's base with the new tests alone (red: it is to fail)",
        _ => "",
    };
    let command = &ended.check.command;
    if let Some(program) = &ended.missing_program {
        return format!(
            "The check `{command}` was not run{place}: `{program}` is not installed or not visible in the sandbox."
        );
    }
    let mut text = format!("The check `{command}` {word}{place} with exit code {}", ended.code);
    if let Some(counts) = ended.counts {
        let (passed, failed) = (counts.passed, counts.failed);
        let _ = write!(text, ": {passed} passed, {failed} failed, {} skipped", counts.skipped);
    }
    text + "."
}

fn task_ended(ended: &TaskEnded) -> String {
    let how = match ended.state {
        Ended::Done => "is done",
        Ended::Failed => "has failed",
        Ended::Blocked => "is blocked",
        Ended::Skipped => "is skipped",
        Ended::Cancelled => "is cancelled",
    };
    match (&ended.reason, &ended.person) {
        (Some(reason), _) => format!("The task {how}: {reason}"),
        (None, Some(person)) => format!("The task {how}. {}", person.sentence()),
        (None, None) => format!("The task {how}."),
    }
}

fn agents_changed(models: &BTreeMap<String, Vec<String>>, profile: Option<&str>) -> String {
    let models: BTreeSet<&str> = models.values().flatten().map(String::as_str).collect();
    let models: Vec<&str> = models.into_iter().collect();
    let models = (!models.is_empty()).then(|| format!("the models `{}`", models.join("`, `")));
    let profile = profile.map(|name| format!("the profile `{name}`"));
    let parts: Vec<String> = models.into_iter().chain(profile).collect();
    format!("Open tasks go on with {}.", parts.join(" and "))
}

fn accepted(left_out: &[Refused]) -> String {
    format!("The accepted change can be committed{}.", without(left_out))
}

fn handed_back(by: &str, left_out: &[Refused]) -> String {
    format!("{by} hands back an edit{}.", without(left_out))
}

fn without(left_out: &[Refused]) -> String {
    let paths: Vec<String> = left_out.iter().map(|one| format!("`{}`", one.path)).collect();
    if paths.is_empty() { String::new() } else { format!(" without {}", paths.join(", ")) }
}

fn names(tasks: &[TaskId]) -> String {
    tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ")
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
