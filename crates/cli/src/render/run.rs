//! Runs as people read them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::run::{Row, RunView, Savings, State, TaskState};
use sequester_core::usage::Usage;
use serde::Serialize;

use super::terminal::{clean, fold, number, plural};
use super::{inbox, table};

/// The JSON shape of a run in the list of all.
#[derive(Serialize)]
pub(crate) struct Brief<'a> {
    run: &'a RunId,
    state: State,
    plan: &'a str,
    branch: &'a str,
    started_at: Moment,
    updated_at: Moment,
    live: bool,
    /// How many tasks stand how.
    tasks: BTreeMap<&'static str, usize>,
    inbox: usize,
    usage: Usage,
    price: Option<u64>,
}

impl<'a> Brief<'a> {
    pub(crate) fn of(view: &'a RunView) -> Self {
        Self {
            run: &view.run,
            state: view.state,
            plan: &view.plan,
            branch: &view.branch,
            started_at: view.started_at,
            updated_at: view.updated_at,
            live: view.live,
            tasks: view.tally().into_iter().map(|(state, count)| (state.as_str(), count)).collect(),
            inbox: view.inbox.len(),
            usage: view.usage,
            price: view.price,
        }
    }
}

/// All runs, the newest first.
pub(crate) fn list(runs: &[RunView], width: usize) -> String {
    if runs.is_empty() {
        return "There is no run here yet. Start one with `sequester run PLAN`.\n".to_owned();
    }
    let row = |view: &RunView| {
        [
            view.run.to_string(),
            word(view.state.as_str()),
            time(view.started_at),
            cost(view.usage, view.price),
            view.plan.clone(),
            tally(view),
        ]
    };
    let rows: Vec<[String; 6]> = runs.iter().map(row).collect();
    table::render(["run", "state", "started", "cost", "plan", "tasks"], &rows, width)
}

/// How one stands.
pub(crate) fn status(view: &RunView, width: usize) -> String {
    let mut out = head(view, width);
    let row = |task: &sequester_core::run::TaskView| {
        let mut told = task.title.clone();
        for text in [&task.reason, &task.resolution].into_iter().flatten() {
            let _ = write!(told, " · {text}");
        }
        [
            task.id.to_string(),
            task.state.as_str().to_owned(),
            task.phase.map_or_else(String::new, |phase| phase.as_str().to_owned()),
            if task.attempts == 0 { String::new() } else { task.attempts.to_string() },
            cost(task.usage, task.price),
            told,
        ]
    };
    let rows: Vec<[String; 6]> = view.tasks.iter().map(row).collect();
    out.push('\n');
    out += &table::render(["task", "state", "phase", "attempts", "cost", "what"], &rows, width);
    if !view.inbox.is_empty() {
        out.push('\n');
        out += &inbox::render(&view.inbox, width);
    }
    if let Some(next) = next(view) {
        let _ = writeln!(out, "\n{next}");
    }
    fold(&clean(&out), width)
}

fn head(view: &RunView, width: usize) -> String {
    let done = view.tasks.iter().any(|task| task.state == TaskState::Done);
    let review = match (view.reviewed, done) {
        (true, _) => "every change was reviewed",
        (false, true) => "not every change was reviewed",
        (false, false) => "",
    };
    let live = if view.live { " by a process that runs now" } else { "" };
    let fields = [
        ("run", format!("{}: {}{live}", view.run, word(view.state.as_str()))),
        ("plan", view.plan.clone()),
        ("tasks", tally(view)),
        ("started", time(view.started_at)),
        ("last event", time(view.updated_at)),
        ("branch", view.branch.clone()),
        ("review", review.to_owned()),
        ("cost", cost(view.usage, view.price)),
    ];
    table::fields(&fields, width)
}

/// What a person may do now.
fn next(view: &RunView) -> Option<String> {
    let run = &view.run;
    let text = match view.state {
        State::Waiting => {
            format!("Answer with `sequester answer QUESTION TEXT`, then `sequester resume {run}`.")
        }
        State::Stopped | State::BudgetExhausted => {
            format!("It goes on with `sequester resume {run}`.")
        }
        State::Done if view.tip.is_some() => {
            format!("Look at it with `sequester diff {run}`, take it with `sequester apply {run}`.")
        }
        State::Failed => {
            let failed = view.tasks.iter().find(|task| task.state == TaskState::Failed)?;
            let task = &failed.id;
            format!(
                "See why with `sequester show {run} {task}`; `sequester resume {run} --retry {task}` tries it again."
            )
        }
        State::Refused => {
            format!("`sequester doctor` says what is missing; then `sequester resume {run}`.")
        }
        State::Running | State::Done | State::Cancelled => return None,
    };
    Some(text)
}

/// A run in full: how it stands, and what isolation saved.
pub(crate) fn show(view: &RunView, savings: Option<&Savings>, width: usize) -> String {
    let mut out = status(view, width);
    if let Some(savings) = savings {
        out.push('\n');
        out += &compared(savings, width);
    }
    out
}

fn compared(savings: &Savings, width: usize) -> String {
    let row = |row: &Row| {
        [
            row.phase.map_or("all", |phase| phase.as_str()).to_owned(),
            row.attempts.to_string(),
            row.turns.to_string(),
            number(usize::try_from(row.isolated).unwrap_or(usize::MAX)),
            number(usize::try_from(row.monolithic).unwrap_or(usize::MAX)),
            format!("{}%", row.saved),
            format!("{}%", row.isolated_share),
            format!("{}%", row.monolithic_share),
        ]
    };
    let rows: Vec<[String; 8]> = savings.phases.iter().chain([&savings.total]).map(row).collect();
    let headings = [
        "phase",
        "attempts",
        "turns",
        "tokens sent",
        "in one conversation",
        "saved",
        "of the window",
        "in one conversation",
    ];
    let mut out = "Against one conversation that does the same work:\n".to_owned();
    out += &table::render(headings, &rows, width);
    if savings.total.over > 0 {
        let turns = plural(savings.total.over, "turn");
        let _ = writeln!(out, "In one conversation {turns} would not have fit in the window.");
    }
    out += "Taken for granted:\n";
    for assumption in &savings.assumptions {
        let _ = writeln!(out, "- {assumption}");
    }
    fold(&out, width)
}

/// `3 done, 1 waiting`.
pub(crate) fn tally(view: &RunView) -> String {
    let parts =
        view.tally().into_iter().map(|(state, count)| format!("{count} {}", state.as_str()));
    parts.collect::<Vec<_>>().join(", ")
}

/// `12,300 tokens, $0.04`; nothing where nothing was used.
pub(crate) fn cost(usage: Usage, price: Option<u64>) -> String {
    let total = usize::try_from(usage.total()).unwrap_or(usize::MAX);
    if total == 0 {
        return String::new();
    }
    let mut text = format!("{} tokens", number(total));
    if let Some(price) = price {
        let cents = price.div_ceil(10_000);
        let _ = write!(text, ", ${}.{:02}", cents / 100, cents % 100);
    }
    text
}

/// `2026-11-16 09:05:12`, in UTC.
pub(crate) fn time(at: Moment) -> String {
    let text = at.to_string();
    text.get(..19).unwrap_or(&text).replacen('T', " ", 1)
}

fn word(state: &str) -> String {
    state.replace('_', " ")
}
