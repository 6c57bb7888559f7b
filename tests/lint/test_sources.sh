#!/bin/bash
# The sources follow the rules: layers, format, forbidden calls.
cd "$(dirname "$0")/../.." || exit 1
n=0 bad=0
check() { # name, command...: passes when the command succeeds and prints nothing
	local name=$1 out
	shift
	n=$((n + 1))
	if out=$("$@" 2>&1) && [ -z "$out" ]; then
		echo "ok $n - $name"
	else
		printf '%s\n' "$out" | head -n 40 | sed 's/^/# /'
		echo "not ok $n - $name"
		bad=1
	fi
}
none() { ! grep -nE "$@"; }
sources() { git ls-files 'daemon/*.[ch]' 'db/*.[ch]' 'web/*.[ch]' 'daemon/*.cu'; }
shell_calls() { none '(^|[^a-z_>.])(system|popen|sprintf|vsprintf|strcpy|strcat|gets|mktemp)[[:space:]]*\(' $(sources); }
unfinished() { none -w 'TODO|FIXME|XXX' $(sources); }
built_sql() { none '(printf|puts|append)[^;]*"(SELECT|INSERT|UPDATE|DELETE) ' $(git ls-files 'db/*.c' 'daemon/*.c' 'web/*.c'); }
sql_elsewhere() { none -w 'db_(stmt|query|exec|any|insert|run_count|ids|first|first_int|first_text)' $(git ls-files 'daemon/*.[ch]' 'web/*.[ch]'); }
# These are enums (daemon/model, daemon/verdict). Other names of those lists, such as "failed", have several meanings.
compared_words() {
	local words='regression|improvement|undecided|not_comparable|unchanged|identical|rejected'
	words+='|selfcheck|calibrate|backfill|queued|checking|superseded|acknowledged|resolved|quarantined|paused|health_check'
	none "strcmp\\([^;]*\"($words)\"" $(git ls-files 'daemon/*.c' 'db/*.c' 'web/*.c')
}
pairs() { # every .c but main.c has its header
	local c
	for c in $(git ls-files 'daemon/*.c' 'db/*.c' 'web/*.c'); do
		case "$c" in */main.c) continue ;; esac
		grep -q '#include ".*\.h"' "$c" || echo "$c includes no header of ours"
	done
}
check "includes follow tests/layers.txt" tests/layers.py
if command -v clang-format-14 >/dev/null; then
	check "clang-format finds nothing to change" tests/check-format.sh
else
	n=$((n + 1))
	echo "ok $n - clang-format finds nothing to change # SKIP clang-format-14 is not installed"
fi
check "no shell, no unbounded string calls" shell_calls
check "nothing unfinished" unfinished
check "SQL is constant text" built_sql
check "SQL is written in db/ alone" sql_elsewhere
check "states, kinds and verdicts are not compared as text" compared_words
check "every file has a header" pairs
check "the way of a push is in the sources" bash -c "tests/trace_push.py >/dev/null"
check "documents are short, with valid links and names" tests/lint/docs.py
check "reference and man pages have exactly the keys that are read" tests/lint/keys.py
check "comments name existing files" tests/lint/comments.py
check "names of a family are in its folder alone" tests/lint/families.py
check "messages of doc/troubleshooting.md are in the sources" tests/lint/messages.py
check "doc/glossary.md has every shown term" tests/lint/glossary.py
check "doc/schema.md draws db/schema.sql" tests/draw-schema.sh doc/schema.md
check "shell scripts parse" bash -c 'for f in $(git ls-files "*.sh"); do bash -n "$f" || exit 1; done'
echo "1..$n"
exit $bad
