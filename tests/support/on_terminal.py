"""Run a command on a pseudo terminal and print its output, then "exit STATUS".

usage: on_terminal.py COLUMNS [--interrupts N AFTER] COMMAND...    Ctrl-C N times, the first once AFTER is shown, then one a second
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

columns, command, interrupts, after = int(sys.argv[1]), sys.argv[2:], 0, b""
if command[0] == "--interrupts":
    interrupts, after, command = int(command[1]), command[2].encode(), command[3:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ.setdefault("TERM", "xterm")
    os.environ.pop("COLUMNS", None)
    os.execvp(command[0], command)
shown, due, end = b"", 0, time.monotonic() + 180
while time.monotonic() < end:
    if interrupts and after in shown and time.monotonic() >= due:
        os.write(terminal, b"\x03")
        interrupts, due = interrupts - 1, time.monotonic() + 1
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown += data
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
print(f"\nexit {status}")
