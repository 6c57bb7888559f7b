#!/bin/bash
# flopwatch-git reaches private repositories by a token or a key, on servers that it recognises, and prints neither of them.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/git_servers.sh"
PATH=$PATH:/usr/sbin:/sbin
git_=$bin/flopwatch-git
export HOME=$tmp/home GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
mkdir "$HOME" "$tmp/served"
cd "$tmp" || exit 1
token=s3cret-t0ken-of-the-test
git init -q -b main co && git -C co commit -q --allow-empty -m first && git clone -q --bare co served/kernels.git
head=$(git -C co rev-parse HEAD)
private() { # file, text
	printf '%s\n' "$2" >"$1" && chmod 600 "$1"
}
shows_no_token() {
	unlike "$1 without the token" "$out" "$token|$(printf 'git:%s' "$token" | base64)"
}

# ---- https, with a token ----
make_certificate
start_https git "$tmp/served" "git:$token"
private token "$token"
url=https://localhost:$https_port/kernels.git
reach=(--url "$url" --ca-file "$tmp/tls/cert.pem")
fails "a server that asks, without a token" 1 "$git_" heads "${reach[@]}"
like "says what to set" "$out" '^flopwatch-git: the server requires a token; set token_file of this repository'
ok "with the token" "$git_" heads "${reach[@]}" --token-file token
is "it lists the branches" "$(jq -r '.name + " " + .commit' <<<"$out")" "main $head"
ok "a mirror" "$git_" fetch "${reach[@]}" --token-file token --mirror "$tmp/m.git"
unlike "does not hold the token" "$(grep -rl "$token" "$tmp/m.git"; echo .)" m.git
echo noted >note
ok "a note is pushed" "$git_" note --repo "$tmp/m.git" --commit "$head" --file note --push "$url" --ca-file "$tmp/tls/cert.pem" --token-file token
is "and is there" "$(git -C served/kernels.git notes --ref flopwatch show "$head")" noted
private wrong another-t0ken
fails "another token" 1 "$git_" heads "${reach[@]}" --token-file wrong
is "is refused, by the name of its file" "$out" "flopwatch-git: the server refused the token of wrong (see doc/troubleshooting.md#token)"
fails "another user" 1 "$git_" heads "${reach[@]}" --token-file token --token-user deploy
shows_no_token "is refused"
fails "a server whose authority is unknown" 1 "$git_" heads --url "$url" --token-file token
like "is not trusted" "$out" 'the certificate of localhost cannot be verified'
: >"$tmp/tls/git.log"
quiet() { "$@" >/dev/null 2>&1; }
quiet "$git_" heads --url "$url" --token-file token
is "and gets no request" "$(cat "$tmp/tls/git.log")" ""
for mode in 640 604 660; do
	chmod "$mode" token
	fails "a token of mode $mode" 1 "$git_" heads "${reach[@]}" --token-file token
	is "is not used" "$out" "flopwatch-git: token may be read or written by others than its owner (mode 0$mode); chown it to the user of this program and chmod 600 it"
done
chmod 600 token
fails "a token in the url" 1 "$git_" heads --url "https://$token@localhost:$https_port/kernels.git"
shows_no_token "is refused"
fails "a password in the url" 1 "$git_" heads --url "https://git:$token@localhost:$https_port/kernels.git"
shows_no_token "is refused"

# ---- the certificate authorities of the machine ----
# $tmp/machine.pem replaces the machine's list; its openings are counted.
cp "$tmp/tls/cert.pem" machine.pem
list=/etc/ssl/certs/ca-certificates.crt
beside_list() { # command...
	python3 - bwrap --dev-bind / / --bind "$tmp/machine.pem" "$list" "$@" <<'PY'
import ctypes, os, subprocess, sys
IN_OPEN = 0x20
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(os.O_NONBLOCK)
assert libc.inotify_add_watch(watch, b"machine.pem", IN_OPEN) > 0
status = subprocess.run(sys.argv[1:]).returncode
try:
    n = len(os.read(watch, 65536)) // 16
except BlockingIOError:
    n = 0
open("openings", "w").write(str(n))
sys.exit(status)
PY
}
if [ -f "$list" ] && bwrap --dev-bind / / true 2>/dev/null; then
	ok "an authority that the machine trusts" beside_list "$git_" heads --url "$url" --token-file token
	is "it lists the branches" "$(jq -r '.name + " " + .commit' <<<"$out")" "main $head"
	unlike "for that the list is read" "$(cat openings)" "^0$"
	for args in "tips --repo co" "heads --url $tmp/co" "fetch --url file://$tmp/co --mirror here.git"; do
		ok "no server: $args" beside_list "$git_" $args
		is "the list is not read" "$(cat openings)" 0
	done
else
	skip "authorities that the machine trusts" "needs bwrap and $list"
fi

# ---- redirects ----
there=$https_port
start_redirect moved "https://localhost:$there"
: >"$tmp/tls/git.log"
for verb in heads "fetch --mirror $tmp/moved.git"; do
	fails "a server that sends on to another, ${verb%% *}" 1 timeout 60 "$git_" $verb --url "https://localhost:$https_port/kernels.git" --ca-file "$tmp/tls/cert.pem" --token-file token
	shows_no_token "is refused"
done
like "with the reason" "$out" "localhost port $https_port redirects to localhost port $there, and redirects to another server are not followed; write the address"
start_redirect elsewhere "https://127.0.0.1:$there"
fails "to another host" 75 timeout 60 "$git_" heads --url "https://localhost:$https_port/kernels.git" --ca-file "$tmp/tls/cert.pem" --token-file token
like "is refused" "$out" "cannot redirect from 'localhost' to '127.0.0.1'"
like "it was asked" "$(cat "$tmp/tls/moved.log")" 'GET /kernels.git/info/refs'
is "the other one was not" "$(cat "$tmp/tls/git.log")" ""

# ---- permissions of files ----
# A server that never answers: the process waits there with its complete command line and environment.
mkfifo held
python3 - "$tmp/tls/mute.port" <held 2>/dev/null <<'PY' &
import socket, sys, time
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
held = [s.accept()]
open(sys.argv[1] + ".asked", "w").write("asked")
time.sleep(1000)
PY
on_exit kill $!
exec 9>held
await test -s "$tmp/tls/mute.port"
"$git_" heads --url "https://localhost:$(cat "$tmp/tls/mute.port")/kernels.git" --token-file token >/dev/null 2>&1 &
waits=$!
on_exit kill $waits
await test -e "$tmp/tls/mute.port.asked"
unlike "neither arguments nor environment hold it" "$(tr '\0' ' ' <"/proc/$waits/cmdline"; tr '\0' ' ' <"/proc/$waits/environ")" "$token"
kill $waits
exec 9>&-

# ---- ssh ----
if ! can_start_sshd; then
	skip "a key for ssh" "needs openssh-server"
	exit 0
fi
start_sshd
key=$tmp/ssh/mine
url=ssh://$(id -un)@127.0.0.1:$ssh_port$tmp/served/kernels.git
print=$(ssh-keygen -lf "$tmp/ssh/host.pub" | cut -d ' ' -f 2)
fails "a server whose key is not known" 1 "$git_" heads --url "$url" --ssh-key "$key"
is "is refused, with its fingerprint and what to write" "$out" \
	"flopwatch-git: [127.0.0.1]:$ssh_port shows the host key $print (ssh-ed25519), which is not known; compare it with the fingerprint that the server's administrator publishes, then write host_keys: [\"$print\"] at this repository (see doc/troubleshooting.md#host-key)"
ok "one whose fingerprint is configured" "$git_" heads --url "$url" --ssh-key "$key" --host-keys "$print"
is "lists its branches" "$(jq -r '.name + " " + .commit' <<<"$out")" "main $head"
ok "one of several fingerprints" "$git_" heads --url "$url" --ssh-key "$key" --host-keys "SHA256:$(printf 'A%.0s' {1..43}),$print"
fails "another fingerprint" 1 "$git_" heads --url "$url" --ssh-key "$key" --host-keys "SHA256:$(printf 'A%.0s' {1..43})"
like "is named" "$out" "which is not among host_keys; "
fails "part of a fingerprint" 1 "$git_" heads --url "$url" --ssh-key "$key" --host-keys "${print:0:20}"

public=$(cut -d ' ' -f 1,2 "$tmp/ssh/host.pub")
known() { # name, line of known_hosts
	printf '%s\n' "$2" >hosts
	ok "known_hosts: $1" "$git_" heads --url "$url" --ssh-key "$key" --known-hosts hosts
}
unknown() { # name, line, regex
	printf '%s\n' "$2" >hosts
	fails "known_hosts: $1" 1 "$git_" heads --url "$url" --ssh-key "$key" --known-hosts hosts
	like "$1: the sentence" "$out" "$3"
}
known "host and port" "[127.0.0.1]:$ssh_port $public"
known "among others" "example.org,[127.0.0.1]:$ssh_port $public a comment"
known "a pattern" "[127.0.0.*]:$ssh_port $public"
known "behind another key of it" "[127.0.0.1]:$ssh_port $(cut -d ' ' -f 1,2 "$tmp/ssh/mine.pub")
[127.0.0.1]:$ssh_port $public"
printf '%s\n' "[127.0.0.1]:$ssh_port $public" >hashed && ssh-keygen -q -H -f hashed >/dev/null 2>&1
unlike "ssh-keygen hashes names" "$(cat hashed)" '127\.0\.0\.1'
known "a hashed name" "$(cat hashed)"
unknown "without the port" "127.0.0.1 $public" 'which is not known; '
unknown "excluded" "![127.0.0.1]:$ssh_port,[127.0.0.*]:$ssh_port $public" 'which is not known; '
unknown "another key" "# of before
[127.0.0.1]:$ssh_port $(cut -d ' ' -f 1,2 "$tmp/ssh/mine.pub")" "shows the host key ${print//+/\\+} \\(ssh-ed25519\\), which is another one than in hosts:2; compare"
ssh-keygen -q -t ecdsa -N '' -f "$tmp/ssh/ecdsa"
unknown "a key of another type" "[127.0.0.1]:$ssh_port $(cut -d ' ' -f 1,2 "$tmp/ssh/ecdsa.pub")" 'is not listed, but a key of another type is, by hosts:1; compare'
unknown "revoked" "[127.0.0.1]:$ssh_port $public
@revoked * $public" 'which known_hosts revokes'
unknown "broken lines" "[127.0.0.1]:$ssh_port ssh-ed25519
[127.0.0.1]:$ssh_port ssh-ed25519 %%%
|1|x
@revoked" 'not known|another one than in hosts:2'
mkdir "$HOME/.ssh" && echo "[127.0.0.1]:$ssh_port $public" >"$HOME/.ssh/known_hosts"
ok "where neither is configured, ~/.ssh/known_hosts counts" "$git_" heads --url "$url" --ssh-key "$key"
fails "fingerprints that are configured count alone" 1 "$git_" heads --url "$url" --ssh-key "$key" --host-keys "SHA256:$(printf 'A%.0s' {1..43})"
fails "a known_hosts that is not there" 75 "$git_" heads --url "$url" --ssh-key "$key" --known-hosts none
like "is named" "$out" 'cannot read none: No such file'

reach=(--url "$url" --host-keys "$print")
for mode in 640 604; do
	chmod "$mode" "$key"
	fails "a key of mode $mode" 1 "$git_" heads "${reach[@]}" --ssh-key "$key"
	is "is not used" "$out" "flopwatch-git: $key may be read or written by others than its owner (mode 0$mode); chown it to the user of this program and chmod 600 it"
done
chmod 600 "$key"
ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/other"
fails "a key that the server does not know" 1 "$git_" heads "${reach[@]}" --ssh-key "$tmp/ssh/other"
is "is named" "$out" "flopwatch-git: the server refused the key $tmp/ssh/other (see doc/troubleshooting.md#ssh-key)"
fails "no key" 1 "$git_" heads "${reach[@]}"
like "says what to set" "$out" 'the server requires a key; set ssh_key of this repository'
ok "a mirror by ssh" "$git_" fetch "${reach[@]}" --ssh-key "$key" --mirror "$tmp/s.git"
ok "a note is pushed by ssh" "$git_" note --repo "$tmp/s.git" --commit "$head" --file note --push "$url" --host-keys "$print" --ssh-key "$key"
fails "but not to a server that is not known" 1 env HOME="$tmp" "$git_" note --repo "$tmp/s.git" --commit "$head" --file note --push "$url" --ssh-key "$key"
like "and that is reported" "$out" 'which is not known'
