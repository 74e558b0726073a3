//! A process of its own that goes on with this program. What a new program is given by the kernel is made by hand.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, setsid};

use super::process::{close_from, fork, leave};
use super::spawn::Given;

/// This process while it has one thread, and where the kernel put what it was started with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alone {
    arguments: Range<usize>,
    variables: Range<usize>,
}

impl Alone {
    /// Nothing where there are more threads, or nobody can tell.
    pub(crate) fn look() -> Option<Self> {
        Self::read(&String::from_utf8_lossy(&fs::read("/proc/self/stat").ok()?))
    }

    fn read(stat: &str) -> Option<Self> {
        // The second field is a name in brackets, with anything in it.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<usize>().ok();
        let range = |first: usize| {
            let range = field(first)?..field(first + 1)?;
            (0 < range.start && range.start <= range.end).then_some(range)
        };
        let (threads, arguments, variables) = (field(20)?, range(48)?, range(50)?);
        (threads == 1).then_some(Self { arguments, variables })
    }

    /// A child as if it was spawned: with this name, no arguments, no variables, no descriptors but those given, all signals as a
    /// program of ours finds them, and a session of its own. Nothing in the child, which must never return to where this process
    /// came from. Given are all numbers from nought on.
    pub(crate) fn branch(self, name: &CStr, given: &[Given<'_>]) -> io::Result<Option<Pid>> {
        let forked = fork()?;
        if forked.is_none() && self.begin_anew(name, given).is_err() {
            leave(1);
        }
        Ok(forked)
    }

    fn begin_anew(self, name: &CStr, given: &[Given<'_>]) -> io::Result<()> {
        // SAFETY: nobody reads the environment meanwhile: there is one thread.
        unsafe { libc::clearenv() };
        erase(&self.variables, &[]);
        erase(&self.arguments, name.to_bytes());
        setsid()?;
        reset_signals()?;
        place(given)
    }
}

/// Leaves a text that ends in there, and zeros.
fn erase(range: &Range<usize>, text: &[u8]) {
    let room = range.len().saturating_sub(1);
    let text = &text[..text.len().min(room)];
    let start = ptr::with_exposed_provenance_mut::<u8>(range.start);
    // SAFETY: the kernel says that strings of this process lie there, on its stack, which it may write. Who still has a pointer to one,
    // as the list of arguments has, finds the end of a string there or after it.
    unsafe {
        ptr::write_bytes(start, 0, range.len());
        ptr::copy_nonoverlapping(text.as_ptr(), start, text.len());
    }
}

/// As they are in `main`: none is blocked, and none is ignored but the one for a closed pipe.
fn reset_signals() -> io::Result<()> {
    let mut none = MaybeUninit::uninit();
    // SAFETY: handlers are taken away, none is set; the set is initialised by the call that fills it. What cannot be set are the two that no
    // process may set, and those of libc's own.
    unsafe {
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        libc::sigemptyset(none.as_mut_ptr());
        match libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Gives descriptors their numbers and closes all others.
fn place(given: &[Given<'_>]) -> io::Result<()> {
    let beyond = given.iter().map(|(_, number)| number + 1).max().unwrap_or(0);
    // None is overwritten before it is placed.
    let held: Result<Vec<OwnedFd>, _> =
        given.iter().map(|(descriptor, _)| fcntl_dupfd_cloexec(descriptor, beyond)).collect();
    for (held, (_, number)) in held?.iter().zip(given) {
        // SAFETY: whoever owned that number never uses it again, since the child does not return.
        if unsafe { libc::dup2(held.as_raw_fd(), *number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    close_from(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, threads: u32, places: &str) -> String {
        let between = "0 ".repeat(27);
        format!("7 ({name}) S {}{threads} {between}{places} 0\n", "1 ".repeat(16))
    }

    #[test]
    fn what_a_process_was_started_with_is_found_whatever_its_name() {
        for name in ["sequester", "a) S 1 (b", "", "\u{fffd} x"] {
            let found = Alone::read(&stat(name, 1, "10 20 20 90"));
            assert_eq!(found, Some(Alone { arguments: 10..20, variables: 20..90 }), "{name}");
        }
    }

    #[test]
    fn nobody_is_alone_with_threads_or_where_the_kernel_does_not_tell() {
        for (threads, places) in [(2, "10 20 20 90"), (1, "0 0 0 0"), (1, "20 10 20 90"), (1, "10")]
        {
            assert_eq!(Alone::read(&stat("x", threads, places)), None, "{threads} {places}");
        }
        assert_eq!(Alone::read(""), None);
        // Tests have threads.
        assert_eq!(Alone::look(), None);
    }
}
