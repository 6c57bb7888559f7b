#!/bin/bash
# Reliability campaign, part 12: one change of the source, which a test must detect (mutation.py). A mutant takes seconds to minutes,
# so `make test` only checks which changes are made.
# Attacks: daemon/stats daemon/verdict daemon/model daemon/worker/sandbox web/answer/access.c web/answer/idempotent.c web/answer/login.c web/answer/write.c web/api/hook.c web/api/token.c web/http/http.c web/http/rate.c web/http/request.c web/http/route.c
. "$(dirname "$0")/../support/tap.sh"
mutants() { PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/campaign/mutation.py" "$@"; }
if ! PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/campaign python3 -c 'import mutants' 2>/dev/null; then
	skip "mutants" "python3-clang-14 is not installed"
	exit 0
fi
if [ -n "${CAMPAIGN_SECONDS:-}" ]; then
	printed=$(mutants) && killed=true || killed=false
	ok "tests kill at least 90 % of the mutants" $killed
	grep -E '^(campaign|# )' <<<"$printed"
	exit $?
fi
put "$tmp/a.c" '/* 1 < 2 */
#include <stdbool.h>
#define LIMIT 4.0 /* not 5 */
#define LESS(a, b) ((a) < (b))
static char room[16];
int next(int n);
bool is_low(double x)
{
	const char *text = "1 < 2";
	return x < LIMIT && LESS(x, 7) && *text && room[0];
}
int next(int n)
{
	for (int i = 0; i < n; i++) {
		if (i == 3)
			break;
		n += i;
	}
	return n;
}'
ok "places of a source can be listed" mutants --list "$tmp/a.c"
is "comments, strings, sizes of arrays and uses of macros have none" "$(sed 's/: .* -> /: /' <<<"$out")" "\
3: #define LIMIT 2.0 /* not 5 */
3: #define LIMIT 8.0 /* not 5 */
10: return ((x < LIMIT) || (LESS(x, 7))) && *text && room[0];
10: return ((x < LIMIT && LESS(x, 7)) || (*text)) && room[0];
10: return !(x < LIMIT && LESS(x, 7) && *text && room[0]);
10: return ((x < LIMIT && LESS(x, 7) && *text) || (room[0]));
10: return x <= LIMIT && LESS(x, 7) && *text && room[0];
10: return x >= LIMIT && LESS(x, 7) && *text && room[0];
10: return x < LIMIT && LESS(x, 7) && *text && room[1];
14: for (int i = 1; i < n; i++) {
14: for (int i = 0; i <= n; i++) {
14: for (int i = 0; i >= n; i++) {
15: if (!(i == 3))
15: if (i != 3)
15: if (i == 2)
15: if (i == 4)
16: if (i == 3) continue;
17: (void)0;
17: n -= i;
19: return 0;"

in_tree() { # Python, with $tmp as the folder in which make and the tests run
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/campaign python3 -c "
import os, pathlib, signal, mutation
mutation.TREE = pathlib.Path('$tmp')
$1"
}
if unshare --mount --pid --fork --map-root-user true 2>/dev/null; then
	mkdir -p "$tmp/tests/a"
	put "$tmp/tests/a/test_skips.sh" "echo 'not ok 1 - a # SKIP no device'; sleep 0.7" # longer than one look at its output
	ok "a test that skips kills no mutant" in_tree "assert mutation.Tests({}).failed('script', ['a/test_skips.sh']) is None"
else
	skip "a test that skips" "no namespaces here"
fi
killed='
tried, row = mutation.Mutation.__new__(mutation.Mutation), {}
tried.stages = lambda folder, file: [("unit", ["a/test_b"])]
tried.kill(row, "stats", "a.c")
assert row["by"] == "compiler" and row["what"] == "no x", row'
put "$tmp/Makefile" "%:; @echo 'a.c:3:7: error: no x'; false"
ok "a compiler kills a mutant" in_tree "$killed"
put "$tmp/Makefile" "%:; @echo 'a.c:3: fatal error: error writing to a.s: No space left on device'; false"
fails "a full disk does not" 1 in_tree "$killed"
like "and ends the part with make's output" "$out" "RuntimeError: make ends with 2.*No space left"
ok "SIGTERM ends what runs" in_tree "
signal.signal(signal.SIGTERM, mutation.Running.stop)
try:
    mutation.run('sh', '-c', 'echo \$\$ >pid; kill -TERM \$PPID; exec sleep 600')
    raise SystemExit('no signal')
except KeyboardInterrupt:
    pid = int((mutation.TREE / 'pid').read_text())
    assert not os.path.exists(f'/proc/{pid}')"
