# forge.sh - requests to forges, and the answers of the fake ones, against the schemas that the forges publish. Source it after tap.sh.
#
#   forge_schemas               makes the schemas, $schemas; it fails without the modules of npm, and $why_no_schemas says why
#   forge_check COMMAND...      support/forge_check.py with them
#   fits_forge NAME COMMAND...  a test that it finds no deviation; skipped without the modules
#
# `make deps` fetches what they are made of; the first test of a run makes them for all.
why_no_schemas="" forge_python=""
forge_schemas() {
	local folder=$root/build/npm/forge modules=$root/tests/client/node_modules one
	schemas=$folder/schemas.json
	[ -z "$forge_python" ] || return 0
	command -v node >/dev/null || { why_no_schemas="there is no node here"; return 1; }
	for one in api.json webhooks.json forgejo.d.ts; do
		[ -s "$folder/$one" ] || { why_no_schemas="npm has not fetched what is in build/npm/forge/$one"; return 1; }
	done
	for one in @gitbeaker/core @gitbeaker/rest gitea-js typescript; do
		[ -d "$modules/$one" ] || { why_no_schemas="npm has not installed $one"; return 1; }
	done
	for one in python3 /usr/bin/python3; do
		"$one" -c 'from jsonschema import Draft202012Validator' 2>/dev/null && { forge_python=$one; break; }
	done
	[ -n "$forge_python" ] || { why_no_schemas="Python has no jsonschema here"; return 1; }
	(
		flock 9
		for one in "$folder"/{api.json,webhooks.json,forgejo.d.ts} "$root"/tests/client/forge_{types.ts,schemas.mjs} "$modules/.package-lock.json"; do
			[ "$schemas" -nt "$one" ] || { rm -f "$schemas"; break; }
		done
		[ -s "$schemas" ] || timeout -k 5 300 node "$root/tests/client/forge_schemas.mjs" "$folder" "$schemas"
	) 9>"$folder/lock"
}
forge_check() {
	"$forge_python" "$root/tests/support/forge_check.py" "$schemas" "$@"
}
fits_forge() {
	local name=$1
	shift
	if ! forge_schemas >"$tmp/schemas.log" 2>&1; then
		[ -z "$why_no_schemas" ] || { skip "$name" "$why_no_schemas"; return; }
		tap_result 1 "$name" "$(cat "$tmp/schemas.log")"
		return
	fi
	out=$(forge_check "$@" 2>&1)
	tap_result $? "$name" "$out"
}
