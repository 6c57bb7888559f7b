#!/bin/bash
# Two repositories whose benchmarks have no code for flopwatch, one with Google Benchmark and one with pytest-benchmark, judged through
# pushes while other processes use the same cores: pushes that change no speed, pushes with a loss of 5 % in some cells, and one of a
# comment. `flopwatch init` writes their manifests. Prints `bench NAME VALUE UNIT`.
#   BENCH_PUSHES: of each kind (12)     BENCH_LOADS: numbers of other processes ("0 8")     BENCH_TREES: ("google pytest")
#   BENCH_LIMIT_S: no push begins after this time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
trap - EXIT
busy_pids=()
# shellcheck disable=SC2154
trap 'kill "${busy_pids[@]}" 2>/dev/null; stop_daemon KILL; wait 2>/dev/null; rm -rf "$tmp"' EXIT
pushes=${BENCH_PUSHES:-12}
trees=${BENCH_TREES:-google pytest} limit=${BENCH_LIMIT_S:-86400}
for tree in $trees; do
	git init -q --bare -b main "$tmp/$tree.git"
	cp -r "$root/tests/bench/repositories/$tree" "$tmp/$tree"
	git -C "$tmp/$tree" init -q -b main
	git -C "$tmp/$tree" remote add origin "$tmp/$tree.git"
	"$bin/flopwatch" init "$tmp/$tree" >"$tmp/said" || { cat "$tmp/said"; exit 1; }
	commit "$tree" "first"
done
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [$(for tree in $trees; do printf '{name: %s, url: %s}, ' "$tree" "$tmp/$tree.git"; done)]"
start_daemon || exit 1

edit() { # tree, kind, number: an edit of that kind; equal programs with other bytes for the kind `equal`
	case $1-$2 in
	google-equal) printf '__attribute__((used)) static const char revision[] = "%06d";\n' "$3" >>include/fastnum/prefix.hpp ;;
	google-loss) sed -i 's/terms = 200/terms = 210/' include/fastnum/polynomial.hpp ;;
	google-comment) sed -i '1a // It is short.' include/fastnum/polynomial.hpp ;;
	pytest-equal) printf '_REVISION = %d\n' "$3" >>textkit/__init__.py ;;
	pytest-loss) sed -i 's/ROUNDS = 100/ROUNDS = 105/' textkit/rolling.py ;;
	pytest-comment) sed -i '1a # It is short.' textkit/rolling.py ;;
	esac
}
judge() { # tree, load, kind, number: push an edit of main, and store its comparison with the seconds from the push
	local sha began ended id
	branch "$1" "$3-$2-$4" main
	(cd "$tmp/$1" && edit "$1" "$3" "$4")
	commit "$1" "$3 $2 $4"
	sha=$(head_of "$1")
	began=$(date +%s%3N)
	push "$1" "$3-$2-$4"
	patience=700 await job_ended "$sha"
	ended=$(newest_job "$sha" ended_at)
	id=$(sql "SELECT k.id FROM comparison k JOIN job j ON j.id = k.job WHERE j.target_sha = '$sha' ORDER BY k.id LIMIT 1")
	api "comparisons/${id:-0}" | jq -c --arg kind "$3" --argjson ms $((ended - began)) '. + {kind: $kind, push_s: ($ms / 1000)}' >>"$tmp/$1.$2"
}
for tree in $trees; do
	push "$tree" main
	patience=700 await job_ended "$(head_of "$tree")"
done
for load in ${BENCH_LOADS:-0 8}; do
	busy_pids=()
	for ((i = 0; i < load; i++)); do
		sh -c 'while :; do :; done' &
		busy_pids+=($!)
	done
	for tree in $trees; do
		for ((n = 1; n <= pushes && SECONDS < limit; n++)); do
			judge "$tree" "$load" equal "$n"
			judge "$tree" "$load" loss "$n"
		done
		judge "$tree" "$load" comment 0
		echo "bench $tree.load_$load.load_average $(cut -d' ' -f1 /proc/loadavg) processes"
		"$root/tests/bench/repositories/report.py" "$tree.load_$load" "$tmp/$tree.$load" "$tmp/state/flopwatch.db" \
			"$([ "$tree" = google ] && echo 'polynomial/*' || echo '*test_rolling_hashes*')"
	done
	[ "$load" = 0 ] || kill "${busy_pids[@]}"
done
