//! Base and workspace side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};
use std::path::Path;

use ignore::gitignore::Gitignore;
use rustix::fs::FileType::{self, Directory};
use rustix::fs::Stat;
use sequester_core::change::{Action, Change, Entry, Mode, Refused};
use sequester_core::path::RepoPath;

use super::change::{ALL_BYTES, ENTRIES, FILE_BYTES, IGNORED, REFUSED};
use super::patch::{Added, Patch};
use super::rules::is_git;
use super::side::{Side, action};
use super::{Rules, head, link};
use crate::workspace::{Folder, ignored};

/// Folders deeper than this are refused.
const DEEPEST: usize = 200;
/// Names that are looked at; a workspace with more is no source tree.
const NAMES: usize = 2_000_000;

/// Compares the workspace `work` with `base`, the folder it started from. Runs inside a jail: both are trees of files, and git is not
/// needed.
///
/// What the base's `.gitignore` files and the person's own rules ignore is no change, unless the base holds it. What is new there is
/// named all the same, unless it is what tools make.
pub fn compute(work: &Path, base: &Path, rules: &Rules) -> io::Result<Change> {
    let mut comparison = Comparison {
        work: Folder::open(work)?,
        base: Folder::open(base)?,
        rules,
        change: Change::default(),
        patch: Patch::new(),
        reader: ignored::Reader::new(),
        bytes: 0,
        names: 0,
    };
    let exclude = comparison.reader.parse("", rules.exclude.as_bytes());
    let mut ignoring = vec![exclude.unwrap_or_else(Gitignore::empty)];
    comparison.descend("", Within { here: Here::Both, ignored: false }, &mut ignoring);
    let mut change = comparison.change;
    change.entries.sort_by(|one, other| one.path.cmp(&other.path));
    change.refused.sort_by(|one, other| one.path.cmp(&other.path));
    change.ignored.sort();
    change.patch = comparison.patch.finish();
    Ok(change)
}

/// Where a folder is one.
#[derive(Clone, Copy, PartialEq)]
enum Here {
    Both,
    Base,
    Work,
}

/// What is known of a folder.
#[derive(Clone, Copy)]
struct Within {
    here: Here,
    /// It or one above is ignored, but the base has files in it; then no rule takes back what is new.
    ignored: bool,
}

struct Comparison<'a> {
    work: Folder,
    base: Folder,
    rules: &'a Rules,
    change: Change,
    patch: Patch,
    reader: ignored::Reader,
    /// Taken into the change so far.
    bytes: u64,
    names: usize,
}

/// A name in one of the two folders, or in both.
#[derive(Clone, Copy, Default)]
struct Pair {
    base: Option<FileType>,
    work: Option<FileType>,
}

impl Comparison<'_> {
    fn descend(&mut self, folder: &str, within: Within, rules: &mut Vec<Gitignore>) {
        let Some(pairs) = self.list(folder, within.here) else { return };
        if rules.len() > DEEPEST {
            self.refuse(folder, "it lies too deep");
            return;
        }
        let ruled = pairs.get(".gitignore").is_some_and(|pair| pair.base.is_some());
        let read = ruled.then(|| self.reader.read(&self.base, folder));
        rules.push(read.unwrap_or_else(Gitignore::empty));
        let doubled = doubled(&pairs);
        for (name, pair) in &pairs {
            let path = join(folder, name);
            let is_folder = Directory == pair.work.or(pair.base).unwrap_or(FileType::Unknown);
            let ignored = within.ignored || ignored::is_ignored(rules, &path, is_folder);
            // What the base holds is never ignored.
            if ignored && pair.base.is_none() {
                self.pass(&path, is_folder);
            } else if doubled.contains(name) {
                self.refuse(&path, "another name differs from it in case alone");
            } else {
                self.compare(&path, *pair, ignored, rules);
            }
        }
        rules.pop();
    }

    /// What the folder holds on both sides; nothing if there is nothing to compare in it.
    fn list(&mut self, folder: &str, here: Here) -> Option<BTreeMap<String, Pair>> {
        let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
        if here != Here::Work {
            // Unreadable only if the base is damaged: then nothing in it is known, and nothing is said.
            let Ok(list) = self.base.list(folder) else {
                self.refuse(folder, "the base cannot be read there");
                return None;
            };
            for seen in list {
                if let Ok(name) = seen.name.into_string() {
                    pairs.entry(name).or_default().base = Some(seen.kind);
                }
            }
        }
        let is_submodule = here == Here::Both && pairs.is_empty() && !folder.is_empty();
        if here == Here::Base {
            return Some(pairs);
        }
        let list = match self.work.list(folder) {
            Ok(list) => list,
            Err(error) => {
                self.refuse(folder, &format!("it cannot be looked at: {error}"));
                return None;
            }
        };
        self.names += list.len();
        if self.names > NAMES {
            self.refuse(folder, "the workspace holds too many files");
            return None;
        }
        if is_submodule && !list.is_empty() {
            self.refuse(folder, "it is the place of another repository");
            return None;
        }
        let nested = |name: &str| is_git(name) && !folder.is_empty();
        if here == Here::Work && list.iter().filter_map(|seen| seen.name.to_str()).any(nested) {
            self.refuse(folder, "it is another repository inside this one");
            return None;
        }
        for seen in list {
            match seen.name.into_string() {
                Ok(name) => pairs.entry(name).or_default().work = Some(seen.kind),
                Err(name) => {
                    let path = join(folder, &name.to_string_lossy());
                    self.refuse(&path, "its name is not UTF-8");
                }
            }
        }
        if folder.is_empty() {
            // The jail's own, read-only.
            pairs.remove(".git");
        }
        Some(pairs)
    }

    fn compare(&mut self, path: &str, pair: Pair, ignored: bool, rules: &mut Vec<Gitignore>) {
        if pair.work.is_some() && path.rsplit('/').next().is_some_and(is_git) {
            self.refuse(path, "it belongs to another repository inside this one");
            return;
        }
        match (pair.base, pair.work) {
            (Some(Directory), Some(Directory)) => {
                self.descend(path, Within { here: Here::Both, ignored }, rules);
            }
            (base, Some(Directory)) => {
                if base.is_some() {
                    self.settle(path, base, None);
                }
                self.descend(path, Within { here: Here::Work, ignored }, rules);
            }
            (Some(Directory), work) => {
                self.descend(path, Within { here: Here::Base, ignored }, rules);
                if work.is_some() {
                    self.settle(path, None, work);
                }
            }
            (base, work) => self.settle(path, base, work),
        }
    }

    /// Decides about one path that is no folder on either side.
    fn settle(&mut self, path: &str, base: Option<FileType>, work: Option<FileType>) {
        match self.judge(path, base, work) {
            Ok(None) => {}
            Ok(Some(entry)) if self.change.entries.len() < ENTRIES => {
                self.bytes += entry.size;
                self.change.entries.push(entry);
            }
            Ok(Some(_)) => self.refuse(path, &format!("a change has at most {ENTRIES} files")),
            Err(why) => self.refuse(path, &why),
        }
    }

    fn judge(
        &mut self,
        path: &str,
        base: Option<FileType>,
        work: Option<FileType>,
    ) -> Result<Option<Entry>, String> {
        let seen =
            work.map(|_| self.work.look(path)).transpose().map_err(|error| error.to_string())?;
        let was = base.and_then(|_| self.base.look(path).ok());
        if let (Some(was), Some(seen)) = (&was, &seen)
            && is_untouched(was, seen)
        {
            return Ok(None);
        }
        if let Some(seen) = seen.as_ref().filter(|seen| is_other(was.as_ref(), seen)) {
            self.check_room(path, seen)?;
        }
        let old = was.map(|was| Side::read(&self.base, path, &was)).transpose()?;
        let new = seen.map(|seen| Side::read(&self.work, path, &seen)).transpose()?;
        if old == new && self.is_same_where_large(path, old.as_ref())? {
            return Ok(None);
        }
        let action = action(old.as_ref(), new.as_ref());
        let place = self.place(path, action)?;
        if let Some(Side { mode, bytes: Some(bytes) }) = &new
            && let Some(why) = refuse_content(&place, *mode, bytes, self.rules)
        {
            return Err(why);
        }
        if new.as_ref().is_some_and(|new| new.bytes.is_none()) {
            return Err(format!("it is larger than {} MiB", FILE_BYTES >> 20));
        }
        let bytes = new.as_ref().and_then(|new| new.bytes.as_deref());
        let size = bytes.map_or(0, |bytes| bytes.len() as u64);
        if self.bytes + size > ALL_BYTES {
            return Err(format!("a change has at most {} MiB", ALL_BYTES >> 20));
        }
        let [before, after] =
            [&old, &new].map(|side| side.as_ref().map(|side| (side.mode, side.bytes.as_deref())));
        let Added { counted, is_whole } = self.patch.add(path, before, after);
        Ok(Some(Entry {
            path: path.to_owned(),
            action,
            was: old.as_ref().map(|old| old.mode),
            mode: new.as_ref().map(|new| new.mode),
            added: counted.map(|(added, _)| added),
            removed: counted.map(|(_, removed)| removed),
            in_patch: is_whole,
            size,
            content: new.and_then(|new| new.bytes).unwrap_or_default(),
        }))
    }

    /// Where a change may be.
    fn place(&self, path: &str, action: Action) -> Result<RepoPath, String> {
        let place = RepoPath::parse(path).ok().filter(|place| place.as_str() == path);
        let place = place.ok_or("its name is none that a repository can hold")?;
        self.rules.refuse(&place, action).map_or(Ok(place), Err)
    }

    /// Refuses what is a change and could not be taken, before any of it is read.
    fn check_room(&self, path: &str, seen: &Stat) -> Result<(), String> {
        if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        self.place(path, Action::Modify)?;
        if self.change.entries.len() >= ENTRIES {
            return Err(format!("a change has at most {ENTRIES} files"));
        }
        let size = u64::try_from(seen.st_size).unwrap_or(u64::MAX);
        if size <= FILE_BYTES && self.bytes + size > ALL_BYTES {
            return Err(format!("a change has at most {} MiB", ALL_BYTES >> 20));
        }
        Ok(())
    }

    /// Files that are too large to be held are equal so far in size and kind alone.
    fn is_same_where_large(&self, path: &str, side: Option<&Side>) -> Result<bool, String> {
        if side.is_none_or(|side| side.bytes.is_some()) {
            return Ok(true);
        }
        let compare = || -> io::Result<bool> {
            let files = [self.base.open_file(path)?, self.work.open_file(path)?];
            let [mut one, mut other] =
                files.map(|file| io::BufReader::with_capacity(1 << 20, file));
            loop {
                let (left, right) = (one.fill_buf()?, other.fill_buf()?);
                let length = left.len().min(right.len());
                if length == 0 || left[..length] != right[..length] {
                    return Ok(left.is_empty() && right.is_empty());
                }
                one.consume(length);
                other.consume(length);
            }
        };
        compare().map_err(|error| format!("it cannot be read: {error}"))
    }

    /// Names what is new and ignored: whoever wrote it may have meant it to stay.
    fn pass(&mut self, path: &str, is_folder: bool) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_made = || ignored::is_build(&self.work, path) || name == "__pycache__";
        let is_empty = || self.work.list(path).is_ok_and(|list| list.is_empty());
        if is_folder && (is_made() || is_empty()) {
            return;
        }
        if self.change.ignored.len() < IGNORED {
            let path = path.chars().take(1_000).chain(is_folder.then_some('/')).collect();
            self.change.ignored.push(path);
        } else {
            self.change.ignored_more += 1;
        }
    }

    fn refuse(&mut self, path: &str, why: &str) {
        if self.change.refused.len() < REFUSED {
            let path = path.chars().take(1_000).collect();
            self.change.refused.push(Refused { path, why: format!("{why}.") });
        } else {
            self.change.refused_more += 1;
        }
    }
}

/// Why what stands at `path` now is refused, if it is.
pub(super) fn refuse_content(
    path: &RepoPath,
    mode: Mode,
    content: &[u8],
    rules: &Rules,
) -> Option<String> {
    let link = || link::refuse(path, content, rules).filter(|_| mode == Mode::Link);
    head::refuse(path.as_str(), mode, content).or_else(link)
}

/// New names that on many machines are one with another: they differ in case alone.
fn doubled(pairs: &BTreeMap<String, Pair>) -> BTreeSet<String> {
    let mut names: BTreeMap<String, Vec<(&String, &Pair)>> = BTreeMap::new();
    for (name, pair) in pairs.iter().filter(|(_, pair)| pair.work.is_some()) {
        names.entry(name.to_lowercase()).or_default().push((name, pair));
    }
    let doubled = names.into_values().filter(|names| names.len() > 1).flatten();
    doubled.filter(|(_, pair)| pair.base.is_none()).map(|(name, _)| name.clone()).collect()
}

/// Whether the size alone tells that it is not what it was.
fn is_other(was: Option<&Stat>, seen: &Stat) -> bool {
    was.is_none_or(|was| was.st_size != seen.st_size)
}

/// Whether the workspace still shows the file of the base itself: a layer's copy has another time of the last change of
/// state, which no program can choose.
fn is_untouched(was: &Stat, seen: &Stat) -> bool {
    let all = |stat: &Stat| {
        let times = [stat.st_ctime, stat.st_mtime];
        (times, stat.st_ctime_nsec, stat.st_mtime_nsec, stat.st_size, stat.st_mode)
    };
    all(was) == all(seen)
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
