//! Files and folders of the machine's that a jail reads, without what answers there.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, StatxFlags, openat, openat2, statat, statx,
};

use super::{Root, inner, is_folder, named};
use crate::sources::clone_at;
use crate::sys::{self, Attributes};

/// Bytes of a file that is copied into the root.
const COPIED: u64 = 1 << 20;

/// What several places are shown from.
pub(super) struct SharedLayer {
    /// Inside, until the root is closed.
    at: PathBuf,
    /// The kernel could not lay a layer over this file system: what is bound from it is the machine's own.
    is_bare: bool,
}

impl Root {
    /// Shows `from` at `at`, through the layer that stands on `top`. Who comes first brings what that is made of.
    pub(super) fn show(
        &self,
        (from, at): (&Path, &Path),
        (top, as_owner): (&Path, bool),
        sources: &[OwnedFd],
    ) -> io::Result<()> {
        let key = (top.to_owned(), as_owner);
        if let [tree] = sources
            && !is_folder(tree)?
        {
            return self.show_file(tree, at);
        }
        if let [tree] = sources {
            let layer = self.lay(tree)?;
            self.shared.borrow_mut().insert(key.clone(), layer);
        }
        let shared = self.shared.borrow();
        // What was taken away since it was looked at is not there for the jail either.
        let Some(layer) = shared.get(&key) else { return Ok(()) };
        let rest = from.strip_prefix(top).map_err(io::Error::other)?;
        let there = match self.find(&layer.at.join(rest)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            there => there?,
        };
        let tree = clone_at(&there, Path::new(""))?;
        if layer.is_bare {
            sys::set_attributes(&tree, Attributes { read_only: true, ..Attributes::default() })?;
        }
        self.bind(&tree, at)?;
        if layer.is_bare && is_folder(&tree)? {
            self.bare.borrow_mut().push(at.to_owned());
        }
        Ok(())
    }

    /// A file that no layer can be laid around: a copy, if it is small and can be read. A socket, pipe or device that is mounted there is
    /// an empty file.
    fn show_file(&self, tree: &OwnedFd, at: &Path) -> io::Result<()> {
        let about = rustix::fs::fstat(tree)?;
        let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
        let is_small = u64::try_from(about.st_size).is_ok_and(|size| size <= COPIED);
        let mut bytes = Vec::new();
        let mut read = || File::open(named(tree))?.read_to_end(&mut bytes);
        if !is_file {
            return self.file(at, &[]).map(drop);
        }
        if !is_small || read().is_err() {
            return self.bind(tree, at);
        }
        let copy = self.file(at, &bytes)?;
        Ok(rustix::fs::fchmod(copy, Mode::from_raw_mode(about.st_mode & 0o555))?)
    }

    fn lay(&self, tree: &OwnedFd) -> io::Result<SharedLayer> {
        let below = self.attach_layer(tree)?;
        match self.mirror_of(tree) {
            Ok(mirror) => Ok(SharedLayer { at: self.attach_layer(&mirror)?, is_bare: false }),
            Err(_) => Ok(SharedLayer { at: below, is_bare: true }),
        }
    }

    /// What stands at a path of a layer. Nothing on the way is a link: it was looked at before.
    fn find(&self, at: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(openat2(&self.folder, inner(at), flags, Mode::empty(), resolve)?)
    }

    /// Covers sockets and pipes in what is shown of the machine's own, once everything stands in its place.
    pub(super) fn silence(&self) -> io::Result<()> {
        self.bare.borrow().iter().try_for_each(|at| self.silence_folder(at))
    }

    fn silence_folder(&self, at: &Path) -> io::Result<()> {
        // Not the device: a subvolume of btrfs has one of its own without being a mount.
        let mount = |folder: &OwnedFd| {
            let about = statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
            Ok::<u64, io::Error>(about.stx_mnt_id)
        };
        let own = mount(&self.find(at)?)?;
        let mut waiting = vec![at.to_owned()];
        while let Some(folder) = waiting.pop() {
            let Ok(found) = self.find(&folder) else { continue };
            // A layer, or what is mounted there, is looked at by itself.
            if mount(&found)? != own {
                continue;
            }
            // Who may not list a folder may still go through it to a name that is known.
            let Ok(open) = reopened(&found) else {
                self.hide(&folder)?;
                continue;
            };
            for entry in Dir::read_from(&open)?.flatten() {
                let name = entry.file_name();
                if matches!(name.to_bytes(), b"." | b"..") {
                    continue;
                }
                let kind = match entry.file_type() {
                    FileType::Unknown => kind_of(&open, name),
                    known => known,
                };
                let path = folder.join(name_of(name));
                match kind {
                    FileType::Directory => waiting.push(path),
                    FileType::Socket | FileType::Fifo => self.hide(&path)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn reopened(folder: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(folder, ".", flags, Mode::empty())?)
}

fn kind_of(folder: &OwnedFd, name: &std::ffi::CStr) -> FileType {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |about| FileType::from_raw_mode(about.st_mode))
}

fn name_of(name: &std::ffi::CStr) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()))
}
