#!/bin/bash
# What the CPU providers of the linear family compute, against numpy, which shares no code with the kernels and with the daemon's
# reference. Scales by block: each direction, sizes that blocks fill and others, each operand in e4m3 or bf16. Gradients of
# transformer blocks: against differences of the forward in fp64.
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
build() { # name
	make -s -C "$tmp/kernels" DEVICE=cpu EXTRA=-O1 build/cpu/liblinear.so && mv "$tmp/kernels/build/cpu/liblinear.so" "$tmp/$1.so"
}
ok "the module for CPUs builds" build base
cat >"$tmp/drive.py" <<'PY'
import ctypes, math, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import fw_module as fw
import fw_linear as linear

GUARD = 4096  # elements behind a result, which no kernel may touch
POISON = 0xFFFF
BLOCK = 128
CODES = np.array([(m / 8 * 2.0 ** -6 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7)) for e in range(16) for m in range(8)][:127])

def bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

def value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

def e4m3(x):
    """The nearest value of e4m3, of two the one with an even code; the largest is 448."""
    size = np.minimum(np.abs(x), CODES[-1])
    above = np.clip(np.searchsorted(CODES, size), 1, len(CODES) - 1)
    low, high = size - CODES[above - 1], CODES[above] - size
    code = np.where((low < high) | ((low == high) & ((above - 1) % 2 == 0)), above - 1, above)
    return np.copysign(CODES[code], x)

def by_block(x, tall):
    """q and the scale of each value. Blocks are `tall` rows of 128 columns; x is (rows, depth of the sum)."""
    q, scale = np.zeros(x.shape), np.ones(x.shape)
    for i in range(0, x.shape[0], tall):
        for j in range(0, x.shape[1], BLOCK):
            part = np.s_[i:i + tall, j:j + BLOCK]
            amax = np.abs(x[part]).max()
            s = np.float32(amax) / np.float32(448) if amax > 0 else np.float32(1)
            q[part] = e4m3((x[part].astype(np.float32) / s).astype(np.float64))
            scale[part] = s
    return q, scale

def product(left, right, is_weight, in_e4m3):
    """left right^T and the sums of magnitudes, a block of the depth after the other. Shape: left (rows, depth), right (columns, depth)."""
    a, sa = by_block(left, 1) if in_e4m3[0] else (left, np.ones(left.shape))
    b, sb = by_block(right, BLOCK if is_weight else 1) if in_e4m3[1] else (right, np.ones(right.shape))
    total, size = 0, 0
    for d in range(0, left.shape[1], BLOCK):
        part, factor = np.s_[:, d:d + BLOCK], np.outer(sa[:, d], sb[:, d])
        total = total + a[part] @ b[part].T * factor
        size = size + np.abs(a[part]) @ np.abs(b[part]).T * factor
    return total, size

def run(problem, inputs, outputs, provider="cpu"):
    plan = linear.LinearPlan(providers[provider], problem, 2)
    held = inputs | {slot: np.full(int(np.prod(shape)) + GUARD, POISON, np.uint16) for slot, shape in outputs.items()}
    workspace, persist = (ctypes.create_string_buffer(size + 256) for size in (plan.workspace_bytes, plan.persist_bytes))
    plan.bind({slot: a.ctypes.data for slot, a in held.items()}, *((ctypes.addressof(b) + 255) // 256 * 256 for b in (workspace, persist)))
    plan.enqueue()
    for slot, shape in outputs.items():
        assert (held[slot][int(np.prod(shape)):] == POISON).all(), "written behind a result"
    return {slot: value(held[slot][:int(np.prod(shape))]).reshape(shape) for slot, shape in outputs.items()}

def case(name, m, k, n, e4m3=(True, True, True)):
    rng = np.random.default_rng(m * k + n)
    x, dy, w = (bf16(rng.standard_normal(shape) * np.exp2(rng.integers(-3, 4, shape))) for shape in ((m, k), (m, n), (n, k)))
    x[0, :BLOCK] = 0  # a block of zeros
    X, DY, W = value(x), value(dy), value(w)
    of_x, of_w, of_dy = e4m3
    want = {linear.Y: product(X, W, True, (of_x, of_w)), linear.DX: product(DY, W.T, True, (of_dy, of_w)),
            linear.DW: product(DY.T, X.T, False, (of_dy, of_x))}
    reads = {"forward": (linear.Y,), "dgrad": (linear.DX,), "wgrad": (linear.DW,), "total": (linear.Y, linear.DX, linear.DW)}
    block = (linear.E4M3, linear.BY_BLOCK, BLOCK)
    for direction, slots in reads.items():
        problem = linear.LinearProblem(m, k, n, linear.DIRECTIONS[direction], dy=block if of_dy else ())
        problem.shape.x = linear.Operand(*block) if of_x else linear.Operand()
        problem.shape.w = linear.Operand(*block) if of_w else linear.Operand()
        got = run(problem, {linear.X: x, linear.W: w, linear.DY: dy}, {slot: want[slot][0].shape for slot in slots})
        for slot in slots:
            exact, size = want[slot]
            error = np.abs(got[slot] - exact) / (np.abs(exact) / 256 + 1e-6 * size + 1e-30)
            worst = np.nan_to_num(error, nan=1e9).max()
            print(f"{name} {direction} {'agrees' if worst <= 1 else 'DIFFERS'}, worst {worst:.3f} of slot {slot}")

TOKENS, HEADS = 16, 8
differences = {}  # gradients of X and W by sizes, which all recipes share

def block_forward(x, w):
    """Y of a transformer block, and what a forward stores. Shape: x (16 m, k), w 12 k k values."""
    k = x.shape[1]
    matrix = [part.reshape(rows, -1) for part, rows in zip(np.split(w, [3 * k * k, 4 * k * k, 8 * k * k]), (3 * k, k, 4 * k, k))]
    def times(a, i):
        return a @ matrix[i].T / 2 ** np.ceil(np.log2(a.shape[1]) / 2)
    def rms(a):
        return a / np.sqrt((a * a).mean(1, keepdims=True) + 1e-5)
    qkv = times(rms(x), 0)
    q, key, v = (part.reshape(-1, TOKENS, HEADS, k // HEADS) for part in np.split(qkv, 3, 1))
    score = np.einsum("mthc,muhc->mhtu", q, key) / np.sqrt(k / HEADS)
    p = np.exp(score - score.max(3, keepdims=True))
    attended = np.einsum("mhtu,muhc->mthc", p / p.sum(3, keepdims=True), v).reshape(x.shape)
    h = x + times(attended, 1)
    z = times(rms(h), 2)
    gelu = z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
    return h + times(gelu, 3), np.concatenate([qkv, h, z], 1)

def slopes(loss, at):
    """The gradient of a function by differences, one element after the other."""
    out, step = np.zeros(at.size), 1e-5
    for i in range(at.size):
        keep = at.flat[i]
        at.flat[i] = keep + step
        above = loss()
        at.flat[i] = keep - step
        out[i] = (above - loss()) / (2 * step)
        at.flat[i] = keep
    return out.reshape(at.shape)

def block(name, m, k, recipe=(), far=0.02):
    rng = np.random.default_rng(k)
    x, dy, w = (bf16(rng.standard_normal(shape)) for shape in ((TOKENS * m, k), (TOKENS * m, k), (12 * k, k)))
    X, DY, W = value(x), value(dy), value(w).reshape(-1)
    y, stored = block_forward(X, W)
    if (m, k) not in differences:
        differences[m, k] = [slopes(lambda: (DY * block_forward(X, W)[0]).sum(), of) for of in (X, W)]
    dx, dw = differences[m, k]
    want = {linear.Y: y, linear.DX: dx, linear.DW: dw.reshape(12 * k, k)}
    reads = {"forward": (linear.Y,), "dgrad": (linear.DX,), "wgrad": (linear.DW,), "total": (linear.Y, linear.DX, linear.DW)}
    for direction, slots in reads.items():
        problem = linear.LinearProblem(m, k, k, linear.DIRECTIONS[direction], prologue=2, dy=recipe)
        problem.shape.x, problem.shape.w = linear.Operand(*recipe), linear.Operand(*recipe)
        got = run(problem, {linear.X: x, linear.W: w, linear.DY: dy, linear.S: bf16(stored)}, {slot: want[slot].shape for slot in slots}, "cpu.block")
        for slot in slots:
            size = {linear.DW: [3 * k, 4 * k, 8 * k]}.get(slot, [])
            for i, (mine, exact) in enumerate(zip(np.split(got[slot], size), np.split(want[slot], size))):
                off = np.linalg.norm(mine - exact) / np.linalg.norm(exact)
                worst = np.abs(mine - exact).max() / np.sqrt((exact * exact).mean())
                print(f"block {name} {direction} {'agrees' if off <= far and worst <= 10 * far else 'DIFFERS'}, {off:.4f} off, worst {worst:.3f}, slot {slot} part {i}")

providers = fw.Module(sys.argv[2]).providers
case("whole", 128, 256, 384)
case("ragged", 130, 300, 257)
case("one", 1, 1, 1)
if len(sys.argv) == 3:
    case("long", 5, 1500, 129)
    case("tall", 700, 129, 3)
    case("X in bf16", 130, 300, 257, (False, True, True))
    case("W in bf16", 130, 300, 257, (True, False, True))
    case("dY in bf16", 130, 300, 257, (True, True, False))
    block("narrow", 2, 8)
    block("wide", 1, 16)
    block("rows", 1, 16, (linear.E4M3, linear.BY_ROW, 0, linear.POWER_OF_TWO), 0.15)
else:
    block("narrow", 2, 8)
PY
ok "the module runs" "$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/base.so"
is "each case agrees in each direction" "$(grep -v '^block' <<<"$out" | grep -c ' agrees,') $(grep -v '^block' <<<"$out" | grep -c DIFFERS)" "48 0"
is "gradients of transformer blocks are those that differences give" "$(grep -c '^block.* agrees,' <<<"$out") $(grep -c '^block.* DIFFERS' <<<"$out")" "36 0"
wrong() { # words, file below kernels/linear, sed script, directions that differ in sizes that blocks do not fill
	sed -i "$3" "$tmp/kernels/linear/$2"
	if cmp -s "$tmp/kernels/linear/$2" "$root/kernels/linear/$2"; then
		is "a module that $1 is written" "" "a change of $2"
	else
		ok "a module that $1 builds" build wrong
		"$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/wrong.so" quick >"$tmp/out" 2>&1
		is "and differs where it should" "$(sed -n 's/^ragged \([a-z]*\) DIFFERS.*/\1/p' "$tmp/out" | sort -u | paste -sd' ')" "$4"
	fi
	cp "$root/kernels/linear/$2" "$tmp/kernels/linear/$2"
}
wrong "leaves out the scale of a last block that is shorter" cpu/product.c 's/ + d \/ FW_LINEAR_SCALE_BLOCK\]/ + (d + FW_LINEAR_SCALE_BLOCK > 256 ? 0 : d \/ FW_LINEAR_SCALE_BLOCK)]/' "dgrad forward total"
wrong "has a scale for each row of a block of W" cpu/quantise.c 's/^\t\tshare_blocks(o, factor);/\t\t;/' "dgrad forward total"
wrong "has one scale for all of X" cpu/quantise.c 's/^\tif (o->as.scaling == FW_LINEAR_BY_TENSOR)/\tif (o->slot == FW_LINEAR_X)/' "forward total wgrad"

lost() { # words, sed script of block_gradient.c, parts of total that differ: slot 5 is dX, 6 dW of QKV, PROJECT, UP, DOWN
	sed -i "$2" "$tmp/kernels/linear/cpu/block_gradient.c"
	if cmp -s "$tmp/kernels/linear/cpu/block_gradient.c" "$root/kernels/linear/cpu/block_gradient.c"; then
		is "a block that $1 is written" "" "a change of block_gradient.c"
	else
		ok "a block that $1 builds" build lost
		"$python" "$tmp/drive.py" "$root/tests/gpu" "$tmp/lost.so" quick >"$tmp/out" 2>&1
		is "and differs where it should" "$(sed -n 's/^block narrow total DIFFERS.*slot \([0-9]\) part \([0-9]\)/\1.\2/p' "$tmp/out" | sort | paste -sd' ')" "$3"
	fi
	cp "$root/kernels/linear/cpu/block_gradient.c" "$tmp/kernels/linear/cpu/block_gradient.c"
}
lost "forgets the residual around the second half" 's/rounding_bf16(at(add, row, i) + through)/rounding_bf16((add == \&p->dy ? 0 : at(add, row, i)) + through)/' "5.0 6.0 6.1"
lost "forgets that the weights of attention have a gradient" 's/(slope\[t\]\[u\] - along) \* shrink/0 * (slope[t][u] - along) * shrink/' "5.0 6.0"
lost "forgets the factor of the first matrix" 's/p->scale\[QKV\]/1.0f/' "5.0 6.0"
