#!/bin/bash
# fuzz.py, with a script instead of a fuzzer: which findings count, and what a signal leaves.
. "$(dirname "$0")/../support/tap.sh"
mkdir -p "$tmp/tests/web"
touch "$tmp/tests/web/fuzz_some.c"
search() { # SECONDS, what the input does when it runs alone: it takes too long in a search
	cat >"$tmp/fuzzer" <<-EOF
		#!/bin/bash
		for word; do case \$word in
		-artifact_prefix=*) touch "\${word#*=}timeout-1"; echo "Test unit written to \${word#*=}timeout-1"; exit 70 ;;
		esac; done
		$2
	EOF
	chmod +x "$tmp/fuzzer"
	CAMPAIGN_SECONDS=$1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/campaign exec python3 -c "
import pathlib, sys, fuzz
fuzz.ROOT = pathlib.Path('$tmp')
fuzz.build = lambda source: fuzz.ROOT / 'fuzzer'
sys.argv = ['fuzz.py', 'some']
fuzz.main()"
}
ok "an input that was slow on a busy machine is no finding" eval '(search 1 "exit 0")'
like "and is counted" "$out" "^campaign fuzz-some 1 1 0 "
fails "one that hangs alone is" 1 eval '(search 1 "exit 70")'
like "and is named" "$out" "timeout-1"
fails "one that crashes alone is" 1 eval '(search 1 "kill -SEGV \$\$")'
is "and stays" "$(ls "$tmp/build/fuzz/findings/some")" timeout-1
search 60 "echo \"\$FUZZ_FOLDER\" >$tmp/folder; exec sleep 600" &
searches=$!
await test -s "$tmp/folder"
kill $searches
wait $searches
is "SIGTERM ends a search" $? 143
is "and its folder is removed" "$(ls -d "$(cat "$tmp/folder")" 2>&1 | grep -c "No such file")" 1
