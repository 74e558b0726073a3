"""Types lines into an interactive shell, each once the words before it were seen: shell.py SECONDS (WORDS LINE)... WORDS"""

import os
import pty
import select
import sys
import time

seconds, told = float(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.environ["PS1"] = "prompt% "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen, until, code = b"", time.time() + seconds, 1
while time.time() < until:
    while told and told[0].encode() in seen:
        seen = seen.split(told.pop(0).encode(), 1)[1]
        if not told:
            break
        os.write(terminal, told.pop(0).encode().decode("unicode_escape").encode())
    if not told:
        code = 0
        break
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            read = os.read(terminal, 4096)
        except OSError:
            break
        sys.stdout.buffer.write(read)
        seen += read
sys.stdout.flush()
if code:
    print("\nstill waited for:", told, file=sys.stderr)
# What is still there when something went wrong goes too.
os.write(terminal, b"\x03\nkill -9 %1 2>/dev/null; exit\n")
time.sleep(0.2)
os.close(terminal)
os.waitpid(child, 0)
sys.exit(code)
