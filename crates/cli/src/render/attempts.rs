//! A task of a run, attempt by attempt.

use std::fmt::Write as _;

use sequester_core::agent;
use sequester_core::change::Refused;
use sequester_core::evidence::UntouchedHint;
use sequester_core::id::{RunId, TaskId};
use sequester_core::moment::Moment;
use sequester_core::protected::instructed_program;
use sequester_core::report::{FindingList, Phase, Report};
use sequester_core::run::{
    Attempt, Bill, Delegation, History, LITERAL, Part, PersonDecision, Purpose, TaskView,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::check_output;
use super::run::{by_phase, cost, time};
use super::table;
use super::terminal::{clean, fold, number};

/// The JSON shape of an attempt.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    number: u32,
    phase: Phase,
    step: &'a str,
    agent: &'a str,
    profile: &'a str,
    model: &'a str,
    purpose: Purpose,
    /// The call of another attempt that asked for it.
    parent: Option<&'a Delegation>,
    /// Of the context, with its size.
    digest: &'a str,
    tokens: usize,
    tools: &'a [String],
    started_at: Moment,
    /// Nothing while it is under way, or where it was cut off.
    outcome: Option<&'static str>,
    /// One sentence on the outcome.
    why: Option<String>,
    /// Why its change could not be taken.
    trouble: Option<&'a str>,
    /// What its workspace held and no change may bring, with the reasons.
    refused: &'a [Refused],
    /// How many more than are named.
    refused_more: usize,
    /// The request that its prompt is rendered from.
    handoff: Option<Value>,
    report: Option<Value>,
    /// What the runtime saw of its change.
    evidence: Option<Value>,
    /// What of it speaks against the change, as the next attempt is told.
    failing: Option<String>,
    usage: Value,
    /// Millionths of a dollar; nothing where nobody knows.
    price: Option<u64>,
    /// What its failing checks printed, by command, where nothing else tells.
    #[serde(skip)]
    outputs: Vec<(String, String)>,
    #[serde(skip)]
    cost: Bill,
    /// Whether it judges other work and does not let it stand.
    #[serde(skip)]
    objects: bool,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(
        attempt: &'a Attempt,
        handoff: Option<Value>,
        report: Option<Value>,
        evidence: Option<Value>,
        failing: Option<String>,
    ) -> Self {
        Self {
            number: attempt.number,
            phase: attempt.phase,
            step: &attempt.step,
            agent: &attempt.agent,
            profile: &attempt.profile,
            model: &attempt.model,
            purpose: attempt.purpose,
            parent: attempt.parent.as_ref(),
            digest: attempt.digest.as_str(),
            tokens: attempt.tokens,
            tools: &attempt.tools,
            started_at: attempt.started_at,
            outcome: attempt.outcome.as_ref().map(agent::Outcome::as_str),
            why: attempt.outcome.as_ref().map(agent::Outcome::sentence),
            trouble: attempt.trouble.as_deref(),
            refused: &attempt.refused.refused,
            refused_more: attempt.refused.refused_more,
            handoff,
            report,
            evidence,
            failing,
            usage: attempt
                .spent
                .as_ref()
                .map_or_else(|| json!(attempt.cost.usage), |spent| json!(spent)),
            price: attempt.cost.whole(),
            outputs: Vec::new(),
            cost: attempt.cost.bill(),
            objects: attempt.objects,
        }
    }

    pub(crate) fn with_outputs(self, outputs: Vec<(String, String)>) -> Self {
        Self { outputs, ..self }
    }

    /// Says otherwise where it stopped, if `literal` did.
    pub(crate) fn place(&mut self, tell: impl Fn(&str) -> String) {
        let report = self.report.as_mut().filter(|_| self.model == LITERAL);
        if let Some(Value::String(reason)) = report.and_then(|report| report.get_mut("reason")) {
            *reason = tell(reason);
        }
    }
}

/// What the runtime saw last: each check, and what fails line by line.
pub(crate) struct LastCheck {
    pub(crate) steps: Vec<String>,
    pub(crate) evidence: Value,
    pub(crate) failing: Option<String>,
    /// Whether the attempt that it is about tells of it already.
    pub(crate) is_told: bool,
}

impl LastCheck {
    fn tell(&self, out: &mut String, width: usize) {
        if !self.is_told {
            let _ = writeln!(out, "\nchecks ({})", self.steps.join(", "));
            *out += &table::fields(&seen(&self.evidence), width);
        }
        if let Some(failing) = &self.failing {
            let _ = write!(out, "\n{}", failing.trim_end());
            out.push('\n');
        }
    }
}

pub(crate) fn render(
    run: &RunId,
    task: &TaskView,
    attempts: &[Shown<'_>],
    (history, last): (&History, Option<&LastCheck>),
    phases: &[Part],
    width: usize,
) -> String {
    let needs: Vec<&str> = task.needs.iter().map(TaskId::as_str).collect();
    let fields = [
        ("task", format!("{}: {}", task.id, task.title)),
        ("run", run.to_string()),
        ("state", task.state.as_str().to_owned()),
        ("reason", task.reason.clone().unwrap_or_default()),
        ("by a person", by_person(task)),
        ("what would help", task.resolution.clone().unwrap_or_default()),
        ("needs", needs.join(", ")),
        ("commit", task.commit.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("review", review(task)),
        ("cost", cost(&task.cost)),
    ];
    let mut out = table::fields(&fields, width);
    for attempt in attempts {
        out.push('\n');
        tell(&mut out, attempt, width);
    }
    let told = by_phase(phases, width);
    if !told.is_empty() {
        out.push('\n');
        out += &told;
    }
    if let Some(last) = last {
        last.tell(&mut out, width);
    }
    if !history.skipped.is_empty() {
        out.push('\n');
    }
    for skipped in &history.skipped {
        let _ = writeln!(out, "step {} skipped: {}", skipped.step, skipped.reason);
    }
    fold(&clean(&out), width)
}

/// What the reason says already is not told twice.
fn by_person(task: &TaskView) -> String {
    let person = task.person.as_ref().filter(|_| task.reason.is_none());
    person.map(PersonDecision::sentence).unwrap_or_default()
}

fn review(task: &TaskView) -> String {
    match &task.unjudged {
        _ if task.reviewed => "the change was reviewed".to_owned(),
        Some(workflow) => format!("no subagent judged the change: workflow `{workflow}`"),
        None => String::new(),
    }
}

fn tell(out: &mut String, attempt: &Shown<'_>, width: usize) {
    let outcome = match attempt.outcome {
        Some("done") if attempt.objects => "objects".to_owned(),
        outcome => outcome.unwrap_or("not ended").replace('_', " "),
    };
    let Shown { number: at, phase, step, agent, model, .. } = attempt;
    let phase = phase.as_str();
    let place = if *step == phase { phase.to_owned() } else { format!("{step} ({phase})") };
    let _ = writeln!(out, "attempt {at}, {place}: {outcome}");
    let mut fields = Vec::new();
    if let Some(Delegation { attempt, description, .. }) = attempt.parent {
        fields.push(("for", format!("attempt {attempt}: {description}")));
    }
    let purpose = serde_json::to_value(attempt.purpose).unwrap_or_default();
    let purpose = purpose.as_str().unwrap_or_default().replace('_', " ");
    let from = time(attempt.started_at);
    let short = attempt.digest.get(..12).unwrap_or(attempt.digest);
    fields.extend([
        ("by", format!("{agent} with {model}, {purpose}, from {from}")),
        ("context", format!("{} tokens, digest {short}", number(attempt.tokens))),
        ("cost", cost(&attempt.cost)),
    ]);
    let why = attempt.why.clone().filter(|_| attempt.outcome != Some("done"));
    fields.push(("why", why.unwrap_or_default()));
    fields.push(("trouble", attempt.trouble.unwrap_or_default().to_owned()));
    let more = (attempt.refused_more > 0).then(|| format!("{} more", attempt.refused_more));
    let named = attempt.refused.iter().map(|one| format!("{}, {}", one.path, one.why));
    fields.extend(named.chain(more).map(|one| ("not taken", one)));
    let said = |key: &str| attempt.report.as_ref()?.get(key)?.as_str();
    for (label, key) in
        [("says", "context_summary"), ("stopped", "reason"), ("helps", "resolution")]
    {
        let lines = said(key).unwrap_or_default().trim().lines();
        fields.extend(lines.enumerate().map(|(at, line)| {
            // Its own lines stay lines.
            (if at == 0 { label } else { "" }, line.to_owned())
        }));
    }
    fields.extend(found(attempt));
    if let Some(evidence) = &attempt.evidence {
        fields.extend(seen(evidence));
    }
    *out += &table::fields(&fields, width);
    *out += &check_output::render(&attempt.outputs);
}

/// Findings of one list that are shown; the JSON has all.
const MOST_FINDINGS: usize = 8;

/// What an attempt that changes no files found, list by list.
fn found(attempt: &Shown<'_>) -> Vec<(&'static str, String)> {
    let report = attempt.report.clone().filter(|_| !attempt.phase.changes_files());
    let report = report.and_then(|report| serde_json::from_value::<Report>(report).ok());
    let lists = report.map(|report| report.findings.lists()).unwrap_or_default();
    let mut fields = Vec::new();
    for FindingList { name, items } in lists {
        let more = items.len().saturating_sub(MOST_FINDINGS);
        let told = items.into_iter().take(MOST_FINDINGS).map(|item| format!("{name}: {item}"));
        fields.extend(told.map(|one| ("found", one)));
        fields.extend((more > 0).then(|| ("found", format!("{name}: {more} more (`--json`)"))));
    }
    fields
}

/// What the runtime saw, as opposed to what was said.
fn seen(evidence: &Value) -> Vec<(&'static str, String)> {
    let list = |key: &str| evidence.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let files: Vec<String> = list("files_changed").iter().map(|one| text(one, "path")).collect();
    let mut fields = vec![("changed", files.join(", "))];
    let instructing = files.iter().filter_map(|path| Some((path, instructed_program(path)?)));
    fields.extend(instructing.map(|(path, program)| {
        ("to read", format!("{path} gives orders to {program}: read it before you apply it"))
    }));
    let beyond: Vec<String> = list("undeclared").iter().map(|one| text(one, "path")).collect();
    let beyond = (!beyond.is_empty()).then(|| format!("{}: not declared", beyond.join(", ")));
    fields.push(("beyond", beyond.unwrap_or_default()));
    if let Ok(hints) = serde_json::from_value::<Vec<UntouchedHint>>(list("untouched_hints").into())
    {
        fields.extend(hints.iter().map(|hint| ("mentioned", hint.sentence())));
    }
    let reason = evidence.pointer("/empty_change/reason").and_then(Value::as_str);
    fields.extend(reason.map(|reason| ("no change", format!("no change was needed: {reason}"))));
    let mut failed = Vec::new();
    for check in list("checks") {
        let is = |key: &str| check.get(key).and_then(Value::as_bool).unwrap_or_default();
        let command = text(&check, "command");
        let code = check.get("code").and_then(Value::as_i64).filter(|code| *code != 0);
        let missing = text(&check, "missing_program");
        let word = match (command.is_empty(), is("passed"), is("failed_before")) {
            _ if !missing.is_empty() => {
                format!("not run, `{missing}` is not installed or not visible in the sandbox")
            }
            (true, ..) => "not found".to_owned(),
            (_, true, _) => "passed".to_owned(),
            (_, false, before) => {
                failed.push(format!("does not pass: `{command}` ended with exit code"));
                let code = code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
                let why = match (is("fails_as_asked"), before) {
                    (true, _) => ", as the task asks",
                    (false, true) => ", as it did before",
                    (false, false) => "",
                };
                format!("failed{code}{why}")
            }
        };
        let command = if command.is_empty() { command } else { format!(": {command}") };
        fields.push(("check", format!("{} {word}{command}", text(&check, "kind"))));
    }
    if let Some(tdd) = evidence.get("tdd").filter(|tdd| tdd.is_object()) {
        let is = |key: &str| tdd.get(key).and_then(Value::as_bool).unwrap_or_default();
        let red = if is("red") { "fail" } else { "do NOT fail" };
        let green = if is("green") { "pass" } else { "do NOT pass" };
        let told =
            format!("red: the new tests {red} without the change; green: they {green} with it");
        fields.push(("tests first", told));
    }
    for contradiction in list("contradictions").iter().filter_map(Value::as_str) {
        fields.push(("refuted", contradiction.to_owned()));
    }
    for item in list("admitted").iter().filter_map(Value::as_str) {
        fields.push(("admits", item.to_owned()));
    }
    // What says no more than that a check failed is told with the check.
    let is_told = |said: &String| {
        failed.iter().any(|start| said.contains(start.as_str())) && !said.contains(", and ")
    };
    let fails = list("fails");
    let against = fails.iter().map(|failure| text(failure, "sentence"));
    fields.extend(against.filter(|said| !is_told(said)).map(|said| ("against", said)));
    fields
}
