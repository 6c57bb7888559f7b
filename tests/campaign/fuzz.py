#!/usr/bin/env python3
"""fuzz.py NAME: part fuzz-NAME of the reliability campaign: libFuzzer searches with tests/*/fuzz_NAME.c, in one process.

It begins with the inputs that the fuzzer replays as a test and with those that earlier searches found (build/fuzz/corpus/NAME,
which grows), and ends at the first finding: a crash, a report of ASan or UBSan, a leak, an input that takes more than 5 s of
processor time, a minute alone, or more than 2 GiB of memory. The input is then in build/fuzz/findings/. A trial is one input.
The environment is that of campaign.py; the last line has the seconds of processor time as well.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUT_S, HANG_S, MEMORY_MIB = 5, 60, 2048
LENGTHS = {"kernelcode": 65536, "unpack": 16384, "request": 8192}  # of the longest input; others have 4096 bytes
LINE = re.compile(r"finding: (.*)|ERROR: \w+Sanitizer: (.*)|(.*runtime error: .*)|ERROR: libFuzzer: (.*)|Test unit written to (.*)")


def build(source):
    """Build the fuzzer with clang, and return its path."""
    binary = ROOT / "build/fuzz" / source.relative_to(ROOT).with_suffix("")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
    made = subprocess.run(["nice", "-n", "19", "make", "--no-print-directory", f"-j{os.cpu_count()}", "LIBFUZZER=1", "CC=clang-14",
        binary.relative_to(ROOT)], cwd=ROOT, env=environment, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"fuzz.py: {source.name} does not compile with clang-14:\n{made.stdout}{made.stderr}")
    return binary


def inputs(source):
    """Files and folders that the fuzzer replays as a test."""
    listed = re.search(r"folders\[\] = \{(.*?)\}", source.read_text(), re.S)
    return [ROOT / path for path in re.findall(r'"([^"]+)"', listed.group(1))] if listed else []


def run(command, log, corpus):
    """Run a fuzzer at the lowest priority; it ends with this process. Returns its exit status and its processor time."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with open(log, "wb") as out, tempfile.TemporaryDirectory(prefix="fw-fuzz-", dir=memory) as folder:
        child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "nice", "-n", "19", *command], cwd=ROOT, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL, env={**os.environ, "FUZZ_INPUTS": str(corpus), "FUZZ_FOLDER": folder})
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # the folder is removed after its last user
            child.kill()
            child.wait()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the folder of run() is removed
    name = sys.argv[1]
    source = next(iter(ROOT.glob(f"tests/*/fuzz_{name}.c")), None) or sys.exit(f"fuzz.py: tests/*/fuzz_{name}.c does not exist")
    binary = build(source)
    corpus, findings, log = (ROOT / "build/fuzz" / folder / name for folder in ("corpus", "findings", "logs"))
    first, tried, failed, cpu_s, why = int(os.environ.get("CAMPAIGN_FIRST") or 1), 0, 0, 0.0, []
    end = time.monotonic() + float(os.environ.get("CAMPAIGN_SECONDS") or 60)
    for folder in (corpus, findings, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    while not failed and (tried == 0 or end - time.monotonic() >= 1):
        files = [path for given in inputs(source) for path in ([given] if given.is_file() else sorted(given.iterdir())) if path.is_file()]
        for path in files:
            (corpus / f"given-{path.parent.name}-{path.name}").write_bytes(path.read_bytes())
        status, used_s = run([str(binary), f"-seed={(first + tried) % (1 << 31)}", f"-max_total_time={max(1, int(end - time.monotonic()))}",
            f"-max_len={LENGTHS.get(name, 4096)}", f"-timeout={INPUT_S}", f"-rss_limit_mb={MEMORY_MIB}", "-print_final_stats=1",
            "-reload=0", f"-artifact_prefix={findings}/", str(corpus)], log, corpus)
        text = log.read_text(errors="replace")
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        cpu_s += used_s
        tried += int(executed.group(1)) if executed else 1
        if status == 0:
            continue
        found = [next(part for part in line if part) for line in LINE.findall(text)]
        path = next((pathlib.Path(part) for part in found if part.startswith(str(findings))), None)
        # its clock is the wall's, and the machine may be busy: one alone counts by processor time, or if it hangs or crashes
        if path and path.name.startswith(("timeout-", "slow-unit-")):
            status_alone, alone_s = run([str(binary), f"-timeout={HANG_S}", str(path)], log, corpus)
            if status_alone == 0 and alone_s <= INPUT_S:
                path.unlink()
                continue
        failed, why = 1, found or [f"exit status {status}, see {log}"]
    for line in why:
        print(f"# fuzz-{name}: {line}"[:1000])
    print(f"campaign fuzz-{name} {tried} {tried - failed} {failed} {round(cpu_s)}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
