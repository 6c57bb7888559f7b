#!/bin/bash
# A planted 3 % in one of two cells of a CPU program, while eight other processes use the same cores: interleaved, and as
# alternating processes. Prints `bench NAME VALUE UNIT`. BENCH_LOAD: number of other processes.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
trap - EXIT
hogs=()
for ((i = 0; i < ${BENCH_LOAD:-8}; i++)); do
	sh -c 'while :; do :; done' &
	hogs+=($!)
done
# shellcheck disable=SC2154
trap 'kill "${hogs[@]}" 2>/dev/null; stop_daemon KILL; wait 2>/dev/null; rm -rf "$tmp"' EXIT
interleave_repo one
sed -i 's/  one: /  interleave: /' "$tmp/one/.flopwatch.yaml"
sed -n 's/  interleave: {command: \[/  processes: {command: [env, -u, FLOPWATCH_INTERLEAVE, /p' "$tmp/one/.flopwatch.yaml" >>"$tmp/one/.flopwatch.yaml"
sed -i 's/timeout_s: 5/timeout_s: 60/' "$tmp/one/.flopwatch.yaml"
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
start_daemon
two='int main(void) { FLOPWATCH("same", 1e6, 0) work(5000); FLOPWATCH("more", 1e6, 0) work(MORE); return 0; }'
all_ended() {
	[ "$(sql "SELECT count(*) FROM job WHERE target_sha = '$1' AND state IN ('done', 'failed')")" = 2 ]
}
program one "#define MORE 5000
$two"
commit one first
push one main
patience=400 await all_ended "$(head_of one)"
branch one more main
program one "#define MORE 5150
$two"
commit one "3 % more"
push one more
patience=400 await all_ended "$(head_of one)"
for how in interleave processes; do
	id=$(sql "SELECT k.id FROM comparison k JOIN job j ON j.id = k.job WHERE j.target_sha = '$(head_of one)' AND j.suite = '$how'")
	api "comparisons/$id" | jq -r --arg how "$how" '(.cells[] | "bench \($how).\(.cell).change \(.change_pct) pct",
		"bench \($how).\(.cell).half_width \((.ci_high_pct - .ci_low_pct) / 2) pct",
		"bench \($how).\(.cell).called \(if .verdict == "regression" then 1 else 0 end) of_1",
		"bench \($how).\(.cell).undecided \(if .verdict == "undecided" then 1 else 0 end) of_1"),
		"bench \($how).device \(.gpu_s) s", "bench \($how).runs \(.runs) runs"'
done
