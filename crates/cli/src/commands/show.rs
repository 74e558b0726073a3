//! `sequester show`: a run with what isolation saved, or one task attempt by attempt.

use std::collections::BTreeMap;
use std::process::ExitCode;

use sequester_core::evidence::Evidence;
use sequester_core::id::{RunId, TaskId};
use sequester_core::report::{JoinedReport, Report};
use sequester_core::run::{History, RunState, RunView, TaskView, by_phase, savings};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::{Args, ShowArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::attempts::{self, LastCheck, Shown};
use crate::render::records::{self, Row};
use crate::render::{inbox, run as view, terminal, todo};
use crate::wire::placed::Placed;
use crate::wire::records::Shelves;
use crate::wire::runs::{self, Runs};
use crate::wire::{ReviewNotice, find_root};

pub(crate) fn run(args: &Args, given: &ShowArgs) -> Outcome {
    let (runs, state, task) = Runs::seek_task_with_branch(
        &find_root(args)?,
        given.run.as_deref(),
        given.task.as_deref(),
    )?;
    let live = runs.is_held(&state.run)?;
    match &task {
        Some(task) => show_task(args, &runs, &state, live, task),
        None => show_run(args, &runs, &state, live),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn show_run(args: &Args, runs: &Runs, state: &RunState, live: bool) -> Result<(), Failure> {
    let mut histories: BTreeMap<TaskId, History> = BTreeMap::new();
    runs.each(&state.run, |recorded| {
        if let Some(task) = recorded.entry.scope.task.clone() {
            histories.entry(task).or_default().add(&recorded);
        }
        Ok(())
    })?;
    let view = runs.view_of(state, live);
    let savings = savings(view.tasks.iter().filter_map(|task| histories.get(&task.id)));
    // Also of tasks that are no longer in the plan: they cost what they cost.
    let phases = by_phase(histories.values().flat_map(|history| &history.attempts));
    let notices = notices(runs, state)?;
    if !args.json {
        let mut view = view;
        Placed::of(runs, state).run(&mut view);
        let (taken, width) = (runs.taken(), terminal::width());
        output::print(&view::show(&view, &phases, savings.as_ref(), taken, width))?;
        for notice in &notices {
            output::tell(&notice.sentence());
        }
        return Ok(());
    }
    let mut value = json!(view);
    if let Value::Object(map) = &mut value {
        map.insert("to_read".to_owned(), json!(notices));
        map.insert("phases".to_owned(), json!(phases));
        map.insert("savings".to_owned(), json!(savings));
    }
    output::print_json(&value)
}

/// Files on the run's branch that other programs of the person's obey. Nothing where there is no repository any more.
fn notices(runs: &Runs, state: &RunState) -> Result<Vec<ReviewNotice>, Failure> {
    let Some(trees) = runs::trees(&runs.root)? else { return Ok(Vec::new()) };
    let change = super::diff::of_run(runs, &trees, state).unwrap_or_default();
    Ok(ReviewNotice::find(&runs.root, &change))
}

fn show_task(
    args: &Args,
    runs: &Runs,
    state: &RunState,
    live: bool,
    task: &TaskId,
) -> Result<(), Failure> {
    let mut history = History::default();
    runs.each(&state.run, |recorded| {
        if recorded.entry.scope.task.as_ref() == Some(task) {
            history.add(&recorded);
        }
        Ok(())
    })?;
    let Some(mut view) = state.task(task).map(|task| TaskView::of(state, task, live)) else {
        return Ok(());
    };
    let last_evidence = history.verifications.last().map(|last| &last.evidence);
    let attempts = history.attempts.iter().map(|attempt| {
        let read =
            |digest: Option<&_>| digest.map(|digest| read(runs, &state.run, digest)).transpose();
        let (report, evidence) = (read(attempt.report.as_ref())?, read(attempt.evidence.as_ref())?);
        let handoff = read(attempt.handoff.as_ref())?;
        let failing = attempt.failing.as_ref().map(|digest| runs.blob(&state.run, digest));
        let failing =
            failing.transpose()?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let is_last = attempt.evidence.as_ref() == last_evidence && last_evidence.is_some();
        let outputs = evidence.as_ref().map(|one| outputs(runs, &state.run, one, is_last));
        let outputs = outputs.transpose()?.unwrap_or_default();
        Ok(Shown::of(attempt, handoff, report, evidence, failing).with_outputs(outputs))
    });
    let shelves = Shelves::readable(&runs.store, state);
    let mut todos = shelves.todos();
    todos.retain(|todo| todo.task == *task);
    let left = shelves.all();
    let left = left.iter().filter(|one| one.record.task == *task);
    let left: Vec<Row<'_>> = left.map(|one| Row::of(&state.run, one)).collect();
    let phases = by_phase(&history.attempts);
    let mut open = RunView::of(state, live).inbox;
    open.retain(|one| one.task.as_ref() == Some(task));
    let mut attempts: Vec<Shown<'_>> = attempts.collect::<Result<_, Failure>>()?;
    if !args.json {
        let placed = Placed::of(runs, state);
        placed.task(&mut view);
        for attempt in &mut attempts {
            attempt.place(|said| placed.tell(task, said));
        }
        let width = terminal::width();
        let last = last_check(runs, state, &history)?;
        let told = (&history, last.as_ref());
        let text = attempts::render(&state.run, &view, &attempts, told, &phases, width);
        let records = if left.is_empty() {
            String::new()
        } else {
            format!("\nRecords:\n{}", records::whole(&left, width))
        };
        let text = text + &records + &todo::render(&todos, width);
        let asked = if open.is_empty() { String::new() } else { "\n".to_owned() };
        return output::print(&(text + &asked + &inbox::render(&open, width)));
    }
    let mut value = json!(view);
    if let Value::Object(map) = &mut value {
        map.insert("run".to_owned(), json!(state.run));
        map.insert("workflow".to_owned(), json!(state.task(task).map(|task| &task.spec.workflow)));
        map.insert("attempts".to_owned(), json!(attempts));
        map.insert("records".to_owned(), json!(left));
        map.insert("todos".to_owned(), json!(todos));
        map.insert("phases".to_owned(), json!(phases));
        map.insert("inbox".to_owned(), json!(open));
        map.insert("skipped".to_owned(), json!(history.skipped));
        map.insert("checks".to_owned(), json!(history.checks));
        map.insert("verifications".to_owned(), verifications(runs, state, &history)?);
        map.insert("joined".to_owned(), json!(joined(runs, state, task, &history)?));
    }
    output::print_json(&value)
}

/// What the failing checks of an attempt printed. Of the last verification, those that are held are told below all attempts.
fn outputs(
    runs: &Runs,
    run: &RunId,
    evidence: &Value,
    is_last: bool,
) -> Result<Vec<(String, String)>, Failure> {
    let evidence = Evidence::deserialize(evidence).unwrap_or_default();
    let failed = evidence.checks.into_iter().filter(|check| {
        !check.passed && check.missing_program.is_none() && !(is_last && check.held)
    });
    let printed = failed.filter_map(|check| Some((check.command?, check.output?)));
    let texts = printed.map(|(command, output)| {
        let bytes = runs.blob(run, &output)?;
        Ok((command, String::from_utf8_lossy(&bytes).into_owned()))
    });
    texts.collect()
}

/// What the runtime saw last.
fn last_check(
    runs: &Runs,
    state: &RunState,
    history: &History,
) -> Result<Option<LastCheck>, Failure> {
    let Some(last) = history.verifications.last() else { return Ok(None) };
    let failing = last.failing.as_ref().map(|digest| runs.blob(&state.run, digest)).transpose()?;
    Ok(Some(LastCheck {
        steps: last.steps.clone(),
        evidence: read(runs, &state.run, &last.evidence)?,
        failing: failing.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        is_told: history.attempts.iter().any(|one| one.evidence.as_ref() == Some(&last.evidence)),
    }))
}

fn verifications(runs: &Runs, state: &RunState, history: &History) -> Result<Value, Failure> {
    let all = history.verifications.iter().map(|one| {
        let failing = one.failing.as_ref().map(|digest| runs.blob(&state.run, digest));
        let failing = failing.transpose()?;
        let failing = failing.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let evidence = read(runs, &state.run, &one.evidence)?;
        Ok(json!({"steps": one.steps, "evidence": evidence, "failing": failing}))
    });
    all.collect()
}

/// Of each group of steps that ran side by side, the last reports joined.
fn joined(
    runs: &Runs,
    state: &RunState,
    task: &TaskId,
    history: &History,
) -> Result<Vec<Value>, Failure> {
    let groups = state.task(task).map(|task| state.side_by_side(task)).unwrap_or_default();
    let mut all = Vec::new();
    for group in groups {
        let mut reports: Vec<(String, Report)> = Vec::new();
        for step in group {
            let mut attempts = history.attempts.iter().rev().filter(|one| one.parent.is_none());
            let last = attempts.find(|one| one.step == step.id);
            let Some(digest) = last.and_then(|one| one.report.as_ref()) else { continue };
            if let Ok(report) = serde_json::from_slice(&runs.blob(&state.run, digest)?) {
                reports.push((step.id.clone(), report));
            }
        }
        if !reports.is_empty() {
            let mut value = json!(JoinedReport::of(&reports));
            let steps: Vec<&str> = group.iter().map(|step| step.id.as_str()).collect();
            value["steps"] = json!(steps);
            all.push(value);
        }
    }
    Ok(all)
}

/// What was kept as JSON.
fn read(
    runs: &Runs,
    run: &RunId,
    digest: &sequester_core::digest::Digest,
) -> Result<Value, Failure> {
    let bytes = runs.blob(run, digest)?;
    // Anything else was not written by this program; it is shown all the same.
    Ok(serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())))
}
