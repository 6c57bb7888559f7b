#!/bin/bash
# The installed files of `make install` as services under a real systemd: this machine's tree, overlaid with the installation, boots in separate
# namespaces. Both units start, two pushes are measured within them, and a wrong configuration is rejected. `make check-deb` does the same, and
# more, with the package in a bare Debian.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/daemon.sh"
. "$root/tests/support/service.sh"
why=$(cannot_boot)
[ -n "$why" ] || [ -x /lib/systemd/systemd ] || why="systemd is not installed"
if [ -n "$why" ]; then
	skip "the units under systemd" "$why"
	exit 0
fi
mkdir "$tmp/over" "$tmp/place"
ok "it is installed in a folder" env DESTDIR="$tmp/over" PREFIX=/usr "$root/etc/install.sh"
boot --over "$tmp/over" "$tmp/place" || exit 1
is "the tree boots, with systemd as its first process" "$(inside cat /proc/1/comm)" systemd

# ---- as in README ----
ok "users and folders are made" inside sh -c 'systemd-sysusers && systemd-tmpfiles --create flopwatch.conf && systemctl daemon-reload'
watch_kernels
ok "the units start" inside systemctl enable --now flopwatch-worker.socket flopwatchd
is "and run" "$(inside systemctl is-active flopwatchd.service flopwatch-worker.socket | paste -sd' ')" "active active"

# ---- two pushes, measured ----
push_there main
is "main is judged" "$(verdict_of main)" 0 || exit 1
while sleep 0.05; do worker_processes; done >"$tmp/seen" &
seeing=$!
branch kernels equal main
echo 'int nobody_calls_this(int a) { return 3 * a; }' >>"$tmp/kernels/kernels/good.c"
commit kernels "what nobody calls"
push_there equal
branch kernels slower main
echo 1.2 >"$tmp/kernels/kernels/factor"
commit kernels "a fifth slower"
push_there slower
is "a push that changes nothing is judged so" "$(verdict_of equal)" 0
is "and the loss of another is found" "$(verdict_of slower)" 3
kill $seeing
wait $seeing 2>/dev/null
like "in a sandbox" "$(inside journalctl -u flopwatchd --no-pager)" 'ev=worker.up .* isolation=bwrap'
like "they were measured" "$(cat "$tmp/seen")" ' flopwatch-runne '
own=$(inside id -u flopwatch-run)
is "no process of a build or a measurement is root here" "$(no_systemd <"$tmp/seen" | awk -v u="$own/$own" '$1 != u' | sort -u)" ""
is "or has a capability, but bubblewrap within its own namespace" "$(no_systemd <"$tmp/seen" | awk '$2 != "bwrap" && ($3 !~ /^0+$/ || $4 != 1)' | sort -u)" ""

# ---- how much the units may do ----
for unit in flopwatchd.service:1.2 flopwatch-worker@.service:2.2; do
	ok "the exposure of ${unit%:*} is ${unit#*:} at most: $(exposure "${unit%:*}")" exposed_at_most "${unit%:*}" "${unit#*:}"
done

# ---- reload ----
ok "a reload of a right configuration" inside systemctl reload flopwatchd.service
inside sed -i 's/^limits: {build: 15 min/limits: {build: 15 moons/' /etc/flopwatch/flopwatchd.yml
fails "a reload of a wrong one" 1 inside systemctl reload flopwatchd.service
like "says what is wrong" "$(inside journalctl -u flopwatchd --no-pager)" 'moons'
is "and the daemon continues" "$(healthz | head -n 1)" 200
inside sed -i 's/15 moons/15 min/' /etc/flopwatch/flopwatchd.yml
inside sed -i 's/^limits: {build: 15 min/limits: {build: 15 moons/' /etc/flopwatch/flopwatchd.yml
inside systemctl restart flopwatchd.service >/dev/null 2>&1
failed() { inside systemctl is-failed --quiet flopwatchd.service; }
ok "a start with it fails" await failed
is "and no other one is due" "$(inside systemctl show -P SubState flopwatchd.service)" failed
inside sed -i 's/15 moons/15 min/' /etc/flopwatch/flopwatchd.yml
ok "until a user starts it" inside systemctl start flopwatchd.service

# ---- units that an administrator restricted too far ----
drop_in() { # setting
	inside sh -c 'mkdir -p /etc/systemd/system/flopwatch-worker@.service.d && printf "[Service]\n%s\n" "$1" >/etc/systemd/system/flopwatch-worker@.service.d/x.conf &&
		systemctl daemon-reload && systemctl restart flopwatchd.service' sh "$1"
}
journal_says() { inside journalctl -u 'flopwatch*' --no-pager | grep -q "$1"; }
drop_in RestrictNamespaces=yes
doctor_says() { inside flopwatch doctor 2>&1 | grep -q "is down: .*$1"; }
ok "RestrictNamespaces is named where it forbids the sandbox" await journal_says 'no RestrictNamespaces= in the worker'
ok "by doctor, too" await doctor_says 'no RestrictNamespaces= in the worker'
drop_in ProcSubset=pid
ok "so is ProcSubset" await journal_says 'bubblewrap needs a complete /proc .* ProcSubset= from the worker'
inside sh -c 'rm -r /etc/systemd/system/flopwatch-worker@.service.d && systemctl daemon-reload && systemctl restart flopwatchd.service'
worker_is_up() { inside flopwatch devices | grep -q ' ok '; }
ok "without them workers work again" await worker_is_up
inside sh -c 'chown root: /var/cache/flopwatch-worker/builds && systemctl restart flopwatchd.service'
ok "a folder of root in the cache is named" await doctor_says '/var/cache/flopwatch-worker/builds belongs to root, and the worker runs as flopwatch-run: chown it'
inside chown flopwatch-run: /var/cache/flopwatch-worker/builds
is "no unit failed" "$(inside systemctl list-units --failed --no-legend --plain | grep flopwatch)" ""
power_off
