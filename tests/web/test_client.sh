#!/bin/bash
# A typed client: generated from a daemon's description of its API, compiled strictly, and run against that daemon.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

modules=$root/tests/client/node_modules
command -v node >/dev/null || { skip "a generated client" "there is no node here"; exit 0; }
for module in openapi-typescript openapi-fetch typescript @redocly/openapi-core; do
	[ -d "$modules/$module" ] || { skip "a generated client" "npm has not installed $module"; exit 0; }
done

new_repo kernels
write_config
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels main
is "a loss is judged" "$(result_of "$(head_of kernels)")" "done regression"

mkdir "$tmp/client"
cd "$tmp/client" || exit 1
ln -s "$modules" node_modules
cp "$root/tests/client/client.ts" .
echo '{"type": "module"}' >package.json
api openapi.json >openapi.json
cp "$root/tests/client/lint.mjs" .
timeout -k 5 120 node lint.mjs openapi.json >lint.log 2>&1
tap_result $? "Redocly finds nothing to say of the description" "$(tail -n 8 lint.log)"
sed 's|"/api/v1/repos": *{|"/api/v1/repos/": {|' openapi.json >slash.json
! timeout -k 5 120 node lint.mjs slash.json >slash.log 2>&1 && grep -q no-path-trailing-slash slash.log
tap_result $? "and would find a slash too many" "$(tail -n 8 slash.log)"
timeout -k 5 120 node node_modules/openapi-typescript/bin/cli.js openapi.json -o flopwatch.d.ts >generated.log 2>&1
tap_result $? "the description makes types" "$(tail -n 5 generated.log)"
timeout -k 5 120 node node_modules/typescript/bin/tsc --strict --target es2022 --module nodenext \
	--skipLibCheck client.ts >compiled.log 2>&1
tap_result $? "a client of these types compiles, but for what it must not" "$(tail -n 8 compiled.log)"
timeout -k 5 120 node client.js "http://127.0.0.1:$(port)" kernels "$(head_of kernels)" >run.log 2>&1
tap_result $? "and ends in order" "$(tail -n 8 run.log)"
while IFS= read -r line; do
	case "$line" in
	"ok "*) tap_result 0 "${line#ok * - }" ;;
	"not ok "*) tap_result 1 "${line#not ok * - }" "$(grep -A1 -F "$line" run.log | sed 1d)" ;;
	esac
done <run.log
is "all of it ran" "$(grep -c '^1\.\.14$' run.log)" 1
stop_daemon
