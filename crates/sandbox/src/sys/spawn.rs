//! A new program, with no descriptors but those it is given.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::process::Pid;

/// A descriptor and the number that it has in the new program.
pub(crate) type Given<'a> = (BorrowedFd<'a>, i32);

/// Starts `program` under a name in a session of its own, without arguments and with an empty environment. Safe with any number of
/// threads, and cheap whatever this process weighs: the memory is not copied.
pub(crate) fn spawn(program: &CStr, name: &CStr, given: &[Given<'_>]) -> io::Result<Pid> {
    let arguments = [name.as_ptr().cast_mut(), ptr::null_mut()];
    let environment = [ptr::null_mut()];
    let (actions, attributes) = (Actions::new(given)?, Attributes::new()?);
    let mut pid = 0;
    // SAFETY: all pointers lead to values that live until the call returns; both lists end with a null pointer.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    })?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("the kernel gave no process id"))
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new(given: &[Given<'_>]) -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises what it is given, or fails and it is not used.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: it was initialised by the call above.
        let mut actions = Self(unsafe { actions.assume_init() });
        for (descriptor, number) in given {
            // SAFETY: `actions` is initialised; the numbers are copied.
            check(unsafe {
                libc::posix_spawn_file_actions_adddup2(
                    &raw mut actions.0,
                    descriptor.as_raw_fd(),
                    *number,
                )
            })?;
        }
        Ok(actions)
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: it was initialised and is not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    /// A new session, so that a signal of the terminal's does not reach it; no signal is blocked or ignored.
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises what it is given, or fails and it is not used.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: it was initialised by the call above.
        let mut attributes = Self(unsafe { attributes.assume_init() });
        let (mut none, mut all) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let flags = libc::POSIX_SPAWN_SETSID
            | libc::POSIX_SPAWN_SETSIGDEF as libc::c_short
            | libc::POSIX_SPAWN_SETSIGMASK as libc::c_short;
        // SAFETY: both sets are initialised by the calls that fill them; `attributes` is initialised.
        unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, none.as_ptr()))?;
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, all.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised and is not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

fn check(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}
