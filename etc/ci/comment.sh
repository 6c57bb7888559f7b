#!/bin/bash
# Post one comment on a review with flopwatch's verdict on its newest commit; later calls update it. For GitHub,
# Gitea and Forgejo (GITHUB_API_URL, GITHUB_REPOSITORY) and GitLab (CI_API_V4_URL, CI_PROJECT_ID), as their runners set them.
#
# FLOPWATCH_SERVER, FLOPWATCH_TOKEN, COMMIT, REPOSITORY: the request, as for `flopwatch wait`. REVIEW: number of the pull or merge request.
# FLOPWATCH_CA_FILE: the private authority of an https:// daemon, if it has one.
# FORGE_TOKEN: a token with permission to comment. FORGE_USER: who comments with it; default the user that the forge names, or
# github-actions[bot], as for the token of a GitHub workflow. Set it for another GitHub App, or for a token that may not read its user.
# WHY_S: timeout in seconds for the causes, if the daemon still profiles; then the comment is updated; default 300. Needs curl and jq.
set -eu
: "${FLOPWATCH_SERVER:?}" "${COMMIT:?}" "${REVIEW:?}" "${FORGE_TOKEN:?}"
size_max=60000 # of a comment; GitHub accepts 65536 characters
marker="<!-- flopwatch ${REPOSITORY:-} -->"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Secrets are passed in files of this process, never in arguments, which other users can read.
ask() { # path, curl's options...: request to the daemon
	local path=$1
	shift
	curl -sSf --max-time 60 ${FLOPWATCH_CA_FILE:+--cacert "$FLOPWATCH_CA_FILE"} -H @<([ -z "${FLOPWATCH_TOKEN:-}" ] || printf 'Authorization: Bearer %s\n' "$FLOPWATCH_TOKEN") "$FLOPWATCH_SERVER$path" "$@"
}
forge() { # method, path, curl's options...
	local method=$1 path=$2 header="Authorization: Bearer"
	shift 2
	[ -z "${CI_API_V4_URL:-}" ] || header="PRIVATE-TOKEN:"
	curl -sSf --max-time 60 -X "$method" -H @<(printf '%s %s\n' "$header" "$FORGE_TOKEN") -H 'Content-Type: application/json' "$root$path" "$@"
}
if [ -n "${CI_API_V4_URL:-}" ]; then
	root=$CI_API_V4_URL
	comments=/projects/$CI_PROJECT_ID/merge_requests/$REVIEW/notes
	mine=$comments change=PUT
else
	root=$GITHUB_API_URL
	comments=/repos/$GITHUB_REPOSITORY/issues/$REVIEW/comments
	mine=/repos/$GITHUB_REPOSITORY/issues/comments change=PATCH
fi
# Gitea and Forgejo, whose API is at this path, return all comments at once and know no pages of them.
pages='?per_page=100&page='
case $root in */api/v1) pages="" ;; esac

# ---- the text: each suite's report, or the reason why it has none ----
gather() {
	ask "/api/v1/commits/$COMMIT/verdict" -G --data-urlencode "repo=${REPOSITORY:-}" >"$work/verdict"
	printf '%s\n' "$marker" >"$work/body"
	jq -r '.suites[] | [.comparison // 0, .job] | @tsv' "$work/verdict" >"$work/suites"
	while read -r comparison job; do
		if [ "$comparison" = 0 ]; then
			printf '**flopwatch: not measured**, J%s\n' "$job" >"$work/part"
		else
			ask "/api/v1/comparisons/$comparison.md" >"$work/part"
		fi
		if [ $(($(stat -c %s "$work/body") + $(stat -c %s "$work/part"))) -gt $size_max ]; then
			head -n 1 "$work/part" >"$work/first" # its verdict still fits
			mv "$work/first" "$work/part"
		fi
		{ cat "$work/part"; printf '\n'; } >>"$work/body"
	done <"$work/suites"
	jq -n --rawfile body "$work/body" '{body: $body}' >"$work/comment"
}

# ---- write it, replacing the previous comment ----
# Every user can write a comment that begins with the marker. With the verdict in it, its author could change the verdict.
me=${FORGE_USER:-$(forge GET /user 2>"$work/no-user" | jq -r '.login // .username // ""')}
me=${me:-github-actions[bot]}
id="" # of the comment
say() {
	local page
	for page in $(seq 50); do
		if [ -n "$id" ]; then break; fi
		forge GET "$comments${pages:+$pages$page}" -D "$work/headers" >"$work/comments"
		id=$(jq -r --arg marker "$marker" --arg me "$me" \
			'[.[] | select((.user.login // .author.username) == $me and (.body | startswith($marker)))][0].id // ""' "$work/comments")
		if ! grep -qi '^link:.*rel="next"' "$work/headers"; then break; fi
	done
	if [ -n "$id" ]; then
		forge "$change" "$mine/$id" --data-binary "@$work/comment" >"$work/answer"
	else
		forge POST "$comments" --data-binary "@$work/comment" >"$work/answer"
		id=$(jq -r '.id // ""' "$work/answer")
	fi
}
gather
say

# ---- the causes, once they are known ----
end=$((SECONDS + ${WHY_S:-300}))
while grep -q '^Why: not known yet: ' "$work/body" && [ "$SECONDS" -lt "$end" ]; do
	sleep 2
	cp "$work/body" "$work/before"
	gather
	cmp -s "$work/body" "$work/before" || say
done
