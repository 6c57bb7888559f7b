#!/bin/bash
# A daemon whose write-ahead log is replicated while it works, by Litestream if it is installed, else by a replacement that works in the same way:
# the restored rows are equal, after kill -9, too, and Litestream reads the example of doc/years.md.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
python=
for p in python3 /usr/bin/python3; do "$p" -c 'import sqlite3, yaml' 2>/dev/null && { python=$p; break; }; done
[ -n "$python" ] || { skip "a replica" "Python has no sqlite3 or yaml here"; exit 0; }
walship=$root/tests/support/walship.py
shipper=""
stop_shipper() { [ -z "$shipper" ] || { kill "${1:--TERM}" "$shipper" 2>/dev/null; wait "$shipper"; shipper=""; } 2>/dev/null; }
on_exit stop_shipper -KILL
ship() { # into a folder
	mkdir -p "$1"
	rm -f "$1/ready"
	"$python" "$walship" replicate "$tmp/state/flopwatch.db" "$1" >"$tmp/shipped" 2>&1 &
	shipper=$!
	await test -e "$1/ready"
}
synced() {
	rm -f "$1/synced"
	kill -USR1 "$shipper"
	await test -e "$1/synced"
}
content() { sqlite3 -readonly "$1" .dump | sha256sum; }
restored() { # from FOLDER: its content
	rm -f "$tmp/restored.db"*
	"$python" "$walship" restore "$1" "$tmp/restored.db" >"$tmp/logs"
	[ "$(sqlite3 "$tmp/restored.db" 'PRAGMA integrity_check')" = ok ] && content "$tmp/restored.db"
}

sed -n '/^```yaml$/,/^```$/p' "$root/doc/years.md" | awk '/^```yaml/ { text = ""; next } /^```/ { if (text ~ /(^|\n)dbs:/) printf "%s", text; next } { text = text $0 "\n" }' >"$tmp/litestream.yml"
is "the example is one of Litestream, for the daemon's database" "$("$python" "$walship" lint "$tmp/litestream.yml")" /var/lib/flopwatch/flopwatch.db

new_repo kernels
push kernels main
write_config
start_daemon || exit 1
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
ship "$tmp/replica"
for i in 1 2 3 4 5 6 7 8; do
	branch kernels "b$i" main
	echo "1.0$i" >"$tmp/kernels/kernels/factor"
	commit kernels "change $i"
	push kernels "b$i"
done
for i in 1 2 3 4 5 6 7 8; do like "b$i is judged beside it" "$(result_of "$(git -C "$tmp/kernels" rev-parse "b$i")")" '^done'; done
ok "the daemon is well" daemon_is_up
ok "it is shipped" synced "$tmp/replica"
stop_daemon
is "the daemon ends in order" $? 0
ok "and so is what the end wrote" synced "$tmp/replica"
is "what is restored is what is there" "$(restored "$tmp/replica")" "$(content "$tmp/state/flopwatch.db")"
ok "through several logs ($(cat "$tmp/logs"))" test "$(cut -d' ' -f1 "$tmp/logs")" -gt 1
is "of one generation: the daemon never began a log that was not shipped" "$(find "$tmp/replica" -mindepth 1 -maxdepth 1 -type d | wc -l)" 1

# ---- kill -9 of both, and a daemon that runs without a replica for a while ----
start_daemon || exit 1
branch kernels late main
echo 1.2 >"$tmp/kernels/kernels/factor"
commit kernels "late"
push kernels late
await has_job "$(head_of kernels)"
stop_daemon KILL
stop_shipper -KILL
start_daemon || exit 1
like "the daemon continues" "$(result_of "$(head_of kernels)")" '^done regression'
stop_daemon # the last one to close it: the log is gone
start_daemon || exit 1
ship "$tmp/replica"
ok "a program that ships begins a new generation" test "$(find "$tmp/replica" -mindepth 1 -maxdepth 1 -type d | wc -l)" -gt 1
branch kernels later main
commit kernels "later"
push kernels later
like "pushes are judged" "$(result_of "$(head_of kernels)")" '^done'
stop_daemon
ok "it is shipped" synced "$tmp/replica"
is "and restored" "$(restored "$tmp/replica")" "$(content "$tmp/state/flopwatch.db")"
stop_shipper

# ---- a daemon on the restored database ----
mv "$tmp/state/flopwatch.db" "$tmp/before.db"
rm -f "$tmp/state"/flopwatch.db-*
cp "$tmp/restored.db" "$tmp/state/flopwatch.db"
chmod 600 "$tmp/state/flopwatch.db"
start_daemon || exit 1
is "a daemon works with it" "$(fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }; fw judge --again | sed 's/^[0-9]* //')" "judged again, 0 changed"

# ---- Litestream itself ----
if ! command -v litestream >/dev/null; then
	skip "Litestream restores it, too" "it is not installed"
	stop_daemon
	exit 0
fi
sed "s,/var/lib/flopwatch/flopwatch.db,$tmp/state/flopwatch.db,; s,\(path\|url\): *[^ ].*replica.*,path: $tmp/lite," "$tmp/litestream.yml" >"$tmp/lite.yml"
litestream replicate -config "$tmp/lite.yml" >"$tmp/lite.log" 2>&1 &
shipper=$!
branch kernels lite main
echo 1.3 >"$tmp/kernels/kernels/factor"
commit kernels "lite"
push kernels lite
like "pushes are judged while Litestream runs" "$(result_of "$(head_of kernels)")" '^done'
stop_daemon
want=$(sqlite3 "$tmp/state/flopwatch.db" 'SELECT max(id) FROM event')
has_all() {
	rm -f "$tmp/lite.db"
	litestream restore -config "$tmp/lite.yml" -o "$tmp/lite.db" "$tmp/state/flopwatch.db" >>"$tmp/lite.log" 2>&1 &&
		[ "$(sqlite3 "$tmp/lite.db" 'SELECT max(id) FROM event')" = "$want" ]
}
ok "Litestream restores it, too" await has_all
is "sound" "$(sqlite3 "$tmp/lite.db" 'PRAGMA integrity_check')" ok
