#!/bin/bash
# A typed client: generated from a daemon's description of its API, compiled strictly, and run against that daemon.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

modules=$root/tests/client/node_modules
command -v node >/dev/null || { skip "a generated client" "there is no node here"; exit 0; }
for module in openapi-typescript openapi-fetch typescript @redocly/cli @stoplight/spectral-cli; do
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
export REDOCLY_TELEMETRY=off
redocly() { timeout -k 5 120 node node_modules/@redocly/cli/bin/cli.js lint --extends recommended --max-problems 20 "$1" >redocly.log 2>&1; }
spectral() { timeout -k 5 120 node node_modules/@stoplight/spectral-cli/dist/index.js lint --ruleset rules.yaml --fail-severity hint "$1" >spectral.log 2>&1; }
# A summary suffices where it says all, the contact is the operator of the daemon, and OpenAPI 3.1 permits roles of a bearer token, which the rule for 3.0 does not know.
cat >rules.yaml <<-'END'
	extends: ["spectral:oas"]
	rules: {operation-description: off, info-contact: off, oas3-operation-security-defined: off}
END
redocly openapi.json && ! grep -qi 'warning' redocly.log
tap_result $? "Redocly accepts the description without a warning" "$(tail -n 8 redocly.log)"
spectral openapi.json
tap_result $? "so does Spectral" "$(tail -n 8 spectral.log)"
sed 's|"/api/v1/repos": *{|"/api/v1/repos/": {|' openapi.json >wrong.json
! redocly wrong.json && grep -q no-path-trailing-slash redocly.log
tap_result $? "Redocly refuses a path with a slash at its end" "$(tail -n 8 redocly.log)"
! spectral wrong.json && grep -q path-keys-no-trailing-slash spectral.log
tap_result $? "so does Spectral" "$(tail -n 8 spectral.log)"
timeout -k 5 120 node node_modules/openapi-typescript/bin/cli.js openapi.json -o flopwatch.d.ts >generated.log 2>&1
tap_result $? "the description makes types" "$(tail -n 5 generated.log)"
timeout -k 5 120 node node_modules/typescript/bin/tsc --strict --target es2022 --module nodenext \
	--skipLibCheck client.ts >compiled.log 2>&1 &&
	timeout -k 5 120 node node_modules/typescript/bin/tsc --noEmit --strict --lib es2022 --typeRoots none flopwatch.d.ts >>compiled.log 2>&1
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
