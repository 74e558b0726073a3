//! `sequester answer`: a person's word on a question, to whoever carries the run out, or straight into its log.

use std::path::Path;
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::id::{QuestionId, RunId, TaskId};
use sequester_core::report::Choice;
use sequester_core::run::{About, EDIT, Entry, Event, Open, RunState, Scope};
use sequester_core::store::{ErrorKind, Letter, RunStore as _};
use serde_json::json;

use crate::Outcome;
use crate::args::{AnswerArgs, Args};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::clean;
use crate::wire::owner::{self, Heard};
use crate::wire::runs::{self, Runs, failed_run};
use crate::wire::{edited_task, find_root};

pub(crate) fn run(args: &Args, given: &AnswerArgs) -> Outcome {
    let root = find_root(args)?;
    let named = given.question.rsplit_once('-');
    let (run, number) = named.ok_or_else(|| unknown(&given.question))?;
    let (runs, run) = Runs::seek_writing(&root, Some(run))?;
    let question = QuestionId::new(format!("{run}-{number}"));
    let state = runs.state(&run)?;
    let open = waiting(&state, &question)?;
    let answer = choose(&question, open, &given.text)?;
    let by = runs::person(&root);
    let is_answered = |state: &RunState| !state.questions.contains_key(&question);
    let letter =
        Letter::Answer { question: question.clone(), answer: answer.clone(), by: by.clone() };
    let heard = match runs.store.lease(&run) {
        Ok(lease) => {
            // Somebody may have answered before the run was ours.
            let state = runs.state(&run)?;
            let open = waiting(&state, &question)?;
            let scope = Scope { task: open.task.clone(), phase: open.phase, attempt: None };
            let event = Event::QuestionAnswered {
                question: question.clone(),
                answer: answer.clone(),
                by: by.clone(),
            };
            owner::append(lease.as_ref(), vec![Entry { scope, event }])?;
            Heard::Recorded
        }
        Err(error) if error.kind == ErrorKind::Held => {
            owner::post(&runs, &run, &letter, is_answered)?
        }
        Err(error) => return Err(failed_run(&error, &run)),
    };
    if open.asked.about == About::Failure
        && let Some(task) = &open.task
        && !answer.starts_with(EDIT)
    {
        tell_left(&root, &run, task);
    }
    if args.json {
        output::print_json(&json!({
            "question": question,
            "run": run,
            "task": open.task,
            "answer": answer,
            "by": by,
            "delivered": heard,
        }))?;
    } else {
        let edited = open.task.as_ref().filter(|_| answer.starts_with(EDIT));
        let is_label = |option: &Choice| {
            answer.split(':').next().is_some_and(|label| label.trim() == option.label)
        };
        let is_advice =
            open.asked.about == About::Failure && !open.asked.options.iter().any(is_label);
        output::print(&tell(&run, &question, edited, (&answer, &by, is_advice), heard))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// That a worktree in which the task was edited stays, if there is one.
fn tell_left(root: &Path, run: &RunId, task: &TaskId) {
    let Ok(trees) = runs::trees_at(root) else { return };
    let Ok(Some(place)) = edited_task::find(&trees, run, task) else { return };
    let at = place.at.display();
    output::tell(&format!(
        "The worktree `{at}` stays; `git worktree remove --force {at}` removes it."
    ));
}

fn tell(
    run: &RunId,
    question: &QuestionId,
    edited: Option<&TaskId>,
    (answer, by, is_advice): (&str, &str, bool),
    heard: Heard,
) -> String {
    let (answer, by) = (clean(answer), clean(by));
    let next = match heard {
        Heard::Recorded => match edited {
            Some(task) => format!(
                "`sequester open {run} {task}` makes the worktree to edit; `sequester hand-back` in it gives the edit to the run."
            ),
            None => format!("The run goes on with `sequester resume {run}`."),
        },
        Heard::Taken => format!("The process that carries run `{run}` out goes on with it."),
        Heard::Left => format!(
            "It was left for the process that carries run `{run}` out, which has not taken it yet."
        ),
    };
    let advice = if is_advice { " (as advice to the subagent)" } else { "" };
    format!("`{question}` is answered by {by}: {answer}{advice}\n{next}\n")
}

fn waiting<'a>(state: &'a RunState, question: &QuestionId) -> Result<&'a Open, Failure> {
    let found = state.inbox().find(|(id, _)| *id == question);
    found.map(|(_, open)| open).ok_or_else(|| unknown(question.as_str()))
}

fn unknown(question: &str) -> Failure {
    let message = format!("No question `{question}` waits for an answer.");
    let hint = "`sequester inbox` lists what waits.";
    Failure::input(Code::UnknownQuestion, question, message, hint)
}

/// The label of an option where one is meant, by its label or its number; else the person's own words. After a failure, a reason may
/// follow the label and a colon.
pub(super) fn choose(question: &QuestionId, open: &Open, text: &str) -> Result<String, Failure> {
    let (options, text) = (&open.asked.options, text.trim());
    if open.asked.about == About::Failure
        && let Some((label, why)) = text.split_once(':')
        && let Ok(label) = option(question, options, label.trim())
        && options.iter().any(|option| option.label == label)
    {
        return Ok(format!("{label}: {}", why.trim()));
    }
    option(question, options, text)
}

fn option(question: &QuestionId, options: &[Choice], text: &str) -> Result<String, Failure> {
    let named = options.iter().find(|option| option.label == text);
    let named = named.or_else(|| {
        options.iter().find(|option| option.label.to_lowercase() == text.to_lowercase())
    });
    if let Some(option) = named {
        return Ok(option.label.clone());
    }
    let begun = |option: &&Choice| is_beginning(text, &option.label);
    match &options.iter().filter(begun).collect::<Vec<_>>()[..] {
        [] => {}
        [option] => return Ok(option.label.clone()),
        several => {
            let labels: Vec<String> =
                several.iter().map(|option| format!("`{}`", option.label)).collect();
            let message = format!("`{text}` may mean {}.", labels.join(" or "));
            let hint = "Name the option by its number or whole label.";
            return Err(Failure::input(Code::UnknownQuestion, question, message, hint));
        }
    }
    let Ok(number) = text.parse::<usize>() else { return Ok(text.to_owned()) };
    if options.is_empty() {
        return Ok(text.to_owned());
    }
    let chosen = number.checked_sub(1).and_then(|at| options.get(at));
    chosen.map(|option| option.label.clone()).ok_or_else(|| {
        let message = format!("The question has options 1 to {}, and no {number}.", options.len());
        let hint = "Name an option by its number or label, or answer in words.";
        Failure::input(Code::UnknownQuestion, question, message, hint)
    })
}

/// Whether a short answer is the first word or words of a label, as `accept` of `Accept as it is`.
fn is_beginning(text: &str, label: &str) -> bool {
    let (text, label) = (text.to_lowercase(), label.to_lowercase());
    let rest = label.strip_prefix(&text).filter(|_| text.chars().count() > 2);
    rest.is_some_and(|rest| rest.starts_with(' '))
}
