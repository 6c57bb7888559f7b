#!/bin/bash
# Named servers of the command line: two real daemons, their tokens, and mistakes in servers.yml.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
run() {
	out=$("$bin/flopwatch" "$@" 2>&1)
	status=$?
}
export XDG_CONFIG_HOME=$tmp/xdg
unset FLOPWATCH_SERVER FLOPWATCH_TOKEN
mkdir -p "$tmp/xdg/flopwatch"
file=$tmp/xdg/flopwatch/servers.yml

run servers
is "without a file there are none" "$status $out" "0 There are no named servers. Write them to $file."
run status --all-servers
is "so there is no status of all" "$status $out" "2 flopwatch: there is no server in $file"

new_repo kernels
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" "access: token"
start_daemon || exit 1
first=http://127.0.0.1:$(port)
(umask 077 && cp "$tmp/state/admin.token" "$tmp/xdg/flopwatch/first.token")
secret=$(cat "$tmp/state/admin.token")
put "$file" "default: first
servers:
  - {name: first, url: \"$first\", token_file: first.token}
  - {name: second, url: \"http://127.0.0.1:1\"}"

run servers
like "they are listed with the default" "$out" "default +first +$first"
unlike "without a token" "$out" "$secret"
run servers --json
is "also as JSON" "$(jq -c '[.servers[] | [.name, .default, .token]]' <<<"$out")" '[["first",true,true],["second",false,false]]'
unlike "without a token" "$out" "$secret"
run status --all
is "without an option the default is used, with its token" "$status" 0
run --server second status --all
is "a server by its name" "$status $(grep -c 'cannot reach flopwatchd at http://127.0.0.1:1' <<<"$out")" "5 1"
out=$(FLOPWATCH_SERVER=second "$bin/flopwatch" status --all 2>&1)
like "also in the environment" "$out" 'cannot reach flopwatchd at http://127.0.0.1:1'
run --server third status
is "a name that is not there" "$status $out" "2 flopwatch: there is no server named third in $file; an address begins with http:// or https://"
run --server "$first" status --all
is "an address has no token of a name" "$status $(grep -c 'token' <<<"$out")" "1 1"

run status --all-servers --all
is "the status of all ends as the first that fails" "$status" 5
like "each under its name" "$(paste -sd' ' <<<"$out")" "first \\($first\\).*second \\(http://127.0.0.1:1\\).*cannot reach"
out=$(FLOPWATCH_TOKEN=$secret "$bin/flopwatch" status --all-servers --all --json 2>"$tmp/errors")
is "as JSON" "$(jq -c '[.servers[] | [.server, .exit_status, (.answer | type)]]' <<<"$out")" '[["first",0,"object"],["second",5,"null"]]'
unlike "no token is printed" "$out$(cat "$tmp/errors")" "$secret"
for more in "--server first" "--token-file $tmp/xdg/flopwatch/first.token" --watch; do
	run status --all-servers $more
	is "$more belongs to one server" "$status" 2
done
run jobs --all-servers
is "other verbs address one server" "$status $out" "2 flopwatch: jobs takes no --all-servers; see flopwatch help jobs"

chmod 644 "$tmp/xdg/flopwatch/first.token"
run status --all
like "a token that others may read is refused" "$status $out" "^1 flopwatch: .*first.token may be read .*; chown it to the user of this program and chmod 600 it$"
unlike "and not printed" "$out" "$secret"
chmod 600 "$tmp/xdg/flopwatch/first.token"

mistake() { # file, its messages
	put "$file" "$1"
	run status
	is "mistake: $1" "$status $out" "2 flopwatch: $file:$2"
}
mistake 'servers: [{name: a, url: "http://x", token: abc}]' '1:45: servers[0].token: does not belong here; write it into a file of mode 600, and name that: token_file'
mistake 'servers: [{name: a, url: "http://x"}, {name: a, url: "http://y"}]' '1:46: servers[1].name: there is another server named a'
mistake 'servers: [{name: a, url: x}]' '1:11: servers[0]: needs `url`, which begins with http:// or https://'
mistake 'servers: [{name: a, url: "http://me:pw@x"}]' '1:26: servers[0].url: holds a user name or password; name a token_file instead'
printf 'default: b\nservers: [{name: a, url: "http://x"}]\n' >"$file"
run status
is "a default that is not there" "$status $out" "2 flopwatch: $file:1:10: default: there is no server named b"

put "$file" "servers:
  - {name: a b, url: x, token: abc, colour: red}
  - {name: c, url: \"http://me:pw@x\"}
default: d
more: 1
"
run status
is "every mistake is printed at its position" "$status $out" "2 flopwatch: $file:2:5: servers[0]: needs \`name\`, of letters, digits and . _ -
$file:2:5: servers[0]: needs \`url\`, which begins with http:// or https://
$file:2:32: servers[0].token: does not belong here; write it into a file of mode 600, and name that: token_file
$file:2:37: servers[0].colour: unknown key; remove it
$file:3:20: servers[1].url: holds a user name or password; name a token_file instead
$file:4:10: default: there is no server named d
$file:5:1: more: unknown key; remove it"

{ echo 'servers: [{name: a, url: "http://x"}]'; for n in {1..70}; do echo "k$n: 1"; done; } >"$file"
run status
is "of very many the first are printed" "$status $(grep -c 'unknown key' <<<"$out") $(tail -n 1 <<<"$out")" "2 50 $file has more mistakes than these"
put "$file" "servers:
  - {name: a b, url: \"http://x\"}"

# Verbs that need no server do not fail for it.
new_lines_repo
lines_take 1
commit lines "first"
git init -q "$tmp/empty"
run init "$tmp/empty"
is "init works" "$status $(grep -c servers.yml <<<"$out")" "4 0"
run try "$tmp/lines"
is "try works" "$status $(grep -c servers.yml <<<"$out")" "0 0"
run config check "$tmp/none.yml"
is "config check works" "$status $(grep -c servers.yml <<<"$out") $(grep -c none.yml <<<"$out")" "2 0 1"
run suite import "$tmp/none.yml"
is "suite import works" "$(grep -c servers.yml <<<"$out") $(grep -c none.yml <<<"$out")" "0 1"
run completion bash
is "completion works" "$status $(grep -c servers.yml <<<"$out")" "0 0"
run completion branches
is "and a name is completed to nothing" "$status $out" "0 "
printf 'name,time\none,1\n' >"$tmp/one.csv"
run compare "$tmp/one.csv" "$tmp/one.csv" --format triton --unit ms --results time
is "compare works with two files" "$status $(grep -c servers.yml <<<"$out")" "0 0"
run compare main topic
is "but needs a server for two branches" "$status $(grep -c "^flopwatch: $file:2:5: servers" <<<"$out")" "2 1"
run doctor "$tmp/none.yml"
is "doctor fails in the line of the daemon alone" "$status $(grep -c servers.yml <<<"$out") $(grep "servers.yml" <<<"$out" | cut -c1-4)" "1 1 fail"
is "and names where to look" "$(grep -c 'correct it; .flopwatch servers' <<<"$out")" 1
put "$file" "servers: [{name: a, url: \"http://x\"}]"
out=$(FLOPWATCH_SERVER=b "$bin/flopwatch" init "$tmp/empty" 2>&1)
is "nor is init affected by a server that is not there" "$? $(grep -c 'no server named' <<<"$out")" "4 0"
