#!/bin/bash
# Distribution, as far as it is testable in seconds: make's list, the tarball, and the control files of the package. `make check-deb` builds the
# package and installs it.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
cd "$root" || exit 1
version=$(sed -n 's/^VERSION  *:= *//p' Makefile)

# ---- make help, after a build ----
ok "there was a build, whose lists of headers make reads, too" test -e build/obj/daemon/cli/main.c.d
ok "make help" make --no-print-directory help
is "it names each target once, under its own name" "$(cut -d' ' -f1 <<<"$out" | sort | paste -sd' ')" \
	"$(sed -nE 's/^([a-z-]+):.*##.*/\1/p' Makefile | sort | paste -sd' ')"
for target in all test demo install dist deb check-deb; do like "$target is one" "$out" "^$target +[a-zA-Z]"; done
unlike "none is a file" "$out" '^[^ ]*[./]'

# ---- the licence, and pages for contributors ----
like "LICENSE is the Apache License" "$(head -n 3 LICENSE)" 'Apache License'
is "word for word" "$(sha256sum <LICENSE | cut -d' ' -f1)" "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
for file in daemon/kit/*.h daemon/kit/*.py; do like "$file may be taken along" "$(head -n 5 "$file")" 'SPDX-License-Identifier: MIT-0 '; done

# ---- the tarball ----
# A clone, so that uncommitted changes have no effect.
git clone -q --no-hardlinks "$root" "$tmp/clone"
dist() { # umask, zone: made so
	(cd "$tmp/clone" && umask "$1" && TZ=$2 make --no-print-directory -s dist)
}
sum() { sha256sum <"$tmp/clone/build/dist/flopwatch-$version.tar.gz"; }
ok "make dist" dist 022 UTC
like "says where it is" "$out" "^build/dist/flopwatch-$version.tar.gz$"
first=$(sum)
touch "$tmp/clone/README.md"
ok "by another user, elsewhere" dist 077 Pacific/Auckland
is "it is the same, byte by byte" "$(sum)" "$first"
mkdir "$tmp/tree"
ok "it unpacks" tar -xzf "$tmp/clone/build/dist/flopwatch-$version.tar.gz" -C "$tmp/tree"
is "into one folder" "$(ls "$tmp/tree")" "flopwatch-$version"
tree=$tmp/tree/flopwatch-$version
is "that holds what is committed" "$(cd "$tree" && find . -type f -o -type l | sort)" "$(git -C "$tmp/clone" ls-tree -r --name-only HEAD | sed 's,^,./,' | sort)"
is "and nothing large: kB" "$(($(stat -c %s "$tmp/clone/build/dist/flopwatch-$version.tar.gz") > 5000000))" 0
echo more >"$tmp/clone/more"
ok "next to uncommitted files" dist 022 UTC
like "and reports that" "$out" 'what is not committed is left out'
is "and leaves it out" "$(sum)" "$first"

# ---- control files of the package ----
cp -r etc/. "$tree/etc/" # the working copies
ok "debian/ is written" env VERSION="$version" etc/deb.sh control "$tree"
listed() { sed -n "/^$1=\"/s/^[^\"]*\"\\(.*\\)\"/\\1/p" etc/install-dependencies.sh | tr ' ' '\n'; }
is "the package is built with the libraries that make is" "$(sed -n '/^Build-Depends:/,/^[^ ]*:/p' etc/debian/control | grep -oE '[a-z0-9-]+-dev' | sort)" \
	"$(listed build | grep -- '-dev$' | grep -v '^libc6-dev$' | sort)"
for file in etc/install.sh etc/debian/rules; do is "$file is a program" "$(stat -c %a "$file")" 755; done
ok "rules are read by make" make -C "$tree" -nf debian/rules override_dh_auto_build
ok "postrm is read by sh" sh -n "$tree/debian/postrm"
if command -v dpkg-parsechangelog >/dev/null; then
	is "the package's version is ours" "$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Version)" "$version"
	is "and its date the commit's" "$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Timestamp)" "$(git -C "$tmp/clone" log -1 --format=%ct)"
	mkdir -p "$tmp/package/DEBIAN"
	gencontrol() { (cd "$tree" && dpkg-gencontrol -P"$tmp/package" -f"$tmp/files" -O 2>"$tmp/warnings"); }
	ok "control is read by dpkg" gencontrol
	like "and is a package's" "$out" "^Version: ${version//./\\.}$"
else
	skip "control is read by dpkg" "dpkg-dev is not installed"
fi
