//! A process and all beneath it, as the machine sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, makedev, stat};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, wait, waitid, waitpid,
};

use crate::{disk, sys};

/// The process and all beneath it, at most so many: one look must end whatever they do.
pub(crate) fn tree(first: Pid, most: usize) -> Vec<i32> {
    let mut found = vec![first.as_raw_nonzero().get()];
    let mut at = 0;
    while at < found.len() && found.len() < most {
        found.extend(children(found[at]));
        at += 1;
    }
    found.truncate(most);
    found
}

/// Whether a process has none beneath it; no where that cannot be told.
pub(crate) fn is_alone(pid: Pid) -> bool {
    let pid = pid.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.is_ok_and(|text| text.trim().is_empty())
}

/// Until a child has ended.
pub(crate) fn wait_for(child: &OwnedFd) {
    while let Err(Errno::INTR) = waitid(WaitId::PidFd(child.as_fd()), WaitIdOptions::EXITED) {}
}

/// Ends all beneath this process, which must be the one that orphans come to. They are looked for until none is left:
/// one that was just started is found the next time.
pub(crate) fn end_all() {
    loop {
        let mut found = vec![rustix::process::getpid().as_raw_nonzero().get()];
        let mut at = 0;
        while at < found.len() {
            let children = children(found[at]);
            // At once: who starts another and ends is gone when all are known.
            for pid in &children {
                send(*pid, Signal::KILL);
            }
            found.extend(children);
            at += 1;
        }
        // One is waited for. All that have ended by then go before they are looked for again, else they would be the more the longer it takes.
        let mut how = WaitOptions::empty();
        loop {
            match wait(how) {
                Ok(Some(_)) => how = WaitOptions::NOHANG,
                Ok(None) => break,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// Takes in what has ended and came to this process as an orphan; `first` is waited for by others.
pub(crate) fn take_in_orphans(first: Pid) {
    let own = children(rustix::process::getpid().as_raw_nonzero().get());
    for pid in own.into_iter().filter_map(Pid::from_raw).filter(|pid| *pid != first) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// The processes that a process started and that are still its own.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    texts
        .flat_map(|text| {
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// Processes that do nothing as long as this lives.
pub(crate) struct Still {
    held: BTreeSet<i32>,
    /// Nobody moves; who goes on again and again, or is started faster than it is found, is not waited for.
    pub(crate) is_whole: bool,
}

impl Still {
    /// Those that the others start or wake meanwhile are held too. What stood still already is left so.
    pub(crate) fn hold(find: impl Fn() -> Vec<i32>) -> Self {
        let mut still = Self { held: BTreeSet::new(), is_whole: false };
        let latest = Instant::now() + LONGEST_WAIT;
        while Instant::now() < latest {
            let moving: Vec<i32> = find().into_iter().filter(|pid| is_moving(*pid)).collect();
            still.is_whole = moving.is_empty();
            if still.is_whole {
                break;
            }
            for pid in moving {
                send(pid, Signal::STOP);
                still.held.insert(pid);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        still
    }
}

impl Drop for Still {
    /// The youngest first: whoever waits for one that stands still finds that it does not.
    fn drop(&mut self) {
        self.held.iter().rev().for_each(|pid| send(*pid, Signal::CONT));
    }
}

/// A process that waits for a busy processor stands still only once it had its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Whether a thread of it runs or could. One that waits for a disk, or for a child to begin, comes to nothing else before it is held.
fn is_moving(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    let moves = |text: &str| {
        // The name stands in brackets and may hold anything.
        text.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['R', 'S']))
    };
    texts.any(|text| moves(&text))
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// What a process has of what is limited.
pub(crate) struct Load {
    /// Bytes that belong to this process alone, or that it shares in memory, with the tables that say where they are.
    pub(crate) memory: u64,
    pub(crate) threads: u32,
}

pub(crate) fn load(pid: i32) -> Load {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    let kilobytes =
        ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"].map(number).into_iter().sum::<u64>();
    Load { memory: kilobytes << 10, threads: number("Threads:") as u32 }
}

/// Time on a processor: that of the process itself, and with it that of those of its children that it has waited for.
pub(crate) fn times(pid: i32) -> (Duration, Duration) {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name stands in brackets and may hold anything.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = |count: usize| {
        let fields = fields.split(' ').skip(11).take(count);
        let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
    };
    (ticks(2), ticks(4))
}

/// Bytes that the processes, and those of their children that they have waited for, have put onto disks so far, whatever became of them.
pub(crate) fn written(pids: &[i32]) -> u64 {
    let of = |pid: &i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse::<u64>().ok())
    };
    pids.iter().filter_map(of).sum()
}

/// Files on disks that have no name any more and that the processes hold: open, mapped, or run.
pub(crate) struct Held<'a> {
    /// Devices of file systems in memory, which are counted as such.
    memory: &'a BTreeSet<u64>,
    /// What each takes, by its device and number.
    files: BTreeMap<(u64, u64), u64>,
    /// Nobody tells of all of them what they take: mapped ones tell only the machine's root, those on their way through a socket tell nobody,
    /// and where there are too many nobody asks.
    pub(crate) unseen: bool,
    /// By device and number.
    pipes: BTreeSet<(u64, u64)>,
    /// How many more are asked.
    left: usize,
}

/// Files and mappings: whoever asks has limits to keep meanwhile.
const MOST: usize = 100_000;

impl<'a> Held<'a> {
    pub(crate) fn by(pids: &[i32], memory: &'a BTreeSet<u64>) -> Self {
        let (files, pipes) = (BTreeMap::new(), BTreeSet::new());
        let mut held = Self { memory, files, unseen: false, pipes, left: MOST };
        for pid in pids {
            held.add(&PathBuf::from(format!("/proc/{pid}/exe")));
            held.add_threads(*pid);
        }
        held
    }

    /// Bytes.
    pub(crate) fn disk(&self) -> u64 {
        self.files.values().sum()
    }

    pub(crate) fn pipes(&self) -> usize {
        self.pipes.len()
    }

    /// The first may have ended before the others. All have the same mappings, and mostly the same files.
    fn add_threads(&mut self, pid: i32) {
        let (mut before, mut is_mapped) = (None, false);
        for thread in self.entries(&PathBuf::from(format!("/proc/{pid}/task"))) {
            let number = thread.file_name().and_then(|name| name.to_str()?.parse::<i32>().ok());
            if before.zip(number).is_none_or(|(one, other)| !sys::share_files(one, other)) {
                self.add_open(&thread);
                before = number;
            }
            is_mapped = is_mapped || self.add_mapped(pid, &thread);
        }
    }

    fn add_open(&mut self, thread: &Path) {
        for path in self.entries(&thread.join("fd")) {
            let Some(FileType::Socket) = self.add(&path) else { continue };
            let Some(number) = path.file_name() else { continue };
            let about = fs::read_to_string(thread.join("fdinfo").join(number)).unwrap_or_default();
            let sent = about.lines().find_map(|line| line.strip_prefix("scm_fds:"));
            self.unseen |= sent.is_some_and(|count| count.trim() != "0");
        }
    }

    /// Whether there are any.
    fn add_mapped(&mut self, pid: i32, thread: &Path) -> bool {
        let maps = match File::open(thread.join("maps")) {
            Ok(maps) => maps,
            Err(error) => {
                self.miss(&error);
                return false;
            }
        };
        let mut is_mapped = false;
        // Names may hold anything.
        for line in BufReader::new(maps).split(b'\n').map_while(Result::ok) {
            is_mapped = true;
            if !self.may_ask() {
                break;
            }
            let line = String::from_utf8_lossy(&line);
            let Some(Mapping { range, device }) = Mapping::unnamed(&line) else { continue };
            if !self.memory.contains(&device) {
                let about = self.add(Path::new(&format!("/proc/{pid}/map_files/{range}")));
                self.unseen |= about.is_none();
            }
        }
        is_mapped
    }

    /// What stands there; nothing where that cannot be told.
    fn add(&mut self, path: &Path) -> Option<FileType> {
        let about = stat(path).ok()?;
        let kind = FileType::from_raw_mode(about.st_mode);
        let is_unnamed = kind == FileType::RegularFile && about.st_nlink == 0;
        if is_unnamed && !self.memory.contains(&about.st_dev) {
            self.files.insert((about.st_dev, about.st_ino), disk::cost(&about));
        }
        if kind == FileType::Fifo {
            self.pipes.insert((about.st_dev, about.st_ino));
        }
        Some(kind)
    }

    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    if !self.may_ask() {
                        break;
                    }
                    paths.push(entry.path());
                }
            }
            Err(error) => self.miss(&error),
        }
        paths
    }

    fn may_ask(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        self.unseen |= left.is_none();
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// A process that is gone holds nothing.
    fn miss(&mut self, error: &io::Error) {
        let gone = [Errno::NOENT, Errno::SRCH].map(|gone| Some(gone.raw_os_error()));
        self.unseen |= !gone.contains(&error.raw_os_error());
    }
}

/// A file that is mapped and has lost its name.
#[derive(Debug, PartialEq)]
struct Mapping {
    /// Its addresses, as they name it among the files that are mapped.
    range: String,
    device: u64,
}

impl Mapping {
    fn unnamed(line: &str) -> Option<Self> {
        let line = line.strip_suffix(" (deleted)").filter(|line| !line.ends_with(" /[aio]"))?;
        let mut words = line.split(' ');
        let (from, to) = words.next()?.split_once('-')?;
        // Only the list has them filled up.
        let range = [from, to].map(|address| address.trim_start_matches('0')).join("-");
        let (major, minor) = words.nth(2)?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        Some(Self { range, device: makedev(number(major)?, number(minor)?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of this process, as its own supervisor would see it.
    fn held() -> Held<'static> {
        static NONE: BTreeSet<u64> = BTreeSet::new();
        Held::by(&[rustix::process::getpid().as_raw_nonzero().get()], &NONE)
    }

    #[test]
    fn only_mappings_without_a_name_are_looked_at() {
        let line =
            "00007f00-00007f10 r--s 00000000 fe:01 42                         /a b/c (deleted)";
        let mapping = Mapping { range: "7f00-7f10".to_owned(), device: makedev(0xfe, 1) };
        assert_eq!(Mapping::unnamed(line), Some(mapping));
        for line in [
            "7f00-7f10 r--p 00000000 fe:00 42   /a",
            "7f00-7f10 rw-p 00000000 00:00 0 ",
            "7f00-7f10 rw-s 00000000 00:10 42   /[aio] (deleted)",
        ] {
            assert_eq!(Mapping::unnamed(line), None);
        }
    }

    #[test]
    fn what_is_in_memory_or_too_much_to_ask_is_told_apart() {
        let file = tempfile::tempfile().unwrap();
        let about = rustix::fs::fstat(&file).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        for (memory, known) in [(BTreeSet::new(), 1), (BTreeSet::from([about.st_dev]), 0)] {
            let (files, pipes) = (BTreeMap::new(), BTreeSet::new());
            let mut held = Held { memory: &memory, files, unseen: false, pipes, left: 2 };
            held.add(Path::new(&path));
            assert_eq!(held.files.len(), known);
            assert!(held.may_ask() && held.may_ask() && !held.unseen);
            assert!(!held.may_ask() && held.unseen);
        }
    }

    #[test]
    fn what_is_on_its_way_through_a_socket_is_known_to_be_there() {
        use std::os::fd::AsFd as _;
        let (one, other) = crate::link::Link::pair().unwrap();
        let file = tempfile::tempfile().unwrap();
        one.say_with(&crate::link::Word::Go, Some(file.as_fd())).unwrap();
        assert!(held().unseen);
        drop((one, other));
    }
}
