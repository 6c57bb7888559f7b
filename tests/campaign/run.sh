#!/bin/bash
# run.sh [PART...]: the parts of the reliability campaign one after the other, HOURS hours together (0.5). A part is
# test_PART.sh here, or fuzz, whose hours are divided among the fuzzers: fuzz-NAME is tests/*/fuzz_NAME.c, which fuzz.py
# searches with. Its line "Attacks:" lists what a part attacks. Each continues after its last trial in LOG, appends its row
# there when it has ended, and prints the sum of all rows since a commit changed the code that it attacks, comments aside:
# campaign PART tried survived failed seconds. The seconds of a fuzzer are processor time.
set -u
cd "$(dirname "$0")/../.." || exit 1
LOG=${LOG:-tests/data/campaign.csv}
given=("$@")
[ $# != 0 ] || given=(kill power faults access http names builds git clients cheats year mutation fuzz)
seconds=$(awk -v hours="${HOURS:-0.5}" -v n=${#given[@]} 'BEGIN { printf "%d", hours * 3600 / n }')
fuzzers=$(ls tests/*/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/fuzz-\1/')
parts=()
for part in "${given[@]}"; do
	if [ "$part" = fuzz ]; then mapfile -t -O ${#parts[@]} parts <<<"$fuzzers"; else parts+=("$part"); fi
done
if [[ " ${parts[*]}" = *" fuzz-"* ]]; then etc/install-dependencies.sh fuzz || exit; fi
[ -s "$LOG" ] || echo "part,seed,tried,survived,failed,seconds,commit" >"$LOG"
bad=0

file_of() { # part
	case $1 in
	fuzz-*) echo tests/*/"fuzz_${1#fuzz-}.c" ;;
	*) echo "tests/campaign/test_$1.sh" ;;
	esac
}
attacks() { # file: paths
	sed -n 's/^[#* ]*Attacks: //p' "$1"
}
sum() { # part, paths...: "seed tried survived failed seconds" of the rows that count
	local part=$1 name seed tried survived failed took at first=1 t=0 s=0 f=0 all=0
	shift
	while IFS=, read -r name seed tried survived failed took at; do
		[ "$name" = "$part" ] && tests/campaign/code_changed.py "$at" "$@" || continue
		first=$((seed + tried)) t=$((t + tried)) s=$((s + survived)) f=$((f + failed)) all=$((all + took))
	done <"$LOG"
	echo "$first $t $s $f $all"
}

for part in "${parts[@]}"; do # all before the first one runs: a later change or commit is not what the others attack
	file=$(file_of "$part")
	[ -e "$file" ] || { echo "run.sh: no part $part: $file does not exist" >&2; exit 2; }
	read -ra paths < <(attacks "$file")
	git diff --quiet HEAD -- "${paths[@]}" ||
		{ echo "run.sh: commit the changes of ${paths[*]} first: a row names a commit" >&2; exit 2; }
done
commit=$(git rev-parse --short=12 HEAD)

for part in "${parts[@]}"; do
	file=$(file_of "$part")
	run=(bash "$file")
	limit=$seconds
	if [ "${part#fuzz-}" != "$part" ]; then
		run=(tests/campaign/fuzz.py "${part#fuzz-}")
		[[ " ${given[*]} " = *" fuzz "* ]] && limit=$((seconds / $(wc -w <<<"$fuzzers")))
	fi
	read -ra paths < <(attacks "$file")
	read -r first _ < <(sum "$part" "${paths[@]}")
	began=$SECONDS
	out=$(CAMPAIGN_FIRST=$first CAMPAIGN_SECONDS=$limit "${run[@]}" </dev/null) || bad=1
	grep '^#' <<<"$out"
	began_with=$(sed -n 's/^# first \([0-9]\+\)$/\1/p' <<<"$out") # of a part that continues what it has stored
	first=${began_with:-$first}
	if read -r _ _ tried survived failed took < <(grep "^campaign $part " <<<"$out"); then
		echo "$part,$first,$tried,$survived,$failed,${took:-$((SECONDS - began))},$commit" >>"$LOG"
	else
		printf '%s\nrun.sh: %s ended without a count\n' "$out" "$part" >&2
		bad=1
	fi
	read -r _ tried survived failed took < <(sum "$part" "${paths[@]}")
	echo "campaign $part $tried $survived $failed $took"
done
exit $bad
