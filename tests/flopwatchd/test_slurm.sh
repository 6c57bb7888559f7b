#!/bin/bash
# Jobs through a real Slurm: one node with two simulated GPUs, device sim. Interruptions by the cluster cost a job no attempt.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "jobs through Slurm" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of our own" slurm_start

# Slurm assigns GPUs by CUDA_VISIBLE_DEVICES; device sim has one of that number. $tmp/pause stops a job before it is measured.
cat >"$tmp/worker" <<EOF
#!/bin/sh
FLOPWATCH_SIM_DEVICES=\$CUDA_VISIBLE_DEVICES exec "$bin/flopwatch-worker" --build-jobs 2 "\$@"
EOF
chmod +x "$tmp/worker"
cluster() { # max_jobs, more limits
	write_config "workers: [{name: cluster, device: sim, max_jobs: $1, cache: $tmp/cache, command: [$tmp/worker, serve],
  slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false, time: 30 min}}]" \
		"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none" "limits: {hello: 10 s, job: 10 s, offline_after: 2 s$2}"
}
n_pushed=0
faster() { # a work factor that no commit had before: another module, and within the threshold
	n_pushed=$((n_pushed + 1))
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor"
}
new_push() { # name: a branch; its commit in $sha
	branch kernels "$1" main
	faster
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
# A build that waits until the test releases it: the job holds its allocation.
hold_push() {
	branch kernels "$1" main
	echo "touch $tmp/holds-$1; until [ -e $tmp/go ]; do sleep 0.05; done" >"$tmp/kernels/kernels/recipe"
	faster
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
workers() { api workers | jq -r "[.items[] | $1] | join(\" \")"; }
waits_for() { workers 'select(.state == "pending") | .why' | grep -q "$1"; }
n_of() { [ "$(slurm_jobs "$1" | wc -l)" = "$2" ]; }
has() { [ -e "$tmp/$1" ]; }

new_repo kernels
push kernels main
cluster 2 ""
like "config check asks Slurm for no allocation" "$("$bin/flopwatchd" --config "$tmp/c.yml" --probe)" 'cluster queries Slurm, which has 1 nodes idle with gpu:h200:2'
start_daemon
is "a push is judged in an allocation" "$(result_of "$(head_of kernels)")" "done unchanged"
like "its device is known by the node that gave it" "$(sql "SELECT worker || ' ' || host || ' ' || on_call FROM device")" "^cluster $(hostname -s) 1$"
await slurm_has_none

# ---- two at once -------------------------------------------------------------------------------------------------------
hold_push one
one=$sha
hold_push two
two=$sha
await has holds-one
ok "a second job begins while the first runs" await has holds-two
is "on another GPU" "$(workers 'select(.state == "busy") | .device' | tr ' ' '\n' | sort | tr '\n' ' ')" "sim-0 sim-1 "
touch "$tmp/go"
is "both are judged" "$(result_of "$one"), $(result_of "$two")" "done unchanged, done unchanged"
await slurm_has_none

# ---- a node that is busy for longer than every deadline --------------------------------------------------------------------
srun --quiet --ntasks=1 --gres=gpu:h200:2 sleep 1000 &
busy=$!
await n_of RUNNING 1
new_push waits
waits=$sha
ok "the reason is reported" await waits_for Resources
is "to who listens as well" "$(sql "SELECT payload ->> 'worker' || ' ' || (payload ->> 'why') FROM event WHERE kind = 'worker.pending' ORDER BY id DESC LIMIT 1")" "cluster Resources"
since=$SECONDS
like "with its place" "$(workers 'select(.state == "pending") | "\(.position) \(.allocation)"')" '^1 [0-9]+'
like "by the command line too" "$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" jobs)" 'WARNING worker cluster waits for an allocation, job [0-9]+ at position 1 of its queue: Resources'
like "and to Prometheus" "$(http GET /metrics)" 'flopwatch_worker_pending_position\{worker="cluster",slot="[01]",reason="Resources"\} 1'
like "and on the page of the queue" "$(http GET /jobs)" 'waits for an allocation, job [0-9]+ at position 1 of its queue: Resources'
beyond() { [ $((SECONDS - since)) -gt 12 ]; } # the longest limit of the configuration is 10 s
await beyond
is "nothing was lost meanwhile" "$(job_field "$(job_of "$waits")" state) $(workers 'select(.state == "pending") | .state')" "queued pending"
is "a device that a scheduler has is not silent" "$(api alerts | jq '.items | length')" 0

# ---- cancelled while it waits ----------------------------------------------------------------------------------------------
post "jobs/$(job_of "$waits")/cancel" >/dev/null
ok "a cancelled job leaves nothing in Slurm's queue" await n_of PENDING 0

# ---- the daemon is killed while something waits ------------------------------------------------------------------------------
new_push orphan
orphan=$sha
await waits_for Resources
stop_daemon KILL
start_daemon
ok "a daemon that was killed has one allocation, not two" await waits_for Resources
ok "its requests are cancelled" await n_of PENDING 1
kill "$busy" 2>/dev/null
is "and the job is judged when there is room" "$(result_of "$orphan")" "done unchanged"
is "at its first attempt" "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$orphan")")" 1
await slurm_has_none

# ---- scancel, a killed srun, a controller that comes back ----------------------------------------------------------------------
rm -f "$tmp/go"
hold_push taken
await has holds-taken
old=$(slurm_jobs RUNNING)
scancel "$old"
has_another() { # the cancelled allocation may still run for a moment
	local ids
	ids=$(slurm_jobs RUNNING)
	[ -n "$ids" ] && [ "$ids" != "$old" ]
}
again() { [ "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$sha")")" = "$1" ]; }
ok "after scancel the job is tried again" await again 2
await has_another
pkill -9 -P "$daemon_pid" -x srun # all of them: the srun of the previous attempt may still be ending
ok "after its srun was killed, too" await again 3
ok "with one allocation, not two" await n_of RUNNING 1
ok "the controller comes back" slurm_controller_restart
scancel --quiet --name=sleep # a killed controller restores its last state, which has our ended allocations; no other code removes them
touch "$tmp/go"
is "a controller that is restarted in the middle of a job changes nothing" "$(result_of "$sha")" "done unchanged"
await slurm_has_none

# ---- an allocation that a controller without its state restores: no job needs it any more ------------------------------------
name=$(squeue --noheader --states=all --format=%j | grep -m 1 '^flopwatch-')
srun --quiet --ntasks=1 --gres=gpu:h200:1 --job-name="${name%-*}-999" sleep 1000 2>/dev/null &
ok "an allocation without an owner is found" await grep -q "ev=slurm.cancel .*name=${name%-*}-999 " "$tmp/log"
ok "and cancelled" await slurm_has_none

# ---- a drained node ------------------------------------------------------------------------------------------------------------
scontrol update NodeName="$(hostname -s)" State=DRAIN Reason=test
new_push drained
ok "a drained node is a reason to wait" await waits_for 'ReqNodeNotAvail\|DRAIN'
scontrol update NodeName="$(hostname -s)" State=RESUME
is "and no more than that" "$(result_of "$sha")" "done unchanged"

stop_daemon
ok "a daemon that ends leaves nothing there" await slurm_has_none
