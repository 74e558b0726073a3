//! What must be hidden in a folder, and what must not be written, found without following links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry, FileType};
use std::io::ErrorKind;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use sequester_core::protected;
use sequester_core::secret::is_secret_name;

use super::{Covered, Walked};
use crate::blueprint::Kind;

/// Entries that are looked at.
pub(super) const MOST: usize = 1_000_000;

/// Folders that tools fill with what they fetched or built; large, and not where people keep secrets.
const SKIPPED: [&str; 14] = [
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "vendor",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".gradle",
    ".next",
    "bower_components",
];

/// What was found, sorted.
pub(super) struct Found {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) covered: Vec<Covered>,
    pub(super) walked: Walked,
    /// The folders in which git keeps repositories, whatever they are called.
    pub(super) repositories: Vec<PathBuf>,
    /// A folder that was not where it was seen a moment before.
    pub(super) moved: Option<PathBuf>,
}

pub(super) fn look(root: &Path, most: usize) -> Found {
    let (mut hidden, mut covered, mut gits) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk::new(most);
    walk.go(root, |entry, kind| {
        if kind.is_dir() && is_state(entry) {
            hidden.push(entry.path());
            return false;
        }
        covered.extend(Covered::of(root, entry, kind));
        gits.extend(bare_repository(entry).filter(|folder| folder != root));
        if !kind.is_dir() {
            hidden.extend(secret(root, entry, kind));
        } else if entry.file_name() == ".git" {
            gits.push(entry.path());
        }
        !is_skipped(entry)
    });
    for git in &gits {
        walk.go(git, |entry, kind| look_in_git(root, entry, kind, &mut hidden));
    }
    hidden.extend(twins(root, &hidden, most));
    hidden.sort();
    hidden.dedup();
    covered.sort();
    gits.sort();
    let Walk { walked, moved, .. } = walk;
    Found { hidden, covered, walked, repositories: gits, moved }
}

/// What must be hidden in a git folder that stands elsewhere, sorted.
pub(super) fn look_into_git(git: &Path) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    Walk::new(MOST).go(git, |entry, kind| look_in_git(git, entry, kind, &mut hidden));
    hidden.sort();
    hidden
}

/// Names in there are git's own but for what people put beside; whether to go on.
fn look_in_git(root: &Path, entry: &DirEntry, kind: FileType, hidden: &mut Vec<PathBuf>) -> bool {
    if kind.is_file() || kind.is_symlink() {
        let kept = || Some(entry.path()).filter(|path| kind.is_file() && keeps_credentials(path));
        hidden.extend(secret(root, entry, kind).or_else(kept));
    }
    let is_own = OF_GIT.iter().any(|own| entry.file_name() == *own);
    // A submodule may have such a name.
    !is_own || !entry.path().with_file_name("HEAD").exists()
}

/// Files that helpers, `git annex` and `git lfs` keep beside what is git's own. A hook may be called so.
fn keeps_credentials(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let has = |part: &str| path.iter().any(|one| one == part);
    let is_told = name.contains("credentials") || name.contains("cookies");
    is_told && !has("hooks") || has("annex") && has("creds")
}

/// Large, and named by hashes; or named as branches are, which hold hashes alone.
const OF_GIT: [&str; 3] = ["objects", "refs", "logs"];

/// What only matters where a folder itself is shown, and not a layer over it.
pub(super) struct Closer {
    /// Sockets and pipes among what tools made, and in the git folder.
    pub(super) ways: Vec<PathBuf>,
    /// Files that have names elsewhere too.
    pub(super) shared: Vec<PathBuf>,
    /// Folders that git takes for repositories, whatever they are called.
    pub(super) repositories: Vec<PathBuf>,
    pub(super) walked: Walked,
}

pub(super) fn look_closer(root: &Path, git: Option<&Path>) -> Closer {
    let (mut ways, mut names) = (Vec::new(), BTreeMap::<(u64, u64), (u64, PathBuf)>::new());
    let (mut repositories, mut walk) = (Vec::new(), Walk::new(MOST));
    for folder in [Some(root), git].into_iter().flatten() {
        walk.go(folder, |entry, kind| {
            ways.extend(Some(entry.path()).filter(|_| leads_out(kind)));
            repositories.extend(bare_repository(entry).filter(|_| folder == root));
            // What git keeps is not written by anybody in a jail.
            let is_written = || !entry.path().iter().any(|part| part == ".git") && folder == root;
            if kind.is_file()
                && is_written()
                && let Ok(about) = entry.metadata()
                && about.nlink() > 1
            {
                let left = names.entry((about.dev(), about.ino()));
                left.or_insert_with(|| (about.nlink(), entry.path())).0 -= 1;
            }
            !is_state(entry)
        });
    }
    let mut shared: Vec<PathBuf> =
        names.into_values().filter(|(left, _)| *left > 0).map(|(_, path)| path).collect();
    shared.sort();
    ways.sort();
    repositories.sort();
    Closer { ways, shared, repositories, walked: walk.walked }
}

/// Folders that git takes for repositories, whatever they are called.
pub(super) fn bare_repositories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    Walk::new(MOST).go(root, |entry, _| {
        found.extend(bare_repository(entry));
        !is_state(entry) && entry.file_name() != ".git"
    });
    found.sort();
    found
}

/// The folder of a `HEAD`, if it holds what git looks for beside it. A `.git` is protected by its name.
fn bare_repository(entry: &DirEntry) -> Option<PathBuf> {
    if entry.file_name() != "HEAD" {
        return None;
    }
    let path = entry.path();
    // As a placeholder is.
    let is_empty = fs::symlink_metadata(&path).is_ok_and(|at| at.is_file() && at.len() == 0);
    let folder = path.parent().filter(|_| !is_empty)?;
    let folder = Some(folder).filter(|folder| folder.iter().all(|part| part != ".git"))?;
    let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    (has("commondir") || has("objects") && has("refs")).then(|| folder.to_owned())
}

/// Goes through folders.
struct Walk {
    left: usize,
    walked: Walked,
    moved: Option<PathBuf>,
}

impl Walk {
    fn new(most: usize) -> Self {
        Self { left: most, walked: Walked::Whole, moved: None }
    }

    /// Goes into the folders for which `visit` says so.
    fn go(&mut self, root: &Path, mut visit: impl FnMut(&DirEntry, FileType) -> bool) {
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    let is_gone =
                        matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                    self.moved = self.moved.take().or(is_gone.then_some(folder));
                    continue;
                }
            };
            for entry in entries.flatten() {
                if self.left == 0 {
                    self.walked = Walked::Part;
                    return;
                }
                self.left -= 1;
                let Ok(kind) = entry.file_type() else { continue };
                if visit(&entry, kind) && kind.is_dir() {
                    open.push(entry.path());
                }
            }
        }
    }
}

/// The product's own, which is hidden whole.
fn is_state(entry: &DirEntry) -> bool {
    entry.file_name() == ".sequester"
}

fn is_skipped(entry: &DirEntry) -> bool {
    lies_in_skipped(Path::new(&entry.file_name()))
}

/// Whether a path, as seen from the root, leads through what tools fill.
pub(super) fn lies_in_skipped(within: &Path) -> bool {
    within.iter().any(|part| SKIPPED.iter().any(|skipped| part == *skipped))
}

impl Covered {
    fn of(root: &Path, entry: &DirEntry, kind: FileType) -> Option<Self> {
        let name = entry.file_name();
        let name = protected::covering(name.to_str()?).or_else(|| {
            let path = entry.path();
            let within = path.strip_prefix(root).ok()?;
            // None of them lies deeper.
            protected::standing_at(within.to_str().filter(|_| within.iter().count() <= 2)?)
        })?;
        let holds = match kind {
            kind if kind.is_dir() => Some(Kind::Folder),
            kind if kind.is_file() => Some(Kind::File),
            _ => None,
        };
        Some(Self { path: entry.path(), name, holds, inode: entry.ino() })
    }
}

/// A socket or a pipe has somebody of the machine's at its other end, and no mount is too read-only for it.
fn leads_out(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// The entry if it must not be seen; for a link, the file it leads to.
fn secret(root: &Path, entry: &DirEntry, kind: FileType) -> Option<PathBuf> {
    let path = entry.path();
    if leads_out(kind) {
        return Some(path);
    }
    is_secret_name(&path.strip_prefix(root).ok()?.to_string_lossy())?;
    if kind.is_file() {
        return Some(path);
    }
    fs::canonicalize(&path).ok().filter(|target| target.starts_with(root) && target.is_file())
}

/// Other names of files that must not be seen, wherever they lie.
fn twins(root: &Path, hidden: &[PathBuf], most: usize) -> Vec<PathBuf> {
    let identity = |path: &Path| fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let several = hidden.iter().filter_map(|path| identity(path)).filter(|one| one.nlink() > 1);
    let files: BTreeSet<(u64, u64)> = several.map(|one| (one.ino(), one.dev())).collect();
    let mut twins = Vec::new();
    if files.is_empty() {
        return twins;
    }
    Walk::new(most).go(root, |entry, kind| {
        let is_same = || entry.metadata().is_ok_and(|one| files.contains(&(one.ino(), one.dev())));
        let of_number = (entry.ino(), 0)..=(entry.ino(), u64::MAX);
        if kind.is_file() && files.range(of_number).next().is_some() && is_same() {
            twins.push(entry.path());
        }
        !is_state(entry)
    });
    twins
}
