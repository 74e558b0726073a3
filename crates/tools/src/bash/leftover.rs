//! Processes that a command left behind, found by a mark in the environment that they inherited.
//!
//! The group is not enough: `setsid` leaves it. What also wipes its environment is not found here; the jail ends it
//! with the attempt.

use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;
use rustix::process::{Pid, Signal, kill_process};

/// How often a search is repeated while processes still appear.
const ROUNDS: usize = 20;

/// What all processes of one call carry, and no others.
pub(super) struct Mark(String);

impl Mark {
    pub(super) const VARIABLE: &'static str = "SEQUESTER_CALL";

    pub(super) fn next() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{count}", std::process::id()))
    }

    pub(super) fn value(&self) -> &str {
        &self.0
    }

    /// Names of the processes that carry it, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |pid: Pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.trim_end().to_owned()
        };
        let mut names: Vec<String> = self.carriers().into_iter().map(name).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn kill(&self) {
        for _ in 0..ROUNDS {
            let found = self.carriers();
            if found.is_empty() {
                break;
            }
            for pid in found {
                // Fails only if it has ended.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// None where there is no `/proc`; the group is ended all the same. One that has ended carries nothing.
    fn carriers(&self) -> Vec<Pid> {
        let carried = format!("{}={}\0", Self::VARIABLE, self.0);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Pid::from_raw)
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ"));
                environment.is_ok_and(|bytes| memmem::find(&bytes, carried.as_bytes()).is_some())
            })
            .collect()
    }
}
