//! The `literal` model: carries out the steps that a task spells out, word for word. No weights, no key, no network.
//!
//! It keeps nothing between replies: each time it goes through the steps from the start, with the results that the
//! conversation holds, and asks for the first calls that have none.

mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod history;
mod outcome;
mod play;
mod report;
mod shell;

use std::collections::BTreeSet;

use sequester_core::agent::REPORT;
use sequester_core::future::BoxFuture;
use sequester_core::message::{Call, Said};
use sequester_core::plan::step::{self, Action, Step, Told};
use sequester_core::provider::{
    Answer, Deltas, Error, Kind, Powers, Provider, Reply, Request, Stop,
};
use sequester_core::usage::Usage;
use serde_json::{Value, json};

use history::History;
use play::{Play, Record};
use report::{Ending, Form};

/// As a person names it.
const MODEL: &str = "literal";
/// Most unclear steps that one report names.
const NAMED: usize = 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct Literal;

impl Provider for Literal {
    fn model(&self) -> &str {
        MODEL
    }

    fn powers(&self) -> Powers {
        Powers { schema: false, free: true, scripted: true }
    }

    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        _deltas: &'a dyn Deltas,
    ) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(async move { answer(&request) })
    }
}

fn answer(request: &Request<'_>) -> Result<Reply, Error> {
    let form = Form::find(request.tools)
        .filter(|_| !matches!(request.answer, Answer::Json(_)))
        .ok_or_else(|| {
            bad_request("`literal` answers by the `report` tool, and it is not listed.")
        })?;
    let history = History::read(request.messages);
    let Told { steps, passed, unchecked } =
        step::read(request.task).within(request.grants).under(history.constraints(request.task));
    let mut calls = match refuse(&form, request, &steps) {
        Some(ending) => vec![(REPORT, form.fill(&Record::default(), &ending))],
        None => next(&form, request, &steps, &history)?,
    };
    for (_, arguments) in calls.iter_mut().filter(|(name, _)| *name == REPORT) {
        arguments["issues"] = report::issues(&passed, &unchecked);
    }
    let numbered = calls.into_iter().zip(history.calls..).map(|((name, arguments), number)| Call {
        id: format!("{MODEL}-{number}"),
        name: name.to_owned(),
        arguments,
    });
    let said = Said { text: String::new(), calls: numbered.collect(), carried: None };
    Ok(Reply { said, usage: Usage::default(), stop: Stop::End })
}

/// The next calls: a question that is open, those of the steps that come next, or the report.
fn next(
    form: &Form,
    request: &Request<'_>,
    steps: &[Step],
    history: &History<'_>,
) -> Result<Vec<(&'static str, Value)>, Error> {
    let only_report = matches!(request.answer, Answer::Call(REPORT));
    let open = questions(steps, history.prompt);
    if !open.is_empty() && history.past.is_empty() && !only_report {
        return Ok(vec![("ask", json!({ "questions": open }))]);
    }
    let asked = usize::from(!open.is_empty());
    let mut play = Play::new(steps, history.past.get(asked..).unwrap_or_default());
    let ending = match play.all() {
        Ok(()) => Ending::Complete,
        Err(play::Stop::Calls(calls)) if !only_report => return Ok(calls),
        Err(play::Stop::Calls(_)) => Ending::Unfinished,
        Err(play::Stop::Blocked(at, why)) => {
            let reason = format!("{}: {why}", steps.get(at).map(place).unwrap_or_default());
            Ending::blocked(reason, report::AS_SEEN)
        }
        Err(play::Stop::Foreign) => {
            return Err(bad_request("`literal` cannot go on with calls that are not its own."));
        }
    };
    Ok(vec![(REPORT, form.fill(&play.record, &ending))])
}

/// Why nothing at all is carried out.
fn refuse(form: &Form, request: &Request<'_>, steps: &[Step]) -> Option<Ending> {
    if !form.changes_files() {
        let phase = &form.phase;
        let reason = format!(
            "`literal` carries out steps and judges nothing: the phase `{phase}` is not for it."
        );
        return Some(Ending::Blocked { reason, remedy: "Give this phase to a model.".to_owned() });
    }
    if let Some(unclear) = unclear(steps) {
        return Some(unclear);
    }
    let listed: BTreeSet<&str> = request.tools.iter().map(|tool| tool.name.as_ref()).collect();
    if let Some(missing) = steps.iter().flat_map(needed).find(|tool| !listed.contains(**tool)) {
        let reason =
            format!("The steps need the tool `{missing}`, which this profile does not have.");
        return Some(Ending::blocked(reason, "Take an agent whose profile has the tool."));
    }
    let turns = play::turns(steps).saturating_add(1);
    (turns > request.turns as usize).then(|| {
        let limit = request.turns;
        let reason =
            format!("The steps take {turns} turns, and the limit of this attempt is {limit}.");
        Ending::blocked(reason, "Split the task, or raise the limit `turns`.")
    })
}

/// The steps that cannot be carried out, each by its place, and what would mend them.
fn unclear(steps: &[Step]) -> Option<Ending> {
    let unclear = steps.iter().filter_map(|step| match &step.action {
        Action::Unclear { reason, remedy } => {
            Some((format!("{}: {reason}.", place(step)), *remedy))
        }
        _ => None,
    });
    let (named, remedies): (Vec<String>, Vec<&str>) = unclear.unzip();
    let mut several: Vec<&str> = Vec::new();
    for remedy in remedies.into_iter().take(NAMED) {
        if !several.contains(&remedy) {
            several.push(remedy);
        }
    }
    let more = named.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" And {more} more.") };
    let reasons = named[..named.len().min(NAMED)].join(" ");
    let reason = format!("Not every step can be carried out word for word. {reasons}{more}");
    (!named.is_empty()).then(|| Ending::blocked(reason, &several.join(" ")))
}

/// A step as a report names it.
fn place(step: &Step) -> String {
    match step.title.as_str() {
        "" => format!("Line {}", step.line),
        title => format!("Line {} (\"{title}\")", step.line),
    }
}

fn needed(step: &Step) -> &'static [&'static str] {
    match step.action {
        Action::Write { .. } => &["Write", "Read"],
        Action::Replace { .. } | Action::Patch { .. } | Action::Insert { .. } => &["Read", "Edit"],
        Action::Append { .. }
        | Action::Delete { .. }
        | Action::Rename { .. }
        | Action::Run { .. } => &["Bash"],
        Action::Ask { answer: None, .. } => &["ask"],
        Action::Ask { .. } | Action::Commit { .. } | Action::Unclear { .. } => &[],
    }
}

/// Questions of the steps that neither the task nor the prompt holds an answer to. They come first: an answer means a fresh start.
fn questions(steps: &[Step], prompt: &str) -> Vec<Value> {
    let answers: Vec<&str> = prompt
        .split("# Clarifications\n")
        .skip(1)
        .map(|section| section.split("\n# ").next().unwrap_or(section))
        .collect();
    let open = steps.iter().filter_map(|step| match &step.action {
        Action::Ask { question, options, default, answer: None } => {
            let asked = format!("- {question}\n");
            let options: Vec<Value> =
                options.iter().map(|label| json!({ "label": label, "description": null })).collect();
            (!answers.iter().any(|section| section.contains(&asked))).then(|| {
                json!({
                    "question": question, "header": null, "options": options, "default": default, "deadline": null,
                })
            })
        }
        _ => None,
    });
    open.collect()
}

fn bad_request(message: &str) -> Error {
    Error { kind: Kind::BadRequest, message: message.to_owned(), retry_after: None }
}

#[cfg(test)]
mod tests;
