//! The machine's files and folders that a jail is made from, as mounts that are not yet anywhere.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{OpenTreeFlags, open_tree};

use crate::blueprint::{Access, Entry};
use crate::order::Trouble;
use crate::sweep;
use crate::sys::{self, Attributes};

/// Of one entry: what it is bound from, or its layers from the highest down and last its store.
pub(crate) type Sources = Vec<OwnedFd>;

/// Detached copies of all that the entries name, in their order. Needs the right to mount in the present namespace.
/// With `mapped`, the person's files belong to the jailed program's user.
pub(crate) fn open(
    entries: &[Entry],
    mapped: Option<BorrowedFd<'_>>,
) -> Result<Vec<Sources>, Trouble> {
    entries.iter().map(|entry| open_one(entry, mapped)).collect()
}

fn open_one(entry: &Entry, mapped: Option<BorrowedFd<'_>>) -> Result<Sources, Trouble> {
    match entry {
        Entry::Bind { from, access, .. } => Ok(vec![copy(from, *access == Access::Read, mapped)?]),
        Entry::Layered { lower, store, .. } => {
            let layers = lower.iter().map(|layer| copy(layer, true, mapped));
            // Made for this jail, and owned by its user already.
            layers.chain([copy(store, false, None)]).collect()
        }
        _ => Ok(Vec::new()),
    }
}

fn copy(from: &Path, read_only: bool, mapped: Option<BorrowedFd<'_>>) -> Result<OwnedFd, Trouble> {
    let told = |error: io::Error| Trouble::at(format!("mount `{}`", from.display()))(error);
    let tree = clone(from).map_err(told)?;
    let plain = Attributes { read_only, ..Attributes::default() };
    let Some(mapped) = mapped else {
        return sys::set_attributes(&tree, plain).map(|()| tree).map_err(told);
    };
    match sys::set_attributes(&tree, Attributes { mapped: Some(mapped), ..plain }) {
        Ok(()) => Ok(tree),
        // Some file systems cannot map owners. What is only read can do without: it is then read as by anybody.
        Err(_) if read_only => sys::set_attributes(&tree, plain).map(|()| tree).map_err(told),
        Err(error) => Err(told(error)),
    }
}

pub(crate) fn clone(from: &Path) -> io::Result<OwnedFd> {
    clone_at(CWD, from)
}

pub(crate) fn clone_at(folder: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(folder, path, flags)?)
}

/// Makes the two folders of each layered entry's store, owned by `owner` if that is somebody else.
pub(crate) fn prepare_stores(entries: &[Entry], owner: Option<(u32, u32)>) -> Result<(), Trouble> {
    for entry in entries {
        let Entry::Layered { store, .. } = entry else { continue };
        // A layer that was mounted before has a mark there which says that nobody wrote it out.
        if let Err(error) = sweep::remove(&store.join("work"))
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(Trouble::at(format!("clear `{}`", store.display()))(error));
        }
        for folder in [store.clone(), store.join("upper"), store.join("work")] {
            let made = fs::create_dir_all(&folder).and_then(|()| match owner {
                Some((user, group)) => std::os::unix::fs::chown(&folder, Some(user), Some(group)),
                None => Ok(()),
            });
            made.map_err(Trouble::at(format!("make `{}`", folder.display())))?;
        }
    }
    Ok(())
}
