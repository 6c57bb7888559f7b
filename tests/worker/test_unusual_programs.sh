#!/bin/bash
# Honest programs with unusual behaviour (tests/interleave/unusual), each pushed against itself: none is accused, and none fails.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

unusual=$root/tests/interleave/unusual
benchmark() { # file of a program
	local name command
	name=$(basename "$1")
	case $name in
	*.c) command="./${name%.c}" ;;
	*.py) command="python3, $name" ;;
	*.sh) command="sh, $name" ;;
	esac
	echo "  ${name%.*}: {command: [$command], reader: flopwatch, threshold_pct: 50, budget_s: 6, timeout_s: 30, gpu: false}"
}
programs=("$unusual"/*.c "$unusual"/*.py "$unusual"/*.sh)
names=() list=""
for ((i = 0; i < ${#programs[@]}; i += 4)); do # four programs per manifest
	repo=unusual$i
	git init -q --bare -b main "$tmp/$repo.git"
	git init -q -b main "$tmp/$repo"
	git -C "$tmp/$repo" remote add origin "$tmp/$repo.git"
	cp "$unusual/unusual.h" "${programs[@]:i:4}" "$tmp/$repo"
	{
		echo 'flopwatch: 1'
		echo 'build: {dir: ., command: [sh, -c, "for f in *.c; do [ ! -f $f ] || gcc -std=gnu11 -D_GNU_SOURCE -O1 -I$FLOPWATCH_KIT -o ${f%.c} $f -lm -lpthread || exit 1; done"], timeout_s: 120}'
		echo 'benchmarks:'
		for file in "${programs[@]:i:4}"; do
			benchmark "$file"
			file=$(basename "$file")
			names+=("${file%.*}")
		done
	} >"$tmp/$repo/.flopwatch.yaml"
	list="$list${list:+, }{name: $repo, url: $tmp/$repo.git}"
	commit "$repo" "unusual programs"
	push "$repo" main
done
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" "repos: [$list]"
start_daemon || exit 1
jobs_now() { # suite, state and verdict of each
	api "jobs?limit=500" | jq -r '.items[] | select(.kind == "selfcheck") | "\(.suite) \(.state) \(.verdict // "-")"'
}
all_ended() {
	[ "$(jobs_now | grep -cE ' (done|failed|cancelled|superseded|gone) ')" -ge ${#names[@]} ]
}
patience=900
ok "all of them are measured" await all_ended
for name in "${names[@]}"; do
	like "$name is believed" "$(jobs_now | grep "^$name ")" ' done (unchanged|undecided|improvement|regression)$'
done
is "no cell is rejected" "$(sql "SELECT key, failure, reason FROM cell WHERE verdict = 'rejected'")" ""
is "nor failed" "$(sql "SELECT key, failure, reason FROM cell WHERE verdict IN ('failed', 'not_comparable')")" ""
