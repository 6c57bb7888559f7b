#!/bin/bash
# The warnings of `flopwatch jobs` below its table, while jobs wait that could be measured.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
says() { fw jobs "${@:2}" >"$tmp/said" && grep -qE -- "$1" "$tmp/said"; }

# a benchmark program, on a device that other processes use while a file exists
guards=$tmp/guards
: >"$guards"
printf '#!/bin/sh\nexport FLOPWATCH_SIM_DEVICE_CHECK=%s\nexec "%s" "$@"\n' "$guards" "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
echo 'echo "{\"cell\":\"one\",\"ms\":[1.0,1.0]}"' >"$tmp/lines/bench.sh"
printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
commit lines "first"
push lines main
write_config "workers: [{name: sim, command: [$tmp/worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git, poll: 1 s}]" 'limits: {queue: 1}'
start_daemon || exit 1
is "main is measured" "$(result_of "$(head_of lines)" | cut -d' ' -f1)" done
ok "jobs" fw jobs
unlike "has nothing to warn of" "$out" WARNING

# ---- a device that gets no jobs ----
fw pause sim-0
branch lines other main
echo '# other' >>"$tmp/lines/bench.sh"
commit lines "other"
push lines other
waiting=$(head_of lines)
ok "a device that is paused is named" await says '^WARNING device sim-0 is paused \(paused by local\): it gets jobs again with flopwatch resume sim-0$'
ok "also where only open jobs are shown" says 'WARNING device sim-0 is paused' --state open
ok "not where ended ones are" fw jobs --state done
unlike "because they move no more" "$out" WARNING
ok "--json is the API's answer alone" fw jobs --json
ok "which is JSON" jq -e .items <<<"$out"

# ---- a full queue ----
branch lines third main
echo '# third' >>"$tmp/lines/bench.sh"
commit lines "third"
push lines third
ok "a full queue is reported with the branch" await says '^WARNING lines: branch third: the queue is full; its job follows when others have ended$'

# ---- other processes on the device ----
echo 'at=idle run=1-1000000 foreign=2' >"$guards"
fw resume sim-0
ok "processes that are waited for are reported" await says '^WARNING J[0-9]+: waiting for 2 other processes on sim-0; [0-9]+ of at most 600 s$'
in_table() { fw jobs >"$tmp/said" && grep -qE ' (sent|building|checking|measuring) .*waiting for 2 other processes' "$tmp/said"; }
ok "and are in the table, which may be older than the warning" await in_table
: >"$guards"
is "when they have left it is measured" "$(result_of "$waiting" | cut -d' ' -f1)" done
third=$(head_of lines)
await has_job "$third"
is "and so is the branch that had no room" "$(result_of "$third" | cut -d' ' -f1)" done
quiet() { fw jobs >"$tmp/said" && ! grep -q WARNING "$tmp/said"; }
ok "nothing is left to warn of" await quiet

# ---- no worker ----
fw pause sim-0
fw submit main --repo lines >"$tmp/said"
stop_daemon TERM
sqlite3 "$tmp/state/flopwatch.db" "UPDATE device SET state = 'quarantined', state_why = 'XID 79'"
sed -i 's/^workers:.*/workers: [{name: gone, command: ["false"]}]/' "$tmp/c.yml"
start_daemon || exit 1
ok "a worker that is down is named, with why" await says '^WARNING worker gone is down: the worker ended before'
like "so is a device in quarantine" "$(cat "$tmp/said")" '^WARNING device sim-0 is quarantined \(XID 79\): flopwatch resume sim-0 tries it \(see doc/troubleshooting.md#quarantined\)$'
