#!/usr/bin/env python3
"""builds.py FOLDER: pushes whose builds attack the machine, the worker, its cache, and whatever reads their output.

FOLDER is made by test_builds.sh. Each trial pushes a build of one kind; its numbers come from the trial's seed. The job
must end within the build's limit with the kind's reason, without a second attempt, unless a signal ended it. No text
that only exists outside of the sandbox may be in its log, no connection may arrive, nothing of an earlier build may be
visible. No process, file, memory segment, message queue or mount is left two seconds later.
"""
import ctypes
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import sys
import time

from campaign import Campaign, Daemon, until
from supervise import PR_SET_CHILD_SUBREAPER, command_of, descendants

OURS = "flopwatchd", "flopwatch-worker", "flopwatch-git", "flopwatch-send"
FAILED = r"build of target failed after ([0-9.]+) s: "
EXIT = FAILED + r"make DEVICE=cpu: exit 2"
REASON = re.compile(FAILED)
GRACE_S = 15  # beyond the limit of a build, on a busy machine

# What each script begins with: N is the number of the trial, OUT the output, which is a good module already.
HEAD = r'''
import ctypes, fcntl, glob, mmap, os, random, resource, signal, socket, stat, struct, subprocess, sys, threading, time
OUT = "build/cpu/libattention.so"
rng = random.Random(N)
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, what):
    try:
        if what() not in (None, -1, False):
            print("ESCAPED", name, flush=True)
    except Exception:
        pass
def call(number, *args):
    return libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
def detach():
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    return True
def plant(where):
    try:
        open(f"{where}/planted-{N}", "w").write("planted")
    except OSError:
        pass
'''

# name: (limit in s or None, expected log; "" builds, None either, script)
KINDS = {
    # ---- processes ----
    "forks": (None, FAILED + "build ran more than|" + EXIT, """
while True:
    try:
        os.fork()
    except OSError:
        sys.exit(3)"""),
    "threads": (20, None, """
for _ in range(2000):
    try: threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
    except RuntimeError: pass
os._exit(4)"""),
    "daemons": (None, "", """
for how in range(rng.randint(1, 9)):
    if detach():
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        if how % 2:
            for fd in range(3): os.close(fd)
        time.sleep(1000)"""),
    "stopped": (None, "", """
if detach():
    os.kill(os.getpid(), signal.SIGSTOP)"""),
    "hangs": (3, FAILED + "make DEVICE=cpu: ran past 3 s", """
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); os.close(1); os.close(2); time.sleep(1000)"""),
    "spins": (3, FAILED + "make DEVICE=cpu: (ran past 3 s|killed|exit)", "while True: pass"),
    "reads its input": (5, EXIT, "sys.exit(len(sys.stdin.read()) + 5)"),
    "recursive make": (4, FAILED, "os.execvp('make', ['make', '-C', '.', 'DEVICE=cpu'])"),
    "a chain of forks": (None, "", """
while True:
    if os.fork(): os._exit(0)"""),
    "ends its namespace": (None, None, "os.kill(-1, signal.SIGKILL)"),
    "ends its parents": (None, None, """
os.kill(os.getppid(), rng.choice([signal.SIGSEGV, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT]))"""),
    "dumps core": (None, EXIT, """
resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE)); os.abort()"""),
    "address space": (None, EXIT, "mmap.mmap(-1, rng.randint(33, 4000) << 30)"),
    # ---- disk and output ----
    "fills the disk": (60, FAILED + "build used [0-9]+ MiB and [0-9]+ files", """
f = open('big', 'wb')
while True: f.write(bytes(1 << 20))"""),
    "fills the disk, unlinked": (60, FAILED + "build used [0-9]+ MiB", """
f = open('big', 'wb'); os.unlink('big')
try:
    while True: f.write(bytes(1 << 20))
except OSError: time.sleep(1000)"""),
    "files": (60, FAILED + "build used [0-9]+ MiB and [0-9]+ files", """
i = 0
while True: i += 1; open(f'f{i}', 'w').close()"""),
    "a large file": (60, FAILED, """
f = open('sparse', 'wb'); f.truncate(1 << rng.randint(28, 50)); f.seek(0); f.write(b'x'); sys.exit(6)"""),
    "a deep folder": (60, "", """
try:
    for _ in range(rng.randint(200, 3000)): os.mkdir('d' * 200); os.chdir('d' * 200)
except OSError: pass
plant('.')"""),
    "closed folders": (None, None, """
for i in range(20): os.mkdir(f'c{i}'); plant(f'c{i}'); os.chmod(f'c{i}', 0)
os.chmod('..', 0); os.chmod('.', 0)"""),
    "odd names": (None, "", r"""
for name in (b'a\nb', b'\x1b[2J', b'\xff\xfe', b'-rf', b'*', b' ', b'x' * 255): open(name, 'w').close()"""),
    "a huge log": (60, FAILED + "build printed more than", "while True: os.write(1, b'x' * rng.randint(1, 1 << 17))"),
    "an odd log": (None, EXIT, r"""
os.write(1, b'\x1b]0;x\x07\x00\xff\r\n' * 2000 + b'y' * 3000000); sys.exit(7)"""),
    # ---- what is outside ----
    "searches files": (60, EXIT, """
for top, folders, files in os.walk('/'):
    folders[:] = [f for f in folders if f'{top}/{f}'.replace('//', '/') not in ('/usr', '/proc', '/sys', '/lib', '/lib64',
        '/etc/alternatives')]
    for name in files:
        try: print(f'{top}/{name}', open(os.open(f'{top}/{name}', os.O_RDONLY | os.O_NONBLOCK), 'rb').read(4000))
        except OSError: pass
sys.exit(8)"""),
    "searches processes": (60, EXIT, """
for name in glob.glob('/proc/[0-9]*/*') + glob.glob('/proc/[0-9]*/fd/*') + glob.glob('/proc/[0-9]*/root/*'):
    try: print(name, open(os.open(name, os.O_RDONLY | os.O_NONBLOCK), 'rb').read(4000))
    except (OSError, OverflowError): pass
sys.exit(8)"""),
    "debugs": (60, EXIT, """
for pid in [p for p in map(int, filter(str.isdigit, os.listdir('/proc'))) if p not in (os.getpid(), os.getppid())]:
    if call(101, 16, pid, 0, 0) == 0: print('attached to', pid, open(f'/proc/{pid}/cmdline').read())
    try:
        for line in open(f'/proc/{pid}/maps'):
            a, b = (int(x, 16) for x in line.split()[0].split('-'))
            with open(f'/proc/{pid}/mem', 'rb') as f: f.seek(a); print(f.read(min(b - a, 100000)))
    except (OSError, ValueError, OverflowError): pass
sys.exit(8)"""),
    "sockets": (60, EXIT, r"""
def connect(family, address):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(1)
    s.connect(address)
    s.send(b'x')
    return True
for host in ('127.0.0.1', '10.0.2.2', '169.254.169.254', '8.8.8.8'): attempt(host, lambda: connect(socket.AF_INET, (host,
    PORT)))
attempt('::1', lambda: connect(socket.AF_INET6, ('::1', PORT)))
attempt('abstract', lambda: connect(socket.AF_UNIX, chr(0) + NAME))
attempt('path', lambda: connect(socket.AF_UNIX, FOLDER + '/s'))
for family in range(46):
    if family not in (1, 2, 10, 16):
        for kind in (1, 2, 3): attempt(f'family {family}', lambda: socket.socket(family, kind))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and open('/proc/net/tcp').read().count('\n') > 2)
sys.exit(9)"""),
    "shared memory": (None, "", """
for i in range(20):
    key = call(29, 0x666C0000 + N + i, 4096, 0o1666)  # shmget, semget, msgget
    call(64, 0x666C0000 + N + i, 3, 0o1666); call(68, 0x666C0000 + N + i, 0o1666)
plant('/dev/shm'); libc.mq_open(f'/planted-{N}'.encode(), 0o102, 0o666, None)
for i in range(200):
    p = libc.shmat; p.restype = ctypes.c_void_p; at = p(i, None, 0o10000)
    if at not in (None, 2 ** 64 - 1): print(ctypes.string_at(at, 64), flush=True)"""),
    "plants": (None, "", """
for where in ('/', '/tmp', '/var/tmp', '/dev', '/dev/shm', '/run', '/job', '/job/..', '/etc', '/usr', '/usr/local', '/proc',
    '/home',
        os.environ.get('HOME', '/'), os.environ.get('TMPDIR', '/')): plant(where)
call(248, b'user', f'planted-{N}'.encode(), b'planted', 7, -4)  # add_key to the user's keyring"""),
    "looks for earlier ones": (None, EXIT, r"""
for where in ('/', '/tmp', '/var/tmp', '/dev', '/dev/shm', '/run', '/job', '/job/kernels', '/etc', os.environ.get('HOME', '/')):
    for name in glob.glob(f'{where}/planted-*'): print('ESCAPED', name)
for number in range(N - 50, N):
    attempt(f'key {number}', lambda: call(250, 10, -4, b'user', f'planted-{number}'.encode(), 0))  # keyctl search
for table in ('shm', 'sem', 'msg'):
    if open(f'/proc/sysvipc/{table}').read().count('\n') > 1: print('ESCAPED sysvipc', table)
sys.exit(9)"""),
    # ---- more rights ----
    "set-user-ID": (None, "", """
import shutil
shutil.copy('/usr/bin/id', 'id'); os.chmod('id', 0o6755)
attempt('its own', lambda: b'uid=0' in subprocess.run(['./id'], capture_output=True).stdout)
attempt('root', lambda: os.setuid(0) or os.getuid() == 0)
for name in ('su', 'sudo', 'mount', 'newuidmap', 'chsh'):
    attempt(name, lambda: b'root:' in subprocess.run([name, '-c', 'cat /etc/shadow'], capture_output=True,
        stdin=subprocess.DEVNULL, timeout=5).stdout)"""),
    "user namespaces": (None, EXIT, """
for flags in (0x10000000, 0x10020000, 0x7E020000): attempt(f'unshare {flags:x}', lambda: call(272, flags) == 0)
def cloned(number, *args):  # whether a child was made; it ends at once
    pid = call(number, *args)
    if pid == 0: os._exit(0)
    return pid > 0
attempt('clone', lambda: cloned(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0))
args = struct.pack('<8Q', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)  # struct clone_args
attempt('clone3', lambda: cloned(435, ctypes.create_string_buffer(args, 64), 64))
for pid in (1, os.getppid()):
    for kind in ('mnt', 'net', 'pid', 'user'):
        attempt(f'setns {kind}', lambda: call(308, os.open(f'/proc/{pid}/ns/{kind}', os.O_RDONLY), 0) == 0)
sys.exit(9)"""),
    "system calls": (None, EXIT, """
for name, number, args in (('mount', 165, (b'none', b'/tmp', b'tmpfs', 0, 0)), ('umount', 166, (b'/tmp', 2)), ('pivot_root',
    155, (b'/', b'/')),
        ('chroot', 161, (b'/tmp',)), ('sethostname', 170, (b'x', 1)), ('settimeofday', 164, (struct.pack('qq', 1, 1),
            0)), ('reboot', 169, (0, 0, 0, 0)),
        ('init_module', 175, (b'', 0, b'')), ('kexec_load', 246, (0, 0, 0, 0)), ('bpf', 321, (0, bytes(100),
            100)), ('swapoff', 168, (b'/x',)),
        ('iopl', 172, (3,)), ('syslog', 103, (3, bytes(4096), 4096)), ('acct', 163, (b'/tmp/a',)),
        ('open_by_handle_at', 304, (-100, bytes(64), 0)), ('fanotify_init', 300, (0, 0)), ('mknod', 133, (b'zero', 0o20666,
            0x105))):
    attempt(name, lambda: call(number, *args) >= 0)
for path in ('/dev/mem', '/dev/kmsg', '/dev/sda', '/dev/vda', '/dev/fuse', '/dev/kvm', '/dev/vhost-vsock', '/dev/nvidia0',
    '/dev/nvidiactl'):
    attempt(path, lambda: os.open(path, os.O_RDONLY) >= 0)
for path in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/1/oom_score_adj',
    '/sys/kernel/uevent_helper',
        '/proc/1/mem', '/etc/passwd', '/usr/bin/sh', '/proc/acpi', '/sys/fs/cgroup/cgroup.procs'):
    attempt(path, lambda: os.open(path, os.O_WRONLY) >= 0)
attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, 0, -10) is None or True)
attempt('a tty', lambda: fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), 0x5412, b'x') == 0)
sys.exit(9)"""),
    # ---- its output ----
    "a link": (None, FAILED + ".*(symbolic link|not a regular|is missing|is empty)", """
os.unlink(OUT)
os.symlink(rng.choice([FOLDER + '/secret', '/etc/passwd', '/dev/zero', '/proc/1/environ', OUT, '../../good.so', '/job',
    '/dev/stdin']), OUT)"""),
    "a linked folder": (None, FAILED + ".*(symbolic link|is missing)", """
os.rename('build/cpu', 'x')
os.symlink(rng.choice(['/etc', '../x', FOLDER, '/proc/self/fd', '/usr/lib']), 'build/cpu')"""),
    "a replaced folder": (None, FAILED, """
os.chdir('/job'); os.rename('kernels', 'k'); os.symlink(rng.choice(['/etc', 'k', FOLDER, '/']), 'kernels')"""),
    "a FIFO": (None, FAILED + ".*not a regular file", "os.unlink(OUT); os.mkfifo(OUT)"),
    "a socket": (None, FAILED, "os.unlink(OUT); s = socket.socket(socket.AF_UNIX); s.bind(OUT)"),
    "a folder": (None, FAILED, "os.unlink(OUT); os.mkdir(OUT)"),
    "a hard link": (None, "", "os.unlink(OUT); os.link('good.so', OUT)"),
    "empty": (None, FAILED + ".*is empty", "open(OUT, 'w').close()"),
    "sparse": (None, FAILED + ".*(larger than 256 MiB|not a shared object|exit)", """
os.unlink(OUT); open(OUT, 'w').truncate(rng.choice([1 << 20, 300 << 20, (2 << 30) - 1]))"""),
    "unreadable": (None, None, "os.chmod(OUT, 0); os.chmod('build/cpu', 0)"),
    "swapped": (None, None, """
os.symlink(FOLDER + '/secret', 'l')
if detach():
    while True: call(316, -100, b'l', -100, OUT.encode(), 2)  # RENAME_EXCHANGE"""),
    "a bare output before strip": (None, None, "os.symlink(FOLDER + '/secret', OUT + '.bare')"),
    "a script": (None, FAILED + ".*not a shared object", r"""
open(OUT, 'w').write('#!/bin/sh\necho x >/tmp/ran\n')"""),
    "a thin archive": (None, None, """
os.unlink(OUT)
subprocess.run(['ar', rng.choice(['qcT', 'qc']), OUT, rng.choice(['/usr/lib/x86_64-linux-gnu/crt1.o', 'good.so'])])"""),
    "ELF cut": (None, None, "os.truncate(OUT, rng.randint(1, os.path.getsize(OUT) - 1))"),
    "ELF mutated": (None, None, """
data = bytearray(open(OUT, 'rb').read())
for _ in range(rng.randint(1, 20)):
    at = rng.choice([rng.randrange(64), rng.randrange(64, 64 + 56 * 8), rng.randrange(len(data) - 2048, len(data)),
        rng.randrange(len(data))])
    data[at] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
open(OUT, 'wb').write(data)"""),
    "ELF numbers": (None, None, """
data = bytearray(open(OUT, 'rb').read())
phoff, shoff, shnum = *struct.unpack_from('<QQ', data, 32), struct.unpack_from('<H', data, 60)[0]
huge = lambda size: rng.choice([0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1, len(data),
    rng.getrandbits(8 * size)])
for _ in range(rng.randint(1, 4)):
    table = rng.choice('hps')
    if table == 'h': at, form = rng.choice([(16, 'H'), (18, 'H'), (24, 'Q'), (32, 'Q'), (40, 'Q'), (48, 'I'), (52, 'H'), (54,
        'H'), (56, 'H'), (58, 'H'), (60, 'H'), (62, 'H')])
    elif table == 'p': at, form = phoff + 56 * rng.randrange(8) + rng.choice([0, 4]), 'I'
    else: at, form = shoff + 64 * rng.randrange(shnum) + rng.choice([8, 16, 24, 32, 48, 56]), 'Q'
    if table == 'p' and rng.random() < 0.7: at, form = at // 8 * 8 + rng.choice([8, 16, 24, 32, 40, 48]), 'Q'
    struct.pack_into('<' + form, data, min(at, len(data) - 8), huge(struct.calcsize(form)))
open(OUT, 'wb').write(data)"""),
    "ELF of another kind": (None, None, """
source = 'int x(void) { return 0; } int main(void) { return 0; }'
subprocess.run(['gcc', '-x', 'c', '-', '-o', OUT, *rng.choice([['-c'], [], ['-static'], ['-shared', '-fPIC', '-nostdlib'],
    ['-r', '-nostdlib']])], input=source.encode(), check=True)"""),
    "device code": (None, None, """
piece = rng.choice([struct.pack('<IHHQ', 0xBA55ED50, 1, 16, rng.choice([0, 16, 1 << 63,
    2 ** 64 - 1])) + rng.randbytes(rng.randrange(4096)),
    rng.randbytes(rng.randrange(1, 9000)), struct.pack('<IIQQ', 0x466243b1, 1, 0, 0)])
open('fat', 'wb').write(piece * rng.randint(1, 50))
subprocess.run(['objcopy', '--add-section', '.nv_fatbin=fat', '--set-section-flags', '.nv_fatbin=alloc,readonly', OUT],
    check=True)"""),
    "needs other libraries": (None, None, """
subprocess.run(['gcc', '-shared', '-fPIC', '-o', OUT, '-x', 'c', '/dev/null', '-x', 'none', '-Wl,--no-as-needed',
    '-Wl,-rpath,' + FOLDER, '-Wl,-soname,../../x', './good.so', '-lm'], check=True)"""),
}
NEED_A_DISK = "fills the disk", "fills the disk, unlinked", "files", "a large file"  # a small one


class Outside:
    """What exists only outside of the sandbox: a file, an environment, a command line, listeners, a memory segment."""

    def __init__(self, folder):
        self.folder, self.canary = folder, "canary-" + secrets.token_hex(12)
        for path in (folder / "secret", folder / "state-secret", pathlib.Path("/dev/shm", f"flopwatch-{os.getpid()}")):
            path.write_text(self.canary)
            path.chmod(0o644)
        self.in_memory = path
        self.tcp, self.unix, self.abstract = socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self.tcp.bind(("127.0.0.1", 0))
        self.unix.bind(str(folder / "s"))
        os.chmod(folder / "s", 0o666)
        self.name = "flopwatch-" + self.canary[:16]
        self.abstract.bind("\0" + self.name)
        for listener in (self.tcp, self.unix, self.abstract):
            listener.listen()
            listener.setblocking(False)
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        self.segment = libc.shmget(0, 4096, 0o1666)
        ctypes.memmove(ctypes.c_void_p(libc.shmat(self.segment, None, 0)), self.canary.encode(), len(self.canary))
        self.sleeper = subprocess.Popen(["python3", "-c", "import time; time.sleep(100000)", self.canary])
        self.env = {"SECRET_" + self.canary[-8:]: self.canary}
        self.before = self.state()

    def state(self):
        """Objects of the machine that outlive processes."""
        tables = [re.findall(r"^ +0x666c\w+|^ *17\d{8} .*", pathlib.Path("/proc/sysvipc", t).read_text(), re.M) for t
            in ("shm", "sem", "msg")]
        planted = [str(p) for top in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", self.folder / "cache", self.folder)
            for p in pathlib.Path(top).glob("planted-*")]
        return tables, planted, sorted(pathlib.Path("/proc/self/mountinfo").read_text().splitlines())

    def faults(self, text):
        faults = ["it has read what is outside"] * (self.canary in text)
        faults += [f"it reached {line}" for line in re.findall(r"ESCAPED (.*)", text)[:5]]
        for name, listener in (("TCP", self.tcp), ("a socket", self.unix), ("an abstract socket", self.abstract)):
            try:
                listener.accept()[0].close()
                faults.append(f"it reached {name}")
            except OSError:
                pass
        if until(lambda: self.state() == self.before, 2) is not True:
            faults.append(f"it left {[x for a, b in zip(self.state(), self.before) if a != b for x in a if x not in b][:5]}")
        return faults

    def end(self):
        self.sleeper.kill()
        self.sleeper.wait()
        ctypes.CDLL(None).shmctl(self.segment, 0, None)
        self.in_memory.unlink()


def strangers(outside, children):
    """Processes that are neither of flopwatch nor of this script."""
    found = []
    for pid in descendants():
        command = command_of(pid)
        if command and pid not in (*children, outside.sleeper.pid) and pathlib.PurePath(command.split(" ")[0]).name not in OURS:
            found.append(command)
    return found


def push(folder, n, limit, script):
    git = lambda *words: subprocess.run(["git", "-C", folder / "kernels", *words], check=True, capture_output=True,
        text=True).stdout.strip()
    git("checkout", "-q", "-f", "-B", f"b{n}", "main")
    kernels = folder / "kernels/kernels"
    (kernels / "hostile.py").write_text(script)
    lines = "all:", "mkdir -p build/$(DEVICE)", "cp good.so build/$(DEVICE)/libattention.so", "python3 hostile.py"
    (kernels / "Makefile").write_text("\n\t".join(lines) + "\n")
    manifest = folder / "kernels/.flopwatch.yaml"
    manifest.write_text(manifest.read_text().replace("build: {", f"build: {{timeout_s: {limit}, "))
    git("add", "-A")
    git("commit", "-q", "-m", f"build {n}")
    git("push", "-q", "--force", "origin", f"HEAD:refs/heads/b{n}")
    return git("rev-parse", "HEAD")


def faults(daemon, outside, n, kind):
    limit, expected, script = KINDS[kind]
    if kind == "looks for earlier ones" and (found := faults(daemon, outside, n - 1, "plants")):
        return found
    limit = limit or 60
    head = HEAD + f"PORT, NAME, FOLDER = {outside.tcp.getsockname()[1]}, {outside.name!r}, {str(outside.folder)!r}\n"
    sha = push(daemon.folder, n, limit, f"N = {n}\n" + head + script.strip("\n") + "\n")
    ended = lambda: daemon.rows("""SELECT id, state, coalesce(state_why, ''), attempt FROM job
        WHERE target_sha = ? AND state IN ('done', 'failed')""", sha)
    if not until(ended, limit + 2 * GRACE_S + 60):
        return [f"not judged: {daemon.rows('SELECT state, state_why FROM job WHERE target_sha = ?', sha)}"]
    job, state, why, attempt = ended()[0]
    status, text = daemon.request("GET", f"/api/v1/jobs/{job}/log")
    text, found = text.decode(errors="replace"), []
    reason = REASON.search(text)
    if attempt != 1 and not kind.startswith("ends its"):  # killed by a signal that others send as well
        found.append(f"{attempt} attempts, {state}: {why}")
    if state != "done" and not why:
        found.append("it failed without a reason")
    if reason and float(reason[1]) > limit + GRACE_S:
        found.append(f"the build took {reason[1]} s, its limit is {limit} s")
    if expected and not re.search(expected, text):
        found.append(f"{state}, without the reason {expected}: {[line[-150:] for line in text.splitlines()[-3:]]} {why}")
    elif expected == "" and (reason or state != "done"):
        found.append(f"{state}: {why} {text[reason.start():reason.start() + 200] if reason else text[-200:]}")
    if "Traceback" in text and not expected:
        found.append(f"its script failed: {text[text.index('Traceback'):][:400]!r}")
    found += outside.faults(text + why)
    if not until(lambda: not strangers(outside, [daemon.process.pid]), 2):
        found.append(f"processes are left: {strangers(outside, [daemon.process.pid])[:5]}")
    left = [str(p) for pattern in ("job*", "side*", "trial*") for p in (daemon.folder / "cache").glob(pattern)
        if any(p.iterdir())]
    left += [str(p) for p in (daemon.folder / "cache").rglob("*") if p.is_fifo() or p.is_socket() or p.is_symlink()
        or p.is_block_device()
        or p.is_char_device() or p.stat().st_mode & 0o6000]
    if left:
        found.append(f"files are left: {left[:5]}")
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    campaign, outside = Campaign("builds", 15), Outside(folder)
    daemon = Daemon(folder, outside.env)
    kinds = [k for k in KINDS if k not in NEED_A_DISK or (folder / "own-disk").exists()]
    try:
        if not daemon.start() or not until(lambda: daemon.rows("SELECT 1 FROM comparison")):
            sys.exit(f"main is not judged: {daemon.last_lines()}")
        for n, _ in campaign.trials():
            kind = kinds[n * 7 % len(kinds)]
            campaign.count(kind, faults(daemon, outside, n, kind))
        if daemon.end(signal.SIGTERM) != 0:
            campaign.count("the end", [f"flopwatchd ends with {daemon.process.returncode}"])
    finally:
        outside.end()
    campaign.finish()


main()
