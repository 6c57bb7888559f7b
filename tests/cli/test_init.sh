#!/bin/bash
# flopwatch init: the benchmarks that it finds in a checkout, the manifest that it writes, and the files that it does not touch.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
new() { # an empty checkout, as the current folder
	mkdir -p "$tmp/$1"
	cd "$tmp/$1" || exit 1
	git init -q -b main .
}
init() { # its answer in $body, its status in $status
	body=$("$bin/flopwatch" init --json "$@" 2>"$tmp/errors")
	status=$?
}
value() { # [benchmark] key: its value in the manifest, unchanged
	awk -v name="${2:+$1}" -v key="${2:-$1}" '
		!name { inside = 1 }
		name && $0 ~ "^  [a-z_0-9-]+:$" { inside = $1 == name ":" }
		inside && $1 == key ":" { sub(/^ *[a-z]+: /, ""); sub(/ #.*/, ""); print; exit }' .flopwatch.yaml
}
c_program='#include "flopwatch.h"\nint main(void) { FLOPWATCH("one", 1, 1) { } return 0; }\n'

# ---- the line of flopwatchd.yml: the daemon runs elsewhere, and refuses a branch that is not there
git init -q --bare -b trunk "$tmp/other.git"
git init -q -b trunk "$tmp/other"
cd "$tmp/other" || exit 1
printf "$c_program" >sums.c
printf 'sums: sums.c\n\tgcc -I"$$FLOPWATCH_KIT" -o $@ $< -lm\n' >Makefile
git add -A && git -c user.name=t -c user.email=t@example.org commit -qm "first"
git remote add origin ../other.git
like "the only branch is the upstream branch, a relative address absolute" "$("$bin/flopwatch" init)" "\\{name: other, url: .?$(realpath "$tmp")/other.git.?, upstream: trunk\\}"
git branch main
rm .flopwatch.yaml
like "main is preferred to another branch" "$("$bin/flopwatch" init)" 'upstream: main\}'
git push -q origin trunk && git remote set-head origin trunk
rm .flopwatch.yaml
like "but not to the default branch of origin" "$("$bin/flopwatch" init)" 'upstream: trunk\}'
git remote set-url origin git@example.org:team/other.git
rm .flopwatch.yaml
like "an address of a host stays" "$("$bin/flopwatch" init)" 'url: .?git@example.org:team/other.git'

# ---- a Makefile
new made
mkdir src
printf "$c_program" >src/sums.c
printf 'DIR = out/bin\nall: $(DIR)/sums # both\n$(DIR)/%%: src/%%.c \\\n  Makefile\n\t@mkdir -p $(DIR)\n\tgcc -I"$$FLOPWATCH_KIT" -o $@ $< -lm\n' >Makefile
init
is "a program with the kit" "$status $(jq -r .kind <<<"$body")" "0 benchmarks"
is "by the rule of the Makefile that builds it" "$(value command)" '[make, out/bin/sums]'
is "runs from where that puts it" "$(value sums command)" '[./out/bin/sums]'
ok "which is so" env FLOPWATCH_KIT="$root/daemon/kit" make out/bin/sums
like "the file says why" "$(cat .flopwatch.yaml)" '# src/sums.c includes flopwatch.h'
like "and who wrote it" "$(cat .flopwatch.yaml)" 'Written once by .flopwatch init.'
is "it opens nothing, so it is its artifact" "$(value sums artifacts)" '[out/bin/sums]'
is "no GPU" "$(value sums gpu)" false
before=$(cat .flopwatch.yaml)
init
is "what is there is left alone" "$status $(cat .flopwatch.yaml)" "1 $before"
like "with what to do" "$(cat "$tmp/errors")" 'already exists and is never overwritten: change it by hand and run flopwatch try'
rm .flopwatch.yaml
cd src || exit 1
init
is "from a folder inside, at the root" "$(jq -r .file <<<"$body")" "$(realpath "$tmp/made")/.flopwatch.yaml"

new named
printf "$c_program" >sums.c
printf 'bench: sums.c\n\tgcc -I"$$FLOPWATCH_KIT" -o $@ sums.c -lm\n' >Makefile
init
is "a program of another name, by its source" "$(value command) $(value sums command)" '[make, bench] [./bench]'

# ---- a Makefile in a folder, for two kinds of device
new module
mkdir kernels
cp "$root/kernels/fw_kernel.h" kernels
printf '#include "fw_kernel.h"\nFW_EXPORT const struct fw_module *fw_entry(uint32_t abi) { (void)abi; return 0; }\n' >kernels/mine.c
printf 'DEVICE ?= cpu\nO := build/$(DEVICE)\n$(O)/libmine.so: mine.c\n\tmkdir -p $(@D)\n\tgcc -shared -fPIC -o $@ mine.c\n' >kernels/Makefile
init
is "a module" "$status $(jq -r .kind <<<"$body")" "0 module"
is "built for a device" "$(value command)" '[make, -C, kernels, "DEVICE={device}"]'
is "and where it comes out" "$(value outputs)" '{attention: "kernels/build/{device}/libmine.so"}'
ok "which is so" sh -c 'make -C kernels DEVICE=cpu && test -s kernels/build/cpu/libmine.so'
is "with a suite that a CPU can do" "$(value suites)" '[demo]'
rm .flopwatch.yaml
mkdir -p etc/suites
cp "$root/etc/suites/demo.yaml" etc/suites/small.yaml
init
is "or with its own" "$(value suites)" '[small]'

# ---- CMake
new cmake
mkdir bench
printf '#include <benchmark/benchmark.h>\nvoid f(benchmark::State &s) { for (auto _ : s) {} }\nBENCHMARK(f);\nBENCHMARK_MAIN();\n' >bench/speed.cc
printf 'cmake_minimum_required(VERSION 3.10)\nproject(x CXX)\nadd_subdirectory(bench)\n' >CMakeLists.txt
printf 'add_executable(speed_bench\n  speed.cc)\ntarget_link_libraries(speed_bench benchmark pthread)\n' >bench/CMakeLists.txt
init
is "Google Benchmark under CMake" "$(value speed_bench reader)" google-benchmark
is "in the folder of its target" "$(value speed_bench command)" '[./build/bench/speed_bench, --benchmark_out=speed_bench.json, --benchmark_out_format=json]'
like "is configured and built" "$(value command)" 'cmake -S \. -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build .*--target speed_bench'
is "writes a file that is read" "$(value speed_bench outputs)" '[speed_bench.json]'

# ---- only a compiler
new alone
printf "$c_program" | sed '1i #include "mine.h"' >one.c
printf 'void mine(void);\n' >mine.h
printf '#include "mine.h"\nvoid mine(void) { }\n' >mine.c
printf '#include <nvbench/nvbench.cuh>\nvoid f(nvbench::state &s) { }\nNVBENCH_BENCH(f);\n' >nv.cu
init
line=$(value command | jq -r '(. | sub("^\\[sh, -c, "; "") | sub("\\]$"; "") | fromjson)' -R)
like "no rule: the compiler, with what belongs to it" "$line" '^gcc .*-o one one.c mine.c'
ok "which is so" env FLOPWATCH_KIT="$root/daemon/kit" sh -c "$line"
like "a program without a build is named" "$(cat .flopwatch.yaml)" '# Left out: nv.cu: includes nvbench'

# ---- scripts
new scripts
mkdir bench src src/pack
: >src/pack/__init__.py
printf 'import triton\nfrom pack import x\ntriton.testing.do_bench(None)\n' >bench/soft.py
printf 'import flopwatch\n' >turns.py
printf 'import json\nprint(json.dumps({"cell": "a", "ms": [1]}))\n' >lines.py
printf '#!/bin/bash\nhyperfine --warmup 3 --export-json out/h.json "sleep 0"\n' >whole.sh
printf 'import flopwatch\n' >test_interleave.py
init
is "all four, and no test" "$(sed -n 's/^  \([a-z_]*\):$/\1/p' .flopwatch.yaml | sort | paste -sd' ')" "lines soft turns whole"
is "Triton's timers become cells, with its package" "$(value soft command)" \
	'[sh, -c, "PYTHONPATH=src:$PYTHONPATH exec python3 -m flopwatch bench/soft.py"]'
is "a script of the kit" "$(value turns command)" '[python3, turns.py]'
is "hyperfine's file" "$(value whole command) $(value whole reader) $(value whole outputs)" '[bash, whole.sh] hyperfine [out/h.json]'

# ---- a rule that runs a benchmark
new rule
printf 'bench:\n\thyperfine --export-json=times.json ./x\n' >Makefile
init
is "a rule that runs hyperfine" "$(value bench command) $(value bench reader) $(value bench outputs)" '[make, bench] hyperfine [times.json]'

# ---- nothing
new none
cp "$root/tests/data/readers/nvbench.json" .
init
is "nothing that is known" "$status" 4
like "says what would be" "$(cat "$tmp/errors")" 'nothing in .*/none is a known kind of benchmark: no module'
like "and what wrote the file that is there" "$(cat "$tmp/errors")" 'nvbench.json is an output of nvbench'
ok "and writes nothing" test ! -e .flopwatch.yaml
init "$tmp/nowhere"
is "a folder that is not there" "$status" 1

# ---- a module whose entry is a macro of a header --------------------------------------------------------------------------------
git init -q "$tmp/copy"
(cd "$root/kernels" && git ls-files -z . | xargs -0 cp --parents -t "$tmp/copy")
ok "a copy of our kernels is recognised" "$bin/flopwatch" init "$tmp/copy"
like "by the macro and its header" "$out" '^  module build/\{device\}/libattention.so: attention/module.c exports fw_entry by MODULE of common/module.h$'
like "and has its build" "$(cat "$tmp/copy/.flopwatch.yaml")" 'command: \[make, "DEVICE=\{device\}"\]'
git init -q "$tmp/unrelated"
mkdir "$tmp/unrelated/src"
printf '#define MODULE(x) \\\n\tconst void *fw_entry(unsigned abi) /* %%s */\n#define OTHER(x) (x)\n' >"$tmp/unrelated/common.h"
cp "$tmp/unrelated/common.h" "$tmp/unrelated/src"
printf '#include "common.h"\nPYBIND11_MODULE(a, b) { }\n' >"$tmp/unrelated/src/longer_name.cc"
printf '#include "common.h"\nint x = OTHER(1);\n' >"$tmp/unrelated/src/other_macro.c"
printf '#include "../common.h"\nMODULE("x");\n' >"$tmp/unrelated/src/parent.c"
printf 'text = """\n#include "common.h"\nMODULE(x)"""\nMODULE(1)\n' >"$tmp/unrelated/src/text.py"
printf 'cat <<END\n#include "common.h"\nMODULE(x);\nEND\n' >"$tmp/unrelated/src/text.sh"
fails "sources that do not use that macro" 4 "$bin/flopwatch" init "$tmp/unrelated"
printf '#include "common.h"\nMODULE("x");\n' >"$tmp/unrelated/src/uses.c"
"$bin/flopwatch" init "$tmp/unrelated" >"$tmp/said" 2>&1
is "are no modules, and the one that does is" "$(grep -o '[a-z_]*\.[a-z]* exports fw_entry' "$tmp/said")" "uses.c exports fw_entry"
git init -q "$tmp/beneath"
mkdir "$tmp/beneath/src" && cp -r "$tmp/copy/." "$tmp/beneath/src" && rm -rf "$tmp/beneath/src/.git" "$tmp/beneath/src/.flopwatch.yaml"
ok "also in a folder" "$bin/flopwatch" init "$tmp/beneath"
like "of the repository" "$out" '^  module src/build/\{device\}/libattention.so: src/attention/module.c exports fw_entry by MODULE of src/common/module.h$'
mkdir "$tmp/plain"
printf 'import flopwatch\n' >"$tmp/plain/b.py"
like "without git that is reported" "$("$bin/flopwatch" init "$tmp/plain")" 'next: git init'
