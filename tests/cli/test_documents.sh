#!/bin/bash
# Every block of YAML in the documents is a manifest, suite or configuration that the programs read without a mistake.
. "$(dirname "$0")/../support/tap.sh"
export PATH=$bin:$PATH XDG_CACHE_HOME=$tmp/cache
mkdir -p "$XDG_CACHE_HOME" "$tmp/tree"
git init -q "$tmp/tree"
place='[^ ]+:[0-9]+:[0-9]+: ' # position of a mistake

block() { # file of a block, its name
	local mistakes
	case $(head -n 1 "$1") in
	flopwatch:*)
		cp "$1" "$tmp/tree/.flopwatch.yaml"
		unlike "$2 is a manifest" "$(flopwatch try --device cpu "$tmp/tree" 2>&1)" "$place"
		;;
	suite:*)
		ok "$2 is a suite" flopwatch-worker compare --suite "$1" --base /bin/true --target /bin/true # identical: nothing is run
		;;
	*scrape_configs:* | dbs:*) ;; # of other programs
	*) # its files are not on this machine
		mistakes=$(flopwatch config check "$1" 2>&1 | grep -E "$place" | grep -vE 'cannot |No such file|does not exist|there is no |the service has none|no git repository')
		is "$2 is a configuration" "$mistakes" ""
		;;
	esac
}

n=0
cd "$root" || exit 1
for page in README.md doc/*.md doc/howto/*.md; do
	awk -v to="$tmp/$(basename "$page")" '/^ *```yaml$/ { n++; i = 1; next } /^ *```$/ { i = 0 } i { print > (to "." n ".yaml") }' "$page"
	for file in "$tmp/$(basename "$page")".*.yaml; do
		[ -e "$file" ] || continue
		n=$((n + 1))
		block "$file" "$page, block $n of all"
	done
done
ok "there are blocks enough" test "$n" -ge 9

# ---- mistakes are detected
printf 'flopwatch: 1\nbenchmarks: {a: {command: [./a], reader: flopwatch, pears: 60}}\n' >"$tmp/tree/.flopwatch.yaml"
like "a mistyped key is a mistake" "$(flopwatch try --device cpu "$tmp/tree" 2>&1)" "${place}benchmarks.a.pears: unknown key; did you mean .pairs"
