#!/bin/sh
# `make install`: programs, units, configuration and suites into DESTDIR, in the places of the file system hierarchy.
set -eu
cd "$(dirname "$0")/.."
root=${DESTDIR-}
prefix=${PREFIX:-/usr}

put() { # mode, source, folder
	mkdir -p "$root$3"
	install -m "$1" "$2" "$root$3/"
}
put_text() { # mode, source, folder, name: a text that names our places below /usr
	mkdir -p "$root$3"
	sed -E "s,/usr/(sbin|libexec/flopwatch|share/flopwatch),$prefix/\\1,g" "$2" >"$root$3/$4"
	chmod "$1" "$root$3/$4"
}
put 755 build/bin/flopwatch "$prefix/bin"
put 755 build/bin/flopwatchd "$prefix/sbin"
for program in flopwatch-git flopwatch-worker flopwatch-runner flopwatch-send; do
	put 755 "build/bin/$program" "$prefix/libexec/flopwatch"
done
for header in kernels/fw_*.h; do put 644 "$header" "$prefix/include/flopwatch"; done
for file in flopwatch.h flopwatch_benchmark.h flopwatch_nvbench.h; do put 644 "daemon/kit/$file" "$prefix/include/flopwatch"; done
for file in flopwatch.h flopwatch_benchmark.h flopwatch_nvbench.h flopwatch.py; do put 644 "daemon/kit/$file" "$prefix/share/flopwatch/kit"; done
for suite in etc/suites/*.yaml; do put 644 "$suite" "$prefix/share/flopwatch/suites"; done
put 755 etc/ci/comment.sh "$prefix/share/flopwatch/ci"
# systemd looks here whatever the prefix is
for unit in systemd/*.service systemd/*.socket; do put_text 644 "$unit" /usr/lib/systemd/system "$(basename "$unit")"; done
put_text 644 systemd/flopwatch.sysusers /usr/lib/sysusers.d flopwatch.conf
put_text 644 systemd/flopwatch.tmpfiles /usr/lib/tmpfiles.d flopwatch.conf
if [ ! -e "$root/etc/flopwatch/flopwatchd.yml" ]; then # a configuration that is there is the administrator's
	put_text 640 etc/flopwatchd.yml /etc/flopwatch flopwatchd.yml
fi
put 644 README.md "$prefix/share/doc/flopwatch"
for page in ARCHITECTURE.md CONTRIBUTING.md SECURITY.md LICENSE; do put 644 "$page" "$prefix/share/doc/flopwatch"; done
for page in doc/*.*; do put 644 "$page" "$prefix/share/doc/flopwatch/doc"; done
for page in doc/families/*.md; do put 644 "$page" "$prefix/share/doc/flopwatch/doc/families"; done
find doc/examples -type f | while read -r file; do put 644 "$file" "$prefix/share/doc/flopwatch/$(dirname "$file")"; done
if command -v scdoc >/dev/null; then
	for page in etc/man/*.scd; do
		name=$(basename "$page" .scd)
		section=${name##*.}
		mkdir -p "$root$prefix/share/man/man$section"
		scdoc <"$page" >"$root$prefix/share/man/man$section/$name"
	done
fi
for verb in $(build/bin/flopwatch completion verbs); do
	command -v scdoc >/dev/null || break
	build/bin/flopwatch completion "man:$verb" | scdoc >"$root$prefix/share/man/man1/flopwatch-$verb.1"
done
for shell in bash:bash-completion/completions/flopwatch zsh:zsh/vendor-completions/_flopwatch fish:fish/vendor_completions.d/flopwatch.fish; do
	file=$root$prefix/share/${shell#*:}
	mkdir -p "$(dirname "$file")"
	build/bin/flopwatch completion "${shell%%:*}" >"$file"
	chmod 644 "$file"
done
put 755 etc/pre-push "$prefix/share/doc/flopwatch/examples"
echo "installed under ${root:-/}"
[ -n "$root" ] || echo "next, as root: systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload && systemctl enable --now flopwatch-worker.socket flopwatchd"
