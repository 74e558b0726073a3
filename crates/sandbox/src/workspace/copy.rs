//! Copies of files and trees: with their times, and without what is no file.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, fchmod, fchown,
    futimens, openat, symlinkat, utimensat,
};
use rustix::process::{Gid, Uid};

use super::walk::Folder;
use crate::Ids;

/// What was copied.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: usize,
    /// What was not, and why.
    pub problems: Vec<String>,
}

/// Copies the folder `from` to `to`, which is made. `admits` is asked for each path beneath it; what it denies is as if it were not
/// there, with all that is in it. Pipes, sockets and devices are left out and told.
pub fn copy(
    from: &Path,
    to: &Path,
    owner: Option<Ids>,
    admits: &dyn Fn(&str) -> bool,
) -> io::Result<Copied> {
    let source = Folder::open(from)?;
    let mut copied = Copied::default();
    make_folder(to, 0o755, owner)?;
    let mut folders = vec![String::new()];
    let mut made = Vec::new();
    while let Some(folder) = folders.pop() {
        for seen in source.list(&folder)? {
            let Some(name) = seen.name.to_str() else {
                copied
                    .problems
                    .push(format!("`{}` was left out: it is not UTF-8.", seen.name.display()));
                continue;
            };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if !admits(&path) {
                continue;
            }
            let target = to.join(&path);
            match seen.kind {
                FileType::Directory => {
                    make_folder(&target, source.look(&path)?.st_mode, owner)?;
                    folders.push(path);
                }
                FileType::RegularFile => {
                    copy_file(&source, &path, &target, owner)?;
                    copied.files += 1;
                }
                FileType::Symlink => {
                    copy_link(&source, &path, &target, owner)?;
                    copied.files += 1;
                }
                _ => copied.problems.push(format!("`{path}` was left out: it is no file.")),
            }
        }
        made.push(folder);
    }
    // What is made in a folder dates it anew.
    for folder in made {
        date_folder(&source, &folder, &to.join(&folder))?;
    }
    Ok(copied)
}

/// Gives a folder the time of another.
pub(super) fn date_folder(source: &Folder, folder: &str, target: &Path) -> io::Result<()> {
    let seen = source.look(if folder.is_empty() { "." } else { folder })?;
    Ok(utimensat(CWD, target, &times_of(&seen), AtFlags::SYMLINK_NOFOLLOW)?)
}

pub(super) fn make_folder(path: &Path, mode: u32, owner: Option<Ids>) -> io::Result<()> {
    fs::DirBuilder::new().mode(mode & 0o777 | 0o700).create(path)?;
    if let Some(owner) = owner {
        lchown(path, Some(owner.user), Some(owner.group))?;
    }
    Ok(())
}

/// Shares the blocks where the file system can.
pub(super) fn copy_file(
    source: &Folder,
    path: &str,
    target: &Path,
    owner: Option<Ids>,
) -> io::Result<()> {
    let mut from = source.open_file(path)?;
    let seen = rustix::fs::fstat(&from)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(seen.st_mode & 0o777 | 0o600);
    let mut to = File::from(openat(CWD, target, flags, mode)?);
    if !is_cloned(&from, &to) {
        io::copy(&mut from, &mut to)?;
    }
    if let Some(owner) = owner {
        let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(owner.group));
        fchown(&to, Some(user), Some(group))?;
    }
    fchmod(&to, mode)?;
    Ok(futimens(&to, &times_of(&seen))?)
}

fn copy_link(source: &Folder, path: &str, target: &Path, owner: Option<Ids>) -> io::Result<()> {
    let seen = source.look(path)?;
    symlinkat(source.read_link(path)?.as_slice(), CWD, target)?;
    if let Some(owner) = owner {
        lchown(target, Some(owner.user), Some(owner.group))?;
    }
    Ok(utimensat(CWD, target, &times_of(&seen), AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(target_os = "linux")]
fn is_cloned(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_cloned(_: &File, _: &File) -> bool {
    false
}

fn times_of(seen: &Stat) -> Timestamps {
    modified_at(Timespec { tv_sec: seen.st_mtime, tv_nsec: seen.st_mtime_nsec.cast_signed() })
}

pub(super) fn modified_at(time: Timespec) -> Timestamps {
    let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    Timestamps { last_access: unchanged, last_modification: time }
}
