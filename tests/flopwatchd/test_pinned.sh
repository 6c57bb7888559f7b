#!/bin/bash
# Requested configurations, on device sim: a comparison of two of one commit sets no verdict, and is in no history or alert; a provider that runs
# another one has failed. Configurations that a provider tried before it chose are stored.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"
}
page() {
	http GET "/$1"
}
pinned() { # the newest comparison of configurations by hand
	sql "SELECT max(id) FROM comparison WHERE kind = 'config'"
}
module() { # its choice, given `config`
	cp "$root/tests/modules/tuner.h" "$tmp/kernels/kernels"
	printf '#include "tuner.h"\n#define CHOOSE(config) (%s)\n#include "good.c"\n' "$1" >"$tmp/kernels/kernels/module.c"
}

new_repo kernels
module 'config ? find_tile(config) : tiles[2]'
sed -i 's/-DWORK_FACTOR=work_factor //; s/ good\.c / module.c /' "$tmp/kernels/kernels/Makefile"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "a provider that searches"
write_config
start_daemon || exit 1
push kernels main
main=$(head_of kernels)
is "main is judged" "$(result_of "$main")" "done unchanged"
first=$(sql "SELECT max(id) FROM comparison")

# ---- tried configurations ----
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
is "what a provider tried is stored" "$(api "comparisons/$first" | jq -c '[.cells[] | .tried.target | [.of, .list[0].config, .list[0].ms, .list[8].ms]] | unique')" '[[9,"TILE=0",1,null]]'
is "next to what it chose" "$(api "comparisons/$first" | jq -c '[.cells[].target.configuration] | unique')" '["TILE=2"]'
page "comparisons/$first?open=0" >"$tmp/page"
like "and shown on the opened cell" "$(cat "$tmp/page")" '<summary>Target tried 9 configurations</summary>'
like "with the one that was chosen" "$(cat "$tmp/page")" '<code>TILE=2</code> <b>chosen</b></th><td class=n>1.04'

# ---- two configurations of one commit ----
verdict=$(api "commits/$main/verdict?repo=kernels")
fw compare main main --base-config TILE=0 --target-config TILE=4 --cells '*/full/*' --long >"$tmp/said" 2>&1
is "a slower configuration opens no alert" $? 0
like "the finding names both" "$(head -n 1 "$tmp/said")" '^main with TILE=4 next to TILE=0 is (up to )?[78]\.[0-9] % slower in 2 of 2 cells$'
like "it says what was pinned" "$(cat "$tmp/said")" "pinned: the base runs TILE=0, so the result is not a commit's verdict"
like "on both sides" "$(cat "$tmp/said")" 'pinned: the target runs TILE=4'
like "as an addition, not as a verdict" "$(cat "$tmp/said")" ' result: the base$'
id=$(pinned)
is "the comparison reports that" "$(api "comparisons/$id" | jq -c '[.kind, .base.pinned, .target.pinned, ([.cells[].target.configuration] | unique)]')" '["config","TILE=0","TILE=4",["TILE=4"]]'
is "each cell is slower by what the tile costs" "$(api "comparisons/$id" | jq -c '[.cells[] | .change_pct < -6 and .change_pct > -9] | unique')" '[true]'
is "the job as well" "$(api "jobs/$(sql "SELECT job FROM comparison WHERE id = $id")" | jq -c '[.kind, .base_config, .target_config]')" '["config","TILE=0","TILE=4"]'
is "nothing was searched for" "$(api "comparisons/$id" | jq -c '[.cells[].tried] | unique')" '[null]'
like "the page reports that" "$(page "comparisons/$id")" 'Against <b>the base in <code>TILE=0</code></b>, of 2 cells the target in <code>TILE=4</code> has 2 slower'
like "and what differs" "$(page "comparisons/$id")" '<dt>Differs</dt><dd>the configuration alone'
like "the comment too" "$(api "comparisons/$id.md")" '^\*\*flopwatch: slower\*\*, pinned: base `TILE=0` target `TILE=4`'
like "lines to paste hold it" "$(fw reproduce "$id")" "--base-config 'TILE=0' --target-config 'TILE=4'|--base-config TILE=0 --target-config TILE=4"
fw compare main main --base-config TILE=4 --target-config TILE=4 --cells '*/full/*' --json >"$tmp/said" 2>&1
is "what was accepted in one configuration is not taken for another" "$(jq -c '[.cells[] | [.base.configuration, .target.configuration, .verdict]] | unique' "$tmp/said")" '[["TILE=4","TILE=4","unchanged"]]'

# ---- no verdict ----
is "the commit's verdict stays" "$(api "commits/$main/verdict?repo=kernels")" "$verdict"
is "there is no alert" "$(sql "SELECT count(*) FROM alert")" 0
is "no place in the history" "$(sql "SELECT (SELECT count(*) FROM ratio r JOIN comparison c ON c.id = r.comparison WHERE c.kind = 'config') + (SELECT count(*) FROM cell k JOIN comparison c ON c.id = k.comparison WHERE c.kind = 'config' AND k.baseline_period IS NOT NULL)")" 0
is "also not in that of all branches" "$(api "history?repo=kernels&cell=$cell&branch=" | jq -c --argjson p "$id" '[.points[]?, .items[]? | select(.comparison == $p)] | length')" 0
is "no receiver has a message" "$(sql "SELECT count(*) FROM outbox")" 0
like "no regression in the metrics" "$(page metrics)" 'flopwatch_comparisons\{verdict="regression"\} 0'
fails "and nothing in the feed" 1 grep -q "comparisons/$id" <(page comparisons.atom)
is "the branch shows what was judged" "$(api 'branches?repo=kernels' | jq -r '.items[0] | .verdict + " " + (.comparison | tostring)')" "unchanged $first"
is "two commits were compared by the other comparison" "$(api "compare?repo=kernels&base=$main&target=$main" | jq .id)" "$first"

# ---- why ----
fw profile comparison "$id" --json >"$tmp/said" 2>&1
is "a profile runs what was pinned" "$(jq -c '[.base_config, .target_config, ([.cells[] | [.base_config, .target_config, .target_tried]] | unique)]' "$tmp/said")" '["TILE=0","TILE=4",[["TILE=0","TILE=4",null]]]'
is "and reports the effect of the base's configuration" "$(jq -c '[.cells[] | .counterfactual | .with_ms < .target_ms and .config == "TILE=0"] | unique' "$tmp/said")" '[true]'

# ---- keys that do not fit ----
fw compare main main --base-config 'TILE=1 STAGES=3' --target-config TILE=4 --cells '*/full/*' --json >"$tmp/said" 2>&1
is "a key that the provider does not have is left out" "$(jq -c '[.cells[] | [.base.configuration, .target.configuration]] | unique' "$tmp/said")" '[["TILE=1","TILE=4"]]'
like "and named, with an example" "$(fw log "$(sql "SELECT max(job) FROM comparison WHERE kind = 'config'")")" 'requested STAGES=3 is ignored if the configuration has no such key, e.g. in attention/dense/full/[^ ]*, which runs TILE=1'
is "once for all cells" "$(fw log "$(sql "SELECT max(job) FROM comparison WHERE kind = 'config'")" | grep -c 'requested STAGES=3')" 1
fw compare main main --base-config TILE=1 --target-config 'STAGES=3 TILE=9' --cells '*/full/*' >"$tmp/said" 2>&1
like "a value that it rejects is not supported" "$(cat "$tmp/said")" 'naive: plan with the requested configuration is not supported: there is no TILE=9'

# ---- a list of configurations in a suite ----
branch kernels lists main
cat >"$tmp/kernels/etc/suites/tiles.yaml" <<'YAML'
suite: tiles
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full]}
configs: [TILE=1, TILE=6 STAGES=3]
directions: [forward]
budget_s: 60
YAML
commit kernels "a suite of configurations"
push kernels lists
is "builds of one source stay identical" "$(result_of "$(head_of kernels)")" "done identical"
branch kernels other lists
module 'config ? find_tile(config) : tiles[3]'
commit kernels "another choice"
push kernels other
result_of "$(head_of kernels)" >/dev/null
fw compare lists other --suite tiles --json >"$tmp/said" 2>&1
is "a case is measured once in each" "$(jq -c '[.cells[] | [.cell, .base.configuration, .target.configuration, .verdict]]' "$tmp/said")" \
	'[["attention/dense/full/s64/hq2/hk1/d64/bf16/TILE=1/forward","TILE=1","TILE=1","unchanged"],["attention/dense/full/s64/hq2/hk1/d64/bf16/TILE=6,STAGES=3/forward","TILE=6","TILE=6","unchanged"]]'

# ---- a provider that ignores the request ----
branch kernels deaf main
module 'tiles[2]'
commit kernels "runs one tile"
push kernels deaf
is "one that runs one tile alone is" "$(result_of "$(head_of kernels)")" "done unchanged"
fw compare main deaf --target-config TILE=4 --cells '*/full/*' >"$tmp/said" 2>&1
fails "pinned to another nothing is timed" 1 grep -q 'faster\|level' "$tmp/said"
like "explicitly" "$(cat "$tmp/said")" '^attention/.*: naive: plan was given the configuration `TILE=4` and chose `TILE=2`'
is "and neither has a time" "$(sql "SELECT count(*) FROM cell WHERE comparison = $(pinned) AND m IS NOT NULL")" 0
fw profile main deaf --base-config TILE=4 --cells '*/full/*/forward' >"$tmp/said" 2>&1
like "flopwatch why prints what was tried" "$(cat "$tmp/said")" '^the target tried 9 configurations: TILE=0 1 ms, TILE=1 1.02 ms, TILE=2 1.04 ms \(chosen\), .* 1 more in --json$'

# ---- rejected requests ----
like "one configuration on both sides of one commit" "$(post jobs '{"repo": "kernels", "target": "main", "base_config": "TILE=1", "target_config": "TILE=1"}')" 'the same commit in the same configuration'
like "a control character" "$(post jobs '{"repo": "kernels", "target": "main", "base_config": "TILE\n=1"}')" 'base_config holds a control character'
like "160 bytes" "$(post jobs "{\"repo\": \"kernels\", \"target\": \"main\", \"target_config\": \"$(printf '%0160d' 0)\"}")" 'target_config is longer than 159 bytes'
like "a configuration of one side is compared with the commit itself" "$(post jobs '{"repo": "kernels", "target": "main", "target_config": "TILE=1"}' | jq -r .state)" '^queued$'
