//! The filter is run by a small machine of the same make as the kernel's.

use super::*;

fn run(call: c_long, arguments: [u64; 6]) -> u32 {
    run_on(ARCHITECTURE, number_of(call), arguments)
}

fn run_on(machine: u32, call: u32, arguments: [u64; 6]) -> u32 {
    run_program(&program(Apart::Yes, Memory::Grouped), machine, call, arguments)
}

fn run_program(program: &[sock_filter], machine: u32, call: u32, arguments: [u64; 6]) -> u32 {
    let mut data = [0_u8; 64];
    data[0..4].copy_from_slice(&call.to_ne_bytes());
    data[4..8].copy_from_slice(&machine.to_ne_bytes());
    for (at, argument) in arguments.iter().enumerate() {
        data[16 + 8 * at..24 + 8 * at].copy_from_slice(&argument.to_ne_bytes());
    }
    let (mut at, mut held) = (0, 0_u32);
    loop {
        let one = &program[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { one.jt } else { one.jf });
        match u32::from(one.code) {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                let from = one.k as usize;
                held = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
            }
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => held &= one.k,
            code if code == libc::BPF_RET | libc::BPF_K => return one.k,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => {
                at += jump(held == one.k);
            }
            code if code == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => at += jump(held > one.k),
            code if code == libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K => {
                at += jump(held & one.k != 0);
            }
            code => panic!("no such instruction: {code}"),
        }
    }
}

fn first(value: u32) -> [u64; 6] {
    [value.into(), 0, 0, 0, 0, 0]
}

#[test]
fn what_is_refused_is_refused_whatever_the_arguments() {
    for call in REFUSED {
        assert_eq!(run(*call, [0; 6]), errno(libc::EPERM), "{call}");
        assert_eq!(run(*call, [u64::MAX; 6]), errno(libc::EPERM), "{call}");
    }
    for call in UNKNOWN {
        assert_eq!(run(*call, [0; 6]), errno(libc::ENOSYS), "{call}");
    }
}

#[test]
fn ordinary_calls_pass() {
    for call in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_futex, libc::SYS_kill]
    {
        assert_eq!(run(call, [u64::MAX; 6]), ALLOW, "{call}");
    }
}

#[test]
fn another_machine_and_another_numbering_do_not_pass() {
    assert_eq!(run_on(0x4000_0003, 1, [0; 6]), KILL);
    assert_eq!(run_on(ARCHITECTURE, 0x4000_003b, [0; 6]), errno(libc::ENOSYS));
    assert_eq!(run_on(ARCHITECTURE, LAST + 1, [0; 6]), errno(libc::ENOSYS));
    assert_eq!(run_on(ARCHITECTURE, LAST, [0; 6]), ALLOW);
}

#[test]
fn pipes_are_made_and_devices_are_not() {
    let calls: &[(c_long, usize)] = &[
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];
    for (call, at) in calls.iter().copied() {
        let make = |kind: u32| {
            let mut arguments = [0; 6];
            arguments[at] = u64::from(kind | 0o600);
            run(call, arguments)
        };
        for kind in [0, libc::S_IFREG, libc::S_IFIFO, libc::S_IFSOCK] {
            assert_eq!(make(kind), ALLOW, "{kind:o}");
        }
        for kind in DEVICES {
            assert_eq!(make(*kind), errno(libc::EPERM), "{kind:o}");
        }
    }
    let rename = |flags: u32| run(libc::SYS_renameat2, [0, 0, 0, 0, flags.into(), 0]);
    assert_eq!(rename(libc::RENAME_NOREPLACE), ALLOW);
    assert_eq!(rename(libc::RENAME_EXCHANGE), ALLOW);
    assert_eq!(rename(libc::RENAME_WHITEOUT), errno(libc::EPERM));
}

#[test]
fn without_namespaces_no_request_to_a_file_system_passes() {
    let shared = program(Apart::No, Memory::Grouped);
    let ask = |program: &[sock_filter], request: u32| {
        let arguments = [3, request.into(), 0, 0, 0, 0];
        run_program(program, ARCHITECTURE, number_of(libc::SYS_ioctl), arguments)
    };
    // Flags, their older and newer forms, generations, extents, verity, keys; a snapshot of btrfs, what FAT notes of a file.
    let requests = [
        0x4008_6602,
        0x4004_6602,
        0x401c_5820,
        0x4008_7602,
        0x6609,
        0x4080_6685,
        0x800c_6613,
        0x5000_9401,
        0x4004_7211,
    ];
    for request in requests {
        assert_eq!(ask(&shared, request), errno(libc::ENOTTY), "{request:x}");
    }
    // How much can be read, what a terminal is, that a file is closed with the next program.
    for request in [libc::FIONREAD as u32, libc::TCGETS as u32, libc::FIOCLEX as u32] {
        assert_eq!(ask(&shared, request), ALLOW, "{request:x}");
    }
    assert_eq!(ask(&shared, libc::TIOCSTI as u32), errno(libc::EPERM));
    assert_eq!(ask(&program(Apart::Yes, Memory::Grouped), 0x4008_6602), ALLOW);
}

#[test]
fn threads_and_children_start_but_not_in_new_namespaces() {
    assert_eq!(run(libc::SYS_clone, first(libc::SIGCHLD as u32)), ALLOW);
    assert_eq!(run(libc::SYS_clone, first(0x003d_0f00)), ALLOW);
    for flag in [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWNET, libc::CLONE_NEWPID] {
        assert_eq!(run(libc::SYS_clone, first(flag.cast_unsigned())), errno(libc::EPERM));
    }
}

#[test]
fn only_local_and_internet_sockets_can_be_made() {
    for family in FAMILIES {
        assert_eq!(run(libc::SYS_socket, [u64::from(*family), 1, 0, 0, 0, 0]), ALLOW);
    }
    let netlink = libc::AF_NETLINK as u64;
    assert_eq!(run(libc::SYS_socket, [netlink, 3, 0, 0, 0, 0]), ALLOW);
    assert_eq!(run(libc::SYS_socket, [netlink, 3, 9, 0, 0, 0]), errno(libc::EAFNOSUPPORT));
    for family in [libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG, libc::AF_BLUETOOTH, libc::AF_XDP]
    {
        assert_eq!(run(libc::SYS_socket, first(family.cast_unsigned())), errno(libc::EAFNOSUPPORT));
    }
}

#[test]
fn no_file_is_made_that_gives_its_owners_rights() {
    let plain = [u64::MAX, 0, 0o755, 0, 0, 0];
    let rights = [u64::MAX, 0, 0o4755, 0, 0, 0];
    assert_eq!(run(libc::SYS_fchmodat, plain), ALLOW);
    assert_eq!(run(libc::SYS_fchmodat, rights), errno(libc::EPERM));
    let open = |flags: i32, mode: u64| {
        run(libc::SYS_openat, [0, 0, u64::from(flags.cast_unsigned()), mode, 0, 0])
    };
    assert_eq!(open(libc::O_WRONLY | libc::O_CREAT, 0o644), ALLOW);
    assert_eq!(open(libc::O_WRONLY | libc::O_CREAT, 0o2644), errno(libc::EPERM));
    assert_eq!(open(libc::O_WRONLY | libc::O_TMPFILE, 0o4644), errno(libc::EPERM));
    assert_eq!(
        open(libc::O_RDONLY | libc::O_DIRECTORY, u64::MAX),
        ALLOW,
        "the mode is not looked at"
    );
}

#[test]
fn who_wants_to_hide_is_told_so_and_does_not() {
    let hide = [libc::PR_SET_DUMPABLE as u64, 0, 0, 0, 0, 0];
    assert_eq!(run(libc::SYS_prctl, hide), errno(0));
    for other in [libc::PR_GET_DUMPABLE, libc::PR_SET_NAME, libc::PR_SET_NO_NEW_PRIVS] {
        assert_eq!(run(libc::SYS_prctl, first(other.cast_unsigned())), ALLOW, "{other}");
    }
}

#[test]
fn the_limit_of_core_files_seems_to_be_set_and_stays() {
    for apart in [Apart::Yes, Apart::No] {
        let filter = program(apart, Memory::Grouped);
        let run = |call: c_long, arguments| {
            run_program(&filter, ARCHITECTURE, number_of(call), arguments)
        };
        let core = u64::from(CORE_LIMIT);
        assert_eq!(run(libc::SYS_setrlimit, [core, 0x1000, 0, 0, 0, 0]), errno(0));
        assert_eq!(run(libc::SYS_setrlimit, [1 << 32 | core, 0x1000, 0, 0, 0, 0]), errno(0));
        assert_eq!(run(libc::SYS_setrlimit, [7, 0x1000, 0, 0, 0, 0]), ALLOW);
        let set = |limit: u64, new: u64| run(libc::SYS_prlimit64, [0, limit, new, 0, 0, 0]);
        for new in [0x1000, 1 << 32, u64::MAX] {
            assert_eq!(set(core, new), errno(0), "{new:x}");
            assert_eq!(set(7, new), ALLOW, "{new:x}");
        }
        assert_eq!(set(core, 0), ALLOW, "asked for");
    }
}

#[test]
fn no_blocks_are_allocated_without_writing() {
    for mode in [0, libc::FALLOC_FL_KEEP_SIZE as u64, libc::FALLOC_FL_ZERO_RANGE as u64] {
        let allocate = [3, mode, 0, 1 << 40, 0, 0];
        assert_eq!(run(libc::SYS_fallocate, allocate), errno(libc::EOPNOTSUPP));
    }
    for request in [0x4030_5828_u64, 0x4030_582a, 0x4030_5839, 0x4030_5824, 0x4030_580a] {
        let ask = [3, request, 0, 0, 0, 0];
        assert_eq!(run(libc::SYS_ioctl, ask), errno(libc::EOPNOTSUPP), "{request:x}");
    }
    // To free some, and to ask for the extents of a file.
    for request in [0x4030_582b_u64, 0xc020_660b] {
        assert_eq!(run(libc::SYS_ioctl, [3, request, 0, 0, 0, 0]), ALLOW, "{request:x}");
    }
}

#[test]
fn shared_memory_of_nobodys_comes_in_small_pieces() {
    let get = |bytes: u64| run(libc::SYS_shmget, [0, bytes, 0, 0, 0, 0]);
    assert_eq!(get(56), ALLOW);
    assert_eq!(get(SEGMENT.into()), ALLOW);
    for bytes in [u64::from(SEGMENT) + 1, 1 << 32, u64::MAX] {
        assert_eq!(get(bytes), errno(libc::ENOMEM), "{bytes}");
    }
}

#[test]
fn a_terminal_cannot_be_typed_into() {
    for command in TERMINAL {
        assert_eq!(run(libc::SYS_ioctl, [0, u64::from(*command), 0, 0, 0, 0]), errno(libc::EPERM));
        let padded = 1 << 32 | u64::from(*command);
        assert_eq!(run(libc::SYS_ioctl, [0, padded, 0, 0, 0, 0]), errno(libc::EPERM));
    }
    assert_eq!(run(libc::SYS_ioctl, [0, libc::TCGETS, 0, 0, 0, 0]), ALLOW);
}

#[test]
fn nobody_waits_for_a_jail_and_no_folder_tells_it_who_comes_by() {
    for command in [libc::F_SETLEASE, libc::F_NOTIFY] {
        let held = [3, command.cast_unsigned().into(), 0, 0, 0, 0];
        assert_eq!(run(libc::SYS_fcntl, held), errno(libc::EPERM));
    }
    let larger = [3, libc::F_SETPIPE_SZ.cast_unsigned().into(), 1 << 20, 0, 0, 0];
    assert_eq!(run(libc::SYS_fcntl, larger), errno(libc::EPERM));
    for command in
        [libc::F_GETFL, libc::F_GETPIPE_SZ, libc::F_SETLK, libc::F_DUPFD_CLOEXEC, libc::F_ADD_SEALS]
    {
        assert_eq!(run(libc::SYS_fcntl, [3, command.cast_unsigned().into(), 0, 0, 0, 0]), ALLOW);
    }
}

#[test]
fn without_namespaces_nothing_of_the_machine_is_reached() {
    let filter = program(Apart::No, Memory::Watched);
    let run =
        |call: c_long, arguments| run_program(&filter, ARCHITECTURE, number_of(call), arguments);
    for call in SHARED {
        assert_eq!(run(*call, [1, 1, 0, 0, 0, 0]), errno(libc::EPERM), "{call}");
    }
    assert_eq!(run(libc::SYS_prlimit64, [0; 6]), ALLOW);
    assert_eq!(run(libc::SYS_prlimit64, [1, 0, 0, 0, 0, 0]), errno(libc::EPERM));
    assert_eq!(run(libc::SYS_setpriority, [0; 6]), ALLOW);
    assert_eq!(run(libc::SYS_setpriority, [0, 1, 0, 0, 0, 0]), errno(libc::EPERM));
    assert_eq!(run(libc::SYS_setpriority, [2, 0, 0, 0, 0, 0]), errno(libc::EPERM), "of a user");
    assert_eq!(run(libc::SYS_getxattr, [0; 6]), errno(libc::EOPNOTSUPP));
    assert_eq!(run(libc::SYS_socketpair, [1, 1, 0, 0, 0, 0]), ALLOW);
    assert_eq!(run(libc::SYS_socketpair, [1, 0x80005, 0, 0, 0, 0]), ALLOW);
    for kind in LOOSE {
        let pair = [1, u64::from(*kind), 0, 0, 0, 0];
        assert_eq!(run(libc::SYS_socketpair, pair), errno(libc::EPERM));
    }
    assert_eq!(run(libc::SYS_mount, [0; 6]), errno(libc::EPERM));
}

#[test]
fn files_that_only_memory_holds_are_there_where_a_group_counts_them() {
    for (memory, answer) in [(Memory::Grouped, ALLOW), (Memory::Watched, errno(libc::ENOSYS))] {
        for apart in [Apart::Yes, Apart::No] {
            let filter = program(apart, memory);
            let call = number_of(libc::SYS_memfd_create);
            assert_eq!(run_program(&filter, ARCHITECTURE, call, [0; 6]), answer, "{memory:?}");
        }
    }
}
