//! The jail of a profile on this machine.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sequester_core::change::Change;
use sequester_core::fault::Code;
use sequester_core::limits::Limit;
use sequester_core::path::RepoPath;
use sequester_core::profile::{Confinement, HOST_HINT, Profile};
use sequester_sandbox::harvest::Rules;
use sequester_sandbox::{
    Capabilities, Compiled, Error, Folder, Host, Jail, Limits, Policy, Refusal, Surroundings,
    Workspace, assume, check_place, compile, compile_harvest, identity, probe,
};

use crate::failure::Failure;

/// What this machine has and can do.
pub(crate) struct Machine {
    pub(crate) surroundings: Surroundings,
    /// Where stores are made, and noted what must be taken away after a crash.
    pub(crate) state: PathBuf,
    /// Profiles whose jails were seen to start.
    seen: Mutex<BTreeSet<Confinement>>,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let environment = env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::of(&environment.collect())
    }

    /// As somebody with this environment has it.
    pub(crate) fn of(environment: &BTreeMap<String, String>) -> Self {
        let surroundings = Surroundings::look(environment);
        let state = state(environment, surroundings.owner.user);
        let machine = Self { surroundings, state, seen: Mutex::default() };
        if machine.owns_state() {
            sequester_sandbox::sweep(&machine.state);
        }
        machine
    }

    /// A folder for one jail, which nobody has made yet.
    pub(crate) fn store(&self) -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Processes of other containers may have the same number.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.state.join(format!("jail-{}-{}-{count}", since.as_nanos(), std::process::id()))
    }

    /// Where bases and the layers of attempts are.
    pub(crate) fn workspaces(&self) -> PathBuf {
        self.state.with_file_name("workspaces")
    }

    /// Files below a folder that jails hold a name with, which are nobody's work.
    pub(crate) fn placeholders(&self, root: &Path) -> BTreeSet<RepoPath> {
        // Who cannot read the notes of jails has none that live.
        let all = sequester_sandbox::placeholders(&self.state).unwrap_or_default();
        let below = all.iter().filter_map(|path| path.strip_prefix(root).ok()?.to_str());
        below.filter_map(|path| RepoPath::parse(path).ok()).collect()
    }

    /// The folder for stores, which nobody else may look into.
    pub(crate) fn make_state(&self) -> Result<(), Failure> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.state);
        let told = |message: String| {
            let hint = "Let `XDG_STATE_HOME` or `HOME` name a folder that you may write, on a disk with room.";
            Failure::work(Code::NoWorkspace, self.state.display(), message, hint)
        };
        made.map_err(|error| {
            told(format!("The folder that jails are kept in cannot be made: {error}."))
        })?;
        if self.owns_state() {
            return Ok(());
        }
        Err(told(
            "The folder that jails are kept in is another user's, or others may write to it."
                .to_owned(),
        ))
    }

    /// Whether the folder for stores and the one above it are there, and nobody else may write to them.
    fn owns_state(&self) -> bool {
        let user = self.user();
        let is_own = |about: fs::Metadata| {
            about.is_dir() && about.uid() == user && about.mode() & 0o022 == 0
        };
        self.state.ancestors().take(2).all(|folder| fs::symlink_metadata(folder).is_ok_and(is_own))
    }

    pub(crate) fn user(&self) -> u32 {
        self.surroundings.owner.user
    }

    /// Really tries what the kernel can do.
    pub(crate) fn probe(&self) -> Capabilities {
        probe(identity(&self.surroundings), &self.store())
    }

    /// Whether there is such a jail here: one is started that does nothing. Whoever asks a model has to know before.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), Failure> {
        self.start(policy, |compiled| Jail::serve(&compiled.blueprint).map(drop))?;
        self.seen().insert(policy.confinement);
        Ok(())
    }

    /// Whether such a jail was seen to start.
    pub(crate) fn has_seen(&self, confinement: Confinement) -> bool {
        self.seen().contains(&confinement)
    }

    fn seen(&self) -> MutexGuard<'_, BTreeSet<Confinement>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A folder as a workspace.
    pub(crate) fn folder(&self, path: &Path) -> Result<Folder, Failure> {
        // Before all of it is looked through.
        if let Ok(path) = path.canonicalize() {
            self.check_place(&path)?;
        }
        Folder::look(path).map_err(|error| {
            Failure::input(Code::BadWorkspace, path.display(), error.to_string(), error.hint())
        })
    }

    /// What a writer could change there would count outside of the jail: a layer of another jail, or the person's own word
    /// on what is trusted and configured.
    fn check_place(&self, path: &Path) -> Result<(), Failure> {
        let state = self.state.parent().map(Path::to_owned);
        let own = state.into_iter().chain(super::config::folder());
        let own = own.map(|own| own.canonicalize().unwrap_or(own));
        let meets = |own: &PathBuf| own.starts_with(path) || path.starts_with(own);
        let Some(own) = own.into_iter().find(meets) else {
            return check_place(path, &self.surroundings).map_err(|refusal| refuse(&refusal));
        };
        let own = own.display();
        let message = format!("The workspace holds, or lies in, the product's own folder `{own}`.");
        let hint = "Name a folder that does not, or let `XDG_STATE_HOME` and `XDG_CONFIG_HOME` name others.";
        Err(Failure::input(Code::BadWorkspace, path.display(), message, hint))
    }

    /// What was assumed of the kernel is found out by starting; if it fails, every step is tried, so that the person is told which
    /// guarantee is missing and why.
    pub(crate) fn start<T>(
        &self,
        policy: &Policy,
        launch: impl Fn(&Compiled) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        self.make_state()?;
        let attempt = |capabilities: &Capabilities| self.attempt(policy, capabilities, &launch);
        let assumed = assume();
        let trouble = match attempt(&assumed) {
            Ok(Ok(started)) => return Ok(started),
            Ok(Err(Error::Jail(trouble))) if !trouble.is_moved() => {
                check_written(policy)?;
                Some(Error::Jail(trouble))
            }
            Ok(Err(error)) => return Err(broken(&error)),
            Err(Refusal::Missing { .. }) => None,
            Err(refusal) => return Err(refuse(&refusal)),
        };
        let tried = self.probe();
        match trouble {
            Some(trouble) if tried == assumed => Err(broken(&trouble)),
            _ => {
                attempt(&tried).map_err(|refusal| refuse(&refusal))?.map_err(|error| broken(&error))
            }
        }
    }

    /// Compiles and starts. Where something moves in the person's folder meanwhile, all of it is looked at again, but not for ever.
    fn attempt<T>(
        &self,
        policy: &Policy,
        capabilities: &Capabilities,
        launch: impl Fn(&Compiled) -> Result<T, Error>,
    ) -> Result<Result<T, Error>, Refusal> {
        let mut policy = policy.clone().look_closer(capabilities);
        for _ in 1..LOOKS {
            let launched = launch(&compile(&policy, &self.surroundings, capabilities)?);
            if !matches!(&launched, Err(Error::Jail(trouble)) if trouble.is_moved()) {
                return Ok(launched);
            }
            match policy.look_again() {
                Ok(again) => policy = again.look_closer(capabilities),
                Err(_) => return Ok(launched),
            }
        }
        Ok(launch(&compile(&policy, &self.surroundings, capabilities)?))
    }

    /// What became of the workspace of a policy that ran; nothing where none is kept.
    pub(crate) fn harvest(&self, policy: &Policy, rules: &Rules) -> Result<Change, Failure> {
        let attempt = |capabilities: &Capabilities| {
            let blueprint = compile_harvest(policy, &self.surroundings, capabilities);
            blueprint.map(|blueprint| Jail::harvest(&blueprint, rules))
        };
        let taken = match attempt(&assume()) {
            Some(Err(Error::Jail(_))) => attempt(&self.probe()),
            taken => taken,
        };
        taken.unwrap_or_else(|| Ok(Change::default())).map_err(|error| broken(&error))
    }
}

/// How often a folder is looked at in which something moves.
const LOOKS: usize = 5;

/// A writer's names cannot be held in a folder that the person cannot write.
fn check_written(policy: &Policy) -> Result<(), Failure> {
    let Workspace::Folder(folder) = &policy.workspace else { return Ok(()) };
    let Some(path) = folder.unwritable().filter(|_| policy.is_keeping()) else { return Ok(()) };
    let message = "You cannot write this folder, where names must be held while a writer works.";
    let hint = "Name a folder that you can write, or a profile that keeps nothing: `read-only` or `validate`.";
    Err(Failure::input(Code::BadWorkspace, path.display(), message, hint))
}

/// `$XDG_STATE_HOME/sequester/jails`, else `~/.local/state/...`, else in the folder for temporary files.
fn state(environment: &BTreeMap<String, String>, user: u32) -> PathBuf {
    let absolute =
        |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("HOME").filter(|home| home.is_dir());
    let state = absolute("XDG_STATE_HOME").or_else(|| home.map(|home| home.join(".local/state")));
    let state = state.map(|state| state.join("sequester"));
    // Everybody may write there, so that it is made sure whose it is before anything in it is taken for ours.
    let own = || env::temp_dir().join(format!("sequester-{user}"));
    state.unwrap_or_else(own).join("jails")
}

/// A guarantee that is missing ends with 5, a policy that cannot be with 2.
pub(crate) fn refuse(refusal: &Refusal) -> Failure {
    let hint = refusal.hint();
    match refusal {
        Refusal::Missing { .. } => Failure::guarantee(Code::NoJail, "", refusal.to_string(), hint),
        _ => Failure::input(Code::BadWorkspace, "", refusal.to_string(), hint),
    }
}

pub(crate) fn broken(error: &Error) -> Failure {
    if matches!(error, Error::Jail(trouble) if trouble.full) {
        let hint =
            "Make room on the disk that is named, then start it again; nothing was left there.";
        return Failure::work(Code::NoWorkspace, "", error.to_string(), hint);
    }
    if matches!(error, Error::Jail(trouble) if trouble.is_moved()) {
        let hint =
            "Let nothing be moved in the workspace while a jail is made, then start it again.";
        return Failure::guarantee(Code::NoJail, "", error.to_string(), hint);
    }
    let hint =
        "`sequester doctor` tries every step and says what to do; nothing runs without the jail.";
    Failure::guarantee(Code::NoJail, "", error.to_string(), hint)
}

/// What a jail may use under a profile, as far as it or configuration sets it.
pub(crate) fn limits(profile: &Profile, set: &BTreeMap<Limit, u64>) -> Limits {
    Limits::default().with(&profile.lower(set))
}

/// The hosts of a profile as a jail takes them.
pub(crate) fn named_hosts(profile: &Profile) -> Result<Vec<Host>, Failure> {
    let hosts: Result<Vec<Host>, _> = profile.hosts.iter().map(|text| text.parse()).collect();
    hosts.map_err(|error| {
        Failure::input(Code::BadProfile, &profile.name, error.to_string(), HOST_HINT)
    })
}
