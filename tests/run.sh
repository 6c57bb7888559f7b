#!/bin/bash
# Build everything twice (plain, and with ASan and UBSan), run every test, end with "N passed, N failed".
# Arguments: name patterns; only test files that match one of them are run, e.g. `tests/run.sh t0300 test_stats`.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C.UTF-8 FW_BIN="$PWD/build/bin"
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

# Reads the TAP in a log; prints one line for the file, and the log itself when something is wrong.
tally() { # name, log, exit status
	local name=$1 log=$2 status=$3 ok bad skipped note=""
	ok=$(grep -cE '^ok ' "$log")
	bad=$(grep -E '^not ok ' "$log" | grep -cv '# SKIP')
	skipped=$(grep -cE '^(not )?ok .*# SKIP' "$log")
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1 note=" (exit $status)"; fi
	if [ "$ok" = 0 ] && [ "$bad" = 0 ] && [ "$skipped" = 0 ]; then bad=1 note=" (ran no test)"; fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		printf 'ok    %-34s %4d%s\n' "$name" "$ok" "$([ "$skipped" = 0 ] || printf ', %d skipped' "$skipped")"
		grep -hE '# SKIP' "$log" | sed 's/^/      /'
	else
		printf 'FAIL  %-34s %4d failed%s\n' "$name" "$bad" "$note"
		grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/      /'
	fi
}

run_one() { # name, seconds, command...
	local name=$1 limit=$2 log="$logs/$1.log"
	shift 2
	timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null
	echo $? >"$logs/$name.status"
}

echo "building"
make --no-print-directory -j2 all test-programs modules >"$logs/build.log" 2>&1 || stop "the build failed:" "$logs/build.log"
make --no-print-directory -j2 SANITIZE=1 test-programs >"$logs/build-san.log" 2>&1 || stop "the sanitizer build failed:" "$logs/build-san.log"
echo "built in $((SECONDS - started)) s"

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 CMOCKA_MESSAGE_OUTPUT=TAP

for source in tests/test_*.c tests/fuzz_*.c; do
	name=$(basename "$source" .c)
	matches "$name" || continue
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	run_one "$name" 300 "build/san/tests/$name" &
done
wait
for source in tests/test_*.c tests/fuzz_*.c; do
	name=$(basename "$source" .c)
	[ -f "$logs/$name.status" ] && tally "$name" "$logs/$name.log" "$(cat "$logs/$name.status")"
done

for script in tests/t[0-9]*.sh; do
	name=$(basename "$script" .sh)
	matches "$name" || continue
	run_one "$name" 600 bash "$script"
	tally "$name" "$logs/$name.log" "$(cat "$logs/$name.status")"
done

printf 'in %d s\n%d passed, %d failed\n' "$((SECONDS - started))" "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
