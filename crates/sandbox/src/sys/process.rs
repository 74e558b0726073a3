//! New processes without a new program.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;

/// Which side of a new process this is.
pub(crate) enum Cloned {
    Child,
    Parent { pid: Pid, handle: OwnedFd },
}

/// A child in namespaces of its own. Must be called while the process has one thread.
pub(crate) fn clone_apart(flags: u64) -> io::Result<Cloned> {
    let mut handle: RawFd = -1;
    let arguments = Arguments {
        flags: flags | libc::CLONE_PIDFD as u64,
        pidfd: (&raw mut handle) as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..Arguments::default()
    };
    // SAFETY: the structure outlives the call and its size is told; no stack is given, so the child goes on with a copy
    // of this one, as after `fork`. With one thread no lock is held by another that the child would lack.
    let result =
        unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<Arguments>()) };
    match result {
        0 => Ok(Cloned::Child),
        // SAFETY: on success the kernel has stored a new descriptor that nobody else owns.
        1.. => Ok(Cloned::Parent {
            pid: pid(result)?,
            handle: unsafe { OwnedFd::from_raw_fd(handle) },
        }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A child like this process, with a handle. Must be called while the process has one thread.
pub(crate) fn fork_handled() -> io::Result<Cloned> {
    let Some(pid) = fork()? else { return Ok(Cloned::Child) };
    // Its number stays its own until it is waited for.
    let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
    Ok(Cloned::Parent { pid, handle })
}

/// A child like this process; nothing in the child. Must be called while the process has one thread.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: with one thread no lock is held by another that the child would lack.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        child @ 1.. => pid(child.into()).map(Some),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether two threads have the same open files. Not where nobody may ask.
pub(crate) fn share_files(one: i32, other: i32) -> bool {
    const KCMP_FILES: libc::c_int = 2;
    // SAFETY: numbers alone are passed, and nothing is written.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0_u64, 0_u64) == 0 }
}

fn pid(raw: libc::c_long) -> io::Result<Pid> {
    let raw = i32::try_from(raw).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::Error::other("the kernel gave no process id"))
}

/// A descriptor that this process was started with. Each number may be taken once.
pub(crate) fn adopt(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: asks about a number and touches no memory.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, was given to this process at its start, and the caller takes it only once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Device and number of the file that a descriptor is of, if it is open.
pub(crate) fn identify(number: RawFd) -> Option<(u64, u64)> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: asks about a number; the kernel fills what it is given, or fails and it is not read.
    let about = (unsafe { libc::fstat(number, about.as_mut_ptr()) } == 0)
        .then(|| unsafe { about.assume_init() })?;
    Some((about.st_dev, about.st_ino))
}

/// Whether this process can get rights in a user namespace of its own. It is there then, so this is for one that ends soon.
pub(crate) fn makes_namespaces() -> bool {
    // SAFETY: changes the ids and rights of this thread alone, and no memory.
    unsafe { libc::unshare(libc::CLONE_NEWUSER) == 0 }
}

/// Closes every descriptor but the first three and those to keep. Whoever owned another must never use it again: this
/// is for the start of a program, and for a child that never returns.
pub(crate) fn close_others(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = keep.iter().map(|one| one.as_raw_fd().cast_unsigned()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for number in kept.into_iter().filter(|number| *number >= 3).chain([u32::MAX]) {
        // SAFETY: as said above, nobody uses these again.
        if first < number && unsafe { libc::close_range(first, number - 1, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        first = number.saturating_add(1);
    }
    Ok(())
}

/// Closes every descriptor from a number on, as [`close_others`] does.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    // SAFETY: as said there, nobody uses these again.
    match unsafe { libc::close_range(first.cast_unsigned(), u32::MAX, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ends this process, and does nothing of what a program does at its end: that is for whoever it was forked from.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: does not come back, so nothing of this process is used again.
    unsafe { libc::_exit(code) }
}

/// `struct clone_args` of the kernel, which libc does not have for every target.
#[repr(C, align(8))]
#[derive(Default)]
struct Arguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}
