#!/bin/bash
# A request for a missing object is rejected with its position and a fix: an upstream, a suite, a provider, a device, a repository, a cell. The
# daemon never measures another one instead, and never reports success without a measurement.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"
}
repos() { # `repos` of the configuration
	write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos:" "$@"
}
refused() { # name, job's target, regex of the message
	is "$1" "$(result_of "$2")" "failed -"
	like "$1, with its place" "$(why_of "$2")" "$3"
}
kernels="  - {name: kernels, url: $tmp/kernels.git"

new_repo kernels
echo '-DYARDSTICK_FACTOR=0.9' >"$tmp/kernels/kernels/flags"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "two providers"
first=$(head_of kernels)

# ---- an upstream that is not there, or holds the branch itself ----
repos "$kernels, upstream: mian}"
start_daemon || exit 1
push kernels main
refused "an upstream that there is not" "$first" "^$tmp/c\.yml:8:[0-9]+: repos\[0\]\.upstream: there is no branch mian to compare others with; push it, or set .upstream."
fails "a client that waits reads it" 1 fw wait main
like "with the same text" "$out" 'repos\[0\]\.upstream: there is no branch mian'
branch kernels slow main
echo 1.3 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
slow=$(head_of kernels)
refused "a branch is not compared with itself in its place" "$slow" 'repos\[0\]\.upstream: there is no branch mian'
is "nothing was measured" "$(sql "SELECT count(*) FROM comparison")" 0
like "the overview reports it" "$(fw status)" "^WARNING kernels: $tmp/c.yml:8:[0-9]+: repos\[0\]\.upstream: there is no branch mian"
repos "$kernels}"
kill -HUP "$daemon_pid"
reloaded() { [ "$(api repos | jq -r '.items[0] | .upstream + " " + .state')" = "main ok" ]; }
ok "once it is fixed" await reloaded
ok "main's job" fw retry "$(job_of "$first")"
ok "and those of the branch continue where that is requested" fw retry "$(job_of "$slow")"
is "main is measured" "$(result_of "$first")" "done unchanged"
is "and the branch next to it" "$(result_of "$slow")" "done regression"
repos "$kernels, upstream: refs/heads/main}"
fails "a ref is no branch's name" 2 "$bin/flopwatchd" --check-config --config "$tmp/c.yml"
like "and that is reported before anything runs" "$out" 'c\.yml:8:[0-9]+: repos\[0\]\.upstream: is the name of a branch; write main'
stop_daemon
rm -rf "$tmp/state"
repos "$kernels, upstream: slow}"
start_daemon || exit 1
await job_ended "$first"
is "an upstream that holds all of a branch is no base of it" "$(result_of "$first")" "cancelled -"
like "which is reported by name and place" "$(why_of "$first")" \
	"^branch main has no commit that its upstream slow \($tmp/c\.yml:8:[0-9]+: repos\[0\]\.upstream\) lacks, so it would be compared with itself"
fails "and is not reported as success" 1 fw wait main
git -C "$tmp/kernels" checkout -q --orphan foreign main
commit kernels "no common history"
push kernels foreign
refused "nor is one that a branch has nothing in common with" "$(head_of kernels)" '^branch foreign has no commit in common with its upstream slow \(.*flopwatch compare COMMIT foreign'
await job_ended "$slow"
stop_daemon
rm -rf "$tmp/state"

# ---- suites ----
git -C "$tmp/kernels" push -q origin :foreign
git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
printf 'flopwatch: 1\nbenchmarks: {rows: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
printf 'echo "{\\"cell\\":\\"%s\\",\\"ms\\":[1.0,1.0,1.0]}"\n' a b >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
repos "$kernels, peers: [yardstick, nonesuch]}" "  - {name: lines, url: $tmp/lines.git}"
start_daemon || exit 1
await job_ended "$first"
await job_ended "$slow"
await job_ended "$(head_of lines)"
branch kernels typo main
sed -i 's/suites: .*/suites: [tinny]/' "$tmp/kernels/.flopwatch.yaml"
commit kernels "a suite that there is not"
push kernels typo
refused "a suite that a branch misnames" "$(head_of kernels)" \
	"^commit [0-9a-f]{12}: \.flopwatch\.yaml:4:10: suites\[0\]: there is no suite tinny: the commit has neither etc/suites/tinny\.yaml nor .*; did you mean .tiny.\?$"
fails "a client that waits reads that, too" 1 fw wait typo --repo kernels
branch kernels unread main
sed -i 's/headdim/hedadim/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "a suite with a mistake"
push kernels unread
refused "a suite that a branch breaks" "$(head_of kernels)" '^commit [0-9a-f]{12}: etc/suites/tiny\.yaml:3:.*common\.hedadim: unknown key; did you mean .headdim.'
fails "one that a person misnames" 1 fw compare main slow --repo kernels --suite tinny
like "is named" "$out" 'is failed: there is no suite tinny: not at etc/suites/tinny.yaml in base'
fails "cells that are not in the suite" 1 fw compare main slow --repo kernels --cells 'nothing*'
like "are named" "$out" 'is failed: no cell of suite tiny matches nothing\*'
branch lines other main
echo '# the same' >>"$tmp/lines/bench.sh"
commit lines "other"
push lines other
is "a program" "$(result_of "$(head_of lines)")" "done unchanged"
fails "whose rows are none of those asked for" 1 fw compare main other --repo lines --cells 'c*'
like "says which it has" "$out" 'is failed: no row of benchmark rows matches c\*; it writes a and others'
ok "of those asked for one is enough" fw compare main other --repo lines --cells 'a'

# ---- providers ----
for which in "--base-provider nonesuch" "--target-provider nonesuch" "--base-provider nonesuch --target-provider nonesuch" \
	"--base-provider nonesuch --target-provider neither"; do
	fails "a provider that the module lacks: $which" 1 fw compare main slow --repo kernels $which
	like "is named next to those that it has" "$out" "(base|target) [0-9a-f]{12}: the module has no provider 'nonesuch'; it has naive, yardstick"
done
fails "also where both sides are one commit" 1 fw compare main main --repo kernels --base-provider nonesuch --target-provider nonesuch
branch kernels words main
echo '/* words */' >>"$tmp/kernels/kernels/good.c"
commit kernels "a comment"
push kernels words
is "and where both compile alike" "$(result_of "$(head_of kernels)")" "done identical"
fails "which says nothing of a provider" 1 fw compare main words --repo kernels --base-provider nonesuch --target-provider nonesuch
ok "one that there is can be asked for on both" fw compare main words --repo kernels --base-provider yardstick --target-provider yardstick
ok "a peer that is named by hand" fw peer main --repo kernels --provider nonesuch
fails "is refused, too" 1 fw wait "$(sql "SELECT max(id) FROM job")"
idle_peers() { [ "$(sql "SELECT count(*) FROM job WHERE kind = 'peer' AND origin = 'idle' AND state IN ('done', 'failed')")" = 2 ]; }
ok "those of the configuration are tried while idle" await idle_peers
is "the one that there is is measured" "$(sql "SELECT state FROM job WHERE origin = 'idle' AND base_provider = 'yardstick'")" "done"
like "the other is reported with its place" "$(sql "SELECT state || ': ' || state_why FROM job WHERE origin = 'idle' AND base_provider = 'nonesuch'")" \
	"^failed: $tmp/c\.yml:8:[0-9]+: repos\[0\]\.peers\[1\]: base ${first:0:12}: the module has no provider 'nonesuch'"
is "no message reports a missing pair" "$(sql "SELECT count(*) FROM cell WHERE reason LIKE '%nonesuch%'")" 0

# ---- devices, repositories, cells ----
fails "a kind of device that no worker has" 1 fw compare main slow --repo kernels --device cuda
like "would be waited for in vain" "$out" 'no worker of this daemon measures on cuda, so the job would never run'
fails "also against a peer" 1 fw peer main --repo kernels --provider yardstick --device cuda
fails "and for a calibration" 1 fw calibrate --repo kernels --device cuda
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
for question in "status --repo typo" "jobs --repo typo" "alerts --repo typo" "peer show --repo typo" "peer show --device typo" \
	"calibrate show --device typo" "calibrate show --repo typo" "history $cell --repo typo" "history $cell --repo kernels --branch typo" \
	"history $cell --repo kernels --device typo" "history typo --repo kernels" "compare main nosuch --repo kernels" "pause typo"; do
	fails "an empty answer is no answer: $question" 4 fw $question
done

# ---- a suite of modules, and nothing that builds them ----
branch kernels unbuilt main
cat >"$tmp/kernels/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  fixed: {command: [sh, bench.sh], reader: flopwatch, gpu: false}
suites: [tiny]
YAML
commit kernels "a program, and a suite of modules"
push kernels unbuilt
refused "a suite of modules without a build" "$(head_of kernels)" \
	'commit [0-9a-f]{12}: \.flopwatch\.yaml:4:10: suites\[0\]: suite tiny times modules, and \.flopwatch\.yaml of commit [0-9a-f]{12} has no build for them; add build: '
is "at the first attempt, and no worker had it" "$(job_field "$(job_of "$(head_of kernels)")" attempt)" 0
stop_daemon
