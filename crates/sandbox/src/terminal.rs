//! What a person types: it is for the jailed program only while whoever started the jail has the terminal.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, dup};
use rustix::process::{Pid, getppid};

use crate::sys;

/// How often it is asked whose turn it is while there is something to read for somebody.
const PATIENCE: Duration = Duration::from_millis(100);

/// Passes on what is typed, until it ends. A supervisor has a session of its own, so that the kernel does not stop it from reading what is
/// meant for the shell: it looks itself.
pub(crate) fn pass_on(stdin: &OwnedFd, input: OwnedFd) -> io::Result<()> {
    let (number, starter) = (sys::terminal_number(stdin)?, getppid());
    // Another description of it: that this one does not wait is nobody else's matter. Not everybody may open what they were given.
    let own = format!("/proc/self/fd/{}", stdin.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(CWD, own, flags, Mode::empty()).or_else(|_| dup(stdin))?;
    let mut typed = File::from(opened);
    let (mut input, mut buffer) = (File::from(input), vec![0; 64 << 10]);
    loop {
        match poll(&mut [PollFd::new(&typed, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if getppid() != starter {
            return Ok(());
        }
        if !starter.is_some_and(|starter| has_turn(starter, number)) {
            thread::sleep(PATIENCE);
            continue;
        }
        match typed.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => input.write_all(&buffer[..bytes])?,
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn has_turn(process: Pid, terminal: i64) -> bool {
    let told = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    told.is_ok_and(|told| is_in_front(&told, terminal))
}

/// Whether a process may read a terminal, by what the kernel tells of it: it runs, and is of the group that is in front there. On a
/// terminal that is not the one of its session there is no such group.
fn is_in_front(told: &str, terminal: i64) -> bool {
    // A name may hold anything, but only the last bracket closes it.
    let Some((_, told)) = told.rsplit_once(')') else { return false };
    let told: Vec<&str> = told.split_ascii_whitespace().collect();
    let [state, _, group, _, own, front, ..] = told[..] else { return false };
    let is_stopped = state.eq_ignore_ascii_case("t");
    !is_stopped && (own.parse() != Ok(terminal) || group == front)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_runs_in_front_reads_the_terminal() {
        let told = |state: &str, group: i32, own: i64, front: i32| {
            let told = format!("7 (a ) T b) {state} 1 {group} 5 {own} {front} 4194304 99 0");
            is_in_front(&told, 34816)
        };
        assert!(told("S", 7, 34816, 7));
        assert!(!told("S", 7, 34816, 5), "the shell is in front");
        assert!(!told("T", 7, 34816, 7), "it was stopped");
        assert!(!told("t", 7, 34816, 7), "a debugger holds it");
        assert!(told("S", 7, 0, -1), "it has no terminal of its own");
        assert!(told("S", 7, 34817, 5), "it reads another one");
        assert!(!is_in_front("7 (a", 34816));
        assert!(!is_in_front("", 34816));
    }
}
