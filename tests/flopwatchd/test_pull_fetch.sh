#!/bin/bash
# A request that cannot be fetched delays no branch and no other request, and shows its problem; pushes after it are measured.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/git_servers.sh"
new_repo kernels
push kernels main
main=$(head_of kernels)
request() { # number, factor: a fork's head
	branch kernels "fork$1" main
	echo "$2" >"$tmp/kernels/kernels/factor"
	commit kernels "request $1"
	git -C "$tmp/kernels" push -q origin "HEAD:refs/pull/$1/head"
}
make_certificate
start_https forge "$tmp" "git:secret-token"
(umask 077 && echo secret-token >"$tmp/token")
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: 'https://localhost:$https_port/kernels.git', token_file: $tmp/token, ca_file: $tmp/tls/cert.pem, poll: 1s, branches: [main], pull_requests: {measure: head, approvers: [local]}}]"
start_daemon || exit 1
export FLOPWATCH_SERVER=http://127.0.0.1:$(port)
fw() { "$bin/flopwatch" "$@" --repo kernels; }
await job_ended "$main"
request 6 1.05
good=$(head_of kernels)
request 5 1.06
bad=$(head_of kernels)
seen() { [ "$(fw approve --json | jq '.items | length')" = 2 ]; }
await seen
blob=$(git -C "$tmp/kernels" rev-parse "$bad:kernels/factor")
rm "$tmp/kernels.git/objects/${blob:0:2}/${blob:2}" # the server cannot send this request, and ends each fetch of it
ok "a good request is approved" fw approve 6 "$good"
ok "and after it a bad one" fw approve 5 "$bad"
await has_job "$good"
await job_ended "$good"
is "the good one is measured" "$(sql "SELECT verdict FROM comparison WHERE target_sha = '$good'")" regression
has_problem() { [ -n "$(sql "SELECT problem FROM pull WHERE number = 5 AND problem <> ''")" ]; }
await has_problem
like "the bad one shows its problem" "$(fw approve --all)" "5  $bad  approved by local: .*fetch"
is "which the good one has not" "$(sql "SELECT problem FROM pull WHERE number = 6")" ""
branch kernels main main
echo 1.0 >"$tmp/kernels/kernels/other"
commit kernels "a push to main"
next=$(head_of kernels)
push kernels main
await has_job "$next"
await job_ended "$next"
is "main is measured as before" "$(sql "SELECT count(*) FROM comparison WHERE target_sha = '$next'")" 1
is "and the repository has no error" "$(sql "SELECT state || error FROM repo")" ok
request 4 1.07
late=$(head_of kernels)
late_is_seen() { fw approve --json | jq -e --arg head "$late" '.items[] | select(.head == $head)' >/dev/null; }
await late_is_seen
ok "a later request is approved" fw approve 4 "$late"
await has_job "$late"
is "and measured, although the bad one is still there" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$late'")" 1
is "nothing was measured of the bad one" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$bad'")" 0
