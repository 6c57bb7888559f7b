#!/bin/bash
# `make install`: every file at its path, the programs find each other there, systemd accepts the units and rates them as hardened.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
dest=$tmp/dest
install_into() { make --no-print-directory -s -C "$root" install DESTDIR="$1" "${@:2}"; }
ok "make install DESTDIR=" install_into "$dest"
for file in usr/bin/flopwatch usr/sbin/flopwatchd usr/libexec/flopwatch/flopwatch-git usr/libexec/flopwatch/flopwatch-worker \
	usr/libexec/flopwatch/flopwatch-runner usr/libexec/flopwatch/flopwatch-send; do
	is "$file is a program" "$(stat -c %a "$dest/$file")" 755
done
for file in usr/include/flopwatch/fw_kernel.h usr/include/flopwatch/fw_attention.h usr/include/flopwatch/fw_linear.h usr/share/doc/flopwatch/doc/families/linear.md usr/share/doc/flopwatch/doc/internals/adding.md usr/include/flopwatch/flopwatch.h usr/include/flopwatch/flopwatch_benchmark.h usr/include/flopwatch/flopwatch_nvbench.h usr/share/flopwatch/kit/flopwatch_benchmark.h usr/share/flopwatch/kit/before/benchmark/benchmark.h usr/share/flopwatch/kit/flopwatch.py usr/share/doc/flopwatch/doc/interleave.md usr/share/doc/flopwatch/doc/comparison.svg usr/share/flopwatch/suites/ffa.yaml usr/share/flopwatch/grafana/flopwatch.json usr/share/flopwatch/prometheus/flopwatch.rules.yml usr/share/flopwatch/suites/ffa-smoke.yaml \
	usr/lib/sysusers.d/flopwatch.conf usr/lib/tmpfiles.d/flopwatch.conf usr/share/doc/flopwatch/README.md \
	usr/lib/systemd/system/flopwatchd.service usr/lib/systemd/system/flopwatch-worker@.service \
	usr/lib/systemd/system/flopwatch-worker.socket usr/share/bash-completion/completions/flopwatch \
	usr/share/zsh/vendor-completions/_flopwatch usr/share/fish/vendor_completions.d/flopwatch.fish; do
	is "$file is a file" "$(stat -c %a "$dest/$file")" 644
done
is "the configuration is for its readers" "$(stat -c %a "$dest/etc/flopwatch/flopwatchd.yml")" 640
is "nothing else is written" "$(cd "$dest" && find . -mindepth 1 -maxdepth 2 | sort | paste -sd' ')" \
	"./etc ./etc/flopwatch ./usr ./usr/bin ./usr/include ./usr/lib ./usr/libexec ./usr/sbin ./usr/share"

echo '# mine' >>"$dest/etc/flopwatch/flopwatchd.yml"
ok "installing again" install_into "$dest"
is "keeps the administrator's configuration" "$(tail -n 1 "$dest/etc/flopwatch/flopwatchd.yml")" "# mine"
ok "with another prefix" env PREFIX=/opt/flopwatch make --no-print-directory -s -C "$root" install DESTDIR="$tmp/opt" PREFIX=/opt/flopwatch
ok "programs go there" test -x "$tmp/opt/opt/flopwatch/bin/flopwatch"
is "and the units know it" "$(grep -ho '^ExecStart=[^ ]*' "$tmp/opt"/usr/lib/systemd/system/*.service | sort | paste -sd' ')" \
	"ExecStart=/opt/flopwatch/libexec/flopwatch/flopwatch-worker ExecStart=/opt/flopwatch/sbin/flopwatchd"
like "so does the configuration" "$(cat "$tmp/opt/etc/flopwatch/flopwatchd.yml")" '^suites_dir: /opt/flopwatch/share/flopwatch/suites '

# ---- uninstall ----
uninstall_from() { make --no-print-directory -s -C "$root" uninstall DESTDIR="$1" "${@:2}"; }
fails "where nothing was installed, make uninstall reports that" 2 uninstall_from "$tmp/nothing"
like "in one sentence" "$out" "there is no $tmp/nothing/usr/share/flopwatch/MANIFEST, so nothing is removed"
for prefix in /usr /opt/flopwatch; do
	taken=$tmp/taken$prefix
	private_install() { (umask 077 && install_into "$taken" PREFIX=$prefix); }
	ok "make install under $prefix by a root with umask 077" private_install
	is "opens its folders to everybody" "$(find "$taken" -mindepth 1 -type d ! -perm 755)" ""
	is "and its files, but the configuration" "$(find "$taken" -type f ! -perm 644 ! -perm 755 -printf '%m %P\n')" "640 etc/flopwatch/flopwatchd.yml"
	ok "make uninstall" uninstall_from "$taken" PREFIX=$prefix
	is "leaves nothing of it" "$(find "$taken" -mindepth 1)" ""
done

others=$tmp/others
mkdir -p "$others/usr/bin" "$others/usr/share/man/man1" "$others/usr/include/flopwatch" "$others/usr/share/empty"
echo other >"$others/usr/bin/other"
find "$others" -mindepth 1 -printf '%y %m %P\n' | sort >"$tmp/others.before"
install_into "$others" >/dev/null
echo other >"$others/usr/share/man/man1/other.1"
mkdir -p "$others/var/lib/flopwatch"
: >"$others/var/lib/flopwatch/flopwatch.db"
echo "file 0123 /usr/bin/of-an-older-version" >>"$others/usr/share/flopwatch/MANIFEST"
printf old >"$others/usr/bin/flopwatch-old"
echo "file $(printf old | sha256sum | cut -d' ' -f1) /usr/bin/flopwatch-old" >>"$others/usr/share/flopwatch/MANIFEST"
install_into "$others" >/dev/null
echo "# another" >>"$others/usr/lib/systemd/system/flopwatchd.service"
echo '# mine' >>"$others/etc/flopwatch/flopwatchd.yml"
mkdir -p "$others/etc/systemd/system/multi-user.target.wants"
ln -s /usr/lib/systemd/system/flopwatchd.service "$others/etc/systemd/system/multi-user.target.wants/"
fails "while its units are enabled it stays" 2 uninstall_from "$others"
like "and it says what to do first" "$out" "systemctl disable --now flopwatchd.service flopwatch-worker.socket"
ok "as it was" test -x "$others/usr/sbin/flopwatchd"
rm -r "$others/etc/systemd"
ok "make uninstall next to foreign files, after an upgrade" uninstall_from "$others"
is "names the two files that were changed" "$(grep -c "^left, because it was changed since it was installed: $others/" <<<"$out")" 2
is "leaves these, the state, and what is not its own" "$(find "$others" -type f -printf '%P\n' | sort | paste -sd' ')" \
	"etc/flopwatch/flopwatchd.yml usr/bin/other usr/lib/systemd/system/flopwatchd.service usr/share/man/man1/other.1 var/lib/flopwatch/flopwatch.db"
rm -r "$others/etc" "$others/var" "$others/usr/lib" "$others/usr/share/man/man1/other.1"
is "and the folders that were there before" "$(find "$others" -mindepth 1 -printf '%y %m %P\n' | sort)" "$(cat "$tmp/others.before")"

# ---- without scdoc ----
mkdir "$tmp/path"
for folder in /usr/bin /bin; do ln -sf -t "$tmp/path" "$folder"/*; done
rm -f "$tmp/path/scdoc"
ok "make install where scdoc is missing" env PATH="$tmp/path" PREFIX=/usr DESTDIR="$tmp/pageless" "$root/etc/install.sh"
is "says in its last line what is missing and what to do" "$(tail -n 1 <<<"$out")" \
	"no man pages were installed, because scdoc is missing; \`apt-get install scdoc\`, then \`make install\` again, adds them"
fails "and there are none" 1 test -e "$tmp/pageless/usr/share/man"

# ---- the installed programs ----
out=$(env PATH=/usr/bin:/bin "$dest/usr/bin/flopwatch" config check "$dest/etc/flopwatch/flopwatchd.yml" 2>&1)
like "the CLI finds the daemon next to it, and the shipped configuration is valid" "$out" 'fine; 0 repositories, 1 worker,'
like "and so does the daemon the programs that it starts" "$out" "^ok    program     $dest/usr/.*/flopwatch-git\$"
ok "the worker finds its runner" env PATH=/usr/bin:/bin "$dest/usr/libexec/flopwatch/flopwatch-worker" probe
like "and says what there is" "$out" '"t":"hello"'

# ---- man pages ----
if command -v scdoc >/dev/null; then
	for page in man1/flopwatch.1 man1/flopwatch-wait.1 man5/flopwatchd.yml.5 man5/flopwatch.yaml.5 man8/flopwatchd.8 man8/flopwatch-worker.8 man8/flopwatch-runner.8 \
		man8/flopwatch-git.8 man8/flopwatch-send.8; do
		ok "$page is there" test -s "$dest/usr/share/man/$page"
		if command -v man >/dev/null && command -v groff >/dev/null; then
			warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$dest/usr/share/man/$page" 2>&1 >"$tmp/page")
			is "$page renders without a warning" "$warnings" ""
			like "$page is a page" "$(cat "$tmp/page")" 'flopwatch'
		else
			skip "$page renders" "man or groff is not installed"
		fi
	done
	for verb in $("$bin/flopwatch" completion verbs); do
		ok "flopwatch-$verb(1) is there" grep -q "flopwatch-$verb - " "$dest/usr/share/man/man1/flopwatch-$verb.1"
		like "flopwatch(1) knows $verb" "$(cat "$root/etc/man/flopwatch.1.scd")" "\*$verb[* ]"
	done
else
	skip "man pages" "scdoc is not installed"
fi

# ---- systemd ----
if ! command -v systemd-analyze >/dev/null; then
	skip "units verify" "systemd-analyze is not installed"
	skip "units are hardened" "systemd-analyze is not installed"
	exit 0
fi
# files that the units name and a bare root does not have
mkdir -p "$dest/bin" "$dest/lib/systemd/system"
cp /bin/kill "$dest/bin/"
cp -r /lib/systemd/system/*.target "$dest/lib/systemd/system/" 2>/dev/null
verify() { systemd-analyze verify --man=no --root="$dest" "$@" 2>&1; }
for unit in flopwatchd.service flopwatch-worker.socket flopwatch-worker@.service; do
	out=$(verify "$unit")
	is "$unit verifies" "$? $out" "0 "
done
sed -i 's/^RestrictRealtime=yes/RestrictRealTime=yes/' "$dest/usr/lib/systemd/system/flopwatchd.service"
like "and the check would see a wrong word" "$(verify flopwatchd.service)" "Unknown key.*RestrictRealTime"
ok "the second install" install_into "$dest"
security() { systemd-analyze security --offline=true --no-pager --root="$dest" --threshold="$1" "$2"; }
ok "flopwatchd.service is exposed by at most 2.0" security 20 flopwatchd.service
ok "flopwatch-worker@.service by at most 3.0" security 30 flopwatch-worker@.service
fails "and the check would see a bare one" 1 security 5 flopwatchd.service
if command -v systemd-sysusers >/dev/null; then
	ok "users are understood" systemd-sysusers --dry-run "$dest/usr/lib/sysusers.d/flopwatch.conf"
	like "both of them" "$out" 'flopwatch-run'
	if [ "$(id -u)" = 0 ] && command -v systemd-tmpfiles >/dev/null; then
		ok "they are made" systemd-sysusers --root="$dest"
		ok "and their folders" systemd-tmpfiles --root="$dest" --create
		is "the daemon's user may read its configuration" "$(stat -c '%u:%g %a' "$dest/etc/flopwatch/flopwatchd.yml")" "0:$(sed -n 's/^flopwatch:[^:]*:\([0-9]*\).*/\1/p' "$dest/etc/group") 640"
	else
		skip "they are made" "only root makes users"
	fi
else
	skip "users are understood" "systemd-sysusers is not installed"
fi
