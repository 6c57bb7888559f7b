#!/bin/bash
# The script that checks two GPUs of a host prints the right output on two simulated ones, and detects faults.
. "$(dirname "$0")/../support/tap.sh"
mkdir -p "$tmp/bundle/share" "$tmp/modules"
ln -s "$bin" "$tmp/bundle/bin"
ln -s "$root/etc/suites" "$tmp/bundle/share/suites"
module() { # name, factor, text
	sed "s/\.build = \"/&$3/" "$root/tests/modules/good.c" >"$tmp/$1.c"
	gcc -std=gnu17 -O2 -s -fPIC -shared -fvisibility=hidden "-DWORK_FACTOR=$2" -I"$root" -o "$tmp/modules/$1.so" "$tmp/$1.c" -lm
}
# The machine that it is for has no sqlite3.
mkdir "$tmp/without"
printf '#!/bin/sh\necho "there is no sqlite3" >&2\nexit 127\n' >"$tmp/without/sqlite3"
chmod +x "$tmp/without/sqlite3"
two() {
	PATH=$tmp/without:$PATH DEVICE=sim SEQLENS="64, 128" SHAPE="nhq: 2, nhk: 1, headdim: 64" MODULES=$tmp/modules FLOPWATCH_SIM_SEED=6 ROUNDS=1 bash "$root/tests/gpu/two.sh" "$tmp/bundle" "$tmp/out" >"$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
}
module base 1.0 ""
module twin 1.0 "twin 0, "
module slower 1.1 ""
module hungry 1.2 ""
ok "two devices are as they are to be" two
is "in each of its lines" "$(grep -c '^ok ' "$tmp/out/seen.txt") $(grep '^not ok' -A 2 "$tmp/out/seen.txt")" "14 "
export LIMIT_S=0
fails "what takes too long does not end it" 1 two
unset LIMIT_S
is "and is reported" "$(grep -c '^# [a-z0-9]* is not judged' "$tmp/out/seen.txt") $(tail -n 1 "$tmp/out/seen.txt")" "7 1..14"
module slower 1.0 "nothing is planted, "
fails "what was planted and is not found is noticed" 1 two
is "in its lines" "$(grep '^not ok' "$tmp/out/seen.txt" | cut -c 1-46)" "not ok 10 - what was planted is a loss: slower
not ok 11 - each of its cells is overwhelming,"
