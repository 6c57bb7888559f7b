#!/bin/bash
# The dashboard and the API of the real daemon, requested by curl: pages without scripts, names from git escaped, permissions, events as they
# happen, webhooks that trigger a fetch.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
new_repo far
echo "It's a Secret to Everybody" >"$tmp/secret"
chmod 600 "$tmp/secret"
# only a webhook makes the daemon fetch `far` again: its poll is an hour
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: far, url: \"file://$tmp/far.git\", poll: 1 h, secret_file: $tmp/secret}]"
push kernels main
push far main
start_daemon || exit 1
port=$(cat "$tmp/state/port")
server=http://127.0.0.1:$port
status() { curl -s -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' --max-time 10 "$@"; }
page() { # path: its body in $body; 200 is expected
	is "$1 is there" "$(status "$server$1")" 200
	body=$(cat "$tmp/body")
}
lacks() { # name, text: not in $body
	if grep -qF -- "$2" <<<"$body"; then tap_result 1 "$1" "it holds $2"; else tap_result 0 "$1"; fi
}

# ---- events as they happen ----
curl -sN --max-time 60 "$server/api/v1/events" >"$tmp/events" &
events=$!
on_exit kill "$events"
await grep -q '^retry: 3000' "$tmp/events"
is "the event stream is open" $? 0

names=('odd/<img/src=x/onerror=alert(1)>'"'"'"&%' $'bad\xff\xfe' $'rtl\xe2\x80\xaegnp')
for name in "${names[@]}"; do
	branch kernels "$name" main 2>/dev/null || git -C "$tmp/kernels" checkout -q --detach main
	echo "$name" >"$tmp/kernels/README"
	git -C "$tmp/kernels" add -A
	git -C "$tmp/kernels" -c i18n.commitEncoding=UTF-8 commit -q -m '</td><script>alert("subject")</script> "quoted" & more'
	git -C "$tmp/kernels" push -q origin "HEAD:refs/heads/$name" || echo "# git would not push it"
done
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
GIT_AUTHOR_NAME='Mal"lory & \' commit kernels "slower"
push kernels slow
slow=$(head_of kernels)
is "a slower push is a regression" "$(result_of "$slow")" "done regression"
job=$(job_of "$slow")
comparison=$(job_field "$job" comparison)
all_branches_judged() { [ "$(api 'branches?repo=kernels' | jq '[.items[] | select(.verdict == null)] | length')" = 0 ]; }
await all_branches_judged
is "every branch with an unusual name is judged" "$(api 'branches?repo=kernels' | jq '[.items[] | select(.verdict == null)] | length')" 0
is "none is lost" "$(api 'branches?repo=kernels' | jq '.items | length')" 5
await grep -q '^event: alert' "$tmp/events"
like "events were sent: jobs" "$(cat "$tmp/events")" '^event: job.done'
like "the alert" "$(cat "$tmp/events")" '^event: alert'
is "each with JSON" "$(grep '^data: ' "$tmp/events" | cut -c7- | jq -c . | wc -l)" "$(grep -c '^data: ' "$tmp/events")"
is "and a number that grows" "$(grep '^id: ' "$tmp/events" | cut -c5- | sort -n | uniq)" "$(grep '^id: ' "$tmp/events" | cut -c5-)"
last=$(grep '^id: ' "$tmp/events" | tail -n 2 | head -n 1 | cut -c5-)
comes_back() { # a stream does not end: read it for a limited time
	again=$(curl -sN --max-time 1 -H "Last-Event-ID: $((last - 1))" "$server/api/v1/events")
	grep -q '^id: ' <<<"$again"
}
await comes_back
is "a client that comes back gets what it missed" "$(grep -m1 '^id: ' <<<"$again")" "id: $last"

# ---- pages ----
for path in / /branches "/branches?repo=kernels&branch=slow" /repos/kernels /settings /comparisons "/comparisons/$comparison" /jobs "/jobs/$job" /alerts /devices /history /heat /peers /help /api "/commits/$slow" \
	"/comparisons/$comparison?open=0.1.2.3" "/comparisons/$comparison?q=%3Cscript%3E\&sort=-change" "/search?q=%3Cimg%20src=x%3E" \
	"/history?cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward&repo=kernels"; do
	page "$path"
	is "$path has no script but ours" "$(grep -o '<script[^>]*>' "$tmp/body" | grep -cvE '^<script( type=module)? src="/static/[a-z]+\.js\?v=[0-9a-f]+">$')" 0
	lacks "$path has no element of a branch's name" '<img'
	lacks "$path has no style of its own" 'style='
	ok "$path is UTF-8 without direction marks" python3 -c "
import sys
text = open('$tmp/body', 'rb').read().decode('utf-8')
sys.exit(any(c in text for c in '\u202e\u2066\u200f\x1b\x00'))"
done
page /
like "the unusual name is shown escaped" "$body" 'odd/&lt;img/src=x/onerror=alert\(1\)&gt;'
like "the invisible mark is visible" "$body" 'rtl\\u202egnp'
like "broken bytes are marked" "$body" $'bad\xef\xbf\xbd'
like "subjects are escaped" "$body" '&lt;/td&gt;&lt;script&gt;'
like "the title is the finding" "$body" '<h1>slow is (up to )?4\.[0-9].{1,2}% slower in 4 of 4 cells</h1>'
like "the open alert is counted" "$body" '>Alerts <b class=count>1</b></a>'
like "and can be answered" "$body" '<a class=button href="/alerts/1">Answer A1</a>'
like "unchanged branches are folded" "$body" '<summary>[0-9] unchanged</summary>'
like "main is a heat map" "$body" '<table class="heat small">'
page "/comparisons/$comparison"
like "the comparison says what happened" "$body" '<h1>slow is (up to )?[45]\.[0-9] % slower in 4 of 4 cells</h1>'
like "and leads to the answer" "$body" '<a class=button href="/alerts/1#answer">Answer</a>'
like "and where" "$body" '<dt>Isolation</dt><dd>(bwrap|none)</dd>'
page "/jobs/$job"
like "the job shows its build" "$body" '<summary>Build of target: '
like "and its finding as the title" "$body" '<h1>slow is (up to )?[45]\.[0-9] % slower in 4 of 4 cells</h1>'
is "its id has a letter" "$(status "$server/jobs/J$job")" 200
is "also in the API" "$(status "$server/api/v1/comparisons/C$comparison")" 200
is "but only its own" "$(status "$server/jobs/C$comparison")" 404
page "/branches?repo=kernels&branch=slow"
like "a branch has its verdict as the title" "$body" '<h1>slow is (up to )?4\.[0-9].{1,2}% slower in 4 of 4 cells</h1>'
like "its open alert" "$body" 'Answer A1'
like "its worst cell as a chart" "$body" '<svg class=chart'
like "and its pushes" "$body" "<th scope=row class=branch><a href=\"/comparisons/$comparison\">C$comparison</a>"
page /repos/kernels
like "a repository counts its branches by urgency" "$body" '<h1>Branches of kernels: 1 slower, [0-9] unchanged</h1>'
like "names its address" "$body" "<dt>Address</dt><dd><code>$tmp/kernels.git</code>"
like "and its last fetch" "$body" '<dt>Last fetch</dt><dd><time datetime=2'
page /settings
like "the settings have their lines" "$body" '<td class=n>[0-9]+</td><th scope=row class=wrap>repos\[1\]\.poll</th><td class=wrap>1 h</td>'
like "and no secret" "$body" '>repos\[1\]\.secret_file</th><td class=wrap>set</td>'
lacks "nor the path of one" "$tmp/secret"
like "the disk" "$body" '<dt>Free disk space</dt><dd>[0-9.]+'
page "/history?cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward&repo=kernels&branch=slow"
like "history is a chart" "$body" '<svg class=chart'
is "/nothing is a page of refusal" "$(status "$server/nothing")" 404
like "in HTML" "$(cat "$tmp/head")" 'Content-Type: text/html'
for path in repos branches comparisons "comparisons/$comparison" alerts jobs "jobs/$job" devices "commits/${slow:0:12}" \
	"compare?repo=kernels&base=$(git -C "$tmp/kernels" rev-parse main)&target=$slow"; do
	ok "/api/v1/$path is JSON" jq -e . <<<"$(api "$path")"
done
like "authors are in JSON" "$(api "comparisons/$comparison" | jq -r .target.author)" '^Mal"lory & '
like "CSV" "$(api "comparisons/$comparison.csv")" '^attention/dense/causal/.*,regression,'
etag=$(curl -s -o /dev/null -D - "$server/api/v1/comparisons/$comparison" | tr -d '\r' | sed -n 's/^ETag: //p')
is "the ETag is the body's hash" "$etag" "\"$(api "comparisons/$comparison" | sha256sum | cut -d' ' -f1)\""
is "who has it gets 304" "$(status -H "If-None-Match: $etag" "$server/api/v1/comparisons/$comparison")" 304
is "a problem is a document" "$(status "$server/api/v1/jobs/999")" 404
is "of RFC 9457" "$(jq -r '.status, .detail' "$tmp/body" | paste -sd' ')" "404 there is no J999"
page /metrics
like "metrics count" "$body" '^flopwatch_comparisons\{verdict="regression"\} 1$'
page /healthz

# ---- permissions ----
for host in evil.example "127.0.0.1" "localhost:$((port + 1))" "127.0.0.1.nip.io:$port"; do
	is "Host $host is refused" "$(status -H "Host: $host" "$server/")" 421
done
is "Host localhost is not" "$(status -H "Host: localhost:$port" "$server/")" 200
# ---- for reviews and READMEs ----
is "a comparison as Markdown" "$(status "$server/api/v1/comparisons/$comparison.md")" 200
like "has its type" "$(cat "$tmp/head")" '[Cc]ontent-[Tt]ype: text/markdown'
like "begins with the finding" "$(head -n 1 "$tmp/body")" '^\*\*flopwatch: regression\*\*: slow is (up to )?[0-9.]+ % slower in [0-9]+ of 4 cells$'
ok "is short" test "$(wc -l <"$tmp/body")" -lt 25
like "says how sure that is" "$(cat "$tmp/body")" '^How sure: .*: at least [0-9.]+ % slower, threshold 1.5 % \\\([0-9]+ runs?\\\)\.$'
like "says what to do" "$(cat "$tmp/body")" '^What to do: push a fix, or accept the slowdown: `flopwatch alerts accept A1 --reason ...`'
like "links to the page" "$(cat "$tmp/body")" "^More: \\[C$comparison\\]\\(http://127.0.0.1:$port/comparisons/$comparison\\)$"
like "and names the cells" "$(cat "$tmp/body")" '^\| `attention/dense/full/s64/.*/forward` \| [0-9.]+ \| [0-9.]+ \| -[0-9.]+ % \| .* \*\*regression\*\*'
is "and as a picture" "$(status "$server/api/v1/comparisons/$comparison.svg")" 200
like "of its cells" "$(python3 -c 'import sys, xml.dom.minidom as x; print(len(x.parse(sys.argv[1]).getElementsByTagName("g")))' "$tmp/body")" '^4$'
is "a badge" "$(status "$server/api/v1/badge.svg?repo=kernels&branch=slow")" 200
like "says the verdict" "$(cat "$tmp/body")" 'aria-label="flopwatch: regression -'
is "of a branch that is there" "$(status "$server/api/v1/badge.svg?repo=kernels&branch=nobody")" 404

# ---- repeated requests ----
again() { status -H 'Content-Type: application/json' -H "Idempotency-Key: $1" -d "{\"repo\":\"kernels\",\"target\":\"$2\"}" "$server/api/v1/jobs"; }
is "a job with a key" "$(again key-1 "$slow")" 201
first=$(jq .id "$tmp/body")
is "asked for again" "$(again key-1 "$slow")" 201
is "is the same job" "$(jq .id "$tmp/body")" "$first"
like "at the same address" "$(cat "$tmp/head")" "[Ll]ocation: /api/v1/jobs/$first"
is "the key of another request is refused" "$(again key-1 main)" 422
is "another key is another job" "$(again key-2 "$slow" >/dev/null; [ "$(jq .id "$tmp/body")" != "$first" ] && echo yes)" yes

is "another site cannot write" "$(status -X POST -H 'Origin: https://evil.example' "$server/api/v1/jobs/$job/retry")" 403
is "nor a page without a name" "$(status -X POST -H 'Origin: null' "$server/api/v1/jobs/$job/retry")" 403
is "nor by the headers of browsers" "$(status -X POST -H 'Sec-Fetch-Site: same-site' "$server/api/v1/jobs/$job/retry")" 403
before=$(sql 'SELECT count(*) FROM job')
is "reading with a verb's address changes nothing" "$(status "$server/api/v1/jobs/$job/retry")" 405
is "so no job came of it" "$(sql 'SELECT count(*) FROM job')" "$before"
is "our own page can" "$(status -X POST -H "Origin: $server" -H 'Sec-Fetch-Site: same-origin' -H 'Accept: text/html' -d '' "$server/api/v1/jobs/$job/retry")" 303
is "one job came of it" "$(sql 'SELECT count(*) FROM job')" $((before + 1))
is "the path stays inside" "$(status --path-as-is "$server/static/../../etc/passwd")" 400
is "a body has an end" "$(head -c 2000000 /dev/zero | status -X POST --data-binary @- "$server/api/v1/jobs")" 413

# ---- webhooks ----
await has_job "$(head_of far)"
echo later >"$tmp/far/README"
commit far "pushed behind the daemon's back"
push far main
pushed=$(head_of far)
payload='{"ref":"refs/heads/main","repository":{"clone_url":"file:///etc"}}'
hmac() { python3 -c 'import hmac, sys; print(hmac.new(sys.argv[1].encode(), sys.argv[2].encode(), "sha256").hexdigest())' "$(cat "$tmp/secret")" "$payload"; }
hook() { status -X POST --data-binary "$payload" "$@"; }
is "an unsigned webhook is refused" "$(hook "$server/api/v1/hooks/far")" 401
is "a wrongly signed one too" "$(hook -H "X-Hub-Signature-256: sha256=$(printf '%064d' 0)" "$server/api/v1/hooks/far")" 401
is "one for a repository without secret" "$(hook -H "X-Hub-Signature-256: sha256=$(hmac)" "$server/api/v1/hooks/kernels")" 404
sleep 0.3
fails "none of them made it look" 1 has_job "$pushed"
is "a signed one is taken" "$(hook -H "X-Hub-Signature-256: sha256=$(hmac)" -H 'X-GitHub-Event: push' -H 'X-GitHub-Delivery: 1' "$server/api/v1/hooks/far")" 202
is "and the push is found" "$(await has_job "$pushed"; echo $?)" 0
is "the same notification again is only greeted" "$(hook -H "X-Hub-Signature-256: sha256=$(hmac)" -H 'X-GitHub-Delivery: 1' "$server/api/v1/hooks/far") $(cat "$tmp/body")" "202 seen before"
stop_daemon
is "the daemon ends in order, streams open" $? 0
