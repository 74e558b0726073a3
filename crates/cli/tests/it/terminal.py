"""Runs a program in a terminal of its own: `terminal.py COLUMNS ANSWERS PROGRAM ARGUMENT...`. Each line of the answers goes to the next question, which ends
with `] ` or `: `; `^C` is the key. Prints all that the terminal showed, and ends as the program does."""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, answers, program = int(sys.argv[1]), sys.argv[2].split("\n"), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.read(0, 1)
    os.execv(program[0], program)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
# Only now the program starts: it is not to see another width before.
modes = termios.tcgetattr(terminal)
quiet = modes[:3] + [modes[3] & ~termios.ECHO] + modes[4:]
termios.tcsetattr(terminal, termios.TCSANOW, quiet)
os.write(terminal, b"\n")
termios.tcsetattr(terminal, termios.TCSANOW, quiet)
shown, seen = b"", 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if answers and len(shown) > seen and shown.endswith((b"] ", b"): ", b"answer: ")):
        seen, answer = len(shown), answers.pop(0)
        os.write(terminal, b"\x03" if answer == "^C" else answer.encode() + b"\n")
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
