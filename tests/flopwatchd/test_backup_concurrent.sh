#!/bin/bash
# A backup runs concurrently: while it is blocked, pages, pushes and workers continue; one backup at a time, complete or none.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$real/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }

# Programs in a separate folder: the daemon starts those next to it, so that a gate can replace the copying child.
real=$bin bin=$tmp/bin
mkdir "$bin"
ln -s "$real"/* "$bin"
rm "$bin/flopwatchd"
cp "$real/flopwatchd" "$bin/flopwatchd.real"
mkfifo "$tmp/gate"
cat >"$tmp/gatekeeper" <<GATE
#!/bin/bash
echo \$\$ >"$tmp/held.part" && mv "$tmp/held.part" "$tmp/held"
read -r _ <"$tmp/gate"
exec "$bin/flopwatchd.real" "\$@"
GATE
chmod +x "$tmp/gatekeeper"
close_gate() { ln -sf "$tmp/gatekeeper" "$bin/flopwatchd"; }
no_gate() { ln -sf flopwatchd.real "$bin/flopwatchd"; }
open_gate() { timeout 20 bash -c 'echo >"$1"' - "$tmp/gate"; }
start() { # the daemon is always the real program; it finds the others by its /proc/self/exe
	no_gate
	start_daemon
}
begin() { # a backup to FILE in the background
	rm -f "$tmp/held"
	"$real/flopwatch" --server "http://127.0.0.1:$(port)" backup "$1" >"$tmp/said" 2>&1 &
	client=$!
}
is_held() { test -e "$tmp/held"; } # its child waits at the gate
is_gone() { ! kill -0 "$1" 2>/dev/null; }
left() { find "$tmp/state" -name 'backup*'; }
nothing_left() { [ -z "$(left)" ]; } # a separate child removes a sent copy

new_repo kernels
push kernels main
write_config
start || exit 1
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
stop_daemon
sqlite3 "$tmp/state/flopwatch.db" "CREATE TABLE ballast (b BLOB) STRICT; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
	INSERT INTO ballast SELECT randomblob(1000000) FROM n"
touch "$tmp/state/backup.download" "$tmp/state/backup.download.old" "$tmp/state/backup.download.part" "$tmp/state/backup.download.part-journal"
start || exit 1
is "what a killed daemon left is removed at the start" "$(left)" ""

# ---- concurrently ----
close_gate
begin "$tmp/copy.db"
ok "a backup is begun" await is_held
ok "pages are answered meanwhile" curl -sf --max-time 20 -o "$tmp/page" "http://127.0.0.1:$(port)/jobs"
branch kernels other main
commit kernels "other"
push kernels other
is "a push is seen and judged" "$(result_of "$(head_of kernels)")" "done identical"
fails "another backup" 1 fw backup "$tmp/second.db"
like "has to wait" "$out" '^flopwatch: a backup is being made already; retry when it is done$'
is "with its status" "$(post backup | jq .status)" 409
ok "and the first is not answered yet" kill -0 "$client"
ok "the copy continues" open_gate
wait "$client"
is "and is answered" $? 0
is "it is sound" "$(sqlite3 "$tmp/copy.db" 'PRAGMA integrity_check')" ok
is "whole" "$(sqlite3 "$tmp/copy.db" 'SELECT sum(length(b)) FROM ballast')" 60000000
is "a plain file" "$(sqlite3 "$tmp/copy.db" 'PRAGMA journal_mode')" delete
ok "and nothing of it is left" await nothing_left

# ---- a disconnected client ----
begin "$tmp/none.db"
ok "a backup is begun" await is_held
kill "$client"
ok "when the client that asked goes, the copying ends" await is_gone "$(cat "$tmp/held")"
no_gate
ok "and another may begin" fw backup "$tmp/third.db"
ok "of the same" cmp <(sqlite3 "$tmp/third.db" .schema) <(sqlite3 "$tmp/copy.db" .schema)

# ---- a full disk ----
prlimit --pid "$daemon_pid" --fsize=30000000:
fails "no room for the copy" 1 fw backup "$tmp/full.db"
like "is reported" "$out" '^flopwatch: backup: .*the disk or a quota is full, free some space$'
is "with its status" "$(post backup | jq .status)" 503
prlimit --pid "$daemon_pid" --fsize=unlimited:
ok "it leaves nothing" nothing_left
is "and no file" "$(ls "$tmp"/full.db* 2>/dev/null)" ""
ok "with room it works" fw backup "$tmp/fourth.db"

# ---- the end of the daemon ----
close_gate
begin "$tmp/none.db"
ok "a backup is begun" await is_held
stop_daemon
is "the daemon ends in order" $? 0
wait "$client"
is "a client that waited" $? 1
like "is reported why" "$(cat "$tmp/said")" '^flopwatch: flopwatchd stopped before the backup was done; retry when it runs$'
ok "the copying has ended" is_gone "$(cat "$tmp/held")"
is "it leaves nothing" "$(left)$(ls "$tmp"/none.db* 2>/dev/null)" ""
start || exit 1
begin "$tmp/none.db"
until [ -e "$tmp/state/backup.download.part" ] || is_gone "$client"; do :; done
stop_daemon KILL
wait "$client"
like "a client that waited for one that was killed has all or nothing" "$([ ! -e "$tmp/none.db" ] || sqlite3 "$tmp/none.db" 'PRAGMA integrity_check')" '^(ok)?$'
start || exit 1
is "and nothing is left after its next start" "$(left)$(ls "$tmp"/*.part 2>/dev/null)" ""
is "and the database is sound" "$(sql 'PRAGMA integrity_check')" ok
stop_daemon

# ---- without a daemon ----
ok "flopwatchd --backup" "$real/flopwatchd" --backup "$tmp/state/flopwatch.db" "$tmp/fifth.db"
is "copies it" "$(sqlite3 "$tmp/fifth.db" 'SELECT count(*) FROM ballast')" 60
fails "into a folder that is not there" 1 "$real/flopwatchd" --backup "$tmp/state/flopwatch.db" "$tmp/none/x.db"
like "says where" "$out" "flopwatchd: backup: cannot create $tmp/none/x.db.part: No such file"
fails "of something else" 1 "$real/flopwatchd" --backup "$tmp/c.yml" "$tmp/x.db"
fails "without a file" 2 "$real/flopwatchd" --backup "$tmp/state/flopwatch.db"
