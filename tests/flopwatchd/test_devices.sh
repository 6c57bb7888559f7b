#!/bin/bash
# One worker with two devices: a job on each at the same time, concurrent builds, and one that goes away leaves the other.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_repo kernels
push kernels main

# The list of devices is read from a file at every start of a worker.
echo 0,1 >"$tmp/devices"
cat >"$tmp/worker" <<EOF
#!/bin/sh
FLOPWATCH_SIM_DEVICES=\$(cat "$tmp/devices") exec "$bin/flopwatch-worker" "\$@"
EOF
chmod +x "$tmp/worker"
host_config() { # more keys of the worker
	write_config "workers: [{name: host, command: [$tmp/worker, serve], device: sim, build_jobs: 2$1}]" \
		"repos: [{name: kernels, url: $tmp/kernels.git}]" "sandbox: none" "cores: {measure: shared}"
}
hold_push() { # name: its build waits until $tmp/go is there
	branch kernels "$1" main
	echo "grep Cpus_allowed_list /proc/self/status >$tmp/cores-$1; touch $tmp/holds-$1; until [ -e $tmp/go ]; do sleep 0.05; done; echo $1 >>$tmp/built" >"$tmp/kernels/kernels/recipe"
	echo "-DUNUSED_$1" >"$tmp/kernels/kernels/flags"
	echo 1.0"$2" >"$tmp/kernels/kernels/factor"
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
has() { [ -e "$tmp/$1" ]; }
devices_of() { sql "SELECT group_concat(uuid, ' ') FROM (SELECT DISTINCT d.uuid FROM job j JOIN device d ON d.id = j.device WHERE j.target_sha IN ($1) ORDER BY d.uuid)"; }
busy() { api workers | jq -r '[.items[] | select(.state == "busy")] | length'; }
n_busy() { [ "$(busy)" = "$1" ]; }

host_config ""
start_daemon
is "a host is judged on" "$(result_of "$(head_of kernels)")" "done unchanged"
hold_push one 1
one=$sha
hold_push two 2
two=$sha
ok "a job on each device, each with its build" await has holds-one
ok "at the same time" await has holds-two
is "both devices run a job" "$(busy)" 2
n_cores=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')
if [ "$n_cores" -ge 2 ]; then
	is "no core is of both" "$(sort "$tmp"/cores-one "$tmp"/cores-two | python3 -c '
import sys
def cores(line):
    for part in line.split()[1].split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
one, two = (set(cores(line)) for line in sys.stdin)
print(sorted(one & two), bool(one and two))')" "[] True"
else
	skip "no core is of both" "there is one core here"
fi
touch "$tmp/go"
like "and judged" "$(result_of "$one"), $(result_of "$two")" '^done [a-z]+, done [a-z]+$'
is "on two devices" "$(devices_of "'$one', '$two'")" "sim-0 sim-1"

# ---- one goes away -----------------------------------------------------------------------------------------------------------
put "$tmp/devices" 1
branch kernels three main
echo 1.1 >"$tmp/kernels/kernels/factor"
commit kernels three
push kernels three
is "an absent device does not stop the other" "$(result_of "$(head_of kernels)")" "done regression"
is "which had the job" "$(devices_of "'$(head_of kernels)'")" "sim-1"
is "and is absent" "$(sql "SELECT group_concat(uuid || ' ' || state, ', ') FROM (SELECT * FROM device ORDER BY uuid)")" "sim-0 absent, sim-1 ok"
stop_daemon

# ---- only some of them ---------------------------------------------------------------------------------------------------------
echo 0,broken,2 >"$tmp/devices"
host_config ', devices: [2]'
start_daemon
branch kernels four main
echo 1.2 >"$tmp/kernels/kernels/factor"
echo "grep Cpus_allowed_list /proc/self/status >$tmp/cores-four" >"$tmp/kernels/kernels/recipe"
commit kernels four
push kernels four
is "a host of which one device is meant" "$(result_of "$(head_of kernels)")" "done regression"
is "is measured on that one" "$(devices_of "'$(head_of kernels)'")" "sim-2"
is "with every core, since no other job may run there" "$(cat "$tmp/cores-four")" "$(grep Cpus_allowed_list /proc/self/status)"
is "which is all that it has" "$(sql "SELECT group_concat(uuid || ' ' || state, ', ') FROM (SELECT * FROM device ORDER BY uuid)")" "sim-0 absent, sim-1 absent, sim-2 ok"
like "a broken one hides none, and is named" "$(cat "$tmp/log")" 'ev=device.left_out .*sim:1 is left out'
is "by one job at a time" "$(api workers | jq '.items | length')" 1
