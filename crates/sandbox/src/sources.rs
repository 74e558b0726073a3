//! The machine's files and folders that a jail is made from, as mounts that are not yet anywhere.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{OpenTreeFlags, open_tree};

use crate::blueprint::{Access, Entry};
use crate::discard::discard;
use crate::order::Trouble;
use crate::sys::{self, Attributes, Depth};

/// Of one entry: what it is bound from, or its layers from the highest down and last its store. Of several that share a layer the first has it.
pub(crate) type Sources = Vec<OwnedFd>;

/// Detached copies of all that the entries name, in their order. Needs the right to mount in the present namespace.
/// With `mapped`, the person's files belong to the jailed program's user.
pub(crate) fn open(
    entries: &[Entry],
    mapped: Option<BorrowedFd<'_>>,
) -> Result<Vec<Sources>, Trouble> {
    let mut tops = BTreeSet::new();
    let is_first = |entry: &Entry| match entry {
        Entry::Shown { top, as_owner, .. } => tops.insert((top.clone(), *as_owner)),
        _ => true,
    };
    let first: Vec<bool> = entries.iter().map(is_first).collect();
    let each = entries.iter().zip(first);
    each.map(|(entry, first)| if first { open_one(entry, mapped) } else { Ok(Vec::new()) })
        .collect()
}

fn open_one(entry: &Entry, mapped: Option<BorrowedFd<'_>>) -> Result<Sources, Trouble> {
    match entry {
        Entry::Bind { from, access: Access::Read, .. } | Entry::Mirror { from, .. } => {
            Ok(vec![copy(from, true, mapped).map_err(told(from))?])
        }
        Entry::Bind { from, access: Access::Write, .. } => {
            let step = format!("mount `{}`", from.display());
            let tree = copy(from, false, mapped);
            Ok(vec![tree.map_err(|error| Trouble::with(from, step, error))?])
        }
        Entry::Layered { lower, store, .. } => {
            let layers = lower.iter().map(|layer| copy(layer, true, mapped).map_err(told(layer)));
            // Made for this jail, and owned by its user already.
            let own = clone(store)
                .and_then(|own| sys::set_attributes(&own, Attributes::default()).map(|()| own));
            layers.chain([own.map_err(told(store))]).collect()
        }
        Entry::Shown { top, as_owner, .. } => {
            match open_top(top, mapped.filter(|_| *as_owner)) {
                // Taken away since it was looked at.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                tree => Ok(vec![tree.map_err(told(top))?]),
            }
        }
        _ => Ok(Vec::new()),
    }
}

/// The file system itself, and not what else is mounted in it: some of that cannot be mapped, and a layer does not show it.
fn open_top(top: &Path, mapped: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
    let tree = open_source(top).and_then(|top| clone_at(top, Path::new("")))?;
    let plain = Attributes { read_only: true, depth: Depth::Alone, ..Attributes::default() };
    match mapped {
        Some(_) => sys::set_attributes(&tree, Attributes { mapped, ..plain })
            .or_else(|_| sys::set_attributes(&tree, plain)),
        None => sys::set_attributes(&tree, plain),
    }?;
    Ok(tree)
}

fn copy(from: &Path, read_only: bool, mapped: Option<BorrowedFd<'_>>) -> io::Result<OwnedFd> {
    let tree = open_source(from).and_then(|from| clone_at(from, Path::new("")))?;
    let plain = Attributes { read_only, ..Attributes::default() };
    let set = match mapped {
        // Some file systems cannot map owners. What is only read can do without: it is then read as by anybody.
        Some(_) => sys::set_attributes(&tree, Attributes { mapped, ..plain }).or_else(|error| {
            if read_only { sys::set_attributes(&tree, plain) } else { Err(error) }
        }),
        None => sys::set_attributes(&tree, plain),
    };
    set.map(|()| tree)
}

fn told(from: &Path) -> impl FnOnce(io::Error) -> Trouble + '_ {
    move |error| Trouble::at(format!("mount `{}`", from.display()))(error)
}

/// What was looked at and is no link: one that stands there now was put there since, and could lead anywhere.
fn open_source(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
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
        discard(&store.join("work"))
            .map_err(|error| Trouble::at(format!("clear `{}`", store.display()))(error))?;
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
