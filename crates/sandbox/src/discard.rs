//! Taking a tree away that a jailed program made: any depth, any modes, any names, and no link is followed.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, chmodat, openat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

/// Removes `folder` and all in it; that it is not there is no error.
///
/// Folders inside are moved up into `folder` one by one instead of descending: neither the stack nor the number of
/// open descriptors nor the length of a path grows with the depth.
pub(crate) fn discard(folder: &Path) -> io::Result<()> {
    let top = match open(CWD, folder) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(unlinkat(CWD, folder, AtFlags::empty())?),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    empty(top.as_fd(), |name| {
        found.push(name.to_owned());
        Ok(())
    })?;
    let mut next = 0_u64;
    while let Some(name) = found.pop() {
        let inner = open(top.as_fd(), &*name)?;
        empty(inner.as_fd(), |child| {
            let moved = move_up(inner.as_fd(), child, top.as_fd(), &mut next)?;
            found.push(moved);
            Ok(())
        })?;
        unlinkat(&top, &*name, AtFlags::REMOVEDIR)?;
    }
    Ok(unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

/// Removes all that is no folder; the names of folders are given to `each`.
fn empty(
    folder: BorrowedFd<'_>,
    mut each: impl FnMut(&CStr) -> Result<(), Errno>,
) -> Result<(), Errno> {
    // What is there now: what is moved here meanwhile is known already.
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    for (name, kind) in names {
        let kind = match kind {
            FileType::Unknown => {
                let seen = statat(folder, &*name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(seen.st_mode)
            }
            known => known,
        };
        if kind == FileType::Directory {
            each(&name)?;
        } else {
            unlinkat(folder, &*name, AtFlags::empty())?;
        }
    }
    Ok(())
}

/// Opens a folder, whatever its mode: the kernel's own folder beside a layer has none, and a program may take any away.
fn open<P: rustix::path::Arg + Copy>(at: BorrowedFd<'_>, name: P) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(at, name, flags | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::ACCESS) => {}
        Ok(folder) => {
            // Emptying it takes more than reading it.
            rustix::fs::fchmod(&folder, Mode::RWXU)?;
            return Ok(folder);
        }
        Err(error) => return Err(error),
    }
    let found = openat(at, name, flags | OFlags::PATH, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    chmodat(CWD, path, Mode::RWXU, AtFlags::empty())?;
    openat(at, name, flags | OFlags::RDONLY, Mode::empty())
}

/// Moves a folder to one above, under a name that is free there.
fn move_up(
    from: BorrowedFd<'_>,
    name: &CStr,
    to: BorrowedFd<'_>,
    next: &mut u64,
) -> Result<CString, Errno> {
    // A folder that may not be written cannot be moved either.
    drop(open(from, name)?);
    loop {
        let free = CString::new(format!("{next}")).map_err(|_| Errno::INVAL)?;
        *next += 1;
        match renameat_with(from, name, to, &*free, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            moved => return moved.map(|()| free),
        }
    }
}
