#!/bin/bash
# The pages over the demo database are served to readers, and reject writes: no request ends the server.
. "$(dirname "$0")/../support/tap.sh"
demo=$root/build/tests/browser/pages_demo
[ -x "$demo" ] || { echo "# $demo is not built: make test-programs"; exit 1; }
mkdir "$tmp/story"
(cd "$root" && exec "$demo" "$tmp/story") >"$tmp/log" 2>&1 &
demo_pid=$!
on_exit kill "$demo_pid"
listens() { grep -q '^listening' "$tmp/log"; }
await listens || exit 1
server=$(sed -n 's/^listening on //p' "$tmp/log")
fw() { (cd "$tmp" && "$bin/flopwatch" --server "$server" "$@"); } # outside this checkout, which the demo's daemon does not watch
refuses() { # name, command...
	fails "$1" 1 fw "${@:2}"
	is "$1: the output reports that" "$out" "flopwatch: this is a demonstration; nothing is measured"
}

ok "status" fw status
like "shows the history" "$out" '^ +ada/three-stages +regression +-[0-9.]+ % +[0-9]+/[0-9]+ cells +spills +A[0-9]+ open +[0-9]+ (min|h|d) ago$'
like "main is slower while its alert is open, whatever its newest push did" "$out" \
	'^ +main +regression +-2\.9 % +8 cells +A1 open +newest push unchanged, [0-9]+ (min|h|d) ago$'
like "and is counted as slower" "$(head -n 1 <<<"$out")" '2 regression, .*1 improvement$'
refuses "submit" submit main
refuses "peer" peer main
refuses "calibrate" calibrate
refuses "calibrate forget" calibrate forget
refuses "bisect" bisect main noor/swizzle
refuses "profile" profile main noor/swizzle
refuses "cancel" cancel 1
refuses "retry" retry 1
refuses "pause" pause sim-0
refuses "judge" judge --again 1
refuses "an alert's step" alerts accept 1 --reason known
refuses "redeliver" redeliver 1
refuses "backup" backup "$tmp/copy.db"
ok "which leaves no file" test ! -e "$tmp/copy.db" -a ! -e "$tmp/copy.db.part"
printf '{"cell": "x", "ms": [1, 2]}\n' >"$tmp/theirs"
refuses "import" import "$tmp/theirs" --repo kernels --commit "$(fw status --json | jq -r '.items[0].commit')"
is "a webhook has no user" "$(curl -s -o /dev/null -w '%{http_code}' -X POST "$server/api/v1/hooks/kernels")" 404
ok "why an alert was opened" fw why A3
like "begins with branch and loss" "$(head -n 1 <<<"$out")" '^[a-z/-]+ is (up to )?[0-9.]+ % slower in [0-9]+ cells?$'
like "states the cause" "$out" 'spilled registers'
like "ends with the next command" "$(tail -n 1 <<<"$out")" '^next: push a fix, or: flopwatch alerts accept A3 --reason'
ok "alerts" fw alerts
like "begin with the worst open one" "$(head -n 1 <<<"$out")" '^[^ ]+ is (up to )?[0-9.]+ % slower in [0-9]+ cells?, and [0-9]+ more open alerts?$'
is "which the next command is about" "$(tail -n 1 <<<"$out")" \
	"next: flopwatch why A$(fw alerts --json | jq '[.items[] | select(.state == "open" and .worst_pct != null)] | min_by(.worst_pct).id')"
ok "have two lines each" test "$(grep -c '^A[0-9]' <<<"$out")" -eq "$(grep -c '^     ' <<<"$out")"
page() { curl -s "$server$1"; }
heading() { page "$1" | grep -oE '<h1[^>]*>[^<]*' | sed 's/<[^>]*>//'; }
like "home names the worst alert, and what failed" "$(heading /)" '^ada/three-stages is up to 4\.[0-9] % slower in 6 of 20 cells; 1 more alert, 1 branch failed$'
is "of pushes older than a phone shows, it marks the one with a change" \
	"$(page / | grep -oE '<th scope=col( class=s)? title="[0-9a-f]{10}' | sed -n '1p; /class=s/p' | cut -d'"' -f1 | paste -sd'|')" '<th scope=col title=|<th scope=col class=s title='
like "and all of its squares" "$(page / | grep -c '<td class="b2 s">')" '^8$'
slow=$(page / | grep -oE '/history\?cell=[^"]*r0\.2%2Fb64[^"]*backward[^"]*' | head -n 1 | sed 's/&amp;/\&/g; s/branch=main/branch=ada%2Fthree-stages/')
like "a history counts a loss that a second push repeats from the first one" "$(heading "$slow")" ', 4\.[0-9] % slower since [0-9a-f]{7} \(2 pushes\)$'
ok "and it still serves" fw status
