#!/bin/bash
# A real Slurm that allocates an unsuitable GPU: the daemon gets the other one, and no allocation is left.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "devices through Slurm" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of our own" slurm_start

printf '#!/bin/sh\nFLOPWATCH_SIM_DEVICES=$CUDA_VISIBLE_DEVICES exec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
write_config "workers: [{name: cluster, device: sim, max_jobs: 2, cache: $tmp/cache, command: [$tmp/worker, serve],
  slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false, time: 30 min}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none"
n_pushed=0
new_push() { # branch: its commit in $sha
	n_pushed=$((n_pushed + 1))
	branch kernels "$1" main
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor" # another module, within the threshold
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
why() { api workers | jq -r '[.items[] | select(.state == "pending") | .why] | join(", ")'; }
says() { why | grep -q "$1"; }
runs() { [ "$(slurm_jobs RUNNING | wc -l)" = "$1" ]; }
device_of() { sql "SELECT d.uuid FROM job j JOIN device d ON d.id = j.device WHERE j.id = $(job_of "$1")"; }
cli() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@" 2>&1; }

new_repo kernels
push kernels main
start_daemon || exit 1
is "a push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
is "on the first GPU" "$(device_of "$(head_of kernels)")" sim-0
await slurm_has_none

cli pause sim-0 >/dev/null
new_push one
is "when that is paused the next is judged" "$(result_of "$sha")" "done unchanged"
is "on the other" "$(device_of "$sha")" sim-1
ok "and nothing is left" await slurm_has_none
cli resume sim-0 >/dev/null

ok "a job that asks for the second by name" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" calibrate --repo kernels --device sim-1
calibrated() { [ "$(sql "SELECT count(*) > 0 AND min(state = 'done') FROM job WHERE kind = 'calibrate'")" = 1 ]; }
ok "has it" await calibrated
is "and no other" "$(sql "SELECT DISTINCT d.uuid FROM job j JOIN device d ON d.id = j.device WHERE j.kind = 'calibrate'")" sim-1
ok "and nothing is left of that either" await slurm_has_none

# ---- the other is busy ---------------------------------------------------------------------------------------------------
srun --quiet --ntasks=1 --gres=gpu:h200:1 sleep 1000 &
first=$!
await runs 1
srun --quiet --ntasks=1 --gres=gpu:h200:1 sleep 1000 &
busy=$!
await runs 2
kill "$first"
await runs 1
cli pause sim-0 >/dev/null
new_push two
ok "while the other is busy the unusable allocation is reported" await says 'the allocation has sim-0 (paused), which fits no queued job'
like "on the page of the queue" "$(http GET /jobs)" 'waits for an allocation(, job [0-9]+)?: the allocation has sim-0 \(paused\)'
like "by the command line" "$(cli jobs)" 'waits for an allocation(, job [0-9]+)?: the allocation has sim-0 \(paused\)'
post "jobs/$(job_of "$sha")/cancel" >/dev/null
ok "a job that is cancelled leaves what is busy alone" await runs 1
new_push three
await says 'the allocation has sim-0 (paused)'
stop_daemon KILL
start_daemon
await says 'the allocation has sim-0 (paused)'
ok "a daemon that was killed has one that is of no use, not two" await runs 2
kill "$busy" 2>/dev/null
is "and its job is judged when there is a GPU" "$(result_of "$sha")" "done unchanged"
is "which fits" "$(device_of "$sha")" sim-1
stop_daemon
ok "a daemon that ends leaves nothing there" await slurm_has_none
