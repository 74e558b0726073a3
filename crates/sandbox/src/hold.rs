//! Locks of the kernel, which end with the process that has them: who is alive is told by what it holds, in whatever container it runs.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::discard::discard;

/// One at a time among all that put something into a state folder or take it away.
pub(crate) struct Turn(#[expect(dead_code, reason = "it is held")] File);

impl Turn {
    pub(crate) fn take(state: &Path) -> io::Result<Self> {
        fs::create_dir_all(state)?;
        // The folder itself: nothing has to lie in it for this.
        let file = File::open(state)?;
        lock(&file, FlockOperation::LockExclusive)?;
        Ok(Self(file))
    }
}

/// A store that is somebody's as long as this lives, and gone with it.
pub(crate) struct Store {
    folder: PathBuf,
    #[expect(dead_code, reason = "it is held")]
    lock: File,
}

impl Store {
    pub(crate) fn make(folder: &Path) -> io::Result<Self> {
        let _turn = folder.parent().map(Turn::take).transpose()?;
        fs::create_dir_all(folder)?;
        // The folder itself: what lies in it may be a jailed program's.
        let file = File::open(folder)?;
        lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { folder: folder.to_owned(), lock: file })
    }

    pub(crate) fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Takes away what is in it. It stays somebody's: as long as it is there, who finds it looks for all that belonged to it.
    pub(crate) fn empty(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let _ = discard(&entry.path());
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // What is left is taken away at the next start.
        let _ = discard(&self.folder);
    }
}

/// Whether a store is nobody's. Needs a turn.
pub(crate) fn is_left(folder: &Path) -> bool {
    match File::open(folder) {
        Ok(file) => lock(&file, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Opens or makes a file of ours, through no link.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().read(true).write(true).create(true).custom_flags(nofollow).open(path)
}

pub(crate) fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, how) {
            Err(rustix::io::Errno::INTR) => {}
            locked => return Ok(locked?),
        }
    }
}
