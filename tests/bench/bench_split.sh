#!/bin/bash
# A comparison of 20 cells on one simulated device, and split over two: time from request to verdict, with cached builds. Prints
# `bench NAME VALUE UNIT`.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
trap - EXIT
# shellcheck disable=SC2154
trap 'stop_daemon KILL; wait 2>/dev/null; rm -rf "$tmp"' EXIT
new_repo kernels
sed -i 's/seqlens: .*/seqlens: [64, 96, 128, 160, 192], masks: [full, causal]}/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "20 cells"
push kernels main
git -C "$tmp/kernels" checkout -q -b more
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "5 % more"
push kernels more
sha=$(head_of kernels)
cat >"$tmp/worker" <<SH
#!/bin/sh
FLOPWATCH_SIM_DEVICES=0,1 exec "$bin/flopwatch-worker" "\$@"
SH
chmod +x "$tmp/worker"
seconds() { sql "SELECT (ended_at - started_at) / 1e3 FROM job WHERE id = $1"; }
newest() { sql "SELECT max(id) FROM job WHERE target_sha = '$sha'"; }
ended() { [ "$(newest)" != "$1" ] && [ "$(sql "SELECT state FROM job WHERE id = $(newest)")" = done ]; }
ask() { # branch; prints how long it took
	local before
	before=$(newest)
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" submit more --repo kernels >/dev/null
	patience=400 await ended "$before"
	seconds "$(newest)"
}
for split in false true; do
	write_config "workers: [{name: host, command: [$tmp/worker, serve], device: sim, build_jobs: 2}]" \
		"repos: [{name: kernels, url: $tmp/kernels.git}]" "sandbox: none" "split: $split"
	start_daemon
	[ "$split" = true ] || patience=400 await ended "" # the first push fills the cache
	eval "$split=\$(ask)"
	stop_daemon
done
is_on=$(sql "SELECT count(DISTINCT x.device) FROM cell x JOIN comparison c ON c.id = x.comparison WHERE c.job = $(newest)")
awk -v one="$false" -v two="$true" -v n="$is_on" 'BEGIN {
	printf "bench split.one_device %.3f s\nbench split.two_devices %.3f s\nbench split.devices %d of_2\nbench split.ratio %.3f of_1\n", one, two, n, two / one }'
