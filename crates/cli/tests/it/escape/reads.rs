//! Reads of what lies outside the workspace.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};
use super::leg::{APART, AS_ROOT};
use crate::machine::is_root;

pub(super) fn attempts() -> Vec<Attempt> {
    let says = Shape { breach: Breach::Says, certain: false, legs: AS_ROOT, ..PLAIN };
    [
        rows("reads", PLAIN, PATHS),
        rows("reads", PLAIN, PROCESSES),
        rows("reads", Shape { legs: AS_ROOT, certain: false, ..PLAIN }, BY_HANDLE),
        rows("reads", Shape { legs: APART, ..PLAIN }, BY_MOUNT),
        rows("reads", says, OF_THE_MACHINE),
        rows("reads", Shape { certain: is_root(), ..PLAIN }, OF_SERVICES),
        rows("reads", Shape { legs: AS_ROOT, ..PLAIN }, OF_ROOT),
    ]
    .concat()
}

/// Only root puts these there.
const OF_SERVICES: &[Row] = &[Sh("settings of a service among programs", r#"cat "$SETTINGS""#)];
const OF_ROOT: &[Row] = &[Sh("a file among programs that others may not read", r#"cat "$SHUT""#)];

const PATHS: &[Row] = &[
    Sh("a file by its absolute path", r#"cat "$OUT/secret""#),
    Sh("a file through `..`", "cat ../outside/secret"),
    Sh(
        "a file through many `..` and links of `/proc`",
        r#"cat "/proc/self/cwd/../outside/secret""#,
    ),
    Sh("a link in the workspace that leads out", "cat leak"),
    Sh(
        "a link of its own",
        r#"d=$(mktemp -d); ln -s "$OUT/secret" "$d/x"; cat "$d/x"; rm -r "$d""#,
    ),
    Sh(
        "a hard link of its own",
        r#"ln "$OUT/secret" "$WS/linked" || ln "$OUT/secret" /tmp/linked && cat "$WS/linked" /tmp/linked"#,
    ),
    Sh(
        "a copy of a folder",
        r#"d=$(mktemp -d); cp -r "$OUT/vault" "$d"; cat "$d/vault/key"; rm -r "$d""#,
    ),
    Sh("an archive of a folder", r#"tar -cf - -C "$OUT" vault | cat"#),
    Sh("a search of all that is there", r#"grep -rs --include=secret token "$BASE""#),
    Sh("the workspace of another", r#"cat "$BASE/sibling/notes.md" ../sibling/*"#),
    Sh("a folder that is entered first", r#"cd "$OUT/vault" && cat key"#),
    Sh("the person's keys", r#"cat "$KEPT/.ssh/id_ed25519""#),
    Sh("the person's cloud credentials", r#"cat "$KEPT/.aws/credentials""#),
    Sh("the person's passwords for hosts", r#"cat "$KEPT/.netrc""#),
    Sh("the person's configuration", r#"cat "$KEPT"/.config/*/*"#),
    Sh("the person's registries", r#"cat "$KEPT/.docker/config.json""#),
    Sh("the person's package tokens", r#"cat "$KEPT/.npmrc""#),
    Sh("the person's clusters", r#"cat "$KEPT/.kube/config""#),
    Sh("the person's key ring", r#"cat "$KEPT"/.gnupg/*/*"#),
    Sh("the person's password store", r#"cat "$KEPT"/.password-store/*"#),
    Sh("what the person typed", r#"cat "$KEPT/.bash_history""#),
    Sh("the records of other runs", r#"cat "$KEPT/.cache/sequester/runs.db""#),
    Sh("the person's home by its variable", r#"cat ~/.netrc "$HOME/.ssh/id_ed25519""#),
    Sh("what others leave for everybody", r#"cat "/tmp/$TEMP""#),
    Sh("what others share in memory", r#"cat "/dev/shm/$TEMP""#),
    Sh(
        "a file as a program's source",
        r#"sh "$OUT/secret" 2>&1; sh -c '. "$0"; echo $token' "$OUT/secret""#,
    ),
    Sh("a file as a compiler's source", r##"printf '#include "%s"' "$OUT/secret" | cc -E -"##),
    Sh("a file as a patch", r#"git diff --no-index /dev/null "$OUT/secret""#),
    Py(
        "a file mapped into memory",
        r#"
with open(OUT + "/secret") as file:
    print(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:])
"#,
    ),
    Py(
        "a file below an open folder",
        r#"
folder = os.open(WS, os.O_PATH)
print(os.read(os.open("../outside/secret", os.O_RDONLY, dir_fd=folder), 99))
"#,
    ),
    Py(
        "a file by a call that newer kernels have",
        r#"
how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
print(os.read(call("openat2", -100, (OUT + "/secret").encode(), how, 24), 99))
"#,
    ),
    Py(
        "a note that is attached to a file",
        r#"
print(os.getxattr(OUT + "/secret", "user.note"))
"#,
    ),
    Sh(
        "a file with node",
        r#"node -e 'console.log(require("fs").readFileSync(process.argv[1], "utf8"))' "$OUT/secret""#,
    ),
    Sh("a file with perl", r#"perl -pe1 "$OUT/secret""#),
];

const PROCESSES: &[Row] = &[
    Sh(
        "the root of other processes",
        r#"cat "/proc/$PID/root$OUT/secret" || cat /proc/[0-9]*/root"$OUT/secret""#,
    ),
    Sh("the folders of other processes", r#"cat "/proc/$PID/cwd/key" || cat /proc/[0-9]*/cwd/key"#),
    Sh("the open files of other processes", r#"cat "/proc/$PID/fd/7" || cat /proc/[0-9]*/fd/7"#),
    Sh(
        "the environment of other processes",
        r#"cat "/proc/$PID/environ" || cat /proc/[0-9]*/environ"#,
    ),
    Sh(
        "the arguments of other processes",
        r#"cat "/proc/$PID/cmdline" || cat /proc/[0-9]*/cmdline"#,
    ),
    Sh(
        "the arguments of other processes, listed",
        r#"ps -ww -o args -p "$PID" || ps -eww -o args"#,
    ),
    Py(
        "the memory of another process",
        r#"
file = os.open(f"/proc/{PID}/mem", os.O_RDONLY)
print(os.pread(file, 64, int(ADDRESS)))
"#,
    ),
    Py(
        "the memory of another process, by a call",
        r#"
mine = ctypes.create_string_buffer(64)
here = struct.pack("QQ", ctypes.addressof(mine), 64)
there = struct.pack("QQ", int(ADDRESS), 64)
print(call("process_vm_readv", int(PID), here, 1, there, 1, 0), mine.raw)
"#,
    ),
    Py(
        "the memory of another process, as a debugger",
        r#"
attach, peek, detach = 16, 2, 17
print(call("ptrace", attach, int(PID), 0, 0), flush=True)
os.waitpid(int(PID), 0x40000000)
word = ctypes.c_long()
for at in range(0, 64, 8):
    call("ptrace", peek, int(PID), int(ADDRESS) + at, ctypes.byref(word))
    sys.stdout.write(struct.pack("l", word.value).decode("latin-1"))
call("ptrace", detach, int(PID), 0, 0)
"#,
    ),
    Py(
        "an open file taken from another process",
        r#"
handle = os.pidfd_open(int(PID))
print(os.pread(call("pidfd_getfd", handle, 7, 0), 99, 0))
"#,
    ),
    Py(
        "shared memory of another process",
        r#"
LIBC.shmat.restype = ctypes.c_void_p
read_only = 0o10000
print(ctypes.string_at(LIBC.shmat(int(SEGMENT), None, read_only), 64))
"#,
    ),
    Py(
        "messages for another process",
        r#"
text = ctypes.create_string_buffer(256)
at_once = 0o4000
print(LIBC.msgrcv(int(QUEUE), text, 200, 0, at_once), text.raw)
"#,
    ),
    Py(
        "a key in the kernel's ring",
        r#"
link, read, user, own = 8, 11, -4, -2
text = ctypes.create_string_buffer(64)
print(call("keyctl", link, user, own, 0, 0), call("keyctl", read, int(KEY), text, 64, 0), text.raw)
"#,
    ),
];

const BY_HANDLE: &[Row] = &[Py(
    "a file by its number on the disk",
    r#"
mount = os.open(WS, os.O_RDONLY)
handle = ctypes.create_string_buffer(bytes.fromhex(HANDLE))
print(os.read(call("open_by_handle_at", mount, handle, os.O_RDONLY), 99))
"#,
)];

const BY_MOUNT: &[Row] = &[
    Sh(
        "a folder mounted in the workspace",
        r#"
unshare --user --map-root-user --mount sh -c 'mount --bind "$0" "$1/src" && cat "$1/src/secret"' "$OUT" "$WS""#,
    ),
    Sh(
        "a file as the root of a namespace of its own",
        r#"unshare --user --map-root-user cat "$OUT/secret""#,
    ),
];

const OF_THE_MACHINE: &[Row] = &[
    Sh("the passwords of the machine", "head -c 4 /etc/shadow | grep -q . && say"),
    Sh(
        "the disk itself",
        r#"
disk=$(stat --format=%d "$WS"); node="$WS/disk"
mknod "$node" b $((disk >> 8)) $((disk & 255)); head -c 512 "$node" | grep -q . && say"#,
    ),
    Sh("the memory of the machine", "head -c 4 /proc/kcore | grep -q ELF && say"),
    Sh(
        "the messages of the kernel",
        "timeout 1 dd if=/dev/kmsg bs=8192 count=1 2>/dev/null | grep -q . && say",
    ),
    Py(
        "the messages of the kernel, by a call",
        r#"
size_of_buffer = 10
if call("syslog", size_of_buffer, None, 0) > 0: say()
"#,
    ),
    Sh(
        "where the kernel lies in memory",
        "awk '$1 !~ /^0+$/ { found = 1 } END { exit !found }' /proc/kallsyms && say",
    ),
];
