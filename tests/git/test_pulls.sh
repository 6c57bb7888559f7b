#!/bin/bash
# flopwatch-git lists pull and merge requests, and fetches only the requested ones, each at one commit.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/git_servers.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=t@example.org
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=t@example.org
git init -q --bare -b main "$tmp/r.git"
git init -q -b main "$tmp/w"
w() { git -C "$tmp/w" "$@"; }
new_commit() { # text: a commit on top of the current one
	echo "$1" >"$tmp/w/file"
	w add file
	w commit -q -m "$1"
	w rev-parse HEAD
}
set_ref() { w push -q --force "$tmp/r.git" "$2:$1"; } # ref, commit
first=$(new_commit first)
set_ref refs/heads/main "$first"
head=$(new_commit "of a fork")
set_ref refs/pull/7/head "$head"
w checkout -q --detach "$first"
w merge -q --no-ff -m "merge result" "$head"
merge=$(w rev-parse HEAD)
set_ref refs/pull/7/merge "$merge"
set_ref refs/pull/8/head "$first"
set_ref refs/pull/x/head "$head"
set_ref refs/pull/09/head "$head"
set_ref refs/merge-requests/3/head "$head"
make_certificate
start_https forge "$tmp" "git:secret-token" # libgit2's own transport for folders copies the commits of all refs
(umask 077 && echo secret-token >"$tmp/token")
fetch() { "$bin/flopwatch-git" fetch --url "https://localhost:$https_port/r.git" --mirror "$tmp/m" --token-file "$tmp/token" --ca-file "$tmp/tls/cert.pem" "$@"; }
tips() { "$bin/flopwatch-git" tips --repo "$tmp/r.git" "$@"; }
pulls() { jq -c 'select(.pull)' <<<"$out"; }
has() { git -C "$tmp/m" cat-file -e "$1"; }

for read in tips fetch; do
	rm -rf "$tmp/m"
	ok "$read lists requests" $read --pulls pull:head
	is "the newest first, with their heads" "$(pulls | jq -r '"\(.pull) \(.head) \(.commit)"')" "8 $first null
7 $head null"
	is "next to the branches" "$(jq -r 'select(.name).commit' <<<"$out")" "$first"
	[ $read = tips ] || fails "commits of a request are not fetched" 1 has "$head"
	ok "$read takes a requested one" $read --pulls pull:head --pull "7=$head"
	is "with its commit" "$(pulls | jq -r 'select(.pull == 7).commit')" "$head"
	[ $read = tips ] || ok "which is fetched" has "$head"
	ok "$read takes its merge result" $read --pulls pull:merge --pull "7=$head"
	is "if that is of this head" "$(pulls | jq -r 'select(.pull == 7).commit')" "$merge"
	ok "$read lists merge requests" $read --pulls merge-requests:head --pull "3=$head"
	is "in their own folder" "$(pulls | jq -r '"\(.pull) \(.head) \(.commit)"')" "3 $head $head"
	ok "no request is listed without the option" $read
	is "but the branches" "$(pulls)" ""
done

# ---- a push after the approval ----
w checkout -q --detach "$head"
evil=$(new_commit "pushed later")
set_ref refs/pull/7/head "$evil"
for read in tips fetch; do
	rm -rf "$tmp/m"
	ok "after a push $read has the new head" $read --pulls pull:head --pull "7=$head"
	is "and no commit, for neither" "$(pulls | jq -c 'select(.pull == 7) | [length, .pull, .head]')" "[2,7,\"$evil\"]"
	[ $read = tips ] || fails "it is not fetched" 1 has "$evil"
	ok "the merge result of the head before" $read --pulls pull:merge --pull "7=$evil"
	like "does not count" "$(pulls | jq -r 'select(.pull == 7).problem')" "^the forge has no merge result of ${evil:0:12} yet"
	is "and gives no commit" "$(pulls | jq -r 'select(.pull == 7).commit')" null
done

# ---- a merge commit of a stranger at the place of the merge result ----
w checkout -q --detach "$evil"
w merge -q --no-ff -s ours -m "no merge of the forge" "$first" >/dev/null 2>&1 || true
w checkout -q --detach "$first"
swapped=$(w commit-tree -p "$evil" -p "$first" -m "parents the other way" "$evil^{tree}")
set_ref refs/pull/7/merge "$swapped"
ok "a commit with other parents" fetch --pulls pull:merge --pull "7=$evil"
is "is no merge result" "$(pulls | jq -r 'select(.pull == 7).commit')" null
ok "a request whose head became that of a branch" set_ref refs/heads/topic "$evil"
ok "is listed as before" fetch --pulls pull:head
is "with its head" "$(pulls | jq -r 'select(.pull == 7).head')" "$evil"

# ---- a merge result with the right parents and other content ----
set_ref refs/pull/7/head "$head"
merge_with() { # tree, first parent
	set_ref refs/pull/7/merge "$(w commit-tree -p "$2" -p "$head" -m "pushed by a user" "$1")"
}
for read in tips fetch; do
	rm -rf "$tmp/m"
	merge_with "$evil^{tree}" "$first"
	ok "$read reads a merge result with other files" $read --pulls pull:merge --pull "7=$head"
	like "which is not the merge" "$(pulls | jq -r 'select(.pull == 7).problem')" '^the files of the merge result .* differ'
	is "and gives no commit" "$(pulls | jq -r 'select(.pull == 7).commit')" null
	stranger=$(w commit-tree -p "$first" -m "on no branch" "$first^{tree}")
	merge_with "$head^{tree}" "$stranger"
	ok "$read reads one whose base is on no branch" $read --pulls pull:merge --pull "7=$head"
	like "which is not used either" "$(pulls | jq -r 'select(.pull == 7).problem')" 'is not based on a branch$'
	merge_with "$head^{tree}" "$first"
	ok "$read reads the true merge" $read --pulls pull:merge --pull "7=$head"
	is "and gives its commit" "$(pulls | jq -r 'select(.pull == 7) | .commit != null')" true
done

# ---- commits on branches ----
contains() { "$bin/flopwatch-git" contains --repo "$tmp/r.git" --commit "$1"; }
ok "the tip of a branch" contains "$evil"
is "is on a branch" "$out" '{"on_branch":true}'
ok "its ancestor" contains "$head"
is "is, too" "$out" '{"on_branch":true}'
ok "a commit of a request alone" contains "$merge"
is "is not" "$out" '{"on_branch":false}'
fails "a commit that does not exist" 3 contains "${head//[0-9]/0}"

# ---- mistakes ----
fails "an unknown folder" 1 tips --pulls changes:head
fails "an unknown choice" 1 tips --pulls pull:both
fails "a request without a commit" 1 tips --pulls pull:head --pull 7
fails "one with a short hash" 1 tips --pulls pull:head --pull 7=1234567
fails "one with text behind its hash" 1 tips --pulls pull:head --pull "7=${head}0"
fails "no number" 1 tips --pulls pull:head --pull "x=$head"
