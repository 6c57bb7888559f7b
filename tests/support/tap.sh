# tap.sh - the Test Anything Protocol for shell tests. Source it; each call of a function is a test; prints the plan at the end.
#
#   . "$(dirname "$0")/tap.sh"
#   ok    NAME COMMAND...        the command succeeds
#   fails NAME STATUS COMMAND... the command exits with STATUS
#   is    NAME GOT WANTED        equal text
#   like  NAME TEXT REGEX        extended regular expression, anywhere
#   unlike NAME TEXT REGEX
#   skip  NAME WHY
#   put   FILE TEXT              atomically: a concurrent reader of FILE sees the old content, or TEXT
#   await COMMAND...             until it succeeds, also on a busy machine; fails after $patience seconds
#
# A title may continue the ones before it ("and exits with 4", "its log has the reason", "is reported once"). Its line begins with the
# title that it continues, so that a failure can be read alone.
#
# $bin has the programs (FW_BIN, default build/bin), $tmp is a folder that is removed at the end unless KEEP is set, $out is the
# last output of ok and fails. on_exit COMMAND... runs before the folder is removed (stop a daemon). Ends with exit 1 if a test
# failed.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${FW_BIN:-$root/build/bin}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/flopwatch-test-XXXXXX") || exit 1
export LC_ALL=C.UTF-8 TZ=UTC
# Device cpu writes twice its cache before each cold call. Machines report 32 MiB and more, which no module of a test fills, and the
# writes were two fifths of the CPU time of such tests.
export FLOPWATCH_CPU_CACHE_MIB=2
tap_n=0 tap_failed=0 out="" tap_exit=() tap_subject=""

tap_result() { # 0 or 1, name, details...
	local name=$2
	case $name in
	once | too | likewise | none | whole | "and "* | "but "* | "or "* | "nor "* | "so "* | "also "* | "not "* | "then "* | "which "* | "that "* | \
		"whose "* | "it "* | "its "* | "they "* | "their "* | "those "* | "none "* | "the other "* | "the others "* | "with the "* | \
		"with its "* | "with what "* | "as "* | "is "* | "are "* | "was "* | "were "* | "has "* | "have "* | "says "* | "names "* | \
		"shows "* | "leaves "* | "ends "* | "reports "* | "prints "* | "begins "*)
		name="${tap_subject:+$tap_subject ... }$name"
		;;
	*) tap_subject=$name ;;
	esac
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$name"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_n" "$name"
	shift 2
	printf '%s\n' "$@" | head -n 40 | sed 's/^/#   /'
	return 1
}
patience=180
await() { # with growing pauses: polling slows down a long operation
	local until=$((SECONDS + patience)) ms=50 pause
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		printf -v pause 0.%03d $ms
		tap_pause $pause
		ms=$((ms < 400 ? ms * 3 / 2 : ms))
	done
}
tap_pause() { # seconds; starts no process: nobody writes into this fifo
	if [ -p "$tmp.silent" ] || mkfifo "$tmp.silent" 2>/dev/null; then
		read -r -t "$1" <>"$tmp.silent"
	else
		sleep "$1"
	fi
}
put() { # file, text
	printf '%s\n' "$2" >"$1.new" && mv "$1.new" "$1"
}
ok() {
	local name=$1 status
	shift
	out=$("$@" 2>&1)
	status=$?
	[ $status = 0 ] && { tap_result 0 "$name"; return; }
	tap_result 1 "$name" "command: $*" "exit: $status" "output: $out"
}
fails() {
	local name=$1 wanted=$2 status
	shift 2
	out=$("$@" 2>&1)
	status=$?
	[ $status = "$wanted" ] && { tap_result 0 "$name"; return; }
	tap_result 1 "$name" "command: $*" "exit: $status instead of $wanted" "output: $out"
}
is() {
	[ "$2" = "$3" ] && { tap_result 0 "$1"; return; }
	tap_result 1 "$1" "got:    $2" "wanted: $3"
}
# Whether a line of the text matches, as `grep -E` finds it. A short text needs no process: a quarter of the assertions is of this kind.
tap_matches() { # text, regex
	local rest=$1 BASH_REMATCH
	if [ ${#1} -lt 2000 ] && [[ $2 != *$'\n'* ]]; then
		while :; do
			[[ ${rest%%$'\n'*} =~ $2 ]]
			case $? in
			0) return 0 ;;
			2) break ;; # grep accepts more regular expressions than the C library
			esac
			[[ $rest == *$'\n'* ]] || return 1
			rest=${rest#*$'\n'}
		done
	fi
	grep -qE -- "$2" <<<"$1"
}
like() {
	tap_matches "$2" "$3" && { tap_result 0 "$1"; return; }
	tap_result 1 "$1" "no match of: $3" "in: $2"
}
unlike() {
	tap_matches "$2" "$3" || { tap_result 0 "$1"; return; }
	tap_result 1 "$1" "match of: $3" "in: $2"
}
skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}
on_exit() {
	tap_exit+=("$(printf '%q ' "$@")")
}
tap_end() {
	local status=$? i
	trap - EXIT
	for ((i = ${#tap_exit[@]} - 1; i >= 0; i--)); do eval "${tap_exit[i]}" >/dev/null 2>&1; done
	[ -n "${KEEP-}" ] && printf '# folder: %s\n' "$tmp" || rm -rf "$tmp"
	rm -f "$tmp".*
	printf '1..%d\n' "$tap_n"
	# An aborted script has not run all its tests.
	[ $status = 0 ] || [ "$tap_failed" != 0 ] || { echo "# the script ended with exit $status"; exit 1; }
	[ "$tap_n" -gt 0 ] && [ "$tap_failed" = 0 ] && exit 0
	exit 1
}
trap tap_end EXIT
