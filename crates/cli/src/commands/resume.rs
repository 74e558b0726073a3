//! `sequester resume`: a run taken up where it stopped, by whatever it was stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sequester_core::fault::Code;
use sequester_core::id::{QuestionId, RunId, TaskId};
use sequester_core::limits::Limits;
use sequester_core::plan;
use sequester_core::repository::Start;
use sequester_core::run::workflow::WRITER;
use sequester_core::run::{
    About, Agent, Cap, Ended, Entry, Event, RunState, RunView, Scope, Source, Started, TaskRun,
    TaskSpec, Upon,
};
use sequester_core::store::Batch;
use sequester_engine::{Log, block_on};

use super::run::{Manner, Place, Signal, Wall, conduct, finish, is_attended, jobs, tell_defaults};
use crate::Outcome;
use crate::args::{Args, Reading, ResumeArgs, RunArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::onlooker::Onlooker;
use crate::render::terminal::plural;
use crate::wire::config::names_agent;
use crate::wire::doubts::{Doubts, answered_by_default};
use crate::wire::ladder::Ladder;
use crate::wire::run::{Asked, cap, standing_on};
use crate::wire::runs::{self, Runs};
use crate::wire::{Connections, PlanFile, Project, Staff};

pub(crate) fn run(args: &Args, given: &ResumeArgs) -> Outcome {
    let project = Arc::new(Project::open(args)?);
    let (runs, id) = chosen(&project, given)?;
    let state = runs.state(&id)?;
    refuse_cancelled(&state)?;
    output::tell(&format!("Run `{id}` of `{}` is taken up.", RunView::of(&state, false).plan));
    let retry = retried(&state, given);
    let again = again(&state, given, &retry)?;
    let (named, by) = (addressed(&state, given, &retry)?, runs::person(&project.root));
    if let Some(name) = &given.profile {
        project.agents.profile(name)?;
    }
    tell_upon(&state, &again);
    tell_waiting(&state, given);
    let budget = budget(&project, &state, given)?;
    let recorded = recorded(&runs, &state)?;
    tell_edited(&recorded, &state, given);
    let place = Place::find(&project)?;
    let (file, changed) = if let Some(path) = &given.plan {
        let file = read_edited(&project, &state.started.plan, path)?;
        let fresh = as_new(&project, &file, &place, &state, &[])?;
        let tasks = changed(&state, &recorded, &file, &fresh.tasks, &again);
        (file, Some(Started { tasks, ..fresh }))
    } else {
        refuse_untrusted(&recorded, &project)?;
        (recorded, None)
    };
    let agents = changed_agents(&project, &file, &place, &state, given)?;
    let file = Arc::new(file);
    let asked = match &changed {
        Some(changed) => {
            let asks = if !args.json && is_attended() { Asks::InTerminal } else { Asks::Nobody };
            doubts((&project, &file), &place, &state, &changed.tasks, asks)?
        }
        None => Vec::new(),
    };
    let staff = Staff::new(
        Arc::clone(&project),
        Arc::clone(&file),
        Arc::clone(&place.trees),
        Arc::clone(&place.machine),
        &state.started.base.tree,
        &state.started.plan.hides,
        &state.started.settings,
    )?
    .with_notes(&noted(&runs, &state)?);
    let store = Arc::new(runs.store);
    let world = place.world(Arc::clone(&store), staff)?;
    let onlooker = Onlooker::taken_up(args.json, &state, &again, file.whereabouts());
    let jobs = jobs(given.jobs, &project);
    let conducted = async {
        let log = Log::open(store.as_ref(), Arc::new(Wall), &id, Arc::clone(&onlooker) as _);
        let log = Arc::new(log.map_err(|error| runs::failed_run(&error, &id))?);
        let mut batch = Batch::default();
        let scope = Scope::default();
        let said = given.say.iter().flat_map(|text| clarifications(&named, text, &by));
        let said: Vec<Entry> = said.collect();
        let resumed = Event::RunResumed { retry: again, budget };
        batch.entries.push(Entry { scope: scope.clone(), event: resumed });
        if let Some(Started { plan, tasks, mut workflows, mut agents, .. }) = changed {
            batch.keep(file.source.as_slice());
            let Source { format, parallel, tag, .. } = state.started.plan.clone();
            let plan = Source { format, parallel, tag, ..plan };
            workflows.retain(|name, _| !state.started.workflows.contains_key(name));
            agents.retain(|name, _| !state.started.agents.contains_key(name));
            let event = Event::PlanChanged { plan, tasks, workflows, agents };
            batch.entries.push(Entry { scope, event });
            batch.entries.extend(asked);
        }
        batch.entries.extend(agents);
        // An edited task forgets what was said to it before.
        batch.entries.extend(said);
        log.append(batch).await.map_err(|error| runs::failed_run(&error, &id))?;
        let (json, lingers) = (args.json, given.linger);
        let manner = Manner { jobs, json, signal: Signal::Parks, lingers };
        conduct(world, log, &onlooker, manner).await
    };
    let ended = block_on(conducted).map_err(|error| Failure::no_runtime(&error))??;
    finish(args, &store, &id, ended)
}

/// Another model or profile tries nothing again that waits for an answer after a failure.
fn tell_waiting(state: &RunState, given: &ResumeArgs) {
    let is_other = !given.model.is_empty() || given.profile.is_some();
    if !is_other || !given.retry.is_empty() {
        return;
    }
    let waits = state.inbox().filter(|(_, open)| open.asked.about == About::Failure).count();
    if waits > 0 {
        let questions = plural(waits, "question");
        output::tell(&format!(
            "Still open after a failure: {questions}. `--retry all` tries those tasks again with it."
        ));
    }
}

/// An edited plan, read in the way that the run's plan was.
fn read_edited(project: &Project, before: &Source, path: &Path) -> Result<PlanFile, Failure> {
    let format = before.format.as_deref().and_then(plan::Format::parse);
    let (parallel, tag) = (before.parallel, before.tag.clone());
    let reading = Reading { plan: path.to_owned(), format, parallel, tag };
    let file = PlanFile::read(&reading, &project.settings.limits())?;
    super::context::refuse_faulty(&file, project)?;
    Ok(file)
}

/// A plan that was accepted once may not be any more.
fn refuse_untrusted(recorded: &PlanFile, project: &Project) -> Result<(), Failure> {
    let faults = project.faults_of(recorded);
    let Some(first) = faults.iter().find(|fault| fault.code.is_trust()) else { return Ok(()) };
    let place = format!("{}:{}:{}", recorded.name, first.place.line, first.place.column);
    Err(Failure::of_fault(first, place))
}

/// The run that is named; else the newest of the plan that is named, or of any.
fn chosen(project: &Project, given: &ResumeArgs) -> Result<(Runs, RunId), Failure> {
    let (runs, newest) = Runs::seek_writing(&project.root, given.run.as_deref())?;
    if given.run.is_some() {
        return Ok((runs, newest));
    }
    let plan = given.plan.as_deref().map(|plan| PlanFile::called(&project.root, plan));
    let run = match (runs.newest_open(plan.as_deref())?, &plan) {
        (Some(run), _) => run,
        (None, Some(plan)) => return Err(runs.none_of(plan)),
        (None, None) => newest,
    };
    Ok((runs, run))
}

/// Whoever cancels a run ends it for good.
fn refuse_cancelled(state: &RunState) -> Result<(), Failure> {
    if !state.is_cancelled || state.ended.is_none() {
        return Ok(());
    }
    let run = &state.run;
    let message = format!("Run `{run}` was cancelled, which is for good.");
    let hint = "Start its plan anew with `sequester run`; what is done is on its branch.";
    Err(Failure::input(Code::Cancelled, format!("run {run}"), message, hint))
}

/// With the tasks that `failed` and `all` mean, each once. A task that is really called so is meant by its id.
fn retried(state: &RunState, given: &ResumeArgs) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in &given.retry {
        let is_task = state.tasks.iter().any(|task| task.spec.id.as_str() == name);
        if is_task || !matches!(name.as_str(), FAILED | ALL) {
            names.push(name.clone());
            continue;
        }
        let meant = state.tasks.iter().filter(|task| !task.gone && is_retried(state, task, name));
        let meant: Vec<String> = meant.map(|task| task.spec.id.to_string()).collect();
        if meant.is_empty() {
            output::tell("No task failed, so none is tried again.");
        }
        names.extend(meant);
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// What `--retry` means beside the ids of tasks.
const FAILED: &str = "failed";
const ALL: &str = "all";

fn is_retried(state: &RunState, task: &TaskRun, word: &str) -> bool {
    let ended = task.ended.as_ref();
    let failed = ended.is_some_and(|ended| matches!(ended.state, Ended::Failed | Ended::Cancelled));
    let skipped =
        || ended.is_some_and(|ended| ended.state == Ended::Skipped && ended.person.is_some());
    let is_failure = |id: &QuestionId| {
        state.questions.get(id).is_some_and(|open| open.asked.about == About::Failure)
    };
    failed || word == ALL && (skipped() || task.open.iter().any(is_failure))
}

/// The tasks that were named must be there; what is done is done again only if that was said.
fn again(state: &RunState, given: &ResumeArgs, retry: &[String]) -> Result<Vec<TaskId>, Failure> {
    let mut again = Vec::new();
    for name in retry {
        let task = runs::task_of(state, name)?;
        if state.task(&task).is_some_and(TaskRun::is_done) {
            let message = format!("`{task}` is done; only what failed is tried again.");
            let hint = format!("`--redo {task}` does it once more.");
            return Err(Failure::input(Code::BadArguments, "--retry", message, hint));
        }
        let left_out = state.task(&task).and_then(|one| one.spec.left_out.as_deref());
        if let Some(why) = left_out.filter(|_| given.plan.is_none()) {
            let message = format!("`{task}` is not part of this run: {why}");
            let hint = "A run of its own does it: `sequester run PLAN --only TASK`. If what it needs is done, tick that in the plan first.";
            return Err(Failure::input(Code::BadArguments, "--retry", message, hint));
        }
        again.push(task);
    }
    for name in &given.redo {
        again.push(runs::task_of(state, name)?);
    }
    if !given.budget.is_empty() {
        let poor = state.poor().into_iter().filter(|task| !again.contains(task));
        again.extend(poor.collect::<Vec<_>>());
    }
    Ok(again)
}

/// The tasks that a person's words are for: those that the command line names.
fn addressed(
    state: &RunState,
    given: &ResumeArgs,
    retry: &[String],
) -> Result<Vec<TaskId>, Failure> {
    let named = retry.iter().chain(&given.redo).map(|name| runs::task_of(state, name));
    let named: Vec<TaskId> = named.collect::<Result<_, _>>()?;
    if given.say.is_some() && named.is_empty() {
        let message = "`--say` needs a task that is tried again.";
        let hint = "Name it: `sequester resume RUN --retry TASK --say TEXT`.";
        return Err(Failure::input(Code::BadArguments, "--say", message, hint));
    }
    if let Some(text) = given.say.as_ref().filter(|text| text.len() > SAY_BYTES) {
        let message = format!("`--say` takes at most {SAY_BYTES} bytes; this has {}.", text.len());
        let hint = "Put the rest into a file of the repository, or into the plan.";
        return Err(Failure::input(Code::BadArguments, "--say", message, hint));
    }
    Ok(named)
}

/// A clarification is read with every attempt.
const SAY_BYTES: usize = 16 << 10;

fn clarifications<'a>(
    tasks: &'a [TaskId],
    text: &'a str,
    by: &'a str,
) -> impl Iterator<Item = Entry> + 'a {
    tasks.iter().map(move |task| Entry {
        scope: Scope { task: Some(task.clone()), ..Scope::default() },
        event: Event::ClarificationAdded { text: text.to_owned(), by: by.to_owned() },
    })
}

/// What the plan's file says by now counts only if that is said.
fn tell_edited(recorded: &PlanFile, state: &RunState, given: &ResumeArgs) {
    let done = state.tasks.iter().filter(|task| task.is_done());
    let done: BTreeSet<TaskId> = done.map(|task| task.spec.id.clone()).collect();
    if given.plan.is_none() && recorded.is_edited() && !recorded.is_only_ticked(&done) {
        output::tell(&format!(
            "`{0}` was edited since. The run goes on with what it read; `--plan {0}` takes what it says now.",
            recorded.name
        ));
    }
}

/// What becomes of those that are built on what is done again.
fn tell_upon(state: &RunState, again: &[TaskId]) {
    let Upon { anew, stays } = state.upon(again);
    if !anew.is_empty() {
        let ids: Vec<&str> = anew.iter().map(TaskId::as_str).collect();
        let begin = if ids.len() == 1 { "begins" } else { "begin" };
        output::tell(&format!("`{}` {begin} anew, on what is done again.", ids.join("`, `")));
    }
    let stays: Vec<&str> = stays.iter().map(TaskId::as_str).collect();
    if let Some(told) = standing_on(again, &stays) {
        output::tell(&told);
    }
}

/// What the run may use from now on, if that was said; in dollars only for models whose price is known.
fn budget(project: &Project, state: &RunState, given: &ResumeArgs) -> Result<Option<Cap>, Failure> {
    if given.budget.is_empty() {
        return Ok(None);
    }
    let cap = cap(&given.budget);
    if cap.price.is_some() {
        let agents = state.started.agents.values().flat_map(|agent| &agent.models);
        let own = state.tasks.iter().flat_map(|task| &task.spec.models);
        let models: BTreeSet<String> = agents.chain(own).cloned().collect();
        let connections = Connections::new(&project.settings)?;
        let mut ladder = Ladder::new(&connections, &[]);
        let found = block_on(ladder.resolve(models.into_iter().collect(), true));
        found.map_err(|error| Failure::no_runtime(&error))??;
    }
    Ok(Some(cap))
}

/// The plan as the run has it.
fn recorded(runs: &Runs, state: &RunState) -> Result<PlanFile, Failure> {
    let plan = &state.started.plan;
    let source = runs.blob(&state.run, &plan.text)?;
    Ok(PlanFile::recorded(plan, &runs.root, source, &Limits::default()))
}

/// The project's notes as they stood when it began.
fn noted(runs: &Runs, state: &RunState) -> Result<String, Failure> {
    let Some(digest) = &state.started.notes else { return Ok(String::new()) };
    Ok(String::from_utf8_lossy(&runs.blob(&state.run, digest)?).into_owned())
}

/// What open tasks go on with, where the person names models or a profile.
fn changed_agents(
    project: &Project,
    file: &PlanFile,
    place: &Place,
    state: &RunState,
    given: &ResumeArgs,
) -> Result<Option<Entry>, Failure> {
    if given.model.is_empty() && given.profile.is_none() {
        return Ok(None);
    }
    let mut models = BTreeMap::new();
    if !given.model.is_empty() {
        let fresh = as_new(project, file, place, state, &given.model)?;
        let changed = fresh.agents.into_iter().filter(|(name, _)| names_agent(&given.model, name));
        models.extend(changed.map(|(name, agent)| (name, agent.models)));
    }
    let event = Event::AgentsChanged { models, profile: given.profile.clone() };
    Ok(Some(Entry { scope: Scope::default(), event }))
}

/// The plan as if it were started now, with the models that the run has, but for those that the person names.
fn as_new(
    project: &Project,
    file: &PlanFile,
    place: &Place,
    state: &RunState,
    named_now: &[String],
) -> Result<Started, Failure> {
    let agents = &state.started.agents;
    let models = |agent: &Agent| agent.models.join(",");
    // One that the run did not have thinks with what the others do.
    let any = agents.get(WRITER).into_iter().chain(agents.values());
    let any = any.map(models).find(|models| !models.is_empty());
    let named = agents.iter().filter(|(_, agent)| !agent.models.is_empty());
    let named = named.map(|(name, agent)| format!("{name}={}", models(agent)));
    let is_of_agent =
        |flag: &str, agent: &str| flag.split_once('=').is_some_and(|(name, _)| name == agent);
    let is_named = |flag: &String| {
        let agent = flag.split_once('=').map_or("", |(agent, _)| agent);
        named_now.iter().any(|now| is_of_agent(now, agent))
    };
    let model = if named_now.iter().any(|flag| !flag.contains('=')) {
        named_now.to_vec()
    } else {
        let kept = named.filter(|flag| !is_named(flag));
        any.into_iter().chain(kept).chain(named_now.iter().cloned()).collect()
    };
    let given = RunArgs { model, ..RunArgs::default() };
    let connections = Connections::new(&project.settings)?;
    let base = &state.started.base;
    let start = Start {
        commit: base.commit.clone(),
        tree: base.tree.clone(),
        uncommitted: base.uncommitted.unwrap_or(true),
        left_out: false,
    };
    let tree = place.trees.tree(&start.tree).map_err(|error| place.failed(&error))?;
    let asked = Asked { project, file, given: &given, connections: &connections };
    let ready = block_on(asked.ready(&start, &tree));
    Ok(ready.map_err(|error| Failure::no_runtime(&error))??.started)
}

/// What the plan says now. What is done stays as it is unless it is done `again`, and is named where its text is another one.
fn changed(
    state: &RunState,
    old: &PlanFile,
    file: &PlanFile,
    fresh: &[TaskSpec],
    again: &[TaskId],
) -> Vec<TaskSpec> {
    let mut specs = Vec::with_capacity(file.plan.tasks.len());
    for (task, fresh) in file.plan.tasks.iter().zip(fresh.iter().cloned()) {
        let known = state.task(&task.id);
        let is_ticked = || {
            let before = old.plan.task(&task.id).map(|before| plan::with_open_boxes(&before.text));
            before == Some(plan::with_open_boxes(&task.text))
        };
        let differs = |one: &&TaskRun| one.is_done() && one.spec.text != fresh.text && !is_ticked();
        match known.filter(differs) {
            Some(one) if one.gone => output::tell(&format!(
                "`{}` is in the plan again, with another text: it is done again.",
                task.id
            )),
            Some(one) if !again.contains(&one.spec.id) => output::tell(&format!(
                "`{0}` is done, though its text is another one now; it stays as it is, unless you say `--redo {0}`.",
                task.id
            )),
            _ => {}
        }
        // Who works on it and how was decided at the start.
        let spec = match known {
            Some(known) => TaskSpec {
                workflow: known.spec.workflow.clone(),
                models: known.spec.models.clone(),
                tdd: known.spec.tdd,
                left_out: left_out(state, known, task.done),
                ..fresh
            },
            None => fresh,
        };
        specs.push(spec);
    }
    for gone in old.plan.tasks.iter().filter(|task| file.plan.task(&task.id).is_none()) {
        let stands = state.task(&gone.id).is_some_and(TaskRun::is_done);
        let stands = if stands { "; what it left stands" } else { "" };
        output::tell(&format!("`{}` is no longer in the plan{stands}.", gone.id));
    }
    specs
}

/// Who is asked about an edited plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    InTerminal,
    Nobody,
}

/// A box that was ticked since means that the person did the task: what the run has of it is not taken.
fn left_out(state: &RunState, known: &TaskRun, is_ticked: bool) -> Option<String> {
    let before = known.planned().left_out.clone();
    match before.as_deref() {
        // The tick says that the person's own edit is the result.
        _ if known.handed_back().is_some() => return None,
        None if is_ticked && !known.is_done() => {}
        Some(TICKED) if !is_ticked => return None,
        _ => return before,
    }
    let (run, id) = (&state.run, &known.spec.id);
    let parked = known.parked().is_some_and(|parked| parked.base != parked.tree);
    let parked = if parked { " Its parked change is not taken." } else { "" };
    output::tell(&format!(
        "`{id}` is ticked in the plan, so it counts as done.{parked} Tasks that need it are built without it; to give them your work, `sequester open {run} {id}`, then `sequester hand-back {run} {id}`."
    ));
    Some(TICKED.to_owned())
}

const TICKED: &str = "Its box is ticked in the edited plan.";

/// What is asked about the plan as it is now, before anything goes on.
fn doubts(
    (project, file): (&Project, &PlanFile),
    place: &Place,
    state: &RunState,
    specs: &[TaskSpec],
    asks: Asks,
) -> Result<Vec<Entry>, Failure> {
    let base = place.trees.tree(&state.started.base.tree).map_err(|error| place.failed(&error))?;
    let part = specs.iter().filter(|spec| spec.left_out.is_none());
    let part = part.map(|spec| spec.id.clone()).collect();
    let grants = &state.started.settings.grants;
    let found = Doubts { project, file, grants, base: &base }.find(&part);
    for note in &found.notes {
        output::tell(note);
    }
    if asks == Asks::InTerminal {
        return Ok(found.asked_again(state));
    }
    tell_defaults(file, &found);
    Ok(answered_by_default(found.asked_again(state)))
}
