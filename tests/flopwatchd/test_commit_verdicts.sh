#!/bin/bash
# A repository with two benchmarks: a commit's verdict is the worst of theirs, whichever ends last, in every output: status, wait (by branch, short
# and full hash), badge, overview, commit page, API, hook, forge, note, chat. None reports a final verdict while one still runs.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
at=http://127.0.0.1:$(cat "$tmp/r/port")
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
page() { http GET "/$1" | tr '\n' ' '; }
badge() { api "badge.svg?repo=pair&branch=$1" | grep -o 'aria-label="[^"]*"'; }
said() { # context, commit: the last status, state and description
	jq -r --arg path "/hub/repos/team/pair/statuses/$2" --arg context "$1" \
		'select(.path == $path) | .body | fromjson | select(.context == $context) | .state + " " + .description' "$tmp/r/got" 2>/dev/null | tail -n 1
}
says() { [[ "$(said "$1" "$2")" =~ $3 ]]; }
row() { # of the overview, by branch
	page "" | grep -o "<tr><th scope=row class=branch><a href=\"/branches?repo=pair&amp;branch=$1\".*" | sed 's/<\/tr>.*//'
}

git init -q --bare -b main "$tmp/pair.git"
git init -q -b main "$tmp/pair"
git -C "$tmp/pair" remote add origin "$tmp/pair.git"
bench() { # file, milliseconds, gate: waits for $tmp/GATE before it prints them
	{
		[ -z "${3:-}" ] || echo "until [ -e $tmp/$3 ]; do sleep 0.05; done"
		printf 'echo "{\\"cell\\":\\"%s/row\\",\\"ms\\":[%s,%s,%s]}"\n' "$1" "$2" "$2" "$2"
	} >"$tmp/pair/$1.sh"
}
cat >"$tmp/pair/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  gemm: {command: [sh, gemm.sh], reader: flopwatch, budget_s: 60, timeout_s: 60}
  second: {command: [sh, second.sh], reader: flopwatch, budget_s: 60, timeout_s: 60}
YAML
bench gemm 1.00
bench second 2.00
commit pair "first"
push pair main
echo forge-token-1 >"$tmp/token"
chmod 600 "$tmp/token"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: pair, url: $tmp/pair.git, notes: write, status: {kind: github, api: \"$at/hub\", project: team/pair, token_file: $tmp/token, allow_internal: true}}]" \
	"webhooks: [{name: chat, url: \"$at/chat\", kind: slack, comparisons: true, allow_internal: true}]"
start_daemon || exit 1
run() { # a command's standard output alone
	out=$("$@" 2>"$tmp/errors")
	status=$?
}
run fw wait main --timeout 100 --quiet
is "main is well" "$status" 0
like "in both" "$out" '^commit [0-9a-f]{12}  2 suites  verdict: unchanged: gemm unchanged, second unchanged$'
main=$(head_of pair)

# ---- the first has a regression, the second is delayed ----
branch pair lossy main
bench gemm 1.09
bench second 2.00 go
commit pair "gemm loses 9 %"
lossy=$(head_of pair)
push pair lossy
lost() { [ "$(api "commits/$lossy/verdict" | jq -r '.suites[0].verdict')" = regression ]; }
await lost
verdict=$(api "commits/$lossy/verdict")
is "what is lost is known at once" "$(jq -c '[.verdict, .final, .unfinished, .suite, (.suites | length)]' <<<"$verdict")" '["regression",false,["second"],"gemm",2]'
held=$(jq '.suites[1].job' <<<"$verdict")
n=0
for what in lossy "${lossy:0:9}" "$lossy"; do
	n=$((n + 1))
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" wait "$what" --long --progress --timeout 100 >"$tmp/out.$n" 2>"$tmp/err.$n" &
	waiting[n]=$!
done
follows() { grep -q "^J$held: " "$tmp/err.1" && grep -q "^J$held: " "$tmp/err.2" && grep -q "^J$held: " "$tmp/err.3"; }
ok "a client that waits, waits for the second" await follows
ok "and has not ended" kill -0 "${waiting[@]}"
like "status names it" "$(fw status --long)" "^ +pair +lossy +${lossy:0:10} +regression +${lossy:0:10} +gemm, 1 of 2 +second "
like "the overview too" "$(row lossy)" "regression.*/commits/$lossy\">gemm, 1 of 2 suites</a>.*next: second<.*8\.[0-9]"
like "the badge is red" "$(badge lossy)" 'regression -[89]\.[0-9] %'
ok "the forge gets the status of gemm" await says flopwatch/gemm "$lossy" '^failure regression: 1 of 1 cells, worst -8'
ok "and the sum is pending" await says flopwatch "$lossy" '^pending 1 of 2 suites ended: gemm regression -8\.[0-9]+ %, second is being measured$'
is "the commit page names both" "$(page "commits/$lossy" | grep -oE '<th scope=row>(gemm|second)</th>' | paste -sd' ')" "<th scope=row>gemm</th> <th scope=row>second</th>"
touch "$tmp/go"
for n in 1 2 3; do
	wait "${waiting[n]}"
	is "wait $n ends with 3" $? 3
	like "after both" "$(cat "$tmp/out.$n")" "^commit ${lossy:0:12}  2 suites  verdict: regression: gemm regression -8\.[0-9]+ %, second unchanged$"
	is "with both tables" "$(grep -cE '^C[0-9]+  pair' "$tmp/out.$n")" 2
done
is "the second was the last to end" "$(sql "SELECT j.suite FROM comparison c JOIN job j ON j.id = c.job ORDER BY c.id DESC LIMIT 1")" second

everywhere() { # branch, commit, suite with a regression, the other, per cent
	local branch=$1 sha=$2 suite=$3 other=$4 pct=$5
	like "$branch: status" "$(fw status --long)" "^ +pair +$branch +${sha:0:10} +regression +${sha:0:10} +$suite, 1 of 2 +- "
	is "$branch: API" "$(api "branches?repo=pair" | jq -c --arg name "$branch" '.items[] | select(.name == $name) | [.verdict, .unfinished, .compared, ([.suites[].verdict] | sort)]')" \
		"[\"regression\",[],\"$sha\",[\"regression\",\"unchanged\"]]"
	is "$branch: its commit" "$(api "commits/${sha:0:12}" | jq -c '[.verdict.verdict, .verdict.final, .verdict.suite, .verdict.worst_suite]')" "[\"regression\",true,\"$suite\",\"$suite\"]"
	like "$branch: overview" "$(row "$branch")" "regression.*>$suite, 1 of 2 suites<.*$pct"
	unlike "$branch: nothing is waited for" "$(row "$branch")" 'waits for'
	like "$branch: badge" "$(badge "$branch")" "regression -$pct"
	like "$branch: commit page" "$(page "commits/$sha")" "<h2>Verdict</h2><p class=lead><a href=\"/comparisons/[0-9]+\"><span class=\"v [a-z]+\"><i aria-hidden=true>.</i>regression</span>"
	like "$branch: and its suites" "$(page "commits/$sha" | sed 's/.*<h2>Comparisons<.h2>//')" "<th scope=col>Suite.*>($other</td>.*>$suite|$suite</td>.*>$other)</td>"
	ok "$branch: forge" await says flopwatch "$sha" "^failure regression: $suite regression -$pct.*, $other unchanged$"
	is "$branch: one status a suite" "$(said flopwatch/gemm "$sha" | cut -d' ' -f1) $(said flopwatch/second "$sha" | cut -d' ' -f1)" \
		"$([ "$suite" = gemm ] && echo failure success || echo success failure)"
	for what in "$branch" "${sha:0:8}" "$sha"; do
		run fw wait "$what" --timeout 100 --quiet
		is "$branch: wait ${what:0:12}" "$status" 3
	done
}
everywhere lossy "$lossy" gemm second '8\.[0-9]+'
pending_only_before() { # commit: states of the combined status, without repetitions
	jq -r --arg path "/hub/repos/team/pair/statuses/$1" 'select(.path == $path) | .body | fromjson | select(.context == "flopwatch") | .state' "$tmp/r/got" | uniq | paste -sd' '
}
is "the sum was pending until both had ended" "$(pending_only_before "$lossy")" "pending failure"
noted() { git -C "$tmp/pair.git" notes --ref flopwatch show "$1" 2>/dev/null | grep -q "^verdict: $2"; }
ok "the note has it first" await noted "$lossy" 'regression$'
heard() { jq -r 'select(.path == "/chat") | .body | fromjson | .text' "$tmp/r/got" | grep -qE "$1"; }
ok "chat gets the unchanged suite, and the verdict of the commit" await heard "^\*unchanged\* of suite second in pair lossy ${lossy:0:10}, the commit: regression"
like "the feed names suites" "$(page comparisons.atom)" "regression: pair lossy ${lossy:0:12}, suite gemm<"

# ---- the other way round: the suite that ends first is good ----
branch pair later main
bench gemm 1.00
bench second 2.30 go2
commit pair "second loses 13 %"
later=$(head_of pair)
push pair later
first_ended() { [ "$(api "commits/$later/verdict" | jq -r '.suites[0].verdict')" = unchanged ]; }
await first_ended
is "what is well so far is no verdict" "$(api "commits/$later/verdict" | jq -c '[.verdict, .final, .unfinished]')" '[null,false,["second"]]'
is "nor on a badge" "$(badge later)" 'aria-label="flopwatch: being measured"'
like "nor in status" "$(fw status --long)" "^ +pair +later +${later:0:10} +- +- +- +second "
touch "$tmp/go2"
run fw wait later --timeout 100 --quiet
is "then it is" "$status" 3
everywhere later "$later" second gemm '1[23]\.[0-9]+'

# ---- users' requests ----
run fw compare main lossy --timeout 100 --quiet
is "compare measures both" "$status" 3
like "and reports that" "$out" '^commit [0-9a-f]{12}  2 suites  verdict: regression: gemm regression -8\.[0-9]+ %, second unchanged$'
run fw compare main lossy --timeout 100 --quiet --json
ok "in JSON with both comparisons" jq -e '.verdict == "regression" and (.comparisons | length) == 2 and all(.comparisons[]; .cells | length == 1)' <<<"$out"
job=$(fw submit lossy --json | jq .id)
run fw wait "J$job" --timeout 100 --quiet --long
is "wait for the job of a run waits for both" "$status $(grep -cE '^C[0-9]+  pair' <<<"$out")" "3 2"
run fw wait "$held" --timeout 100 --quiet --long
is "and for one job for that alone" "$status $(grep -cE '^C[0-9]+  pair' <<<"$out")" "0 1"
is "compared commits have the worst comparison" "$(api "compare?repo=pair&base=$main&target=$lossy" | jq -r '.suite + " " + .verdict')" "gemm regression"
is "or that of a suite" "$(api "compare?repo=pair&base=$main&target=$lossy&suite=second" | jq -r '.suite + " " + .verdict')" "second unchanged"

# ---- the hook ----
install -m 755 "$root/etc/pre-push" "$tmp/pair/.git/hooks/pre-push"
git init -q --bare "$tmp/elsewhere.git"
try_push() { FLOPWATCH="$bin/flopwatch" FLOPWATCH_SERVER="http://127.0.0.1:$(port)" git -C "$tmp/pair" push -q "$tmp/elsewhere.git" "$1"; }
ok "a push without a loss goes through the hook" try_push main
fails "a loss in the first does not" 1 try_push lossy
fails "nor one in the second" 1 try_push later
rm "$tmp/pair/.git/hooks/pre-push"

# ---- an unmeasured suite is no success ----
branch pair halted main
bench gemm 1.00
bench second 2.00 never
commit pair "second is not let go on"
halted=$(head_of pair)
push pair halted
half() { [ "$(api "commits/$halted/verdict" | jq -c '[.suites[]? | [.suite, .verdict]]')" = '[["gemm","unchanged"],["second",null]]' ]; }
await half
fw cancel "$(api "commits/$halted/verdict" | jq '.suites[1].job')" >/dev/null
run fw wait halted --timeout 100 --quiet
is "a suite that was cancelled leaves it open" "$status" 7
like "and is named" "$(cat "$tmp/errors")" '^flopwatch: second: J[0-9]+ is cancelled: cancelled by local$'
like "in status" "$(fw status --long)" "^ +pair +halted +${halted:0:10} +undecided +${halted:0:10} +second, 1 of 2 +-"
ok "the forge gets the same" await says flopwatch "$halted" '^success undecided: gemm unchanged, second not measured: cancelled by local$|^success undecided: second not measured: cancelled by local, gemm unchanged$'

branch pair broken main
bench gemm 1.09
printf 'exit 3\n' >"$tmp/pair/second.sh"
commit pair "second fails, gemm loses"
push pair broken
broken=$(head_of pair)
run fw wait broken --timeout 100 --quiet
is "a loss next to a failure remains a loss" "$status" 3
is "though failed is the worse word" "$(api "commits/$broken/verdict" | jq -r .verdict)" failed
ok "for the forge too" await says flopwatch "$broken" '^failure failed: second failed, gemm regression -8'

branch pair unplanned main
echo 'speed: high' >>"$tmp/pair/.flopwatch.yaml"
commit pair "no plan"
unplanned=$(head_of pair)
push pair unplanned
run fw wait unplanned --timeout 100 --quiet
is "a commit of which no plan can be made is an error" "$status" 1
like "with the reason" "$(cat "$tmp/errors")" '^flopwatch: J[0-9]+ is failed: .*\.flopwatch\.yaml:[0-9]+:[0-9]+: .*speed'
like "in status" "$(fw status --long)" "^ +pair +unplanned +${unplanned:0:10} +failed "
like "on its badge" "$(badge unplanned)" 'failed'
ok "and for the forge" await says flopwatch "$unplanned" '^error not measured: .*speed'

# ---- a commit that another branch has, and one that main takes over ----
git -C "$tmp/pair.git" branch again "$lossy"
run fw wait again --timeout 100 --quiet
is "a new branch at a measured commit has its verdict" "$status" 3
git -C "$tmp/pair" checkout -q main
git -C "$tmp/pair" merge -q --ff-only lossy
push pair main
took_over() { [ "$(api 'branches?repo=pair' | jq -r '.items[] | select(.name == "main") | .commit')" = "$lossy" ]; }
await took_over
run fw wait main --timeout 100 --quiet
is "main measures it for itself" "$status" 3
is "with both suites" "$(sql "SELECT group_concat(suite) FROM (SELECT suite FROM job WHERE branch = 'main' AND target_sha = '$lossy' AND state = 'done' ORDER BY suite)")" "gemm,second"
like "the overview shows the cells of both" "$(page "")" 'in suite gemm.*gemm/row.*in suite second.*second/row'
like "so does the heat map" "$(page 'heat?repo=pair&branch=main')" 'gemm/row.*second/row'
like "and what histories are offered" "$(page 'history?repo=pair&branch=main')" 'gemm/row.*second/row'

# ---- a benchmark that is dropped ----
drops() { # branch, benchmark: removes it from main's present manifest
	branch pair "$1" main
	sed -i "/^  $2:/d" "$tmp/pair/.flopwatch.yaml"
	commit pair "$1"
	push pair "$1"
}
for name in gemm second; do # the first of the plan, and the other
	drops "without-$name" $name
	run fw wait "$(head_of pair)" --timeout 100 --quiet
	is "a commit without $name is judged by what it has" "$status" 0
	like "and reports that" "$out" "2 suites  verdict: (identical|unchanged): .*$name removed"
done
is "no notification is sent for a branch" "$(api alerts | jq '[.items[] | select(.kind == "missing")] | length')" 0
push pair main
run fw wait "$(head_of pair)" --timeout 100 --quiet
dropped() { [ "$(api alerts | jq -c '[.items[] | select(.kind == "missing" or .kind == "failing") | [.kind, .target, [.cells[].cell]]]')" = "[[\"missing\",\"$(head_of pair)\",[\"second/row\"]]]" ]; }
ok "main's is reported, once" await dropped
stop_daemon
is "the daemon ends in order" $? 0
fits_forge "github: statuses are as the forge publishes them" exchanges --of github /hub "$tmp/r/got"
