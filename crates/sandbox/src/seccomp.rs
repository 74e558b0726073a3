//! Which calls a jailed program may make. What is not named is allowed, but only calls that were known when this was
//! written: the kernel's newer ones are answered as an older kernel would.

#[cfg(test)]
mod tests;

use libc::{c_long, sock_filter};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// `file_setattr`, the newest call of Linux 6.17. Newer ones do not exist here.
const LAST: u32 = 469;

/// Refused: what changes the machine, its mounts, its clock or its modules, looks into other processes, or has been a
/// way out before.
const REFUSED: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    467, // open_tree_attr
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// As if the kernel had none: libraries then take the older call, whose arguments can be looked at.
const UNKNOWN: &[c_long] = &[
    libc::SYS_clone3,
    // Contexts are counted for the whole machine.
    libc::SYS_io_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_memfd_secret,
    libc::SYS_openat2,
];

/// What reaches beyond a process where there are no namespaces: sockets, shared memory, and what Landlock does not see
/// of a file that can be read.
const SHARED: &[c_long] = &[
    libc::SYS_connect,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_removexattr,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setxattr,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_socket,
    libc::SYS_utimensat,
    463, // setxattrat
    466, // removexattrat
    469, // file_setattr
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Notes on files, which Landlock does not see either. As on a file system that has none.
const NOTES: &[c_long] = &[
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    464, // getxattrat
    465, // listxattrat
];

/// Calls whose first argument says whether the second names a process, a group or a user: groups and users are refused,
/// since nought stands for the own one, with processes of the machine's in it.
const MANY: &[(c_long, &[u32])] = &[
    (libc::SYS_ioprio_set, &[2, 3]),
    (libc::SYS_setpriority, &[libc::PRIO_PGRP, libc::PRIO_USER]),
];

/// Pairs of sockets that could also send to any other socket by its path.
const LOOSE: &[u32] = &{
    let (datagram, raw) = (libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32);
    let (closing, waiting) = (libc::SOCK_CLOEXEC as u32, libc::SOCK_NONBLOCK as u32);
    [
        datagram,
        datagram | closing,
        datagram | waiting,
        datagram | closing | waiting,
        raw,
        raw | closing,
        raw | waiting,
        raw | closing | waiting,
    ]
};

/// Which argument of a call names a process; only the own one may be named.
const OTHERS: &[(c_long, u32)] = &[
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// New namespaces. The clock's shares its bit with the signal that a child ends with, and needs `unshare`.
const NAMESPACES: u32 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u32;

/// A file with such a mode would give its owner's rights to whoever runs it, on the machine too.
const GIVES_RIGHTS: u32 = 0o6000;

/// Devices, which need no right where their number is nought: a layer of the kernel's takes such a one for a name that was removed.
const KIND: u32 = libc::S_IFMT;
const DEVICES: &[u32] = &[libc::S_IFCHR, libc::S_IFBLK];

/// Input that a terminal would take for typed, and other ways to steer one.
const TERMINAL: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32, libc::TIOCSETD as u32];

/// Requests that file systems take, by the byte that says whose they are: all (`f`, `X`, `v`), btrfs, F2FS, FAT, bcachefs, NILFS. A file that is
/// open for reading is enough to change what the disk notes of it, and Landlock does not see it.
const OF_A_FILE_SYSTEM: u32 = 0xff00;
const FILE_SYSTEMS: &[u32] = &[0x6600, 0x5800, 0x7600, 0x9400, 0xf500, 0x7200, 0xbc00, 0x6e00];

/// By one of these on a file that the machine's programs use too, each of them would wait until a lease is given up, or tell when it comes by.
/// Read-only is enough for both.
const HOLDS: &[u32] = &[libc::F_SETLEASE as u32, libc::F_NOTIFY as u32];

/// Pipes of another size would use up what all of the person's programs may have together.
const SIZES: &[u32] = &[libc::F_SETPIPE_SZ as u32];

/// How long the disk may expect what is written to a file to live: noted of the file, for all that write to it.
const HINTS: &[u32] = &[1036, 1038]; // F_SET_RW_HINT, F_SET_FILE_RW_HINT

/// A process that shows nothing of itself shows no limit what it holds. Programs that want to hide, as keepers of keys do, are told that they
/// did: inside, nobody may look into another process anyway.
const HIDES: &[u32] = &[libc::PR_SET_DUMPABLE as u32];

/// The limit of core files. With nought the kernel starts the machine's own program for crashes, as root and outside: who wants to set it is told
/// that it is set.
const CORE_LIMIT: u32 = 4; // RLIMIT_CORE, whose type differs between C libraries

/// Requests of XFS, which other file systems take too, that allocate blocks without writing: `ALLOCSP`, `RESVSP`, `ZERO_RANGE` and their 64-bit
/// forms, by whose they are and their number. No limit of a file's size holds for them.
const REQUEST: u32 = 0xffff;
const ALLOCATING: &[u32] = &[0x580a, 0x5824, 0x5828, 0x582a, 0x5839];

const FAMILIES: &[u32] = &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32];

/// Of `personality`: Linux without changes, asking, and addresses that do not vary.
const PERSONALITIES: &[u32] = &[0, u32::MAX, libc::ADDR_NO_RANDOMIZE as u32];

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

/// Whether the jail has namespaces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    Yes,
    /// The machine's sockets, shared memory and processes are there: calls that reach them are not.
    No,
}

/// Who counts the memory of a jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// A control group, which sees all of it.
    Grouped,
    /// The supervisor, which does not see a file in memory that is on its way through a socket, or of which one page is mapped. Programs do
    /// without such files where there are none, and take temporary ones.
    Watched,
}

/// The filter of a jail.
pub(crate) fn program(apart: Apart, memory: Memory) -> Vec<sock_filter> {
    let mut code = Code::default();
    code.begin();
    if memory == Memory::Watched {
        code.answer(libc::SYS_memfd_create, errno(libc::ENOSYS));
    }
    // Before anything that lets the same calls pass.
    code.answer_values(libc::SYS_setrlimit, 0, &[CORE_LIMIT], errno(0));
    code.pretend_to_set_limit(CORE_LIMIT);
    if apart == Apart::No {
        for call in SHARED {
            code.answer(*call, errno(libc::EPERM));
        }
        for call in NOTES {
            code.answer(*call, errno(libc::EOPNOTSUPP));
        }
        for (call, kinds) in MANY {
            code.refuse_values(*call, 0, kinds);
        }
        for (call, position) in OTHERS {
            code.only(*call, *position, &[0], None, libc::EPERM);
        }
        code.refuse_values(libc::SYS_socketpair, 1, LOOSE);
        code.refuse_values(libc::SYS_fcntl, 1, HINTS);
        let none = errno(libc::ENOTTY);
        code.answer_masked(libc::SYS_ioctl, (1, OF_A_FILE_SYSTEM), FILE_SYSTEMS, none);
    }
    for call in REFUSED {
        code.answer(*call, errno(libc::EPERM));
    }
    for call in UNKNOWN {
        code.answer(*call, errno(libc::ENOSYS));
    }
    code.refuse_bits(libc::SYS_clone, &[(0, NAMESPACES)]);
    for (call, argument) in [(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)] {
        code.refuse_bits(call, &[(argument, GIVES_RIGHTS)]);
    }
    code.refuse_bits(libc::SYS_mknodat, &[(2, GIVES_RIGHTS)]);
    code.answer_masked(libc::SYS_mknodat, (2, KIND), DEVICES, errno(libc::EPERM));
    code.refuse_bits(libc::SYS_renameat2, &[(4, libc::RENAME_WHITEOUT)]);
    code.refuse_bits(libc::SYS_mkdirat, &[(2, GIVES_RIGHTS)]);
    code.refuse_bits(libc::SYS_openat, &[(2, CREATES), (3, GIVES_RIGHTS)]);
    #[cfg(target_arch = "x86_64")]
    {
        for call in [libc::SYS_chmod, libc::SYS_creat, libc::SYS_mknod, libc::SYS_mkdir] {
            code.refuse_bits(call, &[(1, GIVES_RIGHTS)]);
        }
        code.refuse_bits(libc::SYS_open, &[(1, CREATES), (2, GIVES_RIGHTS)]);
        code.answer_masked(libc::SYS_mknod, (1, KIND), DEVICES, errno(libc::EPERM));
    }
    code.only(
        libc::SYS_socket,
        0,
        FAMILIES,
        Some((libc::AF_NETLINK as u32, ROUTE)),
        libc::EAFNOSUPPORT,
    );
    code.only(libc::SYS_socketpair, 0, &[libc::AF_UNIX as u32], None, libc::EAFNOSUPPORT);
    code.refuse_above(libc::SYS_shmget, 1, SEGMENT);
    code.only(libc::SYS_personality, 0, PERSONALITIES, None, libc::EPERM);
    code.refuse_values(libc::SYS_ioctl, 1, TERMINAL);
    // A disk that is full at one call is full before anybody looks. Libraries write instead.
    let unsupported = errno(libc::EOPNOTSUPP);
    code.answer(libc::SYS_fallocate, unsupported);
    code.answer_masked(libc::SYS_ioctl, (1, REQUEST), ALLOCATING, unsupported);
    code.refuse_values(libc::SYS_fcntl, 1, HOLDS);
    code.refuse_values(libc::SYS_fcntl, 1, SIZES);
    code.answer_values(libc::SYS_prctl, 0, HIDES, errno(0));
    code.end();
    code.0
}

const CREATES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;
/// `fchmodat2`, the same on every architecture.
const FCHMODAT2: c_long = 452;
/// Of netlink: what the network looks like; the jail's own.
const ROUTE: u32 = libc::NETLINK_ROUTE as u32;

/// Shared memory that outlives whoever made it and belongs to nobody: no more than a few thousand such segments can be
/// made, and only a control group sees what is in them.
const SEGMENT: u32 = 64 << 10;

fn errno(number: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | number.cast_unsigned()
}

/// The kernel looks at no more of it.
fn number_of(call: c_long) -> u32 {
    call.cast_unsigned() as u32
}

/// Instructions for the kernel's filter machine. Before and after each rule the call's number is loaded.
#[derive(Default)]
struct Code(Vec<sock_filter>);

const NUMBER: u32 = 0;
const MACHINE: u32 = 4;

/// The lower half of an argument: all that the kernel looks at where a number is compared here.
fn argument(at: u32) -> u32 {
    16 + 8 * at
}

impl Code {
    fn push(&mut self, operation: u32, value: u32, jumps: (u8, u8)) {
        let code = operation as u16;
        self.0.push(sock_filter { code, jt: jumps.0, jf: jumps.1, k: value });
    }

    fn load(&mut self, offset: u32) {
        self.push(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, (0, 0));
    }

    fn give(&mut self, answer: u32) {
        self.push(libc::BPF_RET | libc::BPF_K, answer, (0, 0));
    }

    /// Goes on if equal, else leaves out so many instructions.
    fn unless_equal_skip(&mut self, value: u32, skipped: u8) {
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, (0, skipped));
    }

    /// Another machine's calls have other numbers: who makes them wants past this filter.
    fn begin(&mut self) {
        self.load(MACHINE);
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, ARCHITECTURE, (1, 0));
        self.give(KILL);
        self.load(NUMBER);
        // Also the second numbering of x86-64, which begins far above.
        self.push(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, LAST, (0, 1));
        self.give(errno(libc::ENOSYS));
    }

    fn end(&mut self) {
        self.give(ALLOW);
    }

    fn answer(&mut self, call: c_long, answer: u32) {
        self.unless_equal_skip(number_of(call), 1);
        self.give(answer);
    }

    /// Refuses a call in which each of these arguments has one of these bits.
    fn refuse_bits(&mut self, call: c_long, bits: &[(u32, u32)]) {
        let body = bits.len() as u8 * 2 + 2;
        self.unless_equal_skip(number_of(call), body);
        for (at, (position, mask)) in bits.iter().enumerate() {
            self.load(argument(*position));
            let to_the_end = (bits.len() - at) as u8 * 2 - 1;
            self.push(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, *mask, (0, to_the_end));
        }
        self.give(errno(libc::EPERM));
        self.load(NUMBER);
    }

    fn refuse_values(&mut self, call: c_long, position: u32, values: &[u32]) {
        self.answer_values(call, position, values, errno(libc::EPERM));
    }

    fn answer_values(&mut self, call: c_long, position: u32, values: &[u32], answer: u32) {
        self.answer_masked(call, (position, u32::MAX), values, answer);
    }

    /// Compares only these bits of an argument.
    fn answer_masked(
        &mut self,
        call: c_long,
        (position, mask): (u32, u32),
        values: &[u32],
        answer: u32,
    ) {
        self.unless_equal_skip(number_of(call), values.len() as u8 * 2 + 3);
        self.load(argument(position));
        self.push(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, (0, 0));
        for value in values {
            self.unless_equal_skip(*value, 1);
            self.give(answer);
        }
        self.load(NUMBER);
    }

    /// Refuses a call in which an argument, as a whole word, is more than this.
    fn refuse_above(&mut self, call: c_long, position: u32, most: u32) {
        self.unless_equal_skip(number_of(call), 6);
        self.load(argument(position) + 4);
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, (0, 2));
        self.load(argument(position));
        self.push(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, most, (0, 1));
        self.give(errno(libc::ENOMEM));
        self.load(NUMBER);
    }

    /// `prlimit64` with a new value for this limit succeeds and does nothing. Asking for it passes.
    fn pretend_to_set_limit(&mut self, limit: u32) {
        self.unless_equal_skip(number_of(libc::SYS_prlimit64), 8);
        self.load(argument(1));
        self.unless_equal_skip(limit, 5);
        // An address of which both halves are nought is none.
        self.load(argument(2));
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, (0, 2));
        self.load(argument(2) + 4);
        self.push(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, (1, 0));
        self.give(errno(0));
        self.load(NUMBER);
    }

    /// Lets only these values of an argument pass; `with` is one more value, and what the third argument must be then.
    fn only(
        &mut self,
        call: c_long,
        position: u32,
        values: &[u32],
        with: Option<(u32, u32)>,
        or: i32,
    ) {
        let more = if with.is_some() { 4 } else { 0 };
        self.unless_equal_skip(number_of(call), values.len() as u8 * 2 + 3 + more);
        self.load(argument(position));
        for value in values {
            self.unless_equal_skip(*value, 1);
            self.give(ALLOW);
        }
        if let Some((value, third)) = with {
            self.unless_equal_skip(value, 3);
            self.load(argument(2));
            self.unless_equal_skip(third, 1);
            self.give(ALLOW);
        }
        self.give(errno(or));
        self.load(NUMBER);
    }
}
