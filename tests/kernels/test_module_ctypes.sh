#!/bin/bash
# The scripts that drive a kernel module through ctypes agree with the header, and really run a module.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
peers="python3 $root/tests/gpu/peers.py"
export PYTHONDONTWRITEBYTECODE=1

ok "peers.py checks itself" $peers --self-check
mirror=$(grep '^struct ' <<<"$out")
{
	printf '#include "kernels/fw_attention.h"\n#include <stdio.h>\nint main(void)\n{\n'
	while read -r _ name _ fields; do
		printf 'printf("struct %s %%zu", sizeof(struct %s));\n' "$name" "$name"
		for field in $fields; do
			printf 'printf(" %s:%%zu", offsetof(struct %s, %s));\n' "${field%:*}" "$name" "${field%:*}"
		done
		printf 'printf("\\n");\n'
	done <<<"$mirror"
	printf 'return 0;\n}\n'
} >"$tmp/layout.c"
ok "a C program prints the layout" gcc -I"$root" -o "$tmp/layout" "$tmp/layout.c"
is "structs lie where the compiler puts them" "$mirror" "$("$tmp/layout")"
is "eight structs were compared" "$(wc -l <<<"$mirror")" 8
members() { # struct of the header -> its number of members
	awk -v s="struct $1 {" '$0 == s { on = 1; next } on && /^};/ { exit } on' "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h" |
		sed 's,/\*.*,,; /^[[:space:]]*\*/d' | tr -d '\n' | sed 's/\*\///g' | tr ';' '\n' | grep -E '[a-z_]' | awk -F, '/\(\*/ { n++; next } { n += NF } END { print n }'
}
for name in fw_tensor fw_attention fw_problem fw_info fw_io fw_work; do
	is "$name has all its members" "$(awk -v s="$name" '$2 == s { print NF - 3 }' <<<"$mirror")" "$(members $name)"
done

copy_kernels "$tmp/kernels"
ok "the module for CPUs builds" make -s -C "$tmp/kernels" DEVICE=cpu
cat >"$tmp/drive.py" <<'PY'
import array, ctypes, math, random, struct, sys
sys.path.insert(0, sys.argv[1])
import fw_module as fw

def bf16(v):
    return (struct.unpack("<I", struct.pack("<f", v))[0] + 0x7FFF) >> 16
def value(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]

module = fw.Module(sys.argv[2])
assert list(module.providers) == ["cpu"], list(module.providers)
provider, n, heads, d, lengths = module.providers["cpu"], 9, 2, 64, [3, 6]
random.seed(1)
data = {s: array.array("H", [bf16(random.gauss(0, 1)) for _ in range(n * (heads if s == fw.Q else 1) * d)]) for s in (fw.Q, fw.K, fw.V)}
data[fw.O] = array.array("H", [0xFFFF] * (n * heads * d))
data[fw.LSE] = array.array("f", [math.nan] * (n * heads))
data[fw.CU_Q] = data[fw.CU_K] = array.array("i", [0, 3, 9])
odd = fw.AttentionProblem(fw.FORWARD, fw.CAUSAL, n, n, heads, 1, 7)
assert odd.why_not(provider), "headdim 7 is accepted"
try:
    fw.Plan(provider, odd, 1)
    sys.exit("a plan for headdim 7")
except fw.ModuleError as error:
    print("refused:", error)
problem = fw.AttentionProblem(fw.FORWARD, fw.CAUSAL, n, n, heads, 1, d, lengths=lengths)
assert problem.why_not(provider) == "", problem.why_not(provider)
plan = fw.Plan(provider, problem, 1)
space = ctypes.create_string_buffer(plan.workspace_bytes + 256)
plan.bind({s: a.buffer_info()[0] for s, a in data.items()}, (ctypes.addressof(space) + 255) // 256 * 256)
plan.enqueue()
for h in range(heads):
    for i in range(n):
        first = 0 if i < 3 else 3
        row = [value(x) for x in data[fw.Q][(i * heads + h) * d:][:d]]
        s = [sum(a * value(b) for a, b in zip(row, data[fw.K][j * d:][:d])) / 8 for j in range(first, i + 1)]
        lse = math.log(sum(map(math.exp, s)))
        assert abs(data[fw.LSE][h * n + i] - lse) < 1e-4, (h, i, data[fw.LSE][h * n + i], lse)
        for c in range(d):
            o = sum(math.exp(x - lse) * value(data[fw.V][(first + j) * d + c]) for j, x in enumerate(s))
            got = value(data[fw.O][(i * heads + h) * d + c])
            assert abs(got - o) < 0.02, (h, i, c, got, o)
print("config", plan.config, "agrees")
PY
ok "and computes through ctypes what plain Python computes" python3 "$tmp/drive.py" "$root/tests/gpu" "$tmp/kernels/build/cpu/libattention.so"
like "a refusal says why" "$out" "refused: cpu: plan: .*[a-z]"
fails "a module that is none is one line" 1 $peers "$tmp/layout"
like "and says how to make one" "$out" "layout: .*make -C kernels DEVICE=cuda"
