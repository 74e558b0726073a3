//! What the kernel does not limit by itself, looked at again and again.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::blueprint::Caps;
use crate::groups::Groups;
use crate::order::Cause;
use crate::tree::{resident, time, tree};

pub(crate) struct Watch<'a> {
    caps: &'a Caps,
    first: Pid,
    groups: &'a Groups,
    begun: Instant,
    /// When the disk is looked at next: that can take long, so it is not done on every look.
    disk: Instant,
    /// What was there before.
    before: u64,
}

const OFTEN: Duration = Duration::from_millis(50);

impl<'a> Watch<'a> {
    pub(crate) fn new(caps: &'a Caps, first: Pid, groups: &'a Groups, begun: Instant) -> Self {
        let before = size_of(caps, u64::MAX);
        Self { caps, first, groups, begun, disk: begun, before }
    }

    /// How long nothing needs to be looked at.
    pub(crate) fn patience(&self, now: Instant) -> Duration {
        match self.caps.wall {
            Some(wall) => OFTEN.min((self.begun + wall).saturating_duration_since(now)),
            None => OFTEN,
        }
    }

    /// The first limit that is exceeded.
    pub(crate) fn look(&mut self, now: Instant) -> Option<Cause> {
        if self.caps.wall.is_some_and(|wall| now >= self.begun + wall) {
            return Some(Cause::Wall);
        }
        let used = self.used();
        if self.caps.cpu.is_some_and(|most| used.cpu > most) {
            return Some(Cause::Cpu);
        }
        // The first process is the jail's own.
        if used.pids > self.caps.pids {
            return Some(Cause::Pids);
        }
        if used.memory > self.caps.memory {
            return Some(Cause::Memory);
        }
        if now >= self.disk {
            let begun = Instant::now();
            let most = self.before.saturating_add(self.caps.disk);
            let bytes = size_of(self.caps, most);
            self.disk = now + begun.elapsed() * 10 + OFTEN;
            if bytes > most {
                return Some(Cause::Disk);
            }
        }
        None
    }

    /// Only what no group counts is counted here.
    fn used(&self) -> Used {
        let counted = self.groups.cpu();
        let mut used = Used { cpu: counted.unwrap_or_default(), memory: 0, pids: 0 };
        let (cpu, memory) =
            (self.caps.cpu.is_some() && counted.is_none(), !self.groups.limit_memory());
        if cpu || memory {
            // One more than may be there is enough to know.
            for pid in tree(self.first, self.caps.pids as usize + 1) {
                used.pids += 1;
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
    pids: u32,
}

fn size_of(caps: &Caps, enough: u64) -> u64 {
    caps.counted.iter().map(|path| size(path, enough)).sum()
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
