#!/bin/bash
# Benchmarks that only the target's manifest names: they are measured at the commit that adds them, so that a broken one is found there.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
manifest() { # names
	printf 'flopwatch: 1\nbenchmarks:\n'
	for name in "$@"; do
		printf '  %s: {command: [sh, %s.sh], reader: flopwatch, artifacts: [%s.sh], budget_s: 20, timeout_s: 60, gpu: false}\n' "$name" "$name" "$name"
	done
}
cells() { # commit: suite, kind of the comparison and verdicts of cells
	sql "SELECT group_concat(line, ', ') FROM (SELECT s.name || ' ' || c.kind || ' ' || k.verdict || iif(k.failure = '', '', ':' || k.failure) AS line FROM comparison c JOIN suite s ON s.id = c.suite JOIN cell k ON k.comparison = c.id WHERE c.target_sha = '$1' ORDER BY s.name)"
}
works() { echo 'echo "{\"cell\":\"row\",\"ms\":[1,1,1]}"' >"$tmp/new/$1.sh"; }

git init -q --bare -b main "$tmp/new.git"
git init -q -b main "$tmp/new"
git -C "$tmp/new" remote add origin "$tmp/new.git"
works first
manifest first >"$tmp/new/.flopwatch.yaml"
commit new "first"
push new main
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: sim}]" "repos: [{name: new, url: $tmp/new.git}]"
start_daemon || exit 1
fw wait main --timeout 300 --quiet >"$tmp/out" 2>&1
is "main is measured" "$?" 0

# ---- a branch adds one that works, and one that does not
branch new works main
works second
manifest first second >"$tmp/new/.flopwatch.yaml"
commit new "a second one"
push new works
fw wait works --timeout 300 --quiet >"$tmp/out" 2>&1
is "a new benchmark that works passes" "$?" 0
is "it was measured, alone" "$(cells "$(head_of new)")" "first compare identical, second selfcheck unchanged"
like "and wait reports that it is new" "$(cat "$tmp/out")" '^benchmark second is new: its base [0-9a-f]{12} does not have it; it is compared from the next commit on$'
is "once" "$(grep -cE 'no base|does not have it' "$tmp/out")" 1
alone=$(api "comparisons?limit=500" | jq '[.items[] | select(.kind == "selfcheck" and .suite == "second")][0].id')
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$alone")
like "the title of its page reports that as well" "$page" '<h1>[^<]*works adds benchmark second, which does not differ from itself in 1 of 1 cell'
like "and its text why it has no base" "$page" '<p>The benchmark second is new: its base [0-9a-f]{12} does not have it; it is compared from the next commit on\.</p>'
is "so does the API" "$(api "comparisons/$alone" | jq -r '"\(.new) \(.alone)"' | sed -E 's/[0-9a-f]{12}/HASH/')" "true benchmark second is new: its base HASH does not have it"

branch new broken main
cat >"$tmp/new/second.sh" <<'SH'
printf 'Traceback (most recent call last):\n  File "b.py", line 1\nModuleNotFoundError: No module named <b>\n=== 1 error ===\n' >&2
exit 3
SH
manifest first second >"$tmp/new/.flopwatch.yaml"
commit new "a broken second one"
push new broken
fw wait broken --timeout 300 --quiet >"$tmp/out" 2>&1
is "a new benchmark that fails does not pass" "$(($? != 0))" 1
like "as a failure of this commit" "$(cells "$(head_of new)")" "^first compare identical, second selfcheck failed:crash"
like "with the line that explains it" "$(cat "$tmp/out")" 'last output: "ModuleNotFoundError: No module named <b>"'
job=$(sql "SELECT max(id) FROM job")
like "and the others in the log" "$(api "jobs/$job/log")" 'target: output:   File "b.py", line 1'
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$job" comparison)")
like "and on the page" "$page" 'output: === 1 error ==='
unlike "escaped" "$page" 'named <b>'

branch new renamed main
git -C "$tmp/new" mv first.sh second.sh
manifest second >"$tmp/new/.flopwatch.yaml"
commit new "another name"
push new renamed
fw wait renamed --timeout 300 --quiet >"$tmp/out" 2>&1
is "of a new name, both are reported" "$(cells "$(head_of new)")" "first compare removed, second selfcheck unchanged"

# ---- a base that a user names stays the base
fw compare main works --repo new --timeout 300 --quiet >"$tmp/out" 2>&1
is "a requested comparison has only the benchmarks of its base" "$(sql "SELECT group_concat(suite) FROM job WHERE base_how = 'given'")" first

# ---- on main the commit that breaks it has the alert, and later ones do not hide it
git -C "$tmp/new" checkout -q broken
push new main
bad=$(head_of new)
fw wait main --timeout 300 --quiet >"$tmp/out" 2>&1
is "an alert names the commit that adds it" "$(api alerts | jq -c '[.items[] | [.kind, .state, .target]]')" "[[\"failing\",\"open\",\"$bad\"]]"
echo text >"$tmp/new/README.md"
commit new "a README"
push new main
fw wait main --timeout 300 --quiet >"$tmp/out" 2>&1
is "and stays open" "$(api alerts | jq -c '[.items[] | [.kind, .state, .target]]')" "[[\"failing\",\"open\",\"$bad\"]]"
works second
commit new "repaired"
push new main
fw wait main --timeout 300 --quiet >"$tmp/out" 2>&1
is "until it works" "$(api alerts | jq -c '[.items[] | [.kind, .state]]')" '[["failing","resolved"]]'
