#!/bin/bash
# A profile yields to a push, through a real Slurm where other jobs wait for the same GPU: the push gets the allocation of the profile.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "a profile that yields in Slurm" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of our own" slurm_start

printf '#!/bin/sh\necho $SLURM_JOB_ID >>%s\nFLOPWATCH_SIM_DEVICES=$CUDA_VISIBLE_DEVICES exec "%s" "$@"\n' "$tmp/allocations" "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
write_config "workers: [{name: cluster, device: sim, max_jobs: 1, cache: $tmp/cache, command: [$tmp/worker, serve],
  slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false, time: 30 min}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none"
strangers() { [ "$(squeue --noheader --name=sleep --states="$1" | wc -l)" = "$2" ]; }
profile_is() { [ "$(sql "SELECT state FROM job WHERE kind = 'profile'")" = "$1" ]; }
allocations() { wc -l <"$tmp/allocations"; }

new_repo kernels
push kernels main
start_daemon || exit 1
is "a push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
branch kernels slow main
echo 1.06 >"$tmp/kernels/kernels/factor"
echo "while [ -e $tmp/hold ]; do touch $tmp/held; sleep 0.05; done" >"$tmp/kernels/kernels/recipe"
commit kernels slow
push kernels slow
is "a slower one, too" "$(result_of "$(head_of kernels)")" "done regression"
ok "nothing is left there" await slurm_has_none

# ---- a running profile, and another user's job that waits for its GPU ----
touch "$tmp/hold"
rm -rf "$tmp/cache/builds"/* # so that the profile builds, and can be held
like "a profile is asked for" "$(post profiles "{\"comparison\": $(job_field "$(job_of "$(head_of kernels)")" comparison)}")" '"state":"queued"'
ok "it begins" await test -e "$tmp/held"
srun --quiet --ntasks=1 --gres=gpu:h200:1 sleep 1000 2>/dev/null &
ok "the other GPU belongs to another user's job" await strangers RUNNING 1
srun --quiet --ntasks=1 --gres=gpu:h200:1 sleep 1000 2>/dev/null &
ok "who wants this one, too" await strangers PENDING 1
n=$(allocations)
branch kernels other main
echo 0.997 >"$tmp/kernels/kernels/factor"
commit kernels other
push kernels other
is "a push is judged all the same" "$(result_of "$(head_of kernels)")" "done unchanged"
is "in the allocation of the profile" "$(allocations)" "$n"
is "which yielded to it, without counting the attempt" "$(sql "SELECT attempt || ' ' || (SELECT count(*) FROM job_log l WHERE l.job = j.id AND l.line LIKE 'queued: preempted by J%') FROM job j WHERE kind = 'profile'")" "0 1"
ok "then the other user's job has the GPU" await strangers RUNNING 2

# ---- once a device is free again ----
rm -f "$tmp/hold"
scancel --name=sleep
ok "the profile is made" await profile_is done
is "in one of its own" "$(allocations)" $((n + 1))
ok "and nothing is left there" await slurm_has_none
stop_daemon
is "the daemon ends in order" $? 0
