#!/bin/bash
# Builds in separate allocations, through a real Slurm: a partition without GPUs for them, one with two simulated ones to measure.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/slurm.sh"
if ! slurm_is_here; then
	skip "builds through Slurm" "needs munge, slurmctld and slurmd, and root"
	exit 0
fi
ok "a Slurm of our own" slurm_start

# Purpose and devices of each allocation, a line in $tmp/allocations; if $tmp/other exists, measuring nodes have other compilers.
mkdir "$tmp/tools"
printf '#!/bin/sh\nexec /usr/bin/gcc "$@"\n' >"$tmp/tools/gcc"
chmod +x "$tmp/tools/gcc"
cat >"$tmp/worker" <<EOF
#!/bin/sh
aim=measure tools=
case " \$* " in *" --build-only "*) aim=build;; esac
[ \$aim = build ] || [ ! -e "$tmp/other" ] || tools="--toolchain $tmp/tools"
echo "\$aim job=\$SLURM_JOB_ID partition=\$SLURM_JOB_PARTITION gpus=\${CUDA_VISIBLE_DEVICES:-none}" >>"$tmp/allocations"
FLOPWATCH_SIM_DEVICES=\$CUDA_VISIBLE_DEVICES exec "$bin/flopwatch-worker" "\$@" \$tools
EOF
chmod +x "$tmp/worker"
write_config "workers: [{name: cluster, device: sim, max_jobs: 2, cache: $tmp/cache, command: [$tmp/worker, serve],
  slurm: {partition: gpu, gres: 'gpu:h200:1', exclusive: false, time: 30 min}, build: {partition: cpu, cpus: 1, time: 20 min}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}, {name: lines, url: $tmp/lines.git, poll: 1s}]" "sandbox: {mode: none, read_only: [$tmp/tools]}" "limits: {job: 120 s}"

n_pushed=0
faster() { # a work factor that no commit had before: another module, and within the threshold
	n_pushed=$((n_pushed + 1))
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor"
}
recipe() { # first commands of every build of this branch; all of them count themselves
	echo "cat factor >>$tmp/compiled; $1" >"$tmp/kernels/kernels/recipe"
}
new_push() { # branch, recipe: its commit in $sha
	branch kernels "$1" main
	recipe "$2"
	faster
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
hold="until [ -e $tmp/go ]; do sleep 0.05; done"
workers() { api workers | jq -r "[.items[] | $1] | join(\" \")"; }
waits_to() { [ -n "$(workers "select(.state == \"pending\" and .to == \"$1\" and .why == \"$2\") | .name")" ]; }
in_partition() { # partition, states: how many allocations
	squeue --noheader --partition="$1" --states="$2" --format=%i | wc -l
}
n_in() { [ "$(in_partition "$1" "$2")" = "$3" ]; }
n_of() { grep -c "^$1 " "$tmp/allocations"; }              # allocations that it ever got
n_measured() { echo "$(n_of measure) $(in_partition gpu all)"; } # and ever requested
compiled() { wc -l <"$tmp/compiled"; }
lines_of() { api "jobs/$1/log"; } # events in their order
log_of() { lines_of "$(job_of "$1")"; }
was_built() { log_of "$1" | grep -q 'build of target done'; }
building() { [ "$(in_partition cpu RUNNING)" = 1 ] && [ "$(job_field "$(job_of "$1")" state)" = building ]; }
running_build() { squeue --noheader --partition=cpu --states=RUNNING --format=%i; }
metrics() { curl -s "http://127.0.0.1:$(port)/metrics"; }
page() { curl -s "http://127.0.0.1:$(port)/jobs"; }
cli() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@" 2>&1; }

new_repo kernels
recipe :
faster
commit kernels "a build that counts itself"
push kernels main
git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
like "config check asks Slurm for both partitions" "$("$bin/flopwatchd" --config "$tmp/c.yml" --probe)" 'cluster queries Slurm for its builds, which has 1 nodes'
start_daemon
is "a push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
is "it was built in one allocation and measured in another" "$(cut -d ' ' -f 1 "$tmp/allocations" | tr '\n' ' ')" "build measure "
like "that of the build has no GPU" "$(grep ^build "$tmp/allocations")" 'partition=cpu gpus=none$'
like "that which measures has one" "$(grep ^measure "$tmp/allocations")" 'partition=gpu gpus=[01]$'
is "no device but one of those that measure is known" "$(sql "SELECT count(*) FROM device WHERE uuid NOT LIKE 'sim-%'")" 0
await slurm_has_none

# ---- while a build runs -------------------------------------------------------------------------------------------------
before=$(compiled) measured=$(n_measured)
new_push one "$hold"
one=$sha
ok "the job says that it is built" await building "$one"
shown=$(scontrol show job "$(running_build)")
like "its allocation is one of the build's partition" "$shown" 'Partition=cpu'
like "with its time" "$shown" 'TimeLimit=00:20:00'
unlike "and without any generic resource" "$shown" 'gres|gpu:'
is "nothing was asked of the GPUs" "$(n_measured)" "$measured"
touch "$tmp/go"
is "what was built is measured" "$(result_of "$one")" "done unchanged"
is "only its own side was compiled" "$(($(compiled) - before))" 1
log_of "$one" | sed '/built; waits for a device/,$d' >"$tmp/built"
log_of "$one" | sed '1,/built; waits for a device/d' >"$tmp/measured"
like "while it was built the base was there" "$(cat "$tmp/built")" 'build of base was cached'
like "and the target was not" "$(cat "$tmp/built")" 'build of target begins'
like "while it was measured both were" "$(grep -c 'was cached' "$tmp/measured") $(grep -c begins "$tmp/measured")" '^2 0$'
rm -f "$tmp/go"
await slurm_has_none

# ---- jobs without a GPU -------------------------------------------------------------------------------------------------
measured=$(n_measured)
new_push breaks 'echo this cannot be built; exit 3'
is "a build that fails is the result" "$(result_of "$sha")" "done failed"
like "with its log" "$(api "jobs/$(job_of "$sha")/log")" 'this cannot be built'
comparison=$(sql "SELECT id FROM comparison WHERE job = $(job_of "$sha")")
like "its page has the reason" "$(http GET "/comparisons/$comparison")" 'build: make DEVICE=cpu: exit 2'
peer=$(post jobs "{\"repo\": \"kernels\", \"target\": \"$sha\", \"base_provider\": \"other\"}" | jq -r .id)
ok "so is that of a peer" await job_is "$peer" done
like "with the same reason" "$(api "comparisons/$(job_field "$peer" comparison)" | jq -r '.cells[0] | .failure + ": " + .reason')" 'other build \(the target too\): make DEVICE=cpu: exit 2'
is "and it is not tried again where it would be measured" "$(job_field "$peer" attempt)" 1
branch kernels comment main
echo '/* nothing but a word */' >>"$tmp/kernels/kernels/good.c"
commit kernels comment
push kernels comment
is "what builds to the same module is known to be equal" "$(result_of "$(head_of kernels)")" "done identical"
is "none asked for a GPU" "$(n_measured)" "$measured"

# ---- timeouts -------------------------------------------------------------------------------------------------------------
is_read() { [ "$(grep -c config.read "$tmp/log")" = "$1" ]; }
limit_builds() { # limits: reloads the configuration with them; with only `job` builds have no limit
	local n
	n=$(grep -c config.read "$tmp/log")
	sed -i "s/^limits:.*/limits: {$1}/" "$tmp/c.yml"
	kill -HUP "$daemon_pid"
	await is_read $((n + 1))
}
limit_builds "job: 120 s, build: 5 s"
builds=$(n_of build)
branch kernels endless main
recipe "echo \$\$ >$tmp/compiler; echo it compiles; exec sleep 1000"
commit kernels endless
push kernels endless
sha=$(head_of kernels)
is "a build that takes longer than limits.build has failed" "$(result_of "$sha")" "done failed"
comparison=$(sql "SELECT id FROM comparison WHERE job = $(job_of "$sha")")
is "its reason is reported" "$(api "comparisons/$comparison" | jq -r '[.cells[] | .failure + ": " + .reason] | unique[]')" \
	"build: make DEVICE=cpu: ran past 5 s and was ended (see doc/troubleshooting.md#build-timeout)"
like "also on its page" "$(http GET "/comparisons/$comparison")" 'ran past 5 s and was ended'
like "with what it said until then" "$(log_of "$sha")" 'it compiles'
is "it was tried once, in one allocation" "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$sha")") $(($(n_of build) - builds))" "1 1"
ok "which has ended" await slurm_has_none
fails "with all that ran in it" 1 kill -0 "$(cat "$tmp/compiler")"
is "it never asked for a GPU" "$(n_measured)" "$measured"
limit_builds "job: 120 s"

# ---- jobs without a build -------------------------------------------------------------------------------------------------
builds=$(n_of build) before=$(compiled)
again=$(post "jobs/$(job_of "$one")/retry" | jq -r .id)
ok "what was built before is measured again" await job_is "$again" done
is "without an allocation for a build" "$(n_of build)" "$builds"
is "and without a compiler" "$(compiled)" "$before"
printf 'echo "{\\"cell\\":\\"sum\\",\\"ms\\":[1,1,1]}"\n' >"$tmp/lines/bench.sh"
commit lines first
push lines main
is "a program of its own is measured" "$(result_of "$(head_of lines)")" "done unchanged"
is "where it is built" "$(n_of build)" "$builds"
await slurm_has_none

# ---- pending: a build, then a device ---------------------------------------------------------------------------------------
scontrol update PartitionName=cpu State=DOWN
srun --quiet --ntasks=1 --gres=gpu:h200:2 sleep 1000 &
busy=$!
await n_in gpu RUNNING 1
new_push waits :
waits=$sha
ok "a build waits, with its reason" await waits_to build PartitionDown
like "by the command line" "$(cli jobs)" 'WARNING worker cluster waits for an allocation to build, job [0-9]+ at position 1 of its queue: PartitionDown'
like "to Prometheus" "$(metrics)" 'flopwatch_worker_pending_position\{worker="cluster",slot="[23]",reason="PartitionDown",to="build"\} 1'
like "on the page of the queue" "$(page)" 'waits for an allocation to build, job [0-9]+ at position 1 of its queue: PartitionDown'
is "and to who listens" "$(sql "SELECT payload ->> 'to' || ' ' || (payload ->> 'why') FROM event WHERE kind = 'worker.pending' ORDER BY id DESC LIMIT 1")" "build PartitionDown"
is "as long as that waits nothing waits for a GPU" "$(in_partition gpu PENDING)" 0
scontrol update PartitionName=cpu State=UP
ok "what is built waits for a device, with its reason" await waits_to measure Resources
ok "it was built before" was_built "$waits"
like "the command line distinguishes them" "$(cli jobs)" 'cluster waits for an allocation to measure, job [0-9]+ at position 1 of its queue: Resources'
like "Prometheus too" "$(metrics)" 'slot="[01]",reason="Resources",to="measure"\} 1'
ok "no build is left in the queue" await n_in cpu PENDING,RUNNING 0
kill "$busy" 2>/dev/null
is "it is measured when there is one" "$(result_of "$waits")" "done unchanged"
is "at its first attempt" "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$waits")")" 1
await slurm_has_none

# ---- no leaked allocations ----------------------------------------------------------------------------------------------------
scontrol update PartitionName=cpu State=DOWN
new_push gone :
await waits_to build PartitionDown
post "jobs/$(job_of "$sha")/cancel" >/dev/null
ok "a job that is cancelled while its build waits leaves nothing" await n_in cpu PENDING 0

new_push newer :
older=$sha
await waits_to build PartitionDown
faster
commit kernels newer
push kernels newer
sha=$(head_of kernels)
is "a push that is superseded while its build waits is" "$(result_of "$older")" "superseded -"
await waits_to build PartitionDown
ok "and leaves one allocation, not two" await n_in cpu PENDING 1
stop_daemon KILL
start_daemon
ok "after a kill the next daemon waits" await waits_to build PartitionDown
ok "with one allocation, not two" await n_in cpu PENDING 1
scontrol update PartitionName=cpu State=UP
is "and the newer push is judged" "$(result_of "$sha")" "done unchanged"
await slurm_has_none

new_push killed "$hold"
killed=$sha
await building "$killed"
first=$(running_build)
stop_daemon KILL
start_daemon
another() { [ "$(in_partition cpu PENDING,RUNNING)" = 1 ] && [ -n "$(running_build)" ] && [ "$(running_build)" != "$first" ]; }
ok "a daemon that is killed while a build runs has one allocation again, another" await another
await building "$killed"
scancel "$(running_build)"
again() { [ "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$killed")")" = "$1" ]; }
ok "a build whose allocation is taken away is tried again" await again 2 # the attempt that the daemon was killed in does not count
touch "$tmp/go"
is "and is judged in the end" "$(result_of "$killed")" "done unchanged"
await slurm_has_none

# ---- missing modules -------------------------------------------------------------------------------------------------------------
rm -f "$tmp"/cache/builds/*
builds=$(n_of build)
again=$(post "jobs/$(job_of "$one")/retry" | jq -r .id)
ok "a cache that was cleared costs a job nothing but time" await job_is "$again" done
like "its log has that" "$(lines_of "$again")" 'is rebuilt on the measuring worker: its module is not in the cache there'
again=$(post "jobs/$(job_of "$waits")/retry" | jq -r .id)
ok "the next one" await job_is "$again" done
is "is built in an allocation again" "$(n_of build)" "$((builds + 1))"
touch "$tmp/other"
new_push other :
is "where who measures has other compilers, the push is judged" "$(result_of "$sha")" "done unchanged"
like "built by these, and that is reported" "$(log_of "$sha")" "is rebuilt on the measuring worker: it was built by gcc [^ ]* on .*, isolation none, the compiler there is gcc [^ ]* in $tmp/tools on "
is "what is recorded is what was measured" "$(sql "SELECT count(*) FROM comparison c JOIN build b ON b.id IN (c.base_build, c.target_build) WHERE c.job = $(job_of "$sha") AND b.toolchain LIKE '% in %'")" 2

stop_daemon
ok "a daemon that ends leaves nothing there" await slurm_has_none
