#!/bin/sh
# `make install`: installs programs, units, configuration and suites below DESTDIR, in the folders of the file system hierarchy.
# PREFIX/share/flopwatch/MANIFEST lists every file (with its hash) and folder that this script created; etc/uninstall.sh reads it.
set -eu
cd "$(dirname "$0")/.."
root=${DESTDIR-}
prefix=${PREFIX:-/usr}
umask 022
manifest=$prefix/share/flopwatch/MANIFEST
mkdir -p "${root:-/}"
made=$(mktemp)

make_folder() { # path below the root
	[ -d "$root$1" ] && return
	make_folder "$(dirname "$1")"
	mkdir "$root$1"
	echo "folder $1" >>"$made"
}
# Runs also if a step fails, so that the files created until then can be uninstalled. Entries of an earlier install are retained.
write_manifest() {
	make_folder "${manifest%/*}"
	[ ! -e "$root$manifest" ] || cat "$root$manifest" >>"$made"
	awk '{ path = $0; sub(/^folder /, "", path); sub(/^file [0-9a-f]+ /, "", path) } !seen[path]++' "$made" | LC_ALL=C sort >"$made.all"
	install -m 644 "$made.all" "$root$manifest"
	rm -f "$made" "$made.all"
}
trap write_manifest EXIT
record() { # path below the root of a file that was written
	sum=$(sha256sum <"$root$1")
	echo "file ${sum%% *} $1" >>"$made"
}
put() { # mode, source, folder
	make_folder "$3"
	install -m "$1" "$2" "$root$3/"
	record "$3/${2##*/}"
}
put_output() { # mode, folder, name, command...: installs the command's output
	mode=$1 folder=$2 file=$2/$3
	shift 3
	make_folder "$folder"
	"$@" >"$root$file.new" || { rm -f "$root$file.new"; exit 1; }
	chmod "$mode" "$root$file.new"
	mv "$root$file.new" "$root$file"
	record "$file"
}
put_text() { # mode, source, folder, name: installs a text that contains paths below /usr, adapted to the prefix
	put_output "$1" "$3" "$4" sed -E "s,/usr/(sbin|libexec/flopwatch|share/flopwatch),$prefix/\\1,g" "$2"
}
print_page() { scdoc <"$1"; }
print_verb_page() { build/bin/flopwatch completion "man:$1" | scdoc; }
put 755 build/bin/flopwatch "$prefix/bin"
put 755 build/bin/flopwatchd "$prefix/sbin"
for program in flopwatch-git flopwatch-worker flopwatch-runner flopwatch-send; do
	put 755 "build/bin/$program" "$prefix/libexec/flopwatch"
done
for header in kernels/fw_*.h; do put 644 "$header" "$prefix/include/flopwatch"; done
for file in flopwatch.h flopwatch_benchmark.h flopwatch_nvbench.h; do put 644 "daemon/kit/$file" "$prefix/include/flopwatch"; done
for file in flopwatch.h flopwatch_benchmark.h flopwatch_nvbench.h flopwatch.py; do put 644 "daemon/kit/$file" "$prefix/share/flopwatch/kit"; done
put 644 daemon/kit/before/benchmark/benchmark.h "$prefix/share/flopwatch/kit/before/benchmark"
for suite in etc/suites/*.yaml; do put 644 "$suite" "$prefix/share/flopwatch/suites"; done
put 755 etc/ci/comment.sh "$prefix/share/flopwatch/ci"
put 644 etc/grafana/flopwatch.json "$prefix/share/flopwatch/grafana"
put 644 etc/prometheus/flopwatch.rules.yml "$prefix/share/flopwatch/prometheus"
# systemd reads this folder for every prefix
for unit in systemd/*.service systemd/*.socket; do put_text 644 "$unit" /usr/lib/systemd/system "$(basename "$unit")"; done
put_text 644 systemd/flopwatch.sysusers /usr/lib/sysusers.d flopwatch.conf
put_text 644 systemd/flopwatch.tmpfiles /usr/lib/tmpfiles.d flopwatch.conf
if [ ! -e "$root/etc/flopwatch/flopwatchd.yml" ]; then # an existing configuration belongs to the administrator
	put_text 640 etc/flopwatchd.yml /etc/flopwatch flopwatchd.yml
fi
put 644 README.md "$prefix/share/doc/flopwatch"
for page in ARCHITECTURE.md CONTRIBUTING.md SECURITY.md LICENSE; do put 644 "$page" "$prefix/share/doc/flopwatch"; done
for page in doc/*.*; do put 644 "$page" "$prefix/share/doc/flopwatch/doc"; done
for page in doc/families/*.md doc/howto/*.md doc/internals/*.md; do put 644 "$page" "$prefix/share/doc/flopwatch/${page%/*}"; done
find doc/examples -type f | while read -r file; do put 644 "$file" "$prefix/share/doc/flopwatch/$(dirname "$file")"; done
if command -v python3 >/dev/null; then
	etc/reference.py build/doc/reference build/bin/flopwatch
	for page in build/doc/reference/*.md; do put 644 "$page" "$prefix/share/doc/flopwatch/doc/reference"; done
fi
if command -v scdoc >/dev/null; then
	for page in etc/man/*.scd; do
		name=$(basename "$page" .scd)
		put_output 644 "$prefix/share/man/man${name##*.}" "$name" print_page "$page"
	done
	for verb in $(build/bin/flopwatch completion verbs); do
		put_output 644 "$prefix/share/man/man1" "flopwatch-$verb.1" print_verb_page "$verb"
	done
fi
for shell in bash:bash-completion/completions/flopwatch zsh:zsh/vendor-completions/_flopwatch fish:fish/vendor_completions.d/flopwatch.fish; do
	place=${shell#*:}
	put_output 644 "$prefix/share/${place%/*}" "${place##*/}" build/bin/flopwatch completion "${shell%%:*}"
done
put 755 etc/pre-push "$prefix/share/doc/flopwatch/examples"
echo "installed under ${root:-/}"
[ -n "$root" ] || echo "next, as root: systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload && systemctl enable --now flopwatch-worker.socket flopwatchd"
command -v scdoc >/dev/null ||
	echo "no man pages were installed, because scdoc is missing; \`apt-get install scdoc\`, then \`make install\` again, adds them" >&2
