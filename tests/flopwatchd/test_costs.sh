#!/bin/bash
# Costs besides time on device sim: planted growth of each opens the alert of that cost alone, with a history; limits of a suite.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export FLOPWATCH_SERVER

new_repo kernels
write_config
start_daemon
FLOPWATCH_SERVER="http://127.0.0.1:$(port)"
push kernels main
is "main begins" "$(result_of "$(head_of kernels)")" "done unchanged"

plant() { # branch, lines of a header that the module includes first
	git -C "$tmp/kernels" checkout -q -b "$1" main
	printf '%s\n' "$2" >"$tmp/kernels/kernels/plant.h"
	echo "-include plant.h" >"$tmp/kernels/kernels/flags"
	commit kernels "$1"
	push kernels "$1"
}
alerts() { # branch: "cost state cells" of its alerts
	api "alerts?limit=500" | jq -r --arg b "$1" '[.items[] | select(.branch == $b) | "\(.kind) \(.cost) \(.state) \(.cells | length)"] | join(", ")'
}

plant memory '#define TELL(info, config) ((info)->workspace_bytes += (info)->workspace_bytes / 20 + 1)'
is "a larger workspace leaves the verdict as it is" "$(result_of "$(head_of kernels)")" "done unchanged"
is "and opens the alert of memory alone" "$(alerts memory)" "cost memory open 4"
alert=$(api "alerts?limit=1" | jq '.items[0].id')
like "whose title says how much" "$(api "alerts/$alert" | jq -r .title)" '^a call needs more workspace in 4 cells, at most 807 instead of 768 bytes$'
page=$(curl -s "$FLOPWATCH_SERVER/alerts/$alert")
like "its page what to do" "$page" 'What to do:</b> push a fix, or give an answer'
like "and both values of each cell" "$page" '768 → 807 bytes</td>'
like "the command line lists it" "$("$bin/flopwatch" alerts)" "A$alert .*a call needs more workspace in 4 cells"
like "flopwatch why has the values" "$("$bin/flopwatch" why "A$alert")" 'attention/dense/full/.*: 807 instead of 768 bytes'
like "flopwatch wait warns of it" "$("$bin/flopwatch" wait memory)" 'WARNING besides time: a call needs more workspace in 4 cells, at most 807 instead of 768 bytes, in attention/[^ ]*: the plan requests more workspace'
reason='the plan requests more workspace with the same provider and configuration'
like "and says why" "$("$bin/flopwatch" why "A$alert")" "^why: $reason\$"
like "as does the page" "$page" "<b>Why:</b> $reason\\.</p>"
is "and each cell of the API" "$(api "alerts/$alert" | jq -r '[.cells[].why] | unique | join(";")')" "$reason"
cell=$(api "alerts/$alert" | jq -r '.cells[0].cell')
ask=repo=kernels\&cell=$(jq -rn --arg c "$cell" '$c | @uri')
is "a history has the values" "$(api "history?$ask&branch=memory&metric=memory" | jq '.items[0].value == '"$(api "alerts/$alert" | jq '.cells[0].target')")" true
is "without the metric it has none" "$(api "history?$ask&branch=memory" | jq '.items[0] | has("value")')" false
like "its page begins with the newest" "$(curl -s "$FLOPWATCH_SERVER/history?$ask&branch=memory&metric=memory")" '<h1>full, 64 (forward|backward) on memory: [0-9.e-]+ MB of workspace'

plant error '#include <math.h>
static inline float worse_exp(float x) { union { float f; unsigned u; } v = { expf(x) }; v.u &= 0xffff0000u; return v.f; }
#define expf worse_exp'
is "a less exact exponential" "$(result_of "$(head_of kernels)")" "done unchanged"
like "is found by its error alone" "$(alerts error)" '^cost error open [1-4]$'

plant first '#include <unistd.h>
static int planned;
#define ON_PLAN() ((void)(planned++ ? 0 : usleep(2000000)))'
is "a plan that takes 2 s longer" "$(result_of "$(head_of kernels)")" "done unchanged"
is "is found by its first call alone" "$(alerts first)" "cost first open 1"
like "which names the step" "$("$bin/flopwatch" why "A$(api "alerts?limit=1" | jq '.items[0].id')")" '^why: the plan takes 2[.0-9]* s instead of [0-9.]+ (us|ms)$'

# ---- answers and the end
"$bin/flopwatch" alerts accept "A$alert" --reason "larger tiles" >/dev/null
is "users accept growth" "$(alerts memory)" "cost memory accepted 4"
git -C "$tmp/kernels" checkout -q memory
echo "// again" >>"$tmp/kernels/kernels/plant.h"
commit kernels "memory again"
push kernels memory
is "a newer push with the same growth" "$(result_of "$(head_of kernels)")" "done unchanged"
is "has no new alert" "$(alerts memory)" "cost memory accepted 4"
git -C "$tmp/kernels" checkout -q first
: >"$tmp/kernels/kernels/flags"
rm "$tmp/kernels/kernels/plant.h"
commit kernels "first fixed"
push kernels first
is "a branch that equals its base again" "$(result_of "$(head_of kernels)")" "done identical"
is "has no open alert" "$(alerts first)" "cost first resolved 1"
git -C "$tmp/kernels" checkout -q error
sed -i 's/0xffff0000u/0xffffffffu/' "$tmp/kernels/kernels/plant.h"
commit kernels "error fixed"
push kernels error
is "a fix" "$(result_of "$(head_of kernels)")" "done unchanged"
like "resolves the alert" "$(alerts error)" '^cost error resolved [1-4]$'

# ---- a suite's limits
git -C "$tmp/kernels" checkout -q main
echo "costs: {memory: 6, first: off}" >>"$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "limits"
push kernels main
is "a suite sets limits" "$(result_of "$(head_of kernels)")" "done identical"
plant above '#define TELL(info, config) ((info)->workspace_bytes += (info)->workspace_bytes / 20 + 1)'
is "growth below the limit" "$(result_of "$(head_of kernels)")" "done unchanged"
is "opens no alert" "$(alerts above)" ""
