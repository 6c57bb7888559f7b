#!/bin/bash
# The doctor builds a module in the sandbox, and connects to everything that a configuration names, as the daemon would.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
doctor() {
	"$bin/flopwatch" --server http://127.0.0.1:9 doctor "$@" >"$tmp/said" 2>&1
}
said() { # health, what, text
	grep -qE -- "^$1 +$2 +$3" "$tmp/said" || { cat "$tmp/said"; return 1; }
}
new_repo kernels
push kernels main
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: gone, url: 'file://$tmp/gone'}]"
mkdir "$tmp/state"
doctor "$tmp/c.yml"
if "$bin/flopwatch-worker" probe --sandbox required >/dev/null 2>&1; then
	ok "a module is built and run in the sandbox" said ok build 'a module was built in the sandbox, and run there'
else
	skip "a module in the sandbox" "this machine has none"
fi
ok "a folder is written to" said ok folder "state_dir: $tmp/state is writable"
ok "a repository is read" said ok repository 'kernels can be read: 1 branch, main among them'
ok "one that cannot be is named" said fail repository 'gone: '
ok "a worker is asked" said ok worker 'sim measures on sim sim-0'
is "nothing was written there" "$(ls "$tmp/state")" ""
fails "a configuration that is not there" 1 doctor "$tmp/none.yml"
ok "is a failure, with what to do" said fail config "$tmp/none.yml: .*cannot read the configuration $tmp/none.yml: No such file or directory; copy the commented etc/flopwatchd.yml"
fails "at the first start of the daemon, too" 2 "$bin/flopwatchd" --config "$tmp/none.yml" --check-config
like "it names the remedy" "$out" 'copy the commented etc/flopwatchd.yml of the sources there .*flopwatch config check FILE'
