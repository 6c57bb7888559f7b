#!/bin/bash
# One commit on a GPU under two toolchains, detected by the real daemon: its worker is restarted with another one, and the commit
# is rebuilt and compared with the module of the first one. Then the same on request.
# Usage: tests/gpu/environment.sh BUNDLE OUT [OLD NEW]
#   OLD, NEW: folders of toolkits, e.g. /usr/local/cuda-12.9 /usr/local/cuda-13.0. If there is only one: two folders are made
#   whose nvcc is that of this machine with -Xptxas -O3 and -Xptxas -O$LEVEL (default 1) as its last arguments, and on request -O3
#   is compared with -O2.
#   FAMILY: attention (default) or layernorm, whose kernels are built in seconds. SUITE: of the bundle, such as ffa; default: four
#   cells of the family, which are judged in a fraction of the time that builds take.
#   ALERT=1: the regression must be beyond the threshold, and its alert must name both toolchains and the differences of machine
#   code.
#   OUT gets the tables, both comparisons as the API serves them, the history, alerts, causes, and differences of machine code.
#   Exit 1 unless the change is detected and reported, with a result for every cell.
# DEVICE=cpu does the same with gcc, to test the script; its times are meaningless.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) old=${3:-} new=${4:-} suite=${SUITE:-four} family=${FAMILY:-attention} level=${LEVEL:-1}
mkdir -p "$state/tree/etc/suites"
seqlen=8192
[ "${DEVICE:-cuda}" = cuda ] || seqlen=256
case $family in
attention) cells="common: {nhq: 16, nhk: 4, headdim: 128, dtype: bf16}
dense: {seqlens: [$seqlen], masks: [full, causal]}" ;;
layernorm) cells="rows: [$((seqlen * 2))]
columns: [1024, 4096]" ;;
esac
cat >"$state/tree/etc/suites/four.yaml" <<YAML
suite: four
family: $family
seed: 42
threshold_pct: 1.5
budget_s: 110
$cells
directions: [forward, backward]
YAML
cat >"$state/tree/.flopwatch.yaml" <<YAML
flopwatch: 1
inputs: [kernels]
build:
  dir: kernels
  command: [make, "DEVICE={device}", "build/{device}/lib$family.so"]
  outputs: {$family: "build/{device}/lib$family.so"}
YAML
daemon_repository "$bundle/kernels" "$state/tree/etc" "$state/tree/.flopwatch.yaml"

toolchain() { # NAME COMPILER OPTIONS: a folder whose compiler is that one and ends with them
	local program=$state/toolchains/$1/bin/${2##*/}
	mkdir -p "${program%/*}"
	printf '#!/bin/sh\nexec %s "$@" %s\n' "$2" "$3" >"$program"
	chmod +x "$program"
}
worker() { # the toolchain that it has
	WORKER="[\"$bundle/bin/flopwatch-worker\", serve, --cache, \"$state/kept\", --toolchain, \"$1\", --read-only, \"$1\"]"
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

by_hand=(--base-toolchain "$old" --target-toolchain "$new")
if [ -z "$new" ]; then
	chmod 755 "$state"
	if [ "${DEVICE:-cuda}" = cuda ]; then
		nvcc=$(PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin command -v nvcc) # by the name that builds find in their sandbox
		toolchain O3 "$nvcc" "-Xptxas -O3"
		toolchain "O$level" "$nvcc" "-Xptxas -O$level"
		own=${nvcc%/bin/nvcc}
		by_hand=(--base-flags="-Xptxas -O3" --target-flags="-Xptxas -O2")
	else
		toolchain O3 /usr/bin/gcc -O3
		toolchain "O$level" /usr/bin/gcc "-O$level"
		own=/usr
		by_hand=(--base-flags=-O3 --target-flags=-O2)
	fi
	by_hand+=(--base-toolchain "$own" --target-toolchain "$own") # not the one of the worker, which has an option already
	old=$state/toolchains/O3 new=$state/toolchains/O$level
fi

# ---- detected ----
worker "$old"
daemon_start "$out/before.log" "$suite"
git push -q origin main
daemon_judge main "$out"
if ! jq -e '.target.build != "failed"' "$out/main.json" >/dev/null; then
	flopwatch log 1 --build | tail -n 60
	echo "main does not build by $old"
	exit 1
fi
kill "$daemon_pid"
wait "$daemon_pid" || true
worker "$new"
daemon_start "$out/after.log" "$suite"
until [ "$(newest)" != 0 ] && [ "$(api "jobs?state=open" | jq '.items | length')" = 0 ]; do
	sleep 1
done
found=$(newest)
code "$found" found
flopwatch alerts --long | tee "$out/alerts.txt"
for alert in $(api alerts | jq -r '.items[] | select(.kind == "environment") | .id'); do
	status=0
	timeout 120 flopwatch why "$alert" >"$out/why-$alert.txt" || status=$?
	cat "$out/why-$alert.txt"
	echo "why: exit $status"
done
cell=$(jq -r '[.cells[] | select(.change_pct != null)] | (min_by(.change_pct) // {}) | .cell // empty' "$out/found.json")
[ -n "$cell" ] || cell=$(jq -r '.cells[0].cell' "$out/found.json")
flopwatch history "$cell" | tee "$out/history.txt"
api "history?repo=kernels&cell=$cell" >"$out/history.json"

# ---- on request ----
status=0
flopwatch compare main main "${by_hand[@]}" --long --quiet >"$out/by-hand.txt" || status=$?
cat "$out/by-hand.txt"
echo "by hand: exit $status after $SECONDS s"
code "$(newest)" by-hand

jq -e --arg old "$old" --arg new "$new" '.kind == "environment" and .base.commit == .target.commit and (.base.toolchain | endswith($old)) and
	(.target.toolchain | endswith($new)) and all(.cells[]; .verdict != "not_comparable")' "$out/found.json" >/dev/null &&
	jq -e --arg old "$old" --arg new "$new" '.environments[-1] | any(.changed[]; .from == $old and .to == $new) and .paired.change_pct != null' \
		"$out/history.json" >/dev/null ||
	{ echo "the change was not found, or not named"; exit 1; }
[ -z "${ALERT:-}" ] && exit
api alerts >"$out/alerts.json"
jq -e --arg old "$old" --arg new "$new" '[.items[] | select(.kind == "environment") | .title] | any(contains($old) and contains($new))' \
	"$out/alerts.json" >/dev/null || { echo "no alert names both toolchains"; exit 1; }
cat "$out"/why-*.txt | grep -Eq "${ALERT_SAYS:-registers|instructions|code}" || { echo "the alert does not say what differs"; exit 1; }
echo "ok"
