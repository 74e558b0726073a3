//! Protected names that a writer made at the top of the person's folder, where no placeholder kept them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with};
use rustix::io::Errno;
use sequester_core::protected::{Grants, ProtectedName};

use super::{Folder, walk};

/// A protected name that no program finds any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    /// Its name now, in the same folder.
    pub name: OsString,
}

/// Folders that git takes for repositories and that were not there before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRepositories {
    /// Their `HEAD`s, without which they are none.
    pub set_aside: Vec<SetAside>,
    /// Those that stay: tools keep repositories in folders that they fill.
    pub left: Vec<PathBuf>,
}

/// What is set aside has this after its name, and a number from the second on.
const SUFFIX: &str = "set-aside";

const MOST_TRIES: usize = 100;

impl Folder {
    /// Renames what has a protected name at the top of the folder and was not there before, unless it is granted. Deeper down they stay:
    /// programs rightly make repositories there.
    pub fn set_aside(&self, grants: &Grants) -> Vec<SetAside> {
        let tops = [self.path.clone()].into_iter().chain(self.parents_now());
        let entries = tops.flat_map(|top| fs::read_dir(top).into_iter().flatten().flatten());
        let paths = entries.map(|entry| entry.path());
        let is_new = |path: &PathBuf| self.covered.iter().all(|one| one.path != *path);
        let new = paths.filter(|path| is_new(path) && self.is_named(path, grants));
        let mut moved: Vec<SetAside> = new.filter_map(rename_aside).collect();
        moved.sort_by(|one, other| one.path.cmp(&other.path));
        moved
    }

    /// Renames `HEAD` in each new folder that git takes for a repository. Git would run what the folder's `config` says, for whoever asks
    /// for the status in it.
    pub fn set_repositories_aside(&self) -> NewRepositories {
        let known = self.closer.as_ref().map_or(&[][..], |closer| &closer.repositories);
        let mut new = NewRepositories::default();
        for folder in walk::bare_repositories(&self.path) {
            if known.contains(&folder) {
                continue;
            }
            let within = folder.strip_prefix(&self.path).unwrap_or(&folder);
            let is_tools = walk::lies_in_skipped(within);
            match Some(folder.join("HEAD")).filter(|_| !is_tools).and_then(rename_aside) {
                Some(moved) => new.set_aside.push(moved),
                None => new.left.push(folder),
            }
        }
        new
    }

    /// Folders above protected names that are there by now.
    fn parents_now(&self) -> Vec<PathBuf> {
        let names = super::protected::names().filter_map(|name| name.split_once('/'));
        let mut parents: Vec<PathBuf> = names.map(|(parent, _)| self.path.join(parent)).collect();
        parents.sort();
        parents.dedup();
        parents
    }

    /// Whether the top of a protected name lies there.
    fn is_named(&self, path: &Path, grants: &Grants) -> bool {
        let within = self.within(path);
        let depth = within.split('/').count();
        let mut names = ProtectedName::covering(&within);
        names.any(|known| {
            // The writer cannot have made a name that was held, letter by letter: somebody outside did.
            let is_held = known.is_held && known.name == within;
            known.name.split('/').count() == depth && !is_held && !grants.touch(known.name)
        })
    }
}

/// Through no link: the writer may have put one above.
fn rename_aside(path: PathBuf) -> Option<SetAside> {
    let (above, old) = (path.parent()?, path.file_name()?);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let name = free_name(&above, old)?;
    Some(SetAside { path, name })
}

fn free_name(above: &OwnedFd, old: &OsStr) -> Option<OsString> {
    for number in 1..=MOST_TRIES {
        let mut name = old.to_owned();
        name.push(".");
        name.push(SUFFIX);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        match renameat_with(above, old, above, &name, RenameFlags::NOREPLACE) {
            Ok(()) => return Some(name),
            Err(Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}
