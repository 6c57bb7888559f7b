#!/bin/bash
# One comparison over two devices of a class: all pairs of a cell on one of them, which is stored and shown, and so is the device that confirms a
# regression.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_repo kernels
push kernels main

# The list of devices is read from a file at every start of a worker; foreign processes use them only after a number of workers has begun.
echo 0,1 >"$tmp/devices"
echo 1000000 >"$tmp/used_from"
printf 'at=idle foreign=1\n' >"$tmp/used"
cat >"$tmp/worker" <<EOF
#!/bin/sh
echo begun >>"$tmp/begun"
[ "\$(wc -l <"$tmp/begun")" -lt "\$(cat "$tmp/used_from")" ] || export FLOPWATCH_SIM_DEVICE_CHECK="$tmp/used"
FLOPWATCH_SIM_DEVICES=\$(cat "$tmp/devices") exec "$bin/flopwatch-worker" "\$@"
EOF
chmod +x "$tmp/worker"
host_config() { # split, confirm
	write_config "workers: [{name: host, command: [$tmp/worker, serve], device: sim, build_jobs: 2}]" \
		"repos: [{name: kernels, url: $tmp/kernels.git}]" "sandbox: none" "split: $1" "confirm: ${2:-same_device}" "profile: off" "limits: {wait: 0 s}"
}
new_push() { # name, factor, recipe
	branch kernels "$1" main
	echo "$2" >"$tmp/kernels/kernels/factor"
	[ "$#" -lt 3 ] || echo "$3" >"$tmp/kernels/kernels/recipe"
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
holding="touch $tmp/holds; until [ -e $tmp/go ]; do sleep 0.05; done"
comparison_of() { sql "SELECT max(id) FROM comparison WHERE target_sha = '$1'"; }
devices_of() { sql "SELECT count(*) || ' ' || d.uuid FROM cell x JOIN device d ON d.id = x.device WHERE x.comparison = $1 GROUP BY d.uuid ORDER BY d.uuid" | tr '\n' ' '; }
has() { [ -e "$tmp/$1" ]; }
busy() { [ "$(api workers | jq -r '[.items[] | select(.state == "busy")] | length')" = "$1" ]; }
free() { [ "$(api workers | jq -r '[.items[] | select(.state == "free")] | length')" = "$1" ]; }

host_config true
start_daemon
is "what is equal needs no device" "$(result_of "$(head_of kernels)")" "done unchanged"
await free 2
new_push slower 1.1
is "a loss is found by both devices together" "$(result_of "$sha")" "done regression"
id=$(comparison_of "$sha")
n=$(sql "SELECT count(*) FROM cell WHERE comparison = $id")
like "each has cells" "$(devices_of "$id")" '^[1-9][0-9]* sim-0 [1-9][0-9]* sim-1 $'
is "and no cell is lost" "$n" 4
is "all of them were judged a loss" "$(sql "SELECT count(*) FROM cell WHERE comparison = $id AND verdict = 'regression'")" "$n"
is "no run timed cells of two devices" "$(sql "SELECT count(*) FROM (SELECT s.run FROM sample s JOIN cell x ON x.id = s.cell WHERE x.comparison = $id GROUP BY s.run HAVING count(DISTINCT x.device) > 1)")" 0
like "the job's log says who had what" "$(sql "SELECT line FROM job_log WHERE line LIKE 'split:%' ORDER BY id DESC LIMIT 1")" '^split: [0-9]+ cells on sim-[01], [0-9]+ cells on sim-[01]$'
is "every cell has it in JSON" "$(api "comparisons/$id" | jq -c '[.cells[].device] | unique')" '["sim-0","sim-1"]'
like "and the page" "$(http GET "/comparisons/$id")" '<dt>Split</dt><dd>[0-9]+ cells? on sim-[01], [0-9]+ cells? on sim-[01]</dd>'

# ---- how it ends -------------------------------------------------------------------------------------------------------------
await free 2
new_push held 1.2 "$holding"
await has holds
ok "both work on one job" await busy 2
job=$(sql "SELECT max(id) FROM job")
post "jobs/$job/cancel" >/dev/null
is "a cancelled one is cancelled" "$(sql "SELECT state FROM job WHERE id = $job")" cancelled
ok "on both devices" await free 2
touch "$tmp/go"
new_push after 1.15
is "which then judge the next one" "$(result_of "$sha")" "done regression"
await free 2
rm "$tmp/go" "$tmp/holds"
new_push lost 1.3 "$holding"
await has holds
await busy 2
kill -9 "$(pgrep -P "$daemon_pid" -f flopwatch-worker | tail -n 1)"
touch "$tmp/go"
is "one lost worker costs an attempt and no more" "$(result_of "$sha") $(sql "SELECT attempt FROM job WHERE target_sha = '$sha'")" "done regression 2"
stop_daemon

# ---- a regression must also show on another device ----------------------------------------------------------------------------
confirmed() { sql "SELECT DISTINCT d.uuid || ' then ' || coalesce(o.uuid, '-') FROM cell x JOIN device d ON d.id = x.device LEFT JOIN device o ON o.id = x.confirmed_on WHERE x.comparison = $1 ORDER BY 1" | tr '\n' ' '; }
sets() { sql "SELECT group_concat(DISTINCT set_number) FROM run WHERE comparison = $1"; }
host_config false other_device
start_daemon
await free 2
new_push elsewhere 1.018 # a small regression: a much larger one needs no second set
is "a loss that shows on two devices is one" "$(result_of "$sha")" "done regression"
id=$(comparison_of "$sha")
like "its second set is another device's" "$(confirmed "$id")" '^(sim-0 then sim-1|sim-1 then sim-0) $'
is "and a set of its own" "$(sets "$id")" "1,2"
is "no device has both" "$(sql "SELECT count(*) FROM job_log WHERE line LIKE 'confirming: % cells on sim-_' AND job = (SELECT job FROM comparison WHERE id = $id)")" 1
is "JSON names it" "$(api "comparisons/$id" | jq -c '[.cells[] | .device != .confirmed_on and .confirmed_on != null] | unique')" '[true]'
like "and the page" "$(http GET "/comparisons/$id")" '<dt>Confirming set</dt><dd>[0-9]+ cells? on sim-[01]</dd>'
await free 2
post jobs "{\"repo\":\"kernels\",\"target\":\"$sha\",\"base\":\"$(sql "SELECT base_sha FROM comparison WHERE id = $id")\",\"cells\":\"$(sql "SELECT min(key) FROM cell WHERE comparison = $id")\"}" >/dev/null
is "so is that of one cell" "$(result_of "$sha") $(sql "SELECT n_cells FROM comparison WHERE id = $(comparison_of "$sha")")" "done regression 1"
like "on both as well" "$(confirmed "$(comparison_of "$sha")")" '^(sim-0 then sim-1|sim-1 then sim-0) $'
await free 2
new_push equal 0.995
is "what is no loss needs no second set" "$(result_of "$sha") $(sets "$(comparison_of "$sha")")" "done unchanged 1"
stop_daemon
host_config true other_device
start_daemon
await free 2
new_push both 1.0181
is "a comparison that was split" "$(result_of "$sha")" "done regression"
is "is confirmed crosswise" "$(confirmed "$(comparison_of "$sha")")" "sim-0 then sim-1 sim-1 then sim-0 "
stop_daemon

# ---- a device that goes, or is used by others ------------------------------------------------------------------------------------
echo 0,1,2 >"$tmp/devices"
host_config false other_device
start_daemon
await free 3
put "$tmp/devices" 1,2
new_push gone 1.0182
is "a loss whose device is absent is found on another" "$(result_of "$sha")" "done regression"
is "and confirmed by a third" "$(confirmed "$(comparison_of "$sha")")" "sim-1 then sim-2 "
await free 3
: >"$tmp/begun"
put "$tmp/used_from" 2 # the worker that confirms
new_push used 1.0183
is "what another device has no time to confirm is open" "$(result_of "$sha")" "done undecided"
id=$(comparison_of "$sha")
like "with the reason" "$(sql "SELECT group_concat(DISTINCT reason) FROM cell WHERE comparison = $id")" '^the confirming set of runs is not measured yet$'
is "and was on no other device" "$(confirmed "$id")" "sim-1 then - "
stop_daemon
echo 1000000 >"$tmp/used_from"
echo 0,1 >"$tmp/devices"

# ---- a device that changes ------------------------------------------------------------------------------------------------------
for n in 0 1; do
	: >"$tmp/environment-$n"
	printf '#!/bin/sh\nFLOPWATCH_SIM_ENVIRONMENT=$(cat "%s") FLOPWATCH_SIM_DEVICES=%s exec "%s" "$@"\n' "$tmp/environment-$n" $n "$bin/flopwatch-worker" >"$tmp/worker-$n"
	chmod +x "$tmp/worker-$n"
done
write_config "workers: [{name: zero, command: [$tmp/worker-0, serve], device: sim}, {name: one, command: [$tmp/worker-1, serve], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}]" "sandbox: none" "split: true" "profile: off"
start_daemon
await free 2
new_push two_machines 1.18
is "two machines measure one comparison" "$(result_of "$sha") $(devices_of "$(comparison_of "$sha")")" "done regression 2 sim-0 2 sim-1 "
await free 2
echo power_w=650 >"$tmp/environment-1"
new_push changed 1.19
is "what is of another class now measures none of it" "$(result_of "$sha") $(devices_of "$(comparison_of "$sha")")" "done regression 4 sim-0 "
like "and the log has the reason" "$(sql "SELECT group_concat(line, '; ') FROM job_log WHERE job = (SELECT job FROM comparison WHERE id = $(comparison_of "$sha"))")" 'queued: the devices of its partitions are no longer of one class'
stop_daemon

# ---- without it ---------------------------------------------------------------------------------------------------------------
host_config false
start_daemon
await free 2
new_push alone 1.4
result_of "$sha" >/dev/null
like "unless it is asked for, one device has all" "$(devices_of "$(comparison_of "$sha")")" '^[0-9]+ sim-[01] $'
