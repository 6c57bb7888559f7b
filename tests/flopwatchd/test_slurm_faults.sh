#!/bin/bash
# Faults of a cluster during a job, on two nodes with one simulated GPU each: each job ends with one verdict, its log names the
# fault, and neither an allocation nor a process is left. The argument `all` adds two faults that take two minutes.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "faults of a cluster" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of two nodes" slurm_start one two

cat >"$tmp/worker" <<EOF
#!/bin/sh
case \$SLURMD_NODENAME in one) export FLOPWATCH_SIM_DEVICES=0 ;; *) export FLOPWATCH_SIM_DEVICES=1 ;; esac
exec "$bin/flopwatch-worker" "\$@"
EOF
chmod +x "$tmp/worker"
write_config "workers: [{name: cluster, device: sim, max_jobs: 1, cache: $tmp/cache, command: [$tmp/worker, serve],
  slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false, time: 30 min}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none"

worker_processes="^$bin/flopwatch-worker .* --cache $tmp/cache"
n_pushed=0
# A commit whose build touches holds-NAME and waits until the test creates go-NAME.
push_held() { # name: its commit in $sha
	n_pushed=$((n_pushed + 1))
	branch kernels "$1" main
	echo "touch $tmp/holds-$1; until [ -e $tmp/go-$1 ]; do sleep 0.05; done" >"$tmp/kernels/kernels/recipe"
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor" # another module, within the threshold
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
hold_push() { # name: as push_held; its allocation and node are known once it builds
	push_held "$1"
	await [ -e "$tmp/holds-$1" ]
	read -r allocation node < <(squeue --noheader --states=RUNNING --format='%i %N')
}
n_waiting() { [ "$(slurm_jobs PENDING | wc -l)" = "$1" ]; }
attempt() { sql "SELECT attempt FROM job WHERE id = $(job_of "$sha")"; }
has_no_process() { # of the cluster's workers and of their builds
	! pgrep -f "$worker_processes" >"$tmp/left"
}
ends_once() { # name, attempts, pattern of its log
	touch "$tmp/go-$1"
	is "$1: one verdict" "$(result_of "$sha") $(sql "SELECT count(*) FROM comparison WHERE target_sha = '$sha'")" "done unchanged 1"
	is "$1: attempts" "$(attempt)" "$2"
	like "$1: its log" "$(api "jobs/$(job_of "$sha")/log")" "$3"
	ok "$1: no allocation is left" await slurm_has_none
	ok "$1: no process is left" await has_no_process
}
tried_again() { [ "$(attempt)" = 2 ]; }
resume() { # a node that was idle at once has no state to resume from
	scontrol update NodeName="$node" State=RESUME 2>/dev/null
	await slurm_node_is idle
}

new_repo kernels
push kernels main
start_daemon || exit 1
is "a push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
await slurm_has_none

hold_push worker
pkill -9 -f "$worker_processes"
await tried_again
ends_once worker 2 "srun: error: $node: task 0: Killed \(attempt 1 of 3\)"

hold_push cancelled
scancel "$allocation"
await tried_again
ends_once cancelled 2 "STEP $allocation.0 ON $node CANCELLED AT .* \(attempt 1 of 3\)"

hold_push limit
scontrol update JobId="$allocation" TimeLimit=0
await tried_again
ends_once limit 2 "STEP $allocation.0 ON $node CANCELLED AT .* DUE TO TIME LIMIT"

hold_push down
scontrol update NodeName="$node" State=DOWN Reason=test
await tried_again
ends_once down 2 "(Node failure on $node|DUE TO NODE FAILURE).* \(attempt 1 of 3\)"
resume

# What does not interrupt a job: its node drains, its slurmd restarts, and a requeue, which Slurm allows only for batch jobs.
hold_push drain
scontrol update NodeName="$node" State=DRAIN Reason=test
like "Slurm requeues no srun" "$(scontrol requeue "$allocation" 2>&1)" "Only batch jobs"
slurm_node_kill "$node"
slurm_node "$node"
ends_once drain 1 "measured: device held"
resume

# The first takes a minute of silence. Of the second test_executor has a short form: the controller loses its state while a request
# waits, and srun waits for an answer without an end.
if [ "${1-}" = all ]; then
	hold_push step
	kill -9 "$(ps -o ppid= -p "$(pgrep -o -f "$worker_processes")")"
	await tried_again
	ends_once step 2 "the worker sent nothing for 60 s"

	scontrol update NodeName=one,two State=DRAIN Reason=test
	push_held forgotten
	await n_waiting 1
	slurm_controller_restart forget
	touch "$tmp/go-forgotten"
	ends_once forgotten 1 "measured: device held"
	like "the daemon's log has the reason" "$(cat "$tmp/log")" "ev=worker.down .*Slurm no longer has the request"
	await slurm_node_is idle
fi

# ---- the daemon is killed while a request waits: nothing waits for its next start -------------------------------------------
scontrol update NodeName=one,two State=DRAIN Reason=test
push_held orphan
await n_waiting 1
stop_daemon KILL
ok "a killed daemon leaves no request" await slurm_has_none
scontrol update NodeName=one,two State=RESUME
start_daemon
ends_once orphan 1 "measured: device held"

stop_daemon
ok "a daemon that ends leaves no allocation" await slurm_has_none
