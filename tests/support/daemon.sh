# daemon.sh - a real flopwatchd in a separate folder, for shell tests. Source it after tap.sh.
#
#   new_repo NAME             bare repository $tmp/NAME.git with a work tree $tmp/NAME and a first commit on main
#   new_lines_repo            the same as $tmp/lines, with a benchmark `lines` that runs bench.sh, which the test writes; nothing
#                             is committed
#   lines_take MS             its bench.sh reports one cell of that time
#   push NAME BRANCH          push HEAD of the work tree to BRANCH
#   commit NAME MESSAGE       commit everything
#   write_config [YAML...]    $tmp/c.yml: state, cache, port 0, one sim worker, no profiles; given lines replace workers and repos
#   start_daemon, stop_daemon [SIGNAL], daemon_is_up
#   http METHOD PATH [JSON]   body of the answer
#   api PATH [curl options]   body of GET /api/v1/PATH
#   job_field ID FIELD
#   await SECONDS COMMAND...  until it succeeds
#   sql TEXT                  queries the database directly
#
# The module under test is tests/modules/good.c, compiled with the work factor in kernels/factor, which determines its speed on
# device `sim` and may be an expression in C; kernels/flags has more compiler flags, e.g. a CONFIG that device `sim` reads.
# kernels/recipe is a shell command that the build runs first.
# A build compiles good.c only if it, its flags or its line in the Makefile have changed, or the factor is not a number. Else it
# writes the factor into scaled.so, which new_repo made, to the same bytes: compiling took a third of the CPU time of tests with
# many pushes. Without kernels/good.sum each build compiles, for tests of toolchains.
export GIT_CONFIG_GLOBAL=$root/tests/support/gitconfig GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=t@example.org
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
	echo 'extern const double work_factor;' >"$dir/kernels/factor.h"
	echo 'const double work_factor = FACTOR;' >"$dir/kernels/factor.c"
	cat >"$dir/kernels/Makefile" <<'MAKE'
FACTOR := $(file <factor)
NO_DIGITS := $(subst .,,$(subst 9,,$(subst 8,,$(subst 7,,$(subst 6,,$(subst 5,,$(subst 4,,$(subst 3,,$(subst 2,,$(subst 1,,$(subst 0,,$(FACTOR))))))))))))
WORK := $(if $(NO_DIGITS),-DWORK_FACTOR=$(FACTOR),-DWORK_FACTOR=work_factor -include factor.h -DFACTOR=$(FACTOR) factor.c)
all:
	mkdir -p build/$(DEVICE)
	sh recipe
	$(if $(NO_DIGITS),false,sh scale $(FACTOR) build/$(DEVICE)/libattention.so) || \
	gcc -std=gnu17 -O1 -ftree-vectorize -fPIC -shared -fvisibility=hidden -Wl,--build-id=none $(WORK) $(file <flags) -I.. -o build/$(DEVICE)/libattention.so good.c -lm
MAKE
	tail -n 1 "$dir/kernels/Makefile" >"$dir/kernels/good.line"
	cat >"$dir/kernels/scale" <<'SH'
last=
while IFS= read -r line; do case $line in '#'*) ;; *) last=$line ;; esac; done <Makefile
IFS= read -r line <good.line && [ "$line" = "$last" ] && sha256sum -c --status good.sum &&
	perl -0777 -pe 'BEGIN { $to = pack "d<", shift; $from = pack "d<", 12345.678 } s/\Q$from\E/$to/' "$1" scaled.so >"$2"
SH
	scaled_module "$dir/kernels" || return 1
	(cd "$dir/kernels" && sha256sum good.c factor.h fw_kernel.h fw_attention.h flags scaled.so >good.sum) || return 1
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
scaled_module() { # folder of a new repository: its scaled.so, which the first test of a run compiles for all
	local shared=$root/build/tests/scaled.so source
	for source in "$root"/kernels/fw_{kernel,attention}.h "$root/tests/modules/good.c" "$root/tests/support/daemon.sh"; do
		[ "$shared" -nt "$source" ] || { rm -f "$shared"; break; }
	done
	cp "$shared" "$1/scaled.so" 2>/dev/null && return
	(cd "$1" && echo 12345.678 >factor && rm -f good.sum && make -s DEVICE=scaled && mv build/scaled/libattention.so scaled.so && rm -r build && echo 1.0 >factor) || return 1
	cp "$1/scaled.so" "$shared.$$" 2>/dev/null && mv "$shared.$$" "$shared"
	return 0
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

lines_take() { # MS
	printf 'echo "{\\"cell\\":\\"one\\",\\"ms\\":[%s,%s,%s]}"\n' "$1" "$1" "$1" >"$tmp/lines/bench.sh"
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
	local number=9 # an unused port
	[ ! -e "$tmp/state/port" ] || read -r number <"$tmp/state/port"
	echo "$number"
}
# A request by the shell itself: curl takes 40 ms of CPU to load its libraries, and tests make thousands of requests.
# 7: no connection, 28: no answer in time; any answer is a success, and its status is in $http_status of the same shell.
http() { # METHOD PATH [BODY]
	local LC_ALL=C at server line="" length="" status
	http_status=""
	at=127.0.0.1:$(port)
	[ $# -lt 3 ] || printf -v length 'Content-Type: application/json\r\nContent-Length: %d\r\n' "${#3}"
	{ exec {server}<>"/dev/tcp/${at/://}"; } 2>/dev/null || return 7
	# One write: a server that closes the connection in between would end this shell by SIGPIPE.
	printf '%s %s HTTP/1.0\r\nHost: %s\r\nAccept: */*\r\n%s\r\n%s' "$1" "$2" "$at" "$length" "${3-}" >&"$server"
	while IFS= read -r -t 60 line <&"$server" && [ "$line" != $'\r' ]; do
		[[ $http_status || $line != HTTP/* ]] || { line=${line#* } && http_status=${line%% *}; }
	done 2>/dev/null
	[ "$line" = $'\r' ] && cat <&"$server"
	status=$?
	exec {server}>&-
	[ $status = 0 ] || return 28
}
daemon_is_up() {
	[ -s "$tmp/state/port" ] && http GET /healthz >"$tmp/health" && [ "$http_status" = 200 ]
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
	if [ $# = 0 ]; then
		http GET "/api/v1/$path"
	else
		curl -s --max-time 60 "http://127.0.0.1:$(port)/api/v1/$path" "$@"
	fi
}
post() { # path, JSON or nothing
	http POST "/api/v1/$1" "${2:-{\}}"
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
# A question that waits for the database: not asked again if the answer was no and nothing has been written since. It is after five
# seconds, since a write in the same tick of the clock is not seen.
db_says() { # COMMAND...
	local db=$tmp/state/flopwatch.db asked_file=$tmp.asked.$BASHPID
	[ "$*" != "${db_asked-}" ] || [ $SECONDS -gt $((db_asked_at + 5)) ] || [ "$db-wal" -nt "$asked_file" ] || [ "$db" -nt "$asked_file" ] || return
	db_asked=$* db_asked_at=$SECONDS
	: >"$asked_file"
	"$@" && db_asked=""
}
has_job() {
	db_says has_state '*' "$1"
}
job_ended() { # by commit
	db_says has_state '@(done|failed|cancelled|superseded|target_missing)' "$1"
}
has_state() { # pattern, commit
	[[ "$(newest_job "$2" "'is ' || state")" == is\ $1 ]]
}
job_is() { # id, state
	db_says id_has_state "${1:-0}" "$2"
}
id_has_state() {
	[ "$(sql "SELECT state FROM job WHERE id = $1")" = "$2" ]
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

# PREFIX SECONDS SERVER [ARGUMENT...]: run the clients of streams.py; each of their results is one of this test, its name after PREFIX.
check_streams() {
	local prefix=$1 limit=$2 status line
	timeout -k 5 "$limit" python3 "$root/tests/support/streams.py" "${@:3}" >"$tmp/streams" 2>&1
	status=$?
	while IFS= read -r line; do
		case "$line" in
		"ok "*) tap_result 0 "$prefix${line#ok * - }" ;;
		"not ok "*) tap_result 1 "$prefix${line#not ok * - }" "$(grep -A1 -F "$line" "$tmp/streams" | tail -n 1)" ;;
		esac
	done <"$tmp/streams"
	is "the clients came to their end" $status 0
	[ $status = 0 ] || tail -n 5 "$tmp/streams" | sed 's/^/# /'
}
