#!/bin/bash
# The exit statuses of doc/howto/ci-and-forges.md, by the program: a commit without a verdict never ends with 0.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
new_lines_repo
row() { printf 'echo "{\\"cell\\":\\"%s\\",\\"ms\\":[%s,%s,%s]}"\n' "$1" "$2" "$2" "$2"; }
row one 1.00 >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git, branches: [\"*\", \"!x\"], poll: 1 h}]"
start_daemon || exit 1
answer() { fw wait "$@" --timeout 150 --quiet; }
ok "0: no regression" answer main
fails "2: no such verb" 2 fw wiat main
fails "2: an option that the verb does not take" 2 fw wait main --reason x
fails "4: no such branch" 4 fw wait nowhere --quiet
fails "4: no such commit" 4 fw wait 0123456789abcdef0123456789abcdef01234567 --quiet
fails "5: no daemon" 5 "$bin/flopwatch" --server http://127.0.0.1:9 wait main

branch lines lossy main
row one 1.30 >"$tmp/lines/bench.sh"
commit lines "loses"
push lines lossy
fails "3: regression" 3 answer lossy

branch lines added main
row two 1.00 >"$tmp/lines/bench.sh"
commit lines "another row"
push lines added
fails "7: nothing to compare" 7 answer added

branch lines broken main
echo 'exit 3' >"$tmp/lines/bench.sh"
commit lines "does not run"
push lines broken
fails "1: failed" 1 answer broken

branch lines skipped main
row one 1.30 >"$tmp/lines/bench.sh"
commit lines "not this one [skip flopwatch]"
push lines skipped
fails "1: a commit that asked to be skipped has no verdict" 1 answer skipped
like "and the reason" "$out" 'skip flopwatch'

branch lines unplanned main
echo 'flopwatch: 1
benchmarks: 7' >"$tmp/lines/.flopwatch.yaml"
commit lines "a manifest that cannot be read"
push lines unplanned
fails "1: a commit that cannot be planned" 1 answer unplanned

# a benchmark that waits until the test releases it
branch lines slow main
{ echo "until [ -e $tmp/go ]; do sleep 0.05; done"; row one 1.00; } >"$tmp/lines/bench.sh"
commit lines "waits"
push lines slow
slow=$(head_of lines)
fails "6: timeout" 6 fw wait slow --timeout 2 --quiet
branch lines waiting main
row one 1.00 >"$tmp/lines/bench.sh"
echo "# older" >>"$tmp/lines/bench.sh"
commit lines "an older push"
older=$(head_of lines)
push lines waiting
await has_job "$older"
echo "# newer" >>"$tmp/lines/bench.sh"
commit lines "a newer push"
push lines waiting
await has_job "$(head_of lines)"
fails "1: a push that a newer one superseded has no verdict" 1 answer "$older"
like "and that is reported" "$out" 'superseded'
ok "cancelled" fw cancel "$(job_of "$slow")"
fails "1: and one that was cancelled has none" 1 answer slow
touch "$tmp/go"
ok "0: the newer one is judged" answer waiting

# a quick job sets no verdict of a commit
git -C "$tmp/lines" checkout -q --detach main
row one 1.30 >"$tmp/lines/bench.sh"
commit lines "in no branch"
git -C "$tmp/lines" push -q origin "HEAD:refs/tags/look"
fails "a quick comparison shows the regression" 3 fw compare main "$(head_of lines)" --quick --quiet --timeout 150
fails "4: but the commit has no verdict by it" 4 fw wait "$(head_of lines)" --quiet
