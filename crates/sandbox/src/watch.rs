//! What the kernel does not limit by itself, looked at again and again.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::blueprint::Caps;
use crate::groups::Groups;
use crate::order::Reason;

pub(crate) struct Watch<'a> {
    caps: &'a Caps,
    first: Pid,
    groups: &'a Groups,
    begun: Instant,
    /// When the disk is looked at next: that can take long, so it is not done on every look.
    disk: Instant,
}

const OFTEN: Duration = Duration::from_millis(50);

impl<'a> Watch<'a> {
    pub(crate) fn new(caps: &'a Caps, first: Pid, groups: &'a Groups, begun: Instant) -> Self {
        Self { caps, first, groups, begun, disk: begun }
    }

    /// How long nothing needs to be looked at.
    pub(crate) fn patience(&self, now: Instant) -> Duration {
        match self.caps.wall {
            Some(wall) => OFTEN.min((self.begun + wall).saturating_duration_since(now)),
            None => OFTEN,
        }
    }

    /// The first limit that is exceeded.
    pub(crate) fn look(&mut self, now: Instant) -> Option<Reason> {
        if self.caps.wall.is_some_and(|wall| now >= self.begun + wall) {
            return Some(Reason::Wall);
        }
        let used = self.used();
        if self.caps.cpu.is_some_and(|most| used.cpu > most) {
            return Some(Reason::Cpu);
        }
        if used.memory > self.caps.memory {
            return Some(Reason::Memory);
        }
        if now >= self.disk {
            let begun = Instant::now();
            let bytes: u64 = self.caps.counted.iter().map(|path| size(path, self.caps.disk)).sum();
            self.disk = now + begun.elapsed() * 10 + OFTEN;
            if bytes > self.caps.disk {
                return Some(Reason::Disk);
            }
        }
        None
    }

    /// Only what no group counts is counted here.
    fn used(&self) -> Used {
        let counted = self.groups.cpu();
        let (cpu, memory) =
            (self.caps.cpu.is_some() && counted.is_none(), !self.groups.limit_memory());
        let mut used = Used { cpu: counted.unwrap_or_default(), memory: 0 };
        if cpu || memory {
            let mut waiting = vec![self.first.as_raw_nonzero().get()];
            // More processes than may be there are not counted: one look must end.
            for _ in 0..=self.caps.pids {
                let Some(pid) = waiting.pop() else { break };
                waiting.extend(children(pid));
                used.memory += if memory { resident(pid) } else { 0 };
                used.cpu += if cpu { time(pid) } else { Duration::ZERO };
            }
        }
        used
    }
}

struct Used {
    cpu: Duration,
    memory: u64,
}

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

/// Bytes that belong to this process alone, or that it shares in memory.
fn resident(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
    };
    (kilobytes("RssAnon:") + kilobytes("RssShmem:") + kilobytes("VmSwap:")) << 10
}

/// Time that a process and those of its children that it has waited for had on a processor.
fn time(pid: i32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name stands in brackets and may hold anything.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks: u64 =
        fields.split(' ').skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

/// Bytes on disk beneath a folder; no more than a little over `enough` is looked for.
fn size(folder: &Path, enough: u64) -> u64 {
    let mut bytes = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            bytes += about.blocks() * 512;
            if about.is_dir() {
                waiting.push(entry.path());
            }
        }
        if bytes > enough {
            break;
        }
    }
    bytes
}
