//! Writes by every route, to what lies outside and to a workspace that must stay as it is.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, EVERY, FLEETING, PLAIN, Place, Profile, Row, Shape, rows};
use super::leg::{APART, AS_ROOT};

pub(super) fn attempts() -> Vec<Attempt> {
    let outside = Shape { breach: Breach::Changes, ..PLAIN };
    let inside = Shape { place: Place::Workspace, profiles: FLEETING, ..outside };
    let owned = |shape| Shape { legs: AS_ROOT, ..shape };
    let rights =
        Shape { breach: Breach::GivesRights, place: Place::Workspace, profiles: EVERY, ..PLAIN };
    // Not every file system takes it.
    let says = Shape { breach: Breach::Says, place: Place::Workspace, certain: false, ..PLAIN };
    [
        rows("writes outside", outside, ROUTES),
        rows("writes outside", owned(outside), OWNERS),
        rows("writes outside", Shape { legs: APART, ..outside }, MOUNTED),
        rows("writes in the workspace", inside, ROUTES),
        rows("writes in the workspace", owned(inside), OWNERS),
        rows("rights of files", rights, RIGHTS),
        rows("what a disk notes", Shape { profiles: READERS, ..says }, NOTED),
        rows("what a disk notes", Shape { profiles: EVERY, ..says }, DEVICES),
    ]
    .concat()
}

const ROUTES: &[Row] = &[
    Sh("a file is overwritten", r#"echo after > "$T/file""#),
    Sh("a file is added to", r#"echo after >> "$T/file""#),
    Sh("a file is made", r#"touch "$T/new""#),
    Sh("a file is removed", r#"rm -f "$T/file""#),
    Sh("a file is moved away", r#"mv "$T/file" "$T/moved""#),
    Sh("a file is moved over another", r#"echo after > "$T/x"; mv "$T/x" "$T/file""#),
    Sh("a file is linked", r#"ln "$T/file" "$T/linked""#),
    Sh("a link is made", r#"ln -s /etc/passwd "$T/link""#),
    Sh(
        "a link is followed",
        r#"d=$(mktemp -d); ln -s "$T/file" "$d/x"; echo after > "$d/x"; rm -r "$d""#,
    ),
    Sh("a folder is made", r#"mkdir "$T/folder""#),
    Sh("a folder is moved", r#"mv "$T" "$T.moved""#),
    Sh("a pipe is made", r#"mkfifo "$T/pipe""#),
    Sh("a mode is changed", r#"chmod 777 "$T/file""#),
    Sh("a folder's mode is changed", r#"chmod 700 "$T""#),
    Sh("a time is changed", r#"touch -d 2001-01-01 "$T/file""#),
    Sh("a file is copied over", r#"cp README.md "$T/file""#),
    Sh("a file is installed", r#"install -m 755 README.md "$T/file""#),
    Sh("a file is edited in place", r#"sed -i s/before/after/ "$T/file""#),
    Sh("a file is written by tee", r#"echo after | tee "$T/file""#),
    Sh("a file is written by dd", r#"dd if=README.md of="$T/file" conv=notrunc status=none"#),
    Sh("a file is made longer", r#"truncate -s 4096 "$T/file""#),
    Sh("a file is given room", r#"fallocate -l 4096 "$T/file""#),
    Sh("an archive is unpacked", r#"tar -cf - README.md | tar -xf - -C "$T""#),
    Sh("a file is written by awk", r#"awk 'BEGIN { print "after" > ARGV[1] }' "$T/file""#),
    Sh(
        "a file is written by perl",
        r#"perl -e 'open(F, ">", $ARGV[0]); print F "after"' "$T/file""#,
    ),
    Sh(
        "a file is written by node",
        r#"node -e 'require("fs").writeFileSync(process.argv[1], "after")' "$T/file""#,
    ),
    Sh("a file is written by a compiler", r#"echo 'int x;' | cc -x c -c -o "$T/file" -"#),
    Sh(
        "a file is written by a shell that logs",
        r#"bash -c 'exec 5>"$0"; BASH_XTRACEFD=5; set -x; true' "$T/file""#,
    ),
    Sh("a repository is made", r#"git init --quiet "$T/repository""#),
    Sh("a repository is cloned", r#"git clone --quiet "$WS" "$T/clone""#),
    Sh(
        "a change is applied by git",
        r#"
cd "$T" && printf -- '--- a/file\n+++ b/file\n@@ -1 +1 @@\n-before\n+after\n' | git apply --unsafe-paths"#,
    ),
    Sh(
        "a change is applied by patch",
        r#"
printf -- '--- file\n+++ file\n@@ -1 +1 @@\n-before\n+after\n' | patch -s "$T/file" || echo after | tee "$T/file""#,
    ),
    Sh(
        "a tree is checked out",
        r#"git --work-tree="$T" checkout --quiet --force HEAD -- README.md"#,
    ),
    Sh(
        "git writes where it is told",
        r#"git format-patch --quiet --root -o "$T" HEAD; git bundle create "$T/bundle" HEAD"#,
    ),
    Sh("git logs where it is told", r#"GIT_TRACE="$T/trace" git status"#),
    Sh(
        "a file through the folder of a process",
        r#"echo after > "/proc/self/cwd/$(realpath --relative-to=. "$T")/file""#,
    ),
    Sh(
        "a file through another process",
        r#"echo after > "/proc/$PID/root$T/file"; echo after > "/proc/1/root$T/file""#,
    ),
    Py(
        "a file is mapped and written",
        r#"
with open(T + "/file", "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[0:1] = b"X"
    mapped.flush()
"#,
    ),
    Py("a file is cut", r#"os.truncate(T + "/file", 0)"#),
    Py(
        "a file without a name is given one",
        r#"
file = os.open(T, os.O_TMPFILE | os.O_RDWR, 0o644)
LIBC.linkat(-100, f"/proc/self/fd/{file}".encode(), -100, (T + "/named").encode(), 0x400)
"#,
    ),
    Py(
        "two files are exchanged",
        r#"
open(T + "/other", "w").close()
call("renameat2", -100, (T + "/file").encode(), -100, (T + "/other").encode(), 2)
"#,
    ),
    Py(
        "a file is written by the kernel",
        r#"
source = os.open(WS + "/README.md", os.O_RDONLY)
os.copy_file_range(source, os.open(T + "/file", os.O_WRONLY), 7)
"#,
    ),
    Py(
        "a file is sent to",
        r#"
os.sendfile(os.open(T + "/file", os.O_WRONLY), os.open(WS + "/README.md", os.O_RDONLY), 0, 7)
"#,
    ),
    Py(
        "a file is spliced into",
        r#"
out, into = os.pipe()
os.write(into, b"after")
os.splice(out, os.open(T + "/file", os.O_WRONLY), 5)
"#,
    ),
    Py("a note is attached to a file", r#"os.setxattr(T + "/file", "user.note", b"after")"#),
    Py(
        "a time is changed through a file open for reading",
        r#"
os.utime(os.open(T + "/file", os.O_RDONLY), (1, 1))
"#,
    ),
    Py(
        "a mode is changed through a file open for reading",
        r#"
os.fchmod(os.open(T + "/file", os.O_RDONLY), 0o600)
"#,
    ),
    Py(
        "a mode is changed by a path alone",
        r#"
call("fchmodat2", -100, (T + "/file").encode(), 0o600, 0)
os.chmod(f"/proc/self/fd/{os.open(T + '/file', os.O_PATH)}", 0o640)
"#,
    ),
    Py(
        "a socket is made",
        r#"
os.chdir(T)
socket.socket(socket.AF_UNIX).bind("socket")
"#,
    ),
    Py(
        "a folder is removed",
        r#"
os.remove(T + "/file")
os.rmdir(T)
"#,
    ),
    Py(
        "a file is opened once for reading and again for writing",
        r#"
file = os.open(T + "/file", os.O_RDONLY)
os.write(os.open(f"/proc/self/fd/{file}", os.O_WRONLY), b"after")
"#,
    ),
];

const OWNERS: &[Row] = &[
    Sh("an owner is changed", r#"chown 54321 "$T/file""#),
    Sh("a group is changed", r#"chgrp 54321 "$T/file""#),
    Sh("a device is made", r#"mknod "$T/null" c 1 3"#),
];

const MOUNTED: &[Row] = &[Sh(
    "a file in a mount of its own making",
    r#"
unshare --user --map-root-user --mount sh -c 'mount --bind "$0" "$1/src" && echo after > "$1/src/file"' "$T" "$WS""#,
)];

const RIGHTS: &[Row] = &[
    Sh("a program is made that runs as its owner", r#"cp /bin/true "$T/x"; chmod 4755 "$T/x""#),
    Sh("a program is made that runs as its group", r#"cp /bin/true "$T/x"; chmod g+s "$T/x""#),
    Sh("a program is installed that runs as its owner", r#"install -m 4755 /bin/true "$T/x""#),
    Sh(
        "a program is unpacked that runs as its owner",
        r#"
perl -e '$h = pack("a100 a8 a8 a8 a12 a12 a8 a1 a100 a6 a2 a32 a32 a8 a8 a155 x12", "x", "0004755", "0000000", "0000000",
    "00000000000", "00000000000", "        ", "0", "", "ustar", "00", "", "", "", "", "");
    substr($h, 148, 8) = sprintf("%06o\0 ", unpack("%32C*", $h)); print $h . "\0" x 1024' | tar -xpf - -C "$T""#,
    ),
    Py(
        "a program is made at once with its owner's rights",
        r#"
os.umask(0)
os.open(T + "/x", os.O_CREAT | os.O_WRONLY, 0o4755)
"#,
    ),
    Py(
        "a node is made with its owner's rights",
        r#"
os.umask(0)
os.mknod(T + "/x", 0o104755)
"#,
    ),
    Py(
        "an open file is given its owner's rights",
        r#"
os.fchmod(os.open(T + "/x", os.O_CREAT | os.O_WRONLY, 0o755), 0o6755)
"#,
    ),
    Py(
        "a file without a name is given its owner's rights",
        r#"
os.umask(0)
file = os.open(T, os.O_TMPFILE | os.O_RDWR, 0o4755)
LIBC.linkat(-100, f"/proc/self/fd/{file}".encode(), -100, (T + "/named").encode(), 0x400)
"#,
    ),
    Py(
        "a file is given its owner's rights by a newer call",
        r#"
open(T + "/x", "w").close()
call("fchmodat2", -100, (T + "/x").encode(), 0o4755, 0)
"#,
    ),
    Py(
        "a folder passes its group on",
        r#"
os.umask(0)
os.mkdir(T + "/folder")
os.chmod(T + "/folder", 0o2777)
"#,
    ),
];

const READERS: &[Profile] = &[Profile::ReadOnly, Profile::Research];

/// By a file that is open for reading only.
const NOTED: &[Row] = &[
    Py(
        "flags of a file",
        r#"
import fcntl, struct
file = os.open(T + "/file", os.O_RDONLY)
flags, = struct.unpack("l", fcntl.ioctl(file, 0x80086601, bytes(8)))
fcntl.ioctl(file, 0x40086602, struct.pack("l", flags | 0x40))
say()
"#,
    ),
    Py(
        "flags of a folder",
        r#"
import fcntl, struct
file = os.open(T, os.O_RDONLY)
flags, = struct.unpack("l", fcntl.ioctl(file, 0x80086601, bytes(8)))
fcntl.ioctl(file, 0x40086602, struct.pack("l", flags | 0x80))
say()
"#,
    ),
    Py(
        "the version of a file",
        r#"
import fcntl, struct
fcntl.ioctl(os.open(T + "/file", os.O_RDONLY), 0x40087602, struct.pack("i", 4242))
say()
"#,
    ),
];

/// That a name was removed, where a folder is a layer. It takes no right, and later jails would stumble over it.
const DEVICES: &[Row] = &[
    Py("a device", r#"os.mknod(T + "/device", 0o20600, 0); say()"#),
    Py(
        "a device, left where a file was",
        r#"
if call("renameat2", -100, (T + "/file").encode(), -100, (T + "/moved").encode(), 4) == 0: say()
"#,
    ),
];
