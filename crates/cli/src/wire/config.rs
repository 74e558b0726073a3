//! Configuration: `sequester.toml` of the repository, which is not trusted, and the user's own `config.toml`.

mod file;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use sequester_core::agent::{Registry, Role};
use sequester_core::context::Share;
use sequester_core::fault::{Code, Fault, FileFault};
use sequester_core::limits::{Limit, Limits};
use sequester_core::protected::Grants;
use sequester_core::recall::Relevance;
use sequester_core::record::Switches;
use sequester_core::source::{Origin, Source};

use super::agents::Agents;
use super::trust::{self, Asking, Trust, Untrusted};
use crate::failure::Failure;
use crate::render::profiles::told;

/// What one file sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    model: Option<String>,
    /// By alias: `strong`, `cheap`, `default`.
    models: BTreeMap<String, String>,
    /// The models of agents, by the agent's name.
    agents: BTreeMap<String, String>,
    limits: BTreeMap<Limit, u64>,
    hosts: Vec<String>,
    /// Protected names that writers may change.
    grants: Grants,
    search: Option<String>,
    /// Commands that print a provider's key.
    keys: BTreeMap<String, String>,
    /// Commands that check the project, by name.
    checks: BTreeMap<String, Vec<String>>,
    /// What later versions read.
    later: BTreeMap<String, toml::Value>,
}

/// Both files: what the repository leaves open the user decides, then what is built in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    repository: Config,
    /// Whether the person accepted the repository's file as it stands: then it may raise what it else may only lower.
    accepted: bool,
    user: Config,
    hosts: Vec<String>,
}

/// The repository's.
pub(crate) const FILE: &str = "sequester.toml";
const BYTES: u64 = 1 << 20;

impl Settings {
    /// `agents` are those that the files may speak of.
    pub(crate) fn load(
        root: &Path,
        configuration: Option<&Path>,
        agents: &Agents,
        trust: &Trust,
    ) -> Result<Self, Failure> {
        let file = Untrusted { root, path: FILE };
        let (repository, origin) =
            match read(&root.join(FILE), &Origin::Repository(FILE.to_owned()))? {
                Some(text) => {
                    let origin = trust.origin(&file, text.as_bytes());
                    (parse(&text, &origin, agents.registry())?, origin)
                }
                None => (Config::default(), Origin::BuiltIn),
            };
        let user = configuration.map(|folder| folder.join("config.toml"));
        let user = user.map(|path| {
            let origin = Origin::User(path.display().to_string());
            let text = read(&path, &origin)?;
            text.map(|text| parse(&text, &origin, agents.registry())).transpose()
        });
        let user = user.transpose()?.flatten().unwrap_or_default();
        Ok(Self::of(repository, &origin, user))
    }

    /// What each file sets; a repository's that is not accepted sets no hosts.
    fn of(repository: Config, origin: &Origin, user: Config) -> Self {
        let mut hosts = user.hosts.clone();
        hosts.extend(repository.hosts.iter().filter(|host| !user.hosts.contains(host)).cloned());
        let accepted = matches!(origin, Origin::Accepted(_));
        Self { repository, accepted, user, hosts }
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits::default().with(&self.set_limits())
    }

    /// How many tasks run at once where no flag says so.
    pub(crate) fn jobs(&self) -> usize {
        let set = self.later("jobs").and_then(toml::Value::as_integer);
        let set = set.and_then(|jobs| usize::try_from(jobs).ok()).filter(|jobs| *jobs > 0);
        set.unwrap_or_else(|| thread::available_parallelism().map_or(2, usize::from).min(8))
    }

    /// How long a function may be that the built-in writer writes; nothing where nobody says so.
    pub(crate) fn function_lines(&self) -> Option<u64> {
        let set = self.later("function_lines").and_then(toml::Value::as_integer)?;
        u64::try_from(set).ok()
    }

    /// The limits that somebody set; the rest has its default. The repository lowers the user's; what it sets above a
    /// default is there only where it is accepted, and then counts.
    pub(crate) fn set_limits(&self) -> BTreeMap<Limit, u64> {
        let mut limits = self.user.limits.clone();
        for (limit, value) in &self.repository.limits {
            let set = limits.entry(*limit).or_insert(*value);
            let raises = self.accepted && limit.default().is_some_and(|default| *value > default);
            *set = if raises { *value } else { (*set).min(*value) };
        }
        limits
    }

    /// Hosts that profiles with a network may reach.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Protected names that writers may change; a repository's that is not accepted names none.
    pub(crate) fn grants(&self) -> Grants {
        let mut grants = self.user.grants.clone();
        grants.extend(&self.repository.grants);
        grants
    }

    /// A search endpoint's address, or `provider` for the model's own.
    pub(crate) fn search(&self) -> Option<&str> {
        self.first(|file| file.search.as_ref())
    }

    /// A value that the run reads; the repository's word goes before the user's.
    pub(crate) fn later(&self, key: &str) -> Option<&toml::Value> {
        self.repository.later.get(key).or_else(|| self.user.later.get(key))
    }

    /// What is wrong with the workflow that the files name.
    pub(crate) fn unknown_workflow(&self, agents: &Agents) -> Option<Failure> {
        let named = self.later("workflow").and_then(toml::Value::as_str)?;
        agents.workflow(named).err()
    }

    /// Whether the repository's file sets this key, and the person has not accepted that file.
    pub(crate) fn is_set_by_untrusted_repository(&self, key: &str) -> bool {
        !self.accepted && self.repository.later.contains_key(key)
    }

    /// How far records travel; what a file says was looked at when it was read.
    pub(crate) fn share(&self) -> Share {
        let set = self.later("share").and_then(toml::Value::as_str);
        set.and_then(Share::parse).unwrap_or_default()
    }

    /// Which kinds of records pass from task to task; the repository's word goes before the user's, kind by kind.
    pub(crate) fn records(&self) -> Switches {
        let mut switches = Switches::default();
        for file in [&self.user, &self.repository] {
            let set = |kind: &str| file.later.get("records")?.get(kind)?.as_bool();
            let slots = [
                &mut switches.summaries,
                &mut switches.notes,
                &mut switches.artifacts,
                &mut switches.backpack,
            ];
            for (kind, slot) in file::RECORDS.into_iter().zip(slots) {
                *slot = set(kind).unwrap_or(*slot);
            }
        }
        switches
    }

    /// By what records are chosen.
    pub(crate) fn relevance(&self) -> Relevance {
        let set = self.later("relevance").and_then(toml::Value::as_str);
        set.and_then(Relevance::parse).unwrap_or_default()
    }

    /// The commands that print keys, by provider.
    pub(crate) fn keys(&self) -> &BTreeMap<String, String> {
        &self.user.keys
    }

    /// Commands that check the project, by name; the repository's word goes before the user's.
    pub(crate) fn checks(&self) -> BTreeMap<&str, &[String]> {
        let files = [&self.user, &self.repository].into_iter();
        let checks = files.flat_map(|file| &file.checks);
        checks.map(|(name, commands)| (name.as_str(), commands.as_slice())).collect()
    }

    fn first<'a>(&'a self, take: impl Fn(&'a Config) -> Option<&'a String>) -> Option<&'a str> {
        take(&self.repository).or_else(|| take(&self.user)).map(String::as_str)
    }

    /// What an alias stands for; a name that is none, or that nobody set, stays as it is.
    fn expand<'a>(&'a self, name: &'a str) -> &'a str {
        let general = || (name == "default").then(|| self.first(|file| file.model.as_ref()));
        let set = self.first(|file| file.models.get(name));
        set.or_else(|| general().flatten()).unwrap_or(name)
    }
}

/// Which models to try for a subagent, in that order. Flags are `M`, `A,B` or `AGENT=M`; the last one wins. Each key has
/// the precedence of its file; a setting for one agent goes before one for all, and what a built-in agent's own file
/// says before what is said for all.
pub(crate) fn resolve_model(
    flags: &[String],
    task: Option<&str>,
    role: &Role,
    settings: &Settings,
) -> Vec<String> {
    let own_flag =
        || flags.iter().rev().find_map(|flag| flag.strip_prefix(&role.name)?.strip_prefix('='));
    let any_flag = || flags.iter().rev().find(|flag| !flag.contains('=')).map(String::as_str);
    let of_role = |built_in: bool| {
        role.model.as_deref().filter(|_| (role.origin == Origin::BuiltIn) == built_in)
    };
    let chosen = own_flag()
        .or_else(any_flag)
        .or(task)
        .or_else(|| of_role(false))
        .or_else(|| settings.first(|file| file.agents.get(&role.name)))
        .or_else(|| of_role(true))
        .unwrap_or("default");
    let names = |list: &str| -> Vec<String> {
        list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let mut models: Vec<String> = Vec::new();
    for model in names(chosen).iter().flat_map(|name| names(settings.expand(name))) {
        let model = if model == "default" { "auto".to_owned() } else { model };
        if !models.contains(&model) {
            models.push(model);
        }
    }
    models
}

/// Whether `--model` flags change the models of an agent: one for all agents, or one for this.
pub(crate) fn names_agent(flags: &[String], agent: &str) -> bool {
    flags.iter().any(|flag| flag.split_once('=').is_none_or(|(name, _)| name == agent))
}

/// The folder of the user's own configuration.
pub(crate) fn folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("sequester"))
}

/// Nothing where there is no file.
fn read(path: &Path, origin: &Origin) -> Result<Option<String>, Failure> {
    match read_text(path, origin) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("The configuration cannot be read: {error}.");
            let hint = "Make it a text file of at most 1 MB that you may read, or remove it.";
            Err(Failure::input(Code::Unreadable, origin, message, hint))
        }
    }
}

fn parse(text: &str, origin: &Origin, agents: &Registry) -> Result<Config, Failure> {
    let (config, faults) = Config::parse(text, origin, agents);
    Failure::of_files(&faults).map_or(Ok(config), Err)
}

/// What the repository's configuration sets that it may not.
pub(crate) fn asked(root: &Path, agents: &Registry) -> Result<Option<Asking>, Failure> {
    let origin = Origin::Repository(FILE.to_owned());
    let Some(text) = read(&root.join(FILE), &origin)? else { return Ok(None) };
    let plain = |faults: Vec<FileFault>| -> Vec<Fault> {
        faults.into_iter().map(|one| one.fault).collect()
    };
    let doubted = Config::parse(&text, &origin, agents).1;
    let (config, accepted) = Config::parse(&text, &Origin::Accepted(FILE.to_owned()), agents);
    let limits = config.limits.iter().map(|(limit, value)| told(*limit, *value)).collect();
    let mut grants = trust::Grants::from([
        ("hosts", config.hosts),
        ("limits", limits),
        ("protected", config.grants.iter().map(str::to_owned).collect()),
        ("search", config.search.into_iter().collect()),
    ]);
    grants.retain(|_, values| !values.is_empty());
    Ok(Asking::of(Source { origin, text }, plain(doubted), plain(accepted), grants))
}

/// A link is followed where the user made it.
fn read_text(path: &Path, origin: &Origin) -> io::Result<String> {
    let found = if origin.is_trusted() { fs::metadata(path) } else { fs::symlink_metadata(path) }?;
    if found.is_symlink() {
        return Err(io::Error::other("it is a link, and a repository's links are not followed"));
    }
    if !found.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES {
        return Err(io::Error::other("it is larger than 1 MB"));
    }
    Ok(text)
}
