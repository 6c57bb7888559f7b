#!/bin/bash
# A manifest with twenty benchmarks: each is a comparison of a push, and wait, API and git note report the verdicts of all.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }

n=20
git init -q --bare -b main "$tmp/many.git"
git init -q -b main "$tmp/many"
git -C "$tmp/many" remote add origin "$tmp/many.git"
bench() { # number, milliseconds
	printf 'echo "{\\"cell\\":\\"row\\",\\"ms\\":[%s,%s,%s]}"\n' "$2" "$2" "$2" >"$tmp/many/b$1.sh"
}
{
	printf 'flopwatch: 1\nbenchmarks:\n'
	for i in $(seq $n); do
		printf '  b%d: {command: [sh, b%d.sh], reader: flopwatch, artifacts: [b%d.sh], budget_s: 20, timeout_s: 20}\n' "$i" "$i" "$i"
	done
} >"$tmp/many/.flopwatch.yaml"
for i in $(seq $n); do
	bench "$i" "$i.00"
done
commit many "first"
push many main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: many, url: $tmp/many.git, notes: write}]"
start_daemon || exit 1
fw wait main --timeout 300 --quiet >"$tmp/out" 2>"$tmp/errors"
is "main is measured" "$?" 0
is "by every benchmark" "$(sql "SELECT count(DISTINCT suite) || ' ' || count(*) FROM job WHERE state = 'done'")" "$n $n"
like "and all verdicts are one line" "$(cat "$tmp/out")" "$n suites  verdict: unchanged: b1 unchanged, .*b20 unchanged"

# ---- a push that makes one slower, the last
branch many slower main
bench 20 30.00
commit many "slower"
push many slower
fw wait slower --timeout 300 --quiet >"$tmp/out" 2>"$tmp/errors"
is "a regression of the last one decides" "$?" 3
like "the others ran nothing, as their artifacts are the same" "$(cat "$tmp/out")" 'b19 identical, b20 regression'
sha=$(head_of many)
is "the API has a verdict of each" "$(api "commits/$sha/verdict" | jq '.suites | length')" "$n"
lines_of_note() {
	git --git-dir="$tmp/many.git" notes --ref flopwatch show "$sha" 2>/dev/null | grep -c '^b[0-9]*: '
}
is_noted() { [ "$(lines_of_note)" = "$n" ]; }
await is_noted
is "and the note has a line of each" "$(lines_of_note)" "$n"
