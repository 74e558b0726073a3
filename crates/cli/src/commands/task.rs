//! `sequester task`: one isolated subagent, its report on standard output. It is a run of one task.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use sequester_core::agent::{self, Fault, Outcome as Attempted, Role};
use sequester_core::fault::Code;
use sequester_core::path::RepoPath;
use sequester_core::plan::Plan;
use sequester_core::report::Findings;
use sequester_core::repository::Snapshot;
use sequester_core::run::{Entry, Event, Outcome as Ended, RunState, Scope, TaskRun, TaskSpec};
use sequester_core::source::Origin;
use sequester_core::store::Batch;
use sequester_engine::{Log, World, block_on};
use serde_json::{Value, json};

use super::run::{Manner, Place, Signal, begin, code_of, conduct};
use crate::Outcome;
use crate::args::{Args, TaskArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::onlooker::Onlooker;
use crate::render::run::Taken;
use crate::render::{report as view, terminal};
use crate::wire::run::{Asked, Ready};
use crate::wire::runs::{self, Runs};
use crate::wire::{Connections, Last, PlanFile, Project, Staff, refuse_trouble};

pub(crate) fn run(args: &Args, given: &TaskArgs) -> Outcome {
    show(args, &dispatch(args, given)?)
}

/// What came of a run of one task.
pub(super) struct Carried {
    pub(super) state: RunState,
    pub(super) last: Last,
    ended: Ended,
    taken: Taken,
}

/// Carries one task out, to its end or until somebody is asked.
pub(super) fn dispatch(args: &Args, given: &TaskArgs) -> Result<Carried, Failure> {
    let text = super::read_text(&given.text)?;
    let project = Arc::new(Project::open(args)?);
    let role = project.agents.find(&given.agent)?;
    if let Some(name) = &given.profile {
        project.agents.profile(name)?;
    }
    let file = Arc::new(plan_of(&text, given)?);
    find_files(&file, &project)?;
    for note in project.notes().into_iter().chain(replacement(role)) {
        output::tell(&note);
    }
    let place = Place::find(&project)?;
    let (start, claim) = place.start(args.include_dirty)?;
    let base = place.trees.tree(&start.tree).map_err(|error| place.failed(&error))?;
    let (connections, as_run) = (Connections::new(&project.settings)?, given.to_run());
    let asked = Asked { project: &project, file: &file, given: &as_run, connections: &connections };
    let ready = block_on(asked.ready(&start, &base));
    let mut ready = ready.map_err(|error| Failure::no_runtime(&error))??;
    for note in &ready.notes {
        output::tell(note);
    }
    let staff = Staff::new(
        Arc::clone(&project),
        Arc::clone(&file),
        Arc::clone(&place.trees),
        Arc::clone(&place.machine),
        &start.tree,
        &ready.started.plan.hides,
        &ready.started.settings,
    )?
    .with_notes(&ready.noted);
    let model = ready.started.agents.get(&given.agent).and_then(|agent| agent.models.first());
    let model = model.map(String::as_str).unwrap_or_default();
    let checked = block_on(staff.check(&file.plan.tasks[0], model, &start.tree));
    checked.map_err(|error| Failure::no_runtime(&error))??;
    let runs = Runs::open(&project.root)?;
    let id = runs::new_id(&runs.store).map_err(|error| runs::failed(&error, &project.root))?;
    ready.named(&id);
    let world = place.world(Arc::new(runs.store), staff)?;
    let carried_out = async {
        let onlooker = Onlooker::alone(&ready.started);
        let (started, batch) = (ready.started.clone(), ready.batch(Vec::new()));
        let log = begin(&world, &id, started, &file, batch, &onlooker).await?;
        claim.pass_to(&id)?;
        carry_out(world, log, &onlooker, &asked, ready, args.json).await
    };
    let ended = block_on(carried_out).map_err(|error| Failure::no_runtime(&error))??;
    let (runs, id) = Runs::seek(&project.root, Some(id.as_str()))?;
    let state = runs.state(&id)?;
    let last = match state.tasks.first() {
        Some(task) => Last::read(&runs, &place.trees, &state, task)?,
        None => None,
    };
    let last = last.ok_or_else(|| never_begun(&state, ended))?;
    Ok(Carried { state, last, ended, taken: runs::taken(Some(&place.trees)) })
}

/// The task that the words say, as a plan.
fn plan_of(text: &str, given: &TaskArgs) -> Result<PlanFile, Failure> {
    let files = given.asking.file.iter().map(|path| {
        RepoPath::parse(path).map_err(|_| {
            let hint = "Give paths from the root of the repository.";
            Failure::input(Code::BadPath, path, "This is no path inside the repository.", hint)
        })
    });
    let mut plan =
        Plan::single(text, files.collect::<Result<_, _>>()?, given.asking.constraint.clone());
    let task = &mut plan.tasks[0];
    task.settings.agent = Some(given.agent.clone());
    task.settings.profile.clone_from(&given.profile);
    let file = PlanFile::single(task);
    match file.faults.first() {
        Some(fault) => Err(Failure::of_fault(fault, "")),
        None => Ok(file),
    }
}

fn find_files(file: &PlanFile, project: &Project) -> Result<(), Failure> {
    let base = project.visible(None);
    let mut named = file.plan.tasks.iter().flat_map(|task| &task.files);
    let missing = named.find(|file| !base.entries().iter().any(|one| one.path == file.path));
    let Some(file) = missing else { return Ok(()) };
    let hint = "Name a file of the base; one that is not committed counts with `--include-dirty`.";
    let message = "The file is not in the repository.";
    Err(Failure::input(Code::MissingFile, &file.path, message, hint))
}

/// Whoever names a built-in agent should know when a file of the repository stands in for it.
fn replacement(role: &Role) -> Option<String> {
    let replaced = role.origin != Origin::BuiltIn && agent::find(&role.name).is_some();
    replaced
        .then(|| format!("`{}` is the agent of {}, not the built-in one.", role.name, role.origin))
}

/// Until it ends; where a provider that nobody named will have nothing of us, with the next one.
async fn carry_out(
    world: World,
    log: Arc<Log>,
    onlooker: &Arc<Onlooker>,
    asked: &Asked<'_>,
    mut ready: Ready,
    json: bool,
) -> Result<Ended, Failure> {
    let manner = Manner { jobs: 1, json, signal: Signal::Cancels, lingers: false };
    let mut rejected = Vec::new();
    loop {
        let ended = conduct(world.clone(), Arc::clone(&log), onlooker, manner).await?;
        let passed = log.read(|run| {
            let task = run.tasks.first()?;
            let tried = task.tried().next_back()?;
            let passed = ready.chosen.rejected(tried).filter(|_| ended == Ended::Failed)?;
            Some((passed, tried.agent.clone(), task.spec.clone(), run.started.plan.clone()))
        });
        let Some((passed, agent, spec, plan)) = passed else { return Ok(ended) };
        output::tell(&format!("{} The next model is looked for.", passed.why));
        rejected.push(passed);
        let (models, notes, chosen) = asked.again(&agent, &rejected).await?;
        for note in &notes {
            output::tell(note);
        }
        ready.chosen = chosen;
        let tasks = vec![TaskSpec { models, ..spec }];
        let (workflows, agents) = (BTreeMap::new(), BTreeMap::new());
        let changed = Event::PlanChanged { plan, tasks, workflows, agents };
        let events = [Event::RunResumed { retry: Vec::new(), budget: None }, changed];
        let entries = events.map(|event| Entry { scope: Scope::default(), event }).to_vec();
        let kept = log.append(Batch { entries, blobs: Vec::new() }).await;
        kept.map_err(|error| refuse_trouble(&error.into()))?;
    }
}

/// The report, with what the runtime saw.
pub(super) fn show(args: &Args, carried: &Carried) -> Outcome {
    let Carried { state, last, ended, taken } = carried;
    let (Some(task), ended) = (state.tasks.first(), *ended) else {
        return Ok(ExitCode::from(code_of(*ended)));
    };
    let code = exit_code(last, ended);
    let failure = failure(last, code);
    if !args.json {
        output::print(&view::render(last, &next(state, task, last, *taken), terminal::width()))?;
        return failure.map_or(Ok(ExitCode::from(code)), Err);
    }
    let mut value = match &last.ending.report {
        Some(report) => json!(report),
        None => json!({ "task_id": task.spec.id, "last_words": last.ending.last_words }),
    };
    let extra = json!({
        "run": state.run,
        "outcome": outcome(last, ended),
        "usage": last.spent,
        "evidence": last.evidence,
        "kept": last.ending.kept,
        "model": last.model,
        "agent": last.agent,
        "digest": last.digest,
    });
    if let (Value::Object(map), Value::Object(extra)) = (&mut value, extra) {
        map.extend(extra);
        if !task.open.is_empty() {
            map.insert("inbox".to_owned(), json!(task.open));
        }
        if let Some(failure) = &failure {
            map.insert("error".to_owned(), failure.to_json());
        }
    }
    output::print_json(&value)?;
    Ok(ExitCode::from(code))
}

/// What a person can do now, in one line.
fn next(state: &RunState, task: &TaskRun, last: &Last, taken: Taken) -> String {
    let run = &state.run;
    if let Some(question) = task.open.first() {
        return format!(
            "run {run}: `sequester answer {question} TEXT`, then `sequester resume {run}`"
        );
    }
    if state.tip.is_some() {
        return format!(
            "run {run}: `sequester diff {run}` shows the change, `{}` takes it over",
            taken.command(run)
        );
    }
    if last.evidence.files_changed.is_empty() {
        return format!("run {run}: `sequester show {run} {}` tells all of it", task.spec.id);
    }
    format!("run {run}: `sequester diff {run} {}` shows what was changed so far", task.spec.id)
}

/// How the last attempt ended; what was done and does not stand waits for somebody.
fn outcome(last: &Last, ended: Ended) -> &'static str {
    match (&last.ending.outcome, ended) {
        (Attempted::Done, Ended::Waiting) => Attempted::Waiting.as_str(),
        (attempted, _) => attempted.as_str(),
    }
}

fn exit_code(last: &Last, ended: Ended) -> u8 {
    match (&last.ending.outcome, code_of(ended)) {
        (_, 0) if is_lost(last) => 1,
        (outcome, 1) if outcome.is_input() => 2,
        (_, code) => code,
    }
}

/// Whether all that a subagent was to change is something that no change may hold: it is not done then, whatever it says.
fn is_lost(last: &Last) -> bool {
    let findings = last.ending.report.as_ref().map(|report| &report.findings);
    let writes = matches!(findings, Some(Findings::Write(_) | Findings::Execute(_)));
    writes && !last.evidence.refused.is_empty() && last.evidence.files_changed.is_empty()
}

/// A run that ended before any attempt did.
fn never_begun(state: &RunState, ended: Ended) -> Failure {
    let why = state.tasks.first().and_then(|task| task.ended.as_ref()?.reason.clone());
    let why = why.unwrap_or_else(|| "The task was not begun.".to_owned());
    let hint = format!("`sequester resume {}` takes it up again.", state.run);
    Failure::ending(code_of(ended), Code::Cancelled, why, &hint)
}

/// An ending without a report, or without what the report is about, as a failure with its code and what to do.
fn failure(last: &Last, exit: u8) -> Option<Failure> {
    let (code, hint) = match &last.ending.outcome {
        Attempted::Done | Attempted::Stopped | Attempted::Waiting => {
            let hint = "The report stands, but nothing of the change was kept; run the task again.";
            let why = last.evidence.trouble.as_deref()?;
            return Some(Failure::work(Code::NoWorkspace, "", why, hint));
        }
        Attempted::Failed { fault: Fault::NoReport { .. } } => {
            (Code::NoReport, "Take a stronger model with `--model`.")
        }
        Attempted::Failed { fault: Fault::Provider { error } } => {
            (Code::ProviderFailed, error.kind.hint())
        }
        Attempted::Failed { fault: Fault::Runtime { .. } } => {
            (Code::NoWorkspace, "Check the disk and `sequester doctor`, then run it again.")
        }
        Attempted::TimedOut => {
            (Code::TimedOut, "Split the task, or raise `limits.wall` in your own configuration.")
        }
        Attempted::Looped { .. } => {
            (Code::Looped, "Say in the task what to do instead, or take a stronger model.")
        }
        Attempted::BudgetExhausted { .. } => {
            (Code::BudgetExhausted, "Split the task, or raise the budget.")
        }
        Attempted::Cancelled => {
            (Code::Cancelled, "Start it again when you like; the repository is as it was.")
        }
        Attempted::Refused { .. } => {
            (Code::ModelDeclined, "Say the task in other words, or take another model.")
        }
    };
    Some(Failure::ending(exit, code, last.ending.outcome.sentence(), hint))
}
