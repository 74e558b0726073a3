//! The build folders of a working tree: what git ignores and a tool made is carried in, each as a layer of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;
use sequester_core::path::RepoPath;
use sequester_core::secret::is_secret_name;

use super::walk::Folder;

/// Each is a mount; more than these are left out.
const FOLDERS: usize = 64;
/// Rules that are compiled for one tree; each costs memory and time, and a repository may hold any number.
const RULES_BYTES: u64 = 256 << 10;
const RULES: usize = 10_000;
const SETTINGS_BYTES: u64 = 1 << 20;
/// Of what is withheld, so that copies of it are known: one plan may be this long.
const WITHHELD_BYTES: u64 = 64 << 20;
const EXCLUDE: &str = ".git/info/exclude";
/// Names that are looked at for secrets, in all folders together.
const NAMES: usize = 500_000;
/// What tools make of a project, by the names that they are known for. Anything may lie in another ignored folder: plans, notes, the
/// work of other agents.
#[rustfmt::skip]
const BUILDS: [&str; 47] = [
    ".angular", ".build", ".bundle", ".cache", ".dart_tool", ".eggs", ".gradle", ".mypy_cache", ".next", ".nox", ".nuxt",
    ".parcel-cache", ".pnpm-store", ".pytest_cache", ".ruff_cache", ".stack-work", ".svelte-kit", ".terraform", ".tox",
    ".turbo", ".venv", ".vite", ".yarn", ".zig-cache", "DerivedData", "Pods", "__pypackages__", "_build", "bin",
    "bower_components", "build", "buck-out", "coverage", "deps", "dist", "dist-newstyle", "elm-stuff", "node_modules",
    "obj", "out", "target", "vendor", "venv", "virtualenv", "zig-cache", "zig-out", "_deps",
];
/// Such a file in a folder says the same: of Rust, Python and others; of a virtual environment.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];
/// A tree that is deeper is no project's.
const DEEPEST: usize = 64;

/// What `find` saw.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    pub folders: Vec<RepoPath>,
    /// Found too, but too many: those that lie deepest.
    pub left_out: Vec<RepoPath>,
    /// Files with rules that do not count: there is too much in them.
    pub unread: Vec<String>,
    /// The person's own rules, which are in no commit.
    pub exclude: String,
}

/// Finds the highest build folders of the working tree `root` that its `.gitignore` files ignore and of which `base` has nothing.
pub fn find(root: &Path, base: &Path) -> std::io::Result<Ignored> {
    let (work, base) = (Folder::open(root)?, Folder::open(base)?);
    let mut search = Search { work, base, found: Vec::new(), reader: Reader::new() };
    let exclude = search.work.read(EXCLUDE, RULES_BYTES).ok().flatten().unwrap_or_default();
    let mut rules = vec![search.reader.parse("", &exclude).unwrap_or_else(Gitignore::empty)];
    search.descend("", false, &mut rules);
    let mut folders = search.found;
    folders.sort_by_key(|path| (path.as_str().matches('/').count(), path.clone()));
    let mut left_out = folders.split_off(folders.len().min(FOLDERS));
    folders.sort();
    left_out.sort();
    let exclude = String::from_utf8_lossy(&exclude).into_owned();
    Ok(Ignored { folders, left_out, unread: search.reader.unread, exclude })
}

/// What in these folders of `root` is secret by its name or nobody's business: the product's own files, settings of a repository
/// that hold a password, and what is `withheld` from the workspace, there or as a copy of the same name. Nothing if there is too
/// much to look at.
pub fn secrets(
    root: &Path,
    folders: &[RepoPath],
    withheld: &BTreeSet<RepoPath>,
) -> std::io::Result<Option<Vec<RepoPath>>> {
    let work = Folder::open(root)?;
    let withheld = Withheld::read(&work, withheld);
    let (mut secrets, mut seen_names) = (Vec::new(), 0);
    let mut open: Vec<String> = folders.iter().map(ToString::to_string).collect();
    while let Some(folder) = open.pop() {
        // One that cannot be looked at cannot be read inside either.
        for seen in work.list(&folder).unwrap_or_default() {
            seen_names += 1;
            let is_folder = seen.kind == FileType::Directory;
            let name = seen.name.to_string_lossy();
            let path = format!("{folder}/{name}");
            match RepoPath::parse(&path).ok().filter(|_| seen.name.to_str().is_some()) {
                Some(path)
                    if is_secret(&work, path.as_str(), &name) || withheld.holds(&work, &path) =>
                {
                    secrets.push(path);
                }
                Some(_) if is_folder => open.push(path),
                // What cannot be named cannot be hidden by itself.
                None if is_folder || is_secret_name(&path).is_some() => {
                    secrets.extend(RepoPath::parse(&folder));
                }
                _ => {}
            }
        }
        if seen_names > NAMES {
            return Ok(None);
        }
    }
    secrets.sort();
    secrets.dedup();
    Ok(Some(secrets))
}

fn is_secret(tree: &Folder, path: &str, name: &str) -> bool {
    let holds_password = || {
        let text = tree.read(path, SETTINGS_BYTES).map(Option::unwrap_or_default);
        let text = text.map(|text| String::from_utf8_lossy(&text).to_lowercase());
        // One that cannot be read is hidden rather than trusted.
        text.map_or(true, |text| {
            let is_telling = |line: &str| {
                let address = line.split_once("://").map(|two| two.1);
                let host = address.and_then(|address| address.split('/').next());
                host.is_some_and(|host| host.contains('@'))
                    || ["extraheader", "password", "token"].iter().any(|word| line.contains(word))
            };
            text.lines().any(is_telling)
        })
    };
    is_secret_name(path).is_some()
        || name == ".sequester"
        || (path.ends_with(".git/config") && holds_password())
}

/// Files that no workspace may hold, with their content as it lies on the disk.
struct Withheld<'p> {
    paths: &'p BTreeSet<RepoPath>,
    contents: BTreeMap<&'p str, Vec<Vec<u8>>>,
}

impl<'p> Withheld<'p> {
    fn read(work: &Folder, paths: &'p BTreeSet<RepoPath>) -> Self {
        let mut contents: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
        let mut room = WITHHELD_BYTES;
        for path in paths {
            let content = work.read(path.as_str(), room).ok().flatten().unwrap_or_default();
            room -= (content.len() as u64).min(room);
            if !content.is_empty() {
                contents.entry(path.name()).or_default().push(content);
            }
        }
        Self { paths, contents }
    }

    /// Whether a file is one of them, or a copy of one.
    fn holds(&self, work: &Folder, path: &RepoPath) -> bool {
        let is_copy = |contents: &Vec<Vec<u8>>| {
            let most = contents.iter().map(Vec::len).max().unwrap_or(0) as u64;
            let here = work.read(path.as_str(), most).ok().flatten();
            here.is_some_and(|here| contents.contains(&here))
        };
        self.paths.contains(path) || self.contents.get(path.name()).is_some_and(is_copy)
    }
}

struct Search {
    work: Folder,
    base: Folder,
    found: Vec<RepoPath>,
    reader: Reader,
}

impl Search {
    /// `under` says that a folder above is ignored already, but the base has files in it.
    fn descend(&mut self, folder: &str, under: bool, rules: &mut Vec<Gitignore>) {
        let Ok(list) = self.work.list(folder) else { return };
        if rules.len() > DEEPEST {
            return;
        }
        let ruled = list.iter().any(|seen| seen.name == ".gitignore");
        let path = |name: &str| match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        rules.push(if ruled { self.reader.read(&self.work, folder) } else { Gitignore::empty() });
        for seen in list {
            let Some(name) = seen.name.to_str() else { continue };
            let path = path(name);
            if seen.kind != FileType::Directory || name == ".git" {
                continue;
            }
            let ignored = under || is_ignored(rules, &path, true);
            // The folder above is one in the base too, so no link is on the way.
            match self.base.look(&path) {
                Ok(seen) if FileType::from_raw_mode(seen.st_mode) == FileType::Directory => {
                    self.descend(&path, ignored, rules);
                }
                Err(_) if ignored && is_build(&self.work, &path) => {
                    self.found.extend(RepoPath::parse(&path));
                }
                // Where the base has a file or a link, a folder in its place would be a change.
                _ => {}
            }
        }
        rules.pop();
    }
}

/// Whether a folder is one that a tool makes.
pub(crate) fn is_build(tree: &Folder, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let marked = |mark: &&str| tree.look(&format!("{path}/{mark}")).is_ok();
    BUILDS.contains(&name)
        || name.starts_with("cmake-build-")
        || name.ends_with(".egg-info")
        || MARKS.iter().any(marked)
}

/// Reads the rules of one tree, and no more of them than there may be.
pub(crate) struct Reader {
    bytes: u64,
    rules: usize,
    /// Files that were too much.
    pub(crate) unread: Vec<String>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { bytes: RULES_BYTES, rules: RULES, unread: Vec::new() }
    }

    /// The rules of the `.gitignore` in `folder`.
    pub(crate) fn read(&mut self, tree: &Folder, folder: &str) -> Gitignore {
        let file = if folder.is_empty() { ".gitignore" } else { &format!("{folder}/.gitignore") };
        let Ok(text) = tree.read(file, self.bytes) else { return Gitignore::empty() };
        let rules = text.and_then(|text| self.parse(folder, &text));
        rules.unwrap_or_else(|| {
            if self.unread.len() < FOLDERS {
                self.unread.push(file.to_owned());
            }
            Gitignore::empty()
        })
    }

    /// The rules in a text, as of a `.gitignore` in `folder`; nothing if they are too many. A line that is no pattern does not
    /// count, as with git.
    pub(crate) fn parse(&mut self, folder: &str, text: &[u8]) -> Option<Gitignore> {
        let text = String::from_utf8_lossy(text);
        self.bytes = self.bytes.checked_sub(text.len() as u64)?;
        self.rules = self.rules.checked_sub(text.lines().count())?;
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }
}

/// What the nearest rule says about a path. The folders above it are known not to be ignored.
pub(crate) fn is_ignored(rules: &[Gitignore], path: &str, is_folder: bool) -> bool {
    let verdicts = rules.iter().rev().map(|rules| rules.matched(path, is_folder));
    verdicts
        .into_iter()
        .find(|verdict| !verdict.is_none())
        .is_some_and(|verdict| verdict.is_ignore())
}
