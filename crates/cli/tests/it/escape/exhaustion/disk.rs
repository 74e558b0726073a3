//! More on a disk than the limit allows.

use super::{Py, Row};

pub(super) const DISK: &[Row] = &[
    Py(
        "in many files",
        r#"
for number in range(8):
    with open(f"{T}/{number}", "wb") as file: file.write(bytes(25 << 20))
time.sleep(2)
say()
"#,
    ),
    Py(
        "in one file",
        r#"
with open(T + "/one", "wb", buffering=0) as file:
    for _ in range(200): file.write(bytes(1 << 20))
say()
"#,
    ),
    Py(
        "in a file with a hole",
        r#"
with open(T + "/hole", "wb") as file: file.truncate(1 << 30)
say()
"#,
    ),
    Py(
        "in room behind the end of a file",
        r#"
keep_size = 1
file = os.open(T + "/room", os.O_CREAT | os.O_RDWR)
if LIBC.fallocate(file, keep_size, ctypes.c_long(0), ctypes.c_long(200 << 20)) == 0:
    time.sleep(2)
    say()
"#,
    ),
    Py(
        "in room that is taken at once",
        r#"
keep_size, room = 1, 200 << 20
file = os.open(T + "/at-once", os.O_CREAT | os.O_RDWR)
LIBC.fallocate(file, keep_size, ctypes.c_long(0), ctypes.c_long(room))
if os.fstat(file).st_blocks * 512 >= room: say()
"#,
    ),
    Py(
        "in room that is taken at once by a request of another file system's",
        r#"
import fcntl
reserve, room = 0x40305828, 200 << 20
file = os.open(T + "/reserved", os.O_CREAT | os.O_RDWR)
try: fcntl.ioctl(file, reserve, struct.pack("hhqqiI16x", 0, 0, 0, room, 0, 0))
except OSError: pass
if os.fstat(file).st_blocks * 512 >= room: say()
"#,
    ),
    Py(
        "in files that are written all at once",
        r#"
def fill(number):
    with open(f"{T}/{number}", "wb", buffering=0) as file:
        for _ in range(45): file.write(bytes(1 << 20))
each = [threading.Thread(target=fill, args=(number,)) for number in range(16)]
for one in each: one.start()
for one in each: one.join()
if sum(os.stat(f"{T}/{number}").st_blocks for number in range(16)) * 512 >= 700 << 20: say()
"#,
    ),
    Py(
        "in files that have no name any more",
        r#"
held = []
for number in range(8):
    held.append(open(f"{T}/{number}", "wb", buffering=0))
    os.remove(f"{T}/{number}")
    held[-1].write(bytes(25 << 20))
time.sleep(2)
say()
"#,
    ),
    Py(
        "in files that never had a name",
        r#"
held = []
for number in range(8):
    held.append(os.open(T, os.O_TMPFILE | os.O_RDWR, 0o600))
    os.write(held[-1], bytes(25 << 20))
time.sleep(2)
say()
"#,
    ),
    Py(
        "in files without a name that only a second thread holds",
        r#"
def hold():
    held = []
    for number in range(8):
        held.append(open(f"{T}/{number}", "wb", buffering=0))
        os.remove(f"{T}/{number}")
        held[-1].write(bytes(25 << 20))
    time.sleep(2)
    say()
    sys.stdout.flush()
    os._exit(0)
threading.Thread(target=hold).start()
time.sleep(0.1)
call("exit", 0)
"#,
    ),
    Py(
        "in files without a name, among thousands of mappings of many threads",
        r#"
area = mmap.mmap(-1, 20_000 * 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
at = ctypes.addressof(ctypes.c_char.from_buffer(area))
for number in range(0, 20_000, 2): LIBC.mprotect(ctypes.c_void_p(at + number * 4096), 4096, 1)
for _ in range(200): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
held = []
for number in range(8):
    held.append(os.open(T, os.O_TMPFILE | os.O_RDWR, 0o600))
    os.write(held[-1], bytes(25 << 20))
time.sleep(4)
say()
"#,
    ),
    Py(
        "in files without a name of a process that shows nothing of itself",
        r#"
LIBC.prctl(4, 0, 0, 0, 0)
held = []
for number in range(8):
    held.append(os.open(T, os.O_TMPFILE | os.O_RDWR, 0o600))
    os.write(held[-1], bytes(25 << 20))
time.sleep(2)
say()
"#,
    ),
    Py(
        "below more folders than a path can name",
        r#"
os.chdir(T)
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for number in range(8):
    with open(str(number), "wb") as file: file.write(bytes(25 << 20))
time.sleep(2)
say()
"#,
    ),
    Py(
        "in folders that cannot be listed",
        r#"
os.mkdir(T + "/closed")
for number in range(8):
    with open(f"{T}/closed/{number}", "wb") as file: file.write(bytes(25 << 20))
    os.chmod(T + "/closed", 0o300)
time.sleep(2)
os.chmod(T + "/closed", 0o700)
say()
"#,
    ),
    Py(
        "in more empty files than there is room for",
        r#"
for number in range(30000): os.close(os.open(f"{T}/{number}", os.O_CREAT | os.O_WRONLY))
# One who counts so many files may look a tenth of the time, which is some seconds where other work goes on.
time.sleep(6)
say()
"#,
    ),
];

/// Others than root see only what the whole disk loses, to which all who write there add.
pub(super) const CLOSED: &[Row] = &[
    Py(
        "in files without a name of which a page is mapped",
        r#"
held = []
for number in range(8):
    with open(f"{T}/{number}", "w+b", buffering=0) as file:
        file.write(bytes(25 << 20))
        held.append(mmap.mmap(file.fileno(), 4096))
        os.remove(f"{T}/{number}")
time.sleep(2)
say()
"#,
    ),
    Py(
        "in a folder whose files can be listed and not asked",
        r#"
os.mkdir(T + "/dim")
files = [open(f"{T}/dim/{number}", "wb", buffering=0) for number in range(8)]
os.chmod(T + "/dim", 0o400)
for file in files: file.write(bytes(25 << 20))
time.sleep(4)
os.chmod(T + "/dim", 0o700)
say()
"#,
    ),
    Py(
        "in a file that grows in a folder that is shut",
        r#"
os.mkdir(T + "/shut")
files = [open(f"{T}/shut/{number}", "wb", buffering=0) for number in range(8)]
os.chmod(T + "/shut", 0)
for file in files: file.write(bytes(25 << 20))
time.sleep(4)
os.chmod(T + "/shut", 0o700)
say()
"#,
    ),
];
