//! The first process of a jail, once the program runs. No signal from inside reaches it, so whatever must go on in there is its own work.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, wait as wait_for_any,
};

use crate::link::{Link, Word};
use crate::order::Ending;
use crate::sys;

/// Waits for the program and, while it runs, for all that it leaves behind.
pub(crate) fn wait_for(program: Pid) -> Ending {
    reap(program, WaitOptions::empty()).unwrap_or(Ending::KILLED)
}

/// As before; meanwhile further programs are started for the supervisor. In a new process `become_it` is called, which never returns.
pub(crate) fn serve(program: Pid, link: &Link, become_it: impl Fn(&[String], OwnedFd)) -> Ending {
    let Ok(ended) = sys::hold_back(&[Signal::CHILD]) else { return wait_for(program) };
    loop {
        // Also those that ended before anybody was told.
        if let Some(ending) = reap(program, WaitOptions::NOHANG) {
            return ending;
        }
        let mut ready = [PollFd::new(&ended, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        if poll(&mut ready, None).is_err() {
            continue;
        }
        if !ready[0].revents().is_empty() {
            let _ = rustix::io::read(&ended, &mut [0; 128]);
        }
        if ready[1].revents().is_empty() {
            continue;
        }
        match link.hear() {
            Ok(Some((Word::Spawn(words), Some(stream)))) => {
                if let Ok(None) = sys::fork() {
                    become_it(&words, stream);
                }
            }
            // The supervisor is gone, and with it this process.
            _ => return Ending::KILLED,
        }
    }
}

/// The program's end, once it has ended.
fn reap(program: Pid, how: WaitOptions) -> Option<Ending> {
    loop {
        match wait_for_any(how) {
            Ok(Some((pid, status))) if pid == program => return Some(ending(status)),
            Ok(None) => return None,
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(_) => return Some(Ending::KILLED),
        }
    }
}

fn ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or(9)),
    }
}

/// Ends all other processes of the namespace and waits for them, if this is its first.
pub(crate) fn end_others() {
    // For any other it would be all processes of the person's.
    if !getpid().is_init() {
        return;
    }
    // To the group of the first means to all.
    let _ = kill_process_group(Pid::INIT, Signal::KILL);
    while !matches!(wait_for_any(WaitOptions::empty()), Err(error) if error != Errno::INTR) {}
}
