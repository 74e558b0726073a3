//! Reading a report: all that is wrong with it at once, in words that its author can act on.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::findings::Findings;
use super::schema;
use super::wire::Wire;
use super::{
    Analysis, Change, Conclusion, Decision, Draft, OwnFindings, Phase, Report, ReportForm,
    Research, Review, Status, Steps, Unclear, Validation, Verification,
};
use crate::fault::Fault;
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::limits::HandoverSizes;
use crate::plan::{self, Format, Options};
use crate::tokens;

pub const SUMMARY_TOKENS: usize = 500;
pub const REPORT_BYTES: usize = 64 << 10;
/// More faults than this are not listed: a model mends the first ones first.
const LISTED: usize = 10;

/// Reads the text of a reply that should be a report and nothing else, bare or as the bounded schema wraps it.
pub fn read_text<'a>(
    text: &str,
    task_id: &TaskId,
    form: impl Into<ReportForm<'a>>,
) -> Result<Report, Vec<String>> {
    let form = form.into();
    refuse_size(text.len(), form)?;
    let value = serde_json::from_str(text.trim()).map_err(|error| {
        vec![format!(
            "The reply must be the report as JSON and nothing else, without prose or fences around it: {error}."
        )]
    })?;
    let report = match value {
        Value::Object(mut map) if map.len() == 1 && map.contains_key("report") => {
            map.remove("report").unwrap_or_default()
        }
        bare => bare,
    };
    read(report, task_id, form)
}

/// Reads a report that must be of this task and phase.
pub fn read<'a>(
    value: Value,
    task_id: &TaskId,
    form: impl Into<ReportForm<'a>>,
) -> Result<Report, Vec<String>> {
    let form = form.into();
    refuse_size(value.to_string().len(), form)?;
    judge(value, task_id, form)
}

/// Everything but the size: a report that was taken once has grown by what the runtime fills in.
fn judge(mut value: Value, task_id: &TaskId, form: ReportForm<'_>) -> Result<Report, Vec<String>> {
    widen_questions(&mut value);
    read_coverage(&mut value);
    let faults = faults_of(&value, form);
    if !faults.is_empty() {
        return Err(faults);
    }
    let most = form.sizes.summary_tokens;
    let report = match form.phase {
        Phase::Research => conclude::<Research>(value, most, Findings::Research),
        Phase::Write => conclude::<Change>(value, most, Findings::Write),
        Phase::Execute => conclude::<Change>(value, most, Findings::Execute),
        Phase::Validate => conclude::<Validation>(value, most, Findings::Validate),
        Phase::Analyze => conclude::<Analysis>(value, most, Findings::Analyze),
        Phase::Plan => conclude::<Steps>(value, most, Findings::Plan),
        Phase::Review => conclude::<Review>(value, most, Findings::Review),
        Phase::Verify => conclude::<Verification>(value, most, Findings::Verify),
        Phase::Draft => conclude::<Draft>(value, most, Findings::Draft).and_then(drafted),
        Phase::Own(phase) => conclude::<Map<String, Value>>(value, most, |fields| {
            Findings::Own(OwnFindings { phase, fields })
        }),
    }?;
    if report.task_id == *task_id {
        return Ok(report);
    }
    Err(vec![format!("`task_id` must be `{task_id}`.")])
}

fn refuse_size(size: usize, form: ReportForm<'_>) -> Result<(), Vec<String>> {
    let most = form.sizes.report_bytes;
    if size <= most {
        return Ok(());
    }
    Err(vec![format!("The report has {size} bytes; at most {most} are taken.")])
}

/// A bare string is a question too.
pub(crate) fn widen_questions(value: &mut Value) {
    let Some(Value::Array(questions)) = value.get_mut("questions") else { return };
    for question in questions.iter_mut().filter(|question| question.is_string()) {
        *question = json!({ "question": question.take() });
    }
}

/// Coverage is a number; `81 %`, as tools print it, is one too.
fn read_coverage(value: &mut Value) {
    let Some(coverage) = value.pointer_mut("/findings/checks/tests/coverage") else { return };
    let number = coverage.as_str().and_then(|text| text.trim_end_matches(['%', ' ']).parse().ok());
    if let Some(number) = number.and_then(serde_json::Number::from_f64) {
        *coverage = Value::Number(number);
    }
}

/// What the schema says, with the place of each fault.
fn faults_of(value: &Value, form: ReportForm<'_>) -> Vec<String> {
    static VALIDATORS: LazyLock<Vec<Option<Validator>>> =
        LazyLock::new(|| Phase::ALL.iter().map(|phase| compile((*phase).into())).collect());
    let known = Phase::ALL.iter().position(|phase| *phase == form.phase);
    let own = if known.is_none() { compile(form) } else { None };
    let known = known.and_then(|at| VALIDATORS.get(at)?.as_ref());
    let Some(validator) = known.or(own.as_ref()) else {
        return vec![
            "The report's schema cannot be used; this is a fault of the runtime.".to_owned(),
        ];
    };
    let tell = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "The report".to_owned() } else { format!("`{place}`") };
        // The model's own words are not repeated to it: they may be long.
        let fault: String = error.masked_with("the value").to_string().chars().take(300).collect();
        format!("{place}: {fault}.")
    };
    let mut errors = validator.iter_errors(value);
    let mut faults: Vec<String> = errors.by_ref().take(LISTED).map(tell).collect();
    let more = errors.count();
    if more > 0 {
        faults.push(format!("There are {more} faults more."));
    }
    faults
}

fn compile(form: ReportForm<'_>) -> Option<Validator> {
    jsonschema::validator_for(&schema::accepted(form)).ok()
}

/// What no schema can say: pairs, questions, reasons, sizes.
fn conclude<F: DeserializeOwned>(
    value: Value,
    summary_tokens: usize,
    findings: impl FnOnce(F) -> Findings,
) -> Result<Report, Vec<String>> {
    let wire: Wire<F> =
        serde_json::from_value(value).map_err(|error| vec![format!("The report: {error}.")])?;
    let mut faults = Vec::new();
    if wire.context_summary.trim().is_empty() {
        faults.push("`context_summary` is empty.".to_owned());
    }
    let size = tokens::count(&wire.context_summary);
    if size > summary_tokens {
        faults.push(format!(
            "`context_summary` has {size} tokens; at most {summary_tokens} are taken. Shorten it."
        ));
    }
    if wire.phase.changes_files()
        && wire.decision == Decision::Proceed
        && wire.self_review.is_empty()
    {
        faults.push(
            "`self_review` is empty: say item by item what you checked of your change.".to_owned(),
        );
    }
    if wire.decision != Decision::Clarify && !wire.questions.is_empty() {
        faults.push("`questions` go with the decision CLARIFY only.".to_owned());
    }
    let verdict = pair(&wire).map_err(|fault| faults.push(fault)).ok();
    match verdict {
        Some(verdict) if faults.is_empty() => Ok(Report {
            task_id: TaskId::new(wire.task_id),
            verdict,
            findings: findings(wire.findings),
            context_summary: wire.context_summary,
            tokens_used: wire.tokens_used,
            issues: wire.issues,
            artifacts: wire.artifacts,
            notes: wire.notes,
            self_review: wire.self_review,
        }),
        _ => Err(faults),
    }
}

/// A plan is taken only if it can be run: its author hears what a person would be told.
fn drafted(report: Report) -> Result<Report, Vec<String>> {
    let Findings::Draft(Draft { plan }) = &report.findings else { return Ok(report) };
    if report.verdict != Conclusion::Proceed {
        return Ok(report);
    }
    let native = Options { format: Some(Format::Native), ..Options::default() };
    let parsed = plan::parse(plan.as_bytes(), &native);
    let mut faults = parsed.faults;
    faults.extend(TaskGraph::new(&parsed.plan).1);
    let tell = |fault: &Fault| {
        let Fault { message, place, hint, .. } = fault;
        format!("`/findings/plan`, line {}: {message} {hint}", place.line)
    };
    let told: Vec<String> = faults.iter().take(LISTED).map(tell).collect();
    if told.is_empty() { Ok(report) } else { Err(told) }
}

/// The legal pairs, and what goes with each.
fn pair<F>(wire: &Wire<F>) -> Result<Conclusion, String> {
    let unclear = |status| Conclusion::Clarify { status, questions: wire.questions.clone() };
    match (wire.decision, wire.status) {
        (Decision::Proceed, Status::Complete) => Ok(Conclusion::Proceed),
        (Decision::Proceed, Status::Partial | Status::Blocked) => Err(
            "`decision` PROCEED goes with `status` complete only: finish, or decide STOP or CLARIFY."
                .to_owned(),
        ),
        (Decision::Stop, status) => match wire.reason.as_deref().map(str::trim) {
            None | Some("") => Err("`decision` STOP needs a `reason`.".to_owned()),
            Some(reason) => Ok(Conclusion::Stop {
                status,
                reason: reason.to_owned(),
                resolution: wire.resolution.clone().filter(|text| !text.trim().is_empty()),
            }),
        },
        (Decision::Clarify, Status::Complete) => Err(
            "`decision` CLARIFY goes with `status` partial or blocked: what is complete needs no answer."
                .to_owned(),
        ),
        (Decision::Clarify, _) if wire.questions.iter().all(|one| one.question.trim().is_empty()) => {
            Err("`decision` CLARIFY needs at least one question in `questions`.".to_owned())
        }
        (Decision::Clarify, Status::Partial) => Ok(unclear(Unclear::Partial)),
        (Decision::Clarify, Status::Blocked) => Ok(unclear(Unclear::Blocked)),
    }
}

impl TryFrom<Value> for Report {
    type Error = String;

    /// A stored report names its own task and phase.
    fn try_from(value: Value) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let phase = text("phase").and_then(|phase| Phase::named(&phase));
        let (Some(task_id), Some(phase)) = (text("task_id"), phase) else {
            return Err("a report names its task and phase".to_owned());
        };
        let form = ReportForm { sizes: HandoverSizes::UNLIMITED, ..phase.into() };
        judge(value, &TaskId::new(task_id), form).map_err(|faults| faults.join(" "))
    }
}
