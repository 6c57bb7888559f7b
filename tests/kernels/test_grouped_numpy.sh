#!/bin/bash
# What the kernels of grouped products compute, against numpy: groups of every size, also without rows, in each direction. First the
# provider for CPUs, then the CUDA kernel "mma", whose source runs on the CPU (tests/support/mma_on_host.h): its arithmetic and its
# schedule are checked without a GPU, its launches and its timing are not.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
python=
for p in python3 /usr/bin/python3; do
	"$p" -c 'import numpy' 2>/dev/null && { python=$p; break; }
done
if [ -z "$python" ]; then
	skip "the kernels agree with numpy" "numpy is missing: install python3-pandas"
	exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
cp -r "$root/kernels" "$tmp/kernels"
rm -rf "$tmp/kernels/build"
ok "the module for CPUs builds" make -s -C "$tmp/kernels" DEVICE=cpu EXTRA=-O1 build/cpu/libgrouped.so
cat >"$tmp/drive.py" <<'PY'
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import fw_module as fw
import fw_grouped as grouped

GUARD = 1 << 16  # elements behind a result, which no kernel may touch
POISON = 0xFFFF

def bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

def value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

def aligned(a):
    held = np.zeros(a.nbytes + 16, np.uint8)
    start = -held.ctypes.data % 16
    out = held[start:start + a.nbytes].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out

def case(name, sizes, k, n, config=None):
    rng = np.random.default_rng(len(sizes) + k)
    groups, rows = len(sizes), sum(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    x, dy, w = (aligned(bf16(rng.standard_normal(shape))) for shape in ((rows, k), (rows, n), (groups, n, k)))
    X, DY, W = value(x), value(dy), value(w)
    of = [slice(offsets[g], offsets[g + 1]) for g in range(groups)]
    for direction, number in grouped.DIRECTIONS.items():
        if config and direction == "wgrad" and not config.startswith("TILE=128"):
            continue
        shape, slot, inputs, want = {
            "forward": ((rows, n), grouped.Y, {grouped.X: x, grouped.W: w}, lambda: np.concatenate([X[s] @ W[g].T for g, s in enumerate(of)])),
            "dgrad": ((rows, k), grouped.DX, {grouped.DY: dy, grouped.W: w}, lambda: np.concatenate([DY[s] @ W[g] for g, s in enumerate(of)])),
            "wgrad": ((groups, n, k), grouped.DW, {grouped.DY: dy, grouped.X: x}, lambda: np.stack([DY[s].T @ X[s] for s in of])),
        }[direction]
        count = int(np.prod(shape))
        out = aligned(np.full(count + GUARD, POISON, np.uint16))
        held = inputs | {grouped.OFFSETS: offsets, slot: out}
        plan = grouped.GroupedPlan(provider, grouped.GroupedProblem(groups, rows, k, n, number), 2, config)
        space = ctypes.create_string_buffer(plan.workspace_bytes + 256)
        plan.bind({s: a.ctypes.data for s, a in held.items()}, (ctypes.addressof(space) + 255) // 256 * 256)
        plan.enqueue()
        exact = want().reshape(-1)
        error = np.abs(value(out[:count]) - exact) / (np.abs(exact) / 256 + 1e-5 * np.sqrt(k * n) + 1e-30)
        worst = np.nan_to_num(error, nan=1e9).max()
        clean = (out[count:] == POISON).all()
        print(f"{name} {direction} {plan.config} worst {worst:.3f} {'agrees' if worst <= 1 and clean else 'DIFFERS'}")

provider = next(iter(fw.Module(sys.argv[2]).providers.values()))
ragged = [0, 5, 130, 0, 0, 1, 64, 17, 0]
if provider.device == fw.CPU:
    case("ragged", ragged, 72, 136)
    case("wide", [300, 0, 3], 520, 264)
    case("one", [1], 8, 8)
    case("many", [i % 3 for i in range(300)], 8, 16)
elif len(sys.argv) > 3:
    case("ragged", ragged, 72, 136, "TILE=16x128")
else:
    for rows in (16, 64, 128):
        case("ragged", ragged, 72, 136, f"TILE={rows}x128")
    case("one", [1], 8, 8)
    case("many", [i % 3 for i in range(300)], 8, 16)  # more groups than threads
    case("more", [0] * 600 + [2] + [0] * 422 + [1], 8, 8, "TILE=16x128")  # as many as there may be
PY
ok "the module runs" "$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/kernels/build/cpu/libgrouped.so"
is "each case agrees in each direction" "$(grep -c ' agrees$' <<<"$out") $(grep -c DIFFERS <<<"$out")" "12 0"

mkdir -p "$tmp/host/hopper"
cp "$root/tests/support/cuda_on_host.h" "$root/tests/support/mma_on_host.h" "$tmp/host"
for header in cuda_runtime cuda_bf16; do
	echo '#include "cuda_on_host.h"' >"$tmp/host/$header.h"
done
for header in sm80 launch; do
	echo '#include "mma_on_host.h"' >"$tmp/host/hopper/$header.h"
done
sed -E 's/extern (__shared__ __align__\(128\) unsigned char memory\[)\];/\1HOST_SHARED_BYTES];/' "$root/kernels/grouped/mma.cu" >"$tmp/host/mma.cpp"
is "its shared memory is the host's" "$(grep -c 'memory\[HOST_SHARED_BYTES\]' "$tmp/host/mma.cpp")" 1
cp "$root/kernels/grouped/provider.cu" "$tmp/host/provider.cpp"
cat >"$tmp/host/module.cpp" <<'CPP'
#include "grouped/providers.h"
#include "common/module.h"
static const struct fw_provider *const providers[] = { &grouped_mma };
MODULE("mma on the host");
CPP
build() { # name: the CUDA kernel for the host
	g++ -std=c++17 -O1 -w -fPIC -shared -I"$tmp/host" -I"$root/kernels" -I"$root/kernels/grouped" -o "$tmp/$1.so" \
		"$tmp/host/mma.cpp" "$tmp/host/provider.cpp" "$tmp/host/module.cpp"
}
ok "the CUDA kernel builds for the host" build mma
ok "and runs" "$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/mma.so"
is "each case agrees in each direction" "$(grep -c ' agrees$' <<<"$out") $(grep -c DIFFERS <<<"$out")" "15 0"
wrong() { # words, sed script
	cp "$tmp/host/mma.cpp" "$tmp/host/right.cpp"
	sed -i "$2" "$tmp/host/mma.cpp"
	if cmp -s "$tmp/host/mma.cpp" "$tmp/host/right.cpp"; then
		is "a kernel that $1 is written" "" "a change of mma.cu"
	else
		ok "a kernel that $1 builds" build wrong
		"$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/wrong.so" quick >"$tmp/out" 2>&1
		like "and is found" "$(cat "$tmp/out")" DIFFERS
	fi
	mv "$tmp/host/right.cpp" "$tmp/host/mma.cpp"
}
wrong "does not wait for its loads" '0,/sm80_copy_wait();/s///'
wrong "stores rows of the next group" 's/y < rows_of<DIRECTION>(job, p) && x < columns/x < columns/'
wrong "multiplies by the matrix of the group before" 's/matrix = (int64_t)group \* job.n/matrix = (int64_t)(group > 0 ? group - 1 : 0) * job.n/'
