//! Where attempts work: folders of their own over bases that are shared, and nothing of them left afterwards.
//!
//! A state folder holds `bases`, each written once and never changed, and `attempts`. Both are held by locks of the kernel, which end
//! with the process: what nobody holds is what a dead one left, and the next sweep takes it away.

pub mod copy;
pub mod ignored;
mod layer;
pub mod linked;
mod restore;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_NOW, flock, futimens};

use crate::Ids;
use crate::discard::discard;

pub use layer::{Layer, reopen};
pub(crate) use walk::Folder;

/// The folder with everything that bases and attempts keep on the disk.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
}

/// A base that is held: no sweep takes it away.
#[derive(Debug)]
pub struct Base {
    folder: PathBuf,
    held: File,
}

/// The folder of one attempt, which goes with this value.
#[derive(Debug)]
pub struct Attempt {
    folder: PathBuf,
    _held: File,
}

/// What a sweep took away and what it could not.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub attempts: usize,
    pub bases: usize,
    pub problems: Vec<String>,
}

/// A folder that nobody needs. Whoever has this takes it away: another sweep leaves it alone.
struct Left {
    folder: PathBuf,
    _taken: Option<File>,
}

/// How often a sweep begins again because something was gone when it came to it.
const MEETINGS: usize = 8;

impl Left {
    /// Nothing if another sweep has it.
    fn take(folder: PathBuf) -> Option<Self> {
        let taken = File::open(&folder).ok();
        let lock = |file| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        taken.as_ref().is_none_or(lock).then_some(Self { folder, _taken: taken })
    }
}

const BASES: &str = "bases";
const ATTEMPTS: &str = "attempts";
const LOCK: &str = "lock";
/// How the names of bases begin that are not to be used.
const DAMAGED: &str = "damaged-";

impl State {
    /// Makes the folder if it is not there; nobody else may look into it.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for name in [BASES, ATTEMPTS] {
            let folder = folder.join(name);
            builder.create(&folder).map_err(|error| {
                io::Error::new(error.kind(), format!("`{}`: {error}", folder.display()))
            })?;
        }
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// The base of this name, if it was made.
    pub fn base(&self, name: &str) -> io::Result<Option<Base>> {
        let _shared = self.lock(FlockOperation::LockShared)?;
        hold(&self.folder.join(BASES).join(plain(name)?))
    }

    /// Takes what was made in `from`, a folder of an attempt, as the base of this name. If another was faster, that one is
    /// given. It is on the disk before it has its name: half of it would be taken for the whole after a crash.
    pub fn keep(&self, from: &Path, name: &str) -> io::Result<Base> {
        let _shared = self.lock(FlockOperation::LockShared)?;
        let folder = self.folder.join(BASES).join(plain(name)?);
        sync(&File::create(from.join(LOCK))?)?;
        match fs::rename(from, &folder) {
            Err(error) if !folder.is_dir() => return Err(error),
            _ => {}
        }
        let base = hold(&folder)?;
        base.ok_or_else(|| io::Error::other(format!("the base `{name}` is damaged")))
    }

    /// Takes the name from a base that is damaged, so that it is made anew. Whoever works over it still can; the next sweep after
    /// that takes it away. `name` is one that no other has.
    pub fn set_aside(&self, base: &Base, name: &str) -> io::Result<()> {
        let _alone = self.lock(FlockOperation::LockExclusive)?;
        let held = base.held.metadata()?.ino();
        // Another may have done so, and made it anew.
        if fs::metadata(base.folder.join(LOCK)).is_ok_and(|there| there.ino() == held) {
            let aside = format!("{DAMAGED}{}", plain(name)?);
            fs::rename(&base.folder, self.folder.join(BASES).join(aside))?;
        }
        Ok(())
    }

    /// Begins an attempt under a name that no other one has.
    pub fn begin(&self, name: &str) -> io::Result<Attempt> {
        let _shared = self.lock(FlockOperation::LockShared)?;
        let folder = self.folder.join(ATTEMPTS).join(plain(name)?);
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let held = File::create(folder.join(LOCK))?;
        flock(&held, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Attempt { folder, _held: held })
    }

    /// Takes away what dead attempts left, and bases that nobody holds but for the `kept` ones that were of use last. Others wait only
    /// until that is chosen.
    pub fn sweep(&self, kept: usize) -> io::Result<Swept> {
        let mut swept = Swept::default();
        let (attempts, bases) = {
            let _alone = self.lock(FlockOperation::LockExclusive)?;
            // What is moved among the attempts is not one.
            let attempts = self.dead_attempts()?;
            (attempts, self.move_bases_away(kept, &mut swept.problems)?)
        };
        let discard = |left: &Left, problems: &mut Vec<String>| {
            let mut gone = discard(&left.folder);
            // Whoever it belonged to takes it away at the same time.
            for _ in 0..MEETINGS {
                let is_met = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
                if !gone.as_ref().is_err_and(is_met) || !left.folder.exists() {
                    break;
                }
                gone = discard(&left.folder);
            }
            match gone {
                Ok(()) => true,
                Err(_) if !left.folder.exists() => false,
                Err(error) => {
                    problems.push(format!("`{}`: {error}.", left.folder.display()));
                    false
                }
            }
        };
        let problems = &mut swept.problems;
        swept.attempts = attempts.iter().filter(|left| discard(left, problems)).count();
        swept.bases = bases.iter().filter(|left| discard(left, problems)).count();
        Ok(swept)
    }

    fn dead_attempts(&self) -> io::Result<Vec<Left>> {
        let dead = list(&self.folder.join(ATTEMPTS))?.into_iter().filter(|folder| !is_held(folder));
        Ok(dead.filter_map(Left::take).collect())
    }

    /// Half a base would be taken for a whole one, so they are moved before they are taken away.
    fn move_bases_away(&self, kept: usize, problems: &mut Vec<String>) -> io::Result<Vec<Left>> {
        let is_damaged = |folder: &PathBuf| {
            folder
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(DAMAGED.as_bytes()))
        };
        let all = list(&self.folder.join(BASES))?.into_iter().filter(|folder| !is_held(folder));
        let (damaged, whole): (Vec<_>, Vec<_>) = all.partition(is_damaged);
        let used = |folder: &PathBuf| {
            let used = fs::metadata(folder.join(LOCK)).and_then(|seen| seen.modified());
            used.unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let mut whole: Vec<_> = whole.into_iter().map(|folder| (used(&folder), folder)).collect();
        whole.sort();
        whole.truncate(whole.len().saturating_sub(kept));
        let mut moved = Vec::new();
        for folder in whole.into_iter().map(|(_, folder)| folder).chain(damaged) {
            match self.move_away(&folder) {
                Ok(away) => moved.extend(Left::take(away)),
                Err(error) => problems.push(format!("`{}`: {error}.", folder.display())),
            }
        }
        Ok(moved)
    }

    fn move_away(&self, base: &Path) -> io::Result<PathBuf> {
        let name = base.file_name().unwrap_or_default().to_string_lossy();
        // One of this name may still be on its way out.
        for number in 0_u32.. {
            let away = self.folder.join(ATTEMPTS).join(format!("{number}-{name}"));
            match fs::rename(base, &away) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                moved => return moved.map(|()| away),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Beginning and holding go on side by side, but never during a sweep.
    fn lock(&self, how: FlockOperation) -> io::Result<File> {
        let file = File::create(self.folder.join(LOCK))?;
        flock(&file, how)?;
        Ok(file)
    }
}

impl Base {
    /// The folder with what was kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Attempt {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A folder of the attempt's own that is empty.
    pub fn make(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(plain(name)?);
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    /// The store of a layer: what `Entry::Layered` asks for. `owner` is who the jailed program is for the machine, where it is not
    /// who calls this.
    pub fn layer(&self, name: &str, owner: Option<Ids>) -> io::Result<Layer> {
        let store = self.make(name)?;
        for part in ["upper", "work"] {
            let part = store.join(part);
            fs::create_dir(&part)?;
            // The highest layer says how the merged folder may be entered.
            fs::set_permissions(&part, fs::Permissions::from_mode(0o755))?;
            if let Some(owner) = owner {
                chown(&part, Some(owner.user), Some(owner.group))?;
            }
        }
        Ok(Layer::new(store, owner))
    }

    /// Takes it away at once and says if that fails; what is left then goes with the next sweep.
    pub fn discard(self) -> io::Result<()> {
        discard(&self.folder)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // A failure leaves it to the next sweep.
        let _ = discard(&self.folder);
    }
}

fn hold(folder: &Path) -> io::Result<Option<Base>> {
    match File::open(folder.join(LOCK)) {
        Ok(held) => {
            flock(&held, FlockOperation::LockShared)?;
            // Its time tells when it was last of use.
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            futimens(&held, &Timestamps { last_access: now, last_modification: now })?;
            Ok(Some(Base { folder: folder.to_owned(), held }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes out all of the disk that the file is on.
#[cfg(target_os = "linux")]
fn sync(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync(_: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Whether a living process holds the folder.
fn is_held(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK));
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    found.sort();
    Ok(found)
}

/// A name that is one part of a path.
fn plain(name: &str) -> io::Result<&str> {
    let of_path = |letter: char| letter == '/' || letter.is_control();
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || name.contains(of_path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is no name")));
    }
    Ok(name)
}
