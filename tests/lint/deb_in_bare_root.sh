#!/bin/bash
# `make check-deb`: lintian on the package in build/deb; then a Debian with only the package's dependencies boots with its systemd, and the package
# is installed there: both units start, two pushes get their verdicts, a reload, a full disk, an upgrade during a job, a removal and a purge, then
# an upgrade from the package of an older commit. Prints the time of the second verdict and the ratings of systemd-analyze security. Takes minutes
# and the network, so `make test` has only a fraction of it (test_units.sh).
#
# BARE_ROOT names a tarball of a bare Debian; without it mmdebstrap makes one from this machine's package sources. OLDER_DEB names the
# older package; without it one is built of commit 91174416 as version 0.0.9.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/daemon.sh"
. "$root/tests/support/service.sh"
deb=$(ls "$root"/build/deb/flopwatch_*.deb) || exit 1
bare=${BARE_ROOT:-$root/build/bare.tar}
older_commit=91174416
older=${OLDER_DEB:-$root/build/older/$older_commit.deb}

if command -v lintian >/dev/null; then
	ok "lintian finds neither error nor warning" lintian --allow-root --fail-on error,warning "$root"/build/deb/*.changes
	is "and says nothing" "$out" ""
else
	skip "lintian finds neither error nor warning" "lintian is not installed"
fi
is "every unit is in the package" "$(dpkg-deb -c "$deb" | sed -n 's,.*/systemd/system/,,p' | grep . | sort | paste -sd' ')" \
	"$(cd "$root/systemd" && ls -- *.service *.socket | sort | paste -sd' ')"
why=$(cannot_boot)
if [ -n "$why" ]; then
	skip "the package in a bare Debian" "$why"
	exit 0
fi
if [ ! -e "$bare" ] && ! command -v mmdebstrap >/dev/null; then
	skip "the package in a bare Debian" "mmdebstrap is not installed, and BARE_ROOT names none"
	exit 0
fi

# ---- the package of an older commit ----
build_older() {
	git clone -q --no-hardlinks "$root" "$tmp/older" && git -C "$tmp/older" checkout -q "$older_commit" &&
		env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u VERSION make -C "$tmp/older" deb VERSION=0.0.9 && mkdir -p "$root/build/older" &&
		cp "$tmp/older"/build/deb/flopwatch_0.0.9_*.deb "$older" && rm -rf "$tmp/older"
}
if [ ! -e "$older" ] && ! git -C "$root" cat-file -e "$older_commit^{commit}" 2>/dev/null; then
	skip "an upgrade from an older package" "commit $older_commit is not in this clone, and OLDER_DEB names no package"
	older=""
elif [ ! -e "$older" ]; then
	ok "the package of commit $older_commit is built" build_older
fi

# ---- a bare Debian, with the package's dependencies ----
if [ ! -e "$bare" ]; then
	shopt -s nullglob
	sources=(/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list)
	shopt -u nullglob
	for source in "${sources[@]}"; do [ -e "$source" ] && break; done
	ok "a bare Debian is made" mmdebstrap --quiet --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "${bare%.tar}.new.tar" "$source"
	mv "${bare%.tar}.new.tar" "$bare" || exit 1
fi
bare_root=$tmp/root
mkdir "$bare_root"
tar -xf "$bare" -C "$bare_root" --exclude='./dev/*'
cp -L /etc/resolv.conf "$bare_root/etc/resolv.conf"
cp "$deb" "$bare_root/srv/flopwatch.deb"
[ -z "$older" ] || cp "$older" "$bare_root/srv/older.deb"
printf '#!/bin/sh\nexit 101\n' >"$bare_root/usr/sbin/policy-rc.d" # there is no init yet that could start anything
chmod 755 "$bare_root/usr/sbin/policy-rc.d"
apt() { within "$bare_root" apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
ok "its lists are read" apt update
ok "what the package depends on is there, and what builds and pushes" apt satisfy "$(dpkg-deb -f "$deb" Depends), systemd, gcc, git, libc6-dev, make"
fails "there is no group for a unit to name that comes with other packages" 2 within "$bare_root" getent group render
rm "$bare_root/usr/sbin/policy-rc.d"
boot "$bare_root" || exit 1
is "it boots, with systemd as its first process" "$(inside cat /proc/1/comm)" systemd
is "and nothing failed" "$(inside systemctl list-units --failed --no-legend --plain)" ""
all_files() { # without the state of packages, systemd and the linker, and the backups of user databases
	(cd "$bare_root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/tmp -o -path ./srv \
		-o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache/apt -o -path './var/lib/apt/*' -o -path ./var/cache/ldconfig \
		-o -path './var/lib/systemd/[rtcp]*' -o -name '*-' -o -name .pwd.lock \) -prune -o -printf '%y %m %u:%g %p\n' | sort)
}
all_files >"$tmp/before"
users() { grep -ho '^flopwatch[^:]*' "$bare_root/etc/passwd" "$bare_root/etc/group" | sort | paste -sd' '; }
no_workers() { [ -z "$(worker_processes)" ]; }

# ---- installed ----
began=$SECONDS
ok "the package installs" inside dpkg -i /srv/flopwatch.deb
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|[Ff]ailed'
is "dpkg has it whole" "$(inside dpkg-query -W -f '${Status}' flopwatch)" "install ok installed"
is "and finds no file changed" "$(inside dpkg -V flopwatch)" ""
is "its users are there" "$(users)" "flopwatch flopwatch flopwatch-run flopwatch-run"
is "the daemon's user alone reads the configuration" "$(inside stat -c '%U:%G %a' /etc/flopwatch/flopwatchd.yml)" "root:flopwatch 640"
is "the state is its own" "$(inside stat -c '%U %a' /var/lib/flopwatch)" "flopwatch 700"
is "the units are enabled" "$(inside systemctl is-enabled flopwatchd.service flopwatch-worker.socket | paste -sd' ')" "enabled enabled"
is "and run" "$(inside systemctl is-active flopwatchd.service flopwatch-worker.socket | paste -sd' ')" "active active"
version=$(dpkg-deb -f "$deb" Version)
is "the version is the package's" "$(inside flopwatch --version)" "flopwatch $version"
like "the configuration that comes with it is good" "$(inside flopwatch config check 2>&1)" ': fine; '
is "it is well" "$(healthz | head -n 1)" 200
worker_is_up() { [[ $(inside flopwatch devices) =~ $1 ]]; }
ok "a worker says what there is" await worker_is_up 'cpu-.* ok '
unlike "and nothing was refused to it" "$(inside journalctl -u 'flopwatch*' --no-pager)" 'worker\.down|not permitted|Function not implemented'
like "its group for GPUs comes with its user" "$(inside id -nG flopwatch-run)" 'video'

# ---- two pushes, measured ----
watch_kernels
ok "a reload takes a repository" inside systemctl reload flopwatchd.service
inside systemctl restart flopwatchd.service # a changed `device` of a worker applies from the next start on
push_there main
branch kernels equal main
echo 'int nobody_calls_this(int a) { return 3 * a; }' >>"$tmp/kernels/kernels/good.c"
commit kernels "what nobody calls"
push_there equal
branch kernels slower main
echo 1.2 >"$tmp/kernels/kernels/factor"
commit kernels "a fifth slower"
while sleep 0.05; do worker_processes; done >"$tmp/seen" &
seeing=$!
push_there slower
is "main is judged" "$(verdict_of main)" 0 || exit 1
is "a push that changes nothing is" "$(verdict_of equal)" 0
is "and the loss of another is found" "$(verdict_of slower)" 3
printf '# from the installation to the second verdict: %d:%02d minutes\n' $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60))
kill $seeing
wait $seeing 2>/dev/null
sort "$tmp/seen" | uniq -c | sed 's/^/# /'
like "they were measured" "$(cat "$tmp/seen")" ' flopwatch-runne '
like "in a sandbox" "$(inside journalctl -u flopwatchd --no-pager)" 'ev=worker.up .* isolation=bwrap'
outer=$(inside id -u flopwatch-run)
is "no process of a build or a measurement is root here" "$(no_systemd <"$tmp/seen" | awk -v u="$outer/$outer" '$1 != u' | sort -u)" ""
is "or has a capability, but bubblewrap within its own namespace" "$(no_systemd <"$tmp/seen" | awk '$2 != "bwrap" && ($3 !~ /^0+$/ || $4 != 1)' | sort -u)" ""

# ---- how much the units may do ----
for unit in flopwatchd.service:1.2 flopwatch-worker@.service:2.2; do
	found=$(exposure "${unit%:*}")
	echo "# systemd-analyze security: ${unit%:*} $found"
	ok "the exposure of ${unit%:*} is ${unit#*:} at most" exposed_at_most "${unit%:*}" "${unit#*:}"
done

# ---- reload ----
inside sed -i 's/^limits: {build: 15 min/limits: {build: 14 min/' /etc/flopwatch/flopwatchd.yml
ok "a reload" inside systemctl reload flopwatchd.service
reloaded() { inside journalctl -u flopwatchd --no-pager | grep -q 'ev=config.read'; }
ok "is taken" await reloaded
inside sed -i 's/^limits: {build: 14 min/limits: {build: 14 moons/' /etc/flopwatch/flopwatchd.yml
fails "a reload of a wrong configuration" 1 inside systemctl reload flopwatchd.service
like "says what is wrong" "$(inside journalctl -u flopwatchd --no-pager)" 'moons'
is "and the daemon continues" "$(healthz | head -n 1)" 200
inside sed -i 's/14 moons/15 min/' /etc/flopwatch/flopwatchd.yml
inside systemctl reload flopwatchd.service

# ---- a full disk ----
had=$(inside flopwatch status --repo kernels | grep -c -E 'unchanged|regression')
inside systemctl stop flopwatchd.service
inside sh -c 'mkdir /run/state && cp -a /var/lib/flopwatch/. /run/state && mount -t tmpfs -o size=160m,mode=700 state /var/lib/flopwatch &&
	chown flopwatch:flopwatch /var/lib/flopwatch && cp -a /run/state/. /var/lib/flopwatch && rm -rf /run/state'
inside systemctl start flopwatchd.service
inside sh -c 'head -c 200M /dev/zero >/var/lib/flopwatch/of-somebody-else' 2>/dev/null
branch kernels later main
echo 1.3 >"$tmp/kernels/kernels/factor"
commit kernels "pushed while the disk is full"
push_there later
says_full() { healthz | head -n 1 | grep -q 503; }
ok "the daemon says that its disk is full" await says_full
like "as a sentence" "$(healthz)" 'free|full|cannot be written'
like "and in the journal" "$(inside journalctl -u flopwatchd --no-pager)" 'ev=(db.down|disk)'
is "it runs on" "$(inside systemctl is-active flopwatchd.service)" active
is "and shows what it had" "$(inside flopwatch status --repo kernels | grep -c -E 'unchanged|regression')" "$had"
inside rm /var/lib/flopwatch/of-somebody-else
is "when there is room the push is judged" "$(verdict_of later)" 3
is "and it is well" "$(healthz | head -n 1)" 200
inside systemctl stop flopwatchd.service
like "its database is whole" "$(inside flopwatchd --check /var/lib/flopwatch/flopwatch.db 2>&1; echo "exit $?")" 'exit 0$'
inside sh -c 'mkdir /run/state && cp -a /var/lib/flopwatch/. /run/state && umount /var/lib/flopwatch && cp -a /run/state/. /var/lib/flopwatch && rm -rf /run/state'
inside systemctl start flopwatchd.service

# ---- an upgrade during a job ----
mkdir "$tmp/next"
dpkg-deb -R "$deb" "$tmp/next"
sed -i "s/^Version: .*/&+next/" "$tmp/next/DEBIAN/control"
dpkg-deb --root-owner-group -b "$tmp/next" "$bare_root/srv/next.deb" >/dev/null
branch kernels long main
echo 'until [ -e go ]; do sleep 0.05; done' >"$tmp/kernels/kernels/recipe"
echo 1.25 >"$tmp/kernels/kernels/factor"
commit kernels "its build waits"
push_there long
builds() { inside test -d /var/cache/flopwatch-worker/job/kernels && worker_processes | grep -q ' sleep '; }
ok "a build runs" await builds
ok "the package is upgraded" inside dpkg --force-confold -i /srv/next.deb
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|[Ff]ailed'
is "to the next version" "$(inside dpkg-query -W -f '${Version}' flopwatch)" "$version+next"
is "the units run" "$(inside systemctl is-active flopwatchd.service flopwatch-worker.socket | paste -sd' ')" "active active"
go() { inside sh -c 'touch /var/cache/flopwatch-worker/job/kernels/go' 2>/dev/null; inside flopwatch jobs --state done 2>/dev/null | grep -q ' long '; }
ok "the build begins again" await builds
await go
is "and the job is judged" "$(verdict_of long)" 3

# ---- removed ----
branch kernels last main
echo 'until [ -e go ]; do sleep 0.05; done' >"$tmp/kernels/kernels/recipe"
commit kernels "is never judged"
push_there last
ok "another build runs" await builds
ok "removed" inside dpkg --remove flopwatch
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|[Ff]ailed'
ok "no process of it is left" no_workers
is "nor of its users" "$(inside bash -c 'for p in /proc/[0-9]*; do stat -c %U "$p"; done' 2>/dev/null | grep flopwatch)" ""
ok "the database stays" test -s "$bare_root/var/lib/flopwatch/flopwatch.db"
ok "and the configuration" test -s "$bare_root/etc/flopwatch/flopwatchd.yml"
is "but no unit" "$(inside systemctl list-unit-files --no-legend 'flopwatch*' | grep -v masked)" ""
ok "purged" inside dpkg --purge flopwatch
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|[Ff]ailed'
all_files >"$tmp/after"
is "nothing is left" "$(diff "$tmp/before" "$tmp/after")" ""
is "and no user" "$(users)" ""
is "and no unit failed" "$(inside systemctl list-units --failed --no-legend --plain)" ""

# ---- an upgrade from an older package ----
[ -n "$older" ] || exit 0
inside rm -rf /srv/kernels.git
ok "the older package installs" inside dpkg -i /srv/older.deb
watch_kernels
inside systemctl restart flopwatch-worker.socket flopwatchd.service
branch kernels slower slower
push_there slower
git -C "$tmp/kernels" checkout -q main
push_there main
ok "it is upgraded" inside dpkg --force-confold -i /srv/flopwatch.deb
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|[Ff]ailed'
said_so() { inside journalctl -u flopwatchd --no-pager | grep -q 'ev=database.carried .*from=91174416'; }
ok "the database of the older package is carried over" await said_so
ok "and remains next to the new one" inside test -s /var/lib/flopwatch/flopwatch.db.91174416
is "the units run" "$(inside systemctl is-active flopwatchd.service flopwatch-worker.socket | paste -sd' ')" "active active"
is "and the push that waited is judged" "$(verdict_of slower)" 3
ok "purged" inside dpkg --purge flopwatch
all_files >"$tmp/after"
is "nothing is left" "$(diff "$tmp/before" "$tmp/after")" ""
