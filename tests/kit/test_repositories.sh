#!/bin/bash
# Repositories whose benchmarks have no code for flopwatch, with the manifests that init writes: a doubled time is found through a push, in
# its cells alone, and an equal push is not accused. And the cells of those for a GPU (tests/gpu/repositories).
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_tree() { # folder: a checkout with a manifest, whose first commit is not measured
	local name=${1##*/}
	git init -q --bare -b main "$tmp/$name.git"
	cp -r "$root/$1" "$tmp/$name"
	git -C "$tmp/$name" init -q -b main
	git -C "$tmp/$name" remote add origin "$tmp/$name.git"
	ok "init of $name" "$bin/flopwatch" init "$tmp/$name"
	sed -i 's/^    budget_s: .*/    budget_s: 120\n    threshold_pct: 25/' "$tmp/$name/.flopwatch.yaml" # few runs are enough, also on a busy machine
	commit "$name" "first [skip flopwatch]"
	push "$name" main
}
edit() { # tree, branch, file, sed
	branch "$1" "$2" main
	sed -i "$4" "$tmp/$1/$3"
	commit "$1" "$2"
	push "$1" "$2"
}
verdicts() { # tree, branch: a line for each cell; where a busy machine leaves one undecided, of another measurement
	local sha tries lines
	sha=$(git -C "$tmp/$1" rev-parse "$2")
	for tries in 1 2 3; do
		patience=400 await job_ended "$sha"
		lines=$(sql "SELECT c.key || ' ' || c.verdict FROM cell c JOIN comparison k ON k.id = c.comparison WHERE k.job = $(job_of "$sha") ORDER BY 1")
		[[ $2 = slower && $tries -lt 3 && $(grep -E "^$3" <<<"$lines") == *undecided* ]] || break
		post "jobs/$(job_of "$sha")/retry" >"$tmp/said"
	done
	[ -n "$lines" ] || { api "jobs/$(job_of "$sha")" | jq -c '[.state, .why, .error?]' | sed 's/^/# no cells: /' >&2; }
	echo "$lines"
}
found() { # tree, pattern, number of cells: only those are slower
	local all
	all=$(verdicts "$1" slower "$2")
	is "$1: the loss is found" "$(grep -cE "^$2.* regression$" <<<"$all")" "$3"
	is "$1: and nowhere else" "$(grep -vE "^$2" <<<"$all" | grep -vcE ' (unchanged|undecided)$')" 0
	local equal
	equal=$(verdicts "$1" equal "$2")
	is "$1: an equal push is not rejected" "$(grep -cE ' (unchanged|undecided)$' <<<"$equal")" "$(wc -l <<<"$all")"
	ok "$1: and cells of it are unchanged" grep -q ' unchanged$' <<<"$equal"
}
trees=
if printf '#include <benchmark/benchmark.h>\n' | g++ -fsyntax-only -x c++ - 2>"$tmp/errors"; then
	trees+=" google"
	new_tree tests/bench/repositories/google
	edit google slower include/fastnum/polynomial.hpp 's/terms = 200/terms = 400/'
	edit google equal include/fastnum/prefix.hpp '$a __attribute__((used)) static const char revision[] = "2";'
else
	skip "Google Benchmark" "it is not installed"
fi
if /usr/bin/python3 -c 'import pytest, pytest_benchmark' 2>"$tmp/errors"; then
	trees+=" pytest"
	new_tree tests/bench/repositories/pytest
	edit pytest slower textkit/rolling.py 's/ROUNDS = 100/ROUNDS = 200/'
	edit pytest equal textkit/__init__.py '$a _REVISION = 2'
else
	skip "pytest-benchmark" "it is not installed"
fi
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [$(for tree in $trees; do printf '{name: %s, url: %s}, ' "$tree" "$tmp/$tree.git"; done)]"
if [ -n "$trees" ]; then
	start_daemon
	[[ $trees != *google* ]] || found google 'polynomial/' 2
	[[ $trees != *pytest* ]] || found pytest 'benchmarks/test_speed.py::test_rolling_hashes' 2
	stop_daemon
fi

# ---- the trees for a GPU: the manifest of each is that of init, and the edits of tests/gpu/repositories.sh change what they name
listed() { # script of triton_ops: its cells
	PYTHONPATH="$root/daemon/kit:$tmp/triton_ops:$root/tests/gpu/repositories/stand_in" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m flopwatch \
		"$tmp/triton_ops/benchmarks/$1" 2>"$tmp/errors" | jq -r .cell
}
for tree in triton_ops cuda_bench torch_extension; do
	cp -r "$root/tests/gpu/repositories/$tree" "$tmp/$tree"
	cd "$tmp/$tree" || exit 1
	mv .flopwatch.yaml theirs.yaml
	git init -q -b main .
	ok "init of $tree" "$bin/flopwatch" init
	is "$tree: its manifest is that of init" "$(cat .flopwatch.yaml)" "$(cat theirs.yaml)"
	git add -A
	git commit -q -m first
	while read -r name _ file sed; do
		[[ $name != "#" ]] || continue
		sed -i "${sed//@N@/1}" "$file"
		is "$tree: $name edits a file" "$(git diff --name-only)" "$file"
		[[ $file != *.py ]] || ok "$tree: $name is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$file"
		git checkout -q .
	done <"$root/tests/gpu/repositories/$tree.plants"
done
is "triton_ops: cells of bench_rows.py" "$(listed bench_rows.py | sort -u | wc -l)" 24
is "with their names" "$(listed bench_rows.py | head -n 2 | paste -sd' ')" "softmax/columns=1024/provider=triton softmax/columns=1024/provider=torch"
is "triton_ops: cells of bench_products.py" "$(listed bench_products.py | sort -u | wc -l)" 24
