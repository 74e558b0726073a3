//! Configuration: `sequester.toml` of the repository, which is not trusted, and the user's own `config.toml`.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sequester_core::agent::{Registry, Role};
use sequester_core::fault::Code;
use sequester_core::limits::{Limit, Limits};
use sequester_core::source::Origin;

use crate::failure::Failure;

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
    search: Option<String>,
    /// Commands that print a provider's key.
    keys: BTreeMap<String, String>,
    /// What later versions read.
    later: BTreeMap<String, toml::Value>,
}

/// Both files: what the repository leaves open the user decides, then what is built in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    repository: Config,
    user: Config,
}

const BYTES: u64 = 1 << 20;

impl Settings {
    /// `agents` are those that the files may speak of.
    pub(crate) fn load(
        root: &Path,
        configuration: Option<&Path>,
        agents: &Registry,
    ) -> Result<Self, Failure> {
        let repository = Origin::Repository("sequester.toml".to_owned());
        let repository = read(&root.join("sequester.toml"), &repository, agents)?;
        let user = configuration.map(|folder| folder.join("config.toml"));
        let user = user.map(|path| read(&path, &Origin::User(path.display().to_string()), agents));
        Ok(Self { repository, user: user.transpose()?.unwrap_or_default() })
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits::default().with(&self.set_limits())
    }

    /// The limits that somebody set; the rest has its default. The repository lowers the user's, never raises them.
    pub(crate) fn set_limits(&self) -> BTreeMap<Limit, u64> {
        let mut limits = self.user.limits.clone();
        for (limit, value) in &self.repository.limits {
            let set = limits.entry(*limit).or_insert(*value);
            *set = (*set).min(*value);
        }
        limits
    }

    /// Hosts that profiles with a network may reach.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.user.hosts
    }

    /// A search endpoint's address, or `provider` for the model's own.
    pub(crate) fn search(&self) -> Option<&str> {
        self.user.search.as_deref()
    }

    /// The commands that print keys, by provider.
    pub(crate) fn keys(&self) -> &BTreeMap<String, String> {
        &self.user.keys
    }

    /// Commands that check the project, by name; the repository's word goes before the user's.
    pub(crate) fn checks(&self) -> BTreeMap<&str, Vec<&str>> {
        let tables = [&self.user, &self.repository]
            .into_iter()
            .filter_map(|file| file.later.get("checks").and_then(toml::Value::as_table));
        tables.flatten().map(|(name, value)| (name.as_str(), texts(value))).collect()
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

/// One text, or a list of them.
fn texts(value: &toml::Value) -> Vec<&str> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(toml::Value::as_str).collect()
}

/// The folder of the user's own configuration.
pub(crate) fn folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("sequester"))
}

/// A file that is not there sets nothing.
fn read(path: &Path, origin: &Origin, agents: &Registry) -> Result<Config, Failure> {
    let text = match read_text(path, origin) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => {
            let message = format!("The configuration cannot be read: {error}.");
            let hint = "Make it a text file of at most 1 MB that you may read, or remove it.";
            return Err(Failure::input(Code::Unreadable, origin, message, hint));
        }
    };
    let (config, faults) = Config::parse(&text, origin, agents);
    Failure::of_files(&faults).map_or(Ok(config), Err)
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
