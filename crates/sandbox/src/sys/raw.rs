//! Single calls.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::process::Signal;

/// What becomes of a mount.
#[derive(Clone, Copy, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) depth: Depth,
    pub(crate) read_only: bool,
    pub(crate) no_devices: bool,
    pub(crate) no_programs: bool,
    /// Owners are mapped as this user namespace says.
    pub(crate) mapped: Option<BorrowedFd<'a>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Depth {
    #[default]
    WithAllBeneath,
    Alone,
}

/// Sets attributes of a mount; programs never gain an owner's rights from it.
pub(crate) fn set_attributes(mount: impl AsFd, attributes: Attributes<'_>) -> io::Result<()> {
    let mut set = libc::MOUNT_ATTR_NOSUID;
    for (wanted, flag) in [
        (attributes.read_only, libc::MOUNT_ATTR_RDONLY),
        (attributes.no_devices, libc::MOUNT_ATTR_NODEV),
        (attributes.no_programs, libc::MOUNT_ATTR_NOEXEC),
        (attributes.mapped.is_some(), libc::MOUNT_ATTR_IDMAP),
    ] {
        set |= if wanted { flag } else { 0 };
    }
    let userns_fd =
        attributes.mapped.map_or(0, |namespace| u64::from(namespace.as_raw_fd().cast_unsigned()));
    // What is mounted outside later stays outside.
    let propagation = libc::MS_PRIVATE;
    let alone = attributes.depth == Depth::Alone;
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation, userns_fd };
    let flags = libc::AT_EMPTY_PATH | if alone { 0 } else { libc::AT_RECURSIVE };
    // SAFETY: the path is empty and ends with a zero; the structure outlives the call and its size is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Puts a filter before every call of this thread and of all that it starts. Cannot be undone.
pub(crate) fn filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program outlives the call, which copies it; its length is right.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether the kernel knows the answer that our filters give.
pub(crate) fn has_filters() -> bool {
    let answer = libc::SECCOMP_RET_ERRNO;
    // SAFETY: reads one number that outlives the call, and changes nothing.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const answer)
    };
    result == 0
}

/// Lets `127.0.0.1` work in a new network namespace.
pub(crate) fn loopback_up(socket: impl AsFd) -> io::Result<()> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (at, letter) in c"lo".to_bytes().iter().enumerate() {
        request.ifr_name[at] = letter.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request takes exactly this structure, and it outlives the call.
    let result =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Readable when one of these signals came. They are held back from here on, in this thread and in all threads and processes that it makes.
pub(crate) fn hold_back(held: &[Signal]) -> io::Result<OwnedFd> {
    let signals = set_of(held);
    // SAFETY: the set is read only; the descriptor is new and nobody else's.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
        match libc::signalfd(-1, &raw const signals, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            descriptor @ 0.. => Ok(OwnedFd::from_raw_fd(descriptor)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Lets signals come that were held back in this thread.
pub(crate) fn let_come(held: &[Signal]) {
    let signals = set_of(held);
    // SAFETY: the set is read only.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, std::ptr::null_mut());
    }
}

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initialises the set that the others change.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
        }
        set.assume_init()
    }
}

/// The number of a terminal as the kernel tells it of processes, by whatever name it was opened.
pub(crate) fn terminal_number(terminal: impl AsFd) -> io::Result<i64> {
    /// `TIOCGDEV`, which libc does not have everywhere.
    const NUMBER: libc::Ioctl = 0x8004_5432;
    let mut number = 0_u32;
    // SAFETY: the request writes one number of this size, which outlives the call.
    match unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), NUMBER, &raw mut number) } {
        0 => Ok(i64::from(number.cast_signed())),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether whoever started this process had it ignore a signal.
pub(crate) fn is_ignored(signal: Signal) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set; the structure is filled by the call, and zeros are valid in it.
    unsafe {
        libc::sigaction(signal.as_raw(), std::ptr::null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// The version of Landlock that the kernel has; 0 if none.
pub(crate) fn landlock_version() -> u32 {
    const VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: asked for its version, the call takes no structure, and its size is zero.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(result).unwrap_or(0)
}

/// From here on this process's control groups are the top of all that it can see.
pub(crate) fn leave_groups() -> io::Result<()> {
    // SAFETY: changes what this process sees of control groups, and no memory or descriptor.
    match unsafe { libc::unshare(libc::CLONE_NEWCGROUP) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
