//! What an attempt writes over a base: the highest layer, before and after the jail.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FileType, XattrFlags, setxattr};
use sequester_core::path::RepoPath;

use super::copy::{copy, copy_file, date_folder, make_folder};
use super::walk::{Folder, OPAQUE};
use crate::Ids;

/// A folder larger than this is not copied up.
const FOLDER_FILES: usize = 2_000;

/// The store of one `Entry::Layered`: `upper` takes what is written, `work` is the kernel's.
#[derive(Debug)]
pub struct Layer {
    store: PathBuf,
    pub(super) owner: Option<Ids>,
}

/// Lets a layer be entered again after a jail: whoever ran there owns its highest folder, and may have shut it.
pub fn reopen(store: &Path) -> io::Result<()> {
    fs::set_permissions(store.join("upper"), fs::Permissions::from_mode(0o755))
}

impl Layer {
    pub(super) fn new(store: PathBuf, owner: Option<Ids>) -> Self {
        Self { store, owner }
    }

    pub fn store(&self) -> &Path {
        &self.store
    }

    pub(super) fn upper(&self, path: &str) -> PathBuf {
        self.store.join("upper").join(path)
    }

    /// Makes these folders of `base` renamable: the kernel cannot move a folder that a lower layer has a part in, so each
    /// becomes a copy that hides what is beneath. Gives those that were left as they are because they are too large.
    pub fn copy_up(&self, base: &Path, folders: &[RepoPath]) -> io::Result<Vec<RepoPath>> {
        let below = Folder::open(base)?;
        let mut wanted: Vec<&RepoPath> = folders.iter().collect();
        wanted.sort();
        let (mut done, mut too_large): (Vec<&RepoPath>, Vec<RepoPath>) = (Vec::new(), Vec::new());
        for folder in wanted {
            let within = |outer: &&RepoPath| {
                let rest = folder.as_str().strip_prefix(outer.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if done.iter().any(within) || !is_folder(&below, folder.as_str()) {
                continue;
            }
            if count(&below, folder.as_str())? > FOLDER_FILES {
                too_large.push(folder.clone());
                continue;
            }
            self.make_parents(&below, folder.as_str())?;
            let target = self.upper(folder.as_str());
            copy(&base.join(folder.as_str()), &target, self.owner, &|_| true)?;
            setxattr(&target, OPAQUE, b"y", XattrFlags::CREATE)?;
            self.date_parents(&below, folder.as_str())?;
            done.push(folder);
        }
        Ok(too_large)
    }

    /// Makes a folder for something to be mounted at.
    pub fn make_place(&self, base: &Path, folder: &RepoPath) -> io::Result<()> {
        let below = Folder::open(base)?;
        self.make_parents(&below, folder.as_str())?;
        make_folder(&self.upper(folder.as_str()), 0o755, self.owner)?;
        self.date_parents(&below, folder.as_str())
    }

    /// Gives files of `base` another time than they have there.
    pub fn touch(&self, base: &Path, files: &[(RepoPath, SystemTime)]) -> io::Result<()> {
        let below = Folder::open(base)?;
        for (path, time) in files {
            let target = self.upper(path.as_str());
            self.make_parents(&below, path.as_str())?;
            if let Err(error) = copy_file(&below, path.as_str(), &target, self.owner)
                && error.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(error);
            }
            File::options().append(true).open(&target)?.set_modified(*time)?;
            self.date_parents(&below, path.as_str())?;
        }
        Ok(())
    }

    /// What was made in them dated the folders above anew.
    fn date_parents(&self, below: &Folder, path: &str) -> io::Result<()> {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        [""].into_iter()
            .chain(above)
            .try_for_each(|folder| date_folder(below, folder, &self.upper(folder)))
    }

    /// The folders above a path, as they are in the base.
    fn make_parents(&self, below: &Folder, path: &str) -> io::Result<()> {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            let seen = below.look(folder)?;
            if FileType::from_raw_mode(seen.st_mode) != FileType::Directory {
                let message = format!("`{folder}` is no folder in the base");
                return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
            }
            match make_folder(&self.upper(folder), seen.st_mode, self.owner) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether the path is a folder, and no link leads to it.
fn is_folder(root: &Folder, path: &str) -> bool {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    above.chain([path]).all(|folder| {
        let seen = root.look(folder);
        seen.is_ok_and(|seen| FileType::from_raw_mode(seen.st_mode) == FileType::Directory)
    })
}

/// How many files a folder holds, counted no further than is needed.
fn count(root: &Folder, folder: &str) -> io::Result<usize> {
    let (mut files, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for seen in root.list(&folder)? {
            files += 1;
            match seen.name.to_str() {
                Some(name) if seen.kind == FileType::Directory => {
                    folders.push(format!("{folder}/{name}"));
                }
                _ => {}
            }
        }
        if files > FOLDER_FILES {
            break;
        }
    }
    Ok(files)
}
