#!/bin/bash
# Programs whose calls are primed: late calls are measured again, too many of them leave a cell undecided; calls that cannot be
# primed are noted; a change of the host's time is a finding of its own; both sides get the same spin.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

git init -q --bare -b main "$tmp/one.git"
git init -q -b main "$tmp/one"
git -C "$tmp/one" remote add origin "$tmp/one.git"
cat >"$tmp/one/.flopwatch.yaml" <<'YAML'
flopwatch: 1
build: {dir: ., command: ["true"], timeout_s: 60}
benchmarks:
  one: {command: [/usr/bin/python3, prog.py], reader: flopwatch, budget_s: 120, timeout_s: 20, gpu: false}
YAML
# a device of 0.042 ms a call, whose host needs HOST us and requests a spin of SPIN us
cat >"$tmp/one/prog.py" <<'PY'
import os
import random
import socket
import time

HOST, SPIN, OFTEN = 311, 740, 0
link = socket.socket(fileno=int(os.environ["FLOPWATCH_INTERLEAVE"])).makefile("rw", newline="\n")


def send(line):
    link.write(line + "\n")
    link.flush()


def receive():
    return link.readline().split()


send("flopwatch 1 prog")
is_list = receive()[2] == "list"
calls = 0
for cell, late_every in ("few", 10), ("often", OFTEN), ("never", 1), ("waits", 0):
    n = 0
    while True:
        send("turn " + cell)
        go = receive()
        if go[0] != "go":
            break
        n += 1
        if is_list and n == 1 and cell == "waits":
            send("fact unprimed the call waits for the device")
        if not is_list and n > 2 and cell == "few" and "spin_us=740" not in go:
            send("fail reported no common spin in: " + " ".join(go))
            continue
        calls += 1
        for _ in range(int(go[2])):
            host = "host_us=%.3f" % (HOST * random.uniform(0.999, 1.001))
            if int(go[2]) > 1 and cell != "waits":  # of a sustained run: the device waits for the host
                time.sleep(HOST * 1.1e-6)
                send("done %.6f %s" % (HOST * 1e-3 * random.uniform(0.99, 1.01), host))
            elif cell == "waits":
                time.sleep(0.001)
                send("done %.6f %s" % (0.355 * random.uniform(0.99, 1.01), host))
            elif late_every and calls % late_every == 0:
                send("done 0 late=1 %s spin_us=%d" % (host, SPIN))
            else:
                time.sleep(1e-6 * HOST)  # no call can take longer than its turn
                send("done %.6f %s spin_us=%d" % (0.042 * random.uniform(0.999, 1.001), host, SPIN))
send("bye")
PY
notes() {
	api "comparisons/$(sql "SELECT $newest")" | jq -r '.notes[]? | "\(.cell // "") \(.text)"'
}
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos: [{name: one, url: $tmp/one.git}]"
start_daemon || exit 1
on_main one first >"$tmp/verdict"
is "late calls are no failure; without any other one the cell has no verdict" "$(cells | tr '\n' ';')" \
	"few unchanged ;often unchanged ;never undecided ;waits unchanged ;"
is "and the reason counts them" "$(why never)" "could not be primed: 61 of 61 calls began before they were queued"
is "pairs with a late call are measured again" \
	"$(($(notes | sed -n 's/.*interleaved programs: \([0-9]*\) turns.*/\1/p') > $(sql "SELECT 2 * sum(samples) FROM cell WHERE comparison = $newest")))" 1
like "calls that are not primed are noted" "$(notes)" 'waits not primed: the call waits for the device'
git -C "$tmp/one" checkout -q -b slower-host
sed -i 's/^HOST, SPIN, OFTEN = .*/HOST, SPIN, OFTEN = 361, 400, 3/' "$tmp/one/prog.py"
commit one "more work of the host"
push one slower-host
in_the_end "$(head_of one)" >"$tmp/verdict"
is "many late calls leave a cell undecided, a slower host no device" "$(cells | tr '\n' ';')" \
	"few unchanged ;often undecided ;never undecided ;waits unchanged ;"
like "with their number" "$(why often)" '^could not be primed: [0-9]+ of [0-9]+ calls of the target began before they were queued$'
is "the host's time is a finding" "$(api "comparisons/$(sql "SELECT $newest")" | jq -r '.cells[] | select(.cell == "few") | .flags | join(" ")')" enqueue
is "no sustained run has timed the host instead of the device" "$(sql "SELECT count(*) FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE k.series = 'sustained' AND c.key = 'few'")" 0
is "of primed calls only" "$(api "comparisons/$(sql "SELECT $newest")" | jq -r '.cells[] | select(.cell == "waits") | "\(.flags | length) \(.enqueue)"')" "0 null"
# as text, and on the page
waited() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" wait "$(sql "SELECT job FROM comparison WHERE id = $newest")" "$@" 2>&1; }
like "as a sentence" "$(waited)" 'few: host time of a call: 31[0-9] us to 36[0-9] us \(\+1[5-7] %\)'
said=$(waited --long)
like "and the cell is host-bound" "$said" 'few: host-bound: host 36[0-9] us, device 42 us'
like "on the page, too" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(sql "SELECT $newest")")" 'host-bound: host 36[0-9] us, device 42 us'
