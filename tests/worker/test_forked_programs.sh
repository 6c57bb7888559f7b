#!/bin/bash
# Start-up is paid once: a Python benchmark imports its modules once a side, and forks each run. What prevents forks, what runs leave
# behind, and how runs end.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

notes() {
	api "comparisons/$(sql "SELECT $newest")" | jq -r '.notes[]?.text'
}
starts() { # lines of NAME in the log of the last push; the log is new for each push
	grep -c "^$1\$" "${2:-$tmp/log}" || true
}
git init -q --bare -b main "$tmp/one.git"
git init -q -b main "$tmp/one"
git -C "$tmp/one" remote add origin "$tmp/one.git"
# without a sandbox the program can write its log, and left processes are no longer below its parent
write_config "sandbox: ${FW_TEST_SANDBOX:-none}" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
cat >"$tmp/one/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  one: {command: [/usr/bin/python3, bench.py], reader: flopwatch, gpu: false, fork: true, timeout_s: 60, budget_s: 60}
YAML
cat >"$tmp/one/slow.py" <<PY
import os
import sys
def note(what):
    with open("$tmp/log", "a") as log:
        log.write(what + "\n")
note("import")
pid = os.getpid()
def note_run():
    note("fresh" if os.getpid() == pid else "forked")
    note("of %d" % os.getppid())
PY
bench() { # LINES ahead of the cells, in the body of a call, before each call (not timed)
	printf '%s\n' "import os, subprocess, sys, threading, time" "import flopwatch, slow" "$1" \
		"def spend(ms):" "    end = time.perf_counter_ns() + ms * 1e6" "    while time.perf_counter_ns() < end: pass" \
		"for key in 'a', 'b':" "    for call in flopwatch.cell(key):" "        if call.made == 0: slow.note_run()" "        ${3:-pass}" "        with call:" "            spend(1)" "        ${2:-pass}" >"$tmp/one/bench.py"
}
pushed() { # NAME: on a branch
	: >"$tmp/log"
	branch one "$1" main
	commit one "$1"
	push one "$1"
	in_the_end "$(head_of one)"
	git -C "$tmp/one" checkout -q main
}
start_daemon
bench ""
: >"$tmp/log"
is "a program is compared with itself" "$(on_main one first)" "done unchanged"
imports() { # that the runs in the log need: a process forks the list and eight runs, of two cells and sides
	echo $((2 * (($(starts forked) / 4 - 1 + 7) / 8)))
}
few() { # a busy machine may end a parent early, and the side imports once more
	echo $(($(starts import) >= $(imports) && $(starts import) <= $(imports) + 2))
}
is "its lists and runs are as many as recorded, or some are repeated" \
	"$(($(starts forked) >= $(sql "SELECT sum(2 * (1 + runs)) FROM cell WHERE comparison = $newest")))" 1
is "each side imports once for the list and eight of them" "$(few)" 1
# two cells of the list and of four runs are ten lines
is "a parent forks more than four runs, if there are more" \
	"$(($(grep '^of ' "$tmp/log" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }') > 10 || $(sql "SELECT max(runs) FROM cell WHERE comparison = $newest") < 5))" 1
is "its start is a step of device time" "$(api "comparisons/$(sql "SELECT $newest")" | jq '.steps.start > 0')" true
bench "" "x = 1"
is "so does a branch" "$(pushed harmless)" "done unchanged"
is "with as few imports" "$(few)" 1

# ---- fresh processes; on a busy machine their times may be undecided
bench "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()"
like "a program with threads is not forked" "$(pushed threads)" '^done (unchanged|undecided)$'
is "after its list, base neither" "$(($(starts fresh) > $(starts forked)))" 1
like "with a note" "$(notes)" 'every run starts the benchmark again, because its process cannot fork runs: it has other threads before its first call: '
bench "subprocess.Popen(['sleep', '100'])"
like "one with child processes, too" "$(pushed children)" '^done (unchanged|undecided)$'
like "with another reason" "$(notes)" 'cannot fork runs: it has child processes before its first call'

# ---- ends
bench "" "if call.made == 3 and key == 'b' and not call.interleave.is_list: os.abort()"
is "a run that dies fails its cell" "$(pushed dies) $(cells | tr '\n' ';')" "done failed a unchanged ;b failed crash;"
like "with its signal" "$(why b)" 'killed by SIGABRT'
is "and the next one imports again" "$(($(starts import) > 2))" 1
bench "" "if call.made == 3 and key == 'b' and not call.interleave.is_list: call.interleave.send('fork')"
is "a line of another kind ends a run" "$(pushed odd) $(cells | tr '\n' ';')" 'done failed a failed protocol;b failed protocol;'

# ---- left processes
left=/bin/sleep\ 1$$
leave="subprocess.Popen('$left'.split(), start_new_session=True)"
bench "" "" "if key == 'b' and call.made == 1: $leave"
like "what a run leaves" "$(pushed leaves)" '^done (unchanged|undecided)$'
is "is ended" "$(pgrep -cfx "$left" || true)" 0
bench "" "" "if key == 'a' and call.made == 1 and subprocess.run(['pgrep', '-fx', '$left'], stdout=subprocess.DEVNULL).returncode == 0: os.abort()
        if key == 'b' and call.made == 1: $leave"
like "before the next run begins" "$(pushed finds)" '^done (unchanged|undecided)$'

# ---- a manifest's choice
sed -i 's/fork: true/fork: false/' "$tmp/one/.flopwatch.yaml"
bench ""
: >"$tmp/log"
sed -i "s:$tmp/log:$tmp/fresh.log:" "$tmp/one/slow.py" # a job for main's history may run older commits, with their log
like "main without forks, whose processes may scatter more" "$(on_main one fresh)" '^done (unchanged|undecided)$'
is "as long as its base has forks" "$(starts fresh) $(starts fresh "$tmp/fresh.log")" "0 0"
: >"$tmp/fresh.log"
sed -i 's/fork: false/fork: true/' "$tmp/one/.flopwatch.yaml"
pushed allows >"$tmp/verdict"
is "then nothing is forked, also if the branch allows it" "$(starts forked "$tmp/fresh.log")" 0
is "but runs" "$(($(starts fresh "$tmp/fresh.log") > 4))" 1

# ---- in the sandbox, whose folder alone the program can write
stop_daemon
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: two, url: $tmp/two.git}]"
git init -q --bare -b main "$tmp/two.git"
git init -q -b main "$tmp/two"
git -C "$tmp/two" remote add origin "$tmp/two.git"
sed 's/fork: false/fork: true/' "$tmp/one/.flopwatch.yaml" >"$tmp/two/.flopwatch.yaml"
cp "$tmp/one/bench.py" "$tmp/two"
cat >"$tmp/two/slow.py" <<'PY'
def note(what):
    with open(what, "a") as log:
        log.write(what + "\n")
def note_run():
    note("run")
def count(what):
    try:
        with open(what) as log:
            return len(log.readlines())
    except OSError:
        return 0
if count("run") < 2 * 9 * (count("import") - 3):  # two cells, and nine runs of a parent, the list included; three may end early
    raise SystemExit("imported again")
note("import")
PY
start_daemon
like "a parent in the sandbox forks, too" "$(on_main two sandbox)" '^done (unchanged|undecided)$'
