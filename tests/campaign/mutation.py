#!/usr/bin/env python3
"""mutation.py - part `mutation` of the campaign: one change of the source, which a test must detect.

mutation.py [--list FILE]

Trial n draws a folder of FOLDERS, a file of it and a place in that file, by n alone, and changes this place (mutants.py).
A trial survives if the mutant was killed: a test failed, or did not end in time, or the compiler warned. A mutant that
does not compile, one whose optimised object is the same, and one of equivalent_mutants.csv are none: the trial draws
again. Each mutant that no test killed is printed as FILE:LINE: before -> after.

The build is a clone of the last commit under build/mutation, whose tests run in namespaces of their own: they see the
machine's files read-only, and none of its processes. `known.json` there has the results, so a mutant that a test killed
is not run again while its file and that test are the same; another one is, if a test or the map below was changed.

Environment, besides that of campaign.py: MUTATION_STAGES, how many of the stages of FOLDERS run (4; 1 the folder's own
tests in C, which takes seconds a mutant); MUTATION_LOG, a file that gets a line for each trial, with the test that killed
its mutant; MUTATION_DIR, another place for the build.
"""
import contextlib
import csv
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

from campaign import ROOT, Campaign
from mutants import Places, mutant_line

WORK = pathlib.Path(os.environ.get("MUTATION_DIR") or ROOT / "build/mutation")
TREE = WORK / "tree"
EQUIVALENT = ROOT / "tests/campaign/equivalent_mutants.csv"
FLAGS = ["-std=c17", "-D_GNU_SOURCE", '-DFW_VERSION="0"', "-Idaemon", "-I.", "-Ibuild"]
DRAWS = 100  # of one trial, at most
SLOWEST = 400  # lines; a longer file is drawn as often as one of this length
COMPILE_S, TEST_S = 120, 600  # a test without a mutant
KILLED_LEAST = 0.9

# What a mutant of a folder must get past: tests in C of the first list, those of the second, the first with ASan and UBSan,
# and scripts.
FOLDERS = {
    "stats": {
        "files": ["daemon/stats/*.c"],
        "unit": ["stats/*", "verdict/*"],
        "more": ["flopwatchd/test_trend", "flopwatchd/test_bisect_search", "flopwatchd/test_judge*", "worker/test_alone",
                 "worker/test_measure*", "db/test_store_baseline_period"],
        "scripts": ["flopwatchd/test_history.sh", "flopwatchd/test_tail_alert.sh", "flopwatchd/test_device_time.sh"],
    },
    "verdict": {
        "files": ["daemon/verdict/*.c"],
        "unit": ["verdict/*"],
        "more": ["flopwatchd/test_judge*", "flopwatchd/test_job_record", "flopwatchd/test_result*", "worker/test_measure*",
                 "worker/test_sustain", "web/test_page_comparison", "web/test_cell_pictures", "web/test_explanation", "web/test_report"],
        "scripts": ["flopwatchd/test_commit_verdicts.sh", "flopwatchd/test_costs.sh", "flopwatchd/test_peers.sh"],
    },
    "model": {
        "files": ["daemon/model/*.c"],
        "unit": ["model/*", "verdict/test_peer_ratio", "verdict/test_cost"],
        "more": ["protocol/*", "flopwatchd/test_plan", "flopwatchd/test_config*", "flopwatchd/test_job_record",
                 "flopwatchd/test_result*", "flopwatchd/test_profile_queue", "flopwatchd/test_store_peer", "worker/test_build",
                 "worker/test_c_form", "worker/test_peer", "worker/test_sessions", "readers/*"],
        "scripts": ["flopwatchd/test_suites.sh", "flopwatchd/test_toolchains.sh", "flopwatchd/test_split.sh",
                    "families/test_linear.sh"],
    },
    "web access": {
        "files": ["web/answer/access.c", "web/answer/login.c", "web/answer/write.c", "web/answer/idempotent.c",
                  "web/api/token.c", "web/api/hook.c", "web/http/http.c", "web/http/rate.c", "web/http/request.c",
                  "web/http/route.c"],
        "unit": ["web/test_access", "web/test_http*", "web/test_rate", "web/test_route", "web/test_hook", "web/test_site*", "web/test_hostile"],
        "more": ["web/*", "flopwatchd/test_control", "flopwatchd/test_approval", "flopwatchd/test_forge"],
        "scripts": ["campaign/test_access.sh", "campaign/test_http.sh", "web/test_https.sh"],
    },
    "sandbox": {
        "files": ["daemon/worker/sandbox/*.c"],
        "unit": ["worker/test_beneath", "worker/test_build", "worker/test_cache", "worker/test_kernelcode",
                 "worker/test_loadable", "worker/test_oomkills", "worker/test_outside", "worker/test_peer", "worker/test_pump",
                 "worker/test_resources", "worker/test_sandbox", "worker/test_treediff", "worker/test_unpack", "worker/fuzz_*",
                 "worker/test_image", "worker/test_c_form", "worker/test_compilers", "worker/test_room", "worker/test_output_tail",
                 "worker/test_workdir"],
        "more": ["worker/*"],
        "scripts": ["worker/test_identities.sh", "worker/test_read_only.sh", "worker/test_leaked_processes.sh",
                    "worker/test_unusual_programs.sh", "flopwatchd/test_toolchains.sh"],
    },
}
# Files with tests of their own.
OWN = {"web/answer/login.c": {"unit": ["web/test_login"], "more": [], "scripts": ["web/test_login_oidc.sh"]}}
# How tests run: the machine is read-only but for TREE and /tmp, and none of its processes can be reached. Arguments after TREE:
# CPU seconds, seconds and file of each test; ends at the first that fails.
ALONE = """cd "$1" && mount --make-rprivate / && mount -t tmpfs tmpfs /tmp && mkdir -p "$1" && mount -c --bind . "$1" &&
mount -o remount,bind,ro / && cd "$1" && shift || exit 2
while [ $# != 0 ]; do
	case $3 in *.sh) with=bash ;; *) with= ;; esac
	(ulimit -c 0; ulimit -t "$1"; exec timeout -s KILL "$2" $with "$3") >/tmp/out 2>&1 </dev/null &
	test=$!
	(while sleep 0.3; do grep '^not ok ' /tmp/out | grep -qv '# SKIP' && kill $test && exit; done) & # the rest of a failed test may hang
	watch=$!
	wait $test
	status=$?
	kill $watch
	if [ $status != 0 ] || grep '^not ok ' /tmp/out | grep -qv '# SKIP'; then
		echo "failed: $status $3"
		cat /tmp/out
		exit 1
	fi
	shift 3
done"""
ENDED = ("137", "152")  # by a limit
COMPILER_SAYS = r"^\S+:\d+:(?:\d+:)? error: (.*)"  # about a line; `fatal error` is one of the machine


def digest(*paths):
    text = hashlib.sha256()
    for path in paths:
        text.update(path.read_bytes())
    return text.hexdigest()[:16]


class Running:
    """The command that runs in TREE. A signal ends it with its children; none begins afterwards."""
    process, is_stopped = None, False

    @classmethod
    def stop(cls, *_):
        cls.is_stopped = True
        if cls.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(cls.process.pid, signal.SIGKILL)


def run(*command, seconds=COMPILE_S, env=None):
    """(exit status, output) of a command in TREE; 124 after `seconds`. KeyboardInterrupt if a signal has ended it."""
    process = subprocess.Popen(command, cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=dict(os.environ, **(env or {})), start_new_session=True)
    Running.process = process
    if Running.is_stopped:
        Running.stop()
    try:
        out, _ = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        status = 124
    Running.process = None
    if Running.is_stopped:
        raise KeyboardInterrupt
    return status, out.decode(errors="replace")


def make(*goals, **options):
    return run("make", "--no-print-directory", "-k", *goals, **options)


class Tests:
    """The tests that a mutant must pass, in the order in which they run."""

    def __init__(self, known):
        self.seconds, self.waits = known.setdefault("seconds", {}), known.setdefault("waits", {})  # of the CPU, of the clock
        self.files = sorted(str(p.relative_to(TREE / "tests")) for p in TREE.glob("tests/*/*") if re.match(
            r"(test|fuzz)_\w+\.(c|sh)$", p.name))

    def named(self, patterns, end):
        return [f[:-len(end)] for p in patterns for f in self.files if f.endswith(end) and fnmatch.fnmatch(f[:-len(end)], p)]

    def stages(self, folder, file):
        """[(variant of make, names of tests)]"""
        row = dict(FOLDERS[folder])
        row.update(OWN.get(file, {}))
        unit, more = self.named(row["unit"], ".c"), self.named(row["more"], ".c")
        more = [t for t in more if t not in unit]
        return [("unit", unit), ("unit", more), ("san", unit), ("script", [s for s in row["scripts"] if s in self.files])]

    def digest(self, variant, test):
        source = TREE / "tests" / (test if variant == "script" else test + ".c")
        return digest(source) if source.exists() else ""

    def map_digest(self, folder, file):
        text = "".join(v + t + self.digest(v, t) for v, tests in self.stages(folder, file) for t in tests)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def sorted(self, variant, tests, file):
        """Those that name the file first, then the short ones."""
        stem = pathlib.Path(file).stem

        def key(test):
            text = (TREE / "tests" / (test if variant == "script" else test + ".c")).read_text()
            return not (test.endswith("test_" + stem) or f"{stem}.c" in text[:300]), self.seconds.get(f"{variant} {test}", 0)
        return sorted(tests, key=key)

    def failed(self, variant, tests):
        """(test, what failed) of the first of these tests that fails, or None."""
        if not tests:
            return None
        # no ccache, whose files tests cannot write
        path = ":".join(p for p in os.environ["PATH"].split(":") if "ccache" not in p)
        env = {"PATH": path, "FW_BIN": str(TREE / "build/bin"), "CMOCKA_MESSAGE_OUTPUT": "TAP", "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive",
               "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1"}
        files = {f"tests/{t}" if variant == "script" else f"build/{variant}/tests/{t}": t for t in tests}
        limits, most = [], 60
        for file, test in files.items():
            cpu, waits = self.seconds.get(f"{variant} {test}"), self.waits.get(f"{variant} {test}")
            seconds = TEST_S if waits is None else int(30 + 6 * waits)
            limits += [str(TEST_S if cpu is None else int(10 + 4 * cpu)), str(seconds), file]
            most += seconds
        spaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"] + ([] if os.getuid() == 0 else ["--map-root-user"])
        status, out = run("unshare", *spaces, "sh", "-c", ALONE, "sh", str(TREE), *limits, seconds=most, env=env)
        self.output = out
        if status == 0:
            return None
        found = re.search(r"^failed: (\d+) (.*)", out, re.M)
        if not found:
            raise RuntimeError(f"the tests could not be started: {out[-500:]}")
        bad = re.search(r"^not ok \d+ - (?!.*# SKIP)(.*)", out, re.M)
        return files[found[2]], "no end" if found[1] in ENDED else bad[1] if bad else f"status {found[1]}"

    def measure(self, variant, tests):
        """Run them without a mutant; the failed ones are not used."""
        for test in tests:
            name = f"{variant} {test}"
            if name in self.seconds:
                continue
            began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            failed = self.failed(variant, [test])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.seconds[name], self.waits[name] = (None, None) if failed else (round(cpu, 2), round(time.monotonic() - began, 1))
            if failed:
                print(f"# not used, since it fails without a mutant: {name}: {failed[1]}", flush=True)
                (WORK / "unused.log").open("a").write(f"== {name}\n{self.output}\n")


def goals(variant, tests):
    """Arguments of make for these tests, whose libraries it makes with them."""
    if variant == "script":
        return ["all"]
    return ["UNIT=1" if variant == "unit" else "SANITIZE=1", *(f"build/{variant}/tests/{t}" for t in tests)]


class Mutation:
    def __init__(self, campaign):
        self.campaign = campaign
        WORK.mkdir(parents=True, exist_ok=True)
        self.known_file = WORK / "known.json"
        self.known = json.loads(self.known_file.read_text()) if self.known_file.exists() else {}
        self.mutants = self.known.setdefault("mutants", {})
        self.clone()
        self.tests = Tests(self.known)
        self.built, self.places = set(), {}
        self.counts = {folder: [0, 0] for folder in FOLDERS}
        self.none = {"does not compile": 0, "same object": 0, "equivalent": 0}
        self.equivalent = set()
        if EQUIVALENT.exists():
            with EQUIVALENT.open(newline="") as f:
                self.equivalent = {(row["file"], row["before"], row["after"]) for row in csv.DictReader(f)}

    def save(self):
        new = self.known_file.with_suffix(".new")
        new.write_text(json.dumps(self.known, indent=0))
        new.replace(self.known_file)

    def clone(self):
        if not TREE.exists():
            subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(ROOT), str(TREE)], check=True)
        commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
        subprocess.run(["git", "fetch", "-q", "origin", "HEAD"], cwd=TREE, check=True)
        subprocess.run(["git", "checkout", "-q", "-f", "--detach", commit], cwd=TREE, check=True)
        os.makedirs(TREE / "build", exist_ok=True)
        make("-n", "UNIT=1", "help")  # writes build/families.h

    def prepare(self, variant, tests):
        """Build the tests of a stage, and run them without a mutant."""
        new = [t for t in tests if (variant, t) not in self.built]
        if not new:
            return
        status, out = make(*goals(variant, new), seconds=3600)
        if status != 0:
            sys.exit(f"mutation.py: the build without a mutant failed:\n{out[-3000:]}")
        if not (TREE / "build/bin/flopwatch-worker").exists() or not (TREE / "build/tests/modules").exists():
            make("all", "modules", seconds=3600)  # some tests in C start or load them
        self.tests.measure(variant, new)
        self.built |= {(variant, t) for t in new}
        self.save()

    def draw(self, random):
        """(folder, file, place); a long file is drawn more often than a short one."""
        folder = random.choice(list(FOLDERS))
        files = sorted({str(p.relative_to(TREE)) for pattern in FOLDERS[folder]["files"] for p in TREE.glob(pattern)})
        while True:
            file = random.choice(files)
            if file not in self.places:
                self.places[file] = self.parse(file)
            text, found = self.places[file]
            if found and random.random() * SLOWEST < text.count(b"\n"):
                break
        start, end, kind = random.choice(sorted({(s, e, k) for s, e, _, k in found}))
        return folder, file, random.choice([p for p in found if (p[0], p[1], p[3]) == (start, end, kind)])

    def parse(self, file):
        here = os.getcwd()
        os.chdir(TREE)
        try:
            places = Places(pathlib.Path(file), file, FLAGS)
        finally:
            os.chdir(here)
        return places.text, places.found

    def optimised(self, file):
        """The object of the file, without the lines of its source; None if it does not compile."""
        out = WORK / "optimised.o"
        status, _ = run("gcc", *FLAGS, "-O2", "-g0", "-w", "-c", "-o", str(out), file)
        return out.read_bytes() if status == 0 else None

    def tried(self, folder, file, place):
        """How it was killed; "" if it was not; None if it is no mutant."""
        text = self.places[file][0]
        start, end, new, kind = place
        line, before, after = mutant_line(text, start, end, new)
        if (file, before, after) in self.equivalent:
            self.none["equivalent"] += 1
            return None
        key = f"{file} {hashlib.sha256(text).hexdigest()[:16]} {start} {end} {new.decode()}"
        row = self.mutants.get(key)
        if row and row["none"]:
            self.none[row["none"]] += 1
            return None
        if row and (row["test"] and self.tests.digest(*row["test"]) == row["digest"] or row["by"] == "compiler" or
                    not row["by"] and row["digest"] == self.tests.map_digest(folder, file)):
            return row["by"]
        row = self.mutants[key] = {"line": line, "before": before, "after": after, "kind": kind, "none": "", "by": "", "test": None,
                                   "digest": "", "folder": folder}
        source = TREE / file
        try:
            source.write_bytes(text[:start] + new + text[end:])
            self.kill(row, folder, file)
            if row["by"] == "compiler" and self.optimised(file) is None:
                row["none"] = "does not compile"
            if not row["by"]:
                changed = self.optimised(file)
                source.write_bytes(text)
                row["none"] = "same object" if changed == self.optimised(file) else ""
        except BaseException:
            del self.mutants[key]
            raise
        finally:
            source.write_bytes(text)
        if row["none"]:
            self.none[row["none"]] += 1
            return None
        return row["by"]

    def kill(self, row, folder, file):
        for variant, tests in self.stages(folder, file):
            status, out = make(*goals(variant, tests), seconds=1200)
            if status != 0:
                found = re.search(COMPILER_SAYS, out, re.M)
                if not found:  # a full disk, a compiler that the kernel killed, a limit
                    raise RuntimeError(f"make ends with {status}, and no compiler says why: {out[-500:]}")
                row.update(by="compiler", what=found[1])
                return
            usable = [t for t in tests if self.tests.seconds.get(f"{variant} {t}") is not None]
            failed = self.tests.failed(variant, self.tests.sorted(variant, usable, file))
            if failed:
                row.update(by=f"{variant} {': '.join(failed)}", test=[variant, failed[0]],
                           digest=self.tests.digest(variant, failed[0]))
                return
        row["digest"] = self.tests.map_digest(folder, file)

    def stages(self, folder, file):
        last = int(os.environ.get("MUTATION_STAGES") or 4)
        return [s for s in self.tests.stages(folder, file)[:last] if s[1]]

    def trial(self, n, random):
        for _ in range(DRAWS):
            folder, file, place = self.draw(random)
            for variant, tests in self.stages(folder, file):
                self.prepare(variant, tests)
            began = time.monotonic()
            by = self.tried(folder, file, place)
            if by is None:
                continue
            line, before, after = mutant_line(self.places[file][0], *place[:3])
            self.counts[folder][0] += 1
            self.counts[folder][1] += bool(by)
            if os.environ.get("MUTATION_LOG"):
                with open(os.environ["MUTATION_LOG"], "a") as f:
                    f.write(f"{n}\t{folder}\t{file}:{line}\t{before}\t{after}\t{by}\t{time.monotonic() - began:.1f}\n")
            self.campaign.count(f"{file}:{line}: {before} -> {after}", [] if by else ["no test fails"])
            self.save()
            return
        raise RuntimeError(f"trial {n}: no mutant in {DRAWS} draws")


def listed(file):
    places = Places(pathlib.Path(file), file, FLAGS)
    for start, end, new, _ in places.found:
        line, before, after = mutant_line(places.text, start, end, new)
        print(f"{line}: {before} -> {after}")


def main():
    if sys.argv[1:2] == ["--list"]:
        return listed(sys.argv[2])
    campaign = Campaign("mutation", 20)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: (campaign.stop(), Running.stop()))
    os.nice(19 - os.nice(0))
    mutation = Mutation(campaign)
    try:
        for n, random in campaign.trials():
            mutation.trial(n, random)
    except KeyboardInterrupt:  # the trial at work is not counted
        pass
    for folder, (tried, killed) in mutation.counts.items():
        print(f"# {folder}: {killed} of {tried} mutants were killed")
    print(f"# drawn again: {', '.join(f'{n} {what}' for what, n in mutation.none.items())}")
    share = (campaign.tried - campaign.failed) / max(campaign.tried, 1)
    print("campaign mutation", campaign.tried, campaign.tried - campaign.failed, campaign.failed)
    sys.exit(share < KILLED_LEAST)


if __name__ == "__main__":
    main()
