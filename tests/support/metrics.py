#!/usr/bin/env python3
"""Read Prometheus' text format 0.0.4 from stdin strictly; print "name{labels} value" sorted, or the mistake."""
import re, sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:{LABEL})(?:,(?:{LABEL}))*)\}})? (NaN|[+-]?Inf|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


def fail(n, line, why):
    sys.exit(f"line {n}: {why}: {line}")


text = sys.stdin.read()
if not text.endswith("\n"):
    sys.exit("the last line does not end")
kind, helped, closed, samples, current = {}, set(), set(), {}, None
for n, line in enumerate(text.split("\n")[:-1], 1):
    if m := re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line):
        what, name, rest = m.groups()
        if name != current:
            if name in closed:
                fail(n, line, "a family in two pieces")
            closed.add(current)
            current = name
        if what == "TYPE":
            if name in kind or rest not in TYPES:
                fail(n, line, "a second type, or none that is known")
            kind[name] = rest
        elif name in helped:
            fail(n, line, "a second help")
        else:
            helped.add(name)
        continue
    m = SAMPLE.match(line)
    if not m:
        fail(n, line, "not a sample")
    name, labels, value = m.groups()
    family = re.sub(r"_(bucket|sum|count)$", "", name) if kind.get(current) == "histogram" else name
    if family != current or current not in kind:
        fail(n, line, "a sample outside its family")
    if kind[family] == "counter" and (not name.endswith("_total") or float(value) < 0):
        fail(n, line, "a counter is called _total and never negative")
    if kind[family] != "counter" and name.endswith("_total"):
        fail(n, line, "only counters are called _total")
    names = re.findall(r'([a-zA-Z_]\w*)="', labels or "")
    if len(set(names)) != len(names):
        fail(n, line, "a label twice")
    if (name, labels) in samples:
        fail(n, line, "a sample twice")
    samples[name, labels] = float(value)
for name, type_ in kind.items():
    if name not in helped:
        sys.exit(f"{name} has no help")
    if type_ != "histogram":
        continue
    buckets = [(float(re.search(r'le="([^"]+)"', labels)[1]), v) for (s, labels), v in samples.items() if s == name + "_bucket"]
    if buckets != sorted(buckets) or [v for _, v in buckets] != sorted(v for _, v in buckets) or buckets[-1][0] != float("inf"):
        sys.exit(f"{name}: buckets must grow and end in +Inf: {buckets}")
    if buckets[-1][1] != samples[name + "_count", None] or (name + "_sum", None) not in samples:
        sys.exit(f"{name}: its count is not its last bucket")
for (name, labels), value in sorted(samples.items(), key=str):
    print(f"{name}{{{labels}}} {value:.15g}" if labels else f"{name} {value:.15g}")
