#!/bin/bash
# flopwatch ci: submits a commit unless it has a job, waits, and writes the summary of a CI runner.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_repo kernels
push kernels main
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
slow=$(head_of kernels)
push kernels slow
branch kernels private/slow main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower, on a branch that is not watched"
private=$(head_of kernels)
push kernels private/slow
branch kernels broken main
echo 'echo "<b>*bold*</b>" >&2; exit 3' >"$tmp/kernels/kernels/recipe"
commit kernels "does not build"
broken=$(head_of kernels)
push kernels private/broken
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git, branches: ['*', '!private/*']}]"
start_daemon || exit 1
export FLOPWATCH_SERVER=http://127.0.0.1:$(port)
unset GITHUB_STEP_SUMMARY
fw() { "$bin/flopwatch" "$@"; }
in_checkout() { (cd "$tmp/kernels" && fw "$@"); }
jobs_of() { sql "SELECT count(*) FROM job WHERE target_sha = '$1'"; }

# ---- a commit of a watched branch ----
git -C "$tmp/kernels" checkout -q main
ok "the checked-out commit passes" in_checkout ci --timeout 300
like "with its finding" "$out" '^next: flopwatch '
git -C "$tmp/kernels" checkout -q --detach "$slow"
fails "a slower one has the status of its verdict" 3 in_checkout ci --timeout 300
is "its push was measured, and nothing else" "$(jobs_of "$slow")" 1

# ---- a commit of a branch that is not watched ----
is "a commit of another branch has no job" "$(jobs_of "$private")" 0
fails "it is submitted and waited for" 3 fw ci "$private" --repo kernels --timeout 300
is "once" "$(jobs_of "$private")" 1
is "against its merge-base" "$(sql "SELECT base_how FROM job WHERE target_sha = '$private'")" merge-base
fails "again, the verdict is that of the same job" 3 fw ci "$private" --repo kernels --timeout 300
is "which is the only one" "$(jobs_of "$private")" 1

# ---- the summary ----
printf 'of an earlier step\n' >"$tmp/summary"
export GITHUB_STEP_SUMMARY=$tmp/summary
fails "the summary does not change the status" 3 fw ci "$slow" --timeout 300
is "it follows that of earlier steps" "$(head -n 1 "$tmp/summary")" "of an earlier step"
like "and has the finding" "$(cat "$tmp/summary")" '^\*\*flopwatch: regression\*\*: slow is (up to )?[45]\.[0-9]+ % slower in 4 of 4 cells'
like "with the cells as a table" "$(cat "$tmp/summary")" '^\| `attention/dense/'
: >"$tmp/summary"
run() { out=$("$@" 2>&1); status=$?; }
run fw ci "$broken" --repo kernels --timeout 300
is "a failed build fails" "$status" 1
unlike "text of a build is no markup of the summary" "$(cat "$tmp/summary")" '^<b>|^[^`]*<b>'
like "which is written too" "$(cat "$tmp/summary")" '^\*\*flopwatch: '
export GITHUB_STEP_SUMMARY=$tmp/none/summary
fails "a summary that cannot be written is an error" 1 fw ci "$(git -C "$tmp/kernels" rev-parse main)" --timeout 300
like "with its file" "$out" "write the summary to $tmp/none/summary: No such file"
fails "a regression remains one" 3 fw ci "$slow" --timeout 300
unset GITHUB_STEP_SUMMARY

# ---- what is not there ----
commit kernels "not pushed"
fails "a commit that was not pushed is not found" 4 in_checkout ci --timeout 60
like "and the message has the remedy" "$out" "^flopwatch: repository kernels does not have commit $(head_of kernels | cut -c1-12); push $(head_of kernels | cut -c1-12) first: git push, .*: J[0-9]+ is target_missing: "
git -C "$tmp/kernels" checkout -q main
commit kernels "on a branch, and not pushed"
fails "on a branch it is not found at once" 4 in_checkout ci
is "in one line, with the command" "$out" "flopwatch: commit $(head_of kernels | cut -c1-12) of main is not pushed, so repository kernels does not have it: git push -u origin main"
fails "nor by its hash" 4 in_checkout ci "$(head_of kernels)"
like "which gets the same answer" "$out" 'is not pushed, so repository kernels does not have it: git push -u origin main$'
is "and nothing is queued" "$(jobs_of "$(head_of kernels)")" 0
push kernels main
ok "after the push it is" in_checkout ci --timeout 300
fails "a short hash is a mistake" 2 fw ci "${slow:0:10}"
like "which is explained" "$out" 'is not a full hash of a commit'
git init -q "$tmp/empty"
fails "a checkout without a commit has nothing to submit" 1 bash -c "cd '$tmp/empty' && '$bin/flopwatch' ci"
fails "outside of a checkout" 4 bash -c "cd / && '$bin/flopwatch' ci"
fails "a daemon that is not there" 5 fw ci "$slow" --server http://127.0.0.1:1
