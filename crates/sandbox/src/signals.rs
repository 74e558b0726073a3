//! What ends a program from outside: held back while it has a jail, so that it ends after its jail and what that left.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Signal, getpid, kill_process};

use crate::sys;

/// Signals that end a program by themselves and that it can hold back.
const ENDING: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// In this thread, and in threads that it makes meanwhile. With this value they come again.
pub struct HeldBack {
    held: Vec<Signal>,
    came: OwnedFd,
}

impl HeldBack {
    /// Those that this program ignores, as under `nohup`, stay ignored.
    pub fn begin() -> io::Result<Self> {
        let held: Vec<Signal> =
            ENDING.into_iter().filter(|signal| !sys::is_ignored(*signal)).collect();
        let came = sys::hold_back(&held)?;
        Ok(Self { held, came })
    }

    /// The one that came, if one did.
    pub fn take(&self) -> Option<Signal> {
        let mut told = [0; TOLD];
        let bytes = rustix::io::read(&self.came, &mut told).ok()?;
        let number = told.first_chunk().filter(|_| bytes == TOLD)?;
        let number = i32::from_ne_bytes(*number);
        ENDING.into_iter().find(|signal| signal.as_raw() == number)
    }

    /// Ends this program as if the signal came only now.
    pub fn end_by(&self, signal: Signal) -> ! {
        let _ = kill_process(getpid(), signal);
        sys::let_come(&[signal]);
        // It has a handler, or was ignored meanwhile.
        std::process::exit(128 + signal.as_raw())
    }
}

/// The kernel tells of a signal in so many bytes, its number first.
const TOLD: usize = 128;

impl AsFd for HeldBack {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.came.as_fd()
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        sys::let_come(&self.held);
    }
}
