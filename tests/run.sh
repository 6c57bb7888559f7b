#!/bin/bash
# Build what the tests need, run them, and end with "N passed, N failed, N skipped"; a skipped test does not count as passed.
#
# run.sh [unit|integration|coverage|whole-coverage] [PATTERN...]   only tests whose path contains one of the patterns, e.g.
#                                                                  `tests/run.sh flopwatchd/ test_stats`
#
# A test is tests/FOLDER/test_NAME.c or fuzz_NAME.c, or tests/FOLDER/test_NAME.sh. Without a mode all run: those in C with ASan and
# UBSan.
#   unit         those in C, compiled fast and without sanitizers, under build/unit. Unless a pattern fits their own name, tests with
#                this line in their header are left out: "Left to `make check`: takes seconds." (or "starts our programs",
#                "loads test modules")
#   integration  the scripts, which run the programs
#   coverage     those in C, compiled with gcov, under build/coverage
#   whole-coverage  all, with programs compiled with gcov. Only the runner is that of build/bin: it computes as fast as elsewhere,
#                and its processes cannot write counts out of their sandbox
#
# Most tests wait half of their time or more, for a daemon or a disk, so five run on each core. A line in a script changes this:
#
#   # Runs beside three others.  it asserts verdicts by the clock of this machine; one of the three may be another such test
#   # Runs alone.
#   # Starts first.            it waits most of its time, so that two disturb a test of the first kind no more than one other does
#   # Starts early.            it takes a minute or more, so that the run need not wait for it at its end
#   # Only computes.           it asserts nothing about time, so that beside tests of the first kind one more runs on each core, at a
#                              low priority: it takes the CPU time that they leave
#
# They start in this order, then the other scripts, then those in C, of which the ones that take seconds start first; "only computes"
# in their line of what is left to `make check` has the same effect. A test is reported when it has ended. Each runs under tests/support/supervise.py: a process that it leaves running is a failure, and a killed
# run or test (SIGTERM, SIGINT, SIGHUP) leaves none.
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C.UTF-8
cores=$(nproc)
lanes=$((10 * cores)) # a test takes two
mode=all
case ${1-} in unit | integration | coverage | whole-coverage) mode=$1 && shift ;; esac
case $mode in
unit) variant=UNIT=1 binaries=build/unit ;;
*coverage) variant=COVERAGE=1 binaries=build/coverage ;;
*) variant=SANITIZE=1 binaries=build/san ;;
esac
# The programs that tests start. The worker finds the kit two folders above its own.
export FW_BIN="$PWD/build/bin"
[ $mode != whole-coverage ] || FW_BIN=$PWD/build/coverage-bin
logs=build/tests/logs
mkdir -p "$logs"
rm -f "$logs"/*
# Programs that tests start hundreds of times. jq 1.6 compiles its own library at each start, 40 ms, and gojq takes 5 (but sorts the
# keys of objects). A python3 of pyenv is a script, and its packages may run code at each start (*.pth), 100 ms: a virtual
# environment starts the interpreter itself, and finds the packages without that code.
tools=$PWD/build/tests/tools
mkdir -p "$tools"
if command -v gojq >/dev/null; then ln -sfn "$(command -v gojq)" "$tools/jq"; fi
if [ ! -x "$tools/python/bin/python3" ] && python3 -m venv --without-pip "$tools/python" 2>/dev/null; then
	python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages() if site.ENABLE_USER_SITE else "", sep="\n")' \
		>"$(echo "$tools"/python/lib/python*/site-packages)/packages.pth"
fi
PATH=$tools:$tools/python/bin:$PATH
supervise=(python3 -I -S tests/support/supervise.py)

started=$SECONDS
passed=0
failed=0
skips=0
wrong=()

stop() { # a failed build counts as one failed test, and ends the run
	printf '%s\n' "$1"
	tail -n 40 "$2"
	printf '0 passed, 1 failed, 0 skipped\n'
	exit 1
}

stop_with() { # reason
	printf '%s\n0 passed, 1 failed, 0 skipped\n' "$1"
	exit 1
}

matches() {
	[ ${#patterns[@]} = 0 ] && return 0
	local p
	for p in "${patterns[@]}"; do [[ $1 == *$p* ]] && return 0; done
	return 1
}
patterns=("$@")

# Reads the TAP in a log; prints one line for the test, and the log itself after a failure.
tally() { # FOLDER/NAME
	local test=$1 log status seconds cpu ok bad skipped note=""
	log=$logs/${test//\//-}
	read -r status seconds cpu <"$log.status" || { status=1 seconds=0 cpu=0; }
	ok=$(grep -E '^ok ' "$log.log" | grep -cv '# SKIP')
	bad=$(grep -E '^not ok ' "$log.log" | grep -cv '# SKIP')
	skipped=$(grep -cE '^(not )?ok .*# SKIP' "$log.log")
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1 note=" (exit $status)"; fi
	if [ "$ok" = 0 ] && [ "$bad" = 0 ] && [ "$skipped" = 0 ]; then bad=1 note=" (ran no test)"; fi
	passed=$((passed + ok))
	failed=$((failed + bad))
	skips=$((skips + skipped))
	if [ "$bad" = 0 ]; then
		printf 'ok    %-40s %4d %4d s %4d s CPU%s\n' "$test" "$ok" "$seconds" "$cpu" "$([ "$skipped" = 0 ] || printf ', %d skipped' "$skipped")"
		grep -hE '# SKIP' "$log.log" | sed 's/^/      /'
	else
		wrong+=("$test")
		printf 'FAIL  %-40s %4d failed %4d s%s\n' "$test" "$bad" "$seconds" "$note"
		# Print the first failure: it is the cause more often than the last.
		grep -v '^ok ' "$log.log" | awk '
			NR <= 20 { print; next }
			{ line[NR % 40] = $0 }
			END {
				if (NR > 60) print "... " NR - 60 " lines more in the log ..."
				for (i = NR > 60 ? NR - 39 : 21; i <= NR; i++) print line[i % 40]
			}' | sed 's/^/      /'
	fi
}

# Write its output and exit status into logs.
run_one() { # file, niceness
	local test=$1 nice=$2 log
	test=${test#tests/}
	log=$logs/${test//\//-}
	log=${log%.*}
	case $test in
	*.c) set -- "$binaries/tests/${test%.c}" ;;
	*) set -- bash "$1" ;;
	esac
	exec "${supervise[@]}" --timeout 1500 --nice "$nice" --log "$log.log" --status "$log.status" "$@"
}

# A step of the build, in the background; its processes end with this script.
start_build() { # niceness, log, arguments of make...
	local nice=$1 log=$2
	shift 2
	"${supervise[@]}" --nice "$nice" --log "$logs/$log.log" --status "$logs/$log.status" make --no-print-directory "-j$cores" "$@" &
}
is_built() { # log
	grep -qs '^0 ' "$logs/$1.status"
}
build() { # log, arguments of make...
	start_build 0 "$@"
	wait $!
	is_built "$1"
}

# A signal ends all running tests; the ended ones are counted.
interrupted() { # name, number
	local pids
	trap '' TERM INT HUP
	mapfile -t pids < <(jobs -p)
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	wait
	printf 'ended by SIG%s\n%d passed, %d failed, %d skipped\n' "$1" "$passed" "$failed" "$skips"
	exit $((128 + $2))
}
trap 'interrupted TERM 15' TERM
trap 'interrupted INT 2' INT
trap 'interrupted HUP 1' HUP

says() { # file, pattern: whether the first lines of the file match it
	head -n 12 "$1" | grep -q "$2"
}

# The steps with the most CPU seconds, which do not depend on the load of the machine.
slowest() {
	[ ${#takes[@]} -gt 10 ] || return
	echo "most CPU seconds:"
	(cd "$logs" && for file in *.status; do
		read -r _ seconds cpu <"$file" && echo "$cpu $seconds ${file%.status}"
	done) | sort -rn | head -n 10 | while read -r cpu seconds name; do printf '  %4d s CPU in %4d s  %s\n' "$cpu" "$seconds" "$name"; done
}

# Number of lanes that a test takes.
lanes_of() { # file
	case $(grep -m 1 -oE '^# Runs (alone|beside).*' "$1") in
	"# Runs alone.") echo "$lanes" ;;
	"# Runs beside three others."*) echo 2 ;;
	"# Runs"*) echo "$1: no test can run like that; see the head of tests/run.sh" >&2 && echo "$lanes" ;;
	*) says "$1" '^# Starts first\.' && echo 1 || echo 2 ;;
	esac
}

# Whether a test may start beside those that run. Up to four tests run while one of them asserts by the clock, two such tests at most.
fits() { # file
	local limit=$lanes
	if [ -n "${by_clock[$1]-}" ]; then
		[ "$clocked_now" -lt 2 ] || return
		limit=8
	elif [ "$clocked_now" -gt 0 ]; then
		limit=8
	fi
	[ "${takes[$1]}" -lt "$lanes" ] || [ "$low_now" = 0 ] || return
	[ $((used + takes[$1])) -le "$limit" ]
}

# Start the first waiting test that fits beside those that run, until none does; then wait for one to end. Tests in C follow when their
# build in the background, which may have ended before, has succeeded.
run_all() { # file...
	local waiting=("$@") used=0 clocked_now=0 low_now=0 n file pid
	local -A running=() low=()
	while [ ${#waiting[@]} != 0 ] || [ ${#running[@]} != 0 ] || [ -n "$building" ]; do
		if [ -n "$building" ] && ! kill -0 "$building" 2>/dev/null; then
			building=""
			if is_built build-tests; then
				waiting+=("${programs[@]}")
			else
				failed=$((failed + 1)) wrong+=(build-tests)
				echo "the build of the tests in C failed:"
				tail -n 40 "$logs/build-tests.log"
			fi
		fi
		for n in "${!waiting[@]}"; do
			file=${waiting[n]}
			if [ -n "${computes[$file]-}" ] && [ "$clocked_now" -gt 0 ]; then
				[ "$low_now" -lt "$cores" ] || continue
				run_one "$file" 10 &
				low[$!]=1
				low_now=$((low_now + 1))
			else
				fits "$file" || continue
				run_one "$file" 0 &
				used=$((used + takes[$file]))
				[ -z "${by_clock[$file]-}" ] || clocked_now=$((clocked_now + 1))
			fi
			running[$!]=$file
			unset "waiting[n]"
		done
		wait -n
		for pid in "${!running[@]}"; do
			kill -0 "$pid" 2>/dev/null && continue
			file=${running[$pid]}
			unset "running[$pid]"
			if [ -n "${low[$pid]-}" ]; then
				unset "low[$pid]"
				low_now=$((low_now - 1))
			else
				used=$((used - takes[$file]))
				[ -z "${by_clock[$file]-}" ] || clocked_now=$((clocked_now - 1))
			fi
			file=${file#tests/}
			tally "${file%.*}"
		done
	done
}

stray=$(find tests -maxdepth 1 \( -name 'test_*' -o -name 'fuzz_*' -o -name 't[0-9]*' \))
[ -z "$stray" ] || { echo "tests outside a folder are not run: $stray"; failed=1; }

declare -A takes=() by_clock=() computes=()
clocked=() first=() early=() scripts=() long=() programs=() left=0
for file in tests/*/test_*.sh tests/*/test_*.c tests/*/fuzz_*.c; do
	[ -e "$file" ] || continue # a pattern without a match stays as it is
	case $mode:$file in unit:*.sh | coverage:*.sh | integration:*.c) continue ;; esac
	matches "${file#tests/}" || continue
	if [ $mode = unit ] && ! { [ ${#patterns[@]} != 0 ] && matches "${file##*/}"; } && says "$file" "Left to"; then
		left=$((left + 1))
		continue
	fi
	takes[$file]=$(lanes_of "$file")
	! says "$file" '^# Only computes\.\|Left to .*only computes' || computes[$file]=1
	case $file in
	*.c) if says "$file" "takes seconds"; then long+=("$file"); else programs+=("$file"); fi ;;
	*)
		if grep -q '^# Runs beside three others\.' "$file"; then
			by_clock[$file]=1
			clocked+=("$file")
		elif says "$file" '^# Starts first\.'; then
			first+=("$file")
		elif says "$file" '^# Starts early\.'; then
			early+=("$file")
		else
			scripts+=("$file")
		fi
		;;
	esac
done

programs=(${long[@]+"${long[@]}"} ${programs[@]+"${programs[@]}"})
scripts=(${clocked[@]+"${clocked[@]}"} ${first[@]+"${first[@]}"} ${early[@]+"${early[@]}"} ${scripts[@]+"${scripts[@]}"})

# Build their requirements: the programs for scripts, a binary for each test in C.
needs() { # pattern in a "Left to" line
	[ ${#scripts[@]} = 0 ] || return 0
	local file
	for file in ${programs[@]+"${programs[@]}"}; do says "$file" "Left to .*$1" && return; done
	return 1
}
goals=()
if needs "starts our programs"; then goals+=(all); fi
if needs "loads test modules"; then goals+=(modules); fi
if [ ${#scripts[@]} != 0 ]; then
	goals+=(build/tests/browser/pages_demo)
	if grep -qs 'support/kernels\.sh' "${scripts[@]}"; then goals+=(test-kernels); fi
	if grep -qs 'FORGE_EVENTS' "${scripts[@]}"; then goals+=(build/tests/flopwatchd/test_approval); fi
fi
[ $mode != whole-coverage ] || goals+=(all)
tests=()
for file in ${programs[@]+"${programs[@]}"}; do file=${file%.c} && tests+=("$binaries/$file"); done
[ ${#tests[@]} != 0 ] || [ ${#scripts[@]} != 0 ] || stop_with "no test holds ${patterns[*]} in its path"
echo "building"
[ ${#goals[@]} = 0 ] || build build "${goals[@]}" || stop "the build failed:" "$logs/build.log"
if [ $mode = whole-coverage ]; then
	counting=(build/coverage/bin/{flopwatchd,flopwatch,flopwatch-{git,worker,send}})
	build build-programs "$variant" "${counting[@]}" && mkdir -p "$FW_BIN" && ln -f "${counting[@]}" build/bin/flopwatch-runner "$FW_BIN/" ||
		stop "the build of the programs failed:" "$logs/build-programs.log"
fi
# Beside scripts, that of the tests in C takes mostly the time that they leave.
building=""
if [ ${#scripts[@]} = 0 ] || [ $mode = whole-coverage ]; then
	[ ${#tests[@]} = 0 ] || build build-tests "$variant" "${tests[@]}" || stop "the build of the tests failed:" "$logs/build-tests.log"
elif [ ${#tests[@]} != 0 ]; then
	start_build 10 build-tests "$variant" "${tests[@]}"
	building=$!
fi
echo "built in $((SECONDS - started)) s"
# Threads of OpenMP that wait for others must not spin: on a busy machine that takes a third of the CPU time.
export OMP_WAIT_POLICY=passive
# The quarantine of freed memory is 16 MB, not 256: every fork of a test copies the tables of those pages.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 CMOCKA_MESSAGE_OUTPUT=TAP

if [ ${#scripts[@]} = 0 ]; then run_all "${programs[@]}"; else run_all "${scripts[@]}"; fi

[ ${#wrong[@]} = 0 ] || printf 'wrong: %s\n' "${wrong[*]}"
[ "$left" = 0 ] || echo "left to \`make check\`, since they take seconds or need the programs: $left"
slowest
printf 'in %d s\n%d passed, %d failed, %d skipped\n' "$((SECONDS - started))" "$passed" "$failed" "$skips"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
