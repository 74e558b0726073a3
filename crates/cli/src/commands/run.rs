//! `sequester run`: a whole plan, every task in a subagent of its own, onto a branch to apply.

mod asking;
mod budget;
mod detach;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use sequester_core::fault::{Code, Fault};
use sequester_core::id::RunId;
use sequester_core::moment::Moment;
use sequester_core::repository::{Draft, Error as GitError, Repository as _, Start};
use sequester_core::run::{
    Ended as TaskEnd, Entry, Event, Outcome as Ended, RunState, Scope, Started, TaskRun,
};
use sequester_core::store::Batch;
use sequester_engine::{Clock, Controller, Log, Stop, Trouble, World, block_on};
use sequester_git::{Repo, Trees};
use sequester_store::Store;

use asking::{Asked, Lines};
use budget::default_budget;

use super::context::refuse_faulty;
use crate::Outcome;
use crate::args::{Args, RunArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::onlooker::{self as view, Onlooker};
use crate::render::terminal::{self, plural};
use crate::render::todo;
use crate::wire::check_notices::check_notices;
use crate::wire::doubts::{Doubts, Found, answered_by_default};
use crate::wire::jail::Machine;
use crate::wire::notes::Book;
use crate::wire::records;
use crate::wire::run::{Asked as Wanted, Ready, estimate};
use crate::wire::runs::{self, Runs};
use crate::wire::workspace;
use crate::wire::{
    Cells, Connections, HiddenPlan, PlanFile, Project, Staff, find_root, refuse_trouble,
};

pub(crate) fn run(args: &Args, given: &RunArgs) -> Outcome {
    let project = Arc::new(Project::open(args)?);
    let file = Arc::new(PlanFile::read(&given.reading, &project.settings.limits())?);
    refuse_faulty(&file, &project)?;
    let place = Place::open(&project)?;
    let (start, claim) = place.start(args.include_dirty)?;
    let base = place.trees.tree(&start.tree).map_err(|error| place.failed(&error))?;
    let connections = Connections::new(&project.settings)?;
    let asked = Wanted { project: &project, file: &file, given, connections: &connections };
    let ready = block_on(asked.ready(&start, &base));
    let mut ready = ready.map_err(|error| Failure::no_runtime(&error))??;
    let grants = &ready.started.settings.grants;
    let doubts = Doubts { project: &project, file: &file, grants, base: &base }.find(&ready.part());
    for note in project.notes().iter().chain(&ready.notes).chain(&doubts.notes) {
        output::tell(note);
    }
    for notice in check_notices(&ready.started, &project.root, &place.machine) {
        output::tell(&notice);
    }
    let warnings = project.warnings_of(&file);
    for warning in &warnings {
        output::warn_of(&file.name, warning);
    }
    let asks = !args.json && !given.detach && is_attended();
    if !asks {
        tell_defaults(&file, &doubts);
    }
    let limit = default_budget((&project, &file), given, &ready.started, &ready.paid);
    if let Some(price) = limit {
        ready.started.settings.budget.price = Some(price);
        output::tell(&budget::told(price));
    }
    tell_unfinished(&project, &ready.started.plan.path)?;
    confirm_shape(&warnings, given.yes)?;
    confirm(&file, &ready, given.yes)?;
    let runs = Runs::open(&project.root)?;
    let id = runs::new_id(&runs.store).map_err(|error| runs::failed(&error, &project.root))?;
    ready.named(&id);
    let asked = doubts.asked(&id);
    let batch = ready.batch(if asks { asked } else { answered_by_default(asked) });
    let Ready { started, noted, .. } = ready;
    let staff = Staff::new(
        Arc::clone(&project),
        Arc::clone(&file),
        Arc::clone(&place.trees),
        Arc::clone(&place.machine),
        &start.tree,
        &started.plan.hides,
        &started.settings,
    )?
    .with_notes(&noted);
    let store = Arc::new(runs.store);
    let onlooker = Onlooker::new(args.json, &started, file.whereabouts());
    let world = place.world(Arc::clone(&store), staff)?;
    let jobs = jobs(given.jobs, &project);
    if given.detach {
        let begun = block_on(begin(&world, &id, started, &file, batch, &onlooker));
        // Whoever goes on must be able to hold the run.
        drop(begun.map_err(|error| Failure::no_runtime(&error))??);
        claim.pass_to(&id)?;
        return detach::go_on(args, given, &project.root, &id);
    }
    let conducted = async {
        let log = begin(&world, &id, started, &file, batch, &onlooker).await?;
        claim.pass_to(&id)?;
        let manner = Manner { jobs, json: args.json, signal: Signal::Parks, lingers: false };
        conduct(world, log, &onlooker, manner).await
    };
    let ended = block_on(conducted).map_err(|error| Failure::no_runtime(&error))??;
    finish(args, &store, &id, ended)
}

/// Whoever starts a plan twice may have wanted to go on with the first run.
fn tell_unfinished(project: &Project, plan: &str) -> Result<(), Failure> {
    let Some(runs) = Runs::look_quietly(&project.root)? else { return Ok(()) };
    if let Some((run, live)) = runs.unfinished_of(plan)? {
        output::tell(&if live {
            format!("Run `{run}` of this plan is still running; this starts another one.")
        } else {
            format!(
                "Run `{run}` of this plan is not finished; this starts another one. `sequester resume {run}` continues the first."
            )
        });
    }
    Ok(())
}

/// Keeps the plan and the first event, with what is asked before anything starts and what else it names.
pub(super) async fn begin(
    world: &World,
    id: &RunId,
    started: Started,
    file: &PlanFile,
    mut batch: Batch,
    onlooker: &Arc<Onlooker>,
) -> Result<Arc<Log>, Failure> {
    batch.keep(file.source.as_slice());
    let (clock, watch) = (Arc::clone(&world.clock), Arc::clone(onlooker) as _);
    let log = Log::start(world.store.as_ref(), clock, id, started, batch, watch).await;
    log.map(Arc::new).map_err(|error| runs::failed_store(&error))
}

/// Where a run's trees are.
pub(super) struct Place {
    pub(super) trees: Arc<Trees>,
    pub(super) machine: Arc<Machine>,
    repo: Repo,
    root: PathBuf,
}

impl Place {
    /// A run needs git: its branch is where the work goes.
    pub(super) fn open(project: &Project) -> Result<Self, Failure> {
        let root = project.root.clone();
        let Some(repo) = project.base.repo().cloned() else {
            let message =
                "A run leaves its work on a branch, and this folder is no git repository.";
            let hint = "Make it one with `git init`, or give single tasks to `sequester task`.";
            return Err(Failure::input(Code::NoRepository, root.display(), message, hint));
        };
        Ok(Self::over(repo, root))
    }

    /// The same for a single task, which also works on a copy of a folder that is none: that is kept in a repository of ours.
    pub(super) fn find(project: &Project) -> Result<Self, Failure> {
        let root = project.root.clone();
        if let Some(repo) = project.base.repo() {
            return Ok(Self::over(repo.clone(), root));
        }
        // First, so that the folder that it lies in is as it should be.
        Runs::open(&root)?;
        Ok(Self::over(runs::own_repo(&root)?, root))
    }

    fn over(repo: Repo, root: PathBuf) -> Self {
        let machine = Arc::new(Machine::look());
        let held = machine.placeholders(repo.root());
        let trees = Arc::new(runs::trees_of(&repo).passing_over(held));
        trees.sweep();
        Self { trees, machine, repo, root }
    }

    /// What a run starts from. What the person had not committed is held as soon as it is written, and only then is it looked whether
    /// all of it is still there: anybody may clean the repository up at any time.
    pub(super) fn start(&self, dirty: bool) -> Result<(Start, Claim<'_>), Failure> {
        if self.repo.is_own() || !dirty {
            // Nothing is committed in a repository of ours: all that lies there counts.
            let start = self.trees.start(self.repo.is_own());
            let start = start.map_err(|error| self.failed(&error))?;
            return Ok((start, Claim { place: self, held: None }));
        }
        let holder = runs::id_to_be();
        let mut held = self.hold_uncommitted(&holder);
        for _ in 1..TRIES {
            if matches!(held, Ok(Some(_))) {
                break;
            }
            held = self.hold_uncommitted(&holder);
        }
        let start = held.map_err(|error| self.failed(&error))?.ok_or_else(|| {
            let message = "What is not committed is taken away while it is written down.";
            let hint = "Let no `git gc --prune=now` run meanwhile.";
            Failure::work(Code::NoRepository, self.root.display(), message, hint)
        })?;
        let held = Some((holder, start.clone()));
        Ok((start, Claim { place: self, held }))
    }

    /// Nothing where a part of it was taken away before it was held.
    fn hold_uncommitted(&self, holder: &RunId) -> Result<Option<Start>, GitError> {
        let start = self.trees.start(true)?;
        let below = start.commit.clone();
        let start = if below.is_some() { self.committed(start)? } else { start };
        self.hold(holder, &start)?;
        let is_whole = self.trees.is_whole(&start, below.as_ref())?;
        Ok(is_whole.then_some(start))
    }

    fn hold(&self, holder: &RunId, start: &Start) -> Result<(), GitError> {
        let tree = std::slice::from_ref(&start.tree);
        self.trees.hold(holder, tree, start.commit.as_slice())
    }

    /// What the person had not committed is a commit of its own below those of the tasks: it is nobody else's work.
    fn committed(&self, start: Start) -> Result<Start, GitError> {
        if self.trees.start(false)?.tree == start.tree {
            return Ok(Start { uncommitted: false, ..start });
        }
        let draft = Draft {
            tree: start.tree.clone(),
            parent: start.commit.clone(),
            message: "Uncommitted changes that a run began with\n".to_owned(),
            author: None,
            at: runs::now(),
        };
        Ok(Start { commit: Some(self.trees.commit(&draft)?), ..start })
    }

    pub(super) fn failed(&self, error: &GitError) -> Failure {
        runs::git_failed(&self.root, error)
    }

    pub(super) fn world(&self, store: Arc<Store>, staff: Staff) -> Result<World, Failure> {
        let machine = Arc::clone(&self.machine);
        machine.make_state()?;
        let paths = staff.hidden().clone();
        let blobs = self.repo.file_versions(&paths, &[staff.plan_source()]);
        let blobs = blobs.map_err(|error| runs::git_failed(&self.root, &error))?;
        let hidden = HiddenPlan { paths, blobs };
        let trees = Arc::clone(&self.trees);
        let (settings, limits) = (staff.tool_settings(), staff.limits().clone());
        let notes = Arc::new(Book::of(&self.root).within(&limits));
        let cells = Cells::new(machine, self.repo.clone(), trees, hidden, settings, limits);
        Ok(World {
            store,
            repository: Arc::clone(&self.trees) as _,
            jails: Arc::new(cells),
            crew: Arc::new(staff),
            clock: Arc::new(Wall),
            notes,
        })
    }
}

/// How often uncommitted work is written down again that somebody cleans away.
const TRIES: u32 = 5;

/// What is held for a run to be; it is let go of in any case.
pub(super) struct Claim<'a> {
    place: &'a Place,
    held: Option<(RunId, Start)>,
}

impl Claim<'_> {
    /// The run has begun, and holds it itself from now on.
    pub(super) fn pass_to(self, run: &RunId) -> Result<(), Failure> {
        let Some((_, start)) = &self.held else { return Ok(()) };
        self.place.hold(run, start).map_err(|error| self.place.failed(&error))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // What cannot be let go of now goes with `gc`.
        if let Some((holder, _)) = self.held.take() {
            let _ = self.place.trees.release(&holder);
        }
    }
}

/// The clock on the wall.
pub(super) struct Wall;

impl Clock for Wall {
    fn now(&self) -> Moment {
        runs::now()
    }
}

/// How a run is conducted.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) jobs: usize,
    /// Nobody is asked anything.
    pub(super) json: bool,
    pub(super) signal: Signal,
    /// It stays for defaults that are not due yet.
    pub(super) lingers: bool,
}

/// What the first signal does. The second one ends the process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// What is under way comes to its next durable step, and the run can be taken up again.
    Parks,
    /// All of it ends.
    Cancels,
}

/// Until it ends, or waits for answers that nobody is there to give.
pub(super) async fn conduct(
    world: World,
    log: Arc<Log>,
    onlooker: &Arc<Onlooker>,
    Manner { jobs, json, signal, lingers }: Manner,
) -> Result<Ended, Failure> {
    let stop = on_signal(&log, onlooker, signal).map_err(|error| Failure::no_runtime(&error))?;
    let (park, cancel) = match signal {
        Signal::Parks => (stop.clone(), Stop::default()),
        Signal::Cancels => (Stop::default(), stop.clone()),
    };
    let controller = Controller::new(world, Arc::clone(&log), Arc::clone(onlooker) as _, park);
    let controller = controller.cancelled_by(cancel);
    let mut lines = None;
    let cap = log.read(|run| run.started.settings.budget);
    loop {
        let ended = controller.conduct(jobs).await.map_err(|error| refuse_trouble(&error))?;
        let is_attended = !json && is_attended();
        if ended == Ended::BudgetExhausted && is_attended {
            onlooker.rest();
            if budget::raise(&log, cap).await? {
                continue;
            }
        }
        if ended != Ended::Waiting || !is_attended && !lingers {
            return Ok(ended);
        }
        onlooker.rest();
        let asked = if is_attended {
            let lines = lines.get_or_insert_with(Lines::of_terminal);
            asking::ask(&controller, &log, &stop, lines).await?
        } else {
            asking::wait(&controller, &log, &stop).await?
        };
        match asked {
            Asked::GoOn => {}
            Asked::Nothing => return Ok(ended),
            Asked::Stopped => return Ok(Ended::Stopped),
        }
        let event = Event::RunResumed { retry: Vec::new(), budget: None };
        let entries = vec![Entry { scope: Scope::default(), event }];
        let kept = log.append(Batch { entries, blobs: Vec::new() }).await;
        kept.map_err(|error| refuse_trouble(&Trouble::Store(error)))?;
    }
}

/// Says what Ctrl-C does; the second one leaves at once.
fn on_signal(log: &Log, onlooker: &Arc<Onlooker>, signal: Signal) -> io::Result<Stop> {
    let (onlooker, run) = (Arc::clone(onlooker), log.read(|run| run.run.clone()));
    let first = move || {
        if signal == Signal::Parks {
            onlooker.note_that(
                "stopping: what is under way comes to its next step; Ctrl-C again ends at once",
            );
        }
    };
    Stop::on_signal(first, move || {
        output::warn(&format!("\nrun {run}: `sequester resume {run}` takes it up\n"));
        std::process::exit(130)
    })
}

/// Doubts that take their defaults, as warnings.
pub(super) fn tell_defaults(file: &PlanFile, found: &Found) {
    for warning in found.warnings() {
        output::warn_of(&file.name, &warning);
    }
}

/// Whether somebody is there to be asked.
pub(super) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A plan whose tasks are a guess is confirmed by the person who is there.
fn confirm_shape(warnings: &[Fault], yes: bool) -> Result<(), Failure> {
    let Some(guess) = warnings.iter().find(|warning| warning.code == Code::GuessedShape) else {
        return Ok(());
    };
    if yes || !is_attended() || view::agree(&guess.message)? {
        return Ok(());
    }
    Err(Failure::input(Code::Cancelled, "", "The plan was not started.", guess.hint.clone()))
}

/// What costs money is started by a person, or by one who said so.
fn confirm(file: &PlanFile, ready: &Ready, yes: bool) -> Result<(), Failure> {
    let open = ready.started.tasks.iter().filter(|spec| spec.left_out.is_none()).count();
    let models: Vec<&str> = ready.paid.iter().map(String::as_str).collect();
    if models.is_empty() || yes {
        return Ok(());
    }
    let costs = || models.iter().map(|model| estimate(file, &ready.started, model));
    let dollars = costs().flatten().fold(0.0, f64::max);
    let price = match (costs().flatten().next(), costs().any(|cost| cost.is_none())) {
        (None, _) => "nobody knows how much".to_owned(),
        (_, false) => format!("about ${dollars:.2}"),
        (_, true) => format!("about ${dollars:.2}, as far as prices are known"),
    };
    let tasks = plural(open, "task");
    let what = format!("{tasks} with {} will cost {price}.", models.join(", "));
    if !is_attended() {
        let message = format!("{what} Nobody is there to agree.");
        let hint = "`--yes` starts it without asking; `--model literal` costs nothing.";
        return Err(Failure::input(Code::BadArguments, "command line", message, hint));
    }
    if view::agree(&format!("{what} Start?"))? {
        return Ok(());
    }
    let hint = "Nothing was started. `sequester plan` shows what it would do.";
    Err(Failure::input(Code::Cancelled, "", "You did not agree to the run.", hint))
}

pub(super) fn jobs(flag: Option<u16>, project: &Project) -> usize {
    flag.map_or_else(|| project.settings.jobs(), usize::from)
}

pub(super) fn finish(args: &Args, store: &Store, id: &RunId, ended: Ended) -> Outcome {
    workspace::sweep();
    let state = sequester_engine::read(store, id).map_err(|error| runs::failed_store(&error))?;
    if !args.json {
        let todos = todo::render(&records::todos(store, &state), terminal::width());
        let trees =
            if state.started.plan.path.is_empty() { runs::trees(&find_root(args)?)? } else { None };
        output::print(&(view::summary(&state, ended, runs::taken(trees.as_ref())) + &todos))?;
    }
    Ok(ExitCode::from(code_with(&state, ended)))
}

/// The code of a whole run: a key or a model that is not known is bad input, which comes before tasks that wait or failed otherwise.
fn code_with(state: &RunState, ended: Ended) -> u8 {
    let is_misnamed = |task: &TaskRun| {
        let failed = task.ended.as_ref().is_some_and(|ended| ended.state == TaskEnd::Failed);
        failed && task.tried().next_back().is_some_and(|last| last.outcome.is_misnamed())
    };
    match code_of(ended) {
        1 | 3 | 4 if state.tasks.iter().any(is_misnamed) => 2,
        code => code,
    }
}

pub(super) fn code_of(ended: Ended) -> u8 {
    match ended {
        Ended::Done => 0,
        Ended::Failed => 1,
        Ended::Waiting => 3,
        Ended::BudgetExhausted => 4,
        Ended::Stopped | Ended::Cancelled => 130,
    }
}
