# daemon.sh - a real flopwatchd in a separate folder, for shell tests. Source it after tap.sh.
#
#   new_repo NAME             bare repository $tmp/NAME.git with a work tree $tmp/NAME and a first commit on main
#   new_lines_repo            the same as $tmp/lines, with a benchmark `lines` that runs bench.sh, which the test writes; nothing
#                             is committed
#   push NAME BRANCH          push HEAD of the work tree to BRANCH
#   commit NAME MESSAGE       commit everything
#   write_config [YAML...]    $tmp/c.yml: state, cache, port 0, one sim worker, no profiles; given lines replace workers and repos
#   start_daemon, stop_daemon [SIGNAL], daemon_is_up
#   api PATH [curl options]   body of GET /api/v1/PATH
#   job_field ID FIELD
#   await SECONDS COMMAND...  until it succeeds
#   sql TEXT                  queries the database directly
#
# The module under test is tests/modules/good.c, compiled with the work factor in kernels/factor, which determines its speed on
# device `sim`; kernels/flags has more compiler flags, e.g. a CONFIG that device `sim` reads. kernels/recipe is a shell command
# that the build runs first.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=t@example.org
export FLOPWATCH_SIM_SEED=${FLOPWATCH_SIM_SEED:-6} # the same noise in every run
daemon_pid=""

new_repo() {
	local dir=$tmp/$1
	git init -q --bare -b main "$dir.git"
	git init -q -b main "$dir"
	mkdir -p "$dir/kernels" "$dir/etc/suites"
	cp "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h" "$root/tests/modules/good.c" "$dir/kernels"
	echo 1.0 >"$dir/kernels/factor"
	echo : >"$dir/kernels/recipe"
	: >"$dir/kernels/flags"
	cat >"$dir/kernels/Makefile" <<'MAKE'
all:
	mkdir -p build/$(DEVICE)
	sh recipe
	gcc -std=gnu17 -O1 -ftree-vectorize -fPIC -shared -fvisibility=hidden -DWORK_FACTOR=$(shell cat factor) $(shell cat flags) -I.. -o build/$(DEVICE)/libattention.so good.c -lm
MAKE
	cat >"$dir/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build: {dir: kernels, command: [make, "DEVICE={device}"], outputs: {attention: "build/{device}/libattention.so"}}
suites: [tiny]
YAML
	cat >"$dir/etc/suites/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
	git -C "$dir" remote add origin "$dir.git"
	commit "$1" "first"
}
new_lines_repo() {
	git init -q --bare -b main "$tmp/lines.git"
	git init -q -b main "$tmp/lines"
	git -C "$tmp/lines" remote add origin "$tmp/lines.git"
	cat >"$tmp/lines/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  lines: {command: [sh, bench.sh], reader: flopwatch, budget_s: 60, timeout_s: 60}
YAML
}
commit() {
	git -C "$tmp/$1" add -A
	git -C "$tmp/$1" commit -q --allow-empty -m "$2"
}
push() {
	git -C "$tmp/$1" push -q --force origin "HEAD:refs/heads/$2"
}
branch() { # repo, branch, from: a new branch checked out
	git -C "$tmp/$1" checkout -q -B "$2" "$3"
}
head_of() {
	git -C "$tmp/$1" rev-parse HEAD
}

write_config() {
	{
		printf 'state_dir: %s\ncache_dir: %s\nsuites_dir: %s\nlisten: 127.0.0.1:0\n' "$tmp/state" "$tmp/cache" "$root/etc/suites"
		if [ $# = 0 ]; then
			printf 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]\n'
			printf 'repos: [{name: kernels, url: %s}]\n' "$tmp/kernels.git"
		else
			printf '%s\n' "$@"
		fi
		[[ "$*" == *profile:* ]] || printf 'profile: off\n' # additional jobs, which most tests do not expect
	} >"$tmp/c.yml"
}
port() {
	cat "$tmp/state/port" 2>/dev/null || echo 9 # an unused port
}
daemon_is_up() {
	[ -s "$tmp/state/port" ] && curl -sf -o "$tmp/health" --max-time 20 "http://127.0.0.1:$(port)/healthz"
}
start_daemon() {
	rm -f "$tmp/state/port"
	# the log goes through a pipe, so that a limit on the daemon's files does not suppress it
	"$bin/flopwatchd" --config "$tmp/c.yml" > >(cat >>"$tmp/log") 2>&1 </dev/null &
	daemon_pid=$!
	cd "$tmp" || return 1 # commands inside this checkout would refer to its repository
	await daemon_is_up || { tail -n 5 "$tmp/log" | sed 's/^/# the daemon does not start: /'; return 1; }
}
stop_daemon() { # its exit status, for any signal
	local status
	[ -n "$daemon_pid" ] || return 0
	kill "-${1:-TERM}" "$daemon_pid" 2>/dev/null
	wait "$daemon_pid" 2>/dev/null
	status=$?
	daemon_pid=""
	return $status
}
api() {
	local path=$1
	shift
	curl -s --max-time 60 "http://127.0.0.1:$(port)/api/v1/$path" "$@"
}
post() { # path, JSON or nothing
	api "$1" -X POST -H 'Content-Type: application/json' -d "${2:-{\}}"
}
job_field() {
	api "jobs/$1" | jq -r ".$2"
}
# Waiting reads the database, at a tenth of the cost of an API call; assertions use the API's answer.
newest_job() { # commit, columns
	sql "SELECT $2 FROM job WHERE target_sha = '$1' AND kind NOT IN ('bisect', 'profile') ORDER BY id DESC LIMIT 1"
}
job_of() { # the newest job of a commit, "" none
	newest_job "$1" id
}
has_job() {
	[ -n "$(job_of "$1")" ]
}
job_ended() { # by commit
	[[ "$(newest_job "$1" state)" =~ ^(done|failed|cancelled|superseded|gone)$ ]]
}
job_is() { # id, state
	[ "$(sql "SELECT state FROM job WHERE id = ${1:-0}")" = "$2" ]
}
result_of() { # commit: state and verdict of its newest job, once it has ended
	await job_ended "$1"
	api "jobs/$(job_of "$1")" | jq -r '.state + " " + (.verdict // "-")'
}
why_of() {
	job_field "$(job_of "$1")" state_why
}
sql() {
	sqlite3 -readonly "$tmp/state/flopwatch.db" "$1"
}
on_exit stop_daemon KILL
