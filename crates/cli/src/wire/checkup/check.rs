//! The project's own checks, tried where subagents run them: in the jail of `validate`. They are the project's code, so
//! they never run anywhere else.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use sequester_core::check::Kind;
use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use sequester_sandbox::{Limits, Policy, Workspace};
use sequester_survey::{Folder, detect_checks};
use serde::Serialize;

use super::Problem;
use crate::failure::Failure;
use crate::output;
use crate::wire::Settings;
use crate::wire::command::{self, Leash};
use crate::wire::jail::Machine;
use crate::wire::project::is_installed;

#[derive(Serialize)]
pub(crate) struct Check {
    /// `types`, `lint`, `tests` or `security`.
    pub(crate) name: String,
    pub(crate) command: String,
    /// The file that names it.
    pub(crate) from: String,
    #[serde(flatten)]
    pub(crate) ended: Ended,
}

#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Ended {
    Passed,
    /// With the last lines that it printed.
    Failed {
        why: String,
        output: String,
    },
    NotTried {
        why: String,
    },
}

/// All of them together: a repository decides how many there are and how long each takes.
const WALL: Duration = Duration::from_mins(10);
const MOST: usize = 16;
/// Of what a check printed, its end.
const SHOWN_LINES: usize = 12;
const SHOWN_BYTES: usize = 4 << 10;

pub(super) fn run_all(
    root: &Path,
    settings: &Settings,
    machine: &Machine,
    problems: &mut Vec<Problem>,
) -> Vec<Check> {
    let end = Instant::now() + WALL;
    let mut checks = Vec::new();
    let mut found = find(root, settings);
    if found.len() > MOST {
        problems.push(Problem {
            message: format!("There are {} checks, of which {MOST} were tried.", found.len()),
            hint: "Let one command run several of them.".to_owned(),
        });
        found.truncate(MOST);
    }
    for (name, command, from) in found {
        let left = end.saturating_duration_since(Instant::now());
        let ended = if left.is_zero() {
            Ended::NotTried { why: "those before it took all of the 10 minutes.".to_owned() }
        } else {
            output::tell(&format!(
                "trying `{command}` in the jail of `validate`; `--no-checks` leaves it out."
            ));
            run(root, &command, left, machine)
                .unwrap_or_else(|failure| Ended::NotTried { why: failure.message().to_owned() })
        };
        if let Ended::Failed { why, .. } | Ended::NotTried { why } = &ended {
            problems.push(Problem {
                message: format!("The check `{name}` does not pass in the jail: {why}"),
                hint: HINT.to_owned(),
            });
        }
        checks.push(Check { name, command, from, ended });
    }
    checks
}

/// Nothing of the repository's stands in it: a line is pasted into a shell, and a terminal may break it anywhere.
const HINT: &str = "`sequester sandbox --profile validate -- sh -c COMMAND` runs a command there by hand. There is no \
    network: what it needs must be on the PATH, or fetched or built before.";

/// Those that are configured, and of the other kinds those that the project names.
fn find(root: &Path, settings: &Settings) -> Vec<(String, String, String)> {
    let set = settings.checks();
    let joined =
        set.iter().filter_map(|(name, commands)| Some((Kind::parse(name)?, commands.join(" && "))));
    let configured: BTreeMap<Kind, String> = joined.collect();
    let found = Folder::list(root).map(|folder| detect_checks(&folder, &configured, &is_installed));
    let named = |kind: Kind| found.iter().flatten().filter(move |one| one.kind == kind);
    let mut checks = Vec::new();
    for kind in Kind::PROJECT {
        let one =
            |command: &str, from: &str| (kind.to_string(), command.to_owned(), from.to_owned());
        match set.get(kind.as_str()) {
            Some(commands) => checks.extend(commands.iter().map(|it| one(it, "configuration"))),
            None => checks
                .extend(named(kind).filter_map(|it| Some(one(it.command.as_ref()?, &it.from)))),
        }
    }
    checks
}

fn run(root: &Path, command: &str, wall: Duration, machine: &Machine) -> Result<Ended, Failure> {
    let policy = Policy {
        confinement: Confinement::Validate,
        hosts: Vec::new(),
        workspace: Workspace::Folder(machine.folder(root)?),
        limits: Limits { wall, ..Limits::default() },
        grants: Grants::default(),
        store: machine.store(),
    };
    let ran = command::run(machine, &policy, command, (&Leash::default(), &drop))?;
    let why = match (ran.limit, ran.code) {
        (Some(limit), _) => limit,
        (None, 0) => return Ok(Ended::Passed),
        (None, 127) => "a program is not there.".to_owned(),
        (None, code @ 129..) => format!("it was ended by signal {}.", code - 128),
        (None, code) => format!("it ended with {code}."),
    };
    Ok(Ended::Failed { why, output: tail(&ran.output).to_owned() })
}

fn tail(printed: &str) -> &str {
    let mut from = printed.len().saturating_sub(SHOWN_BYTES);
    while !printed.is_char_boundary(from) {
        from += 1;
    }
    let shown = printed[from..].trim_end();
    let lines = shown.rmatch_indices('\n').nth(SHOWN_LINES - 1);
    lines.map_or(shown, |(at, _)| &shown[at + 1..])
}
