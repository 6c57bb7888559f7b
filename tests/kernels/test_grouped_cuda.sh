#!/bin/bash
# The module of grouped products for CUDA: it builds, its struct is laid out as Python has it, and it refuses problems with a reason,
# without a GPU.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
nvcc=$("$root/etc/find-cuda.sh" 2>/dev/null | sed -n 's/^NVCC := //p')
export PYTHONDONTWRITEBYTECODE=1 CUDA_VISIBLE_DEVICES=
if [ -z "$nvcc" ]; then
	skip "the module of grouped products for CUDA" "no CUDA toolkit that compiles a program"
	exit
fi
cp -r "$root/kernels" "$tmp/kernels"
rm -rf "$tmp/kernels/build"
ok "the module for CUDA builds" make -s -C "$tmp/kernels" DEVICE=cuda NVCC="$nvcc" build/cuda/libgrouped.so
[ -f "$tmp/kernels/build/cuda/libgrouped.so" ] || exit
cat >"$tmp/layout.c" <<'C'
#include "kernels/fw_grouped.h"
#include <stdio.h>
int main(void)
{
	printf("%zu %zu %zu %zu %zu\n", sizeof(struct fw_grouped), offsetof(struct fw_grouped, groups), offsetof(struct fw_grouped, rows),
		offsetof(struct fw_grouped, n), offsetof(struct fw_grouped, k));
	return 0;
}
C
ok "a C program prints the layout" gcc -I"$root" -I"$root/kernels" -o "$tmp/layout" "$tmp/layout.c"
cat >"$tmp/ask.py" <<'PY'
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import fw_grouped as grouped, fw_module as fw

print(ctypes.sizeof(grouped.Shape), *(getattr(grouped.Shape, name).offset for name in ("groups", "rows", "n", "k")))
module = fw.Module(sys.argv[2])
print("providers:", *module.providers)
provider = module.providers["mma"]

def ask(words, *sizes, direction=grouped.FORWARD):
    print(f"{words}: {grouped.GroupedProblem(*sizes, direction).why_not(provider) or 'takes it'}")

def plan(words, config, direction=grouped.FORWARD):
    try:
        grouped.GroupedPlan(provider, grouped.GroupedProblem(8, 100, 64, 128, direction), config=config)
        print(f"{words}: planned")
    except fw.ModuleError as error:
        print(f"{words}: {error.status} {error}")

for name, number in grouped.DIRECTIONS.items():
    ask(name, 8, 100, 64, 128, direction=number)
ask("backward", 8, 100, 64, 128, direction=fw.BACKWARD)
ask("odd", 8, 100, 60, 128)
ask("many", 1025, 100, 64, 128)
plan("wrong tile", "TILE=32x128")
plan("tile of wgrad", "TILE=16x128", grouped.WGRAD)
plan("no GPU", None)
PY
ok "the module answers" python3 "$tmp/ask.py" "$root/tests/gpu" "$tmp/kernels/build/cuda/libgrouped.so"
is "the struct lies where the compiler puts it" "$(head -1 <<<"$out")" "$("$tmp/layout")"
is "it has one provider, which takes every direction" "$(grep -E '^(providers|forward|dgrad|wgrad):' <<<"$out" | paste -sd' ')" \
	"providers: mma forward: takes it dgrad: takes it wgrad: takes it"
is "and refuses others with a reason" "$(grep -E '^(backward|odd|many|wrong tile|tile of wgrad):' <<<"$out")" \
	"backward: only forward, dgrad and wgrad
odd: n 128 and k 60 must be multiples of 8
many: 1 to 1024 groups with a row
wrong tile: 1 mma: plan: there is no TILE=32x128 of this problem
tile of wgrad: 1 mma: plan: there is no TILE=16x128 of this problem"
like "without a GPU a plan fails with the driver's reason" "$(grep '^no GPU:' <<<"$out")" '^no GPU: 3 mma: plan: device 0: '
