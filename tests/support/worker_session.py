"""One session with `flopwatch-worker serve`, instead of the daemon: sends a job and the trees it needs, stores every line.

usage: worker_session.py [options] OUT BASE_DIR TARGET_DIR -- WORKER...

OUT gets the worker's lines, OUT.pid its process; the exit status is the worker's. BASE_DIR and TARGET_DIR become input "kernels" of a side.
"""
import argparse, hashlib, io, json, os, selectors, subprocess, sys, tarfile, time

args = argparse.ArgumentParser()
args.add_argument("--device", default="sim")
args.add_argument("--kind", default="compare")
args.add_argument("--quick", action="store_true")
args.add_argument("--cells", type=int, default=2)
args.add_argument("--limit", action="append", default=[], help="name=value of the job's limits")
args.add_argument("--timeout", type=float, default=60, help="of the build")
args.add_argument("--output", default="build/{device}/libattention.so")
args.add_argument("--cancel-at", help="send cancel after the first line that contains this")
args.add_argument("--stay-at", help="likewise, and have another job when the worker says hello once more")
args.add_argument("--close-at", help="close the input after the first line that contains this")
args.add_argument("--nonsense-at", help="send a broken line after the first line that contains this")
args.add_argument("--bad-tar", action="store_true", help="the target's tree holds an entry that leaves it")
args.add_argument("--no-job", action="store_true", help="close the input instead of sending a job")
args.add_argument("out")
args.add_argument("base")
args.add_argument("target")
args.add_argument("worker", nargs="+")
a = args.parse_args()


def tar(folder, bad):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as t:
        for name in sorted(os.listdir(folder)):
            t.add(os.path.join(folder, name), name, recursive=True)
        if bad:
            info = tarfile.TarInfo("../../escaped")
            info.size = 1
            t.addfile(info, io.BytesIO(b"x"))
    return data.getvalue()


trees = {}


def side(role, folder, bad=False):
    data = tar(folder, bad)
    oid = hashlib.sha1(data).hexdigest()
    trees[oid] = data
    return {
        "role": role,
        "commit": hashlib.sha1(role.encode() + data).hexdigest(),
        "inputs": [{"path": "kernels", "oid": oid}],
        "build": {"dir": "kernels", "command": ["make", "DEVICE={device}"], "outputs": {"attention": a.output}, "timeout_s": a.timeout},
        "provider": "",
    }


def cell(i):
    mask = ["full", "causal"][i // 2 % 2]
    direction = ["forward", "backward"][i % 2]
    return {
        "key": f"attention/dense/{mask}/s64/hq2/hk1/d64/bf16/{direction}", "family": "attention", "direction": direction, "threshold_pct": 1.5,
        "shape": {"mask": mask, "seqlen": 64, "nhq": 2, "nhk": 1, "headdim": 64, "dtype": "bf16", "lengths": [], "block": 0,
                  "sparsity_ratio": 0}, "seed": "42",
    }


limits = {"build_s": 60, "check_s": 60, "run_s": 60, "budget_s": 600, "log_bytes": 65536}
for item in a.limit:
    name, value = item.split("=")
    limits[name] = float(value)
rule = {
    "version": 1, "tau0": 0.0025, "nu0": 6, "k": 3.5, "se_max": 0.003, "runs_ok_min": 2, "runs_regression_min": 4,
    "runs_max": 12, "pairs_min": 4, "pairs_max": 32, "pair_budget_s": 0.4, "beta_min": -1.1,
    "half_width_dense_pct": 0.4, "half_width_sparse_pct": 0.6, "confirm": True,
}

child = subprocess.Popen(a.worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
log = open(a.out, "w", buffering=1)
with open(a.out + ".pid", "w") as f:
    f.write(str(child.pid))
deadline = time.monotonic() + 240
ended = None  # when we requested the end
dones = 0


def send(data):
    try:
        view = memoryview(data)
        while view:
            view = view[child.stdin.write(view):]
    except (BrokenPipeError, ValueError):
        pass


def line(message):
    send(json.dumps(message).encode() + b"\n")


def take(message, text):
    global ended, dones
    if message["t"] == "hello":
        if a.no_job:
            child.stdin.close()
            return
        uuid = next((d["uuid"] for d in message["devices"] if d["kind"] == a.device), "none")
        line({"t": "job", "job": 7, "attempt": 1, "nonce": "n1", "kind": a.kind, "device": uuid, "seed": "123", "quick": a.quick,
              "sides": [side("base", a.base), side("target", a.target, a.bad_tar)], "cells": [cell(i) for i in range(a.cells)],
              "rule": rule, "limits": limits})
    elif message["t"] == "need":
        for oid in message["trees"]:
            line({"t": "tree", "oid": oid, "bytes": len(trees[oid])})
            send(trees[oid])
    if ended is None:
        for word, action in ((a.cancel_at, lambda: line({"t": "cancel"})), (a.stay_at, lambda: line({"t": "cancel", "stay": True})), (a.close_at, child.stdin.close), (a.nonsense_at, lambda: send(b"{nonsense\n"))):
            if word and word in text:
                action()
                ended = time.monotonic()
    if message["t"] == "done":
        dones += 1
        if dones > bool(a.stay_at):
            child.stdin.close()


pending = b""
selector = selectors.DefaultSelector()
selector.register(child.stdout, selectors.EVENT_READ)
while True:
    if not selector.select(1):
        if time.monotonic() > deadline:
            child.kill()
            sys.exit("the session took more than 240 s")
        continue
    data = child.stdout.read(65536)
    if not data:
        break
    pending += data
    *whole, pending = pending.split(b"\n")
    for raw in whole:
        text = raw.decode()
        log.write(text + "\n")
        take(json.loads(text), text)
log.close()
status = child.wait()
if ended is not None and not a.stay_at:
    print(f"ended after {time.monotonic() - ended:.1f} s")
    if time.monotonic() - ended > 5:
        sys.exit("the worker took more than 5 s to end")
sys.exit(status)
