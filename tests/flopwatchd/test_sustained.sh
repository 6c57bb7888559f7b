#!/bin/bash
# A regression that only sustained runs show, after its verdict: the alert's text, the culprit, and the expectation after it is accepted.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

is_idle() { [ "$(sql "SELECT (SELECT count(*) FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')) + (SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")" = 0 ]; }
draws() { # W, message: a commit whose calls draw that much at the clock that others run at 700 W
	echo "'-DCONFIG=\"SIM_POWER_W=$1\"' -DPADDING" >"$tmp/kernels/kernels/flags"
	commit kernels "$2"
}
cell_of_tip() {
	api "comparisons/$(job_field "$(job_of "$(head_of kernels)")" comparison)" | jq -c "$1"
}

new_repo kernels
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/seqlens: \[64\]/seqlens: [512]/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "calls long enough for the governor"
write_config
FLOPWATCH_SIM_ENVIRONMENT="swing=0.1" start_daemon # a clock that the power limit makes swing, as GPUs have it
is "the daemon starts" $? 0
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done identical"

# ---- nothing differs ----
branch kernels alike main
draws 700 "as much"
push kernels alike
is "a branch that draws as much is unchanged" "$(result_of "$(head_of kernels)")" "done unchanged"
is "and its sustained runs are equal, however the clock swings" "$(cell_of_tip '.cells[0].sustained.change_pct | fabs < 0.5')" true

# ---- reported by the deciding series ----
branch kernels hungry main
echo "# 1" >>"$tmp/kernels/kernels/Makefile"
commit kernels "h-1"
draws 900 "h-2"
culprit=$(head_of kernels)
echo "# 3" >>"$tmp/kernels/kernels/Makefile"
commit kernels "h-3"
push kernels hungry
is "a branch that draws more" "$(result_of "$(head_of kernels)")" "done regression"
is "lost it in sustained runs, not in pairs" "$(cell_of_tip '.cells[0] | [(.flags | index("sustained")) != null, .change_pct > -1.5, .sustained.change_pct < -7]')" "[true,true,true]"
id=$(job_field "$(job_of "$(head_of kernels)")" comparison)
"$bin/flopwatch" --server "http://127.0.0.1:$(port)" export "$id" "$tmp/ffa" >"$tmp/said"
is "the exported files show that loss" "$(paste -d, "$tmp"/ffa/profile_dense_{main,hungry}.csv | awk -F, 'NR == 2 {printf "%.3f", 100 * ($4 / $20 - 1)}')" "$(cell_of_tip .cells[0].sustained.change_pct | xargs printf %.3f)"
await is_idle
alert=$(api alerts | jq -c '.items[0]')
like "its alert has the sustained loss" "$(jq -r .title <<<"$alert")" '^attention forward \(sustained\) -[78]\.[0-9] % in 1 cell$'
is "as its worst and of its cell" "$(jq -c '[.worst_pct < -7, .cells[0].change_pct < -7, .cells[0].sustained]' <<<"$alert")" "[true,true,true]"
is "and the culprit is found and confirmed" "$(jq -c '[.culprits[] | [.to, .commits, .confirmed, .change_pct < -7]]' <<<"$alert")" "[[\"$culprit\",1,true,true]]"
like "the page says what it means" "$(curl -s "http://127.0.0.1:$(port)/alerts/$(jq .id <<<"$alert")")" 'once clocks stabilise under its power draw'
like "as does that of the comparison" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(jq .comparison <<<"$alert")")" '[Tt]he worst is [^%]*[78]\.[0-9]+[^%]*% in sustained runs, once clocks stabilise under its power draw'
is "the history of pairs has no step" "$(sql 'SELECT count(*) FROM change_point')" 0

# ---- accepted ----
post "alerts/$(jq .id <<<"$alert")/accept" '{"reason":"more work a call"}' >"$tmp/answer"
draws 920 "as much, nearly"
push kernels hungry
is "a tip with the accepted loss" "$(result_of "$(head_of kernels)")" "done regression"
is "is no news" "$(api alerts | jq '.items | length')" 1
draws 1400 "far more"
push kernels hungry
is "one that lost far more" "$(result_of "$(head_of kernels)")" "done regression"
like "is" "$(api alerts | jq -r '[.items[] | select(.state == "open")][0].title')" '^attention forward \(sustained\) -(19|20|21)\.'

# ---- a gain that only sustained runs show ----
hungry=$(head_of kernels)
git -C "$tmp/kernels" checkout -q main
git -C "$tmp/kernels" merge -q --ff-only "$hungry"
push kernels main
main_is_judged() { [ "$(sql "SELECT count(*) FROM job WHERE branch = 'main' AND target_sha = '$hungry' AND state = 'done'")" = 1 ]; }
ok "main with that loss is judged" await main_is_judged
await is_idle
branch kernels lean main
draws 700 "less again"
push kernels lean
is "a branch that draws less is an improvement" "$(result_of "$(head_of kernels)")" "done improvement"
is "by its sustained runs, not by its pairs" "$(cell_of_tip '.cells[0] | [(.flags | index("sustained")) != null, (.change_pct | fabs) < 1.5, .sustained.change_pct > 15]')" "[true,true,true]"
id=$(job_field "$(job_of "$(head_of kernels)")" comparison)
is "the list has its best cell" "$(api 'comparisons?limit=1' | jq -c '.items[0] | [.id == '"$id"', .best_pct > 15, (.best_cell | endswith("forward"))]')" "[true,true,true]"
is "as does that of branches" "$(api 'branches?repo=kernels' | jq -c '.items[] | select(.name == "lean") | [.best_pct > 15, .suites[0].best_pct > 15, (.suites[0].best_cell | endswith("forward"))]')" "[true,true,true]"
like "and the overview" "$(http GET / | grep -A4 '>lean</a>')" '\+[12][0-9]\.[0-9]+'
like "as does the page" "$(http GET "/comparisons/$id")" 'No cell is slower; the best is [^%]*[12][0-9]\.[0-9]+[^%]*% in sustained runs, once clocks stabilise under its power draw'
like "and its row in the list" "$(http GET "/comparisons?verdict=improvement")" '\+[12][0-9]\.[0-9]+'
like "and a report to paste" "$(http GET "/api/v1/comparisons/$id.md" | head -n 1)" '^\*\*flopwatch: improvement\*\*: lean is [12][0-9]\.[0-9]+ % faster in 1 of 1 cell$'
stop_daemon
