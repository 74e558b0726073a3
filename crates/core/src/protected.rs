//! Names that make editors, agents, git or a build service do something. No change may hold one, unless it is
//! granted.
//!
//! Not among them: `.gitattributes`, `.gitignore` and `.gitmodules`. Tasks edit them rightly, and what they could start
//! stands in `.git/config`, which is shut.

mod grants;
mod instructions;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::LazyLock;

use sequester_secrets::fs_name;
use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::secret::is_secret_name;

pub use grants::{Error, Grants};
pub use instructions::{INSTRUCTIONS, instructed_program};

/// What stands at a protected name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
}

/// Who may let a change hold a protected name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grantor {
    /// The runtime commits, and its settings are the person's.
    Nobody,
    Person,
    /// Also a task, for files of build services that it names.
    Task,
}

/// A name that no change may hold unless it is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectedName {
    pub name: &'static str,
    /// Whether it is protected at this path from the root alone, and not wherever it lies.
    pub is_at_path: bool,
    pub kind: Kind,
    pub grantor: Grantor,
    /// Whether a placeholder keeps it in a folder of the person's.
    pub is_held: bool,
    /// Which program does what with it.
    pub reason: &'static str,
}

const LIST: &str = include_str!("protected/names.txt");

/// All of them, in the order of the list.
pub static NAMES: LazyLock<Vec<ProtectedName>> =
    LazyLock::new(|| LIST.lines().filter_map(ProtectedName::read).collect());

impl ProtectedName {
    /// One line of the list; nothing where it holds none.
    fn read(line: &'static str) -> Option<Self> {
        if line.starts_with('#') {
            return None;
        }
        let (name, rest) = line.split_once(' ')?;
        let (grantor, rest) = rest.trim_start().split_once(' ')?;
        let (absent, reason) = rest.trim_start().split_once(' ')?;
        let is_held = match absent {
            "hold" => true,
            "tell" => false,
            _ => return None,
        };
        let grantor = match grantor {
            "nobody" => Grantor::Nobody,
            "person" => Grantor::Person,
            "task" => Grantor::Task,
            _ => return None,
        };
        let kind = if name.ends_with('/') { Kind::Folder } else { Kind::File };
        let is_at_path = name.trim_end_matches('/').contains('/');
        let (name, reason) = (name.trim_matches('/'), reason.trim_start());
        Some(Self { name, is_at_path, kind, grantor, is_held, reason })
    }

    pub fn find(name: &str) -> Option<&'static Self> {
        NAMES.iter().find(|known| known.name == name)
    }

    /// Those that cover a path.
    pub fn covering(path: &str) -> impl Iterator<Item = &'static Self> {
        let anywhere = fs_name::parts(path).filter_map(|part| INDEX.anywhere.find(&part));
        let top = fs_name::parts(path).next().and_then(|part| INDEX.top.find(&part));
        let paths = INDEX.paths.iter().copied().filter(move |known| known.covers(path));
        anywhere.chain(top).chain(paths)
    }

    /// Whether a path is this name, or lies in it.
    pub fn covers(&self, path: &str) -> bool {
        if self.is_at_path { covers_from_root(self.name, path) } else { covers(self.name, path) }
    }
}

/// The same names for a quick look: the list is long, and every path of a change is looked up.
struct NameIndex {
    anywhere: NameTable,
    /// Protected in the root alone.
    top: NameTable,
    /// Those with a slash.
    paths: Vec<&'static ProtectedName>,
}

static INDEX: LazyLock<NameIndex> = LazyLock::new(|| {
    let (paths, names): (Vec<_>, Vec<_>) = NAMES.iter().partition(|known| known.name.contains('/'));
    let (top, anywhere) = names.into_iter().partition(|known: &&ProtectedName| known.is_at_path);
    NameIndex { anywhere: NameTable::new(anywhere), top: NameTable::new(top), paths }
});

struct NameTable {
    /// By the folded name.
    plain: HashMap<String, &'static ProtectedName>,
    /// Those with a star in them, likewise.
    patterns: Vec<(String, &'static ProtectedName)>,
}

impl NameTable {
    fn new(names: Vec<&'static ProtectedName>) -> Self {
        let folded = |name| fs_name::parts(name).next().unwrap_or_default().into_owned();
        let names = names.into_iter().map(|known| (folded(known.name), known));
        let (patterns, plain): (Vec<_>, Vec<_>) = names.partition(|(name, _)| name.contains('*'));
        Self { plain: plain.into_iter().collect(), patterns }
    }

    fn find(&self, part: &str) -> Option<&'static ProtectedName> {
        let is_short = |folded: &&String| part.contains('~') && fs_name::is_short(part, folded);
        let short = || self.plain.keys().filter(is_short).min().map(String::as_str);
        let found = self.plain.get(part).or_else(|| self.plain.get(short()?));
        let pattern = || self.patterns.iter().find(|(name, _)| is(part, name));
        found.copied().or_else(|| pattern().map(|(_, known)| *known))
    }
}

/// All of them.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().map(|known| known.name)
}

/// The protected name that a file or folder of this name is, wherever it lies.
pub fn covering(name: &str) -> Option<&'static str> {
    fs_name::parts(name).find_map(|part| INDEX.anywhere.find(&part)).map(|known| known.name)
}

/// The protected name that a path from the root is, and not only lies in, among those that are protected at one path alone.
pub fn standing_at(path: &str) -> Option<&'static str> {
    let is_it = |known: &&ProtectedName| known.is_at_path && leads_to(path, known.name);
    ProtectedName::covering(path).find(is_it).map(|known| known.name)
}

/// Whether a name covers a path. Without a slash: a file or folder of this name, wherever it lies. With one, be it the first
/// letter: this path and all beneath it. What some file system would take for the name is covered on all.
pub fn covers(name: &str, path: &str) -> bool {
    if name.contains('/') {
        return covers_from_root(name, path);
    }
    fs_name::parts(path).any(|part| fs_name::parts(name).any(|name| is(&part, &name)))
}

fn covers_from_root(name: &str, path: &str) -> bool {
    let mut parts = fs_name::parts(path);
    let mut names = fs_name::parts(name.trim_matches('/'));
    names.all(|name| parts.next().is_some_and(|part| is(&part, &name)))
}

/// Whether a path is one from the root or lies above it, as [`covers`] takes names.
pub fn leads_to(path: &str, name: &str) -> bool {
    let mut names = fs_name::parts(name.trim_matches('/'));
    fs_name::parts(path).all(|part| names.next().is_some_and(|name| is(&part, &name)))
}

/// One star in a name stands for any letters.
fn is(part: &str, name: &str) -> bool {
    let fits = |(start, end): (&str, &str)| {
        part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
    };
    part == name || fs_name::is_short(part, name) || name.split_once('*').is_some_and(fits)
}

/// Why a change may not hold a path, by its name alone.
pub fn refuse(path: &RepoPath, grants: &Grants) -> Option<String> {
    let text = path.as_str();
    refuse_name(text, grants)
        .or_else(|| is_secret_name(text).map(|rule| format!("it is secret by its name ({rule})")))
}

/// The same, for protected names alone.
pub fn refuse_name(path: &str, grants: &Grants) -> Option<String> {
    let mut covering = ProtectedName::covering(path);
    let ProtectedName { name, reason, .. } =
        covering.find(|known| !grants.lift(known.name, path))?;
    Some(format!("`{name}` is protected ({reason})"))
}

/// The same, for a file that is deleted.
pub fn refuse_deletion(path: &str, grants: &Grants) -> Option<String> {
    refuse_name(path, grants).filter(|_| !grants.may_delete(path))
}

/// Whether anybody could let a change hold this path, which is refused now.
pub fn can_be_granted(path: &RepoPath) -> bool {
    let mut covering = ProtectedName::covering(path.as_str());
    let can_be = covering.all(|known| known.grantor != Grantor::Nobody);
    can_be && is_secret_name(path.as_str()).is_none()
}
