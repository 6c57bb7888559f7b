#!/bin/bash
# Samples move from the database to monthly files, where judging again, pages and backups find them; kill -9 loses none of them, and a damaged
# file is named.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
samples() { [ "$(sql 'SELECT count(*) FROM sample WHERE ms IS NOT NULL')" = 0 ]; }
all_archived() { [ "$(sql 'SELECT count(*) FROM comparison WHERE is_raw')" = 0 ] && samples; }
look_again() { kill -HUP "$daemon_pid"; }
calls_of() { # of a comparison's page, with the row of its first cell open: how many strips of calls
	http GET "/comparisons/$1" | grep -c 'Every call over its run'
}
body_of() { api "comparisons/$1" | sha256sum; }

new_repo kernels
push kernels main
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" 'keep_samples: 14 d'
start_daemon || exit 1
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
branch kernels slow main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
is "a slower branch, too" "$(result_of "$(head_of kernels)")" "done regression"
lost=$(job_field "$(job_of "$(head_of kernels)")" comparison)
strips=$(calls_of "$lost")
ok "its page shows single calls" test "$strips" -gt 0
ok "and clocks" test "$(http GET "/comparisons/$lost" | grep -c MHz)" -gt 0
page=$(http GET "/comparisons/$lost" | grep -c MHz)
body=$(body_of "$lost")
look_again
is "nothing is archived before its time" "$(api samples | jq -c .items)" "[]"

# ---- after keep_samples ----
sed -i 's/^keep_samples.*/keep_samples: 0 s/' "$tmp/c.yml"
look_again
ok "single times leave the database" await all_archived
month=$(api samples | jq -r '.items[0].month')
file=$tmp/state/samples/$month.zst
ok "into the month's file" test -s "$file"
is "which only the daemon's user reads" "$(stat -c '%a %a' "$file" "$tmp/state/samples" | sort -u)" "$(printf '600 600\n700 700')"
if command -v zstd >/dev/null; then
	ok "and which is zstd's" zstd -qt "$file"
else
	skip "and which is zstd's" "there is no zstd here"
fi
is "pages find them there" "$(calls_of "$lost")" "$strips"
is "and the clocks" "$(http GET "/comparisons/$lost" | grep -c MHz)" "$page"
like "judging again does" "$(fw judge --again)" '^[0-9]+ judged again, 0 changed$'
is "and says the same to the last byte" "$(body_of "$lost")" "$body"
like "the doctor sees it" "$(fw doctor)" 'archive +1 month of single times'

# ---- kill -9 while it archives ----
sed -i 's/^keep_samples.*/keep_samples: 14 d/' "$tmp/c.yml"
look_again
for i in 1 2 3 4 5 6; do
	branch kernels "b$i" main
	echo "1.0$i" >"$tmp/kernels/kernels/factor"
	commit kernels "change $i"
	push kernels "b$i"
done
for i in 1 2 3 4 5 6; do like "b$i is judged" "$(result_of "$(git -C "$tmp/kernels" rev-parse "b$i")")" '^done'; done
bodies() { for id in $(sql 'SELECT id FROM comparison ORDER BY id'); do body_of "$id"; done | sha256sum; }
before=$(bodies)
sed -i 's/^keep_samples.*/keep_samples: 0 s/' "$tmp/c.yml"
count=$(sql 'SELECT count(*) FROM archived')
more() { [ "$(sql 'SELECT count(*) FROM archived')" -gt "$count" ]; }
look_again
await more
stop_daemon KILL
head -c 100 /dev/urandom >>"$file" # and the remains of an interrupted write
start_daemon || exit 1
ok "after kill -9 it continues" await all_archived
like "nothing is lost" "$(fw judge --again)" '^[0-9]+ judged again, 0 changed$'
is "not one byte" "$(bodies)" "$before"
is "each has its frame" "$(sql "SELECT count(*) FROM comparison c WHERE EXISTS (SELECT 1 FROM cell x JOIN sample t ON t.cell = x.id WHERE x.comparison = c.id) AND id NOT IN (SELECT comparison FROM archived)")" 0
command -v zstd >/dev/null && ok "and the file is whole" zstd -qt "$file"

# ---- backup and restore ----
mkdir "$tmp/safe"
ok "a backup" fw backup "$tmp/safe/first.db"
ok "has the archive next to it" cmp "$file" "$tmp/safe/samples/$month.zst"
truncate -s -50 "$tmp/safe/samples/$month.zst"
ok "a second one" fw backup "$tmp/safe/second.db"
ok "takes what is missing" cmp "$file" "$tmp/safe/samples/$month.zst"
truncate -s -50 "$tmp/safe/samples/$month.zst"
copy=$tmp/safe/samples/$month.zst
(
	exec 9<"$tmp/safe/samples"
	flock 9
	touch "$tmp/held"
	await test -e "$tmp/go"
	tail -c 50 "$file" >>"$copy"
) &
other=$!
await test -e "$tmp/held"
fw backup "$tmp/safe/third.db" 2>"$tmp/said" &
client=$!
waits_or_ends() { [ -s "$tmp/said" ] || ! kill -0 "$client" 2>/dev/null; }
await waits_or_ends
touch "$tmp/go"
wait "$other"
wait "$client"
is "a third one while another archives the same month" $? 0
is "waits for it" "$(cat "$tmp/said")" "flopwatch: waiting for another backup that is being written to $tmp/safe/samples"
ok "and has it once" cmp "$file" "$copy"
exec 9>>"$tmp/safe/busy.db.part"
flock 9
echo mine >&9
fails "a backup to a file that another is being written to" 1 fw backup "$tmp/safe/busy.db"
like "reports that" "$out" "^flopwatch: another backup is being written to $tmp/safe/busy.db; wait for it, or name another file$"
is "and leaves it alone" "$(cat "$tmp/safe/busy.db.part")" mine
exec 9>&-
ok "leftovers of the killed process block nothing" fw backup "$tmp/safe/busy.db"
mkdir -p "$tmp/foreign/samples"
{ head -c 40 "$file"; head -c 3000 /dev/zero; } >"$tmp/foreign/samples/$month.zst"
sed -i "s/flopwatch samples ..../flopwatch samples ffff/" "$tmp/foreign/samples/$month.zst"
fails "one into another daemon's backups" 1 fw backup "$tmp/foreign/x.db"
like "is refused" "$out" "samples/$month.zst is of another daemon or time; move it away"
stop_daemon
mv "$tmp/state" "$tmp/lost"
mkdir -m 700 "$tmp/state"
cp "$tmp/safe/first.db" "$tmp/state/flopwatch.db"
cp -r "$tmp/safe/samples" "$tmp/state/samples"
start_daemon || exit 1
like "what was restored is judged again" "$(fw judge --again)" '^[0-9]+ judged again, 0 changed$'
is "the same" "$(bodies)" "$before"

# ---- damage ----
at=$(sql "SELECT frame_offset FROM archived WHERE comparison = $lost")
printf 'XXXX' | dd of="$file" bs=1 seek=$((at + 40)) conv=notrunc status=none
like "a damaged archive is named on the page" "$(http GET "/comparisons/$lost")" "The single calls of this cell cannot be shown: .*/samples/$month.zst is damaged at byte $at"
fails "and where it is judged again" 1 fw judge --again "$lost"
like "in one line" "$out" "^flopwatch: .*/samples/$month.zst is damaged at byte $at \(.*\); restore it from a backup$"
is "and no other comparison is touched" "$(fw judge --again 1)" "1 judged again, 0 changed"
fails "all others are judged again" 1 fw judge --again
like "and it is named among them" "$out" "C$lost: .*is damaged at byte $at"
like "with the count of the rest" "$out" '[0-9]+ judged again, 0 changed, 1 not'
is "the daemon is well" "$(http GET /healthz)" ok
mv "$file" "$file.away"
fails "a deleted file" 1 fw doctor
like "is named by the doctor" "$out" "samples/$month.zst is missing; restore it from a backup"
fails "and no backup is made of it" 1 fw backup "$tmp/safe/fourth.db"
cp "$tmp/safe/samples/$month.zst" "$file"
like "with the backup's file all is well" "$(fw judge --again)" '^[0-9]+ judged again, 0 changed$'
stop_daemon
head -c 100 "$file" >"$tmp/state/samples/2020-01.zst"
sqlite3 "$tmp/state/flopwatch.db" "UPDATE archived SET month = '2020-01' WHERE comparison = (SELECT min(comparison) FROM archived)"
start_daemon || exit 1
mkdir "$tmp/half"
fails "a month that cannot be read" 1 fw backup "$tmp/half/x.db"
like "is named by a backup" "$out" "^flopwatch: the daemon cannot read all of its archive; the backup has the readable part: .*samples/2020-01.zst is damaged at byte"
ok "which has all others" cmp "$file" "$tmp/half/samples/$month.zst"
stop_daemon
is "the daemon ends in order" $? 0
