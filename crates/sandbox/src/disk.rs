//! How much disk folders take, however their contents are arranged.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

/// A file costs a place in the file system's tables too, be it empty.
const ENTRY: u64 = 4 << 10;

/// Paths may grow longer than the kernel takes; below this they go on from a folder that is open.
const LONGEST: usize = 2_000;

/// Bytes beneath the folders; no more than a little over `enough` is looked for. A folder that cannot be looked into
/// counts for `closed`: nobody knows what is in it.
pub(crate) fn used(folders: &[PathBuf], enough: u64, closed: u64) -> u64 {
    let mut bytes = 0;
    let mut waiting: Vec<Place> = folders.iter().map(|folder| Place::new(folder)).collect();
    while let Some(place) = waiting.pop() {
        bytes += match place.open() {
            Ok(folder) => place.look(folder, &mut waiting),
            Err(Errno::ACCESS) => closed,
            // Gone meanwhile, or no folder any more.
            Err(_) => 0,
        };
        if bytes > enough {
            break;
        }
    }
    bytes
}

/// What a file takes.
pub(crate) fn cost(about: &Stat) -> u64 {
    (u64::try_from(about.st_blocks).unwrap_or(0) * 512).max(ENTRY)
}

/// A folder by a path from another that is open; without one, by its whole path.
struct Place {
    base: Option<Rc<OwnedFd>>,
    path: PathBuf,
}

impl Place {
    fn new(path: &Path) -> Self {
        Self { base: None, path: path.to_owned() }
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let base = self.base.as_ref().map_or(CWD, |base| base.as_fd());
        openat(base, &self.path, flags, Mode::empty())
    }

    /// Counts what is in it, and leaves the folders among it for later.
    fn look(&self, folder: OwnedFd, waiting: &mut Vec<Self>) -> u64 {
        let mut bytes = 0;
        let Ok(entries) = Dir::read_from(&folder) else { return bytes };
        let folder = Rc::new(folder);
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Ok(about) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            bytes += cost(&about);
            if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                waiting.push(self.below(&folder, name.to_bytes()));
            }
        }
        bytes
    }

    fn below(&self, folder: &Rc<OwnedFd>, name: &[u8]) -> Self {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(name);
        let path = self.path.join(name);
        if path.as_os_str().len() > LONGEST {
            Self { base: Some(Rc::clone(folder)), path: name.into() }
        } else {
            Self { base: self.base.clone(), path }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn empty_files_and_folders_beyond_the_longest_path_count() {
        let folder = tempfile::tempdir().unwrap();
        let all = [folder.path().to_owned()];
        let measure = || used(&all, u64::MAX, u64::MAX);
        assert_eq!(measure(), 0);
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(measure(), 3 * ENTRY);
        let name = "d".repeat(250);
        let mut at = rustix::fs::open(folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
            at = openat(&at, name.as_str(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let file = openat(&at, "file", OFlags::WRONLY | OFlags::CREATE, Mode::RWXU).unwrap();
        rustix::io::write(&file, &vec![1; 1 << 20]).unwrap();
        rustix::fs::fsync(&file).unwrap();
        assert!(measure() >= (1 << 20) + 23 * ENTRY, "{}", measure());
        assert!(used(&all, ENTRY, 0) < measure(), "enough is enough");
    }
}
