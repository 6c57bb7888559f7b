#!/bin/bash
# What the kernel for CPUs computes for serving, against a computation in numpy that shares no code with the reference: decoding,
# speculative decoding, a window, pages, both, and packed prompts. Then the same of the CUDA kernels of provider "decode", whose
# source runs on the CPU (tests/support/cuda_on_host.h): their arithmetic is checked without a GPU, their launches are not.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
python=
for p in python3 /usr/bin/python3; do
	"$p" -c 'import numpy' 2>/dev/null && { python=$p; break; }
done
if [ -z "$python" ]; then
	skip "the kernel agrees with numpy" "numpy is missing: install python3-pandas"
	exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
copy_kernels "$tmp/kernels"
ok "the module for CPUs builds" make -s -C "$tmp/kernels" DEVICE=cpu build/cpu/libattention.so
cat >"$tmp/drive.py" <<'PY'
import ctypes, sys
sys.path[:0] = sys.argv[1:3]
import numpy as np
import fw_module as fw
import inputs

def bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

def value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

def case(name, lengths, queries, nhq, nhk, d, window=0, page=0):
    rng = np.random.default_rng(len(name))
    of_q = [queries or n for n in lengths]
    cu_q, cu_k = (np.concatenate([[0], np.cumsum(x)]).astype(np.int32) for x in (of_q, lengths))
    entries = -(-max(lengths) // page) if page else 0
    table = np.array(inputs.page_table(42, lengths, page), np.int32).reshape(len(lengths), entries) if page else None
    n_pages = sum(-(-n // page) for n in lengths) if page else 0
    rows = n_pages * page if page else cu_k[-1]
    q, k, v = (bf16(rng.standard_normal((n, h, d))) for n, h in ((cu_q[-1], nhq), (rows, nhk), (rows, nhk)))
    o, lse = np.full(q.shape, 0xFFFF, np.uint16), np.full((nhq, cu_q[-1]), np.nan, np.float32)
    held = {fw.Q: q, fw.K: k, fw.V: v, fw.O: o, fw.LSE: lse, fw.CU_Q: cu_q, fw.CU_K: cu_k}
    if page:
        held[fw.PAGES] = table
    problem = fw.AttentionProblem(fw.FORWARD, fw.CACHE if window or page else fw.CAUSAL, int(cu_q[-1]), int(cu_k[-1]), nhq, nhk, d,
                                  lengths=of_q, max_k=max(lengths), window=window, page=page, n_pages=n_pages)
    plan = fw.Plan(provider, problem, 1)
    space = ctypes.create_string_buffer(plan.workspace_bytes + 256)
    plan.bind({s: a.ctypes.data for s, a in held.items()}, (ctypes.addressof(space) + 255) // 256 * 256)
    plan.enqueue()
    worst = 0
    for s, n in enumerate(lengths):
        at = cu_k[s] + np.arange(n) if not page else table[s][np.arange(n) // page] * page + np.arange(n) % page
        for i in range(of_q[s]):
            own = n - of_q[s] + i  # this query's own key
            seen = at[max(0, own + 1 - window) if window else 0:own + 1]
            for h in range(nhq):
                score = value(k[seen, h * nhk // nhq]) @ value(q[cu_q[s] + i, h]) / np.sqrt(d)
                want_lse = np.log(np.sum(np.exp(score)))
                want = np.exp(score - want_lse) @ value(v[seen, h * nhk // nhq])
                worst = max(worst, abs(lse[h, cu_q[s] + i] - want_lse), np.max(np.abs(value(o[cu_q[s] + i, h]) - want) / (0.01 + abs(want))) / 10)
    print(f"{name} worst {worst:.4f} {'agrees' if worst < 1e-3 else 'DIFFERS'}")

provider = next(iter(fw.Module(sys.argv[3]).providers.values()))
case("decode", [700, 64, 65, 1], 1, 8, 1, 128)
case("speculative", [200, 5], 5, 4, 4, 64)
case("window", [300, 90, 40], 16, 8, 2, 64, window=70)
case("pages", [100, 17, 256, 1], 1, 8, 1, 256, page=16)
case("window-pages", [333, 90], 3, 2, 1, 64, window=100, page=24)
if provider.device == fw.CPU:
    case("packed", [3, 70, 1, 129], 0, 4, 2, 64)
else:  # more shares than tiles, and more rows than a thread block has
    case("shares", [2000], 1, 8, 1, 128)
    case("rows", [100, 16, 517], 16, 8, 2, 64, window=33)
PY
ok "the module runs" "$python" "$tmp/drive.py" "$root/tests/gpu" "$root/tests/support" "$tmp/kernels/build/cpu/libattention.so"
is "each case agrees" "$(grep -c ' agrees$' <<<"$out")" 6
like "with numbers" "$out" 'decode worst 0\.000'

mkdir "$tmp/host"
cp "$root/tests/support/cuda_on_host.h" "$tmp/host/cuda_runtime.h"
for header in cuda_bf16 cuda_fp16 math_constants; do
	echo '#include "cuda_runtime.h"' >"$tmp/host/$header.h"
done
launch='s/(split|combine)_kernel<([^>]*)><<<([^,]*), ([^,]*), 0, stream>>>\(\*job\)/host_launch([](const void *job) { \1_kernel<\2>(*(const struct decode_job *)job); }, \3, \4, job)/'
sed -E "$launch" "$root/kernels/attention/decode/kernels.cu" >"$tmp/host/kernels.cpp"
is "four launches are those of the host" "$(grep -c 'host_launch(' "$tmp/host/kernels.cpp") $(grep -c '<<<' "$tmp/host/kernels.cpp")" "4 0"
cp "$root/kernels/attention/decode/provider.cu" "$tmp/host/provider.cpp"
cat >"$tmp/host/module.cpp" <<'CPP'
#include "attention/providers.h"
#include "common/module.h"
static const struct fw_provider *const providers[] = { &attention_decode };
MODULE("decode on the host");
CPP
ok "the CUDA kernels build for the host" g++ -std=c++17 -O1 -w -fPIC -shared -I"$tmp/host" -I"$root/kernels" -I"$root/kernels/attention/decode" -o "$tmp/decode.so" \
	"$tmp/host/kernels.cpp" "$tmp/host/provider.cpp" "$tmp/host/module.cpp"
ok "and run" "$python" "$tmp/drive.py" "$root/tests/gpu" "$root/tests/support" "$tmp/decode.so"
is "each case agrees" "$(grep -c ' agrees$' <<<"$out")" 7
