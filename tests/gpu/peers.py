#!/usr/bin/env python3
"""Our attention kernels against PyTorch's, in one process: same inputs, same masks, same count of FLOPs, calls interleaved.

    tests/gpu/peers.py [MODULE.so] [--cases TEXT,..] [--directions forward,backward] [--provider NAME,..] [--budget-s N] [--out DIR]

A ring is a set of contenders timed in turns A B C, C B A, A B C, ... on one stream: the L2 cache is flushed before every call, data is
random, times are CUDA events. A ratio is the median over rounds of the quotient of two contenders' TFLOP/s in the same round. Prints one
table, what is required and what is hoped for beside what was measured; writes figures and every sample as JSON lines. A peer that is
missing or fails is one line. --provider: the first is ours in every ratio, the others are timed beside it. --self-check needs no GPU.
"""
import argparse
import ctypes
import datetime
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_module as fw  # noqa: E402
from power import Power, words  # noqa: E402

NHQ, NHK, HEADDIM = 64, 8, 128
VARLEN = {"full": [2150, 3051, 419, 356, 130, 895, 54, 1116, 14, 2, 2, 1, 1, 1],
          "causal": [1408, 177, 2559, 2823, 600, 370, 35, 58, 20, 25, 58, 23, 22, 4, 10]}
SPARSE_TOKENS, FALLBACK_TOKENS = 49152, 16384
SCRUB_BYTES = 256 << 20
ROUNDS_MIN, ROUNDS_MAX = 6, 60
AGREE = 0.02  # the relative distance of two correct bf16 attentions is well below this
FORWARD, BACKWARD = "forward", "backward"


class Case:
    """A mask over some tokens. `kept`: bool (key head, query block, key block) on the device, made when first needed."""

    def __init__(self, name, tokens, causal=False, lengths=None, block=0, density=0.0):
        self.name, self.tokens, self.causal, self.lengths, self.block, self.density = name, tokens, causal, lengths, block, density
        self.nhq, self.nhk, self.headdim = NHQ, NHK, HEADDIM
        self.device, self.kept, self._offsets = None, None, None

    def kept_a_row(self):
        return int(self.density * (self.tokens // self.block) + 1e-9)

    def place(self, torch, device):
        """Make the data on the device: random block choices, the same for every contender."""
        if self.device is not None:
            return
        self.device, self.torch = device, torch
        if self.block:
            n = self.tokens // self.block
            scores = torch.rand((self.nhk, n, n), device=device, generator=torch.Generator(device).manual_seed(42 + self.block))
            self.kept = torch.zeros((self.nhk, n, n), dtype=torch.bool, device=device)
            self.kept.noise_(2, scores.topk(self.kept_a_row(), dim=2).indices, True)

    def offsets(self):
        if self._offsets is None:
            ends = [0]
            for n in self.lengths or [self.tokens]:
                ends.append(ends[-1] + n)
            self._offsets = self.torch.tensor(ends, dtype=self.torch.int32, device=self.device)
        return self._offsets

    def bits(self):
        """Words of FW_BLOCK_BITS as int32."""
        torch, (heads, rows, columns) = self.torch, self.kept.shape
        n_words = (columns + 31) // 32
        padded = torch.zeros((heads, rows, n_words * 32), dtype=torch.int64, device=self.device)
        padded[:, :, :columns] = self.kept
        value = (padded.view(heads, rows, n_words, 32) << torch.arange(32, device=self.device)).sum(-1)
        return torch.where(value >= 1 << 31, value - (1 << 32), value).to(torch.int32).contiguous()

    def pairs(self):
        """Pairs of query and key that count, a query head."""
        if self.block:
            return self.tokens // self.block * self.kept_a_row() * self.block ** 2
        return sum(n * (n + 1) // 2 if self.causal else n * n for n in self.lengths or [self.tokens])

    def flops(self, direction):
        return (4 if direction == FORWARD else 10) * self.pairs() * self.nhq * self.headdim

    def key(self, direction):
        shape = f"s{self.tokens}"
        if self.block:
            shape += f"/r{self.density:g}/b{self.block}"
        family = "block_sparse" if self.block else "dense/" + self.name.split("@")[0]
        return f"attention/{family}/{shape}/hq{self.nhq}/hk{self.nhk}/d{self.headdim}/bf16/{direction}"


def dense(kind, tokens=8192):
    return Case(kind, tokens, causal=kind == "causal")


def packed(kind):
    return Case("varlen_" + kind, 8192, causal=kind == "causal", lengths=VARLEN[kind])


def sparse(block, density, tokens=SPARSE_TOKENS):
    return Case(f"b{block}_r{density:g}", tokens, block=block, density=density)


def make_rings():
    """Name -> [(case, peers)]. Our kernels run in every case; the peers of a case run on that case."""
    rings = {}
    for kind in ("full", "causal"):
        rings["dense_" + kind] = [(dense(kind), ["cudnn", "flash"])]
    for kind in ("full", "causal"):
        rings["varlen_" + kind] = [(packed(kind), ["varlen", "flex"]), (dense(kind), [])]
    for density in (0.1, 0.2, 0.5):
        rings[f"sparse_{density:g}"] = [(sparse(128, density), ["flex"]), (sparse(64, density), ["flex"])]
    rings["slope"] = [(sparse(block, density), []) for block in (128, 64) for density in (0.1, 0.5)]
    rings["fallback"] = [(dense("full", FALLBACK_TOKENS), [])] + [(sparse(block, density, FALLBACK_TOKENS), [])
                                                                  for block in (128, 64) for density in (0.9, 1.0)]
    return rings


class Row:
    """A line of the table: the rate of `who` over that of the best of `against`, both (contender, case name)."""

    def __init__(self, text, ring, direction, who, against, required, goal=None, times=False):
        self.text, self.ring, self.direction, self.who, self.against = text, ring, direction, who, against
        self.required, self.goal = required, goal
        self.times = times  # quotient of times, smaller is better


def make_rows():
    rows = []
    limits = {("full", FORWARD): 0.95, ("causal", FORWARD): 1.00, ("full", BACKWARD): 0.90, ("causal", BACKWARD): 0.93}
    for (kind, direction), required in limits.items():
        rows.append(Row(f"dense {kind} 8192 v cuDNN", f"dense_{kind}", direction, ("ours", kind), [("cudnn", kind)], required, 1.05))
    for direction in (FORWARD, BACKWARD):
        forward = direction == FORWARD
        for kind, required, goal in (("full", 0.80, 0.88), ("causal", 0.70, 0.80)):
            name = "varlen_" + kind
            rows.append(Row(f"varlen {kind} v our dense {kind}", name, direction, ("ours", name), [("ours", kind)], required, goal))
            rows.append(Row(f"varlen {kind} v best of torch varlen, Flex", name, direction, ("ours", name),
                            [("varlen", name), ("flex", name)], 1.6 if forward else 1.5))
        for density in ("0.1", "0.2", "0.5"):
            ring, big, small = "sparse_" + density, "b128_r" + density, "b64_r" + density
            rows.append(Row(f"blocks 128 at {density} v Flex", ring, direction, ("ours", big), [("flex", big)],
                            1.25 if forward else 1.20, 1.40))
            rows.append(Row(f"blocks 64 v 128 at {density}", ring, direction, ("ours", small), [("ours", big)],
                            0.90 if forward else 0.70, 0.95 if forward else 0.80))
        for block in (128, 64):
            rows.append(Row(f"blocks {block}: t(0.1) / t(0.5)", "slope", direction, ("ours", f"b{block}_r0.1"),
                            [("ours", f"b{block}_r0.5")], 0.22 if forward else 0.23, times=True))
            for density in ("0.9", "1"):
                rows.append(Row(f"blocks {block} at {density} v dense, time", "fallback", direction,
                                ("ours", f"b{block}_r{density}"), [("ours", "full")], 1.0, times=True))
    return rows


class Inputs:
    """Random tensors of some tokens, and one set of our outputs; leaves of autograd."""

    def __init__(self, torch, tokens, device):
        generator = torch.Generator(device).manual_seed(7)
        self.torch, self.device, self.tokens = torch, device, tokens

        def draw(heads):
            return torch.randn((tokens, heads, HEADDIM), device=device, generator=generator).to(torch.bfloat16)
        self.q, self.k, self.v, self.grad_o = draw(NHQ).requires_grad_(), draw(NHK).requires_grad_(), draw(NHK).requires_grad_(), draw(NHQ)


class Contender:
    def __init__(self, who, case, direction, call, result):
        self.who, self.case, self.direction, self.call, self.result = who, case, direction, call, result
        self.flops, self.cell = case.flops(direction), case.key(direction)
        self.name = (who, case.name)
        self.ms = []

    def release(self):
        """Free the buffers; the results stay."""
        self.case = self.call = self.result = self.scratch = None


def our_contender(torch, module, wanted, label, case, direction, inputs, stream):
    """`wanted`: a provider's name, or None for the first that can. Own: its closures own its buffers."""
    fields = dict(mask=fw.BLOCKS if case.block else fw.CAUSAL if case.causal else fw.FULL, total_q=case.tokens, total_k=case.tokens,
                  nhq=NHQ, nhk=NHK, headdim=HEADDIM, lengths=case.lengths, block=case.block,
                  max_blocks=int(case.kept.sum()) if case.block else 0)
    problems = {d: fw.AttentionProblem(fw.FORWARD if d == FORWARD else fw.BACKWARD, **fields) for d in (FORWARD, BACKWARD)}

    def plan_of(d):
        whys = []
        for name, provider in module.providers.items():
            if wanted and name != wanted:
                continue
            why = problems[d].why_not(provider)
            if not why:
                return name, fw.Plan(provider, problems[d], torch.cuda.current_device())
            whys.append(f"{name}: {why}")
        raise fw.ModuleError(fw.UNSUPPORTED, "; ".join(whys) or f"the module has no provider {wanted}")

    def buffer(n_bytes):
        return torch.empty(max(1, n_bytes), dtype=torch.uint8, device=case.device)

    out = {fw.O: torch.empty_like(inputs.q), fw.LSE: torch.empty((NHQ, case.tokens), device=case.device)}
    held = {fw.Q: inputs.q, fw.K: inputs.k, fw.V: inputs.v, **out}
    if case.lengths:
        held[fw.CU_Q] = held[fw.CU_K] = case.offsets()
    if case.block:
        held[fw.BLOCK_BITS] = case.bits()
    name, plan = plan_of(FORWARD)
    steps = [plan]
    if direction == BACKWARD:
        held.update({fw.DO: inputs.grad_o, fw.DQ: torch.empty_like(inputs.q), fw.DK: torch.empty_like(inputs.k),
                     fw.DV: torch.empty_like(inputs.v)})
        name, plan = plan_of(BACKWARD)
        steps.append(plan)
    scratch = []
    for step in steps:
        workspace, persist = buffer(step.workspace_bytes), buffer(step.persist_bytes)
        scratch += [workspace, persist]
        step.bind({slot: t.data_ptr() for slot, t in held.items()}, workspace.data_ptr(), persist.data_ptr())
    steps[0].enqueue(stream)  # backward reads O and LSE of its forward
    torch.cuda.synchronize()

    results = (fw.O,) if direction == FORWARD else (fw.DQ, fw.DK, fw.DV)
    contender = Contender(label, case, direction, lambda: plan.enqueue(stream), lambda: [held[s] for s in results])
    contender.provider, contender.config = name, plan.config
    contender.scratch = scratch  # lives as long as the users of its addresses
    return contender


def torch_contender(torch, peer, function, case, direction, inputs):
    last, note = [], ""
    if direction == FORWARD:
        def call():
            last[:] = [function(case, inputs.q, inputs.k, inputs.v)]
        try:
            call()
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001 - a compiler that fails at the gradients may still manage the forward
            with_graph, note = call, "without gradients"
            print(f"  {peer} {case.name}: with gradients: {first_line(error)}; trying without", flush=True)

            def call():
                with torch.no_grad():
                    with_graph()
    else:
        out = function(case, inputs.q, inputs.k, inputs.v)

        def call():
            last[:] = torch.autograd.grad(out, (inputs.q, inputs.k, inputs.v), inputs.grad_o, retain_graph=True)
    contender = Contender(peer, case, direction, call, lambda: [t.detach() for t in last])
    contender.provider, contender.config = "torch", note
    return contender


def distance(torch, a, b):
    """Largest relative distance of some rows of each tensor; NaN shows as infinite."""
    worst = 0.0
    for x, y in zip(a, b):
        step = max(1, x.shape[0] // 2048)
        x, y = x[::step].float(), y[::step].float()
        far = ((x - y).norm() / y.norm().clamp_min(1e-30)).item()
        worst = max(worst, far if far == far else float("inf"))
    return worst


def first_line(error):
    text = str(error).strip() or type(error).__name__
    return f"{type(error).__name__}: {text.splitlines()[0][:240]}"


class Bench:
    def __init__(self, options, torch, module):
        self.options, self.torch, self.module = options, torch, module
        self.device = torch.device("cuda", 0)
        properties = torch.cuda.get_device_properties(0)
        self.name = properties.name
        uuid = str(getattr(properties, "uuid", "") or "")
        self.power = Power(uuid and (uuid if uuid.startswith("GPU-") else "GPU-" + uuid))
        self.stream = torch.cuda.Stream()
        self.scrub = torch.empty(SCRUB_BYTES, dtype=torch.uint8, device=self.device)
        self.measured, self.states, self.warm = {}, [], False
        self.started = time.monotonic()
        self.open_files()

    def left(self):
        return self.options.budget_s - (time.monotonic() - self.started)

    def open_files(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        slug = "".join(c if c.isalnum() else "-" for c in self.name.lower().replace("nvidia ", "")).strip("-") or "gpu"
        os.makedirs(self.options.out, exist_ok=True)
        n, stem = 1, os.path.join(self.options.out, f"{slug}-{now:%Y-%m-%d}-{self.options.name}")
        base = stem
        while os.path.exists(base + ".jsonl"):
            n += 1
            base = f"{stem}-{n}"
        self.base = base
        self.figures, self.samples = open(base + ".jsonl", "w"), open(base + "-samples.jsonl", "w")
        commit = self.options.commit or output(["git", "-C", os.path.dirname(os.path.abspath(__file__)), "rev-parse", "HEAD"]) or "unknown"
        release = [line for line in output(["nvcc", "--version"]).splitlines() if "release" in line]
        cudnn = self.torch.backends.cudnn.version()
        self.common = {"device": self.name, "driver": self.power.driver() if not self.power.problem else None,
                       "toolkit": f"{release[0].split('release')[1].split(',')[0].strip() if release else self.torch.version.cuda}, "
                                  f"torch {self.torch.__version__}, cudnn {cudnn}",
                       "commit": commit, "at": now.isoformat(timespec="seconds")}

    def figure(self, bench, peer, value, unit, cell):
        line = {"bench": bench, "peer": peer, "value": value, "unit": unit, "cell": cell, **self.common}
        self.figures.write(json.dumps(line) + "\n")
        self.figures.flush()

    # ---- one ring, one direction ----

    def contenders(self, ring, direction):
        """Those that work. Every one is called once here, so that compilation happens now."""
        import torch_peers
        torch, found, inputs = self.torch, [], {}
        wanted = self.options.provider.split(",") if self.options.provider else [None]
        for case, peers in ring:
            case.place(torch, self.device)
            if case.tokens not in inputs:
                inputs[case.tokens] = Inputs(torch, case.tokens, self.device)
            makers = []
            for i, provider in enumerate(wanted):
                who = "module:" + provider if i else "ours"  # distinguishes our "cudnn" from PyTorch's
                makers.append((who, lambda provider=provider, who=who: our_contender(
                    torch, self.module, provider, who, case, direction, inputs[case.tokens], self.stream.cuda_stream)))
            if not self.options.no_peers:
                makers += [(p, lambda p=p: torch_contender(torch, p, torch_peers.PEERS[p], case, direction, inputs[case.tokens]))
                           for p in peers]
            ours = None
            for who, make in makers:
                label = f"{who} {case.name} {direction}"
                if who in torch_peers.SLOW_TO_COMPILE and self.left() < 60:
                    print(f"  {label}: left out, too little of the budget is left to compile it", flush=True)
                    continue
                began = time.monotonic()
                try:
                    contender = make()
                    contender.call()
                    torch.cuda.synchronize()
                    result = contender.result()
                    if ours is None and who == "ours":
                        ours = result
                    far = distance(torch, result, ours) if ours is not None and who != "ours" else None
                except Exception as error:  # noqa: BLE001 - the failure of one peer is one line
                    print(f"  {label}: {first_line(error)}", flush=True)
                    torch.cuda.synchronize()  # raises again when the device itself is lost: then the run cannot continue
                    continue
                took = time.monotonic() - began
                note = f" [{contender.provider}: {contender.config}]" if who == "ours" else ""
                agree = "" if far is None else f", distance to ours {far:.2g}" + ("" if far < AGREE else " - NOT THE SAME RESULT")
                print(f"  {label}: ready in {took:.1f} s{note}{agree}", flush=True)
                contender.distance = far
                found.append(contender)
        return found

    def measure(self, name, ring, direction, seconds):
        torch = self.torch
        with torch.cuda.stream(self.stream):
            found = self.contenders(ring, direction)
            if not found:
                return
            warm_s, rounds = 0.5 if self.warm else 1.5, 0
            self.warm = True
            torch.cuda.synchronize()
            began = time.monotonic()
            while rounds < 2 or time.monotonic() - began < warm_s:
                self.round(found if rounds % 2 == 0 else found[::-1], keep=False)
                rounds += 1
            a_round = (time.monotonic() - began) / rounds
            n = max(ROUNDS_MIN, min(ROUNDS_MAX, int(max(0.0, min(seconds, self.left())) / a_round))) // 2 * 2
            before, states = self.power.read(), []
            for i in range(n):
                states.append(self.round(found if i % 2 == 0 else found[::-1], keep=True))
            after = self.power.read()
        self.record(name, direction, found, n, before, states, after)

    def round(self, order, keep):
        """Every contender once. The GPU starts a millisecond late, so that the host is ahead of it and no call waits for a run."""
        torch, marks = self.torch, []
        torch.cuda._sleep(2_000_000)
        for contender in order:
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            self.scrub.fill_(len(marks) + 1)
            start.record()
            contender.call()
            stop.record()
            marks.append((contender, start, stop))
        state = self.power.read() if keep else None
        torch.cuda.synchronize()
        if keep:
            for contender, start, stop in marks:
                contender.ms.append(start.elapsed_time(stop))
        return state

    def record(self, name, direction, found, n, before, states, after):
        states = [s for s in states if s]
        mhz = sorted(s["sm_mhz"] for s in states if s.get("sm_mhz"))
        watts = [s["power_w"] for s in states if s.get("power_w")]
        reasons = 0
        for s in states:
            reasons |= s.get("reasons") or 0
        state = {"sm_mhz": statistics.median(mhz) if mhz else None, "sm_mhz_min": mhz[0] if mhz else None,
                 "power_w": statistics.mean(watts) if watts else None, "limit_w": before.get("limit_w"),
                 "temperature_c": after.get("temperature_c"), "reasons": reasons}
        self.states.append((name, direction, n, state))
        at = {c.name: c for c in found}
        self.measured[name, direction] = at
        for c in found:
            mid, cell, case_name = statistics.median(c.ms), c.cell, c.name[1]
            peer = c.provider if c.who == "ours" else c.who
            self.figure(f"gpu.{name}.{direction}.median", peer, mid, "ms", cell)
            self.figure(f"gpu.{name}.{direction}.rate", peer, c.flops / mid * 1e-9, "tflops", cell)
            print(f"  {direction:8} {case_name:14} {peer:10} {mid:9.4f} ms {c.flops / mid * 1e-9:7.1f} TFLOP/s", flush=True)
            self.samples.write(json.dumps({"ring": name, "direction": direction, "case": case_name, "cell": cell, "contender": c.who,
                                           "provider": c.provider, "config": c.config, "flops": c.flops, "order": "ABBA",
                                           "distance": c.distance, "ms": [float(f"{t:.9g}") for t in c.ms]}) + "\n")
        self.samples.write(json.dumps({"ring": name, "direction": direction, "rounds": n, "before": before, "during": states,
                                       "after": after}) + "\n")
        self.samples.flush()
        for c in found:
            c.release()

    # ---- the table ----

    def quotients(self, row):
        """Per round; against several, the best of them by median. None: not measured. Returns (list, who it was against)."""
        at = self.measured.get((row.ring, row.direction), {})
        who, against = at.get(row.who), [at[a] for a in row.against if a in at]
        if not who or not against:
            return None
        best = max(against, key=lambda c: c.flops / statistics.median(c.ms))
        if row.times:
            return [a / b for a, b in zip(who.ms, best.ms)], who, best
        return [(who.flops / a) / (best.flops / b) for a, b in zip(who.ms, best.ms)], who, best

    def table(self):
        bench_lines = []
        lines = [f"{'':42} {'':8} {'ours':>8} {'other':>8} {'ratio':>7} {'quartiles':>13} {'required':>8} {'goal':>5}"]
        for row in make_rows():
            found = self.quotients(row)
            if found is None:
                if (row.ring, row.direction) in self.measured:
                    lines.append(f"{row.text:42} {row.direction:8} not measured: a contender is missing, see above")
                continue
            values, who, best = found
            ratio = statistics.median(values)
            low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (ratio,) * 3
            met = ratio <= row.required if row.times else ratio >= row.required
            limit = f"{'<=' if row.times else ''}{row.required:.2f}"
            rates = [c.flops / statistics.median(c.ms) * 1e-9 for c in (who, best)]
            goal = f"{row.goal:.2f}" if row.goal else ""
            lines.append(f"{row.text:42} {row.direction:8} {rates[0]:8.1f} {rates[1]:8.1f} {ratio:7.3f} {low:6.3f}-{high:.3f} "
                         f"{limit:>8} {goal:>5} {'met' if met else 'missed'}{' by ' + format(abs(ratio / row.required - 1), '.1%') if not met else ''}")
            name = f"gpu.{row.ring}.{row.direction}.{'time_ratio' if row.times else 'ratio'}"
            peer = best.who if best.who != "ours" else "ours:" + best.name[1]
            self.figure(name, peer, ratio, "ratio", who.cell)
            bench_lines.append(f"bench {name} {peer} {ratio:.6g} ratio")
        lines.append("")
        lines.append("rates in TFLOP/s of useful work, medians; a published example, another card: forward 613 a call, 644 the kernel; "
                     "backward 549, 588")
        if self.power.problem:
            lines.append(f"power state unknown: {self.power.problem}")
        for name, direction, n, s in self.states:
            show = {k: "?" if v is None else f"{v:.0f}" for k, v in s.items() if k != "reasons"}
            lines.append(f"  {name:14} {direction:8} {n:3} rounds: SM {show['sm_mhz']} MHz (lowest {show['sm_mhz_min']}), {show['power_w']} of "
                         f"{show['limit_w']} W, {show['temperature_c']} C, limited by {words(s['reasons'])}")
        return "\n".join(lines + [""] + bench_lines)


def output(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def arguments():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description="Time our attention kernels beside PyTorch's, interleaved in one process.",
                                     epilog="rings: " + " ".join(make_rings()))
    parser.add_argument("module", nargs="?", default=os.path.join(root, "kernels/build/cuda/libattention.so"))
    parser.add_argument("--cases", default="", metavar="TEXT,..", help="only rings whose name contains one of these")
    parser.add_argument("--directions", default="forward,backward")
    parser.add_argument("--provider", default="", metavar="NAME,..", help="ours, then others to time beside it (default: the first that can)")
    parser.add_argument("--budget-s", type=float, default=480, metavar="N", help="stop after about this time (default 480)")
    parser.add_argument("--seconds", type=float, default=6, metavar="N", help="timed seconds a ring and direction at most (default 6)")
    parser.add_argument("--no-peers", action="store_true", help="our kernels only")
    parser.add_argument("--out", default="build/gpu-bench", metavar="DIR")
    parser.add_argument("--name", default="peers", help="what the files are called: <device>-<date>-NAME.jsonl")
    parser.add_argument("--commit", default="", help="of the module, where git cannot tell")
    parser.add_argument("--self-check", action="store_true", help="check what can be checked without a GPU")
    return parser.parse_args()


def main():
    options = arguments()
    if options.self_check:
        return self_check()
    try:
        module = fw.Module(options.module)
    except fw.ModuleError as error:
        print(f"peers.py: {error}; build it with make -C kernels DEVICE=cuda", file=sys.stderr)
        return 1
    try:
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no CUDA device")
    except Exception as error:  # noqa: BLE001
        print(f"peers.py: PyTorch with CUDA is needed: {first_line(error)}", file=sys.stderr)
        return 1
    bench = Bench(options, torch, module)
    print(f"{bench.name}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, providers {' '.join(module.providers)}, "
          f"files {bench.base}*", flush=True)
    texts, directions = [t for t in options.cases.split(",") if t], options.directions.split(",")
    chosen = [(name, d) for name in make_rings() if not texts or any(t in name for t in texts) for d in (FORWARD, BACKWARD) if d in directions]
    status, ring_name, ring = 0, None, None
    for name, direction in chosen:
        if bench.left() < 5:
            print(f"{name} {direction}: left out, the budget of {options.budget_s:g} s is spent", flush=True)
            continue
        print(f"{name} {direction}: {bench.left():.0f} s left", flush=True)
        if name != ring_name:  # both directions share masks, so that code compiled for one works for the other
            ring_name, ring = name, make_rings()[name]
        try:
            bench.measure(name, ring, direction, options.seconds)
        except Exception as error:  # noqa: BLE001
            print(f"{name} {direction}: {first_line(error)}", flush=True)
            status = 1
            try:
                torch.cuda.synchronize()
            except Exception as lost:  # noqa: BLE001
                print(f"the device is lost, nothing more can be timed: {first_line(lost)}", flush=True)
                break
        gc.collect()
        try:
            torch.cuda.empty_cache()
        except Exception:  # noqa: BLE001
            break
    table = bench.table()
    print("\n" + table)
    with open(bench.base + ".txt", "w") as text:
        text.write(f"{bench.name}, {bench.common['toolkit']}, driver {bench.common['driver']}\n{table}\n")
    print(f"\nwritten: {bench.base}.jsonl, {bench.base}-samples.jsonl, {bench.base}.txt")
    return status


def self_check():
    """Tests without a GPU: counts against brute force, the table against invented samples."""
    case = Case("varlen_causal", 10, causal=True, lengths=[3, 7])
    assert case.pairs() == sum(1 for n in (3, 7) for i in range(n) for j in range(n) if j <= i)
    assert dense("full").flops(FORWARD) == 4 * 8192 ** 2 * 64 * 128 and dense("full").flops(BACKWARD) == 10 * 8192 ** 2 * 64 * 128
    assert sparse(128, 0.1).kept_a_row() == 38 and sparse(64, 0.1).kept_a_row() == 76 and sparse(64, 1.0, 16384).kept_a_row() == 256
    assert all(sum(v) == 8192 for v in VARLEN.values())
    rings = make_rings()
    assert sparse(64, 0.1).key(FORWARD) == "attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/forward"
    assert packed("full").key(BACKWARD) == "attention/dense/varlen_full/s8192/hq64/hk8/d128/bf16/backward"
    bench = Bench.__new__(Bench)
    bench.measured, bench.states, bench.figure = {}, [], lambda *a: None
    bench.power = Power()
    for row in make_rows():
        names = {("ours", case.name): case for case, _ in rings[row.ring]}
        names.update({(peer, case.name): case for case, peers in rings[row.ring] for peer in peers})
        for name in [row.who] + row.against:
            assert name in names, f"{row.text}: no contender {name} in ring {row.ring}"
        at = bench.measured.setdefault((row.ring, row.direction), {})
        for name, case in names.items():
            contender = Contender(name[0], case, row.direction, None, None)
            contender.ms = [case.flops(row.direction) * 1e-9 / (800 if name[0] == "ours" else 400) * random.uniform(0.99, 1.01)
                            for _ in range(6)]
            at.setdefault(name, contender)
    bench.states.append(("dense_full", FORWARD, 6, {"sm_mhz": 1500, "sm_mhz_min": 1400, "power_w": 690.0, "limit_w": None,
                                                    "temperature_c": 60, "reasons": 4}))
    print(bench.table())
    for name, struct in fw.STRUCTS.items():
        print(f"struct {name} {ctypes.sizeof(struct)} " + " ".join(f"{f}:{getattr(struct, f).offset}" for f, *_ in struct._fields_))
    return 0


if __name__ == "__main__":
    sys.exit(main())
