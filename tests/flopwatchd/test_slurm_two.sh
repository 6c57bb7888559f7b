#!/bin/bash
# Two workers of one kind with separate builds, through a real Slurm: the second does not repeat builds of the first.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "builds of two workers through Slurm" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of our own" slurm_start

printf '#!/bin/sh\nFLOPWATCH_SIM_DEVICES=$CUDA_VISIBLE_DEVICES exec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
entry() { # name, max_jobs: a worker with a separate cache
	echo "{name: $1, device: sim, max_jobs: $2, cache: $tmp/cache-$1, command: [$tmp/worker, serve], slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false}, build: {partition: cpu, cpus: 1}}"
}
write_config "workers: [$(entry one 1), $(entry two 1)]" "repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" 'sandbox: {mode: none}'

n_pushed=0
new_push() { # branch: its commit in $sha
	n_pushed=$((n_pushed + 1))
	branch kernels "$1" main
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor" # another module, within the threshold
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
builders() { api "jobs/$(job_of "$1")/log" | sed -n 's/.* sent to worker \(.*\), to be built$/\1/p' | tr '\n' ' '; }
was_built() { api "jobs/$(job_of "$1")/log" | grep -q 'built; waits for a device'; }
waits_to_measure() { # worker
	[ -n "$(api workers | jq -r --arg name "$1" '.items[] | select(.name == $name and .state == "pending" and .to == "measure") | .name')" ]
}

new_repo kernels
push kernels main
start_daemon || exit 1
is "a push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
await slurm_has_none

srun --quiet --ntasks=1 --gres=gpu:h200:2 sleep 1000 >"$tmp/srun" 2>&1 &
busy=$!
await slurm_node_is mixed
new_push first
first=$sha
ok "what one has built" await was_built "$first"
ok "waits for its device" await waits_to_measure one
new_push second
second=$sha
ok "what comes then is built by the other" await was_built "$second"
ok "and waits for the other's" await waits_to_measure two
new_push third
third=$sha
has_plan() { [ "$(sql "SELECT count(*) FROM job_source WHERE job = $(job_of "$third")")" -gt 1 ]; }
ok "a third comes" await has_plan
is "each was built once" "$(builders "$first")/ $(builders "$second")/" "one / two /"
kill "$busy"
for sha in "$first" "$second" "$third"; do
	is "it is measured when there is a device" "$(result_of "$sha")" "done unchanged"
done
is "by whom it was built" "$(for sha in "$first" "$second" "$third"; do builders "$sha" | wc -w; done | tr '\n' ' ')" "1 1 1 "
await slurm_has_none

stop_daemon
ok "a daemon that ends leaves nothing there" await slurm_has_none
