//! The few files that tell how a project is checked.

use std::collections::{BTreeMap, BTreeSet};

use super::ci;
use super::recipe::{JUSTFILES, MAKEFILES};
use sequester_core::foreign::{foreign, is_sample};
use sequester_core::repository::{EntryKind, Snapshot};

const MOST_BYTES: u64 = 256 << 10;
const MOST_FILES: usize = 100;
/// Folders below the root that are looked into, and how deep.
const MOST_FOLDERS: usize = 8;
const DEPTH: usize = 2;

/// Files that are read, besides makefiles, justfiles and what a build service runs.
const READ: [&str; 10] = [
    "CMakeLists.txt",
    "Cargo.toml",
    "composer.json",
    "package.json",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements.txt",
    "setup.cfg",
    "tox.ini",
    "mypy.ini",
];

/// Files that make a folder one with checks of its own.
const MANIFESTS: [&str; 15] = [
    "Cargo.toml",
    "Gemfile",
    "Package.swift",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "deno.json",
    "go.mod",
    "mix.exs",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    "setup.cfg",
    "setup.py",
];

pub(super) struct Project<'a> {
    /// Near the root, sorted by path.
    files: Vec<&'a str>,
    texts: BTreeMap<&'a str, String>,
}

impl<'a> Project<'a> {
    pub(super) fn look(snapshot: &'a dyn Snapshot) -> Self {
        let entries = snapshot.entries();
        let (mut files, mut wanted) = (Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let path = entry.path.as_str();
            let depth = path.matches('/').count();
            if entry.kind != EntryKind::File || depth > DEPTH + 1 || foreign(path).is_some() {
                continue;
            }
            files.push(path);
            let name = path.rsplit('/').next().unwrap_or(path);
            let named = [&READ[..], &MAKEFILES, &JUSTFILES].iter().any(|list| list.contains(&name));
            if ci::is_file(path) || (named && depth <= DEPTH && !is_sample(path)) {
                wanted.push((depth, at));
            }
        }
        wanted.sort_unstable();
        let mut wanted: Vec<usize> =
            wanted.into_iter().take(MOST_FILES).map(|(_, at)| at).collect();
        wanted.sort_unstable();
        let mut texts = BTreeMap::new();
        snapshot.read_many(&wanted, MOST_BYTES, &mut |at, bytes| {
            if let (Some(entry), Ok(bytes)) = (entries.get(at), bytes) {
                let text = String::from_utf8_lossy(bytes).into_owned();
                texts.insert(entry.path.as_str(), text);
            }
        });
        Self { files, texts }
    }

    pub(super) fn root(&self) -> Folder<'_> {
        Folder { project: self, path: "" }
    }

    /// The first file near the root that is meant.
    pub(super) fn find(&self, is_meant: impl Fn(&str) -> bool) -> Option<&'a str> {
        self.files.iter().copied().find(|path| is_meant(path))
    }

    /// Those below the root that have a manifest and a name that a shell takes as it is.
    pub(super) fn folders(&self) -> Vec<Folder<'_>> {
        let with = self.files.iter().filter_map(|path| {
            let (folder, name) = path.rsplit_once('/')?;
            let near = folder.matches('/').count() < DEPTH && !is_sample(path);
            (near && is_plain(folder) && MANIFESTS.contains(&name)).then_some(folder)
        });
        let with: BTreeSet<&str> = with.collect();
        with.into_iter().take(MOST_FOLDERS).map(|path| Folder { project: self, path }).collect()
    }

    /// What build services run that begins so.
    pub(super) fn ci_runs(&self, start: &str) -> Option<(String, &str)> {
        let files = self.texts.iter().filter(|(path, _)| ci::is_file(path));
        let mut lines = files
            .flat_map(|(path, text)| ci::commands(text).into_iter().map(move |line| (line, *path)));
        lines.find(|(line, _)| line.starts_with(start))
    }
}

/// Letters, digits and marks that mean nothing to a shell.
pub(super) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') && text.chars().all(plain)
}

#[derive(Clone, Copy)]
pub(super) struct Folder<'p> {
    pub(super) project: &'p Project<'p>,
    path: &'p str,
}

impl<'p> Folder<'p> {
    /// Empty for the root.
    pub(super) fn path(&self) -> &'p str {
        self.path
    }

    pub(super) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// As the project names a file of this folder.
    pub(super) fn whole(&self, name: &str) -> String {
        if self.is_root() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.project.files.binary_search(&self.whole(name).as_str()).is_ok()
    }

    /// The first of these that is there.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Here or in a folder above, where the whole project keeps such files.
    pub(super) fn has_above(&self, name: &str) -> bool {
        self.has(name) || (!self.is_root() && self.project.root().has(name))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'p str> {
        self.project.texts.get(self.whole(name).as_str()).map(String::as_str)
    }

    /// Names of files that lie in it, or in a folder of it.
    pub(super) fn names_in(&self, below: &str) -> Vec<&'p str> {
        let start = self.whole(below);
        let start =
            if start.is_empty() { start } else { format!("{}/", start.trim_end_matches('/')) };
        let from = self.project.files.partition_point(|path| *path < start.as_str());
        let inside = self.project.files[from..].iter().map_while(|path| path.strip_prefix(&start));
        inside.filter(|name| !name.contains('/')).collect()
    }
}

/// The line of a text that begins with this, from 1.
pub(super) fn line_of(text: &str, start: &str) -> Option<usize> {
    text.lines().position(|line| line.trim_start().starts_with(start)).map(|at| at + 1)
}

/// A file with the line that something stands on, where that is known.
pub(super) fn place(path: &str, line: Option<usize>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}
