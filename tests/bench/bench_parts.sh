#!/bin/bash
# What each optional part adds to a daemon at rest: `bench parts.NAME.rest_cpu VALUE pct` of a core, with the children that it
# waited for, and `bench parts.NAME.resident VALUE bytes`. `off` has a repository, a worker of device `sim` and no part.
#
# bench_parts.sh [SECONDS [NAME...]]    all parts at the same time, each with a separate daemon, for a minute
#
# Counterparts are those of the tests: forge.py, receiver.py, openid_provider.py, kubernetes.py with the real kubectl, curl.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org
bin=$PWD/build/bin
seconds=${1:-60}
[ $# = 0 ] || shift
parts=("$@")
[ $# != 0 ] || parts=(off statuses approvals notifications openid https scraped streams kubernetes)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT

git init -q -b main "$work/tree"
echo one >"$work/tree/README"
git -C "$work/tree" add -A
git -C "$work/tree" commit -qm one
(umask 077 && echo secret-of-the-benchmark >"$work/secret")

wait_for() { # file, log of its program
	for _ in $(seq 300); do [ ! -s "$1" ] || return 0; sleep 0.1; done
	echo "$1 was not written within 30 s:" >&2
	tail -n 3 "$2" >&2
	exit 1
}
# Start the counterpart of a part.
counterpart() { # program of tests/support, folder
	mkdir -p "$2"
	echo fine >"$2/mode"
	echo '{"sub": "ann"}' >"$2/user"
	echo '[]' >"$2/comments.json"
	python3 "tests/support/$1" "$2" >"$2/log" 2>&1 &
	wait_for "$2/port" "$2/log"
	address=http://127.0.0.1:$(cat "$2/port")
}
configure() { # part: sets worker, repo, more
	local at=$work/$1/counterpart n
	worker="device: sim" repo="" more=""
	case $1 in
	statuses | approvals)
		counterpart forge.py "$at"
		repo=", status: {kind: github, api: '$address', project: team/kernels, token_file: $work/secret, allow_internal: true}"
		[ "$1" = statuses ] || repo+=", pull_requests: {measure: head, approve_by: {comment: /flopwatch approve, users: [ann], poll: 60s}}"
		;;
	notifications)
		counterpart receiver.py "$at"
		more="webhooks:"
		for n in 1 2 3 4 5; do more+=$'\n'"  - {name: receiver-$n, url: '$address/$n', secret_file: $work/secret, allow_internal: true}"; done
		;;
	openid)
		counterpart openid_provider.py "$at"
		more="access: token
public_url: http://127.0.0.1:9
oidc: {issuer: '$address', client_id: flopwatch, client_secret_file: $work/secret, scopes: [openid, profile, groups], roles: {team: trigger}, allow_internal: true}"
		;;
	https)
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost -keyout "$work/key" -out "$work/certificate" 2>/dev/null
		chmod 600 "$work/key"
		more="access: token
tls: {certificate: $work/certificate, key_file: $work/key}"
		;;
	kubernetes)
		counterpart kubernetes.py "$at"
		export KUBECONFIG=$at/config
		worker="device: sim, kubernetes: {namespace: bench, image: none, resources: [cpu=1]}"
		;;
	esac
}
start() { # part
	local dir=$work/$1
	mkdir -p "$dir/state" "$dir/cache"
	git clone -q --bare "$work/tree" "$dir/kernels.git"
	[ "$1" != approvals ] || git -C "$work/tree" push -q "$dir/kernels.git" "$(git -C "$work/tree" commit-tree -p HEAD -m request 'HEAD^{tree}'):refs/pull/7/head"
	configure "$1"
	cat >"$dir/flopwatchd.yml" <<-YML
		state_dir: $dir/state
		cache_dir: $dir/cache
		suites_dir: $PWD/etc/suites
		listen: 127.0.0.1:0
		workers:
		  - {name: local, command: ["$bin/flopwatch-worker", serve], $worker}
		repos:
		  - {name: kernels, url: "$dir/kernels.git", upstream: main$repo}
		$more
	YML
	"$bin/flopwatchd" --config "$dir/flopwatchd.yml" >"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
	wait_for "$dir/state/port" "$dir/log"
}
# Use the part while it is measured.
use() { # part
	local server n
	server=http://127.0.0.1:$(cat "$work/$1/state/port")
	case $1 in
	scraped) while :; do curl -s -o /dev/null "$server/metrics"; sleep 15; done & ;;
	streams) for n in $(seq 10); do curl -sN -o /dev/null "$server/api/v1/events" & done ;;
	esac
}
ran_ns() { # pid
	echo $(($(cut -d' ' -f1 "/proc/$1/schedstat") + 1000000000 / $(getconf CLK_TCK) * $(awk '{ print $16 + $17 }' "/proc/$1/stat")))
}

for part in "${parts[@]}"; do start "$part"; done
for part in "${parts[@]}"; do use "$part"; done
sleep 10
for part in "${parts[@]}"; do ran_ns "$(cat "$work/$part/pid")" >"$work/$part/before"; done
sleep "$seconds"
for part in "${parts[@]}"; do
	pid=$(cat "$work/$part/pid")
	ran=$(($(ran_ns "$pid") - $(cat "$work/$part/before")))
	echo "bench parts.$part.rest_cpu $(awk "BEGIN { printf \"%.3g\", 100 * $ran / ($seconds * 1e9) }") pct"
	echo "bench parts.$part.resident $(awk '/VmRSS/ { print $2 * 1024 }' "/proc/$pid/status") bytes"
done
