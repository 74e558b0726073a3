//! One file put in the place of another, and what was there looked at afterwards.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, fchmod, fstat, fsync, openat, renameat,
    renameat_with, statat, unlinkat,
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
/// How long what came back is left to whoever has it open and still writes to it.
const GRACE: Duration = Duration::from_secs(10);
/// How many of them lie there at most, the latest.
const KEPT: usize = 32;
/// How many are looked at, the latest, and how many names of the folder are read: a repository may have come with any number.
const LOOKED_AT: usize = 64;
const LISTED: usize = 100_000;
/// Between two looks at a file that somebody seems to be writing.
const PAUSE: Duration = Duration::from_millis(20);
const LOOKS: usize = 25;

pub(super) struct Swap<'a> {
    pub(super) folder: &'a OwnedFd,
}

/// The file as it was found.
pub(super) struct Found {
    pub(super) text: String,
    mode: Mode,
    /// When it was last written or moved.
    changed: SystemTime,
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
    since: SystemTime,
}

impl Swap<'_> {
    /// Nothing where there is no file. Whatever is no text of a bearable size is refused, and stays.
    pub(super) fn look(&self) -> Result<Option<Found>, String> {
        self.look_at(FILE)
    }

    /// The same for who writes: what is empty, or only the beginning of what was there before, an editor may be about to fill.
    pub(super) fn look_again(&self, before: &str) -> Result<Option<Found>, String> {
        let is_begun = |text: &str| text.is_empty() || text != before && before.starts_with(text);
        self.settled(FILE, is_begun)
    }

    /// Who saves into the file itself empties it and then writes: what seems to be only begun is looked at until two looks agree
    /// on some words, as long as that is bearable.
    fn settled(
        &self,
        name: &str,
        is_begun: impl Fn(&str) -> bool,
    ) -> Result<Option<Found>, String> {
        let mut found = self.look_at(name)?;
        let mut waits = found.as_ref().is_some_and(|found| is_begun(&found.text));
        for _ in 0..LOOKS {
            if !waits {
                break;
            }
            thread::sleep(PAUSE);
            let again = self.look_at(name)?;
            waits = match (&found, &again) {
                (Some(before), Some(now)) => now.text.is_empty() || now.text != before.text,
                _ => false,
            };
            found = again;
        }
        Ok(found)
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
        let seconds = u64::try_from(stat.st_ctime).unwrap_or_default();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Ok(Some(Found { text, mode: Mode::from_raw_mode(stat.st_mode & 0o777), changed }))
    }

    /// Puts `text` in the place of what was found.
    pub(super) fn put(&self, found: Option<&Found>, text: &str) -> Result<Put, String> {
        let before = found.map_or("", |found| found.text.as_str());
        let written =
            self.write(found, text).and_then(|()| self.lay(FRESH, &short(before), &short(text)));
        let name = match written {
            Ok(name) => name,
            Err(error) => {
                let _ = unlinkat(self.folder, FRESH, AtFlags::empty());
                return Err(refused(&error));
            }
        };
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

    /// Gives a file a name that says what it should hold, and nothing else has: somebody may still write to what has it.
    fn lay(&self, file: &str, was: &str, new: &str) -> std::io::Result<String> {
        for number in 0..=KEPT {
            let name = format!("{BEFORE}{was}-{new}-{number}");
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(self.folder, file, self.folder, &name, flags) {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => {}
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    renameat(self.folder, file, self.folder, &name)?;
                    return Ok(name);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    fn create(&self, name: &str) -> Result<Put, String> {
        match renameat_with(self.folder, name, self.folder, FILE, RenameFlags::NOREPLACE) {
            Ok(()) => self.sync().map(|()| Put::Done),
            Err(Errno::EXIST) => Ok(Put::Missed),
            Err(error) => Err(refused(&error.into())),
        }
    }

    /// Whoever saved in this very moment gets their save back at once: what they read next has it, and who is still writing
    /// writes to the file.
    fn exchange(&self, name: &str, before: &str, text: &str) -> Result<Put, String> {
        match self.look() {
            Ok(Some(found)) if found.text == before => {}
            Ok(_) => return Ok(Put::Missed),
            Err(refusal) => {
                let _ = unlinkat(self.folder, name, AtFlags::empty());
                return Err(refusal);
            }
        }
        match self.turn(name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Put::Missed),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return self.replace(name, before);
            }
            Err(error) => return Err(refused(&error.into())),
        }
        match self.look_at(name) {
            Ok(Some(back)) if back.text != before => {
                self.turn(name).map_err(|error| refused(&error.into()))?;
            }
            Ok(_) => return self.sync().map(|()| Put::Done),
            Err(refusal) => return Err(self.give_back(name, text, refusal)),
        }
        self.sync()?;
        // Somebody may have saved over ours, too.
        match self.look_at(name)? {
            Some(found) if found.text != text => {
                Ok(Put::CameBetween(Save::of(name.to_owned(), found)))
            }
            _ => Ok(Put::Missed),
        }
    }

    fn turn(&self, name: &str) -> rustix::io::Result<()> {
        renameat_with(self.folder, name, self.folder, FILE, RenameFlags::EXCHANGE)
    }

    /// What came back is none of ours to judge: it goes where it was. Only what we wrote ourselves is removed: somebody may have
    /// saved once more.
    pub(super) fn give_back(&self, name: &str, text: &str, refusal: String) -> String {
        let is_back = self.turn(name).is_ok();
        let other = self.look_at(name).ok().flatten();
        if is_back && other.is_some_and(|other| other.text == text) {
            let _ = unlinkat(self.folder, name, AtFlags::empty());
            return refusal;
        }
        format!("{refusal} What was saved at that moment lies beside it, in `{name}`.")
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

    /// Saves that came back to somebody who could not look at them any more, and such as were written to afterwards. All else that
    /// came back is removed in time.
    pub(super) fn lost(&self) -> Vec<Save> {
        let (lost, mut rest): (Vec<Save>, Vec<Save>) = self.saves().partition(Save::is_lost);
        rest.sort_by_key(|save| std::cmp::Reverse(save.since));
        let is_old = |save: &Save| save.since.elapsed().is_ok_and(|age| age > GRACE);
        for (at, save) in rest.iter().enumerate() {
            if at >= KEPT || is_old(save) {
                let _ = unlinkat(self.folder, save.name.as_str(), AtFlags::empty());
            }
        }
        lost
    }

    pub(super) fn has_lost(&self) -> bool {
        self.saves().any(|save| save.is_lost())
    }

    /// What is no text was left by nobody who saved notes.
    fn saves(&self) -> impl Iterator<Item = Save> {
        self.names().into_iter().filter_map(|name| {
            let found = self.look_at(&name).ok().flatten()?;
            Some(Save::of(name, found))
        })
    }

    /// Of what lies beside the file, the latest.
    fn names(&self) -> Vec<String> {
        let mut names = self.listed();
        if names.len() > LOOKED_AT {
            let changed = |name: &String| {
                let stat = statat(self.folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
                Some((stat.st_ctime, stat.st_ctime_nsec))
            };
            names.sort_by_cached_key(|name| std::cmp::Reverse(changed(name)));
            names.truncate(LOOKED_AT);
        }
        names.sort_unstable();
        names
    }

    fn listed(&self) -> Vec<String> {
        let Ok(folder) = Dir::read_from(self.folder) else { return Vec::new() };
        let names = folder.flatten().take(LISTED);
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(BEFORE)).collect()
    }

    /// Says so where more lies there than is ever looked at.
    pub(super) fn too_many(&self) -> Option<String> {
        let count = self.listed().len();
        (count > LOOKED_AT).then(|| {
            format!(
                "`.sequester` has {count} files `{BEFORE}*`; the latest {LOOKED_AT} are looked at. Remove those that you do not need."
            )
        })
    }

    /// Their lines are in the file. They stay for a while all the same: who saved may have them open, and write on.
    pub(super) fn set_aside(&self, saves: &[Save]) {
        for save in saves {
            let held = short(&save.text);
            let _ = self.lay(&save.name, &held, &held);
        }
    }
}

impl Save {
    fn of(name: String, found: Found) -> Self {
        Self { name, text: found.text, since: found.changed }
    }

    /// Whether it holds neither what should have come back nor what was to be written.
    fn is_lost(&self) -> bool {
        let digest = short(&self.text);
        let held = self.name.strip_prefix(BEFORE).map(|names| names.split('-').take(2));
        held.is_some_and(|mut held| held.all(|one| one != digest))
    }
}

fn short(text: &str) -> String {
    Digest::of(text.as_bytes()).as_str().chars().take(DIGITS).collect()
}

fn is_no_file(what: &str) -> String {
    format!("`{PATH}` is {what}. Move it away: a file is wanted there.")
}
