//! Rights that nobody granted, and calls that have been ways out before.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};
use super::leg::{APART, AS_ROOT, AS_USER, UNPRIVILEGED};

pub(super) fn attempts() -> Vec<Attempt> {
    let says = Shape { breach: Breach::Says, ..PLAIN };
    let perhaps = Shape { certain: false, ..says };
    let harms = Shape { breach: Breach::Harms, ..PLAIN };
    [
        rows("privileges", perhaps, CALLS),
        rows("privileges", Shape { legs: APART, ..perhaps }, RIGHTS),
        rows("privileges", Shape { legs: AS_ROOT, ..perhaps }, OF_ROOT),
        rows("privileges", Shape { legs: AS_USER, ..perhaps }, RAISED),
        rows("privileges", Shape { legs: AS_USER, certain: false, ..PLAIN }, LIFTED),
        rows("other processes", harms, OTHERS),
        rows("other processes", Shape { legs: UNPRIVILEGED, ..harms }, OF_A_USER),
        rows("other processes", perhaps, OTHERS_SEEN),
    ]
    .concat()
}

const CALLS: &[Row] = &[
    Py(
        "the kernel's keys",
        r#"
get_keyring, own_session = 0, -3
if call("keyctl", get_keyring, own_session, 1, 0, 0) >= 0: say()
"#,
    ),
    Py(
        "a key of its own",
        r#"
own = -2
if call("add_key", b"user", MARK.encode(), b"x", 1, own) >= 0: say()
"#,
    ),
    Py(
        "the processor's counters",
        r#"
attributes = struct.pack("IIQ", 1, 112, 0) + bytes(24) + struct.pack("Q", 0x61) + bytes(64)
if call("perf_event_open", attributes, 0, -1, -1, 0) >= 0: say()
"#,
    ),
    Py(
        "faults of memory as a program likes",
        r#"
user_only = 1
if call("userfaultfd", user_only) >= 0: say()
"#,
    ),
    Py(
        "calls by a ring",
        r#"
if call("io_uring_setup", 4, ctypes.create_string_buffer(120)) >= 0: say()
"#,
    ),
    Py(
        "the processor's tables",
        r#"
if call("modify_ldt", 0, ctypes.create_string_buffer(8192), 8192) >= 0: say()
"#,
    ),
    Py(
        "memory that runs whatever is read",
        r#"
read_implies_execute = 0x400000
if call("personality", read_implies_execute) >= 0 and call("personality", 0xffffffff) & read_implies_execute: say()
"#,
    ),
    Py(
        "a watch over all files",
        r#"
report_names = 0xc00
if call("fanotify_init", report_names | 0x200, 0) >= 0: say()
"#,
    ),
    Py(
        "files by their number",
        r#"
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
if call("name_to_handle_at", -100, WS.encode(), handle, ctypes.byref(ctypes.c_int()), 0) == 0: say()
"#,
    ),
    Py(
        "calls of another machine",
        r#"
get_pid = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
code = mmap.mmap(-1, 4096, prot=7)
code.write(get_pid)
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
if os.uname().machine == "x86_64" and ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid(): say()
"#,
    ),
    Py(
        "what a terminal would take for typed",
        r#"
import fcntl, pty, termios
child, terminal = pty.fork()
if child == 0:
    try: fcntl.ioctl(0, termios.TIOCSTI, b"x")
    except OSError: os._exit(1)
    os._exit(0)
if os.waitpid(child, 0)[1] == 0: say()
"#,
    ),
    Sh("a debugger of its own", "strace -o /dev/null true && say"),
];

/// In a fallback, what simulates the machine has taken some of it away already.
const RIGHTS: &[Row] = &[
    Sh("rights that a program could gain", "grep -q 'NoNewPrivs:.0' /proc/self/status && say"),
    Sh("rights within reach", "grep 'CapBnd:' /proc/self/status | grep -q '[1-9a-f]$' && say"),
    Sh("no filter before its calls", "grep -q 'Seccomp:.0' /proc/self/status && say"),
];

const OF_ROOT: &[Row] = &[
    Sh("rights of root's", "grep 'CapEff:' /proc/self/status | grep -q '[1-9a-f]$' && say"),
    Sh("the machine's root by its number", "test $(id -u) = 0 && say"),
    Sh("another user", "setpriv --reuid 54321 --clear-groups true && say"),
    Sh("another user, by a password", "su -s /bin/sh nobody -c true && say"),
    Py("root again", "os.setresuid(0, 0, 0); say()"),
    Py("another group", "os.setgroups([0, 54321]); say()"),
    Py(
        "a program for the kernel",
        r#"
create_map = 0
if call("bpf", create_map, struct.pack("5I", 2, 4, 8, 1, 0) + bytes(108), 72) >= 0: say()
"#,
    ),
    Py(
        "a part of the kernel",
        r#"
not_permitted = -1
if call("init_module", None, 0, b"") != not_permitted: say()
"#,
    ),
    Py(
        "the machine's name",
        r#"
name = os.uname().nodename.encode()
if call("sethostname", name, len(name)) == 0: say()
"#,
    ),
    Py(
        "the ports of devices",
        r#"
if call("iopl", 0) == 0 and call("iopl", 3) == 0: say()
"#,
    ),
    Py(
        "a file of another's",
        r#"
os.chown(T + "/file", 54321, 54321)
if os.stat(T + "/file").st_uid == 54321: say()
"#,
    ),
    Py(
        "files that nobody may read",
        r#"
os.mkdir("/tmp/" + MARK, 0o000)
try:
    open("/tmp/" + MARK + "/x", "w").close()
    os.remove("/tmp/" + MARK + "/x")
    say()
finally: os.rmdir("/tmp/" + MARK)
"#,
    ),
];

const RAISED: &[Row] =
    &[Sh("a program of root's that gives its rights", "./raise -u | grep -qx 0 && say")];

const LIFTED: &[Row] = &[Sh("a program that may read what others may not", "./lift rootonly")];

const OTHERS: &[Row] = &[
    Sh("a process is ended", "kill -9 $PID"),
    Sh("a process is asked to end", "kill $PID"),
    Sh("a process is stopped", "kill -STOP $PID"),
    Sh("a process is sent a signal by another program", "perl -e 'kill 9, $ARGV[0]' $PID"),
    Py("a process is ended by its handle", "signal.pidfd_send_signal(os.pidfd_open(int(PID)), 9)"),
    Py(
        "a process is ended by one of its threads",
        r#"
number = 131 if os.uname().machine == "aarch64" else 234
LIBC.syscall(number, int(PID), int(PID), 9)
"#,
    ),
    Py("a process is sent a signal with a value", "LIBC.sigqueue(int(PID), 9, None)"),
    Py("a process is slowed down", "os.setpriority(os.PRIO_PROCESS, int(PID), 5)"),
    Py("a process is kept to one processor", "os.sched_setaffinity(int(PID), {0})"),
    Py(
        "a process is scheduled otherwise",
        "os.sched_setscheduler(int(PID), os.SCHED_BATCH, os.sched_param(0))",
    ),
    Py(
        "a process is limited",
        "import resource; resource.prlimit(int(PID), resource.RLIMIT_NOFILE, (9, 9))",
    ),
    Sh("a process is offered when memory is short", "echo 999 > /proc/$PID/oom_score_adj"),
    Py(
        "a process is told of a file",
        r#"
import fcntl
one, other = socket.socketpair()
fcntl.fcntl(one, fcntl.F_SETOWN, int(PID))
fcntl.fcntl(one, 10, 9)
fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
other.send(b"x")
time.sleep(0.05)
"#,
    ),
];

/// Every process of the same user, whoever started it. Of root's there are too many.
const OF_A_USER: &[Row] =
    &[Py("all processes are slowed down", "os.setpriority(os.PRIO_USER, 0, 7)")];

const OTHERS_SEEN: &[Row] = &[
    Py(
        "a process is traced",
        r#"
seize, detach = 0x4206, 17
if call("ptrace", seize, int(PID), 0, 0) == 0: say()
"#,
    ),
    Py(
        "a process is compared with this one",
        r#"
if call("kcmp", os.getpid(), int(PID), 0, 0, 0) >= 0: say()
"#,
    ),
    Py(
        "a process's memory is moved",
        r#"
here = struct.pack("Q", 1)
if call("migrate_pages", int(PID), 2, here, here) >= 0: say()
"#,
    ),
];
