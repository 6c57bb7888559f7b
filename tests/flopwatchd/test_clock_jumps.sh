#!/bin/bash
# The wall clock of a running daemon is set back by 50 minutes, forward by almost two hours, and back by one; the machine's clock does not change.
# Jobs, pauses, sessions and webhooks continue as if the clock had not been set.
. "$(dirname "$0")/../support/tap.sh"
library=$(find /usr/lib/*/faketime /usr/lib/faketime -name libfaketime.so.1 2>/dev/null | head -n 1)
[ -n "$library" ] || { skip "the clock is set" "libfaketime is not installed"; exit 0; }
gcc -D_GNU_SOURCE -shared -fPIC -o "$tmp/real_timerfd.so" "$root/tests/support/real_timerfd.c" || exit 1
mkdir "$tmp/bin"
for program in "$bin"/*; do ln -s "$program" "$tmp/bin/"; done
rm "$tmp/bin/flopwatchd"
cat >"$tmp/bin/flopwatchd" <<SCRIPT
#!/bin/sh
export LD_PRELOAD="$tmp/real_timerfd.so $library" FAKETIME_TIMESTAMP_FILE=$tmp/clock FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1
exec $bin/flopwatchd "\$@"
SCRIPT
chmod 755 "$tmp/bin/flopwatchd"
set_clock() { # seconds that the daemon's clock is ahead of the machine's
	printf '%+d\n' "$1" >"$tmp/clock.new"
	mv "$tmp/clock.new" "$tmp/clock"
}
set_clock 0
bin=$tmp/bin
. "$(dirname "$0")/../support/daemon.sh"
now_s() { echo $(($(date +%s) + $(cat "$tmp/clock"))); }
patience=60

# ---- two repositories whose benchmark waits for a file; a receiver that rejects each message once ----
for name in one two; do
	git init -q --bare -b main "$tmp/$name.git"
	git init -q -b main "$tmp/$name"
	git -C "$tmp/$name" remote add origin "$tmp/$name.git"
	printf 'flopwatch: 1\nbenchmarks: {wait: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30, timeout_s: 300}}\n' >"$tmp/$name/.flopwatch.yaml"
done
takes() { # repository, branch, file that its benchmark waits for
	printf 'until [ -e %s ]; do sleep 0.05; done\necho "{\\"cell\\":\\"sum\\",\\"ms\\":[1,1,1]}"\n# %s %s\n' "$3" "$1" "$2" >"$tmp/$1/bench.sh"
	commit "$1" "$2"
	push "$1" "$2"
}
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
printf 'whsec_%s\n' "$(printf 'a key of twenty-four byte' | base64)" >"$tmp/secret"
chmod 600 "$tmp/secret"
: >"$tmp/open"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "access: token" "limits: {again: 0 s}" \
	"repos:" "  - {name: one, url: $tmp/one.git, poll: 1 s, secret_file: $tmp/secret}" "  - {name: two, url: $tmp/two.git, poll: 1 s}" \
	"webhooks: [{name: flaky, url: \"http://127.0.0.1:$(cat "$tmp/r/port")/flaky\", allow_internal: true, comparisons: true}]"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
state_of() { sql "SELECT state FROM job WHERE target_sha = '$1' AND kind <> 'profile' ORDER BY id DESC LIMIT 1"; }
is_at() { [ "$(state_of "$1")" = "$2" ]; }
works() { [[ "$(state_of "$1")" =~ ^(sent|building|checking|measuring)$ ]]; }
followed() { # how often the daemon has followed its clock
	grep -c 'ev=clock.set ' "$tmp/log"
}
is_followed() { # times: a request makes the daemon's loop take a step; its log comes through a pipe, maybe after the answer
	daemon_is_up && [ "$(followed)" = "$1" ]
}
jump() { # to: the clock is set, and the daemon sees it once
	local before
	before=$(followed)
	set_clock "$1"
	await is_followed $((before + 1))
}

# ---- before: one is measured; a message is rejected once; a user logs in; a webhook comes in ----
takes one main "$tmp/open"
first=$(head_of one)
ok "a commit is measured" await is_at "$first" done
refused() { [ "$(sql "SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts = 1")" = 1 ]; }
ok "its message is refused and waits" await refused
token=$("$bin/flopwatch" --server "$server" --token-file "$tmp/state/admin.token" --quiet token add person --scope read)
curl -s -o /dev/null -c "$tmp/jar" --data-urlencode "token=$token" "$server/login"
page() { curl -s -o "$tmp/page" -w '%{http_code}' -b "$tmp/jar" "$server$1"; }
is "a user logs in" "$(page /jobs)" 200
signed() { # id, time: the daemon's answer
	local signature
	signature=$(printf '%s.%s.{}' "$1" "$2" | openssl dgst -sha256 -mac HMAC -macopt "key:a key of twenty-four byte" -binary | base64)
	curl -s -w ' %{http_code}' -X POST -d '{}' -H "webhook-id: $1" -H "webhook-timestamp: $2" -H "webhook-signature: v1,$signature" "$server/api/v1/hooks/one"
}
then=$(now_s)
like "a webhook is taken" "$(signed first "$then")" 'fetching.* 202|^fetching'
takes one busy "$tmp/go1"
busy=$(head_of one)
ok "a job runs" await works "$busy"
takes two main "$tmp/open"
waiting=$(head_of two)
ok "another one waits" await is_at "$waiting" queued

# ---- 50 minutes back: less than the longest pause, so that a pause that ends then is plausible ----
ok "the clock is set back, and the daemon sees it" jump -3000
like "which is logged" "$(grep ev=clock.set "$tmp/log" | tail -n 1)" 'by_s=-(2999|3000)'
sent() { [ "$(sql "SELECT count(*) FROM outbox WHERE state = 'waiting'")" = 0 ]; }
ok "the message goes out after its pause, not 50 minutes later" await sent
is "the session is one" "$(page /jobs)" 200
unlike "no page has a negative time" "$(grep -oE '.{20}[> ]-[0-9.]+( |&nbsp;|\xc2\xa0)?(s|min|h)\b' "$tmp/page")" '.'
is "nothing that is under way began or came in the future" \
	"$(sql "SELECT count(*) FROM job WHERE state NOT IN ('done','failed') AND max(queued_at, coalesce(started_at, 0)) > $(now_s)000 + 2000")" 0
like "a webhook of the hour that was is not taken again" "$(signed first "$then")" ' 401$'
like "one of now is" "$(signed second "$(now_s)")" 'fetching'
: >"$tmp/go1"
ok "the running job ends" await is_at "$busy" done
ok "and the one that waited" await is_at "$waiting" done

# ---- almost two hours forward, while a job runs ----
takes one later "$tmp/go2"
later=$(head_of one)
ok "another job runs" await works "$later"
ok "the clock is set forward" jump 3600
: >"$tmp/go2"
ok "the running job ends" await is_at "$later" done
is "the session is one" "$(page /jobs)" 200
is "no device is reported as silent" "$(sql "SELECT count(*) FROM alert WHERE kind = 'device_offline'")" 0
takes one now-served "$tmp/open"
ok "a job is served an hour ahead" await is_at "$(head_of one)" done

# ---- and back: a branch that was served at a time that is now in the future is served nevertheless ----
ok "the clock is right again" jump 0
takes two hold "$tmp/go3"
hold=$(head_of two)
ok "a job of the other repository runs" await works "$hold"
takes two b1 "$tmp/open"
b1=$(head_of two)
ok "it has another one" await is_at "$b1" queued
takes two b2 "$tmp/open"
b2=$(head_of two)
ok "and another" await is_at "$b2" queued
takes one a1 "$tmp/open"
a1=$(head_of one)
ok "the first repository has one" await is_at "$a1" queued
like "a webhook that was captured is no new one when its time comes again" "$(signed first "$then")" 'seen before'
: >"$tmp/go3"
for sha in $hold $b1 $b2 $a1; do await is_at "$sha" done; done
is "repositories take turns" "$(sql "SELECT group_concat(repo) FROM (SELECT r.name AS repo FROM job_log l JOIN job j ON j.id = l.job JOIN repo r ON r.id = j.repo
	WHERE l.line LIKE 'sent to worker%' AND j.target_sha IN ('$b1', '$b2', '$a1') ORDER BY l.id)")" "one,two,two"

# ---- stored times ----
is "every job is done, each once" "$(sql "SELECT group_concat(state || ' ' || n || ' ' || attempt) FROM (SELECT state, count(*) AS n, attempt FROM job GROUP BY state, attempt)")" "done 9 1"
is "none took less than nothing or an hour" "$(sql "SELECT count(*) FROM job WHERE ended_at < started_at OR ended_at - started_at > 600000")" 0
is "nor did a comparison" "$(sql "SELECT count(*) FROM comparison WHERE wall_s < 0 OR wall_s > 600")" 0
history=$(curl -s -H "Authorization: Bearer $token" "$server/api/v1/jobs?limit=100" | jq -c '[.items[].target]')
is "lists are in the order in which commits came" "$history" "$(sql "SELECT json_group_array(target_sha) FROM (SELECT target_sha FROM job ORDER BY id DESC)")"

# ---- set back while no daemon runs ----
stop_daemon
set_clock -3600
start_daemon || exit 1
server=http://127.0.0.1:$(port)
like "a daemon that starts sees that its rows are ahead" "$(grep ev=clock.set "$tmp/log" | tail -n 1)" 'by_s=-3[0-9]{3}'
is "nothing of jobs lies in the future" "$(sql "SELECT count(*) FROM job WHERE ended_at > $(now_s)000 + 2000 OR queued_at > $(now_s)000 + 2000")" 0
is "the session is one" "$(page /jobs)" 200
takes one last "$tmp/open"
ok "and what is pushed is measured" await is_at "$(head_of one)" done
