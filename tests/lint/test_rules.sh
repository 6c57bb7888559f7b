#!/bin/bash
# The lints of folders and families detect violations: a copy of the sources is broken on purpose, one position at a time.
. "$(dirname "$0")/../support/tap.sh"
mkdir "$tmp/tree"
(cd "$root" && git ls-files daemon db web kernels | grep -E "\.(c|h|cu|cuh|sql)$" | xargs cp --parents -t "$tmp/tree")
export ROOT=$tmp/tree PYTHONDONTWRITEBYTECODE=1
broken() { # name, file, line appended to it, script, its message
	cp "$ROOT/$2" "$tmp/kept"
	printf '%s\n' "$3" >>"$ROOT/$2"
	fails "$1" 1 "$root/tests/$4"
	like "says where" "$out" "^$5"
	cp "$tmp/kept" "$ROOT/$2"
}
ok "the copy follows layers.txt" "$root/tests/layers.py"
ok "and the rule of families" "$root/tests/lint/families.py"
broken "a family's word elsewhere is found" db/view_live.c 'static int seqlen;' lint/families.py 'db/view_live.c:[0-9]+: names seqlen, which is attention'
broken "so is a name of a family's header" daemon/worker/compare_alone.c 'static int f = FW_LINEAR;' lint/families.py 'daemon/worker/compare_alone.c:[0-9]+: names FW_LINEAR, which is linear'
broken "a file that may name it in a string may not elsewhere" daemon/readers/ffa.c 'static int seqlen;' lint/families.py 'daemon/readers/ffa.c:[0-9]+: names seqlen outside of a string'
broken "a file that may name one word may not name others" daemon/readers/ffa.c 'static const char *x = "causal";' lint/families.py 'daemon/readers/ffa.c:[0-9]+: names causal'
mv "$ROOT/daemon/cli/export.c" "$tmp/export.c"
fails "a deleted word must be removed from the list" 1 "$root/tests/lint/families.py"
like "says which" "$out" '^daemon/cli/export.c: names attention no more'
mv "$tmp/export.c" "$ROOT/daemon/cli/export.c"
broken "a family that includes another is found" daemon/families/layernorm/layernorm.c '#include "families/linear/linear.h"' layers.py \
	'daemon/families/layernorm/layernorm.c:[0-9]+: daemon/families/layernorm may not include daemon/families/linear'
broken "and a reference that includes another family's" daemon/families/layernorm/reference_check.c '#include "families/linear/internal.h"' layers.py \
	'daemon/families/layernorm/reference_check.c:[0-9]+: daemon/families/layernorm may not include daemon/families/linear'
mkdir "$ROOT/daemon/families/new"
printf '#include "model/model.h"\n#include "lib/lib.h"\n' >"$ROOT/daemon/families/new/new.c"
printf '#include "families/new/new.h"\n#include "runner/runner.h"\n' >"$ROOT/daemon/families/new/reference.c"
touch "$ROOT/daemon/families/new/new.h"
ok "a new family needs no row" "$root/tests/layers.py"
