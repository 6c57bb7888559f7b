#!/bin/bash
# Bisects on device sim: real pushes of many commits, and the alert names the culprit.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export FLOPWATCH_SERVER

factor() { # factor, message: one commit with that speed, and different sources
	echo "$1" >"$tmp/kernels/kernels/factor"
	echo "# $2" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "$2"
}
start() {
	start_daemon
	FLOPWATCH_SERVER="http://127.0.0.1:$(port)"
}
alert_of() { # commit, kind
	api "alerts?limit=500" | jq -r --arg sha "$1" --arg kind "$2" '.items[] | select(.target == $sha and .kind == $kind) | .id'
}
is_named() { # commit, kind
	[ "$(sql "SELECT culprits <> '[]' FROM alert WHERE target_sha = '$1' AND kind = '$2'")" = 1 ]
}
named() { # commit, kind: every culprit as "subject(commits)"
	await is_named "$1" "$2"
	api "alerts?limit=500" | jq -r --arg sha "$1" --arg kind "$2" \
		'.items[] | select(.target == $sha and .kind == $kind) | [.culprits[] | "\(.subject)(\(.commits))"] | join(" ")'
}

new_repo kernels
write_config
start
is "the daemon starts" $? 0
push kernels main
first=$(head_of kernels)
is "main begins" "$(result_of "$first")" "done unchanged"

# ---- one culprit among eight ----
for n in 1 2 3 4 5 6 7 8; do factor "$([ $n -ge 6 ] && echo 1.05 || echo 1.0)" "one-$n"; done
push kernels main
tip=$(head_of kernels)
is "eight commits pushed at once regress" "$(result_of "$tip")" "done regression"
is "the one that did it is named" "$(named "$tip" regression)" "one-6(1)"
alert=$(alert_of "$tip" regression)
bisect=$(api "alerts?limit=500" | jq ".items[] | select(.id == $alert) | .bisect")
is "the bisect has ended and belongs to the alert" "$(api "bisects/$bisect" | jq -r '"\(.state) \(.alert) \(.goal) \(.commits)"')" "done $alert regression 8"
ok "it took at most five measurements" test "$(api "bisects/$bisect" | jq .jobs)" -le 5
is "after pushes and before the filling of gaps" "$(sql "SELECT DISTINCT priority FROM job WHERE kind = 'bisect'")" -5
is "the culprit was measured against its parent" "$(sql "SELECT verdict FROM comparison WHERE id = $(api "bisects/$bisect" | jq '.culprits[0].comparison')")" regression
like "the alert's history has that" "$(api "alerts?limit=500" | jq -r ".items[] | select(.id == $alert) | .events[].reason")" 'culprit: [0-9a-f]{12} one-6 \(-4\.[0-9] %\), named with probability (above )?0\.999[0-9]$'
like "its title names what moved" "$(api "alerts?limit=500" | jq -r ".items[] | select(.id == $alert) | .title")" 'attention (for|back)ward .*-4\.[0-9] % in 2 cells, and 1 more group'
like "the alert's page names it with its probability" "$(curl -s "$FLOPWATCH_SERVER/alerts/$alert")" '<b>Culprit:</b> <.*one-6 .*named with probability (above )?0\.999[0-9]'
like "that of the bisect says how sure it is" "$(curl -s "$FLOPWATCH_SERVER/bisects/$bisect")" 'How sure: named with probability (above )?0\.999[0-9]'
culprit=$(api "bisects/$bisect" | jq -r '.culprits[0].to')
like "the title of the bisect is its finding" "$(curl -s "$FLOPWATCH_SERVER/bisects/$bisect")" "<h1>Bisect $bisect: ${culprit:0:10} one-6 made main up to 4\.[0-9] % slower in 4 cells</h1>"
like "and the list has it with the next step" "$(curl -s "$FLOPWATCH_SERVER/bisects" | tr -d '\n')" "<h1>Bisects: .*<b>main</b></a>, for <a href=\"/alerts/$alert\">A$alert</a>.*culprit <.*one-6.*4 cells, worst <.*push a fix, or <a href=\"/alerts/$alert#answer\">"
is "its cells are grouped by direction" "$(api "alerts?limit=500" | jq -c ".items[] | select(.id == $alert) | [.groups[] | [.direction, .cells]]")" '[["forward",2],["backward",2]]'
is "webhook receivers would get both" "$(sql "SELECT count(*) FROM event WHERE kind IN ('alert.opened', 'alert.named')")" 2

is "the work that it claims more is an event" "$(sql "SELECT payload ->> 'what' FROM event WHERE kind = 'cost.up'")" flops_issued
costly=$(sql "SELECT payload ->> 'comparison' FROM event WHERE kind = 'cost.up' LIMIT 1")
is "which its comparison says, too" "$(api "comparisons/$costly" | jq -c '[.costs[] | .what, (.cells | length)]')" '["flops_issued",4]'
like "its page" "$(curl -s "$FLOPWATCH_SERVER/comparisons/$costly")" 'a call does more arithmetic for the same result in 4 cells, at most [0-9.]+ instead of [0-9.]+ (k|M)FLOP, in <a href="[^"]*" data-cell=c[0-9]*>[a-z]'
like "and the command line" "$("$bin/flopwatch" wait main --long --quiet 2>&1)" '^WARNING besides time: a call does more arithmetic for the same result in 4 cells, at most [0-9.]+ instead of [0-9.]+ (k|M)FLOP, in attention/'

# ---- two culprits, one of them behind a commit that does not build ----
factor 1.05 "two-1"
factor 1.10 "two-2"
factor 1.10 "two-3"
echo 'int x = ;' >"$tmp/kernels/kernels/broken.h"
sed -i 's/libattention.so good.c/libattention.so -include broken.h good.c/' "$tmp/kernels/kernels/Makefile"
factor 1.10 "two-4 does not build"
factor 1.20 "two-5 neither, and is slower"
sed -i 's/ -include broken.h//' "$tmp/kernels/kernels/Makefile"
factor 1.20 "two-6 builds again"
factor 1.20 "two-7"
push kernels main
tip=$(head_of kernels)
is "seven more regress" "$(result_of "$tip")" "done regression"
is "both are found, the second as narrow as can be" "$(named "$tip" regression)" "two-2(1) two-6 builds again(3)"
is "with what could not be measured" "$(api "alerts?limit=500" | jq -c ".items[] | select(.target == \"$tip\") | [.culprits[].skipped]")" "[0,2]"

# ---- commits with a broken build and with a wrong result ----
factor 1.20 "broken-1"
sed -i 's/libattention.so good.c/libattention.so -include broken.h good.c/' "$tmp/kernels/kernels/Makefile"
factor 1.20 "broken-2 breaks the build"
factor 1.20 "broken-3"
push kernels main
tip=$(head_of kernels)
is "a build that breaks on main" "$(result_of "$tip")" "done failed"
is "is an alert that names who broke it" "$(named "$tip" failing)" "broken-2 breaks the build(1)"
is "and whose bisect measures each commit once" "$(api "bisects?limit=1" | jq -r '.items[0].goal')" failing
factor 1.20 "broken-4"
push kernels main
is "which stays broken" "$(result_of "$(head_of kernels)")" "done failed"
is "and blames no other commit" "$(sql "SELECT count(*) FROM alert WHERE kind = 'failing'")" 1
sed -i 's/ -include broken.h//' "$tmp/kernels/kernels/Makefile"
factor 1.20 "fixed"
push kernels main
is "until it is fixed" "$(result_of "$(head_of kernels)")" "done identical"
is "which resolves the alert" "$(sql "SELECT state FROM alert WHERE kind = 'failing'")" resolved
sed -i 's/libattention.so good.c/libattention.so wrong_result.c/' "$tmp/kernels/kernels/Makefile"
cp "$root/tests/modules/wrong_result.c" "$tmp/kernels/kernels/wrong_result.c"
factor 1.20 "wrong-1"
factor 1.20 "wrong-2"
push kernels main
tip=$(head_of kernels)
is "wrong results on main" "$(result_of "$tip")" "done failed"
is "are an alert too" "$(named "$tip" failing)" "wrong-1(1)"
like "whose title has it" "$(api "alerts?limit=500" | jq -r ".items[] | select(.target == \"$tip\") | .title")" '^wrong: attention '
sed -i 's/libattention.so wrong_result.c/libattention.so good.c/' "$tmp/kernels/kernels/Makefile"
factor 1.20 "right"
push kernels main
is "and right again" "$(result_of "$(head_of kernels)")" "done identical"

# ---- by hand ----
last=$(head_of kernels)
fails "flopwatch bisect" 3 "$bin/flopwatch" bisect "$first" "$last" '*/causal/*/forward' --progress
like "prints its progress" "$out" 'bisect [0-9]+: 23 commits: J[0-9]+, the [0-9]+\. measurement'
like "names the first" "$out" '[0-9a-f]{12} +1 +-4\.[0-9] % +1 +C[0-9]+ +measured +>?0\.999[0-9] +one-6'
comparison=$(grep -oE -m 1 ' C[0-9]+ +measured' <<<"$out" | grep -oE 'C[0-9]+')
is "the next command shows its cause" "$(tail -n 1 <<<"$out")" "next: flopwatch why $comparison"
like "the second" "$out" 'two-2'
like "and the third, as far as can be" "$out" '[0-9a-f]{12}\.\.[0-9a-f]{12} +3 +-8\.[0-9] % .*two-6 builds again'
is "only the cell that was asked for" "$(api 'bisects?limit=1' | jq -c '.items[0].cells')" '["attention/dense/causal/s64/hq2/hk1/d64/bf16/forward"]'
is "a bisect by hand names its user" "$(api 'bisects?limit=1' | jq -r '.items[0].who')" local
branch kernels harmless "$first"
for n in 1 2 3; do factor 1.0 "harmless-$n"; done
push kernels harmless
fails "as JSON" 3 "$bin/flopwatch" bisect "$first" "$last" '*/causal/*/forward' --json --quiet
is "it is the API's answer" "$(jq -r '.culprits | length' <<<"$out")" 3
is "and what was measured is not measured again" "$(jq .jobs <<<"$out")" 1
ok "nothing lost ends with 0" "$bin/flopwatch" bisect "$first" harmless
like "and reports that" "$out" 'nothing to bisect: the bad end is (identical|unchanged) against the good end'
post devices/sim-0/pause >"$tmp/answer"
begun=$SECONDS
"$bin/flopwatch" bisect "$first" "$last" '*/full/*/forward' --timeout 4 >"$tmp/answer" 2>"$tmp/steps"
is "one that waits in a pipe ends with its time" $? 6
ok "and says how it goes" grep -qE '^bisect [0-9]+: [0-9]+ commits: ' "$tmp/steps"
ok "in a line in ten seconds at most" test "$(grep -c ^bisect "$tmp/steps")" -le $(((SECONDS - begun) / 10 + 1))
post devices/sim-0/resume >"$tmp/answer"
fails "ends in the wrong order" 1 "$bin/flopwatch" bisect "$last" "$first"
like "are no range" "$out" 'the good end [0-9a-f]{12} is not an ancestor of the bad end [0-9a-f]{12} by first parents: perhaps they are swapped'
fails "an unknown commit" 4 "$bin/flopwatch" bisect nowhere "$last"
fails "one end" 2 "$bin/flopwatch" bisect "$last"
like "the same end twice is refused" "$(post bisects "{\"repo\":\"kernels\",\"good\":\"$last\",\"bad\":\"$last\"}" | jq -r .detail)" 'the same commit'
like "and a key that no request has" "$(post bisects '{"repo":"kernels","base":"x"}' | jq -r .detail)" 'key base is unknown'

# ---- interrupted ----
branch kernels long "$last"
for n in $(seq 12); do factor "$([ "$n" -ge 5 ] && echo 1.30 || echo 1.20)" "long-$n"; done
push kernels long
tip=$(head_of kernels)
is "a branch regresses" "$(result_of "$tip")" "done regression"
has_asked() { [ "$(sql "SELECT n_jobs FROM bisect WHERE bad_sha = '$tip'")" -ge "$1" ]; }
await has_asked 2
stop_daemon KILL
start
is "the daemon is killed in the middle of the bisect, and starts again" $? 0
is "the bisect continues where it was" "$(named "$tip" regression)" "long-5(1)"
ok "without measuring anything twice" test "$(sql "SELECT n_jobs FROM bisect WHERE bad_sha = '$tip'")" -le 6
factor 1.30 "long-13"
push kernels long
tip=$(head_of kernels)
is "the branch's next tip regresses as well" "$(result_of "$tip")" "done regression"
is "and names the same commit" "$(named "$tip" regression)" "long-5(1)"
is "without another bisect" "$(sql "SELECT count(*) FROM bisect WHERE bad_sha = '$tip'")" 0
is "in the one alert that is open for the branch" "$(sql "SELECT count(*) FROM alert WHERE branch = 'long' AND state = 'open'")" 1
post devices/sim-0/pause >/dev/null
id=$(post bisects "{\"repo\":\"kernels\",\"good\":\"$last\",\"bad\":\"long\"}" | jq .id)
has_job_waiting() { [ -n "$(sql "SELECT job FROM bisect WHERE id = $id AND job IS NOT NULL")" ]; }
await has_job_waiting
is "a bisect can be cancelled" "$(post "bisects/$id/cancel" | jq -r .state)" cancelled
like "once" "$(post "bisects/$id/cancel" | jq -r .detail)" 'has ended already'
is "and its job with it" "$(sql "SELECT count(*) FROM job WHERE kind = 'bisect' AND state NOT IN ('done', 'cancelled')")" 0
post devices/sim-0/resume >/dev/null

# ---- answered ----
post "alerts/$(alert_of "$tip" regression)/accept" '{"reason":"numerics need it"}' >/dev/null
factor 1.30 "long-14"
push kernels long
is "an accepted loss is seen" "$(result_of "$(head_of kernels)")" "done regression"
is "and is no alert any more" "$(alert_of "$(head_of kernels)" regression)" ""
factor 1.45 "long-15 is slower still"
push kernels long
tip=$(head_of kernels)
is "what goes beyond it" "$(result_of "$tip")" "done regression"
unlike "is one" "$(alert_of "$tip" regression)" '^$'
# ---- a device without a heartbeat ----
stop_daemon
printf '#!/bin/sh\nexit 3\n' >"$tmp/worker"
chmod +x "$tmp/worker"
repos="repos: [{name: kernels, url: $tmp/kernels.git}]"
write_config "workers: [{name: sim, command: [$tmp/worker]}]" "$repos" "limits: {offline_after: 1 s}"
start
branch kernels quiet "$last"
factor 1.21 "nobody measures it"
push kernels quiet
silent_is() { [ "$(sql "SELECT group_concat(state) FROM alert WHERE kind = 'device_offline'")" = "$1" ]; }
await silent_is open
like "a silent device while jobs wait is an alert" "$(api 'alerts?state=open' | jq -r '.items[] | select(.kind == "device_offline") | .title')" 'device sim-0 sent nothing for [0-9]+ s while (1 job waits|2 jobs wait)'
is "about the device" "$(api 'alerts?state=open' | jq -r '.items[] | select(.kind == "device_offline") | "\(.device) \(.repo)"')" "sim-0 null"
like "the page shows it" "$(http GET /alerts)" 'sim-0 sent nothing'
like "and the command line" "$("$bin/flopwatch" alerts --state open --long)" 'device_offline +open +sim-0'
stop_daemon
write_config "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "$repos" "limits: {offline_after: 1 s}"
start
await silent_is resolved
is "which ends when the device answers again" $? 0

is "the database is sound" "$(sql 'PRAGMA foreign_key_check')" ""
stop_daemon
is "the daemon ends in order" $? 0
unlike "nothing went wrong unseen" "$(cat "$tmp/log")" 'ERROR: AddressSanitizer|runtime error|bisect\.(step|read|list)'
