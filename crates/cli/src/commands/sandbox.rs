//! `sequester sandbox`: any command under a profile, in the jail that a subagent would have.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sequester_core::fault::Code;
use sequester_core::path::RepoPath;
use sequester_core::profile::Confinement;
use sequester_git::{Repo, RunPath};
use sequester_sandbox::folder::{Folder, Git, NewRepositories, SetAside};
use sequester_sandbox::{
    Blueprint, Capabilities, Cause, Ending, HeldBack, Keeper, Keepers, Policy, Said, Streams,
    Supervisor, Workspace, placeholders,
};

use crate::Outcome;
use crate::args::{Args, SandboxArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::terminal::plural;
use crate::wire::bounds::Bounds;
use crate::wire::jail::{Machine, named_hosts};
use crate::wire::trust::Trust;
use crate::wire::{Agents, Settings, config};

pub(crate) fn run(args: &Args, given: &SandboxArgs) -> Outcome {
    if given.command.first().is_none_or(String::is_empty) {
        let hint =
            "Name a program after `--`, as in `sequester sandbox --profile read-only -- ls`.";
        return Err(Failure::input(Code::BadArguments, "--", "The command is empty.", hint));
    }
    let (input, out, errors) = (io::stdin(), io::stdout(), io::stderr());
    let streams = Streams { stdin: input.as_fd(), stdout: out.as_fd(), stderr: errors.as_fd() };
    // Before anything is read from the environment, and so that it is there when the machine has been looked at. Why it is not is told
    // when the jail is made.
    let ready = Cell::new(Supervisor::branch(streams).ok());
    // Before the workspace: what the dead left there is gone then.
    let machine = Machine::look();
    let (workspace, start) = places(args, given, machine.user());
    let workspace = machine.folder(&workspace)?;
    let (configuration, trust) = (config::folder(), Trust::look());
    let configuration = configuration.as_deref();
    let agents = Agents::read(&workspace.path, configuration, &trust);
    let settings = Settings::load(&workspace.path, configuration, &agents, &trust)?;
    let profile = agents.profile(&given.profile)?.clone().with_hosts(settings.hosts());
    let bounds = Bounds::of(&profile, &settings.set_limits(), &given.limit)?;
    let workspace = with_run_paths(workspace, profile.confinement)?;
    let policy = Policy {
        confinement: profile.confinement,
        // What is named on the command line is the person's own word, whatever the profile.
        hosts: named_hosts(&profile)?.into_iter().chain(given.net.iter().cloned()).collect(),
        workspace: Workspace::Folder(workspace),
        limits: bounds.limits.clone(),
        grants: settings.grants(),
        store: machine.store(),
    };
    // Looked at again where the machine turns out to have less.
    let policy = policy.look_closer(&Capabilities::all());
    tell_shared(&policy);
    let (jail, signals, keepers) = machine.start(&policy, |compiled| {
        let supervisor = ready.take().map_or_else(|| Supervisor::start(streams), Ok)?;
        let folder = start.clone().unwrap_or_else(|| compiled.blueprint.folder.clone());
        let blueprint = Blueprint { folder, ..compiled.blueprint.clone() };
        // What ends this program ends the jail first, and what it holds in the folder: who waits for this program finds it as it was.
        let signals = HeldBack::begin()?;
        let jail = supervisor.run_held(&blueprint, given.command.clone(), &signals)?;
        Ok((jail, signals, compiled.keepers.clone()))
    })?;
    tell_watched(&given.limit, &keepers);
    tell_no_prompt(&given.command);
    tell_held(&policy, &machine);
    let (mut lost, mut met, mut no_way) = (false, Vec::new(), false);
    let heard = |said: Said| match said {
        Said::Met(cause) => met.push(cause),
        Said::NoWay => no_way = true,
        said => {
            lost |= matches!(said, Said::Lost { .. });
            tell(&said);
        }
    };
    let (ending, signal) = jail.wait_held(&signals, heard).map_err(|error| {
        let hint = "Start it again; what it left behind is taken away then.";
        Failure::work(Code::NoJail, "", error.to_string(), hint)
    })?;
    if let Some(signal) = signal {
        signals.end_by(signal);
    }
    drop(signals);
    tell_appeared(&policy);
    for limit in met.iter().filter_map(|cause| bounds.told(*cause)) {
        output::tell(&format!("limit reached: {limit}"));
    }
    if no_way && ending != Ending::Exited(0) {
        tell_no_way(&given.profile, &policy);
    }
    let code = end(ending, &given.command[0], &bounds);
    Ok(if lost { ExitCode::FAILURE } else { code })
}

/// Also with what git takes hooks, configuration or programs from, in a folder that the command may change. Repositories within the
/// folder count too.
fn with_run_paths(folder: Folder, confinement: Confinement) -> Result<Folder, Failure> {
    if !matches!(confinement, Confinement::Writer | Confinement::FullAccess) {
        return Ok(folder);
    }
    let search_path = env::var_os("PATH").unwrap_or_default();
    let gits = folder.covered.iter().filter(|covered| covered.name == ".git");
    let repositories = gits.filter_map(|covered| covered.path.parent()).take(MOST_REPOSITORIES);
    let mut found = Vec::new();
    for repository in repositories {
        let told = RunPath::of(repository, &folder.path, &search_path).map_err(|error| {
            let hint = "Check that `git config --list` works there.";
            Failure::input(Code::BadWorkspace, repository.display(), error.to_string(), hint)
        })?;
        found.extend(told.into_iter().map(|run| run.path));
    }
    Ok(folder.with_run_paths(found.iter().map(String::as_str)))
}

/// Repositories of one folder whose configuration is read.
const MOST_REPOSITORIES: usize = 100;

/// The workspace, and where in it the command starts if that is not its root. In a folder of a repository it is the whole of it, as
/// for every command, if it is the user's own.
fn places(args: &Args, given: &SandboxArgs, user: u32) -> (PathBuf, Option<PathBuf>) {
    if let Some(named) = given.workspace.as_ref().or(args.repo.as_ref()) {
        return (named.clone(), None);
    }
    let here = PathBuf::from(".");
    match (Repo::root_above(&here), here.canonicalize()) {
        (Some(root), Ok(start)) if root != start && !is_beyond(&root, &start) => {
            if is_own(&root, user) {
                return (root, Some(start));
            }
            output::tell(&format!(
                "The repository `{}` above is another user's, so the workspace is this folder alone. Name it with `--workspace` if you mean all of it.",
                root.display()
            ));
            (here, None)
        }
        _ => (here, None),
    }
}

/// Whether a repository and what git keeps of it are this user's: anybody may put a `.git` above folders of others.
fn is_own(root: &Path, user: u32) -> bool {
    let git = root.join(".git");
    let found = [fs::metadata(root), fs::symlink_metadata(&git), fs::metadata(&git)];
    found.into_iter().all(|about| about.is_ok_and(|about| about.uid() == user))
}

/// Whether a person told git not to look for a repository so far up.
fn is_beyond(root: &Path, start: &Path) -> bool {
    let ceilings = env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let ceilings: Vec<PathBuf> = env::split_paths(&ceilings).collect();
    ceilings
        .iter()
        .any(|ceiling| start != ceiling && start.starts_with(ceiling) && ceiling.starts_with(root))
}

/// What many programs tell in words that lead astray.
fn tell_no_way(profile: &str, policy: &Policy) {
    if policy.hosts.is_empty() {
        output::tell(&format!(
            "It looked for another machine, and under the profile `{profile}` there is no network. Name the hosts that it may reach, as with `--net HOST`."
        ));
    } else {
        output::tell(
            "It looked for another machine by itself. Hosts that are named are reached through the proxy alone, which is in `HTTPS_PROXY` and `HTTP_PROXY`.",
        );
    }
}

/// Whoever sets a limit relies on it.
fn tell_watched(flags: &[String], keepers: &Keepers) {
    let set: BTreeSet<&str> =
        flags.iter().filter_map(|flag| flag.split_once('=')).map(|(limit, _)| limit).collect();
    let watched = set.into_iter().filter(|limit| ["disk", "memory", "pids"].contains(limit));
    let watched: Vec<&str> =
        watched.filter(|limit| keepers.get(limit) == Some(&Keeper::Watched)).collect();
    if !watched.is_empty() {
        output::tell(&format!(
            "Not kept by the kernel here, but watched many times a second: `{}`. For a moment more may be used; `sequester doctor` tells who keeps which limit.",
            watched.join("`, `")
        ));
    }
}

/// Who starts a shell by hand waits for one.
fn tell_no_prompt(command: &[String]) {
    let [program] = command else { return };
    let name = program.rsplit('/').next().unwrap_or_default();
    if ["bash", "dash", "fish", "sh", "zsh"].contains(&name) && io::stdin().is_terminal() {
        output::tell(
            "It has no terminal, so that nothing in it can type into yours: it reads your lines and shows no prompt. Ctrl-D ends it.",
        );
    }
}

/// Whoever works in the same folder meanwhile, or lists it, sees what holds protected names.
fn tell_held(policy: &Policy, machine: &Machine) {
    let Workspace::Folder(folder) = &policy.workspace else { return };
    let held = machine.placeholders(&folder.path);
    if !policy.is_keeping() || held.is_empty() {
        return;
    }
    let names: Vec<&str> = held.iter().take(MOST_NAMED).map(RepoPath::as_str).collect();
    let more = held.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let add = if folder.git == Git::None { "" } else { " Git sees them too: add none of them." };
    output::tell(&format!(
        "Empty placeholders hold protected names until the command ends, and are removed then: `{}`{more}.{add}",
        names.join("`, `")
    ));
}

/// Placeholders that are named.
const MOST_NAMED: usize = 6;

/// What it may change outside of the folder by what is in it.
fn tell_shared(policy: &Policy) {
    let Workspace::Folder(folder) = &policy.workspace else { return };
    let closer = folder.closer.as_ref().filter(|_| policy.is_keeping());
    let shared = closer.map_or(&[][..], |closer| &closer.shared);
    let Some(first) = shared.first() else { return };
    let verb = if shared.len() == 1 { "has" } else { "have" };
    output::tell(&format!(
        "{} here {verb} another name (a hard link), such as `{}`: a write changes the file under both names.",
        plural(shared.len(), "file"),
        first.display()
    ));
}

/// What its user may otherwise start unawares.
fn tell_appeared(policy: &Policy) {
    let Workspace::Folder(folder) = &policy.workspace else { return };
    if !policy.is_keeping() {
        return;
    }
    // What living jails hold is theirs, and goes with them.
    let held = policy.store.parent().and_then(|state| placeholders(state).ok()).unwrap_or_default();
    for SetAside { path, name } in folder.set_aside(&policy.grants) {
        output::tell(&format!(
            "`{}` is new, and the name is protected: it is called `{}` now. Look at it before you rename it back.",
            path.display(),
            name.display()
        ));
    }
    tell_repositories(folder);
    let mut new = folder.appeared(&policy.grants);
    new.retain(|path| !held.contains(path));
    for path in new.iter().take(MOST_TOLD) {
        output::tell(&format!(
            "`{}` is new, and is protected: look at it before an editor, an agent or git does.",
            path.display()
        ));
    }
    if let Some(more) = new.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        output::tell(&format!("{more} more with protected names are new."));
    }
}

/// Git runs what the configuration of such a folder says, even for `git status` in it.
fn tell_repositories(folder: &Folder) {
    let NewRepositories { set_aside, left } = folder.set_repositories_aside();
    for SetAside { path, name } in set_aside.iter().take(MOST_TOLD) {
        output::tell(&format!(
            "`{}` is new and made its folder a git repository: it is called `{}` now. Read the `config` beside it before you rename it back.",
            path.display(),
            name.display()
        ));
    }
    for path in left.iter().take(MOST_TOLD) {
        output::tell(&format!(
            "`{}` is a new git repository: read its `config` before you run git in it.",
            path.display()
        ));
    }
    let more = set_aside.len().saturating_sub(MOST_TOLD) + left.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        output::tell(&format!("{more} more new folders are git repositories."));
    }
}

const MOST_TOLD: usize = 20;

fn tell(said: &Said) {
    match said {
        Said::Asked { host, port, allowed: false, why } => {
            output::tell(&format!("`{host}:{port}` was refused: {why}"));
        }
        Said::Lost { stream, why } => output::tell(&format!(
            "Some of what it printed was lost: {stream} took no more ({why}). Lead it somewhere with room."
        )),
        _ => {}
    }
}

const SHOWN: &str = "The system's programs, tool chains on the PATH and the workspace are there; install it, or name its path.";

const RUNNABLE: &str = "It needs the mode of a program (`chmod +x`) and an interpreter that is in the jail; a folder is none.";

const ENTERED: &str = "Give it a mode by which its owner may enter it, as by `chmod u+rx`, or name another with `--workspace`.";

/// How one limit is set.
fn example(cause: Cause) -> Option<&'static str> {
    match cause {
        Cause::Wall => Some("wall=10m"),
        Cause::Output => Some("output=256M"),
        Cause::Memory => Some("memory=8G"),
        Cause::Disk => Some("disk=16G"),
        Cause::Cpu => Some("cpu=10m"),
        Cause::Pids => Some("pids=4096"),
        Cause::Pipes | Cause::Exposed | Cause::Asked => None,
    }
}

/// Why, and what to do about it.
fn killed(cause: Cause, bounds: &Bounds) -> String {
    let how = example(cause).map(|limit| format!(" One is set as with `--limit {limit}`."));
    bounds.ended(cause) + &how.unwrap_or_default()
}

/// What a program that met a limit itself was ended by. Where the kernel ends one for its memory, the whole jail was ended.
fn at_limit(signal: i32, bounds: &Bounds) -> Option<String> {
    let (cause, told) = bounds.at_signal(signal).filter(|(cause, _)| *cause != Cause::Memory)?;
    let how = example(cause).map(|limit| format!(" One is set as with `--limit {limit}`."));
    Some(told + &how.unwrap_or_default())
}

/// As a shell tells it; why the jail was ended goes to standard error.
fn end(ending: Ending, command: &str, bounds: &Bounds) -> ExitCode {
    let (code, told) = match ending {
        Ending::Exited(code) => (code, at_limit(code - 128, bounds)),
        Ending::Signalled(signal) => (128 + signal, at_limit(signal, bounds)),
        Ending::NotFound => (127, Some(format!("there is no `{command}` in the jail. {SHOWN}"))),
        Ending::NotRunnable => {
            (126, Some(format!("`{command}` is there and cannot be run in the jail. {RUNNABLE}")))
        }
        Ending::NotEntered => {
            (126, Some(format!("The workspace cannot be entered in the jail. {ENTERED}")))
        }
        Ending::Killed(Cause::Wall) => (124, Some(killed(Cause::Wall, bounds))),
        Ending::Killed(cause) => (137, Some(killed(cause, bounds))),
    };
    if let Some(told) = told {
        output::tell(&told);
    }
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_ones_own_only_with_its_git_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (root, user) = (folder.path(), fs::metadata(folder.path()).unwrap().uid());
        assert!(!is_own(root, user), "there is none");
        fs::create_dir(root.join(".git")).unwrap();
        assert!(is_own(root, user));
        assert!(!is_own(root, user + 1));
        let other = root.join("other");
        fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink("/proc/1", other.join(".git")).unwrap();
        let is_ours = fs::metadata("/proc/1").unwrap().uid() == user;
        assert_eq!(is_own(&other, user), is_ours, "a link is as what it leads to");
    }
}
