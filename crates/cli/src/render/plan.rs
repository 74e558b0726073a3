//! A plan as people and programs see it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sequester_core::fault::Fault;
use sequester_core::graph::TaskGraph;
use sequester_core::id::TaskId;
use sequester_core::plan::{Action, Aside, FileRef, Format, Need, Plan, Reason, Task};
use sequester_core::price::{ASSUMPTIONS, Assumptions, DATE, PRICES, Price};
use sequester_core::report::Question;
use sequester_core::run::Doubt;
use sequester_core::tokens;
use serde::Serialize;

use super::table::longest_word;
use super::terminal::{clean, cut, number, plural, wrap};

/// The JSON shape of `plan PLAN --json`.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    /// Nothing where no task was found.
    format: Option<Format>,
    title: &'a str,
    tasks: Vec<ShownTask<'a>>,
    /// How much of the plan's text some task is shown.
    reached_percent: u8,
    aside: &'a [Aside],
    faults: &'a [Fault],
    warnings: &'a [Fault],
    /// What `run` asks before anything starts.
    contradictions: Vec<ShownDoubt<'a>>,
    estimate: Estimate,
}

#[derive(Serialize)]
struct ShownDoubt<'a> {
    task: &'a str,
    #[serde(flatten)]
    question: &'a Question,
}

#[derive(Serialize)]
struct ShownTask<'a> {
    id: &'a str,
    title: &'a str,
    text: &'a str,
    needs: Vec<&'a str>,
    /// From 1; 0 for a task that is done, or that a circle keeps from ever starting.
    wave: usize,
    done: bool,
    optional: bool,
    files: Vec<ShownFile<'a>>,
    steps: usize,
    tokens: usize,
    line: u32,
}

#[derive(Serialize)]
struct ShownFile<'a> {
    path: &'a str,
    action: Action,
    /// The task's prose mentions it; no list declares it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hint: bool,
}

/// What the open tasks would cost.
#[derive(Serialize)]
struct Estimate {
    prices_of: &'static str,
    assumptions: Assumptions,
    dollars: BTreeMap<&'static str, f64>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(
        (plan, graph, source): (&'a Plan, &TaskGraph, &[u8]),
        (faults, warnings): (&'a [Fault], &'a [Fault]),
        doubts: &'a [Doubt],
    ) -> Self {
        let tasks: Vec<_> = plan.tasks.iter().map(|task| shown_task(plan, task, graph)).collect();
        let open = || tasks.iter().filter(|task| !task.done && !task.optional);
        let dollars = PRICES
            .iter()
            .map(|price| {
                (
                    price.model,
                    open().map(|task| price.estimate(task.tokens)).fold(0.0, |sum, one| sum + one),
                )
            })
            .collect();
        let estimate = Estimate { prices_of: DATE, assumptions: ASSUMPTIONS, dollars };
        Self {
            format: (!plan.tasks.is_empty()).then_some(plan.format),
            title: &plan.title,
            tasks,
            reached_percent: plan.reached_percent(source),
            aside: &plan.aside,
            faults,
            warnings,
            contradictions: doubts.iter().map(shown_doubt).collect(),
            estimate,
        }
    }
}

fn shown_task<'a>(plan: &'a Plan, task: &'a Task, graph: &TaskGraph) -> ShownTask<'a> {
    let file = |(file, hint): (&'a FileRef, bool)| ShownFile {
        path: file.path.as_str(),
        action: file.action,
        hint,
    };
    let declared = task.files.iter().map(|file| (file, false));
    let files = declared.chain(task.hints.iter().map(|hint| (&hint.0, true)));
    ShownTask {
        id: task.id.as_str(),
        title: &task.title,
        text: &task.text,
        needs: task.needs.iter().flat_map(|need| members(plan, need)).collect(),
        wave: graph.wave(&task.id).filter(|_| !graph.is_held(&task.id)).map_or(0, |wave| wave + 1),
        done: task.done,
        optional: task.optional,
        files: files.map(file).collect(),
        steps: task.steps.len(),
        tokens: tokens::count(&task.text),
        line: task.place.line,
    }
}

fn shown_doubt(doubt: &Doubt) -> ShownDoubt<'_> {
    ShownDoubt { task: doubt.contradiction.task.as_str(), question: &doubt.question }
}

/// The tasks that a need stands for: one, or those of a group. A group too large to be spelled out keeps its name.
fn members<'a>(plan: &'a Plan, need: &'a Need) -> Vec<&'a str> {
    match plan.groups.get(&need.id).filter(|group| group.len() <= SPELLED_OUT) {
        Some(group) => group.iter().map(TaskId::as_str).collect(),
        None => vec![need.id.as_str()],
    }
}

const SPELLED_OUT: usize = 1_000;

/// The text of `plan PLAN`, with an estimate at these `prices`.
pub(crate) fn render(plan: &Plan, shown: &Shown<'_>, prices: &[&Price], width: usize) -> String {
    let mut out = String::new();
    let mut waves: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for (at, task) in shown.tasks.iter().enumerate() {
        let is_held = task.wave == 0 && !task.done;
        waves.entry((is_held, task.wave)).or_default().push(at);
    }
    if !plan.title.is_empty() {
        let _ = writeln!(out, "{}", line(&plan.title));
    }
    let done = shown.tasks.iter().filter(|task| task.done).count();
    let _ = writeln!(
        out,
        "{} plan: {} in {}, {done} done",
        plan.format.as_str(),
        plural(shown.tasks.len(), "task"),
        plural(waves.keys().filter(|(_, wave)| *wave > 0).count(), "wave"),
    );
    let _ = writeln!(out, "{}% of the plan's text reaches a task", shown.reached_percent);
    let column = shown.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0).min(24);
    for (wave, places) in &waves {
        let heading = match wave {
            (true, _) => "in no wave: in a circle of needs, or behind one".to_owned(),
            (false, 0) => "done".to_owned(),
            (false, wave) => format!("wave {wave}"),
        };
        let _ = writeln!(out, "\n{heading}");
        for &at in places {
            push_task(&mut out, &plan.tasks[at], &shown.tasks[at], column, width);
        }
    }
    push_aside(&mut out, &plan.aside);
    push_doubts(&mut out, shown);
    if !prices.is_empty() {
        push_estimate(&mut out, shown, prices);
    }
    out
}

fn push_task(out: &mut String, task: &Task, shown: &ShownTask<'_>, column: usize, width: usize) {
    let mut marks = vec![plural(shown.tokens, "token")];
    if shown.steps > 0 {
        marks.push(plural(shown.steps, "step"));
    }
    marks.extend(shown.done.then(|| "done".to_owned()));
    marks.extend(shown.optional.then(|| "optional".to_owned()));
    let mut lines = vec![format!("{}  ({})", line(&task.title), marks.join(", "))];
    if !task.needs.is_empty() {
        let needs: Vec<String> = task.needs.iter().map(need).collect();
        lines.push(line(&format!("needs {}", needs.join(", "))));
    }
    let files = task.files.iter();
    lines.extend(files.map(|file| line(&format!("{} {}", file.action.as_str(), file.path))));
    lines.extend(task.mentioned().map(|path| line(&format!("mentions {path}"))));
    let id = clean(shown.id);
    // What cannot be read beside the id, or copied, stands below it.
    let rest = width.saturating_sub(column + 4);
    let word = lines.iter().map(|line| longest_word(line)).max().unwrap_or(0);
    let is_narrow = rest < NARROWEST || rest < word.min(width.saturating_sub(4));
    let column = if is_narrow { 0 } else { column };
    let mut head = format!("  {id:column$}  ");
    let indent = " ".repeat(column + 4);
    if is_narrow {
        let _ = writeln!(out, "  {id}");
        head.clone_from(&indent);
    }
    let rest = width.saturating_sub(indent.len()).max(NARROWEST);
    for line in lines {
        let parts = if line.chars().count() <= rest { vec![line] } else { wrap(&line, rest) };
        for part in parts {
            let _ = writeln!(out, "{}{part}", std::mem::replace(&mut head, indent.clone()));
        }
    }
}

/// A column that is narrower than this cannot be read.
const NARROWEST: usize = 30;

/// All of a text, on one line.
fn line(text: &str) -> String {
    cut(text, usize::MAX)
}

fn need(need: &Need) -> String {
    match &need.reason {
        Reason::Declared | Reason::Order => need.id.to_string(),
        Reason::SameFile(path) => format!("{} (both write {path})", need.id),
    }
}

fn push_aside(out: &mut String, aside: &[Aside]) {
    if !aside.is_empty() {
        out.push_str("\nleft aside\n");
    }
    for aside in aside {
        let said = format!("line {}: {} ({})", aside.place.line, clean(&aside.text), aside.why);
        let _ = writeln!(out, "  {}", line(&said));
    }
}

fn push_doubts(out: &mut String, shown: &Shown<'_>) {
    if !shown.contradictions.is_empty() {
        out.push_str("\nasked before a run starts\n");
    }
    for ShownDoubt { task, question } in &shown.contradictions {
        let _ = writeln!(out, "  {}: {}", clean(task), clean(&question.question));
        for option in &question.options {
            let is_default = question.default.as_ref() == Some(&option.label);
            let mark = if is_default { " (default)" } else { "" };
            let _ = writeln!(out, "    - {}{mark}", clean(&option.label));
        }
    }
}

fn push_estimate(out: &mut String, shown: &Shown<'_>, prices: &[&Price]) {
    let Assumptions { surroundings, turns, growth, output } = ASSUMPTIONS;
    let open = shown.tasks.iter().filter(|task| !task.done && !task.optional).count();
    let _ = writeln!(out, "\nestimate for {}, at prices of {DATE}", plural(open, "open task"));
    for price in prices {
        let dollars = shown.estimate.dollars.get(price.model).copied().unwrap_or_default();
        let _ = writeln!(out, "  {:28} ${dollars:.2}", price.model);
    }
    let (surroundings, growth, output) = (number(surroundings), number(growth), number(output));
    let _ = writeln!(out, "  with {surroundings} tokens around each text and {turns} turns,");
    let _ = writeln!(out, "  each adding {growth} tokens read and {output} written");
}
