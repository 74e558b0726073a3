//! Processes that a command leaves behind.
//!
//! Its group is not enough: `setsid` leaves that. A server that owns its process adopts every process whose parent has
//! ended, so that whatever a command started stays beneath the server, however it was started.

use std::collections::BTreeMap;
use std::io;

use rustix::process::{Pid, RawPid, Signal, WaitOptions, kill_process, waitpid};

/// Makes this process the parent of all descendants whose own parent ends.
pub(super) fn adopt() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// A process that is there; perhaps it has ended and only waits to be reaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// Zero for none.
    parent: RawPid,
    pub(super) name: String,
    pub(super) lives: bool,
}

impl Process {
    /// Ends it, or reaps it if it has ended and nobody else can.
    pub(super) fn end(&self) {
        // Both fail only if it is gone, or if its own parent has to reap it.
        if self.lives {
            let _ = kill_process(self.pid, Signal::KILL);
        } else {
            let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
        }
    }

    /// From a line of `/proc/PID/stat`. The name may hold anything, brackets too.
    fn parse(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let mut fields = rest.split(' ');
        let lives = !matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let pid = Pid::from_raw(pid.parse().ok()?)?;
        Some(Self { pid, parent, name: name.to_owned(), lives })
    }
}

/// All processes beneath `ancestor`, except `apart` and what is beneath them. None where there is no `/proc`.
pub(super) fn descendants(ancestor: Pid, apart: &[Pid]) -> Vec<Process> {
    let mut children: BTreeMap<RawPid, Vec<Process>> = BTreeMap::new();
    for process in processes().filter(|process| !apart.contains(&process.pid)) {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&ancestor.as_raw_pid()).unwrap_or_default();
    let mut looked = 0;
    while let Some(process) = found.get(looked) {
        let beneath = children.remove(&process.pid.as_raw_pid()).unwrap_or_default();
        found.extend(beneath);
        looked += 1;
    }
    found
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    numbered.filter_map(|entry| {
        let stat = std::fs::read(entry.path().join("stat")).ok()?;
        Process::parse(&String::from_utf8_lossy(&stat))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_named_anything() {
        let process = |stat: &str| Process::parse(stat);
        let expected = Process {
            pid: Pid::from_raw(12).unwrap(),
            parent: 7,
            name: "a) S 1 (b".to_owned(),
            lives: true,
        };
        assert_eq!(process("12 (a) S 1 (b) S 7 12 12 0"), Some(expected.clone()));
        let ended = Process { lives: false, ..expected };
        assert_eq!(process("12 (a) S 1 (b) Z 7 12"), Some(ended));
        for nonsense in ["", "12", "12 (a", "x (a) S 1", "12 (a) S", "0 (a) S 1"] {
            assert_eq!(process(nonsense), None, "{nonsense}");
        }
    }
}
