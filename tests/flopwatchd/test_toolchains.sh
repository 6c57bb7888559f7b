#!/bin/bash
# Two requested toolchains: one commit, built twice by a real gcc and timed against itself on the CPU, by folders of compilers and by flags. The
# regression of a toolchain is found and named, sets no verdict, and a folder that builds do not see is rejected.
# Runs beside three others.  its assertions are verdicts of real times on this machine
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"
}
page() {
	http GET "/$1"
}
newest() { # comparison of two toolchains
	sql "SELECT max(id) FROM comparison WHERE kind = 'environment'"
}
compiler() { # folder, flags: a toolchain whose gcc ends with them
	mkdir -p "$tmp/tools/$1/bin"
	printf '#!/bin/sh\nexec /usr/bin/gcc "$@" %s\n' "$2" >"$tmp/tools/$1/bin/gcc"
	chmod +x "$tmp/tools/$1/bin/gcc"
}

compiler fast -O3
compiler slow -O0
mkdir -p "$tmp/tools/empty"
new_repo kernels
rm "$tmp/kernels/kernels/good.sum" # each toolchain compiles all
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]/; s/seqlens: \[64\]/seqlens: [128]/; s/budget_s: 60/budget_s: 300/' "$tmp/kernels/etc/suites/tiny.yaml"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "one cell"
write_config "workers: [{name: cpu, command: [flopwatch-worker, serve, --read-only, $tmp/tools], device: cpu}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon || exit 1
push kernels main
main=$(head_of kernels)
await job_ended "$main"
verdict=$(api "commits/$main/verdict?repo=kernels")
gcc=$(gcc -dumpfullversion)

# ---- folders ----
fw compare main main --base-toolchain "$tmp/tools/fast" --target-toolchain "$tmp/tools/slow" >"$tmp/said" 2>&1
is "a toolchain that makes it slower is a loss" $? 3
like "both are named" "$(cat "$tmp/said")" "environment: the base is built by gcc $gcc in $tmp/tools/fast"
like "the newer one too" "$(cat "$tmp/said")" "environment: the target is built by gcc $gcc in $tmp/tools/slow, so the result is not a commit's verdict"
id=$(newest)
is "the comparison is one of environments, of one commit" "$(api "comparisons/$id" | jq -c "[.kind, .base.commit == .target.commit, .base.module_sha256 == .target.module_sha256, .verdict]")" '["environment",true,false,"regression"]'
is "and says what built each side" "$(api "comparisons/$id" | jq -r '.base.toolchain + ", " + .target.toolchain')" "gcc $gcc in $tmp/tools/fast, gcc $gcc in $tmp/tools/slow"
is "the job as well" "$(api "jobs/$(sql "SELECT job FROM comparison WHERE id = $id")" | jq -r '[.kind, .base_toolchain, .target_toolchain, .base_flags] | join(" ")')" "environment $tmp/tools/fast $tmp/tools/slow "
like "the page reports that" "$(page "comparisons/$id")" "Against <b>that by gcc $gcc in $tmp/tools/fast</b>, of 1 cell the build by gcc $gcc in $tmp/tools/slow has 1 slower"
like "and what differs" "$(page "comparisons/$id")" '<dt>Differs</dt><dd>only the build environment'
like "the comment too" "$(api "comparisons/$id.md")" "^\*\*flopwatch: slower\*\*, environment: \`gcc $gcc in $tmp/tools/fast\` to \`gcc $gcc in $tmp/tools/slow\`"

# ---- flags ----
fw compare main main --base-flags=-O3 --target-flags=-O0 >"$tmp/said" 2>&1
is "flags that make it slower are a loss" $? 3
like "and are named" "$(cat "$tmp/said")" "the target is built by gcc $gcc with -O0,"
fw compare main main --base-flags=-O3 --target-flags="-O3 -DNOTHING_KNOWS_THIS" >"$tmp/said" 2>&1
is "flags that change nothing are none" $? 0
is "their modules are one" "$(api "comparisons/$(newest)" | jq -r .identical_by)" module

# ---- no verdict ----
is "the commit's verdict stays" "$(api "commits/$main/verdict?repo=kernels")" "$verdict"
is "nothing of it is in a history" "$(sql "SELECT count(*) FROM ratio r JOIN comparison c ON c.id = r.comparison WHERE c.kind = 'environment'")" 0
is "a manual request sends no notification" "$(api alerts | jq '.items | length')" 0

# ---- impossible requests ----
fw compare main main --target-toolchain "$tmp/elsewhere" >"$tmp/said" 2>&1
is "a folder that builds are not shown fails" $? 1
like "and names the remedy" "$(api "comparisons/$(newest)" | jq -r '.cells[0].reason')" "toolchain $tmp/elsewhere is not visible to builds; add it to sandbox.read_only"
fw compare main main --target-toolchain "$tmp/tools/empty" >"$tmp/said" 2>&1
like "so does one without a compiler" "$(api "comparisons/$(newest)" | jq -r '.cells[0].reason')" "toolchain $tmp/tools/empty has neither nvcc nor gcc"
like "a path that is none is refused" "$(post jobs '{"repo": "kernels", "target": "main", "target_toolchain": "../x"}')" 'target_toolchain ../x is no absolute and plain path'
like "as are flags that are none" "$(post jobs '{"repo": "kernels", "target": "main", "target_flags": "-O2; rm"}')" 'target_flags hold a letter that may not be there'
like "and twice the same" "$(post jobs '{"repo": "kernels", "target": "main", "base": "main", "base_flags": "-O2", "target_flags": "-O2"}')" 'the same build of the same commit'
stop_daemon
is "the daemon ends in order" $? 0
