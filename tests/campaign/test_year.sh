#!/bin/bash
# Reliability campaign, part 11: a year of pushes, nights, restarts, backups and clock steps in an hour (year.py). With
# CAMPAIGN_FOLDER the year is stored there and continued by the next run.
# Attacks: daemon/flopwatchd daemon/worker daemon/lib db web/answer web/http web/page web/api
# Starts early.  it computes for long
. "$(dirname "$0")/../support/tap.sh"
library=$(find /usr/lib/*/faketime /usr/lib/faketime -name libfaketime.so.1 2>/dev/null | head -n 1)
[ -n "$library" ] || { skip "a year" "libfaketime is not installed"; exit 0; }
if [ -n "${CAMPAIGN_FOLDER-}" ]; then
	rm -rf "$tmp"
	mkdir -p "$CAMPAIGN_FOLDER" || exit 1
	tmp=$(cd "$CAMPAIGN_FOLDER" && pwd) KEEP=1
fi
. "$(dirname "$0")/../support/daemon.sh"
rm -rf "$tmp/r"
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/passing_time.so" "$root/tests/support/passing_time.c" -ldl || exit 1
echo 0 >"$tmp/set"
# Two packages of one schema: the second one has another version, which differs in the last character.
version=$("$bin/flopwatchd" --version)
version=${version##* }
other=${version%?}1
[ "$other" != "$version" ] || other=${version%?}2
pattern=${version//./\\.}
for tree in first second; do
	mkdir -p "$tmp/$tree"
	for program in "$bin"/flopwatch*; do
		cp "$program" "$tmp/$tree/${program##*/}"
		[ $tree = first ] || sed -i "s/$pattern\x00/$other\x00/g; s/ $pattern\$/ $other/; s/<dd>$pattern/<dd>$other/g" "$tmp/$tree/${program##*/}"
	done
done
is "a second package has another version" "$("$tmp/second/flopwatchd" --version)" "flopwatchd $other"
if [ ! -e "$tmp/year.json" ]; then
	mkdir -p "$tmp/backup" "$tmp/unfaked"
	new_repo kernels
	cat >"$tmp/kernels/etc/suites/tiny.yaml" <<-'YAML'
		suite: tiny
		family: attention
		common: {nhq: 1, nhk: 1, headdim: 8, dtype: bf16}
		dense: {seqlens: [16, 24, 32], masks: [full, causal]}
		directions: [forward]
		push: {cells: 2}
		nights: 2
		budget_s: 60
	YAML
	git -C "$tmp/kernels" commit -q --amend -a -m "six cells"
	push kernels main
	new_lines_repo
	printf 'echo %s\n' "'{\"cell\":\"one\",\"ms\":[1,1,1]}'" "'{\"cell\":\"two\",\"ms\":[2,2,2]}'" "'{\"cell\":\"three\",\"ms\":[5,5,5]}'" \
		"'{\"cell\":\"four\",\"ms\":[20,20,20]}'" >"$tmp/lines/bench.sh"
	commit lines "first"
	push lines main
	for name in lines kernels; do # the daemon without libfaketime has all commits, and its main does not move
		git init -q --bare -b main "$tmp/unfaked/$name.git"
		git -C "$tmp/$name" push -q "$tmp/unfaked/$name.git" main
		echo "$tmp/$name.git/objects" >"$tmp/unfaked/$name.git/objects/info/alternates"
	done
fi
config() { # folder of state and repositories, more lines: c.yml there
	cat >"$1/c.yml" <<-YAML
		state_dir: $1/state
		cache_dir: $1/cache
		suites_dir: $root/etc/suites
		listen: 127.0.0.1:0
		sandbox: none
		profile: off
		workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]
		repos: [{name: lines, url: $1/lines.git}, {name: kernels, url: $1/kernels.git}]
		$2
	YAML
}
config "$tmp" "keep_archive: 60 d
calibrate: {idle: true, every: 168 h}
off_peak: 00:00-06:00
webhooks: [{name: here, url: \"http://127.0.0.1:$(cat "$tmp/r/port")/here\", allow_internal: true, comparisons: true}, {name: flaky, url: \"http://127.0.0.1:$(cat "$tmp/r/port")/flaky\", allow_internal: true}]"
config "$tmp/unfaked" "off_peak: off"
ln -sfn ../first "$tmp/unfaked/bin"
export YEAR_PRELOAD="$tmp/passing_time.so $library"
ok "the daemon works for a year as on its first day" python3 "$root/tests/campaign/year.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
