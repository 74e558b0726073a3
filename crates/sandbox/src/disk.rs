//! How much disk folders take, however their contents are arranged.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

/// A file costs a place in the file system's tables too, be it empty.
const ENTRY: u64 = 4 << 10;

/// Below this, paths go on from a folder that is open: the kernel walks each one from its start, and takes none of any length. Each
/// such folder stays open while its own are waiting.
const LONGEST: usize = 200;

#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) bytes: u64,
    /// Folders and files that nobody could look at, so that nobody knows what is in them.
    pub(crate) closed: u64,
}

/// What is beneath the folders; no more than a little over `enough` is looked for.
pub(crate) fn used(folders: &[PathBuf], enough: u64) -> Stored {
    let mut stored = Stored::default();
    let mut waiting: Vec<Place> = folders.iter().map(|folder| Place::new(folder)).collect();
    while let Some(place) = waiting.pop() {
        if let Err(error) = place.look(&mut stored, &mut waiting) {
            stored.miss(error);
        }
        if stored.bytes > enough {
            break;
        }
    }
    stored
}

impl Stored {
    /// What is gone meanwhile, or no folder any more, takes nothing.
    fn miss(&mut self, error: Errno) {
        if !matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
            self.closed += 1;
        }
    }
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

    /// Counts what is in it, and leaves the folders among it for later.
    fn look(&self, stored: &mut Stored, waiting: &mut Vec<Self>) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let base = self.base.as_ref().map_or(CWD, |base| base.as_fd());
        let folder = Rc::new(openat(base, &self.path, flags, Mode::empty())?);
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) => {
                    stored.bytes += cost(&about);
                    if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
                        waiting.push(self.below(&folder, name.to_bytes()));
                    }
                }
                Err(error) => stored.miss(error),
            }
        }
        Ok(())
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
        let measure = || used(&all, u64::MAX).bytes;
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
        assert!(used(&all, ENTRY).bytes < measure(), "enough is enough");
    }

    #[test]
    fn what_is_gone_takes_nothing_and_what_cannot_be_looked_at_is_told() {
        let mut stored = Stored::default();
        for error in [Errno::NOENT, Errno::NOTDIR, Errno::LOOP] {
            stored.miss(error);
        }
        assert_eq!(stored.closed, 0);
        for error in [Errno::ACCESS, Errno::MFILE] {
            stored.miss(error);
        }
        assert_eq!(stored.closed, 2);
    }
}
