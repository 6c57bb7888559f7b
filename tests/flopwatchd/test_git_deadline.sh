#!/bin/bash
# FIFOs in a watched repository block no other branch; a flopwatch-git that hangs is killed at its deadline, with a message.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
real=$bin
mkdir "$tmp/bin"
cp "$real/flopwatchd" "$tmp/bin" # a copy: the daemon finds our programs next to the running one
ln -s "$real/flopwatch-worker" "$real/flopwatch-runner" "$real/flopwatch-send" "$tmp/bin"
bin=$tmp/bin
cat >"$bin/flopwatch-git" <<SH
#!/bin/bash
[ ! -e "$tmp/hold.\$1" ] || { echo \$\$ >"$tmp/held"; exec sleep 100000; }
exec "$real/flopwatch-git" "\$@"
SH
chmod +x "$bin/flopwatch-git"

new_repo kernels
push kernels main
branch kernels late main
commit kernels late
git -C "$tmp/kernels" push -q origin HEAD:refs/kept/late
mkfifo "$tmp/kernels.git/refs/heads/held"
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1 s, fetch_timeout: 2 s}]"
start_daemon || exit 1
head_of kernels >"$tmp/kernels.git/refs/heads/late" # written as a push does: git itself would wait for the FIFO
is "a push is judged despite a FIFO among the branches" "$(result_of "$(head_of kernels)" | cut -d ' ' -f 1)" "done"
error_is() {
	api repos | jq -re '.items[0].error' | grep -qE "$1"
}
ok "which is reported" await error_is 'held: refs/heads/held is a FIFO, not a file'
rm "$tmp/kernels.git/refs/heads/held"
is_well() {
	api repos | jq -e '.items[0].state == "ok"'
}
ok "until it is removed" await is_well
touch "$tmp/hold.tips"
ok "a git command that does not end is killed, and that is reported" await error_is '^flopwatch-git ran past its deadline'
held=$(cat "$tmp/held")
is_gone() {
	! kill -0 "$held" 2>/dev/null
}
ok "its process has ended" await is_gone
rm "$tmp/hold.tips"
ok "the next one is asked again" await is_well
