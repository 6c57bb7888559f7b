#!/bin/bash
# A regression that only slow calls show, through the daemon: reported in a sentence, its commit found, ended by a push without it. Also judged again
# from its stored samples.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

is_idle() { [ "$(sql "SELECT (SELECT count(*) FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')) + (SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")" = 0 ]; }
comparison_of_tip() { job_field "$(job_of "$(head_of kernels)")" comparison; }
flow() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
words='1 call in (8|9|1[0-2]) takes 2[0-9] % longer' # one in ten calls, and the noise of the device

new_repo kernels
sed -i 's/directions: .*/directions: [forward]/; s/budget_s: .*/budget_s: 300/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "two cells"
write_config
start_daemon
is "the daemon starts" $? 0
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done identical"

# ---- reported ----
branch kernels topic main
echo "# 1" >>"$tmp/kernels/kernels/Makefile"
commit kernels "t-1"
echo "'-DCONFIG=\"SIM_SLOW_PCT=10 SIM_SLOW_FACTOR=1.25\"'" >"$tmp/kernels/kernels/flags"
commit kernels "t-2: every tenth call takes a quarter longer"
culprit=$(head_of kernels)
echo "# 3" >>"$tmp/kernels/kernels/Makefile"
commit kernels "t-3"
push kernels topic
is "a branch whose calls are slow now and then" "$(result_of "$(head_of kernels)")" "done regression"
id=$(comparison_of_tip)
body=$(api "comparisons/$id")
is "lost it on average, not in the typical call" "$(jq -c '[.cells[] | [.verdict, .decided_by, (.flags | index("tail")) != null, .change_pct > -1, .mean.change_pct < -1.5]] | unique' <<<"$body")" '[["regression","mean",true,true,true]]'
like "as a sentence" "$(jq -r '.cells[0].mean.text' <<<"$body")" "^$words"
is "a second set of runs shows that as well" "$(sql "SELECT count(DISTINCT set_number) FROM run WHERE comparison = $id")" 2
like "the report has it" "$(flow wait "$(head_of kernels)" --long)" "WARNING attention/dense/.* lost 2\.[0-9]+ % TFLOP/s on average \(threshold 1\.50 %\): $words.*; the typical call"
like "the page reports it" "$(http GET "/comparisons/$id")" "on average, since $words"
like "an open row, too" "$(http GET "/comparisons/$id?open=0")" "Slow calls: $words.*With them the change of the mean call is"
like "the table for spreadsheets" "$(api "comparisons/$id.csv" | sed -n 2p)" ",mean,-2\.[0-9]*,\"?$words"
like "the lines for a review" "$(api "comparisons/$id.md")" "\*\*regression\*\*, tail: $words.*, on average \\\\?-2\."
flow export "$id" "$tmp/ffa" >"$tmp/said"
is "the exported files show that loss" "$(paste -d, "$tmp"/ffa/profile_dense_{main,topic}.csv | awk -F, 'NR == 2 {printf "%.2f", 100 * ($4 / $20 - 1)}')" "$(jq -r '.cells[0].mean.change_pct' <<<"$body" | xargs printf %.2f)"
await is_idle
alert=$(api alerts | jq -c '.items[0]')
like "its alert says how many calls take how much longer" "$(jq -r .title <<<"$alert")" "^attention forward \(slow calls\) (up to )?-2\.[0-9] % in 2 cells: $words"
like "of each cell" "$(jq -r '.cells[1].slow_calls' <<<"$alert")" "^$words"
is "the culprit is found and confirmed" "$(jq -c '[.culprits[] | [.to, .commits, .confirmed, .change_pct < -1.5]]' <<<"$alert")" "[[\"$culprit\",1,true,true]]"
like "and shown" "$(curl -s "http://127.0.0.1:$(port)/alerts/$(jq .id <<<"$alert")")" "on average: $words"
is "the history of typical calls has no step" "$(sql 'SELECT count(*) FROM change_point')" 0

# ---- judged again, from stored samples ----
ok "judging again" flow judge --again "$id"
is "says the same to the last byte" "$(api "comparisons/$id" | jq .cells)" "$(jq .cells <<<"$body")"

# ---- ended ----
echo "'-DCONFIG=\"SIM_POWER_W=700\"'" >"$tmp/kernels/kernels/flags" # other code, as fast as main's
commit kernels "no slow calls any more"
push kernels topic
is "a tip without them" "$(result_of "$(head_of kernels)")" "done unchanged"
is "ends the alert" "$(api "alerts/$(jq .id <<<"$alert")" | jq -r .state)" resolved
stop_daemon
