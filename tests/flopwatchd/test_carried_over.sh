#!/bin/bash
# A daemon that starts on a database of commit 91174416 converts it: old measurements are on pages and in the API under today's names, and the
# daemon continues to measure. It rejects other databases with a message, and does not change them.
. "$(dirname "$0")/../support/tap.sh"
if [ "${FW_OWN_MOUNTS:-}" != yes ] && unshare -m true 2>/dev/null; then
	trap - EXIT
	rm -rf "$tmp"
	FW_OWN_MOUNTS=yes exec unshare -m bash "$0" # a small disk that only this test sees
fi
. "$(dirname "$0")/../support/daemon.sh"
data=$root/tests/data/migration
db=$tmp/state/flopwatch.db
make_old() { # as a daemon of that commit leaves it
	rm -f "$db"*
	sqlite3 "$db" 'PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1718382711; PRAGMA journal_mode = WAL' >/dev/null
	sqlite3 "$db" <"$data/schema-91174416.sql"
	sqlite3 "$db" <"$data/rows-91174416.sql"
	sqlite3 "$db" 'PRAGMA user_version = 1'
}
status_of() { curl -s -o "$tmp/answer" -w '%{http_code}' --max-time 60 "http://127.0.0.1:$(port)$1"; }
text_of() { curl -s --max-time 60 "http://127.0.0.1:$(port)$1" | sed 's/<[^>]*>/ /g'; }
unchanged() { [ "$(sha256sum <"$db")" = "$before" ]; }

new_repo kernels
write_config
mkdir -p "$tmp/state"
make_old
before=$(sha256sum <"$db")
: >"$db-journal" # as a daemon leaves it that ended while it wrote a copy
start_daemon || exit 1
like "and says that it carried it over" "$(cat "$tmp/log")" "ev=database.carried .*from=91174416 old=$db.91174416"
is "the old database remains next to it" "$(sha256sum <"$db.91174416")" "$before"
is "and nothing else" "$(cd "$tmp/state" && ls -d flopwatch.db.*)" flopwatch.db.91174416

# ---- its data, under today's names ----
is "a comparison" "$(api comparisons/5 | jq -c '[.kind, .verdict, .regressions, .cells[0].verdict, .cells[0].confirmed, .cells[0].runs > 0, (.rule | has("runs_max")), (.environment | has("baseline_period"))]')" \
	'["environment","regression",1,"regression",true,true,true,true]'
is "none of its keys is an old one" "$(api comparisons/5 | jq '[.. | objects | keys[]] | map(select(IN("launches", "blind", "epoch", "scatter_pct", "launches_max"))) | length')" 0
is "comparisons by kind" "$(api 'comparisons?limit=100' | jq -c '[.items[] | select(.id < 8) | .kind] | unique')" '["bisect","compare","environment","reference","selfcheck"]'
is "alerts by kind" "$(api 'alerts?limit=100' | jq -c '[.items[] | select(.id < 6) | {(.id | tostring): .kind}] | add')" \
	"$(jq -nc '{"5": "device_offline", "4": "missing", "3": "failing", "2": "drift", "1": "environment"}')"
is "the cell of one that is missing" "$(api alerts/4 | jq -r '.cells[0].verdict')" missing
is "jobs whose target is missing" "$(job_field 8 state) $(job_field 8 kind)" "target_missing compare"
like "the job that was on a worker waits again, or fails for what its repository lacks" "$(job_field 7 state)" '^(queued|failed|target_missing|cancelled)$'
is "which the end of the daemon before does not count against" "$(sql 'SELECT daemon_ends FROM job WHERE id = 7')" 1
is "a bisect" "$(api bisects/1 | jq -r '"\(.goal) \(.state) \(.commits)"')" "failing done 1"
key=$(sql 'SELECT key FROM cell WHERE comparison = 5')
is "the history of a cell" "$(api "history?repo=kernels&cell=$key" | jq -c '[(.baseline_periods | length) > 0, (.change_points | map(.kind) | sort)]')" '[true,["drift","step"]]'
is "a profile" "$(api profiles/1 | jq -r '.diagnostics[0].what')" "spills 8 bytes"
is "notifications" "$(api 'notifications?limit=100' | jq -c '[.items[] | select(.id < 3) | .state] | length')" 2
for path in / /comparisons/5 /comparisons/2 /alerts /alerts/2 /alerts/5 /jobs /jobs/8 /bisects/1 /devices "/history?repo=kernels&cell=$key" /notifications /metrics; do
	is "$path answers" "$(status_of "$path")" 200
done
like "counters are those of the rows" "$(http GET /metrics)" "flopwatch_jobs\{state=\"target_missing\"\} $(sql "SELECT count(*) FROM job WHERE state = 'target_missing'")"
is "the new database is complete" "$(sql 'PRAGMA integrity_check') $(sql 'SELECT count(*) FROM pragma_foreign_key_check')" "ok 0"

# ---- and continued ----
push kernels main
is "it measures on" "$(result_of "$(head_of kernels)")" "done unchanged"
stop_daemon
is "it ends in order" $? 0
: >"$tmp/log"
start_daemon || exit 1
unlike "a second start carries over nothing" "$(cat "$tmp/log")" database.carr
is "and keeps all" "$(sql 'SELECT count(*) FROM comparison WHERE id < 8')" 7
stop_daemon

# ---- databases that it cannot convert ----
make_old
sqlite3 "$db" 'DROP INDEX job_by_change_point; ALTER TABLE job DROP COLUMN change_point'
before=$(sha256sum <"$db")
fails "tables of any other commit" 3 "$bin/flopwatchd" --config "$tmp/c.yml"
like "are named, with what to do" "$out" "$db: its tables are not those of version 1.*no such column: .*move it away"
ok "and left as they are" unchanged
for version in 1 2; do # a copy, which opening for writing would change
	sqlite3 "$db" "PRAGMA journal_mode = DELETE; PRAGMA user_version = $version" >/dev/null
	before=$(sha256sum <"$db")
	fails "a copy of version $version" 3 "$bin/flopwatchd" --config "$tmp/c.yml"
	ok "is left as it is, too" unchanged
done
make_old
before=$(sha256sum <"$db")
echo mine >"$db.91174416"
fails "another file in the place of the old one" 3 "$bin/flopwatchd" --config "$tmp/c.yml"
like "is named" "$out" "$db.91174416, and another file has that name; move that file away"
ok "and the database is left as it is" unchanged
is "as is that file" "$(cat "$db.91174416")" mine

if [ "${FW_OWN_MOUNTS:-}" = yes ]; then
	mkdir "$tmp/small"
	mount -t tmpfs -o size=6m none "$tmp/small"
	on_exit umount -l "$tmp/small"
	make_old
	cp "$db" "$tmp/small/flopwatch.db"
	sed "s|^state_dir.*|state_dir: $tmp/small|" "$tmp/c.yml" >"$tmp/small.yml"
	fails "a disk without room for both" 1 "$bin/flopwatchd" --config "$tmp/small.yml"
	like "is named, with how much it takes" "$out" 'for which [0-9]+ MiB have to be free and [0-9]+ MiB are; free some space'
	is "and the database is left as it is" "$(sha256sum <"$tmp/small/flopwatch.db")" "$(sha256sum <"$db")"
else
	skip "a disk without room for both" "no mounts of one's own here"
fi
