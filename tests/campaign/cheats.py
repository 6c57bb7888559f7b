#!/usr/bin/env python3
"""cheats.py FOLDER: kernel modules that make time look smaller or results right, and honest ones that are odd.

Each trial compares one module of tests/modules with an honest base, by the real worker and runner on device cpu. A cheat
survives as a trial if it is accused, or if what it changed was set back, or if it gains nothing. One that only the
clock can show may also end without an accusation on a busy machine, as long as no gain is believed. One accusation of an
honest module fails its trial. The modules of tests/gpu/modules run by tests/gpu/integrity.sh.

FOLDER is made by test_cheats.sh. In each round of trials every module has one, in an order drawn from the number of the
round, in which the kinds alternate.
"""
import json
import os
import pathlib
import random
import subprocess
import sys

from campaign import ROOT, Campaign

FOLDER = pathlib.Path(sys.argv[1])
WORKER = pathlib.Path(os.environ.get("FW_BIN") or ROOT / "build/bin") / "flopwatch-worker"
MODULES = ROOT / "build/tests/modules"
TRIES = 3
BELIEVED_PCT = 20  # more time on a busy machine changes times of a single run by less

SET_BACK = "which was set back"  # what it changed is named in a note
NOTHING = "nothing"              # no accusation, and no gain
OPEN = "open"                    # not defended: doc/trust.md has the reason
CLOCKED = {"clock", "slowed", NOTHING}  # these need the clock of this machine


def cheat(*wants, base="good", cells="*/forward", suite="suite"):
    return {"wants": set(wants), "base": base, "cells": cells, "suite": suite}


BACKWARD = {"cells": "*/backward"}
CHEATS = {
    "threads and processes": {
        "thread": cheat("escaped", "wrong"), "pool_late": cheat("escaped", "wrong"), "burner": cheat("escaped", "slowed"),
        "early": cheat("clock"), "shared_memory": cheat("escaped", "wrong"), "fork": cheat("escaped"),
        "dead_main_thread": cheat("escaped"), "blind": cheat("escaped", "slowed"), "sibling": cheat("escaped"),
        "orphan": cheat("escaped"),
        "deaf": cheat("crash", "escaped"), "answer_thief": cheat("escaped", "timeout")},
    "caches": {
        "cached": cheat("wrong"), "stale": cheat("wrong"), "keeps": cheat("wrong"), "keeps_late": cheat("wrong"),
        "keeps_softmax": cheat("wrong", **BACKWARD), "sum": cheat("wrong"), "delta": cheat("wrong", **BACKWARD),
        "rolls": cheat(NOTHING)},
    "replaced functions": {
        "saboteur": cheat("slowed"), "first_call": cheat("slowed"), "constructor": cheat("slowed"),
        "base_code": cheat("slowed"), "copies": cheat("forged"), "restored_import": cheat("forged"),
        "random": cheat("forged"),
        "hidden_alarm": cheat("forged"), "degenerate": cheat("wrong", **BACKWARD),
        "degenerate_second": cheat("wrong", **BACKWARD),
        "degenerate_audit": cheat("wrong", "clock", base="plodding", **BACKWARD),
        "degenerate_late": cheat("oob", **BACKWARD)},
    "telling checks apart": {
        "lazy": cheat("wrong"), "partial": cheat("wrong"), "mode": cheat("wrong"), "every_fourth": cheat("wrong"),
        "bound": cheat("wrong", suite="calls"), "second_process": cheat("wrong", NOTHING), "watching": cheat(OPEN)},
    "work in plan and bind": {
        "bind_answer": cheat("wrong"), "plan_answer": cheat(NOTHING)},
    "forged records": {
        "records": cheat("forged"), "middle": cheat("forged"), "readback": cheat(NOTHING),
        "closed_records": cheat("crash")},
    "late writes": {
        "faults": cheat(NOTHING), "protected_pages": cheat("crash", "wrong"), "late_timer": cheat("wrong", "escaped", SET_BACK)},
    "clocks": {
        "clock": cheat("clock"), "clock_import": cheat("forged"), "libc_clock": cheat("forged"), "tsc": cheat("crash"),
        "clock_small": cheat(OPEN), "clock_loss": cheat(OPEN)},
    "expected answers": {
        "known": cheat("wrong"), "expected": cheat("wrong"), "task": cheat(NOTHING)},
    "low precision": {
        "quick_exp": cheat("wrong"), "fewer_dims": cheat("wrong"), "fewer_keys": cheat("wrong"),
        "narrow_sums": cheat("wrong"), "eight_bits": cheat("wrong"), "uniform": cheat("wrong"),
        "half_gradient": cheat("wrong", **BACKWARD)},
    "warm caches": {
        "warm": cheat(NOTHING), "scrub": cheat(NOTHING), "huge_pages": cheat(SET_BACK)},
    "foreign memory": {
        "scribble": cheat("oob"), "workspace": cheat("oob")},
    "state that is left": {
        "alarm": cheat(SET_BACK), "timer": cheat(SET_BACK), "omp": cheat(SET_BACK, base="honest_openmp"),
        "nice": cheat(SET_BACK, "slowed"), "rounding": cheat(SET_BACK), "cores": cheat(SET_BACK),
        "no_threads": cheat(SET_BACK, base="honest_threads"), "slack": cheat(SET_BACK), "blocked_signals": cheat(SET_BACK),
        "malloc": cheat(OPEN, base="honest_memory")},
    "ends of the process": {
        **{f"end_{how}": cheat("crash") for how in ("segv", "term", "kill", "exit", "lost", "thread")},
        **{f"end_{how}": cheat("crash", "clock", base="plodding") for how in ("audit", "audit_exit")},
        "exit": cheat("crash"), "leave": cheat("crash")},
}
HONEST = (
    "allocator arithmetic autotune backwards blocks by_shape child compiles constructor content curious doubles "
    "environment exits file jumps lazy library limits lists locals memory nested online openmp packs padded persist "
    "pinned pipe plans pool random_order recomputes settings signal stack table threads timer tuner warms_up workspace").split()


def compare(module, how):
    """The cell and the notes of one comparison."""
    run = subprocess.run([WORKER, "compare", "--suite", FOLDER / f"{how['suite']}.yaml", "--device", "cpu", "--quick", "--json",
                          "--base", MODULES / f"{how['base']}.so", "--target", MODULES / f"{module}.so",
                          "--cells", how["cells"]], capture_output=True, text=True, check=False)
    try:
        return json.loads(run.stdout)["cells"][0], run.stderr
    except (ValueError, LookupError):
        return {"verdict": "none", "class": "", "role": "", "detail": run.stderr[-200:], "change_pct": None}, run.stderr


def words(cell):
    return " ".join(str(cell[key]) for key in ("role", "verdict", "class", "change_pct", "detail"))


def is_accused(cell):
    return cell["class"] != "" and cell["verdict"] in ("rejected", "failed")


def is_caught(wants, cell, notes):
    gain = cell["change_pct"] or 0
    return (is_accused(cell) and cell["class"] in wants or SET_BACK in wants and SET_BACK in notes
            or NOTHING in wants and (is_accused(cell) or cell["verdict"] != "none" and gain < BELIEVED_PCT))


def try_cheat(name, how, tally):
    wants, cell = how["wants"], {}
    believed = False
    for _ in range(TRIES):
        cell, notes = compare(f"cheat_{name}", how)
        if OPEN in wants:
            tally["open"] += 1
            return []
        if is_caught(wants, cell, notes):
            tally["caught"] += 1
            return []
        believed = believed or cell["verdict"] in ("improvement", "none")
    if wants & CLOCKED and not believed:
        tally["unbelieved"] += 1
        return []
    return [f"not caught in {TRIES} comparisons, at last {words(cell)}"]


def try_honest(name):
    faults = []
    for cells in ("*/forward",) if name != "recomputes" else ("*/forward", "*/backward"):
        cell, _ = compare(f"honest_{name}", cheat(cells=cells))
        if cell["verdict"] not in ("unchanged", "improvement", "regression", "undecided", "identical") or cell["class"]:
            faults.append(f"accused: {words(cell)}")
    return faults


def order(turn):
    """All modules of a round, (kind, name): one of each kind, two honest ones, one of each kind, ..."""
    rng = random.Random(f"cheats in round {turn}")
    piles = [[(kind, name) for name in rng.sample(sorted(names), len(names))] for kind, names in CHEATS.items()]
    for pile in piles:
        pile.sort(key=lambda module: OPEN in CHEATS[module[0]][module[1]]["wants"])  # last: they only show what is known
    honest = [("honest", name) for name in rng.sample(HONEST, len(HONEST))]
    piles += [honest[::3], honest[1::3], honest[2::3]]
    return [pile[i] for i in range(max(map(len, piles))) for pile in piles if i < len(pile)]


def main():
    campaign = Campaign("cheats", len(CHEATS) + 4)  # in `make test`: one of each kind, and honest ones
    n_modules = len(order(0))
    tally = {"caught": 0, "unbelieved": 0, "open": 0, "honest": 0}
    for n, _ in campaign.trials():
        kind, name = order((n - 1) // n_modules)[(n - 1) % n_modules]
        if kind == "honest":
            faults = try_honest(name)
            tally["honest"] += not faults
        else:
            faults = try_cheat(name, CHEATS[kind][name], tally)
        campaign.count(f"{kind}: {name}", faults)
    print("# cheats:", ", ".join(f"{number} {word}" for word, number in tally.items()), flush=True)
    campaign.finish()


if __name__ == "__main__":
    main()
