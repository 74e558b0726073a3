//! The working tree as it is, written as objects. Neither the person's index nor a filter has a part in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sequester_core::path::RepoPath;
use sequester_core::repository::{EntryKind, Error, ErrorKind};
use sequester_core::secret;

use crate::checkout::Checkout;
use crate::folder::Mode;
use crate::index::{Index, Indexed};
use crate::listing::{Listing, read_path};
use crate::name::{Kind, Name};
use crate::program::broken;
use crate::repo::Repo;

use super::edit::{Edits, Leaf, Writer};

/// A larger file is no part of a source tree.
const FILE_BYTES: u64 = 1 << 30;
/// This program's own folder stays as it was committed.
const OWN: &str = ".sequester/";

/// The tree that `head` becomes with all that is not committed, as if the files to be passed over did not lie there.
pub(crate) fn write(
    repo: &Repo,
    head: &Name,
    passed_over: &BTreeSet<RepoPath>,
) -> Result<Name, Error> {
    let index = Index::read(&repo.program)?;
    let listing = Listing::of_tree(&repo.objects, head)?;
    let untracked = untracked(repo, passed_over)?;
    let working = Working {
        root: repo.root(),
        checkout: Checkout::at(repo.root()),
        tells_modes: tells_modes(repo)?,
    };
    let mut writer = Writer::new(&repo.objects);
    let mut edits = Edits::new();
    let (mut submodules, mut folders) = (BTreeSet::new(), BTreeMap::new());
    for entry in &listing.entries {
        let path = entry.path.as_str();
        if entry.kind == EntryKind::Submodule {
            submodules.insert(path);
        } else if !path.starts_with(OWN) && !index.entries.contains_key(&entry.path) {
            edits.insert(path, None);
        }
    }
    for (name, indexed) in &index.entries {
        let is_submodule = indexed.mode == Some(Mode::Submodule);
        let path = name.as_str();
        if is_submodule || submodules.contains(path) || path.starts_with(OWN) {
            continue;
        }
        let is_there = !passed_over.contains(name);
        let leaf = if is_there && lies_in_folders(repo.root(), path, &mut folders) {
            working.tracked(&mut writer, path, indexed, &index)?
        } else {
            None
        };
        edits.insert(path, leaf);
    }
    for path in &untracked {
        if let Some(leaf) = working.take(&mut writer, path.as_str(), None)? {
            edits.insert(path.as_str(), Some(leaf));
        }
    }
    let tree = writer.edit(head, &edits)?;
    writer.finish()?;
    Ok(tree)
}

/// Files that are neither tracked nor ignored nor passed over. This program's own and those that hold secrets by their name are
/// not among them, and neither are other repositories.
pub(super) fn untracked(
    repo: &Repo,
    passed_over: &BTreeSet<RepoPath>,
) -> Result<Vec<RepoPath>, Error> {
    let listed = repo.program.run(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    if !listed.success {
        return Err(broken("the working tree cannot be listed. Try `git status`."));
    }
    let paths = listed.text.split('\0').filter(|path| !path.ends_with('/'));
    let paths = paths.filter_map(|path| read_path(path.as_bytes()).ok());
    let is_ours = |path: &str| !path.starts_with(OWN) && secret::is_secret_name(path).is_none();
    Ok(paths.filter(|path| is_ours(path.as_str()) && !passed_over.contains(path)).collect())
}

/// Whether the file system keeps the right to run a file.
pub(crate) fn tells_modes(repo: &Repo) -> Result<bool, Error> {
    let told = repo.program.run(&["config", "--type=bool", "--get", "core.filemode"])?;
    Ok(told.text != "false")
}

/// Whether all folders above a path are folders, and no links to some.
fn lies_in_folders(root: &Path, path: &str, known: &mut BTreeMap<String, bool>) -> bool {
    let Some((folder, _)) = path.rsplit_once('/') else { return true };
    if let Some(known) = known.get(folder) {
        return *known;
    }
    let is_folder = lies_in_folders(root, folder, known)
        && root.join(folder).symlink_metadata().is_ok_and(|seen| seen.is_dir());
    known.insert(folder.to_owned(), is_folder);
    is_folder
}

struct Working<'a> {
    root: &'a Path,
    checkout: Checkout,
    tells_modes: bool,
}

impl Working<'_> {
    /// Nothing if it is not there any more.
    fn tracked(
        &self,
        writer: &mut Writer<'_>,
        path: &str,
        indexed: &Indexed,
        index: &Index,
    ) -> Result<Option<Leaf>, Error> {
        let mode = indexed.mode.filter(|_| !indexed.name.is_empty());
        let seen = self.root.join(path).symlink_metadata().ok();
        if let Some(mode) = mode {
            let as_noted = seen.as_ref().is_some_and(|seen| {
                seen.is_symlink() == (mode == Mode::Link)
                    && index.vouches(indexed, Some(seen.clone()))
            });
            if as_noted || indexed.absent_on_purpose {
                let name = writer.objects.format().read(&indexed.name)?;
                let mode = if as_noted { self.mode(path, Some(mode)) } else { mode };
                return Ok(Some((mode, name)));
            }
        }
        self.take(writer, path, mode)
    }

    /// What lies at a path; `noted` is the mode that the index has.
    fn take(
        &self,
        writer: &mut Writer<'_>,
        path: &str,
        noted: Option<Mode>,
    ) -> Result<Option<Leaf>, Error> {
        let Ok(seen) = self.root.join(path).symlink_metadata() else { return Ok(None) };
        let (mode, held) = if seen.is_symlink() {
            (Mode::Link, self.checkout.read_link(path))
        } else if seen.is_file() {
            (self.mode(path, noted), self.checkout.read(path, FILE_BYTES))
        } else {
            return Ok(None);
        };
        let held = held.ok_or_else(|| {
            let message = format!("`{path}` cannot be read, or is larger than 1 GiB.");
            Error::new(ErrorKind::Denied, message)
        })?;
        Ok(Some((mode, writer.add(Kind::Blob, &held.bytes)?)))
    }

    fn mode(&self, path: &str, noted: Option<Mode>) -> Mode {
        match noted {
            Some(Mode::Link) if self.root.join(path).is_symlink() => Mode::Link,
            Some(noted @ (Mode::File | Mode::Executable)) if !self.tells_modes => noted,
            _ if self.tells_modes && self.checkout.is_executable(path) => Mode::Executable,
            _ => Mode::File,
        }
    }
}
