#!/bin/bash
# The description of the API against the API of a real daemon: every route is described, and every described route is requested with data and
# checked: answers, errors, methods, forms, pages of lists, permissions.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

python=
for p in python3 /usr/bin/python3; do
	"$p" -c 'from jsonschema import Draft202012Validator' 2>"$tmp/python" && { python=$p; break; }
done
[ -n "$python" ] || { skip "the API against its description" "Python has no jsonschema here"; exit 0; }

# It prints TAP: take over its lines.
checks() {
	local status line n=0
	timeout -k 5 120 "$python" "$root/tests/support/openapi.py" "$@" >"$tmp/checks.log" 2>&1
	status=$?
	while IFS= read -r line; do
		case "$line" in
		"ok "*) tap_result 0 "${line#ok * - }" ;;
		"not ok "*) tap_result 1 "${line#not ok * - }" "$(grep -A12 -F "$line" "$tmp/checks.log" | sed 1d | sed '/^\(not \)\?ok /,$d')" ;;
		*) continue ;;
		esac
		n=$((n + 1))
	done <"$tmp/checks.log"
	[ "$status" -lt 2 ] && [ $n -gt 0 ] && ! grep -q '^Traceback' "$tmp/checks.log" || tap_result 1 "openapi.py $1 ended with $status" "$(tail -n 8 "$tmp/checks.log")"
}

# ---- a daemon with something of everything ----
new_repo kernels
echo 'block_sparse: {seqlens: [128], sparsity_ratios: [0.5], block_sizes: [32]}' >>"$tmp/kernels/etc/suites/tiny.yaml"
git -C "$tmp/kernels" commit -q --amend --no-edit -a
echo "It's a Secret to Everybody" >"$tmp/secret"
chmod 600 "$tmp/secret"
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git, secret_file: $tmp/secret}]" \
	'webhooks: [{name: nobody, url: "http://127.0.0.1:1/"}]' 'profile: on' 'keep_samples: 0 s'
start_daemon || exit 1
factor() { # factor, message
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "$2"
}
push kernels main
base=$(head_of kernels)
is "main is judged" "$(result_of "$base")" "done unchanged"
for name in other third; do
	branch kernels $name main
	factor 1.06 "slower $name"
	push kernels $name
	is "$name is slower" "$(result_of "$(head_of kernels)")" "done regression"
done
branch kernels main main
factor 1.0 "harmless"
factor 1.05 "slower"
push kernels main
target=$(head_of kernels)
is "main is slower" "$(result_of "$target")" "done regression"
is_named() { [ "$(api alerts | jq '[.items[] | select(.branch == "main" and .culprits != [])] | length')" -ge 1 ]; }
await is_named
is "and it is known who did it" "$(api alerts | jq -r '[.items[] | select(.branch == "main") | .culprits[].subject] | join(" ")')" "slower"
no_job() { [ "$(api 'jobs?state=open' | jq '.items | length')" = 0 ]; }
await no_job
job=$(job_of "$target")
like "a peer is asked for" "$(post peers '{"repo": "kernels", "provider": "naive"}')" '"jobs":\[[0-9]+\]'
await no_job
is "and is next to main" "$(api "comparisons/$(job_field "$job" comparison)" | jq -c '[.cells[].peers[].basis] | unique')" '["paired"]'
kill -HUP "$daemon_pid" # so that it archives at once
is_archived() { [ "$(sql 'SELECT count(*) FROM archived')" -gt 0 ]; }
ok "single times are archived" await is_archived
alert() { api alerts | jq --arg name "$1" '.items[] | select(.branch == $name) | .id'; }
jq -n --arg base "$base" --arg target "$target" --argjson job "$job" --argjson comparison "$(job_field "$job" comparison)" \
	--argjson profile "$(api "profiles?alert=$(alert main)" | jq '.items[0].id')" --argjson alert "$(alert main)" --argjson alert2 "$(alert other)" --argjson alert3 "$(alert third)" \
	--arg month "$(api samples | jq -r '.items[0].month')" --arg cell "$(api "comparisons/$(job_field "$job" comparison)" | jq -r '.cells[0].cell')" --arg secret "$(cat "$tmp/secret")" \
	'{repo: "kernels", branch: "main", device: "sim-0", bisect: 1, $profile, $base, $target, $job, regression: $comparison, $alert, $alert2, $alert3,
	  $cell, $secret, $month}' >"$tmp/facts"
checks describe "http://127.0.0.1:$(port)"
checks replay "http://127.0.0.1:$(port)" "$tmp/facts"
stop_daemon
is "the daemon ends in order" $? 0

# ---- a daemon with a low limit ----
echo 'requests_per_minute: 20' >>"$tmp/c.yml"
start_daemon || exit 1
checks limit "http://127.0.0.1:$(port)"
stop_daemon
sed -i '/^requests_per_minute/d' "$tmp/c.yml"

# ---- a daemon that requires tokens ----
echo 'access: token' >>"$tmp/c.yml"
start_daemon || exit 1
checks tokens "http://127.0.0.1:$(port)" "$tmp/state/admin.token"
token=$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" --token-file "$tmp/state/admin.token" --quiet token add reader --scope read)
checks refuse "http://127.0.0.1:$(port)" "$token"
stop_daemon
