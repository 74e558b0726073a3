//! Files put in place of others, all of them or none.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode as Bits, OFlags, mkdirat, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sequester_core::path::RepoPath;
use sequester_core::repository::Error;

use crate::folder::Mode;
use crate::objects::Objects;
use crate::program::broken;
use crate::trees::edit::Leaf;

/// A larger file is no part of a source tree.
const FILE_BYTES: u64 = 1 << 30;

/// What lies at a path, and what is to.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: RepoPath,
    pub(super) old: Option<Leaf>,
    pub(super) new: Option<Leaf>,
}

impl Place {
    pub(super) fn reversed(&self) -> Self {
        Self { path: self.path.clone(), old: self.new, new: self.old }
    }
}

/// New files that wait beside the others, on the same file system. A full disk is noticed here, before anything changed.
pub(super) struct Swap<'a> {
    root: OwnedFd,
    places: &'a [Place],
    stage: Stage,
    done: Vec<Step>,
}

/// A folder in the working tree for the time of the swap.
struct Stage {
    path: std::path::PathBuf,
    folder: OwnedFd,
    /// What is still in it is the only copy.
    is_needed: bool,
}

/// What was done, to be undone in the opposite order.
enum Step {
    /// The old one lies in the stage under this number.
    Taken(usize),
    Put(usize),
    Made(String),
    Pruned(String),
}

impl<'a> Swap<'a> {
    pub(super) fn prepare(
        objects: &Objects,
        root: &Path,
        places: &'a [Place],
    ) -> Result<Self, Error> {
        let unwritable =
            |error: Errno| broken(format!("`{}` cannot be written: {error}.", root.display()));
        let folder = openat(CWD, root, FOLDER, Bits::empty()).map_err(unwritable)?;
        let name = format!(".sequester-apply-{}", std::process::id());
        mkdirat(&folder, &name, Bits::from_raw_mode(0o700)).map_err(unwritable)?;
        let path = root.join(&name);
        let stage = openat(&folder, &name, FOLDER, Bits::empty()).map_err(unwritable)?;
        let stage = Stage { path, folder: stage, is_needed: false };
        let swap = Self { root: folder, places, stage, done: Vec::new() };
        for (at, place) in places.iter().enumerate() {
            if let Some((mode, id)) = place.new {
                let bytes = objects.blob(&id, FILE_BYTES)?;
                swap.write_new(at, mode, &bytes).map_err(|error| {
                    broken(format!("`{}` cannot be written: {error}.", place.path))
                })?;
            }
        }
        Ok(swap)
    }

    fn write_new(&self, at: usize, mode: Mode, bytes: &[u8]) -> std::io::Result<()> {
        let name = new_name(at);
        if mode == Mode::Link {
            return Ok(symlinkat(bytes, &self.stage.folder, &name)?);
        }
        // What the person's mask takes away is not there.
        let bits = Bits::from_raw_mode(if mode == Mode::Executable { 0o777 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.stage.folder, &name, flags, bits)?;
        std::fs::File::from(file).write_all(bytes)
    }

    /// Puts everything in place, or leaves it as it was.
    pub(super) fn carry_out(mut self) -> Result<Self, Error> {
        let places = self.places;
        // Files go before others come: a folder may take the place of a file.
        let all = places.iter().enumerate();
        let gone = all.clone().filter(|(_, place)| place.old.is_some());
        let steps = gone.map(|(at, _)| (at, true));
        let new = all.filter(|(_, place)| place.new.is_some()).map(|(at, _)| (at, false));
        for (at, takes) in steps.chain(new) {
            let done = if takes { self.take(at) } else { self.put(at) };
            if let Err(error) = done {
                let path = &places[at].path;
                self.undo();
                return Err(broken(format!(
                    "`{path}` cannot be put in place: {error}. Everything is as it was."
                )));
            }
        }
        Ok(self)
    }

    /// Moves an old file away, and empty folders with it.
    fn take(&mut self, at: usize) -> Result<(), Errno> {
        let path = self.places[at].path.as_str();
        let (folder, name) = self.open(path, false)?;
        self.stage.is_needed = true;
        renameat(&folder, name, &self.stage.folder, old_name(at))?;
        self.done.push(Step::Taken(at));
        if self.places[at].new.is_none() {
            let mut above = path;
            while let Some((folder, _)) = above.rsplit_once('/') {
                if unlinkat(&self.root, folder, AtFlags::REMOVEDIR).is_err() {
                    break;
                }
                self.done.push(Step::Pruned(folder.to_owned()));
                above = folder;
            }
        }
        Ok(())
    }

    fn put(&mut self, at: usize) -> Result<(), Errno> {
        let path = self.places[at].path.as_str();
        let (folder, name) = self.open(path, true)?;
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(Errno::EXIST),
        }
        renameat(&self.stage.folder, new_name(at), &folder, name)?;
        self.done.push(Step::Put(at));
        Ok(())
    }

    /// The folder of a path, and the last part. No link is followed on the way.
    fn open<'p>(&mut self, path: &'p str, makes: bool) -> Result<(OwnedFd, &'p str), Errno> {
        let mut folder = openat(&self.root, ".", FOLDER, Bits::empty())?;
        let mut start = 0;
        while let Some(length) = path[start..].find('/') {
            let (part, above) = (&path[start..start + length], &path[..start + length]);
            let mut opened = openat(&folder, part, FOLDER, Bits::empty());
            if makes && matches!(opened, Err(Errno::NOENT)) {
                mkdirat(&folder, part, Bits::from_raw_mode(0o777))?;
                self.done.push(Step::Made(above.to_owned()));
                opened = openat(&folder, part, FOLDER, Bits::empty());
            }
            folder = opened?;
            start += length + 1;
        }
        Ok((folder, &path[start..]))
    }

    /// Lets go of the old files.
    pub(super) fn keep(mut self) {
        self.stage.is_needed = false;
    }

    /// Puts the old files back.
    pub(super) fn undo(mut self) {
        let mut all_back = true;
        while let Some(step) = self.done.pop() {
            let undone =
                match step {
                    Step::Made(folder) => unlinkat(&self.root, &folder, AtFlags::REMOVEDIR),
                    Step::Pruned(folder) => {
                        mkdirat(&self.root, &folder, Bits::from_raw_mode(0o777))
                    }
                    Step::Put(at) => self.open(self.places[at].path.as_str(), false).and_then(
                        |(folder, name)| renameat(&folder, name, &self.stage.folder, new_name(at)),
                    ),
                    Step::Taken(at) => self.open(self.places[at].path.as_str(), false).and_then(
                        |(folder, name)| renameat(&self.stage.folder, old_name(at), &folder, name),
                    ),
                };
            all_back &= undone.is_ok();
        }
        // Otherwise somebody else was there meanwhile, and the old files stay where they can be found.
        self.stage.is_needed = !all_back;
    }
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn old_name(at: usize) -> String {
    format!("{at}.old")
}

fn new_name(at: usize) -> String {
    format!("{at}.new")
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.is_needed {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
