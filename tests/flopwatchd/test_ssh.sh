#!/bin/bash
# A worker on another host: a real sshd on a port of this one. A broken connection costs the job an attempt and leaves no process on the host.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
PATH=$PATH:/usr/sbin:/sbin
if ! command -v sshd >/dev/null || ! command -v ssh-keygen >/dev/null; then
	skip "a worker behind ssh" "needs openssh-server"
	exit 0
fi
mkdir "$tmp/ssh" && chmod 700 "$tmp/ssh"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # the folder in which it drops its privileges
for key in host mine; do ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/$key"; done
cp "$tmp/ssh/mine.pub" "$tmp/ssh/authorized"
far_port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$tmp/ssh/sshd_config" <<CONF
ListenAddress 127.0.0.1:$far_port
HostKey $tmp/ssh/host
PidFile none
AuthorizedKeysFile $tmp/ssh/authorized
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
CONF
echo "[127.0.0.1]:$far_port $(cut -d ' ' -f 1,2 "$tmp/ssh/host.pub")" >"$tmp/ssh/known_hosts"
"$(command -v sshd)" -D -e -f "$tmp/ssh/sshd_config" >"$tmp/ssh/log" 2>&1 &
sshd=$!
on_exit kill "$sshd"
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$far_port") 2>/dev/null; }
ok "an sshd of our own" await listens

worker_is() { # command
	write_config "workers: [{name: far, device: sim, cache: $tmp/far, command: [$1],
  ssh: {host: 127.0.0.1, port: $far_port, user: $(id -un), key: $tmp/ssh/mine, known_hosts: $tmp/ssh/known_hosts}}]" \
		"repos: [{name: kernels, url: $tmp/kernels.git}]" "sandbox: none"
}
new_repo kernels
push kernels main
worker_is "$bin/flopwatch-worker, serve"
like "config check sees it" "$("$bin/flopwatchd" --config "$tmp/c.yml" --probe)" 'far measures on sim sim-0'
start_daemon
is "a push is judged over there" "$(result_of "$(head_of kernels)")" "done unchanged"

branch kernels held main
echo "touch $tmp/holds; until [ -e $tmp/go ]; do sleep 0.05; done" >"$tmp/kernels/kernels/recipe"
echo 0.999 >"$tmp/kernels/kernels/factor"
commit kernels held
push kernels held
sha=$(head_of kernels)
held() { [ -e "$tmp/holds" ]; }
await held
far_workers() { pgrep -f "^$bin/flopwatch-worker serve .*--cache $tmp/far" | wc -l; }
is "a job runs there" "$(far_workers)" 1
kill -9 "$(pgrep -P "$daemon_pid" -x ssh | head -n 1)"
again() { [ "$(sql "SELECT attempt FROM job WHERE id = $(job_of "$sha")")" = 2 ]; }
ok "a line that is cut costs an attempt" await again
one() { [ "$(far_workers)" = 1 ]; }
ok "and leaves no second worker there" await one
post "jobs/$(job_of "$sha")/cancel" >/dev/null
none() { [ "$(far_workers)" = 0 ]; }
ok "a cancelled job leaves none" await none
stop_daemon

worker_is "$bin/flopwatch-nothing, serve"
start_daemon
is_down() { api workers | jq -r '.items[0].why' | grep -q 'exit 127.*flopwatch-nothing'; }
ok "the other host reports what is missing" await is_down
