//! What this machine gives: the jail of every profile is tried, models are looked for, the project's checks are run.

mod check;
mod jails;
mod kernel;
mod models;

use std::collections::BTreeMap;
use std::env;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use sequester_core::limits::Limit;
use sequester_core::profile::Guarantee;
use sequester_git::Repo;
use sequester_sandbox::Keepers;
use serde::Serialize;

use super::jail::Machine;
use super::trust::Trust;
use super::{Agents, Settings, config, signing};
use crate::failure::Failure;
use crate::output;
pub(crate) use check::{Check, Ended};
use jails::Jails;
use kernel::Kernel;
pub(crate) use models::Model;

/// Its fields are the JSON shape.
#[derive(Serialize)]
pub(crate) struct Checkup {
    pub(crate) models: Vec<Model>,
    /// By profile, whether each guarantee that it needs is kept.
    pub(crate) guarantees: BTreeMap<&'static str, BTreeMap<Guarantee, bool>>,
    /// By profile, whether a jail of it starts.
    pub(crate) jails: BTreeMap<&'static str, bool>,
    /// What each way to run a subagent keeps to.
    pub(crate) executors: BTreeMap<&'static str, BTreeMap<&'static str, bool>>,
    pub(crate) limits: Limits,
    pub(crate) engine: &'static str,
    pub(crate) problems: Vec<Problem>,
    /// What is so, and may surprise.
    pub(crate) facts: Vec<String>,
    pub(crate) machine: About,
    pub(crate) checks: Vec<Check>,
}

#[derive(Serialize)]
pub(crate) struct About {
    pub(crate) kernel: String,
    pub(crate) system: String,
    pub(crate) root: bool,
    pub(crate) git: Option<String>,
    /// The public key that signs this user's runs, once there is one.
    pub(crate) signing_key: Option<String>,
    pub(crate) capabilities: BTreeMap<String, bool>,
}

#[derive(Serialize)]
pub(crate) struct Limits {
    /// Of contexts, turns and the like, in force here.
    #[serde(flatten)]
    pub(crate) subagent: BTreeMap<Limit, Option<u64>>,
    /// How many tasks run at once.
    pub(crate) jobs: usize,
    pub(crate) jail: BTreeMap<&'static str, u64>,
    /// Who limits what: `kernel` by control groups, `rlimit`, `watched`.
    pub(crate) kept_by: Keepers,
    /// `v1`, `v2` or `none`, with the controllers that can be used.
    pub(crate) cgroups: String,
}

/// What is wrong, and what to do.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Problem {
    fn of(failure: &Failure) -> Self {
        let place = match failure.place() {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        let message = format!("{}{place}", failure.message());
        Self { message, hint: failure.hint().to_owned() }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wanted {
    All,
    NoChecks,
}

impl Checkup {
    pub(crate) fn make(root: &Path, wanted: Wanted) -> Result<Self, Failure> {
        let search = env::var_os("PATH").unwrap_or_default();
        let mut problems = Vec::new();
        let git = Repo::git_version(root, &search).ok();
        if git.as_deref().is_none_or(is_old) {
            problems.push(Problem {
                message: git.as_ref().map_or_else(
                    || "`git` was not found in the folders of PATH.".to_owned(),
                    |git| format!("`git` is version {git}."),
                ),
                hint: "Install git 2.38 or newer.".to_owned(),
            });
        }
        let settings = settings(root, &mut problems);
        let machine = Machine::look();
        let kernel = Kernel::look();
        announce("trying the jail of every profile, which takes a few seconds.");
        let jails = Jails::try_out(&machine, &kernel, &mut problems)?;
        announce("looking for models.");
        let (models, auto) = models::look(&settings);
        problems.extend(auto);
        let checks = match wanted {
            Wanted::All => check::run_all(root, &settings, &machine, &mut problems),
            Wanted::NoChecks => Vec::new(),
        };
        let mut facts = jails.facts();
        facts.extend((wanted == Wanted::All && checks.is_empty()).then(|| NO_CHECKS.to_owned()));
        let limits = Limits {
            subagent: Limit::ALL
                .into_iter()
                .map(|limit| (limit, limit_of(&settings, limit)))
                .collect(),
            jobs: settings.jobs(),
            jail: jails::limits(),
            kept_by: jails.keepers.clone(),
            cgroups: jails.cgroups(),
        };
        Ok(Self {
            models,
            executors: BTreeMap::from([("native", jails.promises())]),
            limits,
            engine: "embedded",
            problems,
            facts,
            machine: About {
                kernel: kernel.release,
                system: kernel.system,
                root: machine.surroundings.owner.user == 0,
                git,
                signing_key: signing::own_key().ok().flatten().map(|key| key.to_string()),
                capabilities: jails.capabilities(),
            },
            guarantees: jails.guarantees,
            jails: jails.starts,
            checks,
        })
    }
}

/// Where somebody sits and waits.
fn announce(what: &str) {
    if io::stderr().is_terminal() {
        output::tell(what);
    }
}

const NO_CHECKS: &str = "The project has no checks: none is configured, and no manifest names one. \
    `checks.tests = \"COMMAND\"` in `sequester.toml` sets one.";

fn limit_of(settings: &Settings, limit: Limit) -> Option<u64> {
    settings.set_limits().get(&limit).copied().or(limit.default())
}

/// Configuration that cannot be used is a problem; the rest can be looked at without.
fn settings(root: &Path, problems: &mut Vec<Problem>) -> Settings {
    let (configuration, trust) = (config::folder(), Trust::look());
    let configuration = configuration.as_deref();
    let agents = Agents::read(root, configuration, &trust);
    let faulty = agents.faults().into_iter().map(Failure::of_file);
    problems.extend(faulty.map(|failure| Problem::of(&failure)));
    let loaded = Settings::load(root, configuration, &agents, &trust);
    if let Ok(settings) = &loaded
        && let Some(failure) = settings.unknown_workflow(&agents)
    {
        problems.push(Problem::of(&failure));
    }
    loaded.unwrap_or_else(|failure| {
        problems.extend(failure.each().map(|failure| Problem::of(&failure)));
        Settings::default()
    })
}

/// Older than 2.38, which merges without a working tree.
fn is_old(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version < (2, 38)
}
