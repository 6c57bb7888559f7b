#!/bin/bash
# Private repositories: `flopwatch config check` tests their credentials, the daemon uses them, and none of them is in its output or in stored data.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/git_servers.sh"
PATH=$PATH:/usr/sbin:/sbin
token=s3cret-t0ken-of-the-test
encoded=$(printf 'git:%s' "$token" | base64)
check() {
	"$bin/flopwatch" config check "$tmp/c.yml" >"$tmp/said" 2>&1
}
said() { # health, what, text
	grep -qE -- "^$1 +$2 +$3" "$tmp/said" || { cat "$tmp/said"; return 1; }
}
worker='workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]'

new_repo kernels
push kernels main
make_certificate
start_https git "$tmp" "git:$token"
mkdir "$tmp/credentials" "$tmp/keys" "$tmp/home"
export HOME=$tmp/home CREDENTIALS_DIRECTORY=$tmp/credentials
printf '%s\n' "$token" >"$tmp/credentials/far-token"
printf 'wrong-%s\n' "$token" >"$tmp/keys/wrong"
chmod 400 "$tmp/credentials/far-token" "$tmp/keys/wrong"
far="name: far, url: \"https://localhost:$https_port/kernels.git\", ca_file: $tmp/tls/cert.pem, poll: 1 s"

# ---- config check ----
write_config "$worker" "repos: [{$far, token_file: \"credential:far-token\"}]"
ok "a token that the server takes" check
ok "reads its branches" said ok repository 'far can be read: 1 branch, main among them'
write_config "$worker" "repos: [{$far, token_file: $tmp/keys/wrong}]"
fails "one that it refuses" 1 check
ok "the error names its file" said fail repository "far: the server refused the token of $tmp/keys/wrong"
unlike "and not by itself" "$(cat "$tmp/said")" "$token"
write_config "$worker" "repos: [{$far}]"
fails "none" 1 check
ok "the error says what to set" said fail repository 'far: the server requires a token; set token_file of this repository'
write_config "$worker" "repos: [{$far, token_file: \"credential:none\"}]"
fails "a credential that systemd does not pass" 2 check
like "is a mistake, with what to write" "$(cat "$tmp/said")" 'c.yml:6:[0-9]+: repos\[0\].token_file: no credential none in .*: add LoadCredential=none:FILE to flopwatchd.service'
if can_start_sshd; then
	start_sshd
	print=$(ssh-keygen -lf "$tmp/ssh/host.pub" | cut -d ' ' -f 2)
	near="name: near, url: \"ssh://$(id -un)@127.0.0.1:$ssh_port$tmp/kernels.git\", poll: 1 s"
	write_config "$worker" "repos: [{$near, ssh_key: $tmp/ssh/mine}]"
	fails "an ssh server that is not known" 1 check
	ok "the error has its fingerprint and what to write" said fail repository "near: .*shows the host key ${print//+/\\+} .*then write host_keys: \\[\"${print//+/\\+}\"\\]"
	write_config "$worker" "repos: [{$near, ssh_key: $tmp/ssh/mine, host_keys: [\"$print\"]}]"
	ok "with what it says" check
	ok "reads its branches" said ok repository 'near can be read: 1 branch, main among them'
	chmod 640 "$tmp/ssh/mine"
	fails "a key that a group may read" 2 check
	like "is a mistake" "$(cat "$tmp/said")" "ssh_key: $tmp/ssh/mine may be read or written by others than its owner \\(mode 0640\\)"
	chmod 600 "$tmp/ssh/mine"
	near_entry=", {$near, notes: push, ssh_key: $tmp/ssh/mine, host_keys: [\"$print\"]}"
else
	skip "an ssh server" "needs openssh-server"
	near_entry=""
fi

# ---- the daemon ----
write_config "$worker" "repos: [{$far, notes: push, token_file: \"credential:far-token\"}$near_entry]"
start_daemon || exit 1
is "a commit behind a token is measured" "$(result_of "$(head_of kernels)" | cut -d ' ' -f 1)" "done"
noted() {
	git -C "$tmp/kernels.git" notes --ref flopwatch show "$(head_of kernels)" 2>/dev/null
}
ok "its note is pushed" await noted
both_read() {
	api repos | jq -e '(.items | length > 0) and all(.items[]; .state == "ok")'
}
ok "every repository is read" await both_read
printf 'wrong-%s\n' "$token" >"$tmp/credentials/new" && chmod 400 "$tmp/credentials/new" && mv "$tmp/credentials/new" "$tmp/credentials/far-token"
is_refused() {
	api repos | jq -re '.items[] | select(.name == "far").error' | grep -q 'refused the token of'
}
ok "a token that is changed is read at the next look" await is_refused
"$bin/flopwatch" --server "http://127.0.0.1:$(port)" backup "$tmp/backup.db" >"$tmp/backed" 2>&1
ok "a backup" test -s "$tmp/backup.db"
for page in / /repos /repos/far /jobs /jobs/1 /devices /workers /notifications /api/v1/repos /api/v1/jobs /api/v1/jobs/1 /api/v1/notifications /metrics /healthz; do
	curl -s --max-time 60 "http://127.0.0.1:$(port)$page"
done >"$tmp/shown"
ok "pages and answers came" grep -q 'refused the token' "$tmp/shown"
await test -s "$tmp/log"
holds_token() { grep -rlE "$token|$encoded" "$@"; }
fails "neither log, pages, answers, backup, database nor mirrors hold it" 1 holds_token "$tmp/log" "$tmp/shown" "$tmp/backup.db" "$tmp/backed" "$tmp/state"
printf '%s' "$token" >"$tmp/state/planted"
ok "which this search would find" holds_token "$tmp/state"
