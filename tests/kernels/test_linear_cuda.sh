#!/bin/bash
# The linear module for CUDA: the shapes that its providers accept and reject, with messages, and their answers without a GPU.
# Starts early.
. "$(dirname "$0")/../support/tap.sh"
nvcc=$("$root/etc/find-cuda.sh" 2>/dev/null | sed -n 's/^NVCC := //p')
export PYTHONDONTWRITEBYTECODE=1 CUDA_VISIBLE_DEVICES=
if [ -z "$nvcc" ]; then
	skip "the linear module for CUDA" "no CUDA toolkit that compiles a program"
	exit
fi
cp -r "$root/kernels" "$tmp/kernels"
rm -rf "$tmp/kernels/build"
ok "the linear module for CUDA builds, no gemm kernel spills" make -s -j2 -C "$tmp/kernels" DEVICE=cuda NVCC="$nvcc" build/cuda/liblinear.so
[ -f "$tmp/kernels/build/cuda/liblinear.so" ] || exit
# As ccache and module systems put it into PATH: there are no headers next to such a file.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$nvcc" >"$tmp/nvcc"
chmod +x "$tmp/nvcc"
ok "C that includes CUDA's headers compiles by a wrapper of nvcc" make -s -C "$tmp/kernels" DEVICE=cuda NVCC="$tmp/nvcc" build/cuda/cudnn.o

cat >"$tmp/layout.py" <<'PY'
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import fw_linear
for name, struct in fw_linear.STRUCTS.items():
    print("struct", name, ctypes.sizeof(struct), *(f"{f[0]}:{getattr(struct, f[0]).offset}" for f in struct._fields_))
PY
ok "the layout of the shape in Python" python3 "$tmp/layout.py" "$root/tests/gpu"
mirror=$out
{
	printf '#include "kernels/fw_linear.h"\n#include <stdio.h>\nint main(void)\n{\n'
	while read -r _ name _ fields; do
		printf 'printf("struct %s %%zu", sizeof(struct %s));\n' "$name" "$name"
		for field in $fields; do
			printf 'printf(" %s:%%zu", offsetof(struct %s, %s));\n' "${field%:*}" "$name" "${field%:*}"
		done
		printf 'printf("\\n");\n'
	done <<<"$mirror"
	printf 'return 0;\n}\n'
} >"$tmp/layout.c"
ok "a C program prints the layout" gcc -I"$root" -I"$root/kernels" -o "$tmp/layout" "$tmp/layout.c"
is "the shape lies where the compiler puts it" "$mirror" "$("$tmp/layout")"

cat >"$tmp/ask.py" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import fw_linear as linear, fw_module as fw

module = fw.Module(sys.argv[2])
print("providers:", " ".join(module.providers))

def ask(provider, text, **problem):
    why = linear.LinearProblem(**problem).why_not(module.providers[provider])
    print(f"{provider} {text}: {why or 'takes it'}")

def plan(provider, text, config=None, **problem):
    try:
        linear.LinearPlan(module.providers[provider], linear.LinearProblem(**problem), config=config)
        print(f"{provider} {text}: planned")
    except fw.ModuleError as error:
        print(f"{provider} {text}: {error.status} {error}")

whole = dict(m=256, k=512, n=1024)
for direction, number in linear.DIRECTIONS.items():
    ask("hopper", direction, **whole, direction=number)
for recipe in ("int8wo", "int4wo-32", "int4wo-256", "float8wo", "float8dq-tensor", "float8dq-row"):
    ask("hopper", recipe, **whole, recipe=recipe)
ask("hopper", "normalised, with silu", **whole, prologue=1, activation=6, bias=1)
ask("hopper", "k 100", m=256, k=100, n=1024)
ask("hopper", "n 1004", m=256, k=512, n=1004)
ask("hopper", "e4m3 with k 520", m=256, k=520, n=1024, recipe="float8dq-row")
ask("hopper", "k 320 in groups of 128", m=256, k=320, n=1024, recipe="int4wo-128")
ask("hopper", "groups of 16", **whole, recipe="int4wo-16")
ask("hopper", "total of float8dq-row", **whole, direction=linear.TOTAL, recipe="float8dq-row")
ask("skinny", "total", **whole, direction=linear.TOTAL)
ask("naive", "total of float8dq-row", m=3, k=7, n=5, direction=linear.TOTAL, recipe="float8dq-row")
ask("hopper", "an activation in dgrad", **whole, direction=linear.DGRAD, activation=1)
ask("hopper", "2^31 elements", m=65536, k=32768, n=64)
ask("hopper", "an unknown activation", **whole, activation=99)
ask("hopper", "m 0", m=0, k=64, n=64)
ask("v1", "forward", **whole)
ask("v1", "int8wo", **whole, recipe="int8wo")
ask("v1", "relu", **whole, activation=1)
for provider in ("skinny", "hopper", "v1", "cublaslt", "naive", "fp8"):
    ask(provider, "float8dq-block", m=16, k=512, n=1024, recipe="float8dq-block")
by_block, by_row = (linear.E4M3, linear.BY_BLOCK, 128), (linear.E4M3, linear.BY_ROW)
for direction in ("dgrad", "wgrad", "total"):
    for provider in ("fp8", "naive"):
        ask(provider, f"{direction} of float8dq-block", **whole, direction=linear.DIRECTIONS[direction], recipe="float8dq-block", dy=by_block)
    ask("fp8", f"{direction} of float8dq-row", **whole, direction=linear.DIRECTIONS[direction], recipe="float8dq-row", dy=by_row)
    ask("fp8", f"{direction} of float8dq-tensor", **whole, direction=linear.DIRECTIONS[direction], recipe="float8dq-tensor",
        dy=(linear.E5M2, linear.BY_TENSOR))
ask("fp8", "float8dq-block, normalised, with silu", **whole, recipe="float8dq-block", prologue=1, activation=6, bias=1)
ask("fp8", "k 520 by block", m=256, k=520, n=1024, recipe="float8dq-block")
ask("fp8", "k 520 by row", m=256, k=520, n=1024, recipe="float8dq-row")
ask("fp8", "k 516 by block", m=256, k=516, n=1024, recipe="float8dq-block")
ask("fp8", "n 1004", m=256, k=512, n=1004, recipe="float8dq-block")
ask("fp8", "bf16", **whole)
ask("fp8", "W alone", **whole, recipe="float8wo")
ask("fp8", "dY by row with W by block", **whole, direction=linear.DGRAD, recipe="float8dq-block", dy=by_row)
ask("v1", "8388480 columns", m=1, k=8, n=8388480)
ask("v1", "8388488 columns", m=1, k=8, n=8388488)
ask("v1", "dgrad of as many rows", m=1, k=8, n=8388488, direction=linear.DGRAD)
for recipe in ("int8wo", "int4wo-32", "int4wo-128", "int4wo-256", "float8wo", "float8dq-row", "float8dq-tensor", "baseline", "int4wo-16"):
    ask("skinny", recipe, m=1, k=512, n=1001, recipe=recipe)
ask("skinny", "64 rows, normalised, with silu", m=64, k=512, n=1001, recipe="int8wo", prologue=1, activation=6, bias=1)
ask("skinny", "65 rows", m=65, k=512, n=1001, recipe="int8wo")
ask("skinny", "k 100", m=1, k=100, n=64, recipe="int8wo")
ask("skinny", "k 320 in groups of 128", m=1, k=320, n=64, recipe="int4wo-128")
ask("skinny", "dgrad", m=1, k=512, n=64, recipe="int8wo", direction=linear.DGRAD)
ask("naive", "odd sizes", m=3, k=7, n=5, recipe="float8dq-row")
ask("naive", "dgrad", m=3, k=7, n=5, recipe="int8wo", direction=linear.DGRAD)
ask("naive", "k 100 in groups of 32", m=3, k=100, n=5, recipe="int4wo-32")
block = dict(k=512, n=512, prologue=2)
for recipe in ("baseline", "int8wo", "int4wo-256", "float8wo", "float8dq-row", "float8dq-tensor"):
    ask("block", recipe, m=3, recipe=recipe, **block)
ask("naive.block", "baseline", m=3, **block)
ask("hopper", "a block", m=3, **block)
ask("naive", "a block", m=3, **block)
for direction in ("dgrad", "wgrad", "total"):
    ask("block", direction, m=3, direction=linear.DIRECTIONS[direction], **block)
ask("block", "a product", **whole)
ask("block", "k 100", m=3, k=100, n=100, prologue=2)
ask("block", "n 64", m=3, k=512, n=64, prologue=2)
ask("block", "k 320 in groups of 128", m=3, k=320, n=320, recipe="int4wo-128", prologue=2)
ask("block", "2^31 elements", m=65536, **block)
plan("block", "without a GPU", m=3, **block)
plan("skinny", "without a GPU", m=1, k=512, n=64, recipe="int8wo")
plan("hopper", "without a GPU", **whole)
plan("fp8", "without a GPU", **whole, recipe="float8dq-block")
plan("v1", "without a GPU", **whole)
plan("v1", "another configuration", config="TILE=64x64", **whole)
PY
ok "the module answers where there is no GPU" python3 "$tmp/ask.py" "$root/tests/gpu" "$tmp/kernels/build/cuda/liblinear.so"
answers=$out
like "the newest kernels come first" "$answers" '^providers: skinny hopper '
takes() { like "$1 $2 is taken" "$answers" "^$1 $2: takes it$"; }
refuses() { like "$1 $2 is refused and said why" "$answers" "^$1 $2: $3"; }
for what in forward dgrad wgrad total int8wo int4wo-32 int4wo-256 float8wo float8dq-tensor float8dq-row 'normalised, with silu'; do
	takes hopper "$what"
done
refuses hopper 'k 100' 'rows must be multiples of 16 bytes: k of 8 elements, n of 8, not k 100, n 1024$'
refuses hopper 'n 1004' '.*not k 512, n 1004$'
refuses hopper 'e4m3 with k 520' 'rows must be multiples of 16 bytes: k of 16 elements'
refuses hopper 'k 320 in groups of 128' 'k = 320 is not a multiple of the group of 128$'
refuses hopper 'groups of 16' '.*groups of 32 to 256'
refuses hopper 'total of float8dq-row' 'dgrad: only bf16, and in forward e4m3'
refuses skinny total 'forward: m is at most 64$'
takes naive 'total of float8dq-row'
refuses hopper 'an activation in dgrad' 'gradients come without prologue, activation and bias$'
refuses hopper '2\^31 elements' 'a tensor has more than 2\^31 - 1 elements$'
refuses hopper 'an unknown activation' 'unknown prologue or activation$'
refuses hopper 'm 0' 'm, n and k must be at least 1$'
takes v1 forward
refuses v1 int8wo 'only bf16$'
refuses v1 relu 'only the product'
for provider in skinny hopper v1 cublaslt; do
	refuses $provider float8dq-block 'scales by block change within a sum; only providers fp8, naive and cpu compute such sums$'
done
for provider in fp8 naive; do
	for what in float8dq-block 'dgrad of float8dq-block' 'wgrad of float8dq-block' 'total of float8dq-block'; do
		takes $provider "$what"
	done
done
for what in dgrad wgrad total; do
	takes fp8 "$what of float8dq-row"
	takes fp8 "$what of float8dq-tensor"
done
takes fp8 'float8dq-block, normalised, with silu'
takes fp8 'k 520 by block'
refuses fp8 'k 520 by row' 'rows must be multiples of 16 elements, not 520$'
refuses fp8 'k 516 by block' 'rows must be multiples of 8 elements, not 516$'
refuses fp8 'n 1004' 'rows of the result must be multiples of 8, not 1004$'
refuses fp8 bf16 'only X and W in e4m3, and DY in e4m3 or e5m2$'
refuses fp8 'W alone' 'only X and W in e4m3'
refuses fp8 'dY by row with W by block' 'only both operands or none with a scale for every block$'
takes v1 '8388480 columns'
refuses v1 '8388488 columns' '8388488 columns of the result are more than the 8388480 that a launch has blocks for$'
takes v1 'dgrad of as many rows'
for what in int8wo int4wo-32 int4wo-128 int4wo-256 float8wo float8dq-row float8dq-tensor baseline '64 rows, normalised, with silu'; do
	takes skinny "$what"
done
refuses skinny int4wo-16 'groups are of 32, 64, 128 or 256$'
refuses skinny '65 rows' 'm is at most 64$'
refuses skinny 'k 100' 'k must be a multiple of 8$'
refuses skinny 'k 320 in groups of 128' 'k = 320 is not a multiple of the group of 128$'
refuses skinny dgrad 'only forward of X in bf16 or e4m3$'
takes naive 'odd sizes'
takes naive dgrad
refuses naive 'k 100 in groups of 32' 'k = 100 is not a multiple of the group of 32$'
refuses skinny 'without a GPU' '[13] skinny: plan: the properties of device 0 cannot be read'
refuses hopper 'without a GPU' '[13] hopper: plan: device 0: '
refuses fp8 'without a GPU' '[13] fp8: plan: '
refuses v1 'without a GPU' '[13] v1: plan: device 0: '
refuses v1 'another configuration' '1 v1: plan: config "TILE=64x64" is not TILE=128x128$'
for what in baseline int8wo int4wo-256 float8wo float8dq-row; do
	takes block "$what"
done
takes naive.block baseline
refuses block float8dq-tensor 'in a transformer block X has no scale by tensor$'
refuses hopper 'a block' 'only products, no transformer block$'
refuses naive 'a block' 'only products, no transformer block$'
for what in dgrad wgrad; do
	refuses block $what 'only provider cpu.block computes gradients of a transformer block$'
done
refuses block total 'a transformer block has only forward, dgrad, wgrad and total$'
refuses block 'a product' 'only transformer blocks$'
refuses block 'k 100' '.*k a multiple of its 8 heads'
refuses block 'n 64' '.*and n = k$'
refuses block 'k 320 in groups of 128' 'k = 320 is not a multiple of the group of 128$'
refuses block '2\^31 elements' 'a tensor has more than 2\^31 - 1 elements$'
like "block without a GPU is planned by the plainest products" "$answers" '^block without a GPU: (planned|[0-9] block: )'
