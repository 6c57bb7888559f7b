#!/bin/bash
# The history of a suite with `decide: call`: it has the times of whole calls, not those of the device.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
host_us() { # the host's share of a call, about a hundredth of it each quarter: a commit on main, pushed and judged
	echo "'-DCONFIG=\"SIM_HOST_US=$1\"'" >"$tmp/kernels/kernels/flags"
	commit kernels "the host takes $1 us"
	push kernels main
	result_of "$(head_of kernels)" >>"$tmp/verdicts"
}

new_repo kernels
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]\ndecide: call/' "$tmp/kernels/etc/suites/tiny.yaml"
echo "'-DCONFIG=\"SIM_HOST_US=1.00\"'" >"$tmp/kernels/kernels/flags"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "the host takes 1 us"
write_config
start_daemon
push kernels main
is "the first measurement" "$(result_of "$(head_of kernels)")" "done unchanged"
reference=$(head_of kernels)

for us in 1.25 1.50 1.75 2.00 2.25 2.50 2.75; do
	host_us $us
done
await nothing_is_open
is "no commit lost much" "$(sort -u "$tmp/verdicts")" "done unchanged"
is "every one is a point of the history" "$(sql "SELECT count(*) >= 7 FROM ratio")" 1
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
is "whose ratio to the reference commit is that of the calls" \
	"$(api "history?repo=kernels&branch=main&cell=$cell" | jq '.items[0].reference_change_pct | . < -5 and . > -11')" true
is "and its times at the held clock, too" \
	"$(api "history?repo=kernels&branch=main&cell=$cell" | jq '.items[-1].held_tflops / .items[0].held_tflops | . > 1.05 and . < 1.11')" true
like "what they lost together is reported" "$(sql "SELECT title FROM alert WHERE kind = 'drift'")" "lost since the reference commit ${reference:0:12}"
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$(head_of kernels)")" comparison)?open=0")
like "the page lists the runs of the series that decides" "$page" '<li>run 1: [-+][0-9.]+ % \([-+][0-9.]+ … [-+][0-9.]+\), 32 pairs'
like "and calls its time what it is" "$page" '<th scope=row>whole call <span class=dim>ms'
stop_daemon
is "the daemon ends in order" $? 0
