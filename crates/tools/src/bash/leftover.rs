//! Processes that a command left behind, found by a mark in the environment that they inherited.
//!
//! The group is not enough: `setsid` leaves it. What also wipes its environment is not found here; the jail ends it
//! with the attempt.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use memchr::memmem;
use rustix::process::{Pid, Signal, kill_process};

/// How often a search is repeated while processes still appear, and how long it waits for one to become what it will be.
const ROUNDS: usize = 20;
const MOMENT: Duration = Duration::from_millis(1);

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

    /// Names of the processes that carry it, sorted. The command itself, `leader`, is not reaped yet.
    pub(super) fn names(&self, leader: Pid) -> Vec<String> {
        let name = |pid: Pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.trim_end().to_owned()
        };
        let mut names: Vec<String> = self.carriers(leader).into_iter().map(name).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn kill(&self, leader: Pid) {
        for _ in 0..ROUNDS {
            let found = self.carriers(leader);
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
    fn carriers(&self, leader: Pid) -> Vec<Pid> {
        let carried = format!("{}={}\0", Self::VARIABLE, self.0);
        let began = stat(leader).map(|stat| stat.began);
        let mut found = Vec::new();
        for _ in 0..ROUNDS {
            found.clear();
            let mut unsure = false;
            for pid in processes() {
                match std::fs::read(format!("/proc/{pid}/environ")) {
                    Ok(bytes) if bytes.is_empty() => unsure |= is_starting(pid, began),
                    Ok(bytes) if memmem::find(&bytes, carried.as_bytes()).is_some() => {
                        found.push(pid);
                    }
                    _ => {}
                }
            }
            if !unsure {
                break;
            }
            thread::sleep(MOMENT);
        }
        found
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Whether it lives, is no older than the command, and shows no environment: it may be about to become a program that
/// carries the mark.
fn is_starting(pid: Pid, began: Option<u64>) -> bool {
    stat(pid).is_some_and(|stat| stat.lives && Some(stat.began) >= began)
}

struct Stat {
    lives: bool,
    /// Ticks after the machine's start.
    began: u64,
}

fn stat(pid: Pid) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything, brackets too.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let lives = !matches!(*fields.first()?, "Z" | "X");
    Some(Stat { lives, began: fields.get(19)?.parse().ok()? })
}
