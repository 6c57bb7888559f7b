#!/bin/bash
# One commit on a GPU, built twice: by two toolkits or, where only one is there, with -O3 and -O2 for ptxas; judged by the real daemon.
# With two toolkits it is then found by itself, because the worker is started again with the other one.
# Usage: tests/gpu/environment.sh BUNDLE OUT [OLD NEW]
#   OLD, NEW: folders of toolkits, e.g. /usr/local/cuda-12.9 /usr/local/cuda-13.0. SUITE=smoke is quicker than ffa.
#   OUT gets the tables, the comparison as the API serves it, the history, alerts, why, and what differs in the machine code.
# DEVICE=cpu goes the same way with gcc, to see that the script works; its times say nothing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) old=${3:-} new=${4:-} suite=${SUITE:-ffa}
daemon_repository "$bundle/kernels"

worker() { # the toolchain that it has
	WORKER="[\"$bundle/bin/flopwatch-worker\", serve, --cache, \"$state/kept\"${1:+, --toolchain, \"$1\"}]"
}
api() {
	curl -sf "$FLOPWATCH_SERVER/api/v1/$1"
}
newest() { # comparison of two environments
	api "comparisons?limit=200" | jq '[.items[] | select(.kind == "environment") | .id] | max // 0'
}
code() { # comparison, NAME: the machine code of its sides
	local sides
	api "comparisons/$1" >"$out/$2.json"
	sides=$(jq -r '.base.module_sha256 + " " + .target.module_sha256' "$out/$2.json")
	[ "${DEVICE:-cuda}" = cuda ] || return 0
	flopwatch-worker sassdiff "$state/kept/modules/${sides% *}.so" "$state/kept/modules/${sides#* }.so" >"$out/$2.sass.txt" || true
	head -n 40 "$out/$2.sass.txt"
}

worker "$old"
daemon_start "$out/before.log" "$suite"
git push -q origin main
daemon_judge main "$out"

if [ -n "$new" ]; then
	sides=(--base-toolchain "$old" --target-toolchain "$new")
elif [ "${DEVICE:-cuda}" = cuda ]; then
	sides=(--base-flags="-Xptxas -O3" --target-flags="-Xptxas -O2")
else
	sides=(--base-flags=-O3 --target-flags=-O2)
fi
status=0
flopwatch compare main main "${sides[@]}" --quiet >"$out/by-hand.txt" || status=$?
cat "$out/by-hand.txt"
echo "by hand: exit $status after $SECONDS s"
by_hand=$(newest)
code "$by_hand" by-hand
[ -n "$new" ] || exit 0

kill "$daemon_pid"
wait "$daemon_pid" || true
worker "$new"
daemon_start "$out/after.log" "$suite"
until [ "$(newest)" != "$by_hand" ] && [ "$(api "jobs?state=open" | jq '.items | length')" = 0 ]; do
	sleep 1
done
code "$(newest)" found
cell=$(jq -r '[.cells[] | select(.change_pct != null)] | min_by(.change_pct) | .cell // empty' "$out/found.json")
[ -z "$cell" ] || flopwatch history "$cell" | tee "$out/history.txt"
flopwatch alerts | tee "$out/alerts.txt"
for alert in $(api alerts | jq -r '.items[] | select(.kind == "environment") | .id'); do
	flopwatch why "$alert" | tee "$out/why-$alert.txt"
done
