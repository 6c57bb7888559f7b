#!/bin/bash
# Build everything twice (plain, and with ASan and UBSan), run every test, end with "N passed, N failed".
# Arguments: name patterns; only tests whose path holds one of them are run, e.g. `tests/run.sh flopwatchd/ test_stats`.
#
# A test is tests/ROOM/test_NAME.c or fuzz_NAME.c (run with the sanitizers) or tests/ROOM/test_NAME.sh. Two run at a time;
# those of $alone have the machine to themselves.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C.UTF-8 FW_BIN="$PWD/build/bin"
alone="web/test_browser flopwatchd/test_cores house/test_demo"
logs=build/tests/logs
mkdir -p "$logs"
rm -f "$logs"/*

started=$SECONDS
passed=0
failed=0

stop() { # a build that breaks is one failed test, and nothing else can run
	printf '%s\n' "$1"
	tail -n 40 "$2"
	printf '0 passed, 1 failed\n'
	exit 1
}

matches() {
	[ ${#patterns[@]} = 0 ] && return 0
	local p
	for p in "${patterns[@]}"; do [[ $1 == *$p* ]] && return 0; done
	return 1
}
patterns=("$@")

# Reads the TAP in a log; prints one line for the test, and the log itself when something is wrong.
tally() { # ROOM/NAME
	local test=$1 log status seconds ok bad skipped note=""
	log=$logs/${test//\//-}
	read -r status seconds <"$log.status" || { status=1 seconds=0; }
	ok=$(grep -cE '^ok ' "$log.log")
	bad=$(grep -E '^not ok ' "$log.log" | grep -cv '# SKIP')
	skipped=$(grep -cE '^(not )?ok .*# SKIP' "$log.log")
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1 note=" (exit $status)"; fi
	if [ "$ok" = 0 ] && [ "$bad" = 0 ] && [ "$skipped" = 0 ]; then bad=1 note=" (ran no test)"; fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		printf 'ok    %-40s %4d %4d s%s\n' "$test" "$ok" "$seconds" "$([ "$skipped" = 0 ] || printf ', %d skipped' "$skipped")"
		grep -hE '# SKIP' "$log.log" | sed 's/^/      /'
	else
		printf 'FAIL  %-40s %4d failed %4d s%s\n' "$test" "$bad" "$seconds" "$note"
		grep -v '^ok ' "$log.log" | tail -n 60 | sed 's/^/      /'
	fi
}

run_one() { # ROOM/NAME, seconds, command...
	local log=$logs/${1//\//-} limit=$2 begin=$SECONDS
	shift 2
	timeout -k 10 "$limit" "$@" >"$log.log" 2>&1 </dev/null
	echo "$? $((SECONDS - begin))" >"$log.status"
}

# Run and tell, two at a time, in the order in which they were given: a test is told when those before it are.
run_all() { # seconds, runner of a file, file...
	local limit=$1 runner=$2 file test told=() next=0
	shift 2
	for file; do
		test=${file#tests/}
		test=${test%.*}
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
		"$runner" "$test" "$limit" "$file" &
		told+=("$test")
		while [ $next -lt ${#told[@]} ] && [ -s "$logs/${told[next]//\//-}.status" ]; do tally "${told[next++]}"; done
	done
	wait
	while [ $next -lt ${#told[@]} ]; do tally "${told[next++]}"; done
}
program() { run_one "$1" "$2" "build/san/tests/$1"; }
script() { run_one "$1" "$2" bash "$3"; }

stray=$(find tests -maxdepth 1 \( -name 'test_*' -o -name 'fuzz_*' -o -name 't[0-9]*' \))
[ -z "$stray" ] || { echo "tests that lie in no room are not run: $stray"; failed=1; }

echo "building"
make --no-print-directory -j2 all test-programs modules >"$logs/build.log" 2>&1 || stop "the build failed:" "$logs/build.log"
make --no-print-directory -j2 SANITIZE=1 test-programs >"$logs/build-san.log" 2>&1 || stop "the sanitizer build failed:" "$logs/build-san.log"
echo "built in $((SECONDS - started)) s"

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 CMOCKA_MESSAGE_OUTPUT=TAP

programs=() scripts=() last=()
for file in tests/*/test_*.c tests/*/fuzz_*.c tests/*/test_*.sh; do
	test=${file#tests/}
	matches "$test" || continue
	case $file in
	*.c) programs+=("$file") ;;
	*) if [[ " $alone " == *" ${test%.sh} "* ]]; then last+=("$file"); else scripts+=("$file"); fi ;;
	esac
done
run_all 300 program ${programs[@]+"${programs[@]}"}
run_all 900 script ${scripts[@]+"${scripts[@]}"}
for file in ${last[@]+"${last[@]}"}; do run_all 900 script "$file"; done

printf 'in %d s\n%d passed, %d failed\n' "$((SECONDS - started))" "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
