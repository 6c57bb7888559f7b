#!/bin/bash
# A worker of root runs both sides as one user, whose number of processes is limited: a program that uses up this number fails itself,
# and not its base, which could start none.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
probe=$("$bin/flopwatch-worker" serve --device sim --sandbox required --cache "$tmp/probe" </dev/null 2>&1)
if [ "$(id -u)" != 0 ] || [[ $probe != *isolation* ]]; then
	skip "programs with many threads" "no root, or no sandbox here: $probe"
	exit 0
fi
interleave_repo one
write_config "sandbox: required" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
start_daemon
helpers='static void *end(void *a) { return a; }
static void *rest(void *a) { for (;;) pause(); return a; }
static void start_one(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, end, NULL) != 0)
		exit(9);
	pthread_join(t, NULL);
}
static int is_timed(void) { return flopwatch_now.is_open && !flopwatch_now.is_list; }
static int n;
static void start_processes(void) { for (pid_t p; (p = fork()) >= 0;) if (p == 0) rest(NULL); }
static void start_threads(void)
{
	pthread_attr_t small;
	pthread_t t;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (pthread_create(&t, &small, rest, NULL) == 0)
		;
}
'
program one "$helpers"'int main(void) { FLOPWATCH("a", 1e6, 0) { start_one(); take(2000); } return 0; }'
is "a base that starts a thread in each call" "$(on_main one first)" "done unchanged"
crowded='ran [0-9]+ processes and threads, more than half of what both sides may have \([0-9]+\)'
for what in "processes in its turns: is_timed() && !n++: start_processes" "threads in its turns: is_timed() && !n++: start_threads" \
	"threads in its list: !n++: start_threads"; do
	IFS=: read -r name when call <<<"$what"
	is "a target with many $name" \
		"$(on_branch one "$helpers int main(void) { FLOPWATCH(\"a\", 1e6, 0) { take(2000); if ($when) $call(); } return 0; }") $(cells)" \
		"done failed a failed crash"
	like "is at fault: $name" "$(why a)" "$crowded"
done
