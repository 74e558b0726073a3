"""Runs the attempts of one batch, each in a process of its own, and prints what each one printed as a line of JSON."""

import ctypes
import json
import mmap
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 20
MOST = 16 << 10
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
ARM = platform.machine() == "aarch64"

# Numbers of calls on x86-64 and arm64; those from 424 on are the same everywhere.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "clone": (56, 220),
    "exit": (60, 93),
    "fanotify_init": (300, 262), "init_module": (175, 105), "ioprio_set": (251, 30), "iopl": (172, -1),
    "kcmp": (312, 272), "keyctl": (250, 219), "migrate_pages": (256, 238), "modify_ldt": (154, -1),
    "mount": (165, 40), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241), "personality": (135, 92), "pivot_root": (155, 41), "prlimit64": (302, 261),
    "process_vm_readv": (310, 270), "ptrace": (101, 117), "renameat2": (316, 276), "sched_setscheduler": (144, 119),
    "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140), "swapon": (167, 224),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "pidfd_send_signal": 424, "io_uring_setup": 425, "open_tree": 428, "fsopen": 430, "clone3": 435,
    "openat2": 437, "pidfd_open": 434, "pidfd_getfd": 438, "mount_setattr": 442, "fchmodat2": 452, "open_tree_attr": 467,
}


def call(name, *arguments):
    """A call of the kernel's by its name: the result, or the error as a negative number."""
    number = NUMBERS[name]
    number = number[ARM] if isinstance(number, tuple) else number
    plain = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *plain)
    return result if result >= 0 else -ctypes.get_errno()


def through(request, *more, receive=True):
    """Asks the proxy that the environment names, and says more once it has answered."""
    host, port = os.environ["http_proxy"].split("//")[1].strip("/").split(":")
    line = socket.create_connection((host, int(port)), 3)
    line.send(request.encode())
    if receive:
        line.recv(99)
    for text in more:
        line.send(text.encode())
        time.sleep(0.05)
    return line


def above():
    """The processes above this one, up to the first."""
    process = os.getppid()
    while process:
        yield process
        with open(f"/proc/{process}/stat") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])


def start(one, output):
    child = os.fork()
    if child:
        return child
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    become(one)


def become(one):
    words = one["words"]
    if one["language"] == "shell":
        prelude = "".join(f"{name}='{value}'\n" for name, value in words.items())
        prelude += 'say() { echo "did-$ID"; }\n'
        os.execvp("sh", ["sh", "-c", prelude + one["script"]])
    known = {name: globals()[name] for name in KNOWN}
    known["say"] = lambda: print(f"did-{words['ID']}", flush=True)
    try:
        exec(compile(one["script"], one["words"]["ID"], "exec"), known | words)
    except BaseException as error:
        print(repr(error))
    sys.stdout.flush()
    os._exit(0)


KNOWN = ("ctypes", "json", "mmap", "os", "select", "signal", "socket", "struct", "subprocess", "sys", "threading",
         "time", "LIBC", "above", "call", "through")


def await_end(child):
    late = time.monotonic() + PATIENCE
    while time.monotonic() < late:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "attempts.json")) as file:
        attempts = json.load(file)
    if "alone" in sys.argv:
        print(json.dumps("begun"), flush=True)
        become(attempts[0])
    for one in attempts:
        output = os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_RDWR)
        await_end(start(one, output))
        text = os.pread(output, MOST, 0).decode("latin-1")
        os.close(output)
        print(json.dumps([one["words"]["ID"], text]), flush=True)
    print(json.dumps("end"), flush=True)


main()
