#!/bin/bash
# Separate measuring cores: the kernel's affinity of the real processes of a daemon, its build and its runners.
# Runs beside three others.  it must see runners, which live briefly
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

allowed() { awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$1/status"; }
mapfile -t ours < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ ${#ours[@]} -ge 2 ] || { skip "cores kept apart" "there is one core here"; exit 0; }
measure=${ours[-1]} serve=${ours[0]}
config() { # measuring cores
	write_config "cores: {measure: $1}" 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
		"repos: [{name: kernels, url: $tmp/kernels.git}]"
}
new_repo kernels
echo "grep Cpus_allowed_list /proc/self/status" >"$tmp/kernels/kernels/recipe"
commit kernels "tell the cores"
push kernels main

config "\"$measure\""
start_daemon || exit 1
rest=$(python3 -c "
import os
left = sorted(os.sched_getaffinity(0) - {$measure})
out, i = [], 0
while i < len(left):
    j = i
    while j + 1 < len(left) and left[j + 1] == left[j] + 1:
        j += 1
    out.append(str(left[i]) if i == j else f'{left[i]}-{left[j]}')
    i = j + 1
print(','.join(out))")
is "the daemon keeps to the cores that do not measure" "$(allowed "$daemon_pid")" "$rest"
like "and reports that" "$(cat "$tmp/log")" "ev=cores .*measure=$measure serve=$rest"
cat >"$tmp/watch.py" <<'PY'
"""CPUs that worker and runners below process ARGV[1] may use, until both were seen, or file ARGV[2] exists. ARGV[3] is written at the start."""
import os, sys, time
seen, until = set(), time.monotonic() + 180
open(sys.argv[3], "w").close()
while time.monotonic() < until and not os.path.exists(sys.argv[2]) and len({s.split()[0] for s in seen}) < 2:
    parent, name, cores = {}, {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = dict(l.split(":\t", 1) for l in open(f"/proc/{pid}/status").read().splitlines() if ":\t" in l)
        except OSError:
            continue
        parent[pid], name[pid], cores[pid] = status["PPid"], status["Name"], status["Cpus_allowed_list"]
    for pid in parent:
        up = pid
        while up in parent and up != sys.argv[1]:
            up = parent[up]
        if up == sys.argv[1] and name[pid] in ("flopwatch-runne", "flopwatch-worke", "flopwatch-runner", "flopwatch-worker"):
            seen.add(name[pid][:15] + " " + cores[pid])
    time.sleep(0.01)
print(*sorted(seen), sep="\n")
PY
python3 "$tmp/watch.py" "$daemon_pid" "$tmp/done" "$tmp/looks" >"$tmp/seen" &
watcher=$!
await test -e "$tmp/looks" || exit 1
for n in $(seq 20); do # a runner lives briefly, and this process may miss it
	echo "1.00$n" >"$tmp/kernels/kernels/factor"
	commit kernels "another factor"
	push kernels main
	judged=$(result_of "$(head_of kernels)")
	kill -0 "$watcher" 2>/dev/null || break
done
is "a push is judged" "$judged" "done unchanged"
touch "$tmp/done"
wait "$watcher"
is "worker and runners have the others" "$(cat "$tmp/seen")" "flopwatch-runne $measure
flopwatch-worke $measure"
like "and so has the build" "$(api "jobs/$(job_of "$(head_of kernels)")/log")" "Cpus_allowed_list:.$measure\$"
stop_daemon

config shared
start_daemon || exit 1
is "shared: the daemon may use every core" "$(allowed "$daemon_pid")" "$(allowed $$)"
stop_daemon
config auto
start_daemon || exit 1
if [ ${#ours[@]} -lt 4 ]; then
	is "auto: so too where there are few" "$(allowed "$daemon_pid")" "$(allowed $$)"
else
	unlike "auto: the daemon leaves most where there are many" "$(allowed "$daemon_pid")" "^$(allowed $$)\$"
fi
stop_daemon
config 4095-9999
fails "cores that no machine has are a mistake" 2 "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
like "as a sentence" "$out" 'cores.measure: .*neither auto, shared nor a list'
config 1023
fails "and one that this machine has not" 2 timeout 10 "$bin/flopwatchd" --config "$tmp/c.yml"
like "as a sentence" "$out" 'names a core that is not among ours'
