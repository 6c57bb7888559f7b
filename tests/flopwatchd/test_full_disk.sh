#!/bin/bash
# The disks of state, cache and log are full, one after the other: status, doctor, pages and the waiting job report which and why in one sentence, no
# data is lost or stored partially, and everything continues once there is space. The log is truncated while the daemon runs.
. "$(dirname "$0")/../support/tap.sh"
if [ "${FW_OWN_MOUNTS:-}" != yes ]; then
	unshare -m true 2>/dev/null || { skip "full disks" "no mounts of one's own here"; exit 0; }
	trap - EXIT
	rm -rf "$tmp"
	FW_OWN_MOUNTS=yes exec unshare -m bash "$0" # file systems that only this test and its daemon see
fi
. "$(dirname "$0")/../support/daemon.sh"
new_repo kernels
write_config
for disk in state:120m cache:160m log:1m; do
	mkdir "$tmp/${disk%:*}"
	mount -t tmpfs -o "size=${disk#*:},nr_inodes=20000" none "$tmp/${disk%:*}"
	on_exit umount -l "$tmp/${disk%:*}"
done
"$bin/flopwatchd" --config "$tmp/c.yml" >>"$tmp/log/log" 2>&1 </dev/null &
daemon_pid=$!
cd "$tmp" || exit 1
await daemon_is_up || exit 1
cli() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
page() { curl -s "http://127.0.0.1:$(port)$1" | sed 's/<[^>]*>/ /g'; }
fill() { head -c 200M /dev/zero >"$tmp/$1/of-somebody-else" 2>/dev/null; }
free_disk() { rm "$tmp/$1/of-somebody-else"; }
health_is() { [ "$(curl -s -o "$tmp/health" -w '%{http_code}' "http://127.0.0.1:$(port)/healthz")" = "$1" ]; }
next_push() { # factor
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "factor $1"
	push kernels main
	sha=$(head_of kernels)
}
push kernels main
is "main is measured" "$(result_of "$(head_of kernels)")" "done unchanged"

# ---- state, while a job runs ----
full="(less than 64 MiB or 500 files are free in $tmp/state|the database cannot be written: .*the disk or a quota is full)"
echo 'until [ -e go ]; do sleep 0.05; done' >"$tmp/kernels/kernels/recipe"
next_push 1.3
await has_job "$sha"
running=$(job_of "$sha")
await job_is "$running" building
post jobs '{"repo":"kernels","base":"main","target":"main"}' >/dev/null # waits behind it
waiting=$(sql "SELECT max(id) FROM job")
fill state
ok "a full disk of the state: /healthz fails" await health_is 503
like "with the reason" "$(cat "$tmp/health")" "$full"
like "flopwatch status reports that" "$(cli status)" "^WARNING no job begins: .*$full"
like "so does doctor" "$(cli doctor)" "^fail  daemon +$full"
like "so does the page of jobs" "$(page /jobs)" "The daemon waits: +no job begins: +$full"
is "a job that waits has a reason" "$(job_field "$waiting" state)" queued
like "in the API" "$(job_field "$waiting" state_why)" "^no job begins: $full"
like "and on its page" "$(page "/jobs/$waiting")" "queued +J$waiting no job begins: $full"
await test -d "$tmp/cache/job/kernels"
end_build() { touch "$tmp/cache/job/kernels/go" 2>/dev/null; grep -q 'ev=db.down' "$tmp/log/log"; }
ok "the running job ends and cannot be stored, which is logged" await end_build
is "once" "$(grep -c ev=db.down "$tmp/log/log")" 1
is "nothing of it is stored by halves" "$(sql "SELECT count(*) FROM comparison WHERE job = $running") $(sql "PRAGMA integrity_check")" "0 ok"
free_disk state
ok "with room again it is stored" await job_is "$running" done
is "at its first attempt" "$(job_field "$running" '.verdict + " " + (.attempt | tostring)' 2>/dev/null || sql "SELECT c.verdict || ' ' || j.attempt FROM job j JOIN comparison c ON c.job = j.id WHERE j.id = $running")" "regression 1"
touch "$tmp/cache/job/kernels/go" 2>/dev/null
waits_no_more() { touch "$tmp/cache/job/kernels/go" 2>/dev/null; job_is "$waiting" done; }
ok "and the other one has its turn" await waits_no_more
ok "/healthz is fine" await health_is 200
unlike "and status has no warning" "$(cli status)" WARNING

# ---- cache ----
echo : >"$tmp/kernels/kernels/recipe"
head -c 155M /dev/zero >"$tmp/cache/of-somebody-else"
next_push 1.4
await has_job "$sha"
said="only [0-9]+ MiB are free on the disk of $tmp/cache; jobs wait for 50 MiB and [0-9]+ files"
has_why() { [[ "$(cli status)" =~ worker\ sim\ is\ down:\ $said ]]; }
ok "a full disk of the cache: status reports that" await has_why
like "the job waits" "$(job_field "$(job_of "$sha")" 'state + " " + (.attempt | tostring)')" "^queued 0$"
like "and reports the reason" "$(job_field "$(job_of "$sha")" 'state_why + " " + (.no_device // "")')" "$said|worker sim, which may have it, is down"
is "once and not twice" "$(cli status | grep -o 'only [0-9]* MiB' | wc -l)" 1
rm "$tmp/cache/of-somebody-else"
is "it is judged when there is room" "$(result_of "$sha")" "done regression"

# ---- log ----
is "lines are there before" "$(grep -c ev=job.done "$tmp/log/log" | sed 's/^[1-9].*/some/')" some
: >"$tmp/log/log"
next_push 1.5
is "the log is cut while the daemon runs" "$(result_of "$sha")" "done regression"
await grep -q "ev=job.done" "$tmp/log/log"
is "and continues at its beginning, without a gap" "$(tr -d '\0' <"$tmp/log/log" | wc -c)" "$(stat -c %s "$tmp/log/log")"
size=$(stat -c %s "$tmp/log/log")
head -c $((4096 - size % 4096 - 20)) /dev/zero | tr '\0' '\n' >>"$tmp/log/log" # its last block has space for a fraction of a line
fill log
next_push 1.6
is "the disk of the log is full: the daemon continues" "$(result_of "$sha")" "done regression"
free_disk log
next_push 1.7
is "and again with room" "$(result_of "$sha")" "done regression"
like "the log says what is missing" "$(cat "$tmp/log/log")" 'ev=log.lost .*lines=[1-9]'
is "each line of it is whole" "$(grep -avcE '^<[0-7]>ev=|^listening on |^$' "$tmp/log/log")" 0
