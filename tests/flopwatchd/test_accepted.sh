#!/bin/bash
# An accepted regression follows the commit that caused it: it passes on its branch and, merged or fast-forwarded, on the upstream branch; a larger
# regression and other cells do not pass.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
at=http://127.0.0.1:$(cat "$tmp/r/port")
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
said() { # context, commit: the last status, state and description
	jq -r --arg path "/hub/repos/team/lines/statuses/$2" --arg context "$1" \
		'select(.path == $path) | .body | fromjson | select(.context == $context) | .state + " " + .description' "$tmp/r/got" 2>/dev/null | tail -n 1
}
says() { [[ "$(said "$1" "$2")" =~ $3 ]]; }
new_lines_repo
bench() { # ms of two rows
	printf 'echo "{\\"cell\\":\\"one\\",\\"ms\\":[%s,%s,%s]}"\necho "{\\"cell\\":\\"two\\",\\"ms\\":[%s,%s,%s]}"\n' "$1" "$1" "$1" "$2" "$2" "$2" >"$tmp/lines/bench.sh"
}
bench 1.00 2.00
commit lines "first"
push lines main
echo forge-token-1 >"$tmp/token"
chmod 600 "$tmp/token"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git, notes: write, status: {kind: github, api: \"$at/hub\", project: team/lines, token_file: $tmp/token, allow_internal: true}}]"
start_daemon || exit 1
patience=40
answer() { fw wait "$1" --timeout 150 --quiet "${@:2}"; }
alerts_of() { api "alerts?limit=100" | jq -c --arg branch "$1" '[.items[] | select(.branch == $branch) | .state]'; }
verdict_of() { api "commits/$1/verdict" | jq -r .verdict; }
ok "main is well" answer main

# ---- on its branch ----
branch lines exact main
bench 1.30 2.00
commit lines "exact rows, slower"
exact=$(head_of lines)
push lines exact
fails "the branch lost" 3 answer exact
fails "accepting without a reason is a usage mistake" 2 fw alerts accept 1
like "that names the option" "$out" 'accept and invalidate need a reason: --reason'
exact_c=$(job_field "$(job_of "$exact")" comparison)
ok "the program of a row can be run by hand" fw reproduce "$exact_c"
like "in a checkout, as a push builds and runs it" "$out" "git switch --detach ${exact:0:12} && flopwatch try --suite 'lines'"
like "Markdown offers the answers" "$(http GET "/api/v1/comparisons/$exact_c.md")" 'What to do: push a fix, or accept the slowdown'
ok "accepting answers" fw alerts accept 1 --reason "exact rows are worth it"
like "with what changed" "$out" '^A1 accepted: exact now passes; the next push is held to -23\.1 % in one$'
ok "the branch passes" answer exact
like "and reports that" "$out" 'slower in 1 of 2 cells \(accepted\)$'
like "in the row, too" "$out" '^ +one .*regression \(accepted\)'
like "Markdown has nothing more to do" "$(http GET "/api/v1/comparisons/$exact_c.md")" 'What to do: nothing; A1 is accepted'
like "and by whom, and why" "$out" '^A1 was accepted by .*: exact rows are worth it'
ok "by its commit, too" answer "$exact"
ok "and by its job" answer "$(job_of "$exact")"
fails "--strict ignores the acceptance" 3 answer exact --strict
like "status shows the word" "$(fw status)" 'exact +regression \(accepted\)'
unlike "status --strict does not" "$(fw status --strict)" 'accepted'
is "REST has the same" "$(verdict_of "$exact")" "regression (accepted)"
is "and who accepted it" "$(api "commits/$exact/verdict" | jq -c '[.accepted.alert, .accepted.reason, .regressions, .suites[0].accepted]')" '[1,"exact rows are worth it",1,1]'
is "and strict" "$(api "commits/$exact/verdict?strict=yes" | jq -c '[.verdict, .accepted]')" '["regression",null]'
is "the badge" "$(api "badge.svg?repo=lines&branch=exact" | grep -c 'accepted')" 1
ok "the forge gets a status that passes" await says flopwatch "$exact" '^success .*regression \(accepted\) by '
ok "of the suite, too" await says flopwatch/lines "$exact" '^success regression \(accepted by .*\): 1 of 2 cells'
noted() { [[ "$(git -C "$tmp/lines.git" notes --ref flopwatch show "$exact" 2>/dev/null)" == *"lines: regression (accepted)"* ]]; }
ok "the note as well" await noted
like "the commit's page" "$(http GET "/commits/$exact")" 'slower in 1 of 2 cells \(accepted\)'

bench 1.30 2.00
echo "# a comment" >>"$tmp/lines/bench.sh"
commit lines "nothing more is lost"
push lines exact
ok "the next push of the branch is held to what was accepted" answer exact
is "and opens no alert" "$(alerts_of exact)" '["accepted"]'
bench 1.30 2.60
commit lines "another row"
push lines exact
fails "another row that loses is not covered" 3 answer exact
is "and has an alert of its own" "$(alerts_of exact)" '["open","accepted"]'
is "which names it alone" "$(api alerts/2 | jq -c '[.cells[].cell]')" '["two"]'
bench 1.60 2.00
commit lines "the accepted row loses more"
push lines exact
fails "a larger loss is not covered" 3 answer exact

# ---- another cell does not pass ----
branch lines noisy main
bench 1.30 2.60
commit lines "two rows, slower"
push lines noisy
fails "both rows lost" 3 answer noisy
noisy_c=$(job_field "$(job_of "$(head_of lines)")" comparison)
noisy_a=$(api "alerts?limit=100" | jq '[.items[] | select(.branch == "noisy")][0].id')
# noise cannot be produced, so the test adds an undecided cell
sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 9000; CREATE TEMP TABLE noisy AS SELECT * FROM cell WHERE comparison = $noisy_c AND key = 'two';
	UPDATE noisy SET id = (SELECT max(id) + 1 FROM cell), n = 2, key = 'three', verdict = 'undecided'; INSERT INTO cell SELECT * FROM noisy" >"$tmp/null"
ok "accepting it" fw alerts accept "$noisy_a" --reason "wanted"
like "says that the commit does not pass, and names the cells" "$out" \
	"^A$noisy_a accepted: this slowdown passes, but noisy is undecided by its other results; the next push is held to -23\.1 % in (one|two), and to the accepted slowdown in the other cell$"
fails "wait has the status of an undecided commit" 7 answer noisy

# ---- requested manually ----
branch lines other main
bench 1.10 2.00
commit lines "rows of another branch"
push lines other
answer other
ok "the alert's own two commits pass, too" fw compare "$(git -C "$tmp/lines" rev-parse main)" "$exact" --timeout 150
like "as accepted" "$out" 'slower in 1 of 2 cells \(accepted\)'
fails "the same commit against another base is another question" 3 fw compare "$(head_of lines)" "$exact" --timeout 150
unlike "which no user has accepted" "$out" 'accepted'

# ---- made again by a squash ----
git -C "$tmp/lines" checkout -q -b squashed "$exact~1"
git -C "$tmp/lines" commit -q --allow-empty -m "main goes on, and nothing that is built changes"
git -C "$tmp/lines" merge -q --squash "$exact"
git -C "$tmp/lines" commit -q -m "exact, squashed"
push lines squashed
ok "a squash passes, whose two builds are those of the alert" answer squashed
is "as accepted" "$(verdict_of "$(head_of lines)")" "regression (accepted)"
is "and opens no alert" "$(alerts_of squashed)" '[]'
git -C "$tmp/lines" checkout -q -b rebased "$exact~1"
echo "# main has changed" >>"$tmp/lines/bench.sh"
commit lines "main goes on"
bench 1.30 2.00
echo "# main has changed" >>"$tmp/lines/bench.sh"
commit lines "exact, rebased"
push lines rebased
fails "a rebase onto other sources is a new question" 3 answer rebased
is "and has an alert of its own" "$(alerts_of rebased)" '["open"]'

# ---- merged ----
git -C "$tmp/lines" checkout -q -B main "$exact~1"
git -C "$tmp/lines" commit -q --allow-empty -m "main goes on"
git -C "$tmp/lines" merge -q --no-ff -m "merge exact" "$exact"
merged=$(head_of lines)
push lines main
ok "the merge passes on main" answer main
is "as accepted" "$(verdict_of "$merged")" "regression (accepted)"
is "and opens no alert there" "$(alerts_of main)" '[]'
bench 1.30 2.00
echo "# more" >>"$tmp/lines/bench.sh"
commit lines "the next push"
push lines main
ok "the next push is held to the accepted level" answer main
is "against the merge" "$(verdict_of "$(head_of lines)")" unchanged
bench 1.60 2.00
commit lines "loses again"
push lines main
fails "a further loss on main is not covered" 3 answer main
is "and has its alert" "$(alerts_of main)" '["open"]'

# ---- fast-forward, and an acceptance that comes after it ----
bench 1.60 2.00
branch lines fast main
bench 1.60 3.00
commit lines "slower rows"
push lines fast
fails "another branch lost" 3 answer fast
git -C "$tmp/lines" checkout -q main
git -C "$tmp/lines" merge -q --ff-only fast
push lines main
fails "and main with it" 3 answer main
id=$(api "alerts?limit=100" | jq '[.items[] | select(.branch == "fast")][0].id')
ok "accepting it on the branch" fw alerts accept "$id" --reason "wanted"
ok "main passes" answer main
is "and no other alert names the commit" "$(api "alerts?limit=100" | jq -c --arg t "$(head_of lines)" '[.items[] | select(.target == $t) | .state]')" '["accepted"]'

# ---- other answers print their changes, too ----
id=$(api "alerts?limit=100&state=open" | jq '[.items[] | select(.branch == "main")][0].id')
ok "acknowledging" fw alerts acknowledge "$id"
like "says what stays" "$out" "^A$id acknowledged: main stays regression"
ok "not real" fw alerts invalidate "$id" --reason "a busy machine"
like "says that the measurement stays" "$out" "^A$id invalid: main is regression; the measurement stays"
fits_forge "github: statuses are as the forge publishes them" exchanges --of github /hub "$tmp/r/got"
