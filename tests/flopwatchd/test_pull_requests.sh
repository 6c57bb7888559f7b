#!/bin/bash
# Pull requests: forks are measured after an approval of one commit, with the base's manifest, apart from the builds of branches.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
new_repo kernels
main=$(head_of kernels)
push kernels main
pull() { git -C "$tmp/kernels" push -q --force origin "$2:refs/pull/$1/$3"; } # number, commit, head or merge
merge_of() { # commit: a merge result with main, as forges make it
	GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000 git -C "$tmp/kernels" commit-tree -p "$main" -p "$1" -m "merge $1" "$1^{tree}"
}
open_pull() { # number: HEAD of the work tree
	pull "$1" HEAD head
	pull "$1" "$(merge_of "$(head_of kernels)")" merge
}
factor() { # branch, factor
	branch kernels "$1" main
	echo "$2" >"$tmp/kernels/kernels/factor"
	commit kernels "$1"
}
mkdir "$tmp/forge"
echo '[]' >"$tmp/forge/comments.json"
python3 "$root/tests/support/forge.py" "$tmp/forge" github &
on_exit kill $!
await test -s "$tmp/forge/port"
(umask 077 && echo forge-token >"$tmp/forge.token")
config() { # device time of a day
	write_config 'access: token' 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
		"repos: [{name: kernels, url: $tmp/kernels.git, branches: [main], poll: 1h, status: {kind: github, api: 'http://127.0.0.1:$(cat "$tmp/forge/port")', project: team/kernels, token_file: $tmp/forge.token, allow_internal: true}, pull_requests: {approvers: [alice], device_time: {job: 1min, day: $1}}}]"
}
config 1h
start_daemon || exit 1
export FLOPWATCH_SERVER=http://127.0.0.1:$(port)
fw() { "$bin/flopwatch" "$@" --repo kernels; }
as() { # name, arguments of fw
	local name=$1
	shift
	FLOPWATCH_TOKEN=${token[$name]} fw "$@"
}
admin() { FLOPWATCH_TOKEN=$(cat "$tmp/state/admin.token") "$bin/flopwatch" "$@"; }
declare -A token
for name in alice mallory; do token[$name]=$(admin token add $name --scope trigger 2>/dev/null); done
token[rita]=$(admin token add rita --scope read 2>/dev/null)
fetch() { # the daemon reads the repository, which it does by itself only once in an hour
	local n
	n=$(api repos/kernels/fetches -X POST -H "Authorization: Bearer ${token[alice]}" | jq .fetch)
	await has_fetched "$n"
}
has_fetched() { [ "$(api "repos/kernels/fetches/$1" -H "Authorization: Bearer ${token[alice]}" | jq .ended)" = true ]; }
jobs_of() { sql "SELECT count(*) FROM job WHERE target_sha = '$1'"; }
state_of() { sql "SELECT state || ': ' || state_why FROM job WHERE target_sha = '$1' ORDER BY id DESC LIMIT 1"; }
verdict_of() { sql "SELECT c.verdict FROM comparison c WHERE c.target_sha = '$1' ORDER BY c.id DESC LIMIT 1"; }
await job_ended "$main"

# ---- a fork ----
factor fork 1.05
open_pull 7
head=$(head_of kernels)
merge=$(merge_of "$head")
fetch
is "a request of a fork waits" "$(as alice approve --json | jq -r '.items[] | "\(.number) \(.head) \(.state)"')" "7 $head waiting"
is "and has no job" "$(jobs_of "$head")$(jobs_of "$merge")" 00
fails "a user whom the configuration does not name cannot approve it" 1 as mallory approve 7 "$head"
like "which is explained" "$out" 'mallory may not approve requests of kernels: pull_requests.approvers does not name it'
fails "a token of scope read cannot" 1 as rita approve 7 "$head"
fails "part of a hash is not enough" 2 as alice approve 7 "${head:0:12}"
fails "a commit that is no head is refused" 4 as alice approve 7 "$main"
fails "so is a merge result" 4 as alice approve 7 "$merge"
fails "and a request that there is not" 4 as alice approve 8 "$head"
is "nothing of this is an approval" "$(sql 'SELECT count(*) FROM pull_approval')" 0
run() { out=$("$@" 2>&1); status=$?; }
run as mallory ci "$head" --timeout 100
like "a commit that is not approved is not measured on request either" "$(state_of "$head")" "^cancelled: pull request 7 comes from a fork, and this commit is not approved: flopwatch approve 7 $head$"
ok "a named user approves this commit" as alice approve 7 "$head"
await job_ended "$merge"
is "its merge result is measured" "$(verdict_of "$merge")" regression
is "against main" "$(sql "SELECT base_sha FROM job WHERE target_sha = '$merge'")" "$main"
is "as a branch of its own" "$(as alice wait pull:7 --quiet >/dev/null 2>&1; echo $?)" 3
run as mallory ci "$head" --timeout 100
is "a step of CI that was refused before finds it" "$status $(jobs_of "$head")" "3 1"
status_of() { grep -c "POST /repos/team/kernels/statuses/$1 " "$tmp/forge/requests"; }
await grep -q "statuses/$head " "$tmp/forge/requests"
is "its statuses are those of its head" "$(status_of "$merge")" 0
is "whose own context stays free" "$(sql "SELECT count(*) FROM outbox WHERE subject = '$head flopwatch'")" 0
is "with contexts of the merge result" "$(sql "SELECT count(*) > 0 FROM outbox WHERE subject = '$head flopwatch/pull/7'")" 1
unlike "no secret is in the log" "$(cat "$tmp/log")" "forge-token|${token[alice]}"
is "no search goes through its other commits" "$(sql 'SELECT count(*) FROM bisect')" 0
fails "nor on request" 1 as alice bisect "$main" "$merge"
like "which is explained" "$out" 'is a commit of a fork'
run as alice compare "$merge" "$main" --quiet
like "its manifest never applies to others" "$out" 'the base .* is a commit of a fork'

# ---- a push after the approval ----
echo 1.50 >"$tmp/kernels/kernels/factor"
commit kernels "after the review"
evil=$(head_of kernels)
open_pull 7
fetch
is "a push after the approval waits" "$(as alice approve --json | jq -r '.items[] | "\(.number) \(.head) \(.state)"')" "7 $evil waiting"
is "and is not measured" "$(jobs_of "$evil")$(jobs_of "$(merge_of "$evil")")" 00
factor race 1.07
open_pull 9
seen=$(head_of kernels)
fetch
echo 1.60 >"$tmp/kernels/kernels/factor"
commit kernels "between approval and fetch"
evil=$(head_of kernels)
open_pull 9 # the daemon has not read it
ok "an approval of the commit that was read" as alice approve 9 "$seen"
fetch
is "is none of the commit that is there meanwhile" "$(jobs_of "$evil")$(jobs_of "$(merge_of "$evil")")" 00
is "nor does it measure the commit before" "$(jobs_of "$(merge_of "$seen")")" 0
pull 9 "$seen" head
fetch
is "a merge result of another head is not taken" "$(jobs_of "$(merge_of "$evil")")$(jobs_of "$(merge_of "$seen")")" 00
like "and the request reports that" "$(as alice approve --all)" "9  $seen  approved by alice: the forge has no merge result of ${seen:0:12} yet"

# ---- a fork that edits what is measured ----
factor edits 1.05
sed -i 's/suites: .*/suites: [none]/; s/command: .*outputs/command: [sh, -c, "touch stolen"], outputs/' "$tmp/kernels/.flopwatch.yaml"
sed -i 's/threshold_pct.*/threshold_pct: 50/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "edits manifest and suite"
open_pull 10
edits=$(merge_of "$(head_of kernels)")
fetch
ok "a fork that edits the manifest is approved" as alice approve 10 "$(head_of kernels)"
await job_ended "$edits"
is "and judged by the manifest and thresholds of main" "$(verdict_of "$edits")" regression
factor link 1.05
rm "$tmp/kernels/.flopwatch.yaml"
ln -s /etc/passwd "$tmp/kernels/.flopwatch.yaml"
commit kernels "manifest is a link"
open_pull 11
link=$(merge_of "$(head_of kernels)")
fetch
as alice approve 11 "$(head_of kernels)" >/dev/null
await job_ended "$link"
unlike "a manifest that is a link out of the tree is not read" "$(state_of "$link")$(admin log "J$(job_of "$link")")" root:

# ---- commits of which nobody saw a request ----
factor hidden 1.05
sed -i 's/threshold_pct.*/threshold_pct: 50/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "edits the suite"
hidden=$(head_of kernels)
git -C "$tmp/kernels" revert --no-edit HEAD >/dev/null
open_pull 14
fetch
as alice approve 14 "$(head_of kernels)" >/dev/null
await has_job "$(merge_of "$(head_of kernels)")"
run as mallory ci "$hidden" --timeout 100
like "a commit before an approved one is not measured" "$(state_of "$hidden")" '^cancelled: commit .* is on no branch, so it may be code of a fork'
run as mallory compare "$hidden" "$main" --quiet --timeout 100
like "nor is it a base" "$out" 'the base .* is on no branch'
run as alice approve 7 "$head"
is "an approval of an older head fails" "$((status > 0))" 1
like "names the newest" "$out" "is not the newest head of request 7; that is [0-9a-f]{40}"

# ---- its builds ----
factor same 1.05
push kernels same
is "an equal build of a branch" "$(git -C "$tmp/kernels" rev-parse HEAD:kernels)" "$(git -C "$tmp/kernels" rev-parse "$head:kernels")"
same=$(head_of kernels)
run as alice ci "$same" --timeout 100
is "has the same verdict" "$status" 3
inputs() { sql "SELECT b.inputs_hash FROM comparison c JOIN build b ON b.id = c.target_build WHERE c.target_sha = '$1'"; }
ok "but never takes the build of a fork" test "$(inputs "$same")" != "$(inputs "$merge")"

# ---- a request of an own branch ----
open_pull 12 # its head is the tip of branch same
own=$(merge_of "$same")
fetch
await has_job "$own"
await job_ended "$own"
is "a request of an own branch needs no approval" "$(verdict_of "$own")" regression

# ---- device time ----
ok "device time of forks is counted" test "$(sql "SELECT sum(gpu_s) > 0 FROM comparison WHERE target_sha = '$merge'")" = 1
measure_with() { # device time of a day, number, factor
	stop_daemon
	config "$1"
	start_daemon || exit 1
	export FLOPWATCH_SERVER=http://127.0.0.1:$(port)
	factor "more$2" "$3"
	open_pull "$2"
	fetch
	as alice approve "$2" "$(head_of kernels)" >/dev/null
	more=$(merge_of "$(head_of kernels)")
	await has_job "$more"
	await job_ended "$more"
}
measure_with 0s 13 1.08
like "beyond its limit of a day none is measured" "$(state_of "$more")" '^cancelled: forks used [0-9]+ s of device time in 24 hours, and the limit is 0 s'
used=$(state_of "$more" | sed -n 's/.*forks used \([0-9]*\) s .*/\1/p')
measure_with "$((used + 5))s" 15 1.085
like "a rest that is too short for a comparison is not used" "$(state_of "$more")" "^cancelled: forks used $used s of device time"
fits_forge "requests to the forge and its answers are as it publishes them" exchanges "$tmp/forge/exchanges"
