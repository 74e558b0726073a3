//! Runs as people read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sequester_core::check::Kind;
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::run::{Bill, Part, Row, RunView, Savings, State, TaskState, TaskView};
use serde::Serialize;

use super::terminal::{clean, fold, number, plural};
use super::{inbox, table, todo};

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
    /// Whether HEAD holds what is on its branch.
    applied: bool,
    #[serde(flatten)]
    cost: Bill,
}

impl<'a> Brief<'a> {
    pub(crate) fn of(view: &'a RunView, applied: &BTreeSet<RunId>) -> Self {
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
            applied: applied.contains(&view.run),
            cost: view.cost,
        }
    }
}

/// All runs, the newest first.
pub(crate) fn list(runs: &[RunView], applied: &BTreeSet<RunId>, width: usize) -> String {
    if runs.is_empty() {
        return "There is no run here yet. Start one with `sequester run PLAN`.\n".to_owned();
    }
    let row = |view: &RunView| {
        [
            view.run.to_string(),
            word(view.state.as_str()) + if applied.contains(&view.run) { ", applied" } else { "" },
            time(view.started_at),
            cost(&view.cost),
            view.plan.clone(),
            tally(view),
        ]
    };
    let rows: Vec<[String; 6]> = runs.iter().map(row).collect();
    table::render(["run", "state", "started", "cost", "plan", "tasks"], &rows, width)
}

/// How what a run made is taken over.
#[derive(Clone, Copy)]
pub(crate) enum Taken {
    ByApply,
    /// Where there is no git.
    ByPatch,
}

impl Taken {
    pub(crate) fn command(self, run: &RunId) -> String {
        match self {
            Self::ByApply => format!("sequester apply {run}"),
            Self::ByPatch => format!("sequester diff {run} | patch -p1"),
        }
    }
}

/// How one stands.
pub(crate) fn status(view: &RunView, taken: Taken, width: usize) -> String {
    let mut out = head(view, width);
    let row = |task: &TaskView| {
        let mut told = task.title.clone();
        if let Some(root) = &task.blocked_by {
            // What is wrong with that one stands in its own row.
            let why = if task.state == TaskState::Skipped {
                format!("It needs `{root}`, which is skipped.")
            } else {
                format!("It waits for `{root}`, which did not succeed.")
            };
            let _ = write!(told, " · {why}");
        } else {
            for text in [&task.reason, &task.resolution].into_iter().flatten() {
                let _ = write!(told, " · {text}");
            }
        }
        if let Some(person) = task.person.as_ref().filter(|_| task.reason.is_none()) {
            let _ = write!(told, " · {}", person.sentence());
        }
        if let Some(text) = off_branch(task) {
            let _ = write!(told, " · {text}");
        }
        [
            task.id.to_string(),
            task.state.as_str().to_owned(),
            task.phase.map_or_else(String::new, |phase| phase.as_str().to_owned()),
            if task.attempts == 0 { String::new() } else { task.attempts.to_string() },
            cost(&task.cost),
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
    out += &todo::render(&view.todos, width);
    if let Some(next) = next(view, taken) {
        let _ = writeln!(out, "\n{next}");
    }
    fold(&clean(&out), width)
}

fn head(view: &RunView, width: usize) -> String {
    let done = view.tasks.iter().any(|task| task.state == TaskState::Done);
    let unjudged = view.tasks.iter().find_map(|task| task.unjudged.as_deref());
    let review = match (view.reviewed, unjudged) {
        (true, _) => "every change was reviewed".to_owned(),
        (false, Some(workflow)) => {
            format!("some changes were judged by no subagent: workflow `{workflow}`")
        }
        (false, None) if done => "not every change was reviewed".to_owned(),
        (false, None) => String::new(),
    };
    let live = if view.live { " by a process that runs now" } else { "" };
    let fields = [
        ("run", format!("{}: {}{live}", view.run, word(view.state.as_str()))),
        ("plan", view.plan.clone()),
        ("tasks", tally(view)),
        ("started", time(view.started_at)),
        ("last event", time(view.updated_at)),
        ("branch", branch(view)),
        ("review", review),
        ("checks", checks_off(&view.checks_off)),
        ("cost", cost(&view.cost)),
    ];
    table::fields(&fields, width)
}

/// Which checks somebody switched off; nothing where they all run.
pub(crate) fn checks_off(kinds: &[Kind]) -> String {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    if kinds.is_empty() { String::new() } else { format!("switched off: {}", kinds.join(", ")) }
}

/// A branch that nobody made yet is not named as if it were there.
fn branch(view: &RunView) -> String {
    match (&view.tip, view.state) {
        (Some(_), _) => view.branch.clone(),
        (None, State::Running | State::Waiting | State::Stopped) => {
            format!("{}, once something is on it", view.branch)
        }
        (None, _) => "none: nothing is changed".to_owned(),
    }
}

/// That a done task's change is not on the branch yet, and why.
fn off_branch(task: &TaskView) -> Option<String> {
    let after = task.comes_after.as_ref().map(|first| format!(", after `{first}`"));
    let after = after.unwrap_or_default();
    task.off_branch
        .then(|| format!("Its change is not on the branch yet: it comes there in its turn{after}."))
}

/// What is done and not on the branch yet, with what to do about it; nothing where all of it is there.
pub(crate) fn off_branches(view: &RunView) -> Option<(String, String)> {
    let run = &view.run;
    let mut off = view.tasks.iter().filter(|task| task.off_branch);
    let first = off.next()?;
    let told = format!("`{}` is done. {}", first.id, off_branch(first)?);
    let more = off.count();
    let told = if more == 0 { told } else { format!("{told} So it is with {more} more.") };
    let go_on = if view.live {
        "The run still goes on.".to_owned()
    } else {
        format!("Go on with `sequester resume {run}`.")
    };
    Some((told, format!("See it with `sequester diff {run} {}`. {go_on}", first.id)))
}

/// What a person may do now.
fn next(view: &RunView, taken: Taken) -> Option<String> {
    let run = &view.run;
    let text = match view.state {
        State::Waiting => {
            format!("Answer with `sequester answer QUESTION TEXT`, then `sequester resume {run}`.")
        }
        State::Stopped => format!("It goes on with `sequester resume {run}`."),
        State::BudgetExhausted => format!(
            "A budget is spent. `sequester resume {run} --budget BUDGET` goes on with a new one; `--retry TASK` tries a task again with what is left."
        ),
        State::Done if view.tip.is_some() => {
            let take = taken.command(run);
            format!("Look at it with `sequester diff {run}`, take it with `{take}`.")
        }
        State::Failed => {
            let failed = view.tasks.iter().find(|task| task.state == TaskState::Failed)?;
            let task = &failed.id;
            format!(
                "See why with `sequester show {run} {task}`; `sequester resume {run} --retry {task}` tries it again."
            )
        }
        State::Running | State::Done | State::Cancelled => return None,
    };
    Some(text)
}

/// A run in full: how it stands, what its phases cost, and what isolation saved.
pub(crate) fn show(
    view: &RunView,
    phases: &[Part],
    savings: Option<&Savings>,
    taken: Taken,
    width: usize,
) -> String {
    let mut out = status(view, taken, width);
    let told = by_phase(phases, width);
    if !told.is_empty() {
        out.push('\n');
        out += &told;
    }
    if let Some(savings) = savings {
        out.push('\n');
        out += &compared(savings, width);
    }
    out
}

/// What each phase came to; nothing where no model counts anything.
pub(crate) fn by_phase(phases: &[Part], width: usize) -> String {
    if phases.iter().all(|part| cost(&part.bill).is_empty()) {
        return String::new();
    }
    let row = |part: &Part| {
        let Bill { usage, .. } = &part.bill;
        [
            part.phase.as_str().to_owned(),
            part.attempts.to_string(),
            part.turns.to_string(),
            size(usage.input),
            size(usage.cache_read),
            size(usage.output),
            price(&part.bill),
        ]
    };
    let rows: Vec<[String; 7]> = phases.iter().map(row).collect();
    let headings = ["phase", "attempts", "turns", "tokens in", "from cache", "tokens out", "price"];
    "By phase:\n".to_owned() + &table::render(headings, &rows, width)
}

fn compared(savings: &Savings, width: usize) -> String {
    let row = |row: &Row| {
        [
            row.phase.map_or("all", |phase| phase.as_str()).to_owned(),
            row.attempts.to_string(),
            row.turns.to_string(),
            size(row.isolated),
            size(row.monolithic),
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
        "window used",
        "window used in one",
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
pub(crate) fn cost(bill: &Bill) -> String {
    if bill.usage.total() == 0 && bill.unpriced == 0 {
        return String::new();
    }
    format!("{} tokens, {}", size(bill.usage.total()), price(bill))
}

/// What is not known is said, and never left out of the sum in silence.
fn price(bill: &Bill) -> String {
    let mut text = match bill.price {
        None => return "price unknown".to_owned(),
        Some(0) => "free".to_owned(),
        Some(price) => {
            let cents = price.div_ceil(10_000);
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    };
    if bill.unpriced > 0 {
        let replies = if bill.unpriced == 1 { "reply" } else { "replies" };
        let _ = write!(text, " and {} {replies} at an unknown price", bill.unpriced);
    }
    text
}

fn size(tokens: u64) -> String {
    number(usize::try_from(tokens).unwrap_or(usize::MAX))
}

/// `2026-11-16 09:05:12`, in UTC.
pub(crate) fn time(at: Moment) -> String {
    let text = at.to_string();
    text.get(..19).unwrap_or(&text).replacen('T', " ", 1)
}

fn word(state: &str) -> String {
    state.replace('_', " ")
}
