#!/bin/bash
# Benchmark programs that fill the disk of the cache: each is ended with the reason, and no other job waits for it.
. "$(dirname "$0")/../support/tap.sh"
if [ "${FW_OWN_MOUNTS:-}" != yes ]; then
	unshare -m true 2>/dev/null || { skip "programs that fill the disk" "no mounts of one's own here"; exit 0; }
	trap - EXIT
	rm -rf "$tmp"
	FW_OWN_MOUNTS=yes exec unshare -m bash "$0" # a file system that only this test and its daemon see
fi
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
mkdir "$tmp/cache"
mount -t tmpfs -o size=200m,nr_inodes=20000 none "$tmp/cache"
on_exit umount -l "$tmp/cache"
new_lines_repo
lines_take 1
interleave_repo one
fill="dd if=/dev/zero of=PLACE/large bs=1M 2>/dev/null"
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: lines, url: $tmp/lines.git}, {name: one, url: $tmp/one.git}]"
program one 'int main(void) { FLOPWATCH("a", 1e6, 0) take(1000); return 0; }'
commit one "first"
push one main
start_daemon
is "a program is measured" "$(on_main lines first)" "done unchanged"
of_lines() { # branch, script
	branch lines "$1" main
	printf '%s\n' "$2" >"$tmp/lines/bench.sh"
	commit lines "$1"
	push lines "$1"
	in_the_end "$(head_of lines)"
}
is "one that fills the disk and then does nothing" "$(of_lines waits "${fill//PLACE/.}; sleep 50")" "done failed"
like "is ended with the reason" "$(why one)" 'filled the disk of the cache: 1[0-9]{2} MiB and [0-9]+ files'
deep=$(printf 'd/%.0s' {1..40})
is "one that hides its files in many folders" "$(of_lines deep "mkdir -p $deep; ${fill//PLACE/$deep}; exit 3")" "done failed"
is "is not retried as if the machine were full" "$(sql "SELECT attempt FROM job WHERE target_sha = '$(head_of lines)'") $(sql "SELECT failure FROM cell WHERE comparison = $newest")" "1 crash"
await job_ended "$(head_of one)"
is "an interleaved one" "$(on_branch one 'int main(void) { static char block[1 << 20];
	FLOPWATCH("a", 1e6, 0) { take(1000); if (flopwatch_now.is_open && !flopwatch_now.is_list) {
		FILE *f = fopen("large", "w"); while (f && fwrite(block, sizeof block, 1, f)) ; pause(); } }
	return 0; }')" "done failed"
like "too" "$(why a)" 'filled the disk of the cache: 1[0-9]{2} MiB and [0-9]+ files'
