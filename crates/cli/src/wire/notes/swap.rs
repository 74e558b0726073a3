//! One file put in the place of another, and what was there looked at afterwards.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, fchmod, fstat, fsync, openat, renameat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;
use sequester_core::digest::Digest;
use sequester_core::notes::{LARGEST, PATH};

use super::refused;

const FILE: &str = "NOTES.md";
/// What is being written: worth nothing until it is whole.
const FRESH: &str = "notes.new";
/// How names begin of what came back.
const BEFORE: &str = "notes-before-";
/// Digits of a digest in such a name.
const DIGITS: usize = 32;

pub(super) struct Swap<'a> {
    pub(super) folder: &'a OwnedFd,
}

/// The file as it was found.
pub(super) struct Found {
    pub(super) text: String,
    mode: Mode,
}

pub(super) enum Put {
    Done,
    /// The file came, went or was saved meanwhile; nothing changed.
    Missed,
    /// It was saved twice meanwhile: one save is in place, and this is the other.
    CameBetween(Save),
}

/// Somebody's save, where it lies beside the file.
pub(super) struct Save {
    name: String,
    pub(super) text: String,
}

impl Swap<'_> {
    /// Nothing where there is no file. Whatever is no text of a bearable size is refused, and stays.
    pub(super) fn look(&self) -> Result<Option<Found>, String> {
        self.look_at(FILE)
    }

    fn look_at(&self, name: &str) -> Result<Option<Found>, String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(self.folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => return Err(is_no_file("a symbolic link")),
            Err(error) => return Err(refused(&error.into())),
        };
        let stat = fstat(&file).map_err(|error| refused(&error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(is_no_file("a folder")),
            _ => return Err(is_no_file("no ordinary file")),
        }
        let mut bytes = Vec::new();
        let read = File::from(file).take(LARGEST as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| refused(&error))?;
        if bytes.len() > LARGEST {
            let size = u64::try_from(stat.st_size).unwrap_or_default();
            return Err(format!(
                "`{PATH}` has {size} bytes; at most {LARGEST} are read. Shorten it, or move it away."
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("`{PATH}` is not UTF-8. Save it as UTF-8, or move it away."))?;
        Ok(Some(Found { text, mode: Mode::from_raw_mode(stat.st_mode & 0o777) }))
    }

    /// Puts `text` in the place of what was found.
    pub(super) fn put(&self, found: Option<&Found>, text: &str) -> Result<Put, String> {
        let before = found.map_or("", |found| found.text.as_str());
        let name = format!("{BEFORE}{}-{}", short(before), short(text));
        let written = self
            .write(found, text)
            .and_then(|()| Ok(renameat(self.folder, FRESH, self.folder, &name)?));
        if let Err(error) = written {
            let _ = unlinkat(self.folder, FRESH, AtFlags::empty());
            return Err(refused(&error));
        }
        let put = match found {
            Some(_) => self.exchange(&name, before, text)?,
            None => self.create(&name)?,
        };
        if let Put::Missed = put {
            let _ = unlinkat(self.folder, &name, AtFlags::empty());
        }
        Ok(put)
    }

    fn write(&self, found: Option<&Found>, text: &str) -> std::io::Result<()> {
        let _ = unlinkat(self.folder, FRESH, AtFlags::empty());
        // Of a new file the person's mask takes away what they do not want.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let mut file = File::from(openat(self.folder, FRESH, flags, mode)?);
        if let Some(found) = found {
            fchmod(&file, found.mode)?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn create(&self, name: &str) -> Result<Put, String> {
        match renameat_with(self.folder, name, self.folder, FILE, RenameFlags::NOREPLACE) {
            Ok(()) => self.sync().map(|()| Put::Done),
            Err(Errno::EXIST) => Ok(Put::Missed),
            Err(error) => Err(refused(&error.into())),
        }
    }

    /// Whoever saved in this very moment gets their save back at once: what they read next has it.
    fn exchange(&self, name: &str, before: &str, text: &str) -> Result<Put, String> {
        if self.look()?.is_none_or(|found| found.text != before) {
            return Ok(Put::Missed);
        }
        let swap = || renameat_with(self.folder, name, self.folder, FILE, RenameFlags::EXCHANGE);
        match swap() {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Put::Missed),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return self.replace(name, before);
            }
            Err(error) => return Err(refused(&error.into())),
        }
        match self.look_at(name) {
            Ok(Some(back)) if back.text == before => return self.sync().map(|()| Put::Done),
            Ok(None) => return self.sync().map(|()| Put::Done),
            // What came back is none of ours to judge: it goes where it was.
            back => {
                swap().map_err(|error| refused(&error.into()))?;
                self.sync()?;
                back?;
            }
        }
        // Somebody may have saved over ours, too.
        match self.look_at(name)? {
            Some(Found { text: save, .. }) if save != text => {
                Ok(Put::CameBetween(Save { name: name.to_owned(), text: save }))
            }
            _ => Ok(Put::Missed),
        }
    }

    /// Where two names cannot be exchanged, a save can get lost in the moment between this look and the next step.
    fn replace(&self, name: &str, before: &str) -> Result<Put, String> {
        if self.look()?.is_none_or(|found| found.text != before) {
            return Ok(Put::Missed);
        }
        renameat(self.folder, name, self.folder, FILE).map_err(|error| refused(&error.into()))?;
        self.sync().map(|()| Put::Done)
    }

    fn sync(&self) -> Result<(), String> {
        fsync(self.folder.as_fd()).map_err(|error| refused(&error.into()))
    }

    /// Saves that came back to somebody who could not look at them any more. All else that came back is removed.
    pub(super) fn lost(&self) -> Vec<Save> {
        let (lost, rest): (Vec<Save>, Vec<Save>) = self.saves().partition(Save::is_lost);
        self.forget(&rest);
        lost
    }

    pub(super) fn has_lost(&self) -> bool {
        self.saves().any(|save| save.is_lost())
    }

    /// What is no text was left by nobody who saved notes.
    fn saves(&self) -> impl Iterator<Item = Save> {
        self.names().into_iter().filter_map(|name| {
            let text = self.look_at(&name).ok().flatten()?.text;
            Some(Save { name, text })
        })
    }

    fn names(&self) -> Vec<String> {
        let Ok(folder) = Dir::read_from(self.folder) else { return Vec::new() };
        let names = folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(BEFORE)).collect();
        names.sort_unstable();
        names
    }

    /// Their lines are in the file.
    pub(super) fn forget(&self, saves: &[Save]) {
        for save in saves {
            let _ = unlinkat(self.folder, save.name.as_str(), AtFlags::empty());
        }
    }
}

impl Save {
    /// Whether it holds neither what should have come back nor what was to be written.
    fn is_lost(&self) -> bool {
        let two = self.name.strip_prefix(BEFORE).and_then(|two| two.split_once('-'));
        let digest = short(&self.text);
        two.is_some_and(|(was, new)| digest != was && digest != new)
    }
}

fn short(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().chars().take(DIGITS).collect()
}

fn is_no_file(what: &str) -> String {
    format!("`{PATH}` is {what}. Move it away: a file is wanted there.")
}
