"""Runs a program as on a machine that lacks something: `without.py NAME... -- PROGRAM ARGUMENT...`. The kernel itself then answers as one that has not
the calls: a filter stands before them, as those of containers do. It can only take away."""

import ctypes
import os
import platform
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LOAD, EQUAL, ANY, ANSWER = 0x20, 0x15, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NOT_PERMITTED, INVALID, NOT_THERE = 1, 22, 38
NEW_USER = 0x10000000
SET_FILTER = 22
ARM = platform.machine() == "aarch64"
CLONE, UNSHARE, PRCTL, SECCOMP = (220, 97, 167, 277) if ARM else (56, 272, 157, 317)
PIDFD_SEND_SIGNAL, OPEN_TREE, PIDFD_OPEN, CLONE3, LANDLOCK = 424, 428, 434, 435, 444
MOUNTS = (OPEN_TREE, 429, 430, 431, 432, 442)


def refuse(call, error):
    return [(EQUAL, 0, 1, call), (ANSWER, 0, 0, ERROR | error)]


def refuse_where(call, argument, test, value, error):
    """Only where an argument is as said. What follows reads the number of the call again."""
    offset = 16 + 8 * argument
    return [(EQUAL, 0, 4, call), (LOAD, 0, 0, offset), (test, 0, 1, value), (ANSWER, 0, 0, ERROR | error), (LOAD, 0, 0, 0)]


LACKING = {
    "namespaces": refuse(CLONE3, NOT_THERE) + refuse(UNSHARE, NOT_PERMITTED) + refuse_where(CLONE, 0, ANY, NEW_USER, NOT_PERMITTED),
    "mounts": [row for call in MOUNTS for row in refuse(call, NOT_THERE)],
    "landlock": refuse(LANDLOCK, NOT_THERE),
    "seccomp": refuse(SECCOMP, NOT_THERE) + refuse_where(PRCTL, 0, EQUAL, SET_FILTER, INVALID),
    "pidfd": refuse(PIDFD_OPEN, NOT_THERE) + refuse(PIDFD_SEND_SIGNAL, NOT_THERE),
}

split = sys.argv.index("--")
names, command = sys.argv[1:split], sys.argv[split + 1 :]
rows = [(LOAD, 0, 0, 0)] + [row for name in names for row in LACKING[name]] + [(ANSWER, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
NO_NEW_PRIVILEGES = 38
for arguments in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_FILTER, 2, program, 0, 0)):
    if LIBC.prctl(*arguments) != 0:
        sys.exit(f"prctl {arguments[0]}: {os.strerror(ctypes.get_errno())}")
os.execvp(command[0], command)
