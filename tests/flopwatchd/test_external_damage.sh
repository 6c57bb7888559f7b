#!/bin/bash
# Damage to a daemon from outside: a log that is not read, a foreign lock, files that are removed or damaged. It continues, or reports the reason,
# and reports nothing as stored that is not.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
write_config
mkfifo "$tmp/pipe"
exec 9<>"$tmp/pipe"
"$bin/flopwatchd" --config "$tmp/c.yml" 2>&9 </dev/null &
daemon_pid=$!
await daemon_is_up
ask() { post jobs '{"repo":"kernels","target":"'"$main"'","base":"'"$main"'","cells":"'"$1"'","device_kind":"sim"}' -o "$tmp/answer" -w '%{http_code}'; }
status_of() { curl -s -o "$tmp/answer" -w '%{http_code}' --max-time 20 "$@"; }
asked() { status_of -H 'Content-Type: application/json' -d '{"repo":"kernels","target":"'"$main"'","base":"'"$second"'","cells":"'"$1"'"}' "http://127.0.0.1:$(port)/api/v1/jobs"; }
health() { status_of "http://127.0.0.1:$(port)/healthz"; }
healthy() { [ "$(health)" = 200 ]; }

# ---- a log that is not read ----
head -c 60000 /dev/zero >&9
push kernels main
main=$(head_of kernels)
is "a daemon with an unread stderr continues to measure" "$(result_of "$main")" "done unchanged"
for _ in 1 2 3; do
	echo "# $RANDOM" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "more"
	push kernels main
	second=$(head_of kernels)
	await job_ended "$second"
done
is "and answers" "$(health)" 200
cat <&9 >"$tmp/read" &
reader=$!
post devices/sim-0/pause >/dev/null
post "jobs/$(asked x >/dev/null; sql "SELECT max(id) FROM job")/cancel" >/dev/null
is_reported() { grep -qa 'ev=log.lost .*lines=' "$tmp/read"; }
ok "a later reader reads what is missing" await is_reported
stop_daemon
kill $reader
exec 9>&-
start_daemon || exit 1
post devices/sim-0/pause >/dev/null

# ---- a lock of another process ----
mkfifo "$tmp/hold"
sqlite3 "$tmp/state/flopwatch.db" >"$tmp/held" 2>&1 <"$tmp/hold" &
holder=$!
exec 8>"$tmp/hold"
printf '.timeout 20000\nBEGIN IMMEDIATE;\nSELECT 1;\n' >&8
await grep -q 1 "$tmp/held"
posts=()
for i in $(seq 12); do
	asked "held$i" >"$tmp/post$i" 2>&1 &
	posts+=($!)
done
ok "pages are answered while another process holds the database" curl -sf -o "$tmp/page" --max-time 15 "http://127.0.0.1:$(port)/"
wait "${posts[@]}"
is "what cannot be stored is answered so" "$(cat "$tmp"/post* | tr '\n' ' ')" "$(printf '503%.0s' {1..12})"
is "so does its health" "$(health)" 503
like "as a sentence" "$(cat "$tmp/answer")" 'another process holds the database'
echo 'COMMIT;' >&8
exec 8>&-
wait $holder
ok "when it is free all is well" await healthy
is "and is stored" "$(asked free) $(sql "SELECT count(*) FROM job_cell WHERE word = 'free'")" "201 1"

# ---- a folder that is taken away ----
port=$(port)
port() { echo "$port"; }
mv "$tmp/state" "$tmp/away"
is "what would go into a file that was taken away is refused" "$(asked gone)" 503
like "as a sentence" "$(cat "$tmp/answer")" "flopwatch.db was deleted or replaced in use"
is "its health reports that" "$(health)" 503
mv "$tmp/away" "$tmp/state"
ok "when it is back all is well" await healthy
is "and is stored, once" "$(asked back) $(sql "SELECT count(*) FROM job_cell WHERE word IN ('gone', 'back')")" "201 1"
cp -a "$tmp/state" "$tmp/copy"
rm -rf "$tmp/state"
is "a folder that was deleted" "$(asked gone)" 503
stop_daemon KILL
rm -rf "$tmp/state" && mv "$tmp/copy" "$tmp/state"
unset -f port
port() { cat "$tmp/state/port" 2>/dev/null || echo 9; }

# ---- a database that is damaged ----
sqlite3 "$tmp/state/flopwatch.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cp "$tmp/state/flopwatch.db" "$tmp/good.db"
started="" unsaid="" n=0
size=$(stat -c %s "$tmp/good.db")
for page in $(seq 2 9 $((size / 4096 - 1))); do # zeros in one page, one page at a time
	used=$(sqlite3 -readonly "$tmp/good.db" "SELECT count(*) FROM dbstat WHERE pageno = $page + 1" 2>/dev/null)
	[ "$used" != 0 ] || continue
	n=$((n + 1))
	cp "$tmp/good.db" "$tmp/state/flopwatch.db"
	rm -f "$tmp/state"/flopwatch.db-*
	dd if=/dev/zero of="$tmp/state/flopwatch.db" bs=4096 seek="$page" count=1 conv=notrunc 2>/dev/null
	timeout 60 "$bin/flopwatchd" --config "$tmp/c.yml" >"$tmp/said" 2>&1 </dev/null &
	daemon_pid=$!
	ended() { ! kill -0 $daemon_pid 2>/dev/null || grep -q '^listening' "$tmp/said"; }
	await ended
	if kill -0 $daemon_pid 2>/dev/null; then started+=" $page"; fi
	stop_daemon
	grep -qE 'flopwatchd: .*flopwatch.db: .*(damage|refers to a missing row).*restore a backup' "$tmp/said" || unsaid+=" $page: $(tail -n 1 "$tmp/said")"
done
ok "of $n damaged databases" test $n -gt 3
is "none is used" "$started" ""
is "and each start reports the reason and the remedy" "$unsaid" ""

# ---- a large database, which is checked concurrently ----
rm -f "$tmp/state"/flopwatch.db*
cp "$tmp/good.db" "$tmp/state/flopwatch.db"
sqlite3 "$tmp/state/flopwatch.db" "CREATE TABLE ballast (b BLOB) STRICT; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
	INSERT INTO ballast SELECT randomblob(4000) FROM n; PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
cp "$tmp/state/flopwatch.db" "$tmp/large.db"
start_daemon || exit 1
ok "a large database is looked at by a child" "$bin/flopwatchd" --check "$tmp/large.db"
stop_daemon
is "the daemon ends in order" $? 0
cp "$tmp/large.db" "$tmp/state/flopwatch.db"
rm -f "$tmp/state"/flopwatch.db-*
page=$(sqlite3 "$tmp/large.db" "SELECT max(pageno) FROM dbstat WHERE name = 'ballast' AND pagetype = 'leaf'")
dd if=/dev/zero of="$tmp/state/flopwatch.db" bs=4096 seek=$((page - 1)) count=1 conv=notrunc 2>/dev/null
"$bin/flopwatchd" --config "$tmp/c.yml" >"$tmp/said" 2>&1 </dev/null &
daemon_pid=$!
has_ended() { ! kill -0 $daemon_pid 2>/dev/null; }
ok "the daemon ends when the child finds damage" await has_ended
wait $daemon_pid
is "with the status of a database" $? 3
daemon_pid=""
like "and reports the reason" "$(tail -n 1 "$tmp/said")" 'flopwatchd: .*flopwatch.db: .*damage.*restore a backup'
rm -f "$tmp/state"/flopwatch.db*
cp "$tmp/good.db" "$tmp/state/flopwatch.db"
rm -f "$tmp/state"/flopwatch.db-*
sqlite3 "$tmp/state/flopwatch.db" 'PRAGMA user_version = -3'
fails "a version below zero" 3 timeout 60 "$bin/flopwatchd" --config "$tmp/c.yml"
like "is called by its name" "$out" 'flopwatch.db: database has version -3, which no flopwatchd has written'
cp "$tmp/good.db" "$tmp/state/flopwatch.db"
rm -f "$tmp/state"/flopwatch.db-*

# ---- an object that is damaged ----
start_daemon || exit 1
post devices/sim-0/resume >/dev/null
for how in empty zeros; do
	stop_daemon
	seq 2000 >"$tmp/kernels/kernels/numbers-$how"
	echo "# $how" >>"$tmp/kernels/kernels/numbers-$how"
	commit kernels "a file that will be damaged: $how"
	push kernels main
	blob=$(git -C "$tmp/kernels" rev-parse "HEAD:kernels/numbers-$how")
	file=$tmp/kernels.git/objects/${blob:0:2}/${blob:2}
	chmod u+w "$file"
	if [ $how = empty ]; then : >"$file"; else head -c "$(stat -c %s "$file")" /dev/zero >"$file.0" && mv "$file.0" "$file"; fi
	start_daemon || exit 1
	sha=$(head_of kernels)
	await has_job "$sha"
	like "a damaged file ($how) ends its job" "$(result_of "$sha") $(job_field "$(job_of "$sha")" attempt)" '^failed - [01]$'
	like "under its own name" "$(why_of "$sha")" "$blob"
	unlike "and is no interruption" "$(why_of "$sha")" interrupted
	git -C "$tmp/kernels" rm -q "kernels/numbers-$how"
done
