//! What was done before, put back into a layer that no jail has yet.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, lchown, symlink};
use std::path::Path;

use rustix::fs::FileType::{self, Directory};
use rustix::fs::{CWD, Mode as Bits, XattrFlags, mknodat, setxattr};
use sequester_core::change::{Change, Entry, Mode};
use sequester_core::path::RepoPath;

use super::copy::make_folder;
use super::layer::Layer;
use super::walk::{Folder, OPAQUE};
use crate::discard::discard;
use crate::harvest::is_git;

impl Layer {
    /// Does to `base` what the change says, in this layer. Nobody else writes to it yet. A path that is none of a repository's is left
    /// out.
    pub fn restore(&self, base: &Path, change: &Change) -> io::Result<()> {
        let below = Folder::open(base)?;
        let entries: Vec<&Entry> =
            change.entries.iter().filter(|entry| is_plain(&entry.path)).collect();
        let there = entries.iter().filter(|entry| entry.mode.is_some());
        let there: BTreeSet<&str> = there.map(|entry| entry.path.as_str()).collect();
        let hides = |path: &str| above(path).any(|folder| there.contains(folder));
        for entry in entries.iter().filter(|entry| entry.mode.is_none() && !hides(&entry.path)) {
            self.take_away(&below, &entry.path)?;
        }
        // Links last: nothing is ever written through one.
        let (links, files): (Vec<&Entry>, Vec<&Entry>) =
            entries.into_iter().partition(|entry| entry.mode == Some(Mode::Link));
        for entry in files.into_iter().chain(links) {
            if let Some(mode) = entry.mode {
                self.put(&below, &entry.path, mode, &entry.content)?;
            }
        }
        Ok(())
    }

    fn put(&self, below: &Folder, path: &str, mode: Mode, content: &[u8]) -> io::Result<()> {
        self.make_way(below, path)?;
        discard(&self.upper(path))?;
        let target = self.upper(path);
        let bits = match mode {
            Mode::Link => {
                symlink(std::str::from_utf8(content).map_err(io::Error::other)?, &target)?;
                return self.give(&target);
            }
            Mode::Executable => 0o755,
            Mode::File => 0o644,
        };
        let mut file: File =
            OpenOptions::new().write(true).create_new(true).mode(bits).open(&target)?;
        file.write_all(content)?;
        // Whatever the mask of this process is.
        file.set_permissions(fs::Permissions::from_mode(bits))?;
        self.give(&target)
    }

    fn take_away(&self, below: &Folder, path: &str) -> io::Result<()> {
        if !self.shows(below, path) {
            // A link on the way would lead out of the layer.
            let is_folder =
                |folder| fs::symlink_metadata(self.upper(folder)).is_ok_and(|about| about.is_dir());
            return if above(path).all(is_folder) { discard(&self.upper(path)) } else { Ok(()) };
        }
        self.make_way(below, path)?;
        let target = self.upper(path);
        discard(&target)?;
        // How the kernel marks it, which anybody may make.
        mknodat(CWD, &target, FileType::CharacterDevice, Bits::empty(), 0)?;
        self.give(&target)
    }

    /// Whether what the base has at a path is seen through the layer, or would be, were the path itself not in it.
    fn shows(&self, below: &Folder, path: &str) -> bool {
        let is_open = |folder: &str| {
            let is_folder = below.look(folder).is_ok_and(|seen| kind(&seen) == Directory);
            let here = self.upper(folder);
            is_folder
                && match fs::symlink_metadata(&here) {
                    Ok(about) if about.is_dir() => {
                        Folder::open(&here).is_ok_and(|folder| !folder.is_opaque())
                    }
                    Ok(_) => false,
                    Err(_) => true,
                }
        };
        above(path).all(is_open) && below.look(path).is_ok()
    }

    /// The folders above a path: as the base has them, or new. What stands in their way goes.
    fn make_way(&self, below: &Folder, path: &str) -> io::Result<()> {
        for folder in above(path) {
            let target = self.upper(folder);
            let is_taken = match fs::symlink_metadata(&target) {
                Ok(about) if about.is_dir() => continue,
                Ok(_) => true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error),
            };
            discard(&target)?;
            let was = below.look(folder).ok().filter(|was| kind(was) == Directory);
            make_folder(&target, was.map_or(0o755, |was| was.st_mode), self.owner)?;
            if is_taken {
                setxattr(&target, OPAQUE, b"y", XattrFlags::CREATE)?;
            }
        }
        Ok(())
    }

    fn give(&self, target: &Path) -> io::Result<()> {
        match self.owner {
            Some(owner) => lchown(target, Some(owner.user), Some(owner.group)),
            None => Ok(()),
        }
    }
}

/// The folders above a path, the highest first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn is_plain(path: &str) -> bool {
    RepoPath::parse(path).is_ok_and(|place| place.as_str() == path) && !path.split('/').any(is_git)
}

fn kind(seen: &rustix::fs::Stat) -> FileType {
    FileType::from_raw_mode(seen.st_mode)
}
