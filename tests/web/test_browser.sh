#!/bin/bash
# The pages of the real daemon in a real browser: a push followed live to its alert, every page with scripts on and off, axe-core.
# Starts early.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

command -v node >/dev/null || { skip "the pages in a browser" "there is no node here"; exit 0; }
command -v chromium-headless-shell chromium >/dev/null || { skip "the pages in a browser" "there is no chromium here"; exit 0; }
for module in playwright-core axe-core; do
	[ -d "$root/tests/browser/node_modules/$module" ] || { skip "the pages in a browser" "npm has not installed $module"; exit 0; }
done

new_repo kernels
write_config
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
for factor in 1.001 1.002; do # a history for the pages
	echo $factor >"$tmp/kernels/kernels/factor"
	commit kernels "kernels: factor $factor"
	push kernels main
	is "factor $factor is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
done

cat >"$tmp/push.sh" <<PUSH
set -eu
cd "$tmp/kernels"
git checkout -q -B slow main
echo 1.06 >kernels/factor
echo 'sleep 4' >kernels/recipe # long enough for a user to see the build
git commit -qam "kernels: another tile"
git push -q origin HEAD:refs/heads/slow
PUSH

# Both print TAP: take over their lines.
passed() { # name, script, arguments...
	local name=$1 status line
	shift
	timeout -k 5 600 node "$root/tests/browser/$1" "${server:-http://127.0.0.1:$(port)}" "${@:2}" >"$tmp/browser.log" 2>&1
	status=$?
	while IFS= read -r line; do
		case "$line" in
		"ok "*) tap_result 0 "$name: ${line#ok * - }" ;;
		"not ok "*) tap_result 1 "$name: ${line#not ok * - }" "$(grep -A8 -F "$line" "$tmp/browser.log" | sed 1d | grep '^#' | head -8)" ;;
		esac
	done <"$tmp/browser.log"
	is "$name ended" "$status" 0
	[ "$status" = 0 ] || sed 's/^/# /' "$tmp/browser.log" | tail -n 30
}
passed live live.mjs "$tmp/push.sh"
passed pages pages.mjs
stop_daemon

# Causes: over the demo database, since no device of a test has counters.
mkdir "$tmp/story"
(cd "$root" && exec build/tests/browser/pages_demo "$tmp/story") >"$tmp/demo.log" 2>&1 &
demo_pid=$!
on_exit kill "$demo_pid"
listens() { grep -q '^listening' "$tmp/demo.log"; }
await listens || exit 1
server=$(sed -n 's/^listening on //p' "$tmp/demo.log") passed explanation explanation.mjs
server=$(sed -n 's/^listening on //p' "$tmp/demo.log") passed screen screen.mjs
