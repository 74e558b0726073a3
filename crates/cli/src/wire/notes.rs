//! The file of the project's notes. Processes take turns by a lock; people's editors know of none.
//!
//! What is to be the file is written beside it and exchanged with it in one step, and then what came back is looked at: if
//! somebody saved meanwhile, that save goes back at once, and everything is done once more on top of it. What came back stays
//! beside the file for a while, under a name that says what it should hold: who was killed in between left a save there,
//! and who had the file open writes to it afterwards. Lines that are found then are put below all others.

mod swap;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use sequester_core::id::{RunId, TaskId};
use sequester_core::limits::Limit;
use sequester_core::notes::{BYTES, LARGEST, Note, Notebook, Notes, PATH, rescue};
use sequester_core::record::Switches;

use swap::{Found, Put, Swap};

/// What to do where the file cannot be had.
const KEPT_ANYWAY: &str = "What subagents noted is in `sequester records --kind note`.";
const LOCK: &str = "notes.lock";
/// How long others are waited for that write.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many saves in a row may come between.
const ROUNDS: usize = 1_000;

/// The notes of one project.
pub(crate) struct Book {
    folder: PathBuf,
    patience: Duration,
    /// What the file is compacted to.
    most_bytes: usize,
}

impl Book {
    pub(crate) fn of(root: &Path) -> Self {
        let folder = root.join(PATH).parent().map(Path::to_path_buf).unwrap_or_default();
        Self { folder, patience: PATIENCE, most_bytes: BYTES }
    }

    pub(crate) fn within(self, limits: &BTreeMap<Limit, u64>) -> Self {
        let set = limits.get(&Limit::NotesFile);
        let most_bytes = set.map_or(BYTES, |most| usize::try_from(*most).unwrap_or(usize::MAX));
        Self { most_bytes, ..self }
    }

    /// As they stand when a run begins; nothing where notes do not pass.
    pub(crate) fn opening(&self, switches: Switches) -> Result<String, String> {
        if switches.notes { self.read() } else { Ok(String::new()) }
    }

    /// Makes the file with the sections of the template where there is none; says whether it did.
    pub(crate) fn init(&self) -> Result<bool, String> {
        let (folder, _lock) = self.enter()?;
        let swap = Swap { folder: &folder };
        let old = swap.look()?;
        if old.as_ref().is_some_and(|old| !old.text.trim().is_empty()) {
            return Ok(false);
        }
        Ok(matches!(swap.put(old.as_ref(), &Notes::template().render())?, Put::Done))
    }

    /// The folder, made where there is none, and the right to write there.
    fn enter(&self) -> Result<(OwnedFd, std::fs::File), String> {
        match mkdirat(CWD, &self.folder, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(refused(&io::Error::from(error))),
        }
        let folder = self.open().map_err(|error| refused(&error.into()))?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lock = openat(&folder, LOCK, flags, Mode::from_raw_mode(0o600));
        let lock = lock.map(std::fs::File::from).map_err(|error| refused(&error.into()))?;
        let since = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok((folder, lock)),
                Err(TryLockError::WouldBlock) if since.elapsed() < self.patience => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(format!(
                        "`{PATH}` is held by another process for too long. {KEPT_ANYWAY}"
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(refused(&error)),
            }
        }
    }

    /// No link is followed: a repository may have come with one at this place.
    fn open(&self) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(CWD, &self.folder, flags, Mode::empty())
    }

    fn change(&self, change: impl Fn(&mut Notes) -> Vec<String>) -> Result<Vec<String>, String> {
        let (folder, _lock) = self.enter()?;
        let swap = Swap { folder: &folder };
        let (mut saves, mut rescued) = (swap.lost(), false);
        let mut current = swap.look_again("")?;
        let mut base = text_of(current.as_ref());
        // A file that has become too large to be read would help nobody: what has no room stays beside it.
        let mut room = LARGEST.saturating_sub(base.len());
        saves.retain(|save| {
            let fits = save.text.len() < room;
            room -= if fits { save.text.len() } else { 0 };
            fits
        });
        for _ in 0..ROUNDS {
            for save in &saves {
                rescued |= restore(&mut base, &save.text);
            }
            let mut notes = Notes::parse(&base);
            let mut said = change(&mut notes);
            let text = notes.render();
            let is_there = text_of(current.as_ref()) == text;
            let put = if is_there { Put::Done } else { swap.put(current.as_ref(), &text)? };
            if let Put::Done = put {
                swap.set_aside(&saves);
                said.extend(rescued.then(|| RESCUED.to_owned()));
                said.extend(swap.too_many());
                return Ok(said);
            }
            current = swap.look_again(&text_of(current.as_ref()))?;
            base = text_of(current.as_ref());
            if let Put::CameBetween(save) = put {
                saves.push(save);
            }
        }
        Err(format!("`{PATH}` was saved {ROUNDS} times in a row while it was to be written."))
    }
}

fn text_of(found: Option<&Found>) -> String {
    found.map(|found| found.text.clone()).unwrap_or_default()
}

const RESCUED: &str = "`.sequester/NOTES.md` was saved twice at the same time: lines of one save stand at its end, under \
                       `Saved at the same time`.";

fn restore(base: &mut String, save: &str) -> bool {
    let whole = rescue(base, save);
    let was_missing = whole.is_some();
    if let Some(whole) = whole {
        *base = whole;
    }
    was_missing
}

impl Notebook for Book {
    fn read(&self) -> Result<String, String> {
        let folder = match self.open() {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(String::new()),
            Err(error) => return Err(refused(&error.into())),
        };
        let swap = Swap { folder: &folder };
        let found = swap.look()?;
        if swap.has_lost() {
            self.change(|_| Vec::new())?;
            return Ok(text_of(swap.look()?.as_ref()));
        }
        Ok(text_of(found.as_ref()))
    }

    fn merge(&self, run: &RunId, task: &TaskId, notes: &[Note]) -> Result<Vec<String>, String> {
        self.change(|file| {
            file.settle(run, task, notes);
            file.compact(self.most_bytes)
        })
    }
}

fn refused(error: &io::Error) -> String {
    format!("`{PATH}` cannot be used: {error}. {KEPT_ANYWAY}")
}
