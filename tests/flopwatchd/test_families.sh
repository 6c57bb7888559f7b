#!/bin/bash
# Two families of one commit: a module each, one manifest, three suites. A planted change of linear layers is found only in its cells, and with its
# element if it is a wrong result; attention is unchanged. The same as tests/gpu/linear.sh on a GPU, with CPU kernels whose times are those of
# device sim.
. "$(dirname "$0")/../support/tap.sh"
export FLOPWATCH_SIM_SEED=${FLOPWATCH_SIM_SEED:-6}
mkdir -p "$tmp/bundle/share/suites" "$tmp/modules"
ln -s "$bin" "$tmp/bundle/bin"
cp "$root"/etc/suites/*.yaml "$tmp/bundle/share/suites/"
cp -r "$root/kernels" "$tmp/bundle/kernels"
rm -rf "$tmp/bundle/kernels/build"
gcc -std=gnu17 -O1 -fPIC -shared -fvisibility=hidden -DWORK_FACTOR=1.0 -I"$root" -I"$root/kernels" -o "$tmp/modules/attention.so" "$root/tests/modules/good.c" -lm
DEVICE=sim MODULES=$tmp/modules LAYERNORM_CELLS='*/r4096/c1024/*' bash "$root/tests/gpu/linear.sh" "$tmp/bundle" "$tmp/out" >"$tmp/log" 2>&1
status=$?
cp "$tmp/out/report.txt" "$tmp/report" 2>/dev/null
is "everything that was planted was found, and nothing else" "$status $(grep '^not ok' "$tmp/report")" "0 "
[ $status = 0 ] || tail -n 30 "$tmp/log" | sed 's/^/# /'
like "main against itself is unchanged, 40 cells of linear layers" "$(cat "$tmp/report")" '^ok .*main beside itself: 40 cells of layers are unchanged'
like "a loss of 2 % is found in the eight cells of its recipe" "$(cat "$tmp/report")" '^ok .*loss: regression in the 8 cells of int8wo'
like "attention's are measured again and unchanged" "$(cat "$tmp/report")" '^ok .*loss: 4 cells of heads are measured again and unchanged'
like "a wrong scale of one group is found with its element" "$(cat "$tmp/report")" '^ok .*group: each names an element: .*Y\[[0-9]+, 0\] is -?[0-9.]+, should be '
like "attention's module, which is the same, is not measured for it" "$(cat "$tmp/report")" '^ok .*group: attention is identical'
ok "its rate of GB/s is reported of layer normalisation" grep -qE '^# +layernorm/r4096/c1024/bf16/(forward|backward): [0-9]+ GB/s' "$tmp/report"
