#!/bin/bash
# The steps in etc/ci for other projects' workflows, run as GitHub and GitLab run them, against a real daemon.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
if ! python3 -c 'import yaml' 2>/dev/null; then
	skip "steps of CI" "python3-yaml is not installed"
	exit 0
fi
new_repo kernels
main=$(head_of kernels)
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
slow=$(head_of kernels)
branch kernels words main
echo hello >"$tmp/kernels/README"
commit kernels "words"
words=$(head_of kernels)
push kernels words
git -C "$tmp/kernels" checkout -q main
push kernels main
git -C "$tmp/kernels" push -q origin slow
write_config
start_daemon || exit 1
server=http://127.0.0.1:$(port)

# ---- GitHub ----
action() { PATH=$bin:$PATH python3 "$root/tests/support/action_steps.py" "$root/etc/ci/action.yml" "server=$server" "$@"; }
ok "a harmless commit passes" action "commit=$words" timeout=300
like "its output says how it ended" "$out" '^status=0$'
like "and where its page is" "$out" "^page=$server/commits/$words$"
like "its log has the tables" "$out" '^C[0-9]+  kernels  [a-z/+]+  tiny .*verdict: identical'
like "its summary has the finding, as Markdown" "$out" '^\*\*flopwatch: identical\*\*'
unlike "nothing is an error" "$out" '^::(error|warning)'
fails "a slower one fails with the status of the verdict" 3 action "commit=$slow" timeout=300 repository=kernels
like "the log has that" "$out" '^::error title=flopwatch::throughput was lost; '"$server/commits/$slow"'$'
like "the tables are in it" "$out" '^WARNING attention/.* lost [45]\.[0-9]+ %'
like "and so does the output" "$out" '^status=3$'
silence=$(sed -n 's/^::stop-commands:://p' <<<"$out")
like "what a branch wrote cannot command the runner" "$silence" '^[0-9a-f]{32}$'
is "while its tables are shown, and no longer" "$(grep -nE "^(::stop-commands::|WARNING |::$silence::|::error)" <<<"$out" | sed 's/.*stop-commands.*/stop/; s/.*WARNING.*/table/; s/.*::error.*/error/; s/.*::[0-9a-f]*::/go/' | uniq | paste -sd' ')" "stop table go error"
fails "a commit that was not pushed fails" 4 action commit=1234567890123456789012345678901234567890 timeout=1
like "which is no verdict" "$out" '^::error title=flopwatch::no verdict: flopwatch ci ended with 4$'
fails "so does a daemon that is not there" 5 action server=http://127.0.0.1:1 "commit=$main" timeout=1
fails "a repository of another name" 4 action "commit=$words" repository=nothing timeout=1
fails "and an input that there is not" 1 action "comit=$main"

# without a program in PATH it is built from the action's repository, which is this checkout
lonely() { PATH=/usr/bin:/bin /usr/bin/python3 "$root/tests/support/action_steps.py" "$root/etc/ci/action.yml" "server=$server" "commit=$words"; }
if /usr/bin/python3 -c 'import yaml' 2>/dev/null && [ ! -e /usr/bin/flopwatch ]; then
	ok "a runner without flopwatch builds its own" lonely
	like "and has the verdict" "$out" '^status=0$'
else
	skip "a runner without flopwatch builds its own" "this machine has one, or no python3-yaml"
fi

# the exit status of a verdict that no device produces on demand
mkdir -p "$tmp/stub"
printf '#!/bin/sh\n[ "$1" = open ] || exit 7\n' >"$tmp/stub/flopwatch"
chmod +x "$tmp/stub/flopwatch"
open_action() { PATH=$tmp/stub:$PATH python3 "$root/tests/support/action_steps.py" "$root/etc/ci/action.yml" "server=$server" "commit=$main" "$@"; }
ok "what is undecided passes" open_action
like "with a warning" "$out" '^::warning title=flopwatch::undecided'
fails "unless it shall not" 7 open_action undecided=fail

# ---- one comment at a review, for all its pushes ----
mkdir "$tmp/forge"
said() { jq -r "$1" "$tmp/forge/comments.json"; }
# among the comments of others is one that begins as that of the step
jq -n '[range(40) | {id: (. + 1), body: "I like it, <!-- flopwatch  -->"}] + [{id: 41, body: "<!-- flopwatch  -->\nfast", user: {login: "eve"}, author: {username: "eve"}}]' \
	>"$tmp/forge/comments.json"
echo 'github-actions[bot]' >"$tmp/forge/author" # the token of a workflow
python3 "$root/tests/support/forge.py" "$tmp/forge" &
forge=$!
on_exit kill "$forge"
await test -s "$tmp/forge/port"
reviewed() { GITHUB_API_URL=http://127.0.0.1:$(cat "$tmp/forge/port") GITHUB_REPOSITORY=team/kernels action review=7 github-token=secret timeout=300 "$@"; }
ok "a harmless commit of a review passes" reviewed "commit=$words"
unlike "nothing is wrong with its comment" "$out" '^::warning'
is "which is written" "$(cat "$tmp/forge/requests")" "POST /repos/team/kernels/issues/7/comments Bearer secret"
like "and says what was found" "$(said '.[-1].body')" '^\*\*flopwatch: identical\*\*'
fails "a slower one that follows fails" 3 reviewed "commit=$slow"
is "its comment takes the place of the first" "$(tail -n 1 "$tmp/forge/requests")" "PATCH /repos/team/kernels/issues/comments/42 Bearer secret"
like "and says what was found" "$(said '.[-1].body')" '^\*\*flopwatch: regression\*\*: slow is (up to )?[45]\.[0-9]+ % slower in 4 of 4 cells'
is "all others are as they were" "$(said length) $(said '[.[] | select(.body == "I like it, <!-- flopwatch  -->")] | length') $(said '.[40].body')" "42 40 <!-- flopwatch  -->
fast"
unlike "no token is in the log" "$out" secret
ok "without a review" action "commit=$words" github-token=secret timeout=300
is "nothing is written" "$(wc -l <"$tmp/forge/requests")" 2
ok "a comment that cannot be written" reviewed "commit=$words" review=8
like "is a warning, since the verdict is there" "$out" '^::warning title=flopwatch::the comment at #8 could not be written$'

# ---- GitLab ----
script=$(python3 -c '
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))[".flopwatch"]
assert job["allow_failure"] == {"exit_codes": [7]}, job
for name, value in job["variables"].items():
    assert isinstance(value, str), name
    print(f": \"${{{name}={value}}}\"")
print("\n".join(job["script"]))' "$root/etc/ci/gitlab.yml")
gitlab() { env "$@" PATH="$bin:$PATH" FLOPWATCH_SERVER="$server" bash -eo pipefail -c "$script"; }
ok "in GitLab a harmless commit passes" gitlab CI_COMMIT_SHA="$words"
like "and shows its tables" "$out" 'verdict: identical'
fails "a slower one fails" 3 gitlab CI_COMMIT_SHA="$slow" FLOPWATCH_REPOSITORY=kernels
fails "of a merged result the branch's own commit counts" 3 gitlab CI_COMMIT_SHA=1234567890123456789012345678901234567890 CI_MERGE_REQUEST_SOURCE_BRANCH_SHA="$slow"
fails "a commit that was not pushed fails" 4 gitlab CI_COMMIT_SHA=1234567890123456789012345678901234567890 FLOPWATCH_WAIT_S=1
echo flopwatch >"$tmp/forge/author"
jq '.[-1].author.username = "flopwatch"' "$tmp/forge/comments.json" >"$tmp/comments" && mv "$tmp/comments" "$tmp/forge/comments.json"
fails "at a merge request" 3 gitlab CI_COMMIT_SHA="$slow" CI_MERGE_REQUEST_IID=7 FORGE_TOKEN=secret FLOPWATCH_CI="$root/etc/ci" CI_PROJECT_ID=12 \
	CI_API_V4_URL="http://127.0.0.1:$(cat "$tmp/forge/port")"
is "the comment is rewritten in its format" "$(tail -n 1 "$tmp/forge/requests")" "PUT /projects/12/merge_requests/7/notes/42 secret"
fits_forge "requests to both forges and their answers are as they publish them" exchanges "$tmp/forge/exchanges"

# ---- Gitea ----
mkdir "$tmp/gitea"
jq -n '[range(40) | {id: (. + 1), body: "<!-- flopwatch kernels -->", user: {login: "eve"}}]' >"$tmp/gitea/comments.json"
python3 "$root/tests/support/forge.py" "$tmp/gitea" gitea &
on_exit kill $!
await test -s "$tmp/gitea/port"
comment() {
	FLOPWATCH_SERVER=$server COMMIT=$words REPOSITORY=kernels REVIEW=7 FORGE_TOKEN=secret GITHUB_REPOSITORY=team/kernels \
		GITHUB_API_URL=http://127.0.0.1:$(cat "$tmp/gitea/port")/api/v1 bash "$root/etc/ci/comment.sh"
}
ok "in a job of Gitea" comment
ok "and again" comment
is "the comment is written and changed, after one request for all comments" "$(jq -r '.method + " " + .path' "$tmp/gitea/exchanges" | paste -sd,)" \
	"GET /repos/team/kernels/issues/7/comments,POST /repos/team/kernels/issues/7/comments,GET /repos/team/kernels/issues/7/comments,PATCH /repos/team/kernels/issues/comments/41"
fits_forge "as Gitea publishes it" exchanges "$tmp/gitea/exchanges"
