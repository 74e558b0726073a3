//! Commits, written as objects: the same words give the same commit.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::PathBuf;

use sequester_core::id::CommitId;
use sequester_core::moment::Moment;
use sequester_core::printable::clean;
use sequester_core::repository::{Error, ErrorKind};

use crate::name::{Kind, Name};
use crate::objects::Objects;
use crate::program::{Program, broken};

use super::edit::Writer;

/// Who commits where nobody is configured.
pub(super) const NOBODY: &str = "sequester <sequester@localhost>";

/// Who the person is by the environment, and where their own configuration lies.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// HOME.
    pub folder: Option<PathBuf>,
    /// XDG_CONFIG_HOME.
    pub config: Option<PathBuf>,
    /// GIT_AUTHOR_NAME, which comes before what is configured.
    pub name: Option<String>,
    /// GIT_AUTHOR_EMAIL.
    pub address: Option<String>,
}

/// What a commit says.
pub(crate) struct Words<'a> {
    pub(crate) tree: Name,
    pub(crate) parents: Vec<Name>,
    pub(crate) author: &'a str,
    pub(crate) at: Moment,
    pub(crate) message: &'a str,
}

pub(crate) fn write(objects: &Objects, words: &Words<'_>) -> Result<CommitId, Error> {
    if !is_person(words.author) {
        let author = words.author.escape_debug();
        let message = format!("`{author}` is no author. Write `Name <address>`.");
        return Err(Error::new(ErrorKind::Denied, message));
    }
    // A commit of what is not there would only be found out later.
    objects.tree(&words.tree)?;
    let mut text = format!("tree {}\n", words.tree);
    for parent in &words.parents {
        objects.commit(parent)?;
        let _ = writeln!(text, "parent {parent}");
    }
    let who = format!("{} {} +0000", words.author, words.at.0 / 1_000);
    let _ = writeln!(text, "author {who}\ncommitter {who}\n\n{}", clean(words.message).trim_end());
    let mut writer = Writer::new(objects);
    let name = writer.add(Kind::Commit, text.as_bytes())?;
    writer.finish()?;
    Ok(name.to_string().as_str().into())
}

/// The first commit that it was made on.
pub(crate) fn parent_of(objects: &Objects, commit: &Name) -> Result<Option<Name>, Error> {
    let bytes = objects.commit(commit)?;
    let text = String::from_utf8_lossy(&bytes);
    let head = text.split("\n\n").next().unwrap_or_default();
    let parent = head.lines().find_map(|line| line.strip_prefix("parent "));
    parent.map(|parent| objects.format().read(parent)).transpose()
}

/// The tree of a commit.
pub(crate) fn tree_of(objects: &Objects, commit: &Name) -> Result<Name, Error> {
    let bytes = objects.commit(commit)?;
    let text = std::str::from_utf8(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default());
    let tree = text.ok().and_then(|line| line.strip_prefix("tree "));
    let tree = tree.ok_or_else(|| broken(format!("the commit `{commit}` is damaged.")))?;
    objects.format().read(tree)
}

/// Whether it is `Name <address>`, and nothing that could be taken for another line.
fn is_person(text: &str) -> bool {
    let parts = text.strip_suffix('>').and_then(|text| text.split_once(" <"));
    let odd = |text: &str| text.chars().any(|c| c.is_control() || matches!(c, '<' | '>'));
    parts.is_some_and(|(name, address)| !odd(name) && !odd(address) && !name.trim().is_empty())
}

/// Who the person is by the environment, else by the configuration, of which values are read and nothing else.
pub(super) fn configured(program: &Program, home: &Home) -> Result<String, Error> {
    let value = |key: &str| -> Result<Option<String>, Error> {
        let mut command = program.command(&["config", "--get", key]);
        command.env_remove("GIT_CONFIG_NOSYSTEM").env_remove("GIT_CONFIG_SYSTEM");
        command.env_remove("GIT_CONFIG_GLOBAL");
        let places = [("HOME", &home.folder), ("XDG_CONFIG_HOME", &home.config)];
        for (key, place) in places {
            command.envs(place.as_ref().map(|place| (OsStr::new(key), place.as_os_str())));
        }
        let output = command.output();
        let output =
            output.map_err(|error| broken(format!("`git` could not be started: {error}.")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(plain(&text).filter(|_| output.status.success()))
    };
    let known = |given: &Option<String>, key: &str| match given.as_deref().and_then(plain) {
        Some(given) => Ok(Some(given)),
        None => value(key),
    };
    Ok(match (known(&home.name, "user.name")?, known(&home.address, "user.email")?) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        _ => NOBODY.to_owned(),
    })
}

/// As git does: what would end the name or the line goes.
fn plain(text: &str) -> Option<String> {
    let text: String =
        text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
