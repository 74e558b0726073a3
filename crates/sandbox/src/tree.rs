//! A process and all beneath it, as the machine sees them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, stat, statfs};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

use crate::disk;

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

/// Ends all beneath this process, which must be the one that orphans come to. They are looked for until none is left:
/// one that was just started is found the next time.
pub(crate) fn end_all() {
    let own = rustix::process::getpid();
    loop {
        for pid in tree(own, usize::MAX).into_iter().skip(1).filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
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

/// What a process has of what is limited.
pub(crate) struct Load {
    /// Bytes that belong to this process alone, or that it shares in memory.
    pub(crate) memory: u64,
    pub(crate) threads: u32,
}

pub(crate) fn load(pid: i32) -> Load {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    let kilobytes = number("RssAnon:") + number("RssShmem:") + number("VmSwap:");
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

/// Files on disks that have no name any more and that the processes hold: open, mapped, or run. Such files in a memory file system are
/// counted with it.
#[derive(Default)]
pub(crate) struct Held {
    /// What each takes, by its device and number.
    files: BTreeMap<(u64, u64), u64>,
    /// There are some of which nobody tells what they take: mapped ones tell only the machine's root, those on their way through a socket
    /// tell nobody.
    pub(crate) unseen: bool,
}

impl Held {
    pub(crate) fn by(pids: &[i32]) -> Self {
        let mut held = Self::default();
        for pid in pids {
            held.add(&PathBuf::from(format!("/proc/{pid}/exe")));
            // A thread may have files of its own, and live on when the first has ended.
            for thread in entries(&PathBuf::from(format!("/proc/{pid}/task"))) {
                held.add_open(&thread);
                held.add_mapped(*pid, &thread);
            }
        }
        held
    }

    /// Bytes.
    pub(crate) fn disk(&self) -> u64 {
        self.files.values().sum()
    }

    fn add_open(&mut self, thread: &Path) {
        for path in entries(&thread.join("fd")) {
            let Some(FileType::Socket) = self.add(&path) else { continue };
            let Some(number) = path.file_name() else { continue };
            let about = fs::read_to_string(thread.join("fdinfo").join(number)).unwrap_or_default();
            let sent = about.lines().find_map(|line| line.strip_prefix("scm_fds:"));
            self.unseen |= sent.is_some_and(|count| count.trim() != "0");
        }
    }

    fn add_mapped(&mut self, pid: i32, thread: &Path) {
        let text = fs::read(thread.join("maps")).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((range, at)) = unnamed(line) else { continue };
            if IN_MEMORY.iter().any(|name| at.starts_with(name)) {
                continue;
            }
            let about = self.add(Path::new(&format!("/proc/{pid}/map_files/{range}")));
            self.unseen |= about.is_none();
        }
    }

    /// What stands there; nothing where that cannot be told.
    fn add(&mut self, path: &Path) -> Option<FileType> {
        let about = stat(path).ok()?;
        let kind = FileType::from_raw_mode(about.st_mode);
        let is_on_disk = || !statfs(path).is_ok_and(|system| system.f_type == TMPFS);
        if kind == FileType::RegularFile && about.st_nlink == 0 && is_on_disk() {
            self.files.insert((about.st_dev, about.st_ino), disk::cost(&about));
        }
        Some(kind)
    }
}

/// The addresses, as they name a file among those that are mapped, and the name that the file has lost.
fn unnamed(line: &str) -> Option<(String, &str)> {
    let line = line.strip_suffix(" (deleted)")?;
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    // Only the list has them filled up.
    let range = [from, to].map(|address| address.trim_start_matches('0')).join("-");
    rest.find('/').map(|at| (range, &rest[at..]))
}

/// Names that the kernel gives to memory that is shared.
const IN_MEMORY: &[&str] = &["/memfd:", "/dev/zero", "/SYSV", "/[aio]"];

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

const TMPFS: rustix::fs::FsWord = 0x0102_1994;

#[cfg(test)]
mod tests {
    use super::*;

    /// Of this process, as its own supervisor would see it.
    fn held() -> Held {
        Held::by(&[rustix::process::getpid().as_raw_nonzero().get()])
    }

    #[test]
    fn only_mappings_without_a_name_are_looked_at() {
        let line =
            "00007f00-00007f10 r--s 00000000 fe:00 42                         /a b/c (deleted)";
        assert_eq!(unnamed(line), Some(("7f00-7f10".to_owned(), "/a b/c")));
        for line in ["7f00-7f10 r--p 00000000 fe:00 42   /a", "7f00-7f10 rw-p 00000000 00:00 0 "] {
            assert_eq!(unnamed(line), None);
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
