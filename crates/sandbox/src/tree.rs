//! A process and all beneath it, as the machine sees them.

use std::collections::BTreeMap;
use std::fs;
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

/// Bytes in files that have no name any more and that the processes hold open: on disks, and in memory by
/// `memfd_create`. Such files in a memory file system are counted with it.
pub(crate) fn held(pids: &[i32]) -> Held {
    let mut found = BTreeMap::new();
    for pid in pids {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for path in open.map(|entry| entry.path()) {
            let Ok(about) = stat(&path) else { continue };
            let file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
            if !file || about.st_nlink > 0 {
                continue;
            }
            let kind = match fs::read_link(&path) {
                Ok(name) if name.to_string_lossy().starts_with("/memfd:") => Kind::Memory,
                _ if statfs(&path).is_ok_and(|system| system.f_type == TMPFS) => continue,
                _ => Kind::Disk,
            };
            found.insert((about.st_dev, about.st_ino), (kind, disk::cost(&about)));
        }
    }
    let sum =
        |wanted| found.values().filter(|(kind, _)| *kind == wanted).map(|(_, cost)| cost).sum();
    Held { disk: sum(Kind::Disk), memory: sum(Kind::Memory) }
}

/// Bytes.
pub(crate) struct Held {
    pub(crate) disk: u64,
    pub(crate) memory: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Disk,
    Memory,
}

const TMPFS: rustix::fs::FsWord = 0x0102_1994;
