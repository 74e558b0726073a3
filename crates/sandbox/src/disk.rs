//! How much disk folders take, however their contents are arranged.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmod, fstat, open, openat, statat,
};
use rustix::io::Errno;

/// A file costs a place in the file system's tables too, be it empty.
const ENTRY: u64 = 4 << 10;

/// Paths may grow longer than the kernel takes; below this they go on from a folder that is open.
const LONGEST: usize = 2_000;

/// Looks at folders again and again.
pub(crate) struct Counter {
    folders: Vec<PathBuf>,
    /// Folders that their owner has shut, with what was in them.
    shut: BTreeMap<Identity, Shut>,
    /// Those that could not be looked into before anything ran.
    foreign: BTreeSet<Identity>,
}

/// A device, and the number of a folder on it.
type Identity = (u64, u64);

struct Shut {
    /// When it was changed last; what is made or taken away in it changes it.
    changed: (i64, u64),
    looked: Instant,
    bytes: u64,
    /// Whoever has one of them open may still write in it.
    folders: Vec<Rc<OwnedFd>>,
}

/// Files in a folder that is shut may be open, and grow.
const AGAIN: Duration = Duration::from_secs(1);

/// Folders in those that are shut, which are held open.
const MOST_HELD: usize = 256;

#[derive(Default)]
pub(crate) struct Used {
    pub(crate) bytes: u64,
    /// There are folders that cannot be looked into, and nobody knows what is in them.
    pub(crate) is_closed: bool,
}

impl Counter {
    /// With what is there now.
    pub(crate) fn new(folders: &[PathBuf]) -> (Self, u64) {
        let folders = folders.to_vec();
        let mut counter = Self { folders, shut: BTreeMap::new(), foreign: BTreeSet::new() };
        let mut foreign = BTreeSet::new();
        let bytes = counter.count(u64::MAX, |identity| {
            foreign.insert(identity);
        });
        counter.foreign = foreign;
        (counter, bytes)
    }

    /// Bytes beneath the folders; no more than a little over `enough` is looked for.
    pub(crate) fn look(&mut self, enough: u64) -> Used {
        let mut closed = Vec::new();
        let bytes = self.count(enough, |identity| closed.push(identity));
        let is_closed = closed.iter().any(|identity| !self.foreign.contains(identity));
        Used { bytes, is_closed }
    }

    fn count(&mut self, enough: u64, mut closed: impl FnMut(Identity)) -> u64 {
        let mut bytes = 0;
        let mut before = mem::take(&mut self.shut);
        let mut waiting: Vec<Place> = self.folders.iter().map(|path| Place::new(path)).collect();
        while let Some(place) = waiting.pop() {
            bytes += match place.look(&mut waiting) {
                Ok(bytes) => bytes,
                Err(Errno::ACCESS) => {
                    let (identity, found) = self.look_into_shut(&place, &mut before, &mut waiting);
                    found.unwrap_or_else(|_| {
                        identity.into_iter().for_each(&mut closed);
                        0
                    })
                }
                // Gone meanwhile, or no folder any more.
                Err(_) => 0,
            };
            if bytes > enough {
                break;
            }
        }
        bytes
    }

    /// A folder that its owner has shut is opened for a moment, and then remembered: programs rely on what they shut.
    fn look_into_shut(
        &mut self,
        place: &Place,
        before: &mut BTreeMap<Identity, Shut>,
        waiting: &mut Vec<Place>,
    ) -> (Option<Identity>, Result<u64, Errno>) {
        // One above it was shut meanwhile, and is found the next time.
        let Ok(folder) = place.hold() else { return (None, Ok(0)) };
        let Ok(about) = fstat(&folder) else { return (None, Ok(0)) };
        let identity = (about.st_dev, about.st_ino);
        let known = before
            .remove(&identity)
            .filter(|known| known.changed == changed(&about) && known.looked.elapsed() < AGAIN);
        let held: usize = self.shut.values().map(|shut| shut.folders.len()).sum();
        let shut = match known
            .map_or_else(|| open_shut(&folder, &about, MOST_HELD.saturating_sub(held)), Ok)
        {
            Ok(shut) => shut,
            Err(error) => return (Some(identity), Err(error)),
        };
        waiting.extend(shut.folders.iter().map(Place::at));
        let bytes = shut.bytes;
        self.shut.insert(identity, shut);
        (Some(identity), Ok(bytes))
    }
}

fn changed(about: &Stat) -> (i64, u64) {
    (about.st_ctime, about.st_ctime_nsec)
}

/// Its owner's mode is back when this comes back, unless somebody gave it another one meanwhile.
fn open_shut(folder: &OwnedFd, about: &Stat, most: usize) -> Result<Shut, Errno> {
    let path = named(folder);
    let mode = Mode::from_raw_mode(about.st_mode);
    let open = mode | Mode::RUSR | Mode::XUSR;
    chmod(&path, open)?;
    let listed = list_held(&path, most);
    if fstat(folder).is_ok_and(|now| Mode::from_raw_mode(now.st_mode) == open) {
        chmod(&path, mode)?;
    }
    let (bytes, folders) = listed?;
    Ok(Shut { changed: changed(&fstat(folder)?), looked: Instant::now(), bytes, folders })
}

/// What is in a folder that is open for a moment, and the folders in it, which stay open.
fn list_held(path: &str, most: usize) -> Result<(u64, Vec<Rc<OwnedFd>>), Errno> {
    let folder = open(path, FOLDER, Mode::empty())?;
    let (bytes, names) = list(&folder)?;
    if names.len() > most {
        return Err(Errno::MFILE);
    }
    let held = |name: Vec<u8>| openat(&folder, name, HOLD, Mode::empty()).map(Rc::new);
    Ok((bytes, names.into_iter().map(held).collect::<Result<_, _>>()?))
}

/// What the entries of a folder take, and the names of the folders among them.
fn list(folder: &OwnedFd) -> Result<(u64, Vec<Vec<u8>>), Errno> {
    let (mut bytes, mut folders) = (0, Vec::new());
    for entry in Dir::read_from(folder)?.flatten() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let about = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => about,
            Err(Errno::ACCESS) => return Err(Errno::ACCESS),
            // Gone meanwhile.
            Err(_) => continue,
        };
        bytes += cost(&about);
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
            folders.push(name.to_bytes().to_vec());
        }
    }
    Ok((bytes, folders))
}

/// What a file takes.
pub(crate) fn cost(about: &Stat) -> u64 {
    (u64::try_from(about.st_blocks).unwrap_or(0) * 512).max(ENTRY)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const HOLD: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// By this path whatever is held is reached, be it shut.
fn named(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}

/// A folder by a path from another that is open; without one, by its whole path; without a path, the open one itself.
struct Place {
    base: Option<Rc<OwnedFd>>,
    path: PathBuf,
}

impl Place {
    fn new(path: &Path) -> Self {
        Self { base: None, path: path.to_owned() }
    }

    fn at(folder: &Rc<OwnedFd>) -> Self {
        Self { base: Some(Rc::clone(folder)), path: PathBuf::new() }
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        match &self.base {
            Some(base) if self.path.as_os_str().is_empty() => {
                open(named(base), FOLDER, Mode::empty())
            }
            base => {
                let base = base.as_ref().map_or(CWD, |base| base.as_fd());
                openat(base, &self.path, FOLDER | OFlags::NOFOLLOW, Mode::empty())
            }
        }
    }

    /// Also one that is shut.
    fn hold(&self) -> Result<OwnedFd, Errno> {
        match &self.base {
            Some(base) if self.path.as_os_str().is_empty() => {
                rustix::io::fcntl_dupfd_cloexec(base, 0)
            }
            base => {
                let base = base.as_ref().map_or(CWD, |base| base.as_fd());
                openat(base, &self.path, HOLD, Mode::empty())
            }
        }
    }

    /// Counts what is in it, and leaves the folders among it for later.
    fn look(&self, waiting: &mut Vec<Self>) -> Result<u64, Errno> {
        let folder = Rc::new(self.open()?);
        let (bytes, names) = list(&folder)?;
        waiting.extend(names.iter().map(|name| self.below(&folder, name)));
        Ok(bytes)
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
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn empty_files_and_folders_beyond_the_longest_path_count() {
        let folder = tempfile::tempdir().unwrap();
        let (mut counter, before) = Counter::new(&[folder.path().to_owned()]);
        assert_eq!(before, 0);
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(counter.look(u64::MAX).bytes, 3 * ENTRY);
        let name = "d".repeat(250);
        let mut at = open(folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
            at = openat(&at, name.as_str(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let file = openat(&at, "file", OFlags::WRONLY | OFlags::CREATE, Mode::RWXU).unwrap();
        rustix::io::write(&file, &vec![1; 1 << 20]).unwrap();
        rustix::fs::fsync(&file).unwrap();
        let all = counter.look(u64::MAX).bytes;
        assert!(all >= (1 << 20) + 23 * ENTRY, "{all}");
        assert!(counter.look(ENTRY).bytes < all, "enough is enough");
    }

    #[test]
    fn a_folder_that_its_owner_shut_counts_with_all_below_and_stays_shut() {
        let folder = tempfile::tempdir().unwrap();
        let shut = folder.path().join("shut");
        fs::create_dir_all(shut.join("below/deep")).unwrap();
        for name in ["file", "below/file", "below/deep/file"] {
            fs::write(shut.join(name), "").unwrap();
        }
        let mode = || fs::metadata(&shut).unwrap().permissions().mode() & 0o7777;
        fs::set_permissions(&shut, fs::Permissions::from_mode(0)).unwrap();
        let (mut counter, _) = Counter::new(&[]);
        let mut count = || {
            let (mut before, mut waiting) = (mem::take(&mut counter.shut), Vec::new());
            let (_, own) = counter.look_into_shut(&Place::new(&shut), &mut before, &mut waiting);
            let mut bytes = own.unwrap();
            while let Some(place) = waiting.pop() {
                bytes += place.look(&mut waiting).unwrap();
            }
            bytes
        };
        assert_eq!((count(), mode()), (5 * ENTRY, 0));
        let changed = fs::metadata(&shut).unwrap().modified().unwrap();
        assert_eq!((count(), mode()), (5 * ENTRY, 0), "as remembered");
        assert_eq!(fs::metadata(&shut).unwrap().modified().unwrap(), changed);
        fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
