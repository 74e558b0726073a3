//! The runs of a project, as its store keeps them.

use std::collections::hash_map::RandomState;
use std::env;
use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sequester_core::change::Change;
use sequester_core::digest::Digest;
use sequester_core::fault::Code;
use sequester_core::id::{RunId, TaskId};
use sequester_core::moment::Moment;
use sequester_core::run::{Outcome, Recorded, RunState, RunView};
use sequester_core::store::{Error, ErrorKind, RunStore as _};
use sequester_git::{Home, Repo, Trees};
use sequester_store::{HeadState, Options, Store};

use super::own_repository::OwnRepository;
use super::{records, signing};
use crate::failure::Failure;
use crate::output;
use crate::render::run::Taken;

/// The folder of a project that is ours.
pub(crate) const FOLDER: &str = ".sequester";
/// Git sees nothing of it but what a team shares.
const IGNORE: &str = "/*\n!/agents/\n!/profiles/\n!/workflows/\n!/NOTES.md\n";
const ACCEPT_STORE: &str =
    "They can be looked at. `sequester trust` shows them, and signs them once you accept them.";
/// Events that are read at once.
const PAGE: usize = 2_000;

/// A project's store, opened.
pub(crate) struct Runs {
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
}

impl Runs {
    /// For writing; the folder and the file are made where there are none. Refused for runs that this user did not record.
    pub(crate) fn open(root: &Path) -> Result<Self, Failure> {
        if let Some(runs) = Self::look_quietly(root)? {
            runs.refuse_foreign()?;
        }
        Self::open_unchecked(root)
    }

    /// The same, whoever recorded the runs.
    pub(crate) fn open_unchecked(root: &Path) -> Result<Self, Failure> {
        let signer = Some(Arc::new(signing::signer()?));
        let options = Options { signer, ..Options::default() };
        let store =
            Store::open_with(&place(root), options).map_err(|error| failed(&error, root))?;
        ignore_all(root)?;
        Ok(Self { root: root.to_owned(), store })
    }

    /// What is there, for writing; nothing where there is none.
    pub(crate) fn open_existing(root: &Path) -> Result<Option<Self>, Failure> {
        match Self::look_quietly(root)? {
            Some(_) => Self::open(root).map(Some),
            None => Ok(None),
        }
    }

    /// What is there, for reading alone; nothing where there is none. Runs that this user did not record are told.
    pub(crate) fn look(root: &Path) -> Result<Option<Self>, Failure> {
        let runs = Self::look_quietly(root)?;
        if let Some(runs) = &runs {
            // A key that cannot be read keeps nobody from looking.
            let own = signing::own_key().unwrap_or_else(|failure| {
                output::tell(failure.message());
                None
            });
            let foreign = runs.store.foreign_runs(own).map_err(|error| failed(&error, root))?;
            if let Some(told) = signing::tell_foreign(&foreign) {
                output::tell(&format!("{told} {ACCEPT_STORE}"));
            }
        }
        Ok(runs)
    }

    /// Runs that this user's key does not vouch for here.
    pub(crate) fn foreign(&self) -> Result<Vec<(RunId, HeadState)>, Failure> {
        let own = signing::own_key()?;
        self.store.foreign_runs(own).map_err(|error| failed(&error, &self.root))
    }

    pub(crate) fn refuse_foreign(&self) -> Result<(), Failure> {
        match signing::tell_foreign(&self.foreign()?) {
            None => Ok(()),
            Some(told) => {
                let place = place(&self.root);
                Err(Failure::trust(Code::ForeignStore, place.display(), told, ACCEPT_STORE))
            }
        }
    }

    pub(crate) fn look_quietly(root: &Path) -> Result<Option<Self>, Failure> {
        match Store::open_reading(&place(root)) {
            Ok(store) => Ok(Some(Self { root: root.to_owned(), store })),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error, root)),
        }
    }

    /// The run that is meant, in a store for reading.
    pub(crate) fn seek(root: &Path, named: Option<&str>) -> Result<(Self, RunId), Failure> {
        let runs = Self::look(root)?.ok_or_else(|| none(root))?;
        let run = runs.find(named)?;
        Ok((runs, run))
    }

    /// The same with the task that is meant. Who names a task alone means the newest run that has it.
    pub(crate) fn seek_task(
        root: &Path,
        run: Option<&str>,
        task: Option<&str>,
    ) -> Result<(Self, RunState, Option<TaskId>), Failure> {
        Self::look(root)?.ok_or_else(|| none(root))?.seek_task_in(run, task)
    }

    pub(super) fn seek_task_in(
        self,
        run: Option<&str>,
        task: Option<&str>,
    ) -> Result<(Self, RunState, Option<TaskId>), Failure> {
        let runs = self;
        let failure = match runs.find(run) {
            Ok(run) => {
                let state = runs.state(&run)?;
                let task = task.map(|task| task_of(&state, task)).transpose()?;
                return Ok((runs, state, task));
            }
            Err(failure) => failure,
        };
        let Some(named) = run.filter(|_| task.is_none()) else { return Err(failure) };
        for run in runs.list()? {
            // One that cannot be read hides no other.
            let Ok(state) = runs.state(&run) else { continue };
            if let Ok(task) = task_of(&state, named) {
                output::tell(&format!(
                    "`{task}` is a task of run `{run}`, the newest that has it."
                ));
                return Ok((runs, state, Some(task)));
            }
        }
        if failure.message().starts_with(NO_RUN) {
            let message = format!("{NO_RUN} `{named}`, and no run has a task of that name.");
            return Err(unknown(&runs.root, message, &runs.list()?));
        }
        Err(failure)
    }

    /// The same, in a store for writing.
    pub(crate) fn seek_writing(root: &Path, named: Option<&str>) -> Result<(Self, RunId), Failure> {
        let runs = Self::open_existing(root)?.ok_or_else(|| none(root))?;
        let run = runs.find(named)?;
        Ok((runs, run))
    }

    /// By its id or a beginning that fits no other; without one the newest.
    pub(crate) fn find(&self, named: Option<&str>) -> Result<RunId, Failure> {
        let known = self.list()?;
        let Some(named) = named else {
            return known.into_iter().next().ok_or_else(|| none(&self.root));
        };
        let wanted = named.to_ascii_lowercase();
        if let Some(run) = known.iter().find(|run| run.as_str() == named || run.as_str() == wanted)
        {
            return Ok(run.clone());
        }
        let fitting: Vec<&RunId> =
            known.iter().filter(|run| run.as_str().starts_with(&wanted)).collect();
        match fitting[..] {
            _ if wanted.is_empty() => {
                Err(unknown(&self.root, "The name of the run is empty.".to_owned(), &known))
            }
            [run] => Ok(run.clone()),
            [] => Err(unknown(&self.root, format!("{NO_RUN} `{named}`."), &known)),
            _ => {
                let fitting: Vec<RunId> = fitting.into_iter().cloned().collect();
                let message = format!("`{named}` is the beginning of {} runs.", fitting.len());
                Err(unknown(&self.root, message, &fitting))
            }
        }
    }

    /// The newest run that can go on by itself; with a plan, the newest that was made from it, be it that none can go on by itself.
    pub(crate) fn newest_open(&self, plan: Option<&str>) -> Result<Option<RunId>, Failure> {
        let mut ended = None;
        for run in self.list()? {
            let state = self.state(&run)?;
            if plan.is_some_and(|plan| state.started.plan.path != plan) {
                continue;
            }
            if !state.ended.is_some_and(Outcome::is_final) {
                return Ok(Some(run));
            }
            ended.get_or_insert(run);
        }
        Ok(ended.filter(|_| plan.is_some()))
    }

    /// That no run was made from a plan, with what there is.
    pub(crate) fn none_of(&self, plan: &str) -> Failure {
        let known = self.list().and_then(|runs| {
            let newest = runs.iter().take(MOST);
            newest.map(|run| Ok((run.clone(), self.view(run)?.plan))).collect::<Result<Vec<_>, _>>()
        });
        let known: Vec<String> = known
            .unwrap_or_default()
            .into_iter()
            .map(|(run, plan)| format!("`{run}` of `{plan}`"))
            .collect();
        let message = format!("No run was made from `{plan}`.");
        let hint = format!(
            "Name the run that is to take it, as in `sequester resume RUN --plan {plan}`. The newest first: {}.",
            known.join(", ")
        );
        Failure::input(Code::UnknownRun, self.root.display(), message, hint)
    }

    /// Newest first.
    pub(crate) fn list(&self) -> Result<Vec<RunId>, Failure> {
        self.store.runs().map_err(|error| failed(&error, &self.root))
    }

    /// All events of a run, page by page, in order.
    pub(crate) fn each(
        &self,
        run: &RunId,
        mut see: impl FnMut(Recorded) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut after = 0;
        loop {
            let page =
                self.store.events(run, after, PAGE).map_err(|error| failed_run(&error, run))?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            page.into_iter().try_for_each(&mut see)?;
        }
    }

    pub(crate) fn state(&self, run: &RunId) -> Result<RunState, Failure> {
        sequester_engine::read(&self.store, run).map_err(|error| failed_run(&error, run))
    }

    /// How what they made is taken over here.
    pub(crate) fn taken(&self) -> Taken {
        taken(trees(&self.root).ok().flatten().as_ref())
    }

    pub(crate) fn is_held(&self, run: &RunId) -> Result<bool, Failure> {
        self.store.is_held(run).map_err(|error| failed_run(&error, run))
    }

    pub(crate) fn view(&self, run: &RunId) -> Result<RunView, Failure> {
        Ok(self.view_of(&self.state(run)?, self.is_held(run)?))
    }

    /// With what the tasks left to be done.
    pub(crate) fn view_of(&self, state: &RunState, live: bool) -> RunView {
        RunView { todos: records::todos(&self.store, state), ..RunView::of(state, live) }
    }

    /// The bytes that an event names.
    pub(crate) fn blob(&self, run: &RunId, digest: &Digest) -> Result<Vec<u8>, Failure> {
        self.store.blob(digest).map_err(|error| failed_run(&error, run))
    }

    /// A change that an event names. Its patch tells it; the contents are not needed.
    pub(crate) fn change(&self, run: &RunId, digest: &Digest) -> Result<Change, Failure> {
        let bytes = self.blob(run, digest)?;
        Change::unpack(&bytes, |_| Ok::<_, String>(Vec::new())).map_err(|error| {
            let message = format!("The change cannot be read: {error}");
            let hint = "Look at the run with `sequester show`.";
            Failure::work(Code::StoreDamaged, format!("run {run}"), message, hint)
        })
    }
}

/// A task of a run, by its id.
pub(crate) fn task_of(state: &RunState, named: &str) -> Result<TaskId, Failure> {
    let found = state.tasks.iter().map(|task| &task.spec.id);
    if let Some(task) = found.clone().find(|task| task.as_str() == named) {
        return Ok(task.clone());
    }
    let message = format!("Run `{}` has no task `{named}`.", state.run);
    let hint = format!("Its tasks are {}.", tasks_of(state));
    Err(Failure::input(Code::UnknownTask, named, message, hint))
}

/// The tasks of a run, in the plan's order.
pub(crate) fn tasks_of(state: &RunState) -> String {
    let known: Vec<&str> = state.tasks.iter().map(|task| task.spec.id.as_str()).collect();
    listed(&known)
}

const NO_RUN: &str = "No run is called";

/// At most so many names as a person reads.
const MOST: usize = 12;

fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if names.len() > MOST {
        text.push(format!("and {} more", names.len() - MOST));
    }
    text.join(", ")
}

pub(crate) fn place(root: &Path) -> PathBuf {
    root.join(FOLDER).join("store.db")
}

/// What a run says that goes on in the background.
pub(crate) fn log_file(root: &Path, run: &RunId) -> PathBuf {
    root.join(FOLDER).join(format!("{run}.log"))
}

/// Has git see nothing of our folder but what a team shares.
pub(crate) fn ignore_all(root: &Path) -> Result<(), Failure> {
    ignore(&root.join(FOLDER)).map_err(|error| {
        let message = format!("Git could not be told to ignore the folder: {error}.");
        let hint = "Look at the disk and at who may write there.";
        Failure::work(Code::StoreFailed, root.join(FOLDER).display(), message, hint)
    })
}

/// Only where nobody said otherwise, and never through a link.
fn ignore(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut file) => file.write_all(IGNORE.as_bytes()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn none(root: &Path) -> Failure {
    let hint = "Start one with `sequester run PLAN`, or name another repository with `--repo DIR`.";
    Failure::input(Code::UnknownRun, root.display(), "There is no run here yet.", hint)
}

fn unknown(root: &Path, message: String, known: &[RunId]) -> Failure {
    let known: Vec<&str> = known.iter().map(RunId::as_str).collect();
    let hint = match known[..] {
        [] => "`sequester status` lists the runs.".to_owned(),
        _ => format!("Name one of these. The newest first: {}.", listed(&known)),
    };
    Failure::input(Code::UnknownRun, root.display(), message, hint)
}

/// What the store says, with its code.
pub(crate) fn failed(error: &Error, root: &Path) -> Failure {
    told(error, root.join(FOLDER).display().to_string())
}

pub(crate) fn failed_run(error: &Error, run: &RunId) -> Failure {
    told(error, format!("run {run}"))
}

fn told(error: &Error, place: String) -> Failure {
    let code = match error.kind {
        ErrorKind::Held => Code::RunHeld,
        ErrorKind::Damaged => Code::StoreDamaged,
        ErrorKind::Newer => Code::StoreNewer,
        ErrorKind::Full => Code::StoreFull,
        ErrorKind::Locked => Code::StoreLocked,
        _ => Code::StoreFailed,
    };
    Failure::work(code, place, error.message.clone(), error.hint.clone())
}

/// The clock on the wall.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Digits and letters that nobody takes for each other.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2026-01-01, in seconds.
const EPOCH: u64 = 1_767_225_600;

/// An id that no run of the store has: six characters of the second, two by chance. Later ones sort later.
pub(crate) fn new_id(store: &Store) -> Result<RunId, Error> {
    let known = store.runs()?;
    loop {
        let id = id_of(now(), chance());
        if !known.contains(&id) && !store.is_held(&id)? {
            return Ok(id);
        }
    }
}

/// What a run is called until it has an id of its own: by when and by whom it is made.
pub(crate) fn id_to_be() -> RunId {
    RunId::new(format!("{}-{}", id_of(now(), chance()), std::process::id()))
}

fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// When a run got its id, or what it was called before; nothing for what is neither.
pub(crate) fn made_at(run: &RunId) -> Option<Moment> {
    let id = run.as_str().split('-').next().filter(|id| id.len() == 8)?;
    let place = |byte: u8| LETTERS.iter().position(|letter| *letter == byte);
    let add = |bits: u64, byte: u8| Some(bits << 5 | place(byte)? as u64);
    let bits = id.bytes().try_fold(0, add)?;
    Some(Moment(((bits >> 10) + EPOCH) * 1_000))
}

fn id_of(now: Moment, chance: u64) -> RunId {
    let seconds = (now.0 / 1_000).saturating_sub(EPOCH);
    let bits = (seconds & 0x3fff_ffff) << 10 | chance & 0x3ff;
    let letter = |place: u32| char::from(LETTERS[(bits >> (5 * place) & 31) as usize]);
    RunId::new((0..8).rev().map(letter).collect::<String>())
}

/// The repository as runs use it; nothing where there is none.
pub(crate) fn trees(root: &Path) -> Result<Option<Trees>, Failure> {
    let search = env::var_os("PATH").unwrap_or_default();
    let found = Repo::discover(root, &search).map_err(|error| git_failed(root, &error))?;
    let found = match found {
        None if OwnRepository::look(root)? == OwnRepository::Sealed => Some(own_repo(root)?),
        found => found,
    };
    Ok(found.as_ref().map(trees_of))
}

/// How what was made there is taken over.
pub(crate) fn taken(trees: Option<&Trees>) -> Taken {
    if trees.is_some_and(Trees::is_own) { Taken::ByPatch } else { Taken::ByApply }
}

/// A repository of our own for a folder that is none.
pub(crate) fn own_repo(root: &Path) -> Result<Repo, Failure> {
    OwnRepository::open(root)
}

/// The same, where there must be one.
pub(crate) fn trees_at(root: &Path) -> Result<Trees, Failure> {
    trees(root)?.ok_or_else(|| {
        let hint = "Name the repository of the run with `--repo DIR`.";
        Failure::input(Code::NoRepository, root.display(), "There is no git repository here.", hint)
    })
}

/// With the name that the person configured for commits.
pub(crate) fn trees_of(repo: &Repo) -> Trees {
    let home = Home {
        folder: env::var_os("HOME").map(PathBuf::from),
        config: env::var_os("XDG_CONFIG_HOME").map(PathBuf::from),
        name: env::var("GIT_AUTHOR_NAME").ok(),
        address: env::var("GIT_AUTHOR_EMAIL").ok(),
    };
    Trees::of(repo, home)
}

/// Of a store that was open already.
pub(crate) fn failed_store(error: &Error) -> Failure {
    told(error, FOLDER.to_owned())
}

pub(crate) fn git_failed(root: &Path, error: &sequester_core::repository::Error) -> Failure {
    let hint = "Check that `git` is installed and that `git status` works there.";
    Failure::work(Code::NoRepository, root.display(), error.to_string(), hint)
}

/// Who speaks: as git knows the person, else as the system does.
pub(crate) fn person(root: &Path) -> String {
    let configured = trees(root).ok().flatten().and_then(|trees| trees.person().ok());
    let name = configured.as_deref().and_then(|person| person.split_once(" <"));
    let named = name.map(|(name, _)| name.to_owned()).filter(|name| name != "sequester");
    let user = || ["USER", "LOGNAME"].into_iter().find_map(|key| env::var(key).ok());
    named.or_else(user).filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_are_easy_to_type() {
        let early = id_of(Moment(1_794_819_912_345), 7);
        let later = id_of(Moment(1_794_819_913_345), 3);
        assert!(early < later && early.as_str().len() == 8, "{early} {later}");
        assert!(early.as_str().bytes().all(|byte| LETTERS.contains(&byte)), "{early}");
        assert_ne!(early, id_of(Moment(1_794_819_912_345), 8));
        for id in [early.clone(), RunId::new(format!("{early}-77"))] {
            assert_eq!(made_at(&id), Some(Moment(1_794_819_912_000)));
        }
        assert_eq!(["", "held", "ilou1234"].map(|id| made_at(&RunId::new(id))), [None; 3]);
    }

    #[test]
    fn no_two_runs_of_a_store_have_one_id() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s/store.db")).unwrap();
        let held: Vec<_> =
            (0..300).map(|_| store.lease(&new_id(&store).unwrap()).unwrap()).collect();
        let mut ids: Vec<&str> = held.iter().map(|lease| lease.run().as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 300);
    }
}
