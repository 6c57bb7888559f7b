#!/bin/bash
# Failures of this machine give no verdict: a full disk, filled by another process or by flopwatch, and runners and builds that are killed from
# outside. The job waits or is requeued, no side is blamed, and it is judged after the failure is over.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
write_config
if [ "${FW_OWN_MOUNTS:-}" != yes ] && unshare -m true 2>/dev/null; then # file systems that only this test and its daemon see
	trap - EXIT
	rm -rf "$tmp"
	FW_OWN_MOUNTS=yes exec unshare -m bash "$0"
fi

alerts() { api 'alerts?state=open' | jq '.items | length'; }
comparisons() { sql "SELECT count(*) FROM comparison WHERE target_sha = '$1'"; }
killed="" b=0
attempts() { job_field "$(job_of "$1")" attempt; }
job_says() { [[ "$(job_field "$(job_of "$1")" 'state + ": " + (.state_why // "")')" =~ $2 ]]; }
n=0
another() { # a commit with new content on main that is as fast as the one before
	n=$((n + 1))
	echo "# $n" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "main $n"
	push kernels main
	sha=$(head_of kernels)
	await has_job "$sha"
}

# ---- killed ----
# without a sandbox, so that the runner's replacement sees the orders: ordered/N kills the Nth one that starts, before one of its calls
real=$bin
mkdir "$tmp/bin" "$tmp/ordered"
cp "$real/flopwatchd" "$real/flopwatch-worker" "$tmp/bin"
ln -s "$real/flopwatch-git" "$real/flopwatch-send" "$tmp/bin"
bin=$tmp/bin
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
cat >"$bin/flopwatch-runner" <<SH
#!/bin/bash
if [ "\$1" != --list ]; then
	n=1
	until mkdir "$tmp/ordered/started\$n" 2>/dev/null; do n=\$((n + 1)); done
	[ ! -e "$tmp/ordered/\$n" ] || AT_CALL=\$(cat "$tmp/ordered/\$n") LD_PRELOAD=$tmp/at_call.so exec "$real/flopwatch-runner" "\$@"
fi
exec "$real/flopwatch-runner" "\$@"
SH
chmod +x "$bin/flopwatch-runner"
write_config 'sandbox: none' 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
push kernels main
is "main is measured" "$(result_of "$(head_of kernels)")" "done unchanged"
began=$(ls "$tmp/ordered" | wc -l)
factor=1.0
for start in 1 2 3; do
	for call in 2 8 20; do
		rm -rf "$tmp/ordered"
		mkdir "$tmp/ordered"
		echo "any $call KILL" >"$tmp/ordered/$start"
		factor=${factor}1
		echo "$factor" >"$tmp/kernels/kernels/factor"
		another
		is "runner $start killed at call $call: the commit is judged by another" "$(result_of "$sha")" "done unchanged"
		# its job is requeued; a runner killed in a run of both sides does not requeue the job, and is started again
		killed="$killed $(sql "SELECT count(*) > 0 FROM job_log WHERE job = $(job_of "$sha") AND (line LIKE 'queued: the runner: killed by SIGKILL%(attempt 1 of 3)'
			OR line LIKE '%a run ended early and is repeated: %SIGKILL%')")"
	done
done
ok "it was killed, and its job was requeued or its run repeated each time ($killed )" test "$(tr -d ' 0' <<<"$killed" | wc -c)" -ge 9
is "no word of it is a verdict" "$(sql "SELECT count(*) FROM cell WHERE verdict NOT IN ('unchanged')")$(alerts)" 00

echo 'sleep 1000' >"$tmp/kernels/kernels/recipe"
another
await job_is "$(job_of "$sha")" building
inside() { # make of the build
	for make in $(pgrep -x make); do
		[[ "$(readlink "/proc/$make/cwd")" = "$tmp"/cache/job/* ]] && return 0
	done
	return 1
}
await inside
kill -KILL "$make"
was_back() { [ "$(sql "SELECT count(*) FROM job_log WHERE line LIKE 'queued: make %killed by SIGKILL; out of memory%(attempt 1 of 3)'")" = 1 ]; }
ok "make is killed in the middle of a build: the job goes back" await was_back
is "and no commit is blamed" "$(comparisons "$sha")$(alerts)" 00
post "jobs/$(job_of "$sha")/cancel" >/dev/null
echo : >"$tmp/kernels/kernels/recipe"
stop_daemon
bin=$real
write_config

# ---- a disk that another process filled ----
if [ "${FW_OWN_MOUNTS:-}" != yes ]; then
	skip "full disks" "no mounts of one's own here"
	exit 0
fi
rm -rf "${tmp:?}/cache"
mkdir "$tmp/cache"
mount -t tmpfs -o size=160m,nr_inodes=20000 none "$tmp/cache"
on_exit umount -l "$tmp/cache"
fill() { head -c "$2" /dev/zero >"$1/of-somebody-else" || true; }
worker_says() { [[ "$(api workers | jq -r '.items[0].state + ": " + .items[0].why')" =~ $1 ]]; }
fill "$tmp/cache" 155M
start_daemon
another
ok "while the disk of the cache is full the worker is down, and says why" await worker_says '^down: only 5 MiB are free on the disk of .*/cache; jobs wait for 50 MiB and .* files \(see doc/troubleshooting.md#cache-full\)( \(exit 1\))?$'
is "the job waits" "$(job_field "$(job_of "$sha")" 'state + " " + (.attempt | tostring)')" "queued 0"
rm "$tmp/cache/of-somebody-else"
like "and is judged when there is room" "$(result_of "$sha") $(attempts "$sha")" "done (unchanged|identical) 1"

echo 'touch began; until [ -e go ]; do sleep 0.05; done; head -c 1M /dev/zero >mine' >"$tmp/kernels/kernels/recipe"
another
await test -e "$tmp/cache/job/kernels/began"
fill "$tmp/cache" 155M
ok "a disk that fills in the middle of a build sends the job back" await job_says "$sha" '^queued: only [0-9]+ MiB.* are free on the disk of .*/cache; the build used [0-9] MiB of it$'
is "without an attempt" "$(attempts "$sha")" 0
is "and no commit is blamed" "$(comparisons "$sha")$(alerts)" 00
rm "$tmp/cache/of-somebody-else"
await test -e "$tmp/cache/job/kernels/began"
touch "$tmp/cache/job/kernels/go"
await test -e "$tmp/cache/job/kernels/mine" && touch "$tmp/cache/job/kernels/go"
both() { touch "$tmp/cache/job/kernels/go" 2>/dev/null; job_ended "$sha"; }
await both
like "it is judged when there is room" "$(result_of "$sha") $(attempts "$sha")" "done (unchanged|identical) 1"

echo : >"$tmp/kernels/kernels/recipe"
another # its build does not wait
like "main continues" "$(result_of "$sha")" 'done (unchanged|identical)'

for bomb in 'head -c 400M /dev/zero >big' 'exec 3>big; rm big; head -c 400M /dev/zero >&3; sleep 1000' 'i=0; while :; do i=$((i + 1)); : >f$i || exit 1; done'; do
	b=$((b + 1))
	branch kernels "bomb$b" main
	echo "$bomb" >"$tmp/kernels/kernels/recipe"
	commit kernels "fills the disk"
	push kernels "bomb$b"
	bad=$(head_of kernels)
	await has_job "$bad"
	is "a build that fills the disk itself is a result: $bomb" "$(result_of "$bad")" "done failed"
	like "and reports that" "$(api "jobs/$(job_of "$bad")/log")" 'build of target failed .*build used [0-9]+ MiB and [0-9]+ files of the disk of the cache, until it was full'
	git -C "$tmp/kernels" checkout -q main
done
is "nothing of them is left" "$(ls "$tmp/cache/job" 2>/dev/null)" ""
umount "$tmp/cache"

# ---- a disk that flopwatch filled ----
stop_daemon
mkdir "$tmp/small"
mount -t tmpfs -o size=90m none "$tmp/small"
on_exit umount -l "$tmp/small"
cp -a "$tmp/state/." "$tmp/small"
sed -i "s#^state_dir: .*#state_dir: $tmp/small#" "$tmp/c.yml"
mv "$tmp/state" "$tmp/before" && ln -s "$tmp/small" "$tmp/state" # the path that the helpers of this test use
start_daemon
head -c 90M /dev/urandom >"$tmp/kernels/kernels/weights"
another
waits() { [ "$(api "jobs/$(job_of "$sha")/log" | grep -cE 'queued: (write the archive|cannot create a temporary file).*No space left on device')" -gt 1 ]; }
ok "a tree that the disk of the state has no room for: the job waits, and says why" await waits
mount -o remount,size=600m "$tmp/small"
like "and is judged when there is room" "$(result_of "$sha") $(attempts "$sha")" "done (unchanged|identical) 1"
mount -o remount,nr_inodes=$(($(df --output=iused "$tmp/small" | tail -n 1) + 20)) "$tmp/small"
git -C "$tmp/kernels" rm -q --cached kernels/weights && rm "$tmp/kernels/kernels/weights"
another
sick() { [ "$(curl -s -o "$tmp/health" -w '%{http_code}' "http://127.0.0.1:$(port)/healthz")" = 503 ]; }
ok "a disk without inodes is reported" await sick
like "as a sentence" "$(cat "$tmp/health")" 'less than 64 MiB or [0-9]+ files are free'
is "the job waits" "$(job_field "$(job_of "$sha")" 'state + " " + (.attempt | tostring)')" "queued 0"
mount -o remount,nr_inodes=0 "$tmp/small"
like "and is judged when there is room" "$(result_of "$sha") $(attempts "$sha")" "done (unchanged|identical) 1"
