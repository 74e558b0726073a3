//! `/proc`, `/sys` and namespaces: what steers the machine, or makes another view of it.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};
use super::leg::{APART, AS_ROOT};

pub(super) fn attempts() -> Vec<Attempt> {
    let says = Shape { breach: Breach::Says, ..PLAIN };
    let apart = Shape { legs: APART, ..says };
    let root = Shape { legs: AS_ROOT, ..says };
    [
        rows("kernel", Shape { certain: false, ..root }, SWITCHES),
        rows("holds", says, HOLDS),
        rows("kernel", says, OF_THE_MACHINE),
        rows("kernel", says, LIMITS),
        rows("kernel", says, DEVICES),
        rows("kernel", root, NODES),
        rows("namespaces", Shape { certain: false, ..apart }, NAMESPACES),
        rows("namespaces", Shape { certain: false, ..root }, MOUNTS),
    ]
    .concat()
}

/// What the machine was started with and does, whoever works on it.
const OF_THE_MACHINE: &[Row] = &[
    Sh("how the machine was started", "test -n \"$(tr -d '\\0' < /proc/cmdline)\" && say"),
    Sh("what the disks of the machine do", "test -n \"$(cat /proc/diskstats)\" && say"),
];

/// What the jail sets, and what its programs take from the person's other ones.
const LIMITS: &[Row] = &[
    Py(
        "crashes for a program of the machine's",
        r#"
import resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0): say()
"#,
    ),
    Py(
        "crashes for a program of the machine's, by another call",
        r#"
import resource
call("prlimit64", 0, resource.RLIMIT_CORE, struct.pack("QQ", 0, 0), None)
if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0): say()
"#,
    ),
    Py(
        "a queue of messages",
        r#"
name = b"/" + ID.encode()
queue = LIBC.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
# It may be made and counted though it cannot be opened.
if queue >= 0 or ctypes.get_errno() == 13: say()
LIBC.mq_unlink(name)
"#,
    ),
];

/// Devices are the machine's own, whatever folder shows them.
const DEVICES: &[Row] = &[
    Py(
        "when keys are typed in other terminals",
        r#"
LIBC.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
if LIBC.inotify_add_watch(LIBC.inotify_init(), b"/dev/tty", 2) >= 0: say()
"#,
    ),
    Py(
        "a pipe of another size",
        r#"
import fcntl
read, write = os.pipe()
if fcntl.fcntl(write, 1031, 1 << 17) == 1 << 17: say()
"#,
    ),
];
const NODES: &[Row] = &[Py("the times of a device", r#"os.utime("/dev/full"); say()"#)];

/// What is written is what stands there already, or nothing.
const SWITCHES: &[Row] = &[
    Sh("the machine's emergency keys", "exec 3> /proc/sysrq-trigger && say"),
    Sh(
        "the program for crashes",
        "cat /proc/sys/kernel/core_pattern > /tmp/$ID; cat /tmp/$ID > /proc/sys/kernel/core_pattern && say; rm /tmp/$ID",
    ),
    Sh(
        "the most processes",
        "read most < /proc/sys/kernel/pid_max; echo $most > /proc/sys/kernel/pid_max && say",
    ),
    Sh(
        "the rules of memory",
        "read rule < /proc/sys/vm/overcommit_memory; echo $rule > /proc/sys/vm/overcommit_memory && say",
    ),
    Sh(
        "the program for modules",
        "read it < /proc/sys/kernel/modprobe; echo $it > /proc/sys/kernel/modprobe && say",
    ),
    Sh("the messages of the kernel", "test -c /dev/kmsg && exec 3> /dev/kmsg && say"),
    Sh("the power of the machine", "exec 3> /sys/power/state && say"),
    Sh(
        "the settings of a device",
        "for f in /sys/block/*/queue/read_ahead_kb; do exec 3> $f && say && break; done",
    ),
    Sh(
        "a control group",
        "for d in /sys/fs/cgroup /sys/fs/cgroup/pids; do mkdir $d/$MARK && rmdir $d/$MARK && say && break; done",
    ),
    Sh("a format of programs", "exec 3> /proc/sys/fs/binfmt_misc/register && say"),
    Sh("a message before each reboot", "exec 3> /proc/sys/kernel/ctrl-alt-del && say"),
];

/// On files that programs of the machine's use too.
const HOLDS: &[Row] = &[
    Py(
        "whoever writes a file waits",
        r#"
import fcntl
held = os.open(WS + "/README.md", os.O_RDONLY)
fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_RDLCK)
say()
"#,
    ),
    Py(
        "whoever reads in a folder is told",
        r#"
import fcntl
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open(WS, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
say()
"#,
    ),
];

const NAMESPACES: &[Row] = &[
    Sh("users", "unshare --user true && say"),
    Sh(
        "users and mounts",
        "unshare --user --map-root-user --mount mount -t tmpfs none /mnt && say",
    ),
    Sh("users and a network", "unshare --user --map-root-user --net true && say"),
    Sh("users and processes", "unshare --user --map-root-user --pid --fork true && say"),
    Sh("users and names", "unshare --user --map-root-user --uts hostname jail && say"),
    Sh("users in users", "unshare -Ur unshare -Ur unshare -Ur true && say"),
    Sh("time", "unshare --user --map-root-user --time true && say"),
    Sh("a new root", "unshare --user --map-root-user chroot / true && say"),
    Sh("all by another program", "bwrap --ro-bind / / --dev /dev true && say"),
    Py(
        "users, by an old call",
        r#"
new_user, child_signal = 0x10000000, 17
child = call("clone", new_user | child_signal, 0, 0, 0, 0)
if child == 0: os._exit(0)
if child > 0: say()
"#,
    ),
    Py(
        "users, by a new call",
        r#"
arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0)
child = call("clone3", arguments, len(arguments))
if child == 0: os._exit(0)
if child > 0: say()
"#,
    ),
    Py(
        "users, by a call of its own",
        r#"
if call("unshare", 0x10000000) == 0: say()
"#,
    ),
];

const MOUNTS: &[Row] = &[
    Py(
        "another process's namespace",
        r#"
if call("setns", os.open(f"/proc/{PID}/ns/uts", os.O_RDONLY), 0) == 0: say()
"#,
    ),
    Py(
        "another process's namespaces, by its handle",
        r#"
if call("setns", os.pidfd_open(int(PID)), 0x04000000) == 0: say()
"#,
    ),
    Py(
        "a new root by a call",
        r#"
if call("chroot", b"/") == 0: say()
"#,
    ),
    Py(
        "a file system",
        r#"
if call("mount", b"none", (WS + "/src").encode(), b"tmpfs", 0, None) == 0: say()
call("umount2", (WS + "/src").encode(), 2)
"#,
    ),
    Py(
        "a mount made writable",
        r#"
bind, remount = 0x1000, 0x20
place = (WS + "/src").encode()
call("mount", place, place, None, bind, None)
if call("mount", None, place, None, remount | bind, None) == 0: say()
call("umount2", place, 2)
"#,
    ),
    Py(
        "a file system by newer calls",
        r#"
if call("fsopen", b"tmpfs", 0) >= 0: say()
"#,
    ),
    Py(
        "a mount copied",
        r#"
if call("open_tree", -100, b"/", 1) >= 0: say()
"#,
    ),
    Py(
        "a mount copied, by the newest call",
        r#"
if call("open_tree_attr", -100, b"/", 1, None, 0) >= 0: say()
"#,
    ),
    Py(
        "a mount changed",
        r#"
place = (WS + "/src").encode()
call("mount", place, place, None, 0x1000, None)
attributes = struct.pack("4Q", 2, 0, 0, 0)
if call("mount_setattr", -100, place, 0, attributes, len(attributes)) == 0: say()
call("umount2", place, 2)
"#,
    ),
    Py(
        "a place to swap to",
        r#"
file_is_none = 22
with open("/tmp/" + MARK, "wb") as file: file.write(bytes(4096))
if call("swapon", ("/tmp/" + MARK).encode(), 0) == -file_is_none: say()
os.remove("/tmp/" + MARK)
"#,
    ),
];
