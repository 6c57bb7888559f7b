#!/bin/bash
# The hook that checks the subjects of commits, in a separate clone.
. "$(dirname "$0")/../support/tap.sh"
git init -q "$tmp/clone"
cp -r "$root/etc" "$root/Makefile" "$tmp/clone/"
mkdir -p "$tmp/clone/daemon"
ok "make hooks installs it" make -s -C "$tmp/clone" hooks
commit() { git -C "$tmp/clone" -c user.name=a -c user.email=a@example.org commit --allow-empty "$@"; }
for subject in "worker: refuse a build without a command" "db, web: store the clock of a run" \
	"web/page: draw \$(date) and \`id\` as text"; do
	ok "accepted: $subject" commit -m "$subject"
done
long="worker: refuse a build that has no command, and say in which of the lines it"
for subject in "no folder is named" "worker: ends with a full stop." "$long" "worker:no space"; do
	fails "refused: $subject" 1 commit -m "$subject"
	like "with the reason" "$out" "commit-msg: the subject"
done
fails "refused: a second line that is not empty" 1 commit -m "worker: refuse it
and more"
ok "accepted: a body after an empty line" commit -m "worker: refuse it" -m "Since the worker cannot run it."
ok "accepted: umlauts are characters, not bytes" commit -m "doc: name Mölders, Šidák, Çelik, Ångström and Erdős as sources"
ok "accepted: a merge" commit -m "Merge branch 'a' into a branch whose name is so long that the subject has more than 72"
