"""A process of the machine's that a jail has no business with. Says where its secrets are, then waits to be ended."""

import ctypes
import fcntl
import json
import os
import signal
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = sys.argv[1].encode()
MEMORY = ctypes.create_string_buffer(SECRET, 64)
PRIVATE, REMOVE = 0, 0


def shared_memory():
    LIBC.shmat.restype = ctypes.c_void_p
    segment = LIBC.shmget(PRIVATE, 4096, 0o600)
    ctypes.memmove(LIBC.shmat(segment, None, 0), SECRET, len(SECRET))
    # Gone with this process, and to be had by its number until then.
    LIBC.shmctl(segment, REMOVE, None)
    return segment


def messages():
    queue = LIBC.msgget(PRIVATE, 0o600)
    text = struct.pack("l", 1) + SECRET
    LIBC.msgsnd(queue, text, len(SECRET), 0)
    return queue


def key():
    add_key, keyctl = (217, 219) if os.uname().machine == "aarch64" else (248, 250)
    user_keyring, set_timeout = -4, 15
    number = LIBC.syscall(add_key, b"user", b"escape", SECRET, len(SECRET), user_keyring)
    LIBC.syscall(keyctl, set_timeout, number, 300)
    return number


def handle(path):
    number = 264 if os.uname().machine == "aarch64" else 303
    room = 128
    found = ctypes.create_string_buffer(struct.pack("Ii", room, 0), 8 + room)
    LIBC.syscall(number, -100, path.encode(), found, ctypes.byref(ctypes.c_int()), 0)
    return found.raw.hex()


QUEUE = messages()
LOCKED = []


def lock(path, kind):
    LOCKED.append(os.open(path, os.O_RDONLY))
    fcntl.flock(LOCKED[-1], kind)


lock("../../home/.cargo/bin/tool", fcntl.LOCK_EX)
lock("../../home/.cargo/registry/index", fcntl.LOCK_EX)
# Others like this one hold it too.
lock("/usr/bin/env", fcntl.LOCK_SH)




def end(*_):
    LIBC.msgctl(QUEUE, REMOVE, None)
    os._exit(0)


signal.signal(signal.SIGTERM, end)
places = {
    "PID": os.getpid(), "ADDRESS": ctypes.addressof(MEMORY), "SEGMENT": shared_memory(), "QUEUE": QUEUE,
    "KEY": key(), "HANDLE": handle(sys.argv[2]),
}
print(json.dumps({name: str(value) for name, value in places.items()}), flush=True)
while True:
    signal.pause()
