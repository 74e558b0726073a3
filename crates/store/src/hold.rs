//! Who owns a run, by the kernel's locks: they end with the process, however that ends.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2,
    statat, unlinkat,
};
use rustix::io::Errno;
use sequester_core::digest::Digest;
use sequester_core::id::RunId;
use sequester_core::store::Error;

use crate::error;

/// The folder of lock files beside a database: one per run that is held, and a gate.
#[derive(Clone)]
pub(crate) struct Holds {
    folder: Arc<Path>,
}

/// A run that is this process's own, until this is dropped.
pub(crate) struct Hold {
    holds: Holds,
    file: String,
    lock: File,
}

/// Everything that makes, tries or removes a lock file happens behind this. So to look at a lock is never in the way of who wants
/// it, and no lock is taken on a file that is removed at that moment.
pub(crate) struct Gate(#[expect(dead_code, reason = "its lock ends with it")] File);

impl Holds {
    pub(crate) fn beside(database: &Path) -> Self {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push("-leases");
        Self { folder: database.with_file_name(name).into() }
    }

    pub(crate) fn gate(&self) -> Result<Gate, Error> {
        let folder = LeaseFolder::make(&self.folder).map_err(|error| self.failed(&error))?;
        self.lock_gate(&folder, OFlags::WRONLY | OFlags::CREATE)
    }

    fn lock_gate(&self, folder: &LeaseFolder, flags: OFlags) -> Result<Gate, Error> {
        let locked = folder.open_file("gate", flags).and_then(|file| {
            file.lock()?;
            Ok(Gate(file))
        });
        locked.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> Error {
        error::of_disk(error, &self.folder)
    }

    /// Nothing if somebody else holds it, be it this very process.
    pub(crate) fn take(&self, run: &RunId) -> Result<Option<Hold>, Error> {
        let _gate = self.gate()?;
        let folder = LeaseFolder::open(&self.folder).map_err(|error| self.failed(&error))?;
        let file = file_of(run);
        let lock = folder.open_file(&file, OFlags::WRONLY | OFlags::CREATE);
        let lock = lock.map_err(|error| self.failed(&error))?;
        match lock.try_lock() {
            Ok(()) => {
                // For people only: what counts is the lock.
                let id = std::process::id().to_string();
                let _ = lock.set_len(0).and_then(|()| (&lock).write_all(id.as_bytes()));
                Ok(Some(Hold { holds: self.clone(), file, lock }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.failed(&error)),
        }
    }

    /// The process that took it last, as far as it could say so.
    pub(crate) fn owner(&self, run: &RunId) -> Option<u32> {
        let mut told = String::new();
        let folder = LeaseFolder::open(&self.folder).ok()?;
        let file = folder.open_file(&file_of(run), OFlags::RDONLY).ok()?;
        file.take(32).read_to_string(&mut told).ok()?;
        told.parse().ok()
    }

    /// Needs no right to write.
    pub(crate) fn is_held(&self, run: &RunId) -> Result<bool, Error> {
        let file = file_of(run);
        let folder = match LeaseFolder::open(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.failed(&error)),
        };
        if !folder.has(&file).map_err(|error| self.failed(&error))? {
            return Ok(false);
        }
        let _gate = self.lock_gate(&folder, OFlags::RDONLY)?;
        match folder.open_file(&file, OFlags::RDONLY).map(|lock| lock.try_lock_shared()) {
            Ok(Ok(())) => Ok(false),
            Ok(Err(TryLockError::WouldBlock)) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Ok(Err(TryLockError::Error(error))) | Err(error) => Err(self.failed(&error)),
        }
    }

    /// Removes the files of processes that were killed, and says how many there were.
    pub(crate) fn sweep(&self) -> Result<usize, Error> {
        let _gate = self.gate()?;
        let swept = LeaseFolder::open(&self.folder).and_then(|folder| folder.sweep());
        swept.map_err(|error| self.failed(&error))
    }
}

/// A run's id may hold anything; its digest is a plain name.
fn file_of(run: &RunId) -> String {
    Digest::of(run.as_str().as_bytes()).as_str().to_owned()
}

/// The folder itself, by a handle: a repository may have come with a link of its name, or with links in it.
struct LeaseFolder(OwnedFd);

impl LeaseFolder {
    fn make(path: &Path) -> io::Result<Self> {
        match mkdirat(CWD, path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Self::open(path),
            Err(error) => Err(error.into()),
        }
    }

    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        // Kernels and filters that do not know the call.
        let folder = match folder {
            Err(Errno::NOSYS | Errno::PERM) => openat(CWD, path, flags, Mode::empty()),
            folder => folder,
        };
        match folder {
            Ok(folder) => Ok(Self(folder)),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(io::Error::other("it is no folder of ours")),
            Err(error) => Err(error.into()),
        }
    }

    /// Only what is an ordinary file, and waiting for nobody: it may be a pipe.
    fn open_file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let odd = || io::Error::other("it is no ordinary file");
        let file = match openat(&self.0, name, flags, mode) {
            Err(Errno::LOOP | Errno::NXIO) => return Err(odd()),
            file => file?,
        };
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(odd());
        }
        Ok(File::from(file))
    }

    fn has(&self, name: &str) -> io::Result<bool> {
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn sweep(&self) -> io::Result<usize> {
        let mut swept = 0;
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_str().unwrap_or_default();
            let ours = Digest::parse(name).is_some();
            let is_free = || {
                let file = self.open_file(name, OFlags::RDONLY);
                file.is_ok_and(|file| file.try_lock().is_ok())
            };
            if ours && is_free() {
                unlinkat(&self.0, name, AtFlags::empty())?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// Whether a file that is open still has this name.
    fn is_same(&self, file: &File, name: &str) -> io::Result<bool> {
        let (ours, there) = (fstat(file)?, statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?);
        Ok((ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // What cannot be removed now is swept by `gc`. The file may be another's, if ours was removed under us.
        if let (Ok(_gate), Ok(folder)) = (self.holds.gate(), LeaseFolder::open(&self.holds.folder))
            && folder.is_same(&self.lock, &self.file).unwrap_or(false)
        {
            let _ = unlinkat(&folder.0, self.file.as_str(), AtFlags::empty());
        }
    }
}
