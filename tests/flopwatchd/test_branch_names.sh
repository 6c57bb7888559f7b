#!/bin/bash
# Branches whose names contain characters that addresses escape: the API, the pages and the command line find each by its name and by its key.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

git init -q --bare -b main "$tmp/r.git"
git init -q -b main "$tmp/r"
git -C "$tmp/r" remote add origin "$tmp/r.git"
cat >"$tmp/r/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [bench.sh, ms.txt]
benchmarks:
  fixed: {command: [sh, bench.sh], reader: flopwatch, gpu: false, budget_s: 20, timeout_s: 60}
YAML
echo 'printf "{\"cell\":\"fixed\",\"ms\":[%s]}\n" "$(cat ms.txt)"' >"$tmp/r/bench.sh"
echo 1.000 >"$tmp/r/ms.txt"
commit r first
push r main
declare -A key=(['100%']='100%25' ['a+b&c']='a%2Bb%26c' ['50%41']='50%2541' ['%']='%25' ['ü']='%C3%BC' ['plain']='plain')
n=1
for name in "${!key[@]}"; do
	branch r "$name" main
	n=$((n + 1))
	echo "1.$n" >"$tmp/r/ms.txt"
	commit r "$name"
	push r "$name"
	git -C "$tmp/r" checkout -q main
done
write_config 'workers: [{name: local, command: [flopwatch-worker, serve], device: cpu}]' 'sandbox: auto' \
	"repos: [{name: r, url: $tmp/r.git, upstream: main}]"
start_daemon
export FLOPWATCH_SERVER=http://127.0.0.1:$(port)
for name in "${!key[@]}"; do
	ok "$name is judged" result_of "$(git -C "$tmp/r" rev-parse "refs/heads/$name")"
	for given in "$name" "${key[$name]}"; do
		asked=$(jq -rn --arg text "$given" '$text | @uri')
		is "branches of ?branch=$asked" "$(api "branches?branch=$asked" | jq -r '[.items[].display] | join(" ")')" "$name"
		is "comparisons" "$(api "comparisons?repo=r&branch=$asked" | jq -r '[.items[].branch_display] | join(" ")')" "$name"
		is "history" "$(api "history?branch=$asked&cell=fixed" | jq -r '[.. | .comparison? // empty] | unique | length')" 1
		is "the page of its history" "$(curl -s --max-time 60 "$FLOPWATCH_SERVER/history?branch=$asked&cell=fixed" | grep -oE '<td><a href="/comparisons/[0-9]+' | wc -l)" 1
		like "flopwatch history --branch $given" "$("$bin/flopwatch" history fixed --branch "$given" 2>&1)" 'fixed|regression|unchanged'
		unlike "without an error" "$("$bin/flopwatch" history fixed --branch "$given" 2>&1)" '^flopwatch:'
	done
done
is "links of the overview lead to comparisons of that branch" "$(curl -s --max-time 60 "$FLOPWATCH_SERVER/" |
	grep -oE 'href="/branches\?repo=r&amp;branch=[^"&]+' | sed 's/.*branch=//' | sort -u | while read -r asked; do
		api "comparisons?repo=r&branch=$asked" | jq -r '.items | length'
	done | sort -u)" 1
