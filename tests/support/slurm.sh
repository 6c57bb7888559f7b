# slurm.sh - a Slurm of one node and two simulated GPUs, as the test's user, without systemd. Source it after tap.sh.
#
#   slurm_is_here             munge and Slurm are installed, and may be run like this
#   slurm_start               munged, slurmctld and slurmd in the foreground; returns when the node is idle
#   slurm_start NODE...       the same with one slurmd and one GPU for each node name; returns when all of them are idle
#   slurm_node NODE           starts the slurmd of this node
#   slurm_node_kill NODE      kills it; its jobs continue
#   slurm_controller_restart  slurmctld is killed and started again; jobs continue, unless `forget` follows: then it has no state
#   slurm_jobs [STATE]        ids of jobs, of one state if given
#
# All files are below $tmp/slurm, ports are free ones. Children of slurmd are the jobs; slurm_stop ends them with it.
slurm_dir=$tmp/slurm
export SLURM_CONF=$slurm_dir/slurm.conf

slurm_is_here() {
	PATH=$PATH:/usr/sbin:/sbin
	local program
	for program in munged slurmctld slurmd srun squeue scancel scontrol; do
		command -v "$program" >/dev/null || return 1
	done
	[ "$(id -u)" = 0 ] # slurmd runs jobs as the requesting user
}
slurm_free_ports() { # how many: different ones, below those that the system gives to others before Slurm binds them
	python3 -c 'import random, socket, sys
free = []
while len(free) < int(sys.argv[1]):
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(10000, 32768)))
        free.append(s)
    except OSError:
        s.close()
print(*(s.getsockname()[1] for s in free))' "$1"
}
slurm_run() { # name, command...: in the background
	local log=$slurm_dir/$1.log
	shift
	setsid "$@" >>"$log" 2>&1 </dev/null &
	echo $! >>"$slurm_dir/pids" # in files: callers may run in a subshell
	echo $! >"$slurm_dir/pid-${log##*/}"
}
slurm_nodes() { # the lines of ports and nodes
	local host node ports
	host=$(hostname -s)
	read -ra ports < <(slurm_free_ports $(($# + 2)))
	echo "SlurmctldPort=${ports[0]}"
	echo "SlurmdPort=${ports[1]}"
	if [ $# = 0 ]; then
		echo "NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=100 Gres=gpu:h200:2 State=UNKNOWN"
		return
	fi
	ports=("${ports[@]:2}")
	for node; do
		echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[0]} CPUs=4 RealMemory=100 Gres=gpu:h200:1 State=UNKNOWN"
		ports=("${ports[@]:1}")
	done
}
slurm_start() {
	local names node
	names=${*:-$(hostname -s)}
	mkdir -p "$slurm_dir/state" "$slurm_dir/spool"
	chmod 755 "$tmp" "$slurm_dir" # munge checks the permissions of its socket's path
	head -c 1024 /dev/urandom >"$slurm_dir/munge.key"
	chmod 400 "$slurm_dir/munge.key"
	cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool/%n
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmdPidFile=$slurm_dir/slurmd-%n.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
KillWait=2
MessageTimeout=60
SchedulerParameters=sched_min_interval=50000,batch_sched_delay=0,sched_interval=2
$(slurm_nodes "$@")
PartitionName=gpu Nodes=${names// /,} Default=YES MaxTime=INFINITE State=UP
PartitionName=cpu Nodes=${names// /,} MaxTime=INFINITE State=UP
CONF
	printf 'Name=gpu Type=h200 File=/dev/zero\n' >"$slurm_dir/gres.conf"
	[ $# -gt 0 ] || printf 'Name=gpu Type=h200 File=/dev/null\n' >>"$slurm_dir/gres.conf"
	slurm_run munged munged --foreground --force --socket="$slurm_dir/munge.sock" --key-file="$slurm_dir/munge.key" \
		--pid-file="$slurm_dir/munge.pid" --log-file="$slurm_dir/munge.log" --seed-file="$slurm_dir/munge.seed"
	await [ -S "$slurm_dir/munge.sock" ] || return 1
	slurm_controller
	for node in $names; do slurm_node "$node"; done
	await slurm_node_is idle
}
slurm_node() { # name
	slurm_run "slurmd-$1" slurmd -D -N "$1" -f "$SLURM_CONF"
}
slurm_node_kill() { # name
	kill -9 "$(cat "$slurm_dir/pid-slurmd-$1.log")"
}
slurm_controller() {
	slurm_run slurmctld slurmctld -D -f "$SLURM_CONF"
	await slurm_answers
}
slurm_answers() {
	scontrol ping >/dev/null 2>&1
}
slurm_controller_restart() { # "forget": it has lost its state
	local pid
	pid=$(cat "$slurm_dir/pid-slurmctld.log")
	kill -9 "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	[ "${1-}" != forget ] || rm -rf "$slurm_dir/state/"*
	slurm_controller
}
slurm_node_is() { # state, node: of all nodes without a name
	[ "$(sinfo --noheader --partition=gpu ${2:+--nodes="$2"} --format=%T 2>/dev/null)" = "$1" ]
}
slurm_jobs() {
	squeue --noheader --format=%i --states="${1:-all}" 2>/dev/null
}
slurm_has_none() { # no job that waits or runs
	[ -z "$(squeue --noheader --states=PENDING,RUNNING,CONFIGURING,SUSPENDED 2>&1)" ]
}
slurm_stop() {
	local pids
	scancel --me 2>/dev/null
	mapfile -t pids <"$slurm_dir/pids"
	kill "${pids[@]}" 2>/dev/null
	sleep 0.5
	kill -9 "${pids[@]}" 2>/dev/null
}
on_exit slurm_stop
