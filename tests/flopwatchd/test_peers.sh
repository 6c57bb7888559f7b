#!/bin/bash
# Peers on device sim: another provider of the module, compared automatically while idle and on request; ratios on other comparisons; and no
# notification for them.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"
}
no_job_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
peers_done() { # how many comparisons against peers there are
	[ "$(sql "SELECT count(*) FROM comparison WHERE kind = 'peer'")" = "$1" ] && no_job_is_open
}
comparison_of() { # newest of a commit that is not against a peer
	sql "SELECT max(id) FROM comparison WHERE target_sha = '$1' AND kind IN ('compare', 'selfcheck')"
}
standing() { # comparison, cell glob: basis, and speed relative to the peer in whole percent
	api "comparisons/$1" | jq -r --arg c "$2" '.cells[] | select(.cell | test($c)) | .peers[0] | [.provider, .basis, (.target_pct | round)] | join(" ")'
}
etag_of() {
	curl -s -o "$tmp/body" -D - "http://127.0.0.1:$(port)/api/v1/comparisons/$1" | tr -d '\r"' | awk 'tolower($1) == "etag:" { print $2 }'
}
page() {
	http GET "/$1"
}

new_repo kernels
echo '-DYARDSTICK_FACTOR=0.9' >"$tmp/kernels/kernels/flags"
echo 'peers: [yardstick, cudnn@cuda]' >>"$tmp/kernels/.flopwatch.yaml"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "two providers"
write_config
start_daemon
push kernels main
main=$(head_of kernels)
is_under_way() { [ "$(sql "SELECT count(*) FROM job WHERE target_sha = '$main' AND state <> 'queued'")" != 0 ]; }
await is_under_way
ok "its device gets no more jobs for now" fw pause sim-0 # including jobs of a peer, which could be queued first
await job_ended "$main"
first=$(comparison_of "$main")
is "before a peer was timed none is shown" "$(api "comparisons/$first" | jq -c '[.cells[].peers] | unique')" "[[]]"
before=$(etag_of "$first")
ok "it gets jobs again" fw resume sim-0

# ---- by itself
ok "while no job waits main is measured against its peer" await peers_done 1
peer=$(sql "SELECT id FROM comparison WHERE kind = 'peer'")
is "one commit by two providers, after everybody else, and of no branch" \
	"$(sql "SELECT base_sha = target_sha, target_sha = '$main', base_provider, target_provider, origin, priority < -10, branch = '' FROM job WHERE kind = 'peer'")" \
	"1|1|yardstick||idle|1|1"
is "a cell that the peer does not support is no failure" \
	"$(sql "SELECT verdict, failure, reason LIKE 'yardstick: %no causal backward%' FROM cell WHERE comparison = $peer AND key LIKE '%/causal/%/backward'")" \
	"added||1"
is "nor the comparison's" "$(api "comparisons/$peer" | jq -r .verdict)" regression
is "the others have both times" "$(sql "SELECT count(*) FROM cell WHERE comparison = $peer AND m IS NOT NULL AND base_median_ms < target_median_ms")" 3
is "one set of runs is enough" "$(sql "SELECT max(set_number) FROM run WHERE comparison = $peer")" 1
is "the API names the sides" "$(api "comparisons/$peer" | jq -c '[.kind, .base.provider, .target.provider]')" '["peer","yardstick",null]'
is "and the job" "$(api "jobs/$(sql "SELECT job FROM comparison WHERE id = $peer")" | jq -c '[.kind, .base_provider, .target_provider]')" '["peer","yardstick",null]'

# ---- no notification
is "there is no alert" "$(sql "SELECT count(*) FROM alert")" 0
is "no place in the history" "$(sql "SELECT (SELECT count(*) FROM ratio WHERE comparison = $peer) + (SELECT count(*) FROM cell WHERE comparison = $peer AND baseline_period IS NOT NULL)")" 0
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
is "also not in that of all branches" "$(api "history?repo=kernels&cell=$cell&branch=" | jq -c --argjson p "$peer" '[.points[]?, .items[]? | select(.comparison == $p)] | length')" 0
is "no commit status and no note" "$(sql "SELECT count(*) FROM outbox")" 0
like "no regression in the metrics" "$(page metrics)" 'flopwatch_comparisons\{verdict="regression"\} 0'
fails "and nothing in the feed" 1 grep -q "comparisons/$peer" <(page comparisons.atom)
is "main's verdict stays" "$(api 'branches?repo=kernels' | jq -r '.items[0] | .verdict + " " + (.comparison | tostring)')" "unchanged $first"
is "two commits were compared by the other comparison" "$(api "compare?repo=kernels&base=$main&target=$main" | jq .id)" "$first"

# ---- ratios on other comparisons
is "main's own comparison has its speed" "$(standing "$first" full/.*/forward)" "yardstick paired 90"
is "and where that is from" "$(api "comparisons/$first" | jq -c --arg c "$cell" '.cells[] | select(.cell == $c) | .peers[0] | [.comparison, .commit, .ci_low_pct < .target_pct, .target_pct < .ci_high_pct]')" \
	"[$peer,\"$main\",true,true]"
is "of the cell that the peer does not do nothing" "$(api "comparisons/$first" | jq -c '.cells[] | select(.cell | test("causal/.*/backward")) | .peers')" "[]"
after=$(etag_of "$first")
is "its ETag is that of the new body" "$after" "$(sha256sum <"$tmp/body" | cut -d' ' -f1)"
ok "and not the old one" [ "$before" != "$after" ]
is "who asks with the old one gets the new body" "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: \"$before\"" "http://127.0.0.1:$(port)/api/v1/comparisons/$first")" 200
like "the table has it too" "$(api "comparisons/$first.csv" | head -1)" ',of_yardstick_pct,of_yardstick_ci_low_pct,of_yardstick_ci_high_pct,of_yardstick_basis'
like "with its figures" "$(api "comparisons/$first.csv" | grep "^$cell")" ',(89|90)\.[0-9]+,8[0-9.]+,9[0-9.]+,paired'
like "the page has a column" "$(page "comparisons/$first")" '% yardstick</th>'
like "and says what it is" "$(page "comparisons/$first")" 'timed side by side in <a href="/comparisons/'"$peer"
like "the page against the peer says slower, not regression" "$(page "comparisons/$peer")" 'slower</span> Against <b>yardstick</b>'
fails "nowhere is the word" 1 grep -q 'regression</span>' <(page "comparisons/$peer")
like "peers have a page" "$(page peers)" 'kernels main against yardstick'
like "with each cell's percent" "$(page peers)" '<b>(89|90)\.[0-9][^<]*%</b>'
is "and a list" "$(api peers | jq -c '.items[0] | [.repo, .provider, .current, .cells, .timed, (.geomean_pct | round)]')" '["kernels","yardstick",true,4,3,90]'
like "on the command line" "$(fw peer show)" 'kernels +yardstick +(89|90)\.[0-9] % +3 of 4'

# ---- a branch
branch kernels slow main
echo 1.2 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
slow=$(head_of kernels)
is "a slower branch is a regression" "$(result_of "$slow")" "done regression"
on_slow=$(comparison_of "$slow")
is "and is compared with the peer through its base" "$(standing "$on_slow" full/.*/forward)" "yardstick chained 75"
is "with an interval and the base's own" "$(api "comparisons/$on_slow" | jq -c --arg c "$cell" '.cells[] | select(.cell == $c) | .peers[0] | [(.base_pct | round), .ci_low_pct < 75.5, .ci_high_pct > 74.5]')" "[90,true,true]"
like "its review comment has it, too" "$(api "comparisons/$on_slow.md")" '% of yardstick'
is "it has one alert" "$(sql "SELECT count(*) FROM alert")" 1
ok "by hand" fw peer slow --provider yardstick
await peers_done 2
is "then it was timed against it" "$(standing "$on_slow" full/.*/forward)" "yardstick paired 75"
is "which opens no alert" "$(sql "SELECT count(*) FROM alert")" 1
is "nor changes the branch" "$(api 'branches?repo=kernels' | jq -r '.items[] | select(.name == "slow") | .comparison')" "$on_slow"
branch kernels other main
echo 1.5 >"$tmp/kernels/kernels/factor"
commit kernels "slowest"
push kernels other
is "another" "$(result_of "$(head_of kernels)")" "done regression"
echo 1.8 >"$tmp/kernels/kernels/factor"
commit kernels "slower still"
push kernels other2
await job_ended "$(head_of kernels)"
fw compare "$(git -C "$tmp/kernels" rev-parse HEAD~1)" "$(head_of kernels)" --long --quiet >"$tmp/out" 2>&1
scaled=$(comparison_of "$(head_of kernels)")
source=$(api "comparisons/$scaled" | jq -r --arg c "$cell" '.cells[] | select(.cell == $c) | .peers[0].comparison')
# the stored times of both, the peer's at the clock that those of the history are scaled to; unpaired, they differ by 2 %
expected=$(sql "SELECT p.base_median_ms, coalesce(p.beta, 0), f.value, b.held_mhz, t.held_ms FROM cell p JOIN cell t ON t.key = p.key
	JOIN metric f ON f.cell = p.id JOIN metric_name n ON n.id = f.name AND n.name = 'clock.base_mhz' JOIN baseline_period b
	ON b.id = t.baseline_period WHERE p.comparison = $source AND t.comparison = $scaled AND p.key = '$cell'" |
	awk -F'|' '{ printf "%.0f", 100 * $1 * exp(-$2 * log($3 / $4)) / $5 }')
is "two commits without a peer are compared with it by their times" "$(standing "$scaled" full/.*/forward)" "yardstick scaled $expected"
like "which are about those of the factors" " $expected" ' (49|50|51)$'
is "without an interval" "$(api "comparisons/$scaled" | jq -c --arg c "$cell" '.cells[] | select(.cell == $c) | .peers[0] | [.ci_low_pct, .ci_high_pct, .comparison > 0]')" "[null,null,true]"
like "the command line says about" "$(cat "$tmp/out")" '~[45][0-9.]+ % of yardstick'

# ---- on request, any two providers
fails "a provider that cannot be one" 1 "$bin/flopwatch" --server "http://127.0.0.1:$(port)" peer main --provider 'no such'
is "one commit by its default provider alone is no question" "$(post jobs '{"repo":"kernels","target":"main","base_provider":"yardstick","target_provider":"yardstick"}' | jq .status)" 400
ok "a slower side by another provider is no failure" fw compare main slow --base-provider yardstick --quiet
is "it is of kind peer" "$(sql "SELECT c.kind, j.base_provider, c.base_sha <> c.target_sha FROM comparison c JOIN job j ON j.id = c.job ORDER BY c.id DESC LIMIT 1")" "peer|yardstick|1"
ok "the other way round" fw compare main main --target-provider yardstick --quiet
is "what only one of the two does is no failure either" "$(sql "SELECT count(*) FROM cell WHERE comparison = (SELECT max(id) FROM comparison) AND verdict IN ('failed', 'rejected')")" 0
is "no yardstick for others" "$(api peers | jq '[.items[].comparison] | max')" "$(sql "SELECT max(id) - 1 FROM comparison")"
fails "a provider that the module lacks cannot be a peer" 1 fw compare main main --base-provider nonesuch --quiet
await no_job_is_open

# ---- once a module
stop_daemon
printf 'calibrate: {idle: true, every: 1s}\n' >>"$tmp/c.yml"
start_daemon
n=$(sql "SELECT count(*) FROM job WHERE kind = 'peer'")
calibrated() {
	[ "$(sql "SELECT count(*) FROM job WHERE kind = 'calibrate' AND origin = 'idle'")" -ge 2 ]
}
ok "the daemon checks repeatedly" await calibrated
is "and asks for what it knows no second time" "$(sql "SELECT count(*) FROM job WHERE kind = 'peer'")" "$n"
git -C "$tmp/kernels" checkout -q main
echo '/* the same code */' >>"$tmp/kernels/kernels/good.c"
commit kernels "comment"
push kernels main
judged() { # calibrations of the same commit run concurrently
	[ "$(comparison_of "$(head_of kernels)")" != "" ]
}
ok "a commit with the same module" await judged
is "is known" "$(standing "$(comparison_of "$(head_of kernels)")" full/.*/forward)" "yardstick paired 90"
rounds=$(sql "SELECT count(*) FROM job WHERE kind = 'calibrate'")
more() {
	[ "$(sql "SELECT count(*) FROM job WHERE kind = 'calibrate'")" -ge $((rounds + 2)) ]
}
await more
is "and not asked for" "$(sql "SELECT count(*) FROM job WHERE kind = 'peer'")" "$n"
echo 1.1 >"$tmp/kernels/kernels/factor"
commit kernels "another module"
push kernels main
another=$(head_of kernels)
known() {
	[ "$(sql "SELECT count(*) FROM comparison WHERE kind = 'peer' AND target_sha = '$another'")" = 1 ]
}
ok "another module is" await known
is "and is compared with it" "$(standing "$(sql "SELECT max(id) FROM comparison WHERE target_sha = '$another' AND kind = 'compare'")" full/.*/forward)" "yardstick paired 82"
stop_daemon

# ---- configuration
sed -i "s|repos: .*|repos: [{name: kernels, url: $tmp/kernels.git, peers: []}]|" "$tmp/c.yml"
ok "no peers is a setting" "$bin/flopwatchd" --check-config --config "$tmp/c.yml"
sed -i 's|peers: \[\]|peers: [yardstick, "no such"]|' "$tmp/c.yml"
fails "a name that is none" 2 "$bin/flopwatchd" --check-config --config "$tmp/c.yml"
like "is reported with its position" "$("$bin/flopwatchd" --check-config --config "$tmp/c.yml" 2>&1)" 'c.yml:6:[0-9]+: .*is not a provider; write its name as the module reports it, e.g. cudnn, or cudnn@cuda'
sed -i 's|"no such"|cudnn@gpu|' "$tmp/c.yml"
like "so is a device" "$("$bin/flopwatchd" --check-config --config "$tmp/c.yml" 2>&1)" 'names no kind of device after the @'
sed -i 's|, cudnn@gpu|, yardstick|' "$tmp/c.yml"
like "and the same twice" "$("$bin/flopwatchd" --check-config --config "$tmp/c.yml" 2>&1)" 'is named twice'
