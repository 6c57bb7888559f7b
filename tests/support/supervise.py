#!/usr/bin/env python3
"""Run a command, and kill all its remaining processes.

supervise.py --log FILE --status FILE [--timeout S] [--nice N] COMMAND...

The command runs in a separate session, its output goes into the log, and its exit status, its seconds and the CPU seconds of all its
processes into the status file. Processes that it started stay descendants of this one, also daemons that have left its session (PR_SET_CHILD_SUBREAPER). What still runs when the
command has ended is given GRACE_S to end; what does not is named in the log as a test that failed, and killed. SIGTERM, SIGINT and SIGHUP,
and the end of the parent, end the command by SIGTERM, with KILL_S to undo what outlives processes, such as cgroups, and kill all of them then.
"""
import ctypes
import os
import resource
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_S, KILL_S, TIMED_OUT = 15, 10, 124
ENDING = signal.SIGTERM, signal.SIGINT, signal.SIGHUP


def processes():
    """pid: (parent, state) of every process."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                fields = f.read().rpartition(b") ")[2].split()
        except OSError:
            continue
        found[int(name)] = (int(fields[1]), fields[0])
    return found


def descendants():
    """Pids below this process that have not ended."""
    found, below = processes(), {os.getpid()}
    while True:
        more = {p for p, (parent, _) in found.items() if parent in below} - below
        if not more:
            break
        below |= more
    return [p for p in below - {os.getpid()} if found[p][1] not in (b"Z", b"X")]


def reap():
    """Whether there are children, after the ended ones; all descendants are children's."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    except OSError:
        return ""


def kill_all():
    """A killed process may have started another in the meantime, so repeat until there is none."""
    while reap() and (left := descendants()):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        reap()
        time.sleep(0.02)


def wait_for(pid, until):
    """The exit status of a child as a shell has it; None: it runs beyond `until`. Others that end meanwhile are reaped, as init would do:
    a test that waits for the end of a process which it did not start itself would wait for ever for a zombie."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if ended:
            continue
        left = 3600 if until is None else until - time.monotonic()
        if left <= 0:
            return None
        signal.sigtimedwait({signal.SIGCHLD}, left)


def await_end(pid, timeout):
    """The exit status of the command, TIMED_OUT where it had to be ended."""
    status = wait_for(pid, time.monotonic() + timeout if timeout else None)
    if status is not None:
        return status
    os.killpg(pid, signal.SIGTERM)
    if wait_for(pid, time.monotonic() + KILL_S) is None:
        os.killpg(pid, signal.SIGKILL)
        wait_for(pid, None)
    return TIMED_OUT


def left_behind():
    end = time.monotonic() + GRACE_S
    while reap() and (left := descendants()):
        if time.monotonic() > end:
            return left
        time.sleep(0.05)
    return []


def end_on_signals(command):
    """`command`: the pid of its process once it has begun, in a list; none when it has ended."""
    def on_signal(number, _):
        for other in ENDING:
            signal.signal(other, signal.SIG_IGN)
        for pid in command:
            try:
                os.killpg(pid, signal.SIGTERM)
                wait_for(pid, time.monotonic() + KILL_S)
            except (ProcessLookupError, ChildProcessError):  # it has ended
                pass
        kill_all()
        os._exit(128 + number)
    for number in ENDING:
        signal.signal(number, on_signal)


def start(command, log):
    """In a session of its own, with the signals of a fresh program that Python ignores. A start of Python with the modules subprocess and
    argparse would take twice as long."""
    return os.posix_spawnp(command[0], command, os.environ, setsid=True, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
                           file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, log, 1),
                                         (os.POSIX_SPAWN_DUP2, log, 2)])


def lower_autogroup(pid, nice):
    """Where the kernel shares the CPU time between sessions, the niceness of a process counts only within its session."""
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as f:
            f.write(str(nice))
    except OSError:  # it does not, or the command has ended
        pass


def main():
    option, words = {"--timeout": None, "--nice": 0}, sys.argv[1:]
    while words and words[0].startswith("--"):
        option[words[0]], words = words[1], words[2:]
    timeout = option["--timeout"] and float(option["--timeout"])
    parent, prctl = os.getppid(), ctypes.CDLL(None, use_errno=True).prctl
    command = []
    end_on_signals(command)
    for number, value in ((PR_SET_PDEATHSIG, signal.SIGTERM), (PR_SET_CHILD_SUBREAPER, 1)):
        if prctl(number, ctypes.c_ulong(value), 0, 0, 0) != 0:
            sys.exit(f"supervise.py: prctl {number}: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("supervise.py: the parent has ended")
    begin = time.monotonic()
    with open(option["--log"], "wb", buffering=0) as log:
        if int(option["--nice"]):
            os.nice(int(option["--nice"]))
        command.append(start(words, log.fileno()))
        if int(option["--nice"]):
            lower_autogroup(command[0], int(option["--nice"]))
        status = await_end(command[0], timeout)
        command.clear()
        for pid in left_behind():
            log.write(f"not ok - process {pid} was left behind: {command_of(pid)}\n".encode())
    kill_all()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(option["--status"], "w", encoding="ascii") as f:
        f.write(f"{status} {int(time.monotonic() - begin)} {int(used.ru_utime + used.ru_stime)}\n")


if __name__ == "__main__":
    main()
