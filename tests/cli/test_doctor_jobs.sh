#!/bin/bash
# The doctor reports that every job of a repository fails, with the cause.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
pushed() { # message: the result of the commit with the present tree
	commit kernels "$1"
	push kernels main
	result_of "$(head_of kernels)"
}

new_repo kernels
good=$(cat "$tmp/kernels/kernels/good.c")
write_config
start_daemon || exit 1
echo 'echo there is no such compiler; exit 3' >"$tmp/kernels/kernels/recipe"
is "a build breaks" "$(pushed "a new compiler")" "done failed"
unlike "one job is no pattern" "$(fw doctor)" ' jobs '
echo 'echo there is no such compiler; exit 4' >"$tmp/kernels/kernels/recipe"
is "so does the next" "$(pushed "another compiler")" "done failed"
fails "two are" 1 fw doctor
like "reported with the newest message" "$out" \
	"^fail  jobs        kernels: its last [2-9] jobs all failed alike, build; the newest, J[0-9]+: make DEVICE=cpu: exit 2\$"
like "and with the remedy" "$out" '^ +-> builds run in a sandbox'
is "REST states it of the repository" "$(api repos | jq -c '.items[0] | [.state, .failing.class, (.failing.jobs >= 2), .failing.reason]')" '["ok","build",true,"make DEVICE=cpu: exit 2"]'
fails "--json" 1 fw doctor --json
ok "reports it as well" jq -e '.checks[] | select(.what == "jobs" and .health == "fail") | .advice' <<<"$out"

echo : >"$tmp/kernels/kernels/recipe"
echo 'int nothing;' >"$tmp/kernels/kernels/good.c"
is "a module that is none" "$(pushed "nothing in it")" "done failed"
like "fails in another way" "$(fw doctor)" '^fail  jobs        kernels: its last [3-9] jobs all failed, in several ways; the newest, J[0-9]+: '

echo "$good" >"$tmp/kernels/kernels/good.c"
is "one that works" "$(pushed "it works" | cut -d' ' -f1)" done
unlike "ends the pattern" "$(fw doctor)" ' jobs '
is "also in REST" "$(api repos | jq '.items[0].failing')" null
