#!/bin/bash
# Folders of the machine that branch code may read in the sandbox: those of sandbox.read_only in the configuration, and
# never those of a branch.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
worker_is() { # state
	[ "$(api workers | jq -r '.items[0].state')" = "$1" ]
}
sandboxed=$("$bin/flopwatch-worker" probe | jq -r .isolation)
if [ "$sandboxed" != bwrap ]; then
	echo "1..0 # SKIP no sandbox here"
	exit 0
fi

# ---- a toolchain outside of the system's folders, a program that needs it, and one that names it itself ----------------------
chmod 755 "$tmp"
mkdir -p "$tmp/toolchain/bin" "$tmp/secret"
echo hidden >"$tmp/secret/key"
cat >"$tmp/toolchain/bin/measure" <<SH
#!/bin/sh
touch $tmp/toolchain/written 2>/dev/null && exit 5
cat $tmp/secret/key 2>/dev/null && exit 6
echo '{"cell":"wait","ms":[1.0,1.0]}'
SH
chmod 755 "$tmp/toolchain/bin/measure"
git init -q --bare -b main "$tmp/tools.git"
git init -q -b main "$tmp/tools"
git -C "$tmp/tools" remote add origin "$tmp/tools.git"
cat >"$tmp/tools/.flopwatch.yaml" <<YAML
flopwatch: 1
build: {dir: ., command: [$tmp/toolchain/bin/measure]}
benchmarks: {wait: {command: [$tmp/toolchain/bin/measure], reader: flopwatch, budget_s: 20}}
YAML
commit tools first
push tools main

write_config 'workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]' "repos: [{name: tools, url: $tmp/tools.git}]"
start_daemon || exit 1
await job_ended "$(head_of tools)"
like "without it the toolchain is not there" "$(why_of "$(head_of tools)")$(api comparisons/1 | jq -r '.cells[0].reason')" 'exit 127: a program or library may be missing|a program was not found|No such file'
stop_daemon

# ---- shown ---------------------------------------------------------------------------------------------------------------------
write_config "sandbox: {mode: required, read_only: [$tmp/toolchain]}" \
	'workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]' "repos: [{name: tools, url: $tmp/tools.git}]"
ok "the configuration is accepted" "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
start_daemon
echo more >"$tmp/tools/README"
commit tools "measured with it"
push tools main
await job_ended "$(head_of tools)"
body=$(api "comparisons/$(job_field "$(job_of "$(head_of tools)")" comparison)")
is "build and runs read it, and write and see nothing else" "$(jq -c '[.verdict, .cells[0].cell, .cells[0].target.median_ms]' <<<"$body")" '["unchanged","wait",1]'
await worker_is free
is "the worker says what it shows" "$(api workers | jq -c '.items[0].read_only')" "[\"$tmp/toolchain\"]"
like "so does doctor" "$(fw doctor)" "ok +worker +cpu is free, shows $tmp/toolchain"
cat >>"$tmp/tools/.flopwatch.yaml" <<'YAML'
sandbox: {read_only: [/]}
YAML
commit tools "a branch asks for more"
push tools main
await job_ended "$(head_of tools)"
like "a branch has no say in it" "$(why_of "$(head_of tools)")" '\.flopwatch\.yaml:[0-9]+:[0-9]+: sandbox: unknown key'
stop_daemon

# ---- refused -------------------------------------------------------------------------------------------------------------------
write_config "sandbox: {read_only: [$tmp/state, /root]}" "repos: [{name: tools, url: $tmp/tools.git}]"
fails "what may not be shown" 2 "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
like "is a mistake with its place" "$out" "c.yml:[0-9]+:[0-9]+: sandbox.read_only\\[0\\]: $tmp/state overlaps state_dir or cache_dir"
like "each of them" "$out" 'sandbox.read_only\[1\]: /root is too much'
cat >"$tmp/other-worker" <<SH
#!/bin/sh
exec $bin/flopwatch-worker serve --device sim --cache $tmp/cache \$(cat $tmp/options)
SH
chmod 755 "$tmp/other-worker"
: >"$tmp/options"
write_config "sandbox: {read_only: [$tmp/toolchain]}" "workers: [{name: own, command: [$tmp/other-worker]}]" \
	"repos: [{name: tools, url: $tmp/tools.git}]"
start_daemon
await worker_is down
fails "doctor fails where a worker does not show it" 1 fw doctor
like "and names the remedy" "$out" "fail +worker +own is down: the worker does not show $tmp/toolchain, which sandbox.read_only requires: start it with --read-only $tmp/toolchain"
put "$tmp/options" "--read-only $tmp/toolchain"
await worker_is free
ok "then it works" fw doctor
stop_daemon
echo "--read-only $tmp/nowhere" >"$tmp/options"
start_daemon
await worker_is down
like "a missing folder is reported with the worker's text" "$(api workers | jq -r '.items[0].why')" "--read-only: $tmp/nowhere is not a folder on this machine"
stop_daemon
