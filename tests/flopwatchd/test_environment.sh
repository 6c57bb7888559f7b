#!/bin/bash
# A changed environment is measured before a commit is blamed for it: another gcc under a restarted daemon, with real builds against the module of
# the old one; another gcc, driver, power limit and device under a running daemon. Times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

page() {
	http GET "/$1"
}
compiler() { # version, flags: the installed compiler from now on
	mkdir -p "$tmp/tools/bin"
	cat >"$tmp/tools/bin/gcc.new" <<SCRIPT
#!/bin/sh
[ "\$1" = -dumpfullversion ] && { echo $1; exit 0; }
exec /usr/bin/gcc "\$@" $2 '-DBUILT_BY="$1"'
SCRIPT
	chmod +x "$tmp/tools/bin/gcc.new"
	mv "$tmp/tools/bin/gcc.new" "$tmp/tools/bin/gcc"
}
all_ended() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
measured() { # number of changes that the reference commit has measured
	all_ended && [ "$(sql "SELECT count(*) FROM environment_change WHERE unpaired IS NOT NULL")" = "$1" ]
}
judged() { # factor, subject: a commit of main, pushed and judged
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "$2"
	push kernels main
	result_of "$(head_of kernels)"
}
changes_are() { # number of seen changes
	[ "$(sql "SELECT count(*) FROM environment_change")" = "$1" ]
}
newest() { # a column of the newest change
	sql "SELECT $1 FROM environment_change ORDER BY id DESC LIMIT 1"
}
cell=attention/dense/full/s256/hq2/hk1/d64/bf16/forward

new_repo kernels
rm "$tmp/kernels/kernels/good.sum" # each toolchain compiles all
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]/; s/seqlens: \[64\]/seqlens: [256]/; s/budget_s: 60/budget_s: 30/' "$tmp/kernels/etc/suites/tiny.yaml"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "one cell"

# ---- another gcc, found by a daemon that was restarted ----
compiler 12.2.0 -O3
write_config "workers: [{name: sim, command: [flopwatch-worker, serve, --device, sim, --cache, $tmp/kept, --read-only, $tmp/tools, --toolchain, $tmp/tools], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon || exit 1
push kernels main
main=$(head_of kernels)
await job_ended "$main"
await all_ended
module=$(sql "SELECT module_sha FROM build WHERE state <> 'failed' LIMIT 1")
is "nothing has changed yet" "$(sql "SELECT count(*) FROM environment_change")" 0
is "the toolchain is known" "$(sql "SELECT toolkit FROM device")" "gcc 12.2.0 in $tmp/tools"
verdict=$(api "commits/$main/verdict?repo=kernels" | jq -r .verdict)
stop_daemon
compiler 12.3.0 '-O0 -UWORK_FACTOR -DWORK_FACTOR=1.3'
start_daemon || exit 1
await changes_are 1
stop_daemon KILL
start_daemon || exit 1
ok "a changed compiler is measured without a push" await measured 1
is "once, though the daemon was killed in the middle" "$(sql "SELECT count(*), sum(kind = 'environment'), sum(kind = 'reference') FROM job WHERE origin = 'environment'")" "2|1|1"
paired=$(newest paired)
is "the newest judged commit against itself" "$(api "comparisons/$paired" | jq -r '[.kind, .base.commit, .target.commit] | join(" ")')" "environment $main $main"
is "its module of before was not built again" "$(api "comparisons/$paired" | jq -r '[.base.module_sha256, .base.toolchain] | join(" ")')" "$module gcc 12.2.0 in $tmp/tools"
is "the new one was" "$(api "comparisons/$paired" | jq -r '[.target.build, .target.toolchain] | join(" ")')" "ok gcc 12.3.0 in $tmp/tools"
is "the loss is an alert of its own kind" "$(api alerts | jq -r '[.items[] | .kind + " " + .state] | join(" ")')" "environment open"
like "that names both versions" "$(api alerts | jq -r '.items[0].title')" "^gcc 12\.2\.0 to 12\.3\.0: attention forward"
is "of the upstream branch, by that comparison" "$(api alerts | jq -r '.items[0] | [.branch, (.comparison | tostring)] | join(" ")')" "main $paired"
api "history?repo=kernels&cell=$cell" >"$tmp/history"
is "the history says what changed" "$(jq -c '.environments | map(.changed | map([.what, .from, .to]))' "$tmp/history")" '[[["gcc","12.2.0","12.3.0"]]]'
is "and by how much, paired and unpaired" "$(jq -c '.environments[0] | [.paired.change_pct < -20, .paired.ci_high_pct < 0, .unpaired.change_pct < -20, .alert]' "$tmp/history")" "[true,true,true,1]"
like "so does its page" "$(page "history?repo=kernels&cell=$cell")" 'environment changed: gcc 12\.2\.0 to 12\.3\.0, -[0-9.]+ %; -[0-9.]+ % unpaired'
like "and that no step is looked for between two environments" "$(page "history?repo=kernels&cell=$cell")" 'steps are detected only within a series'
like "and the command line" "$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" history "$cell" --repo kernels)" '^environment  20[-0-9T:]+  gcc 12\.2\.0 to 12\.3\.0: -[0-9.]+ %, -[0-9.]+ % unpaired$'
is "no commit is blamed" "$(sql "SELECT count(*) FROM alert WHERE kind <> 'environment'")" 0
is "nor is its verdict another" "$(api "commits/$main/verdict?repo=kernels" | jq -r .verdict)" "$verdict"

# ---- a module that is gone ----
stop_daemon
rm -f "$tmp"/kept/modules/*.so
compiler 12.4.0 -O1
start_daemon || exit 1
await measured 2
is "an uncached module is not built by another compiler" "$(api "comparisons/$(newest paired)" | jq -r '.verdict')" not_comparable
like "and reports that" "$(api "comparisons/$(newest paired)" | jq -r '.cells[0].reason')" 'built by gcc 12\.3\.0 in .*, is no longer in the cache of this worker'
is "and no alert is opened for it" "$(sql "SELECT count(*) FROM alert")" 1
stop_daemon

# ---- a library, linked or loaded at run time; only its version shows the change ----
entries=("$tmp"/kept/checks/*)
compiler 12.4.0 '-O1 -UWORK_FACTOR -DWORK_FACTOR=1.3'
FLOPWATCH_SIM_ENVIRONMENT="cublas=13.1.0" start_daemon || exit 1
await measured 3
checked=("$tmp"/kept/checks/*)
is "what was accepted with one is checked with another, as is what was built" $((${#checked[@]} - ${#entries[@]})) 2
is "a commit is built again with it" "$(api "comparisons/$(newest paired)" | jq -c '[.base.module_sha256 != .target.module_sha256, (.cells | all(.change_pct < -20))]')" '[true,true]'
stop_daemon

# ---- under a daemon that runs, on device sim ----
rm -rf "$tmp/state" "$tmp/cache" "$tmp/kept"
compiler 12.2.0 ""
: >"$tmp/around"
echo 0 >"$tmp/devices"
cat >"$tmp/worker" <<SCRIPT
#!/bin/sh
FLOPWATCH_SIM_DEVICES=\$(cat "$tmp/devices") FLOPWATCH_SIM_ENVIRONMENT=\$(cat "$tmp/around") exec "$bin/flopwatch-worker" "\$@"
SCRIPT
chmod +x "$tmp/worker"
echo "driver=550.1 power_w=700" >"$tmp/around"
write_config "workers: [{name: sim, command: [$tmp/worker, serve, --device, sim, --cache, $tmp/kept, --read-only, $tmp/tools, --toolchain, $tmp/tools], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}]" 'profile: on'
start_daemon || exit 1
push kernels main
await job_ended "$main"
is "a second commit" "$(judged 1.001 second)" "done unchanged"
second=$(head_of kernels)
compiler 12.3.0 '-UWORK_FACTOR "-DWORK_FACTOR=(1.06*$(cat factor))"'
is "the first push under another compiler is judged by itself" "$(judged 1.002 third)" "done unchanged"
ok "and the change is measured next to it" await measured 1
is "with the newest commit that was judged before" "$(sql "SELECT target_sha FROM comparison WHERE kind = 'environment'")" "$second"
is "the loss is that of the compiler" "$(api "comparisons/$(newest paired)" | jq '[.cells[].change_pct] | all(. < -4.5 and . > -7)')" true
is "one alert reports it" "$(api alerts | jq -r '[.items[] | .kind] | join(" ")')" environment
is "by pairs" "$(api alerts | jq -c '[.items[0].cells[] | .unpaired]')" '[null]'
is "it has requested a profile of the cached module against the new one" "$(sql "SELECT j.state, j.base_module = b.module_sha, j.base_toolchain || j.target_toolchain FROM profile p JOIN job j ON j.id = p.job JOIN comparison c ON c.id = p.comparison JOIN build b ON b.id = c.base_build JOIN alert a ON a.id = p.alert WHERE a.kind = 'environment'")" "done|1|"
compiler 12.2.0 ""
judged 1.001 "and back" >"$tmp/said"
await measured 2
is "a compiler that is taken back ends its alert" "$(api alerts?state=resolved | jq -r '[.items[] | .title[0:20] + " " + .events[-1].reason] | join("; ")')" "gcc 12.2.0 to 12.3.0 the environment is as it was before"

# ---- taken back before it is measured ----
post devices/sim-0/pause >/dev/null
stop_daemon
echo "driver=551.9 power_w=700" >"$tmp/around"
start_daemon || exit 1
await changes_are 3
stop_daemon
echo "driver=550.1 power_w=700" >"$tmp/around"
start_daemon || exit 1
post devices/sim-0/resume >/dev/null
await all_ended
is "what runs where nothing has changed is not taken for what has" "$(sql "SELECT unpaired, alert, new_hash FROM environment_change WHERE id = 3")" "||"
is "and the history does not have it" "$(api "history?repo=kernels&cell=$cell" | jq -c '[.environments[].changed[].what]')" '["gcc","gcc"]'

# ---- changes outside a build ----
put "$tmp/around" "driver=560.2 power_w=700 slower=1.07"
judged 1.002 "another driver" >"$tmp/said"
is "its own verdict is a pair's" "$(cat "$tmp/said")" "done unchanged"
await measured 3
is "no build would show a driver" "$(newest paired_job)" ""
is "the reference commit is measured again, and compared with the baseline period before" "$(api "history?repo=kernels&cell=$cell" | jq -c '.environments[-1] | [(.changed | map([.what, .from, .to])), .paired.job, .unpaired.change_pct < -5 and .unpaired.change_pct > -8]')" \
	'[[["driver","550.1","560.2"]],null,true]'
like "beyond 3 % it is an alert, which reports that it is not paired" "$(api "alerts?state=open" | jq -r '.items[0].title')" '^driver 550\.1 to 560\.2: the reference commit [0-9a-f]{12} is slower in 1 cell, by [5-8]\.[0-9] % at most; not paired$'
is "each cell of it too" "$(api "alerts?state=open" | jq -c '[.items[0].cells[] | .unpaired]')" '[true]'
put "$tmp/around" "driver=560.2 power_w=650 vbios=96.1 slower=1.08"
judged 1.001 "another power limit, and VBIOS" >"$tmp/said"
await measured 4
is "less than that is written down" "$(api "history?repo=kernels&cell=$cell" | jq -c '.environments[-1] | [[.changed[].what], .unpaired.change_pct < 0 and .unpaired.change_pct > -3, .alert]')" '[["VBIOS","power limit"],true,null]'
is "and no alert is opened" "$(api "alerts?state=open" | jq '.items | length')" 1
put "$tmp/devices" 7
judged 1.002 "another device" >"$tmp/said"
await measured 5
is "another device takes the place of the one before" "$(newest changed)" '[{"what":"device","from":"sim-0","to":"sim-7"}]'
is "each change is reported once" "$(sql "SELECT count(*) FROM environment_change")" 6
is "and a change outside the code requests no profile" "$(sql "SELECT count(*) FROM profile")" 1

# ---- two devices of a class ----
stop_daemon
echo 7,8 >"$tmp/devices"
start_daemon || exit 1
stands() { # until devices 7 and 8 both have a baseline period
	[ "$(sql "SELECT count(*) FROM current_baseline t JOIN device d ON d.id = t.device WHERE d.uuid IN ('sim-7', 'sim-8')")" = 2 ]
}
post devices/sim-7/pause >/dev/null
judged 1.001 "on the one beside it" >"$tmp/said"
ok "an additional device replaces no other" changes_are 6
post devices/sim-7/resume >/dev/null
ok "both are in the history" await stands
stop_daemon
echo "driver=570.3 power_w=650 vbios=96.1 slower=1.08" >"$tmp/around"
start_daemon || exit 1
await measured 6
is "what changes around both is measured on one" "$(sql "SELECT count(*) FROM environment_change")" 7
stop_daemon
is "the daemon ends in order" $? 0
