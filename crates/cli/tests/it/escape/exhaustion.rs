//! More than the limits allow, and races. Each in a jail of its own.

mod disk;

use self::disk::{CLOSED, DISK};
use super::attempt::Row::Py;
use super::attempt::{Attempt, Breach, PLAIN, Place, Profile, Row, Shape, rows};
use super::leg::{APART, AS_ROOT};

pub(super) fn attempts() -> Vec<Attempt> {
    let says = Shape { breach: Breach::Says, profiles: &[Profile::ReadOnly], ..PLAIN };
    let limited = |limits| Shape { alone: Some(limits), ..says };
    // Only a control group sees it, and only root may make one here.
    let buffers = Shape { certain: false, legs: AS_ROOT, ..limited(&["memory=256M", "wall=60s"]) };
    let disk = Shape {
        alone: Some(&["disk=50M", "wall=40s"]),
        profiles: &[Profile::Writer, Profile::Validate],
        legs: APART,
        place: Place::Workspace,
        ..says
    };
    let left = Shape { breach: Breach::Outgrows(100 << 20), profiles: &[Profile::Writer], ..disk };
    let floods = Shape { breach: Breach::Floods(2 << 20), ..limited(&["output=1M", "wall=40s"]) };
    let race = Shape { alone: Some(&[]), profiles: &[Profile::Writer], legs: APART, ..PLAIN };
    let changes = Shape { breach: Breach::Changes, ..race };
    let moved = Shape { breach: Breach::Holds("moved/README.md"), ..race };
    let named = Shape { breach: Breach::Holds("workspace/.vscode/tasks.json"), ..race };
    [
        rows("processes", limited(&["pids=64", "wall=40s"]), PROCESSES),
        rows("pipes", limited(&["wall=40s"]), PIPES),
        rows("memory", limited(&["memory=256M", "wall=60s"]), MEMORY),
        rows("memory", buffers, BUFFERS),
        rows("processor time", limited(&["cpu=1s", "wall=60s"]), PROCESSOR),
        rows("wall time", limited(&["wall=2s"]), WALL),
        rows("output", floods, OUTPUT),
        rows("disk", disk, DISK),
        rows("disk", Shape { legs: AS_ROOT, ..disk }, CLOSED),
        rows("disk", left, LEFT),
        rows("disk", limited(&["disk=50M", "wall=40s"]), TEMPORARY),
        rows("races", changes, SWAPS),
        rows("races", moved, MOVED),
        rows("races", named, NAMES),
    ]
    .concat()
}

const PIPES: &[Row] = &[
    Py(
        "in one process",
        r#"
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = [os.pipe() for _ in range(1000)]
time.sleep(2)
say()
"#,
    ),
    Py(
        "in many processes",
        r#"
for _ in range(8):
    if os.fork() == 0:
        held = [os.pipe() for _ in range(200)]
        time.sleep(4)
        os._exit(0)
time.sleep(3)
say()
"#,
    ),
];

const PROCESSES: &[Row] = &[
    Py(
        "children",
        r#"
count = 0
for _ in range(300):
    if os.fork() == 0:
        time.sleep(4)
        os._exit(0)
    count += 1
time.sleep(1)
if count >= 200: say()
"#,
    ),
    Py(
        "threads",
        r#"
for _ in range(300): threading.Thread(target=time.sleep, args=(4,), daemon=True).start()
time.sleep(1)
if threading.active_count() >= 200: say()
sys.stdout.flush()
os._exit(0)
"#,
    ),
    Py(
        "orphans",
        r#"
ready, tell = os.pipe()
for _ in range(300):
    child = os.fork()
    if child == 0:
        try:
            if os.fork() == 0:
                os.setsid()
                os.write(tell, b"x")
                time.sleep(4)
        finally: os._exit(0)
    os.waitpid(child, 0)
time.sleep(1)
os.set_blocking(ready, False)
if len(os.read(ready, 999)) >= 200: say()
"#,
    ),
];

const MEMORY: &[Row] = &[
    Py(
        "in tables of where pages are",
        r#"
large, count = 2 << 20, 400 << 8
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
# To be read, without room for it, and in small pages.
at = LIBC.mmap(None, large * count, 1, 0x4022, -1, 0)
if at == 2**64 - 1: raise OSError("no addresses")
LIBC.madvise(at, large * count, 15)
for number in range(count): ctypes.c_char.from_address(at + number * large).value
time.sleep(1)
say()
"#,
    ),
    Py(
        "of one process",
        r#"
held = [bytearray(b"x") * (20 << 20) for _ in range(30)]
time.sleep(1)
say()
"#,
    ),
    Py(
        "of children together",
        r#"
ready, tell = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        held = bytearray(b"x") * (100 << 20)
        os.write(tell, b"x")
        time.sleep(3)
        os._exit(0)
for _ in range(6): os.read(ready, 1)
time.sleep(1)
say()
"#,
    ),
    Py(
        "of orphans together",
        r#"
ready, tell = os.pipe()
for _ in range(6):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.setsid()
            held = bytearray(b"x") * (100 << 20)
            os.write(tell, b"x")
            time.sleep(3)
        os._exit(0)
    os.waitpid(child, 0)
for _ in range(6): os.read(ready, 1)
time.sleep(1)
say()
"#,
    ),
    Py(
        "that is shared",
        r#"
held = mmap.mmap(-1, 600 << 20)
for _ in range(600): held.write(bytes(1 << 20))
time.sleep(1)
say()
"#,
    ),
    Py(
        "in files that only memory holds",
        r#"
for _ in range(6):
    file = os.memfd_create("held")
    for _ in range(100): os.write(file, bytes(1 << 20))
time.sleep(1)
say()
"#,
    ),
    Py(
        "in files that only memory holds, on their way through a socket",
        r#"
here, there = socket.socketpair()
for _ in range(20):
    file = os.memfd_create("held")
    for _ in range(30): os.write(file, bytes(1 << 20))
    socket.send_fds(here, [b"x"], [file])
    os.close(file)
time.sleep(1)
say()
"#,
    ),
    Py(
        "in more empty temporary files than there is room for",
        r#"
import shutil, tempfile
folders, made = [], 0
try:
    for place in ("/dev", "/dev/shm", tempfile.gettempdir(), os.environ["HOME"]):
        try: folders.append(tempfile.mkdtemp(dir=place))
        except OSError: continue
        try:
            for number in range(70_000):
                os.close(os.open(f"{folders[-1]}/{number}", os.O_CREAT | os.O_WRONLY))
                made += 1
        except OSError: pass
    time.sleep(1)
    if made >= 200_000: say()
finally:
    for folder in folders: shutil.rmtree(folder)
"#,
    ),
    Py(
        "that belongs to no process",
        r#"
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmdt.argtypes = [ctypes.c_void_p]
segments = []
try:
    for _ in range(6):
        segments.append(LIBC.shmget(0, 100 << 20, 0o600))
        place = LIBC.shmat(segments[-1], None, 0)
        if place in (None, 2 ** 64 - 1): raise OSError("no memory")
        ctypes.memset(place, 1, 100 << 20)
        LIBC.shmdt(place)
    time.sleep(1)
    say()
finally:
    for segment in segments: LIBC.shmctl(segment, 0, None)
"#,
    ),
    Py(
        "in temporary files",
        r#"
import shutil, tempfile
folders, written = [], 0
try:
    for place in ("/dev/shm", tempfile.gettempdir(), os.environ["HOME"]):
        folders.append(tempfile.mkdtemp(dir=place))
        with open(folders[-1] + "/held", "wb", buffering=0) as file:
            try:
                for _ in range(150): written += file.write(bytes(1 << 20))
            except OSError: pass
    time.sleep(1)
    if written >= 340 << 20: say()
finally:
    for folder in folders: shutil.rmtree(folder)
"#,
    ),
];

const BUFFERS: &[Row] = &[Py(
    "in sockets",
    r#"
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 12000), most))
pairs, sent = [], 0
while sent < 400 << 20:
    pairs.append(socket.socketpair())
    for end in pairs[-1]:
        end.setblocking(False)
        try:
            while True: sent += end.send(bytes(32 << 10))
        except BlockingIOError: pass
time.sleep(1)
say()
"#,
)];

const PROCESSOR: &[Row] = &[
    Py(
        "of one process",
        r#"
while time.process_time() < 3: pass
say()
"#,
    ),
    Py(
        "of children, one after the other",
        r#"
for _ in range(10):
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.3: pass
        os._exit(0)
    os.waitpid(child, 0)
say()
"#,
    ),
    Py(
        "of children that nobody waits for",
        r#"
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(10):
    child = os.fork()
    if child == 0:
        while time.process_time() < 0.3: pass
        os._exit(0)
    try: os.waitpid(child, 0)
    except ChildProcessError: pass
say()
"#,
    ),
    Py(
        "of orphans, side by side",
        r#"
ready, tell = os.pipe()
for _ in range(4):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.setsid()
            while time.process_time() < 0.8: pass
            os.write(tell, b"x")
        os._exit(0)
    os.waitpid(child, 0)
for _ in range(4): os.read(ready, 1)
say()
"#,
    ),
];

const WALL: &[Row] = &[
    Py("waiting", "time.sleep(4)\nsay()"),
    Py(
        "waiting, deaf to all signals",
        r#"
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
time.sleep(4)
say()
"#,
    ),
    Py(
        "waiting in a child, with the output kept open",
        r#"
if os.fork() == 0:
    os.setsid()
    time.sleep(4)
    say()
else: os.wait()
"#,
    ),
];

const OUTPUT: &[Row] = &[
    Py(
        "on standard output",
        r#"
for _ in range(5): os.write(1, b"x" * (1 << 20))
"#,
    ),
    Py(
        "on standard error",
        r#"
for _ in range(5): os.write(2, b"x" * (1 << 20))
"#,
    ),
    Py(
        "by many children",
        r#"
for number in range(40):
    if os.fork() == 0:
        os.write(1 + number % 2, b"x" * (128 << 10))
        os._exit(0)
for _ in range(40): os.wait()
"#,
    ),
];

const LEFT: &[Row] = &[Py(
    "filled faster than anybody looks",
    r#"
for number in range(8):
    with open(f"{T}/{number}", "wb") as file: file.write(bytes(25 << 20))
"#,
)];

const TEMPORARY: &[Row] = &[Py(
    "in temporary files",
    r#"
import tempfile
with tempfile.TemporaryDirectory() as folder:
    for number in range(8):
        with open(f"{folder}/{number}", "wb") as file: file.write(bytes(25 << 20))
    # Whoever holds it for a moment has it; without namespaces the limit is kept by looking.
    time.sleep(2)
    say()
"#,
)];

const SWAPS: &[Row] = &[
    Py(
        "a link that leads out while a file is written through it",
        r#"
os.mkdir(WS + "/real")
os.symlink("real", WS + "/swap")
late = time.monotonic() + 0.5
def swap():
    while time.monotonic() < late:
        for target in (T, "real"):
            os.symlink(target, WS + "/next")
            os.rename(WS + "/next", WS + "/swap")
threading.Thread(target=swap).start()
while time.monotonic() < late:
    try:
        with open(WS + "/swap/file", "w") as file: file.write("after")
    except OSError: pass
"#,
    ),
    Py("the workspace is moved out", r#"os.rename(WS, T + "/moved")"#),
    Py(
        "a folder of the workspace is moved out while it is worked in",
        r#"
os.makedirs(WS + "/deep/er")
os.chdir(WS + "/deep/er")
os.rename(WS + "/deep", T + "/deep")
with open("../../after", "w") as file: file.write("after")
"#,
    ),
];

const MOVED: &[Row] = &[Py(
    "the workspace is moved beside",
    r#"
os.rename(WS, BASE + "/moved")
with open(BASE + "/moved/README.md", "a") as file: file.write(MARK)
"#,
)];

const NAMES: &[Row] = &[Py(
    "a protected name is taken between two looks",
    r#"
os.mkdir(WS + "/mine")
with open(WS + "/mine/tasks.json", "w") as file: file.write(MARK)
def hammer():
    for _ in range(2000):
        try: os.rename(WS + "/mine", WS + "/.vscode")
        except OSError: pass
        call("renameat2", -100, (WS + "/mine").encode(), -100, (WS + "/.vscode").encode(), 2)
threads = [threading.Thread(target=hammer) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if not os.path.exists(WS + "/.vscode/tasks.json"): os.rename(WS + "/mine", WS + "/.vscode")
"#,
)];
