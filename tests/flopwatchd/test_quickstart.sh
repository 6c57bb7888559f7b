#!/bin/bash
# Every block of commands of doc/quickstart.md, in its order, with another folder and a free port.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export XDG_CACHE_HOME=$tmp/try-cache
mkdir "$XDG_CACHE_HOME"
page=$root/doc/quickstart.md

awk -v to="$tmp/step" '/^```sh$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > (to "." n) }' "$page"
sed -i "s|/tmp/first|$tmp/first|g; s|127.0.0.1:8461|127.0.0.1:0|; /^rm -rf /d; s|^kill %1|kill \$!|" "$tmp"/step.*

set +u
type_step() { # its number; the exit status is that of its last command
	# shellcheck disable=SC1090
	. "$tmp/step.$1"
}
is_step() { # number, text: the step contains it, so that an inserted step is detected here
	ok "step $1 is the one with $2" grep -q -- "$2" "$tmp/step.$1"
}
shows() { # number: the output after the step
	awk -v n="$1" '/^```sh$/ { k++ } k == n && /^```$/ { c++; next } k == n && c == 2' "$page"
}

export PATH=$bin:$PATH
is_step 1 "build/bin"
is_step 2 "git init"
type_step 2
is_step 3 "FLOPWATCH("
type_step 3
is_step 4 "flopwatch init"
said=$(type_step 4)
is "init says what the page shows" "$said" "$(shows 4 | sed "s|/tmp/first|$tmp/first|")"
is_step 5 "flopwatch try"
said=$(type_step 5)
like "try gives both cells a time" "$said" '2 of 2 cells have a time'
like "and prints the cost of a push" "$(tail -n 2 <<<"$said" | tr '\n' ' ')" '^2 cells: a push holds the device for about [0-9]+ s if its runs agree; after 60 s \(budget_s\) no further run begins next: commit and push, then: flopwatch wait BRANCH $'
is_step 6 "flopwatchd --config"
type_step 6 >"$tmp/said"
daemon_pid=$!
ok "the configuration is fine" grep -q 'fine; 1 repository, 1 worker, 0 webhooks' "$tmp/said"
await test -s "$tmp/first/state/port"
export FLOPWATCH_SERVER=http://127.0.0.1:$(cat "$tmp/first/state/port")
is_step 7 "wait main"
said=$(type_step 7)
status=$?
like "main is measured against itself" "$status $(tr '\n' ' ' <<<"$said")" '^(0|7) main is .*no base: the commit is compared with itself to learn the noise.* C1  J1  sums'
is_step 8 "wait exact"
type_step 8 >"$tmp/said"
status=$?
cp "$tmp/said" "$tmp/slower"
like "the slower push is no unchanged one" "$status $(tr '\n' ' ' <"$tmp/said")" '^(3|7) exact is .*sum/100000.* C2  J2 '
is_step 9 "wait comment"
type_step 9 >"$tmp/said"
like "a comment is identical" "$? $(tr '\n' ' ' <"$tmp/said")" '^0 comment is identical to its base.*: nothing was timed .*next: flopwatch open C3'
is_step 10 "flopwatch status"
ok "the fetches are answered" type_step 10
like "with what the page shows" "$out" "comment .*identical"
if [ "$status" = 3 ]; then
	like "the cause of a program is in its commits" "$(grep -hE '^(why|next): ' "$tmp/slower" | tr '\n' ' ')" '^why: not known: benchmark programs are profiled only on a GPU; changed: sums\.c; see git diff [0-9a-f]{12} [0-9a-f]{12} next: push a fix, or: flopwatch alerts accept A1 --reason'
	ok "why says the same" "$bin/flopwatch" why A1
	like "and what changed" "$out" '^why: not known: benchmark programs are profiled only on a GPU; changed: sums\.c; see git diff [0-9a-f]{12} [0-9a-f]{12}'
	like "so does the page of the alert" "$(curl -s "$FLOPWATCH_SERVER/alerts/1")" '<b>Why:</b> not known: benchmark programs are profiled only on a GPU; changed: sums\.c; '
	like "the page of the comparison" "$(curl -s "$FLOPWATCH_SERVER/comparisons/2")" '<b>Why:</b> not known: .*; changed: sums\.c; '
	like "and the review comment" "$(curl -s "$FLOPWATCH_SERVER/api/v1/comparisons/2.md")" 'Why: not known: .*; changed: sums'
	like "the page says how programs that take turns were timed" "$(curl -s "$FLOPWATCH_SERVER/comparisons/2")" '<dt>Timing</dt><dd>both programs run at once and take turns: pairs of calls in the order A B B A</dd>'
	is "no profile is queued" "$("$bin/flopwatch" jobs --json | jq '[.items[] | select(.kind == "profile")] | length')" 0
	is_step 11 "alerts accept"
	ok "the alert is accepted" type_step 11
	is "why does not ask for the answer again" "$("$bin/flopwatch" why A1 | tail -n 1)" "next: flopwatch open A1"
fi
is_step 12 "kill"
type_step 12
wait "$daemon_pid"
is "the daemon ends" "$?" 0
daemon_pid=""
