#!/usr/bin/env python3
"""repositories.py FOLDER: repositories that are broken, strange or huge, or that change while they are read.

FOLDER is made by test_git.sh. Each trial adds one repository to the configuration, by path or by file://, and reloads.
Soon it has a state: an error, which its page and `flopwatch status` show, or jobs that end, with a reason if they fail.
Meanwhile the daemon answers, and pushes to another repository are judged.
"""
import html
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from campaign import Campaign, Daemon, until

STATE_S, BLOCKED_S, HONEST_EVERY = 300, 3, 6  # the second in CPU seconds: a busy machine has other work as well
ERROR, FAILED, DONE, ANY = "error", "failed", "done", "any"


class Repository:
    """A copy of FOLDER/lines.git with a second branch, `side`."""

    def __init__(self, folder, name, rng):
        self.folder, self.name, self.rng, self.bare = folder, name, rng, folder / f"{name}.git"
        shutil.copytree(folder / "lines.git", self.bare)
        self.main = self.git("rev-parse", "main")
        self.script = b"echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'\n"

    def git(self, *words, data=None):
        return subprocess.run(["git", "--git-dir", self.bare, *words], check=True, capture_output=True,
            input=data).stdout.strip().decode()

    def write(self, kind, data, *more):
        return self.git("hash-object", "-w", "--stdin", "-t", kind, "--literally", *more, data=data)

    def tree(self, *entries):
        """(mode, name, sha); they replace those of main with the same name."""
        names = {name for _, name, _ in entries}
        lines = [line for line in self.git("ls-tree", "main").splitlines() if line.split("\t")[1] not in names]
        kinds = {"40000": "tree", "160000": "commit"}
        lines += [f"{mode} {kinds.get(mode, 'blob')} {sha}\t{name}" for mode, name, sha in entries]
        return self.git("mktree", "--missing", data="".join(line + "\n" for line in lines).encode())

    def commit(self, tree, parents=None, text="x"):
        parents = [self.main] if parents is None else parents
        head = f"tree {tree}\n" + "".join(f"parent {p}\n" for p in parents)
        return self.write("commit", f"{head}author a <a> 1750000000 +0000\ncommitter a <a> 1750000000 +0000\n\n{text}\n".encode())

    def set(self, branch, sha):
        path = self.bare / "refs/heads" / branch
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sha + "\n")

    def manifest(self, text):
        """A branch with this manifest."""
        data = text if isinstance(text, bytes) else text.encode()
        self.set("side", self.commit(self.tree(("100644", ".flopwatch.yaml", self.write("blob", data)))))

    def objects(self):
        return sorted(p for p in (self.bare / "objects").rglob("*") if p.is_file() and len(p.parent.name) == 2)

    def pack(self):
        self.git("repack", "-adq")
        return next((self.bare / "objects/pack").glob("*.pack")), next((self.bare / "objects/pack").glob("*.idx"))


def damage(rng, path):
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    how = rng.choice(("flip", "cut", "zero", "empty", "more"))
    if how == "flip":
        for _ in range(rng.randint(1, 30)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del data[rng.randrange(len(data)):]
    elif how == "zero":
        at = rng.randrange(len(data))
        data[at:at + 4096] = bytes(len(data[at:at + 4096]))
    elif how == "empty":
        data = b""
    else:
        data += rng.randbytes(1000)
    path.write_bytes(data)


def shallow(r):
    shutil.rmtree(r.bare)
    subprocess.run(["git", "clone", "-q", "--bare", "--depth", "1", f"file://{r.folder}/lines.git", r.bare], check=True,
        capture_output=True)
    r.set("side", r.commit(r.tree(("100644", "x", r.write("blob", b"x"))), parents=[]))


def alternates(r):
    what = r.rng.choice(("missing", "own", "elsewhere", "many", "text"))
    lines = {"missing": "/nonexistent/objects\n", "own": f"{r.bare}/objects\n", "elsewhere": f"{r.folder}/lines.git/objects\n",
        "many": f"{r.folder}/lines.git/objects\n" * 2000, "text": "\0\n\xff\n../../..\n"}
    (r.bare / "objects/info").mkdir(exist_ok=True)
    (r.bare / "objects/info/alternates").write_text(lines[what])
    if what in ("elsewhere", "many", "missing"):
        for path in r.objects():
            path.unlink()


def corrupt_pack(r):
    damage(r.rng, r.rng.choice(r.pack()))


def corrupt_object(r):
    damage(r.rng, r.rng.choice(r.objects()))


def missing_object(r):
    r.rng.choice(r.objects()).unlink()


def corrupt_ref(r):
    text = r.rng.choice(["", "\n", "0" * 40, "1" * 40, "garbage", "ref: refs/heads/side", "ref: ../../../etc/passwd",
        "ref: HEAD",
        "a" * 100000, "\0" * 40, r.main[:39], r.main.upper(), r.main + "\n" + r.main])
    r.set("side", text)
    if r.rng.random() < 0.3:
        r.set("main", text)


def ref_of_another_kind(r):
    r.set("side", r.rng.choice([r.write("blob", b"x"), r.git("rev-parse", "main^{tree}"),
        r.write("tag", f"object {r.main}\ntype commit\ntag x\ntagger a <a> 1 +0000\n\nx\n".encode())]))


def packed_refs(r):
    text = r.rng.choice([f"{r.main} refs/heads/side\n" * 3, "^" + r.main + "\n", f"{r.main}\n", f"{r.main} refs/heads/../x\n",
        f"{r.main} refs/heads/" + "y" * 5000 + "\n", "\0" * 1000, f"{r.main} refs/heads/side", "# pack-refs with: sorted\nz\n"])
    (r.bare / "packed-refs").write_text(text)


def odd_files(r):
    name = r.rng.choice(["HEAD", "config", "packed-refs", "refs/heads/side", "objects/pack/pack-" + "1" * 40 + ".idx",
        "shallow",
        "refs/heads/main"])
    path, how = r.bare / name, r.rng.choice(("FIFO", "folder", "link", "loop", "device"))
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    if how == "FIFO":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to({"link": "/etc/passwd", "loop": path.name, "device": "/dev/zero"}[how])


def hostile_config(r):
    (r.bare / "config").write_text(r.rng.choice(["[core", "[include]\n\tpath = config\n",
        "[core]\n\trepositoryformatversion = 99\n",
        "[extensions]\n\tunknown = 1\n[core]\n\trepositoryformatversion = 1\n", "\0" * 500, "[core]\n\tbare = maybe\n",
        "[core]\n\thooksPath = /tmp\n\tfsmonitor = touch x91\n\tsshCommand = touch x91\n[filter \"x\"]\n\tsmudge = touch x91\n",
        "[core]\n\tworktree = /etc\n"]))


def sha256(r):
    shutil.rmtree(r.bare)
    work = r.folder / f"{r.name}-work"
    for words in (["init", "-q", "--bare", "-b", "main", "--object-format=sha256", r.bare],
            ["init", "-q", "-b", "main", "--object-format=sha256", work],
            ["-C", work, "commit", "-q", "--allow-empty", "-m", "x"], ["-C", work, "push", "-q", r.bare, "main"]):
        subprocess.run(["git", *words], check=True, capture_output=True)


def reftable(r):
    extension = "[extensions]\n\trefStorage = reftable\n"
    (r.bare / "config").write_text("[core]\n\trepositoryformatversion = 1\n\tbare = true\n" + extension)
    (r.bare / "reftable").mkdir()
    (r.bare / "reftable/tables.list").write_text("")


def empty(r):
    shutil.rmtree(r.bare)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", r.bare], check=True)


def no_repository(r):
    shutil.rmtree(r.bare)
    r.rng.choice([lambda: None, lambda: r.bare.write_text("x"), r.bare.mkdir, lambda: os.mkfifo(r.bare),
        lambda: r.bare.symlink_to(r.bare), lambda: r.bare.write_text("gitdir: /etc\n")])()


def many_branches(r):
    (r.bare / "packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted \n" +
        "".join(f"{r.main} refs/heads/b{i:05}\n" for i in range(20000)))


def many_files(r):
    blob = r.write("blob", b"x")
    lines = "".join(f"100644 blob {blob}\tf{i}\n" for i in range(500)).encode()
    inner = r.git("mktree", data=lines)
    outer = r.git("mktree", data="".join(f"40000 tree {inner}\td{i}\n".replace("40000", "040000") for i in range(100)).encode())
    r.set("side", r.commit(r.tree(("40000", "many", outer))))


def large_object(r):
    size = r.rng.choice([30, 120]) << 20
    r.set("side", r.commit(r.tree(("100644", "large", r.write("blob", bytes(size))))))


def tree_bomb(r):
    """10 folders in each of 8 levels, which are one tree each."""
    sha = r.git("mktree", data=f"100644 blob {r.write('blob', b'x')}\tf\n".encode())
    for _ in range(8):
        sha = r.git("mktree", data="".join(f"040000 tree {sha}\td{i}\n" for i in range(10)).encode())
    r.set("side", r.commit(r.tree(("40000", "bomb", sha))))


def hostile_tree(r):
    blob = bytes.fromhex(r.write("blob", b"x"))
    name = r.rng.choice([b"..", b".", b".git", b".GIT", b"a/b", b"/x", b"", b"x\\y", b"git~1", b".git ", b"c" * 5000, b"\n",
        b"\x1b[2J"])
    main = b"".join(line.split(b" ")[0] + b" " + line.split(b"\t")[1] + b"\0" + bytes.fromhex(line.split()[2].decode())
        for line in r.git("ls-tree", "main").encode().splitlines())
    extra = r.rng.choice([b"100644 ", b"120000 ", b"160000 ", b"100777 ", b"1 "]) + name + b"\0" + blob
    r.set("side", r.commit(r.write("tree", r.rng.choice([main + extra, extra + main, main + main, main[:-3], b"x"]))))


def hostile_commit(r):
    tree = r.git("rev-parse", "main^{tree}")
    who = "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx"
    data = r.rng.choice(["", "x", f"tree {tree}\n", f"tree {'1' * 40}\n{who}", f"tree {tree}\nparent {'2' * 40}\n{who}",
        f"tree {tree}\n" + f"parent {r.main}\n" * 5000 + who, f"tree {tree}\n{who}" + "y" * 6000000,
        f"tree {tree}\nauthor\ncommitter\n\n", f"tree {tree}\nencoding x\n{who}\0\0",
        f"tree {tree}\nauthor a <a> 99999999999999999999 +9999\ncommitter a <a> -1 -9999\n\n"])
    r.set("side", r.write("commit", data.encode()))


def submodule(r):
    text = b"[submodule \"-x\"]\n\tpath = sub\n\turl = ext::touch x91\n"
    r.set("side", r.commit(r.tree(("100644", ".gitmodules", r.write("blob", text)), ("160000", "sub", "3" * 40))))


def manifest_is_odd(r):
    kind = r.rng.choice(["link", "folder", "submodule"])
    sha = {"link": r.write("blob", b"/etc/passwd"), "folder": r.git("rev-parse", "main^{tree}"), "submodule": "4" * 40}[kind]
    r.set("side", r.commit(r.tree(({"link": "120000", "folder": "40000", "submodule": "160000"}[kind], ".flopwatch.yaml",
        sha))))


def bomb(r):
    lines = ["a: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"b{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i
        in range(1, 20)]
    r.manifest(r.rng.choice(["\n".join(lines) + "\n", "flopwatch: 1\n" + "\n".join(lines) + "\n", "&a [*a]\n",
        "flopwatch: &a {x: *a}\n",
        "flopwatch: 1\nbenchmarks: &b {lines: *b}\n", "[" * 100000, "{a: " * 20000, "? " * 50000, "- " * 50000,
            "flopwatch: 1\nx: !!python/x y\n"]))


def wrong_types(r):
    values = ["[]", "{}", "1", "-1", "1e999", ".nan", "null", "true", "''", "x", "[[[]]]", "{a: {b: c}}", "2026-01-01",
        "0x10", "*x", "!!binary x",
        "|\n  x", "99999999999999999999", "[a, b, {c: d}]"]
    keys = ["flopwatch", "inputs", "build", "suites", "benchmarks", "peers", "profile"]
    inner = ["command", "dir", "outputs", "reader", "budget_s", "timeout_s", "artifacts", "unit", "interleave", "unknown",
        "cases"]
    what, value = r.rng.random(), r.rng.choice(values)
    if what < 0.4:
        text = f"flopwatch: 1\n{r.rng.choice(keys)}: {value}\n"
    elif what < 0.7:
        command = "command: [sh, bench.sh], reader: flopwatch"
        text = f"flopwatch: 1\nbenchmarks:\n  lines: {{{command}, {r.rng.choice(inner)}: {value}}}\n"
    else:
        text = f"flopwatch: 1\nbuild: {{{r.rng.choice(inner)}: {value}}}\nsuites: {r.rng.choice(values)}\n"
    r.manifest(text)


def huge_manifest(r):
    n = r.rng.choice([1000, 100000])
    r.manifest(r.rng.choice(["#" * 10000000, "flopwatch: 1\nsuites: [" + ", ".join(f"s{i}" for i in range(n)) + "]\n",
        "flopwatch: 1\nbenchmarks:\n" + "".join(f"  b{i}: {{command: [x]}}\n" for i in range(n)), "x" * 3000000,
        "flopwatch: 1\nbenchmarks: {lines: {command: [" + "y" * 1000000 + "]}}\n"]))


def manifest_of_bytes(r):
    r.manifest(r.rng.choice([b"\0" * 100, b"\xff\xfe" * 100, b"flopwatch: 1\n\tx: y\n", r.rng.randbytes(3000), b"",
        b"\xef\xbb\xbfflopwatch: 1\n",
        b"flopwatch: 1\nflopwatch: 2\n", b"flopwatch: 2\n", b"--- 1\n--- 2\n", b"flopwatch: \x1b[2J\n",
            b"%YAML 9.9\n---\nflopwatch: 1\n"]))


def rewritten(r):
    """Other histories while they are read."""
    for i in range(5):
        r.later.append(lambda i=i: r.set("main", r.commit(r.tree(("100644", "x", r.write("blob", b"%d" % i))), parents=[])))
    r.later.append(lambda: r.set("main", r.main))


def pruned(r):
    r.set("side", r.commit(r.tree(("100644", "x", r.write("blob", b"x")))))
    r.later.append(lambda: ((r.bare / "refs/heads/side").unlink(), r.git("gc", "-q", "--prune=now")))


def vanishes(r):
    r.later.append(lambda: shutil.rmtree(r.bare))


def moves(r):
    r.later.append(lambda: r.bare.rename(r.folder / f"{r.name}-away"))
    r.later.append(lambda: (r.folder / f"{r.name}-away").rename(r.bare))


def locked(r):
    for name in ("HEAD.lock", "packed-refs.lock", "refs/heads/main.lock", "config.lock"):
        (r.bare / name).write_text("")


# what: the states that are right
KINDS = {
    shallow: ANY, alternates: ANY, corrupt_pack: ANY, corrupt_object: ANY, missing_object: ANY, corrupt_ref: ANY,
    ref_of_another_kind: ANY, packed_refs: ANY, odd_files: ANY, hostile_config: ANY, sha256: ERROR, reftable: ERROR, empty: ERROR,
    no_repository: ERROR, many_branches: DONE, many_files: DONE, large_object: ANY, tree_bomb: ANY, hostile_tree: ANY,
    hostile_commit: ANY, submodule: ANY, manifest_is_odd: FAILED, bomb: FAILED, wrong_types: ANY, huge_manifest: FAILED,
    manifest_of_bytes: ANY, rewritten: DONE, pruned: ANY, vanishes: ERROR, moves: DONE, locked: DONE,
}


class Honest:
    """Pushes to another repository, and requests of a page, which must not wait for the hostile one."""

    def __init__(self, daemon):
        self.daemon, self.slowest, self.silent, self.ended = daemon, 0.0, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.ended.wait(0.2):
            began = self.cpu_s()
            self.silent += self.daemon.request("GET", "/healthz", timeout=60)[0] != 200
            self.slowest = max(self.slowest, self.cpu_s() - began)

    def cpu_s(self):
        try:
            fields = pathlib.Path("/proc", str(self.daemon.process.pid), "stat").read_text().rpartition(") ")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return 0  # the end

    def push(self, n):
        folder = self.daemon.folder / "lines"
        git = lambda *words: subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True,
            text=True).stdout.strip()
        git("commit", "-q", "--allow-empty", "-m", f"honest {n}")
        git("push", "-q", "--force", "origin", f"HEAD:refs/heads/honest{n}")
        sha = git("rev-parse", "HEAD")
        ended = lambda: self.daemon.rows("SELECT state FROM job WHERE target_sha = ? AND state IN ('done', 'failed')", sha)
        if not until(ended, STATE_S):
            return [f"an honest push waits: {self.daemon.rows('SELECT state, state_why FROM job WHERE target_sha = ?', sha)}"]
        return [] if ended()[0][0] == "done" else [f"an honest push is {ended()[0][0]}"]


def states(daemon, name):
    """(state of the repository, its error, states and reasons of its jobs), "" while jobs are open."""
    row = daemon.rows("SELECT id, state, error FROM repo WHERE name = ?", name)
    if not row or row[0][1] == "new":
        return None
    jobs = daemon.rows("SELECT state, coalesce(state_why, '') FROM job WHERE repo = ?", row[0][0])
    if any(state in ("queued", "assigned", "building", "checking", "measuring") for state, _ in jobs):
        return None
    return row[0][1], row[0][2], jobs


def faults(daemon, honest, n, rng, build):
    name, found = f"r{n}", []
    r = Repository(daemon.folder, name, rng)
    r.later = []
    build(r)
    is_mirror = rng.random() < 0.4
    config = daemon.folder / "c.yml"
    head = config.read_text().split("repos:")[0]
    tail = "".join(re.findall(r"^profile: .*\n", config.read_text(), re.M))
    repo = f"{{name: {name}, url: {'file://' * is_mirror}{r.bare}, poll: 1 s, fetch_timeout: 20 s}}"
    config.write_text(f"{head.replace(tail, '')}repos: [{{name: lines, url: {daemon.folder}/lines.git}}, {repo}]\n{tail}")
    honest.slowest = 0.0
    daemon.process.send_signal(signal.SIGHUP)
    what = f"{build.__name__}{' by file://' if is_mirror else ''}"
    state = until(lambda: states(daemon, name), STATE_S)
    for step in r.later:
        step()
        time.sleep(rng.random() * 2)
    wanted = KINDS[build]
    right = lambda: (state := states(daemon, name)) and (wanted == ANY or (state[0] == "error" if wanted == ERROR
        else state[0] == "ok" and any(job == wanted for job, _ in state[2]))) and state
    state = until(right, STATE_S) or states(daemon, name)
    if not state:
        rows = daemon.rows("SELECT state, error FROM repo WHERE name = ?", name)
        return what, [f"it has no state: {rows}, {daemon.rows('SELECT state, state_why FROM job ORDER BY id DESC LIMIT 3')}"]
    if not right():
        found.append(f"{wanted} is right, not {state[:2]} with the jobs {state[2][:5]}")
    if daemon.process.poll() is not None:
        return what, [f"the daemon ended: {daemon.last_lines()}"]
    found += [f"a job is {job} without a reason" for job, why in state[2] if job == "failed" and not why]
    if state[0] == "error":
        port = (daemon.folder / "state/port").read_text().strip()
        shown = subprocess.run([daemon.folder / "bin/flopwatch", "--server", f"http://127.0.0.1:{port}", "status", "--repo",
            name],
            capture_output=True, stdin=subprocess.DEVNULL, timeout=60, cwd="/")
        status, page = daemon.request("GET", f"/?repo={name}")
        if not state[1] or state[1][:60].encode() not in shown.stdout:
            found.append(f"flopwatch status does not show the error {state[1]!r}: {(shown.stdout + shown.stderr)[-300:]!r}")
        if status != 200 or state[1][:60] not in html.unescape(page.decode()):
            found.append(f"the page, {status}, does not show the error {state[1]!r}")
    if n % HONEST_EVERY == 1:
        found += honest.push(n)
    if honest.silent:
        found.append(f"{honest.silent} requests of /healthz had no answer")
    if honest.slowest > BLOCKED_S:
        found.append(f"the daemon answered after {honest.slowest:.1f} CPU seconds of other work")
    if list(daemon.folder.rglob("x91")):
        found.append("a command of the repository ran")
    return what, found


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, daemon = Campaign("git", 15), Daemon(folder)
    if not daemon.start() or not until(lambda: daemon.rows("SELECT 1 FROM comparison")):
        sys.exit(f"the daemon does not start: {daemon.last_lines()}")
    honest, kinds = Honest(daemon), list(KINDS)
    try:
        for n, rng in campaign.trials():
            campaign.count(*faults(daemon, honest, n, rng, kinds[n * 7 % len(kinds)]))
            if daemon.process.poll() is not None:
                break
    finally:
        honest.ended.set()
        honest.thread.join()
    if daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {daemon.process.returncode}"])
    campaign.finish()


main()
