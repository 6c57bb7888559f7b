#!/bin/bash
# Reliability campaign, part 1: SIGKILL of flopwatchd, worker, runner, git and send while pushes, POST requests and
# deliveries run (kill.py).
# Attacks: daemon/flopwatchd daemon/worker daemon/runner daemon/git daemon/send daemon/lib daemon/protocol db web/answer web/http
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
mkdir "$tmp/r" "$tmp/bin" "$tmp/bin/real"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
# A program takes the order of its name, once. Daemon and worker find the others in the folder of their executable.
cp "$bin/flopwatchd" "$tmp/bin"
cp "$bin/flopwatch-worker" "$tmp/bin/real"
ordered() { # wrapper, program
	cat >"$1" <<-SH
		#!/bin/bash
		order=$tmp/order.${2##*/}
		if [ -e "\$order" ] && mv "\$order" "\$order.\$\$" 2>/dev/null; then
			export AT_CALL="\$(cat "\$order.\$\$")" LD_PRELOAD=$tmp/at_call.so
			/bin/rm -f "\$order.\$\$"
		fi
		exec "$2" "\$@"
	SH
	chmod +x "$1"
}
ordered "$tmp/bin/flopwatch-worker" "$tmp/bin/real/flopwatch-worker"
ordered "$tmp/bin/real/flopwatch-runner" "$bin/flopwatch-runner"
ordered "$tmp/bin/flopwatch-git" "$bin/flopwatch-git"
ordered "$tmp/bin/flopwatch-send" "$bin/flopwatch-send"

new_repo kernels
sed -i 's/masks: .*/masks: [full]}/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "one cell"
push kernels main
new_lines_repo
printf 'echo %s\n' "'{\"cell\":\"one\",\"ms\":[1,1,1]}'" "'{\"cell\":\"two\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: lines, url: $tmp/lines.git}]" \
	"webhooks: [{name: here, url: \"http://127.0.0.1:$(cat "$tmp/r/port")/here\", allow_internal: true, comparisons: true}]"
ok "what was acknowledged survives each kill" python3 "$root/tests/campaign/kill.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
