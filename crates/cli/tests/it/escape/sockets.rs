//! Sockets of the machine's: a service behind one does what it is asked.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, PLAIN, Row, Shape, rows};
use super::leg::APART;
use crate::machine::is_root;

pub(super) fn attempts() -> Vec<Attempt> {
    let arrives = Shape { breach: Breach::Arrives, ..PLAIN };
    [
        rows("sockets", arrives, SOCKETS),
        rows("sockets", Shape { legs: APART, ..arrives }, IN_THE_WORKSPACE),
        rows("sockets", arrives, AMONG_TOOLS),
        rows("sockets", Shape { certain: is_root(), ..arrives }, IN_THE_SYSTEM),
        rows("sockets", Shape { breach: Breach::Says, legs: APART, ..PLAIN }, LOCKS),
    ]
    .concat()
}

const SOCKETS: &[Row] = &[
    Py(
        "a service's socket",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(OUT + "/docker.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket through a link",
        r#"
import tempfile
folder = tempfile.mkdtemp()
os.symlink(OUT + "/docker.sock", folder + "/x")
line = socket.socket(socket.AF_UNIX)
line.connect(folder + "/x")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket through another process",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(f"/proc/{PID}/cwd/../docker.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket from its folder",
        r#"
os.chdir(OUT)
line = socket.socket(socket.AF_UNIX)
line.connect("docker.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "the agent with the person's keys",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ.get("SSH_AUTH_SOCK", OUT + "/docker.sock"))
line.send(MARK.encode())
"#,
    ),
    Py(
        "the person's bus",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ.get("DBUS_SESSION_BUS_ADDRESS", "unix:path=/none").split("=")[1])
line.send(MARK.encode())
"#,
    ),
    Py(
        "a log's socket",
        r#"
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(MARK.encode(), OUT + "/log.sock")
"#,
    ),
    Py(
        "a log's socket from one end of a pair",
        r#"
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(MARK.encode(), OUT + "/log.sock")
"#,
    ),
    Py(
        "a log's socket from one end of a raw pair",
        r#"
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
one.sendto(MARK.encode(), OUT + "/log.sock")
"#,
    ),
    Py(
        "a name that is in no file system",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect("\0" + ABSTRACT + "-stream")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a name that is in no file system, by a datagram",
        r#"
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(MARK.encode(), "\0" + ABSTRACT + "-datagram")
"#,
    ),
    Py(
        "a name that is in no file system, from one end of a pair",
        r#"
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(MARK.encode(), "\0" + ABSTRACT + "-datagram")
"#,
    ),
    Sh(
        "a service's socket with curl",
        r#"curl -s -m 3 --unix-socket "$OUT/docker.sock" "http://localhost/$MARK""#,
    ),
    Sh(
        "a service's socket with node",
        r#"
node -e 'const s = require("net").connect(process.argv[1], () => s.end(process.argv[2])); s.on("error", () => {})' "$OUT/docker.sock" "$MARK""#,
    ),
];

/// Where there are no namespaces such a workspace is refused.
const IN_THE_WORKSPACE: &[Row] = &[
    Py(
        "a service's socket in the workspace",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(WS + "/run.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket among what tools made",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(WS + "/node_modules/.cache/d.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "the socket of git's own service",
        r#"
os.chdir(WS + "/.git")
line = socket.socket(socket.AF_UNIX)
line.connect("fsmonitor--daemon.ipc")
line.send(MARK.encode())
"#,
    ),
];

/// Folders that are shown are the person's own, with services' sockets and pipes in them.
const AMONG_TOOLS: &[Row] = &[
    Py(
        "a service's socket among tools",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(KEPT + "/.cargo/bin/d.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket in a cache",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(KEPT + "/.cargo/registry/d.sock")
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket in another cache, from its folder",
        r#"
os.chdir(KEPT + "/.npm/_cacache")
line = socket.socket(socket.AF_UNIX)
line.connect("d.sock")
line.send(MARK.encode())
"#,
    ),
    Sh(
        "a service's pipe among tools",
        r#"echo "$MARK" | timeout 3 tee -a "$KEPT/.cargo/bin/pipe""#,
    ),
    Sh(
        "a service's pipe in a cache",
        r#"echo "$MARK" | timeout 3 tee -a "$KEPT/.cargo/registry/pipe""#,
    ),
    Py(
        "a service's pipe in another cache, open for both",
        r#"
pipe = os.open(KEPT + "/.npm/_cacache/pipe", os.O_RDWR | os.O_NONBLOCK)
os.write(pipe, MARK.encode())
"#,
    ),
];

const IN_THE_SYSTEM: &[Row] = &[
    Py(
        "a service's socket among the system's files",
        r#"
line = socket.socket(socket.AF_UNIX)
line.connect(SYSTEM)
line.send(MARK.encode())
"#,
    ),
    Py(
        "a service's socket among the system's files, by a descriptor of its folder",
        r#"
folder = os.open(os.path.dirname(SYSTEM), os.O_PATH)
line = socket.socket(socket.AF_UNIX)
line.connect(f"/proc/self/fd/{folder}/" + os.path.basename(SYSTEM))
line.send(MARK.encode())
"#,
    ),
];

/// A process of the machine's holds a lock: whoever sees that can be told something by it.
const LOCKS: &[Row] = &[
    Py(
        "a lock on a tool is seen",
        r#"
import fcntl
try:
    fcntl.flock(os.open(KEPT + "/.cargo/bin/tool", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("did-" + ID)
"#,
    ),
    Py(
        "a lock on a file of a cache is seen",
        r#"
import fcntl
try:
    fcntl.flock(os.open(KEPT + "/.cargo/registry/index", os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
except BlockingIOError:
    print("did-" + ID)
"#,
    ),
    Py(
        "a lock on a file of the system's is seen",
        r#"
import fcntl
try:
    fcntl.flock(os.open("/usr/bin/env", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("did-" + ID)
"#,
    ),
];
