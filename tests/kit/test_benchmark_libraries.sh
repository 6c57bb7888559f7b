#!/bin/bash
# Google Benchmark and pytest-benchmark as Debian has them: read from their files, and timed call by call, as they are and with the kit.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export XDG_CACHE_HOME=$tmp/home
mkdir "$XDG_CACHE_HOME"
new() { # repository, benchmark file, name: a work tree as the current folder
	git init -q --bare -b main "$tmp/$1.git"
	git init -q -b main "$tmp/$1"
	git -C "$tmp/$1" remote add origin "$tmp/$1.git"
	cp "$root/tests/foreign/$2" "$tmp/$1/$3"
	cd "$tmp/$1" || exit 1
}
attempt() { # the result of the benchmark in $body
	body=$("$bin/flopwatch" try --json --device cpu 2>"$tmp/errors" | jq '.[0]')
}
timed() { jq -r '.cells[] | select(.ms > 0).cell' <<<"$body" | LC_ALL=C sort; }
failed() { jq -r '.cells[] | select(.ms == null) | .cell + ": " + .detail' <<<"$body"; }
google_names() { # MinTime of the two long ones
	LC_ALL=C sort <<-END
		Table/Sum/4096/real_time
		BM_range/512/manual_time
		BM_range/4096/manual_time
		BM_product/n:512/times:1/manual_time
		BM_product/n:512/times:2/manual_time
		BM_product/n:1024/times:1/manual_time
		BM_product/n:1024/times:2/manual_time
		BM_template<unsigned_long,_2048>/manual_time
		BM_work/manual_time
		long/2048/min_time:$1/manual_time
		long/2048/min_time:$2/manual_time
		repeated/512/repeats:3/manual_time
	END
}
printf '#include <benchmark/benchmark.h>\n' >"$tmp/there.cc"

# ---- Google Benchmark ------------------------------------------------------------------------------------------------------
if g++ -fsyntax-only "$tmp/there.cc" 2>"$tmp/errors"; then
	new google google_bench.cc bench.cc
	sed -i 's/define MIN_TIME 5/define MIN_TIME 0.004/' bench.cc
	sed -i 's/MIN_TIME + 1/MIN_TIME + 0.001/' bench.cc
	cat >.flopwatch.yaml <<-'YAML'
		flopwatch: 1
		build: {dir: ., command: [env, -u, CPLUS_INCLUDE_PATH, g++, -O1, -o, bench, bench.cc, -lbenchmark, -lpthread]}
		benchmarks:
		  one:
		    command: [./bench, --benchmark_min_time=0.004, --benchmark_format=json, --benchmark_out=result.json]
		    reader: google-benchmark
		    outputs: [result.json]
		    gpu: false
		    threshold_pct: 20
		    budget_s: 25
	YAML
	attempt
	is "a file: each of its names" "$(timed)" "$(google_names 0.004 0.005)"
	is "what it skips with an error has failed" "$(failed)" "BM_fails/8: the benchmark reports: no memory left"
	sed -i 's/env, -u, CPLUS_INCLUDE_PATH, //; s/budget_s: 25/budget_s: 20/' .flopwatch.yaml
	attempt
	like "an unchanged program is timed call by call" "$(jq -r '.notes | tostring' <<<"$body")" 'interleaved programs: [0-9]+ turns'
	is "and has the same names" "$(timed)" "$(google_names 0.004 0.005)"
	is "and the same failure" "$(failed)" "BM_fails/8: failed: no memory left"
	sed -i 's/^    reader:/    time: cpu\n&/' .flopwatch.yaml
	attempt
	unlike "but not where the time of the processor decides" "$(jq -r '.notes | tostring' <<<"$body")" 'interleaved programs'
	is "which its file has" "$(timed | wc -l)" 12

	new kit google_bench.cc bench.cc
	sed -i 's/<benchmark.benchmark.h>/"flopwatch_benchmark.h"/; s/^BENCHMARK_MAIN();/FLOPWATCH_MAIN()/' bench.cc
	ok "the kit's header takes all of it" g++ -O1 -Wall -Wextra -Wshadow -Werror -I"$root/daemon/kit" -o "$tmp/bench" bench.cc -lbenchmark -lpthread
	is "by itself the program is as it was" "$("$tmp/bench" --benchmark_list_tests | LC_ALL=C sort | tr ' ' '_')" \
		"$(LC_ALL=C sort <(google_names 5.000 6.000) <(echo BM_fails/8))"
	SINGLE=1 python3 "$root/tests/support/interleave_alone.py" "$tmp/bench" --benchmark_out="$tmp/out.json" --benchmark_repetitions=2 >"$tmp/said" 2>&1
	is "no call lasts as long as its MinTime" "$(awk '/^done/ { split($3, n, "="); if ($2 * n[2] > 2500) print }' "$tmp/said")" ""
	is "and none writes the file of a whole run" "$(ls "$tmp/out.json" 2>/dev/null)" ""
	is "each repetition counts, once in a single call" "$(awk '/^turn/ { turn[$2]++; at = $2 } /^done/ && turn[at] == 2 { print at, $3 }' "$tmp/said" |
		grep -E '^(long|repeated|BM_work)' | LC_ALL=C sort -u | paste -sd';')" \
		"BM_work/manual_time repeats=1;long/2048/min_time:5.000/manual_time repeats=1;long/2048/min_time:6.000/manual_time repeats=1;repeated/512/repeats:3/manual_time repeats=3"
else
	skip "Google Benchmark" "it is not installed"
fi

# ---- pytest-benchmark ------------------------------------------------------------------------------------------------------
if /usr/bin/python3 -c 'import pytest, pytest_benchmark' 2>"$tmp/errors"; then
	new pytest pytest_speed.py test_speed.py
	printf '[pytest]\naddopts = --benchmark-max-time=0.05\n' >pytest.ini
	printf '__pycache__\n.benchmarks\n.pytest_cache\n' >.gitignore
	ok "init proposes a manifest" "$bin/flopwatch" init
	sed -i 's/^    reader: pytest-benchmark/&\n    threshold_pct: 20/; s/budget_s: .*/budget_s: 25/' .flopwatch.yaml
	names="test_speed.py::TestPedantic::test_work
test_speed.py::test_add[flat-200]
test_speed.py::test_add[flat-400]
test_speed.py::test_add[two_words-200]
test_speed.py::test_add[two_words-400]
test_speed.py::test_grouped[once]
test_speed.py::test_grouped[twice]"
	attempt
	like "tests are timed call by call" "$(jq -r '.notes | tostring' <<<"$body")" 'interleaved programs: [0-9]+ turns'
	is "each with its name and its parameters" "$(timed)" "$names"
	is "a test that fails after its times has none" "$(failed)" "test_speed.py::test_fails: assert 328350 == 0"
	sed -i 's/command: \[python3/command: [env, -u, FLOPWATCH_INTERLEAVE, python3/' .flopwatch.yaml
	attempt
	is "their file has the same names" "$(timed)" "$names"
	is "and the same failure" "$(failed)" "test_speed.py::test_fails: the benchmark reports: assert 328350 == 0"
	export PYTHONPATH=$root/daemon/kit PYTHONDONTWRITEBYTECODE=1
	pytest() { /usr/bin/python3 -m pytest -q -p no:cacheprovider -p flopwatch --benchmark-max-time=0.05 --benchmark-json="$tmp/$1" "${@:2}"; }
	sed 's/add(3) == 5/add(3) == 6/' test_speed.py >"$tmp/test_untimed.py"
	pytest other.json "$tmp/test_untimed.py" >"$tmp/said" 2>&1
	is "a test without a benchmark that fails is a failure of all" $? 1
	printf 'def test_many(benchmark):\n    benchmark.pedantic(sum, args=((1, 2),), rounds=30001)\n' >"$tmp/test_many.py"
	ok "a test with many rounds" pytest many.json "$tmp/test_many.py"
	is "writes some of them" "$(jq -c '.benchmarks[].stats | [.rounds, (.data | length)]' "$tmp/many.json")" "[30001,1876]"
else
	skip "pytest-benchmark" "it is not installed"
fi
