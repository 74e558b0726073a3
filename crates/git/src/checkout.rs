//! The working file as a cheap copy of an object: used only if its hash is the object's name.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, fstat, openat, readlinkat, statat,
};
use rustix::io::Errno;

use crate::name::{Format, Kind};

/// A larger file that was touched counts as changed, unread.
const COMPARED_BYTES: u64 = 256 << 20;

/// A file or link as it lies in the working tree.
pub(crate) struct Held {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: Timespec,
}

/// The folder that a repository was checked out to.
#[derive(Debug)]
pub(crate) struct Checkout {
    root: PathBuf,
    /// Nothing if the folder cannot be opened: then no file stands in for an object.
    handle: Option<OwnedFd>,
}

impl Checkout {
    pub(crate) fn at(root: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, root, flags, Mode::empty()).ok();
        Self { root: root.to_owned(), handle }
    }

    /// The bytes of the regular file at `path`, if they are exactly the blob `name`.
    ///
    /// The hash makes the answer right whatever lies there: a changed file, or one that changes while it is read.
    pub(crate) fn read_if_same(&self, path: &str, name: &str, limit: u64) -> Option<Vec<u8>> {
        self.find_same(path, name, limit).map(|same| same.bytes)
    }

    /// The same, with the time at which the file was last changed.
    pub(crate) fn find_same(&self, path: &str, name: &str, limit: u64) -> Option<Held> {
        let same = self.read(path, limit)?;
        is_blob(&same.bytes, name).then_some(same)
    }

    /// A link, with the path that it names.
    pub(crate) fn read_link(&self, path: &str) -> Option<Held> {
        let handle = self.handle.as_ref()?;
        let seen = statat(handle, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let bytes = readlinkat(handle, path, Vec::new()).ok()?.into_bytes();
        Some(Held { bytes, modified: modified(&seen) })
    }

    /// Whether its owner may run the file at `path`.
    pub(crate) fn is_executable(&self, path: &str) -> bool {
        let seen =
            self.handle.as_ref().map(|handle| statat(handle, path, AtFlags::SYMLINK_NOFOLLOW));
        seen.is_some_and(|seen| seen.is_ok_and(|seen| seen.st_mode & 0o100 != 0))
    }

    /// When the file or link at `path` was last changed, and its size.
    pub(crate) fn look(&self, path: &str) -> Option<(Timespec, u64)> {
        let seen = statat(self.handle.as_ref()?, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((modified(&seen), seen.st_size.cast_unsigned()))
    }

    /// Whether the regular file or link at `path` holds exactly the blob `name`.
    pub(crate) fn is_same(&self, path: &str, name: &str) -> bool {
        match self.root.join(path).read_link() {
            Ok(to) => is_blob(to.as_os_str().as_encoded_bytes(), name),
            Err(_) => self.read_if_same(path, name, COMPARED_BYTES).is_some(),
        }
    }

    /// A regular file of at most `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Option<Held> {
        let file = self.open(path).ok()?;
        let seen = fstat(&file).ok()?;
        let size = seen.st_size.cast_unsigned();
        if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile || size > limit {
            return None;
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= limit).then(|| Held { bytes, modified: modified(&seen) })
    }

    /// Follows no link, in whatever part of the path, and waits for nobody: what lies there may be a pipe or a device.
    fn open(&self, path: &str) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = self.handle.as_ref().ok_or(Errno::NOENT)?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            match openat2(handle, path, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS) => {}
                opened => return opened.map(File::from),
            }
        }
        openat(handle, path, flags, Mode::empty()).map(File::from)
    }
}

/// Whether `name` is what git calls a blob with these bytes.
fn is_blob(bytes: &[u8], name: &str) -> bool {
    Format::of(name).is_some_and(|format| format.name(Kind::Blob, bytes).to_string() == name)
}

/// When what was seen was last changed.
pub(crate) fn modified(seen: &Stat) -> Timespec {
    Timespec { tv_sec: seen.st_mtime, tv_nsec: seen.st_mtime_nsec.cast_signed() }
}

pub(crate) fn timespec(time: SystemTime) -> Timespec {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: since.subsec_nanos().into() }
}

pub(crate) fn system_time(time: Timespec) -> SystemTime {
    let whole = Duration::from_secs(time.tv_sec.unsigned_abs());
    let moved = match time.tv_sec {
        0.. => SystemTime::UNIX_EPOCH.checked_add(whole),
        _ => SystemTime::UNIX_EPOCH.checked_sub(whole),
    };
    let nanos = Duration::from_nanos(time.tv_nsec.unsigned_abs());
    moved.and_then(|time| time.checked_add(nanos)).unwrap_or(SystemTime::UNIX_EPOCH)
}
