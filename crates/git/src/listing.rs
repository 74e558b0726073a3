//! Everything below a tree, as a snapshot lists it.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::process::Stdio;

use sequester_core::path::RepoPath;
use sequester_core::repository::{Entry, EntryKind, Error, Stamp};

use crate::folder::{self, Mode};
use crate::name::Name;
use crate::objects::Objects;
use crate::program::{Program, broken};

/// A listing that is longer is no source tree: trees that name each other can stand for any number of files.
const BYTES: u64 = 256 << 20;
const ENTRIES: usize = 2_000_000;

/// How many entries that were left out are named.
const PROBLEMS: usize = 10;

#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    pub(crate) executable: BTreeSet<RepoPath>,
    pub(crate) problems: Vec<String>,
    left_out: usize,
}

impl Listing {
    /// Asks git, which is fastest for a tree that is read once.
    pub(crate) fn of_commit(program: &Program, commit: &str) -> Result<Self, Error> {
        let mut listing = Self::default();
        let arguments = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let mut process = program.stream(&arguments, Stdio::null())?;
        let mut output = process.output(BYTES)?;
        let mut record = Vec::new();
        loop {
            record.clear();
            let read = output.read_until(0, &mut record);
            match (read, record.pop()) {
                (Ok(0), _) => break,
                (Ok(_), Some(0)) => {}
                _ => return Err(too_long(&commit)),
            }
            let (meta, path) = split(&record).ok_or_else(|| too_long(&commit))?;
            listing.add(meta, path, &commit)?;
        }
        if !process.succeeded() {
            return Err(broken(format!(
                "the tree of `{commit}` is missing or damaged. Run `git fsck`; in a partial clone, `git fetch --refetch`."
            )));
        }
        Ok(listing.finish())
    }

    /// Walks the trees, most of which are in memory where a run goes from one state to the next.
    pub(crate) fn of_tree(objects: &Objects, tree: &Name) -> Result<Self, Error> {
        let mut listing = Self::default();
        let (mut folders, mut bytes) = (vec![(Vec::new(), *tree)], 0);
        while let Some((prefix, name)) = folders.pop() {
            let raw = objects.tree(&name)?;
            for node in folder::read(&raw, objects.format()) {
                let node = node?;
                let path = [prefix.as_slice(), node.name].concat();
                bytes += path.len() as u64;
                if bytes > BYTES || folders.len() > ENTRIES {
                    return Err(too_long(tree));
                }
                if node.mode == Mode::Folder {
                    folders.push(([path.as_slice(), b"/"].concat(), node.id));
                } else {
                    listing.add((node.mode, node.id.to_string()), &path, tree)?;
                }
            }
        }
        Ok(listing.finish())
    }

    fn add(
        &mut self,
        (mode, name): (Mode, String),
        path: &[u8],
        of: &dyn std::fmt::Display,
    ) -> Result<(), Error> {
        match read_path(path) {
            Ok(path) => {
                if mode == Mode::Executable {
                    self.executable.insert(path.clone());
                }
                let kind = match mode {
                    Mode::Link => EntryKind::Symlink,
                    Mode::Submodule => EntryKind::Submodule,
                    _ => EntryKind::File,
                };
                self.entries.push(Entry { path, kind, stamp: Stamp::Content(name) });
            }
            Err(why) => {
                self.left_out += 1;
                if self.left_out <= PROBLEMS {
                    let path = String::from_utf8_lossy(path);
                    self.problems.push(format!("{path:?} was left out: {why}."));
                }
            }
        }
        if self.entries.len() + self.left_out > ENTRIES {
            return Err(broken(format!("`{of}` holds more than {ENTRIES} files.")));
        }
        Ok(())
    }

    fn finish(mut self) -> Self {
        if self.left_out > PROBLEMS {
            self.problems.push(format!("{} more were left out.", self.left_out - PROBLEMS));
        }
        self.entries.sort_by(|one, other| one.path.cmp(&other.path));
        self.entries.dedup_by(|one, other| one.path == other.path);
        self
    }
}

/// Takes `<mode> <type> <name>\t<path>` apart.
fn split(record: &[u8]) -> Option<((Mode, String), &[u8])> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let (meta, path) = record.split_at(tab);
    let mut words = std::str::from_utf8(meta).ok()?.split(' ');
    let mode = Mode::read(words.next()?.as_bytes())?;
    Some(((mode, words.nth(1)?.to_owned()), &path[1..]))
}

/// A path that can be the person's file, or why it is none.
pub(crate) fn read_path(path: &[u8]) -> Result<RepoPath, String> {
    let text = std::str::from_utf8(path).map_err(|_| "its name is not UTF-8")?;
    let path = RepoPath::parse(text).map_err(|why| why.to_string())?;
    if path.as_str() != text {
        return Err("it is not the shortest form of a path".to_owned());
    }
    if text.split('/').any(is_git) {
        return Err("it lies inside a `.git`".to_owned());
    }
    Ok(path)
}

/// Whether a file system may take this name for `.git`: case, short names, and endings that some of them drop.
fn is_git(part: &str) -> bool {
    let part = part.trim_end_matches([' ', '.']);
    part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case("git~1")
}

fn too_long(of: &dyn std::fmt::Display) -> Error {
    broken(format!("the listing of `{of}` is too long or was cut off."))
}
