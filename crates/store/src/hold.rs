//! Who owns a run, by the kernel's locks: they end with the process, however that ends.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    file: PathBuf,
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
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(error::of_disk(&error, &self.folder))
            }
            _ => self.lock_gate(OpenOptions::new().write(true).create(true)),
        }
    }

    fn lock_gate(&self, options: &mut OpenOptions) -> Result<Gate, Error> {
        let path = self.folder.join("gate");
        let locked = open(&path, options).and_then(|file| file.lock().map(|()| Gate(file)));
        locked.map_err(|error| error::of_disk(&error, &path))
    }

    /// Nothing if somebody else holds it, be it this very process.
    pub(crate) fn take(&self, run: &RunId) -> Result<Option<Hold>, Error> {
        let _gate = self.gate()?;
        let file = self.file(run);
        let failed = |error: io::Error| error::of_disk(&error, &file);
        let lock = open(&file, OpenOptions::new().write(true).create(true)).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {
                // For people only: what counts is the lock.
                let id = std::process::id().to_string();
                let _ = lock.set_len(0).and_then(|()| (&lock).write_all(id.as_bytes()));
                Ok(Some(Hold { holds: self.clone(), file, lock }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// The process that took it last, as far as it could say so.
    pub(crate) fn owner(&self, run: &RunId) -> Option<u32> {
        let mut told = String::new();
        let file = open(&self.file(run), OpenOptions::new().read(true)).ok()?;
        file.take(32).read_to_string(&mut told).ok()?;
        told.parse().ok()
    }

    /// Needs no right to write.
    pub(crate) fn is_held(&self, run: &RunId) -> Result<bool, Error> {
        let file = self.file(run);
        let failed = |error: io::Error| error::of_disk(&error, &file);
        if !file.try_exists().map_err(failed)? {
            return Ok(false);
        }
        let _gate = self.lock_gate(OpenOptions::new().read(true))?;
        match open(&file, OpenOptions::new().read(true)).map(|lock| lock.try_lock_shared()) {
            Ok(Ok(())) => Ok(false),
            Ok(Err(TryLockError::WouldBlock)) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Ok(Err(TryLockError::Error(error))) | Err(error) => Err(failed(error)),
        }
    }

    /// Removes the files of processes that were killed, and says how many there were.
    pub(crate) fn sweep(&self) -> Result<usize, Error> {
        let _gate = self.gate()?;
        let failed = |error: io::Error| error::of_disk(&error, &self.folder);
        let mut swept = 0;
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let ours = entry.file_name().to_str().is_some_and(|name| Digest::parse(name).is_some());
            let path = entry.path();
            if ours
                && open(&path, OpenOptions::new().read(true)).is_ok_and(|f| f.try_lock().is_ok())
            {
                fs::remove_file(&path).map_err(failed)?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// A run's id may hold anything; its digest is a plain name.
    fn file(&self, run: &RunId) -> PathBuf {
        self.folder.join(Digest::of(run.as_str().as_bytes()).as_str())
    }
}

/// Only what is an ordinary file: a repository may have come with a link or a pipe of this name.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no ordinary file")),
        _ => options.mode(0o600).open(path),
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // What cannot be removed now is swept by `gc`. The file may be another's, if ours was removed under us.
        if let (Ok(_gate), Ok(ours)) = (self.holds.gate(), is_same(&self.lock, &self.file))
            && ours
        {
            let _ = fs::remove_file(&self.file);
        }
    }
}

fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}
