# shellcheck shell=bash
# daemon_lib.sh - sourced by the scripts that run the whole daemon on a GPU. Programs come from a bundle (`make bundle`), so
# nothing has to be installed. Sets state (a folder that is removed at the end) and leaves flopwatchd running until then.

# BUNDLE: the programs. Sets bundle, state and the environment.
daemon_prepare() {
	bundle=$(cd "$1" && pwd)
	export LC_ALL=C.UTF-8 PATH=$bundle/bin:/usr/local/cuda/bin:$PATH GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	export GIT_AUTHOR_NAME=gpu GIT_AUTHOR_EMAIL=gpu@example.org GIT_COMMITTER_NAME=gpu GIT_COMMITTER_EMAIL=gpu@example.org
	state=$(mktemp -d)
	daemon_pid=
	trap '[ -z "$daemon_pid" ] || kill "$daemon_pid" 2>/dev/null || true; wait; rm -rf "$state"' EXIT
}

# An empty repository to push to, and a checkout of it with FOLDERS as its first commit.
daemon_repository() {
	git init -q --bare -b main "$state/kernels.git"
	git init -q -b main "$state/work"
	cp -r "$@" "$state/work/"
	cd "$state/work" || return
	git add -A
	git commit -q -m "kernels as they are"
	git remote add origin "$state/kernels.git"
}

# LOG SUITE [MORE CONFIGURATION]: start flopwatchd on that repository, on one CUDA device; sets FLOPWATCH_SERVER.
daemon_start() {
	mkdir -p "$state/state" "$state/cache"
	cat >"$state/c.yml" <<YML
state_dir: $state/state
cache_dir: $state/cache
suites_dir: $bundle/share/suites
listen: 127.0.0.1:0
sandbox: ${SANDBOX:-auto}
workers:
  - {name: gpu, command: ${WORKER:-["$bundle/bin/flopwatch-worker", serve]}, device: ${DEVICE:-cuda}}
repos:
  - {name: kernels, url: "$state/kernels.git", upstream: main, suites: [$2], peers: []}
${3:-}
YML
	: >"$1" # must exist before it is read
	flopwatchd --config "$state/c.yml" >>"$1" 2>&1 &
	daemon_pid=$!
	for _ in $(seq 100); do
		FLOPWATCH_SERVER=$(sed -n 's/^listening on //p' "$1")
		[ -z "$FLOPWATCH_SERVER" ] || break
		sleep 0.1
	done
	export FLOPWATCH_SERVER
	[ -n "$FLOPWATCH_SERVER" ]
}

# BRANCH OUT [SECONDS]: wait for its verdict; the command's output and the API's answer are written to OUT/BRANCH.{txt,json}.
# Returns 1 if there is none in time.
daemon_judge() {
	local status=0
	flopwatch wait "$1" --long --quiet --timeout "${3:-1500}" >"$2/$1.txt" || status=$?
	echo "$1: exit $status after $SECONDS s"
	if [ $status = 6 ]; then
		rm -f "$2/$1.txt"
		return 1
	fi
	flopwatch wait "$1" --quiet --json >"$2/$1.json" || true
}
