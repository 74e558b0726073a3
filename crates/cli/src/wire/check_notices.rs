//! What a person should know of the checks before a run starts: programs that are not there, and that there are no checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use sequester_core::check::{Kind, programs};
use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use sequester_core::run::Started;
use sequester_sandbox::{Limits, Policy};

use super::command::{self, Leash};
use super::jail::Machine;
use super::workspace::Workspace;

const WALL: Duration = Duration::from_secs(20);
/// Programs that are looked for.
const MOST: usize = 100;

/// Checks that cannot run, or that there are none. `root` is the repository's.
pub(crate) fn check_notices(started: &Started, root: &Path, machine: &Machine) -> Vec<String> {
    let commands = commands(started);
    if commands.is_empty() {
        let has_choice = started.settings.checks_off.len() < Kind::PROJECT.len();
        return has_choice.then(|| NO_CHECKS.to_owned()).into_iter().collect();
    }
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for command in &commands {
        for program in programs(command) {
            users.entry(program).or_default().push(command);
        }
    }
    let missing = missing(root, machine, users.keys().copied().take(MOST));
    let told = missing
        .iter()
        .filter_map(|program| Some(missing_program_notice(program, users.get(program.as_str())?)));
    told.collect()
}

/// That commands are not run, and why.
pub(crate) fn missing_program_notice(program: &str, commands: &[&str]) -> String {
    let commands = commands.join("`, `");
    format!("`{program}` is not installed or not visible in the sandbox. Not run: `{commands}`.")
}

/// Those of the project that are switched on, and those of the tasks that are part of the run.
fn commands(started: &Started) -> BTreeSet<&str> {
    let settings = &started.settings;
    let is_on = |kind: &Kind| !settings.checks_off.contains(kind);
    let project = settings.checks.iter().filter(|(kind, _)| is_on(kind));
    let tasks = started.tasks.iter().filter(|task| task.left_out.is_none());
    let own = tasks.flat_map(|task| &task.checks).map(String::as_str);
    project.map(|(_, command)| command.as_str()).chain(own).collect()
}

/// Looked for where checks run: in a sandbox of the profile `validate`. Nothing where there is no such sandbox, as the run
/// itself says then.
///
/// The workspace is an attempt's, so that the next start removes what a killed process leaves.
fn missing<'a>(
    root: &Path,
    machine: &Machine,
    programs: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let names: Vec<&str> = programs.collect();
    if names.is_empty() || machine.make_state().is_err() {
        return Vec::new();
    }
    let Ok(workspace) = Workspace::empty(root, machine) else { return Vec::new() };
    let policy = Policy {
        confinement: Confinement::Validate,
        hosts: Vec::new(),
        workspace: sequester_sandbox::Workspace::Layers(workspace.layers.clone()),
        limits: Limits { wall: WALL, ..Limits::default() },
        grants: Grants::default(),
        store: machine.store(),
    };
    let script = format!(
        "for name in {}; do command -v \"$name\" >/dev/null 2>&1 || echo \"$name\"; done",
        names.join(" ")
    );
    let ran = command::run(machine, &policy, &script, (&Leash::default(), &drop));
    let printed = ran.ok().filter(|ran| ran.code == 0).map(|ran| ran.output).unwrap_or_default();
    printed.lines().filter(|line| names.contains(line)).map(str::to_owned).collect()
}

const NO_CHECKS: &str = "No check was found: the project's tests, types and lint are not known, and no task names a command. \
    Set `checks.tests` in sequester.toml, or `checks: [COMMAND]` for a task of a native plan.";
