#!/bin/bash
# A push whose build fails: time from the end of its make to the failed job, and from the push. Prints `bench NAME VALUE UNIT`.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
trap - EXIT
# shellcheck disable=SC2154
trap 'stop_daemon KILL; wait 2>/dev/null; rm -rf "$tmp"' EXIT
new_repo kernels
push kernels main
write_config
start_daemon || exit 1
main=$(head_of kernels)
patience=400 await job_ended "$main"
pushed=() ended_at=() failed=()
for i in 1 2 3 4 5; do
	branch kernels "broken-$i" main
	echo "date +make-ended-%s%3N; echo attempt $i; exit 1" >"$tmp/kernels/kernels/recipe"
	commit kernels "broken $i"
	start=$(date +%s%3N)
	push kernels "broken-$i"
	sha=$(head_of kernels)
	patience=100 await job_ended "$sha"
	ended=$(sql "SELECT ended_at FROM job WHERE target_sha = '$sha'")
	pushed+=("$((ended - start))")
	ended_at+=("$ended")
done
stop_daemon
for i in 1 2 3 4 5; do
	made=$(sql "SELECT log FROM build WHERE CAST(log AS TEXT) LIKE '%attempt $i%'" | sed -n 's/^make-ended-//p')
	failed+=("$((ended_at[i - 1] - made))")
done
median() { printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "bench push.to_failed_build $(median "${pushed[@]}") ms"
echo "bench push.failed_build_after_make $(median "${failed[@]}") ms"
