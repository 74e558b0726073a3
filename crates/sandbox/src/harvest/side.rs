//! One side of a comparison: what a path stands for.

use std::io;

use rustix::fs::{FileType, Stat};
use sequester_core::change::{Action, Mode};

use super::change::FILE_BYTES;
use crate::workspace::Folder;

pub(super) fn action(old: Option<&Side>, new: Option<&Side>) -> Action {
    match (old, new) {
        (None, _) => Action::Create,
        (_, None) => Action::Delete,
        (Some(old), Some(new)) if old.bytes == new.bytes && old.mode != Mode::Link => {
            match new.mode {
                Mode::Link => Action::Modify,
                _ => Action::Mode,
            }
        }
        _ => Action::Modify,
    }
}

/// Of a file or a link.
pub(super) fn mode(seen: &Stat) -> Mode {
    match FileType::from_raw_mode(seen.st_mode) {
        FileType::Symlink => Mode::Link,
        _ if seen.st_mode & 0o100 != 0 => Mode::Executable,
        _ => Mode::File,
    }
}

/// What a path stands for, as git would store it.
#[derive(PartialEq)]
pub(super) struct Side {
    pub(super) mode: Mode,
    /// Nothing for a file that is too large to be held.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Side {
    pub(super) fn read(from: &Folder, path: &str, seen: &Stat) -> Result<Self, String> {
        let unreadable = |error: io::Error| format!("it cannot be read: {error}");
        match FileType::from_raw_mode(seen.st_mode) {
            FileType::Symlink => {
                let bytes = Some(from.read_link(path).map_err(unreadable)?);
                Ok(Self { mode: Mode::Link, bytes })
            }
            FileType::RegularFile if seen.st_mode & 0o7000 != 0 => {
                Err("it has a set-user, set-group or sticky bit".to_owned())
            }
            FileType::RegularFile => {
                let bytes = from.read(path, FILE_BYTES).map_err(unreadable)?;
                Ok(Self { mode: mode(seen), bytes })
            }
            _ => Err("it is a pipe, a socket or a device".to_owned()),
        }
    }
}
