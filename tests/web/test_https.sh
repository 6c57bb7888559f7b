#!/bin/bash
# HTTPS by the daemon itself, with the certificates of a private authority: clients that trust it and others, old versions of TLS, plain
# requests, new certificates under open connections, files that cannot be used, certificates that expire, and the limits of connections.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
command -v openssl >/dev/null || { skip "HTTPS" "there is no openssl"; exit 0; }

# ---- an authority, another one below it, and certificates of the daemon ----
tls=$tmp/tls
mkdir "$tls"
authority() { # name, issuer or nothing
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=authority $1" -keyout "$tls/$1.key" -out "$tls/$1.csr" 2>/dev/null
	echo 'basicConstraints=critical,CA:true' >"$tls/ca.ext"
	if [ $# = 1 ]; then
		openssl x509 -req -in "$tls/$1.csr" -signkey "$tls/$1.key" -days 400 -extfile "$tls/ca.ext" -out "$tls/$1.pem" 2>/dev/null
	else
		openssl x509 -req -in "$tls/$1.csr" -CA "$tls/$2.pem" -CAkey "$tls/$2.key" -CAcreateserial -days 400 -extfile "$tls/ca.ext" -out "$tls/$1.pem" 2>/dev/null
	fi
}
certify() { # name, issuer, days from now (below 0: it has expired), openssl's options of a key
	local key=("${@:4}")
	[ $# -gt 3 ] || key=(ec -pkeyopt ec_paramgen_curve:P-256)
	openssl req -newkey "${key[@]}" -nodes -subj "/CN=$1" -keyout "$tls/$1.key" -out "$tls/$1.csr" 2>/dev/null
	echo "subjectAltName=${names-IP:127.0.0.1,DNS:localhost}" >"$tls/one.ext"
	openssl x509 -req -in "$tls/$1.csr" -CA "$tls/$2.pem" -CAkey "$tls/$2.key" -CAcreateserial -days "$3" -extfile "$tls/one.ext" -out "$tls/$1.pem" 2>/dev/null
	chmod 600 "$tls/$1.key"
}
authority root
authority middle root
authority stranger
names=DNS:elsewhere.example certify elsewhere root 100
certify first root 300
certify second root 200 rsa:2048
certify soon root 5
certify past root -1
certify below middle 100
cat "$tls/below.pem" "$tls/middle.pem" >"$tls/chain.pem"
cat "$tls/middle.pem" "$tls/below.pem" >"$tls/disorder.pem"
use() { # certificate, key: both files are replaced, the key after a moment in which they do not belong together
	cp "$tls/$1" "$tls/new" && mv "$tls/new" "$tls/used.pem"
	cp -p "$tls/$2" "$tls/new" && mv "$tls/new" "$tls/used.key"
}
use first.pem first.key

# ---- the configuration ----
new_repo kernels
push kernels main
configure() { # value of tls
	write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" \
		"access: token" "tls: $1"
}
check() { "$bin/flopwatchd" --config "$tmp/c.yml" --check-config; }
configure "{certificate: $tls/used.pem}"
fails "a key is necessary" 2 check
like "as the mistake says" "$out" 'c.yml:[0-9]+:[0-9]+: tls: needs `key_file`'
configure "{certificate: $tls/used.pem, key_file: $tls/second.key}"
fails "a key of another certificate is a mistake" 2 check
like "with its position" "$out" "c.yml:8:6: tls: the key in $tls/second.key does not belong to the first certificate in $tls/used.pem"
fails "the daemon does not start with it; systemd tries again" 1 "$bin/flopwatchd" --config "$tmp/c.yml"
like "because it may be a renewal that has not ended" "$out" 'tls: the key in .* does not belong'
configure "{certificate: $tls/disorder.pem, key_file: $tls/below.key}"
fails "nor with a chain in another order" 2 check
like "which the mistake explains" "$out" 'are not in order: first that of the server'
configure "{certificate: $tls/used.key, key_file: $tls/used.key}"
fails "nor with a file without a certificate" 2 check
like "which it names" "$out" "there is no certificate in PEM in $tls/used.key"
configure "{certificate: $tls/used.pem, key_file: $tls/open.key}"
install -m 644 "$tls/first.key" "$tls/open.key"
fails "nor with a key that others may read" 2 check
like "and how to protect it" "$out" 'chmod 600'
configure "{certificate: $tls/used.pem, key_file: $tls/locked.key}"
openssl pkcs8 -topk8 -in "$tls/first.key" -passout pass:secret -out "$tls/locked.key" && chmod 600 "$tls/locked.key"
fails "nor with a key that needs a passphrase" 2 check
like "which it names, too" "$out" 'has a passphrase'
configure "{certificate: $tls/used.pem, key_file: $tls/used.key}"
ok "files that belong together are fine" check
ok "and the check of the whole configuration" "$bin/flopwatch" config check "$tmp/c.yml"
like "has their end" "$out" 'tls +.*/used.pem is valid until 20'

# ---- clients ----
curl_here() { curl -s --max-time 60 --cacert "$tls/root.pem" "$@"; }
daemon_is_up() { [ -s "$tmp/state/port" ] && curl_here -o "$tmp/health" "https://127.0.0.1:$(port)/healthz"; }
start_daemon || exit 1
server=https://127.0.0.1:$(port)
like "the log has the address" "$(cat "$tmp/log")" "listening on $server"
admin=$tmp/state/admin.token
cli() { "$bin/flopwatch" --server "$server" --token-file "$admin" "$@"; }
like "a client that trusts the authority is answered" "$(curl_here -D "$tmp/head" "$server/healthz")" '^ok'
like "browsers shall use only HTTPS" "$(cat "$tmp/head")" 'Strict-Transport-Security: max-age=15552000'
curl_here -o "$tmp/body" -D "$tmp/head" -d "token=$(cat "$admin")" "$server/login"
like "and send a session only through it" "$(cat "$tmp/head")" 'SameSite=Strict; Secure'
curl -s --max-time 60 -o "$tmp/body" "$server/healthz"
is "curl refuses an unknown authority" $? 60
fails "so does the command line" 5 cli jobs
like "as a sentence" "$out" "the certificate of $server is not trusted: .*troubleshooting.md#untrusted"
fails "and with another authority" 5 cli --ca-file "$tls/stranger.pem" jobs
authorities=$tmp/authorities # instead of this machine's
mkdir "$authorities"
cp "$tls/stranger.pem" "$authorities/ca-certificates.crt"
cp "$tls/root.pem" "$authorities/$(openssl x509 -in "$tls/root.pem" -noout -hash).0"
where_trusted() { bwrap --dev-bind / / --bind "$authorities" /etc/ssl/certs "$bin/flopwatch" --server "$server" --token-file "$admin" "$@"; }
if where_trusted jobs >"$tmp/out" 2>&1; then
	fails "the file replaces the system's authorities" 5 where_trusted --ca-file "$tls/stranger.pem" jobs
	like "as a sentence" "$out" 'is not trusted'
else
	skip "the file replaces the system's authorities" "libcurl reads no folder /etc/ssl/certs here"
fi
fails "a file without a certificate is a mistake" 1 cli --ca-file "$tls/root.key" jobs
like "which names it" "$out" "there is no certificate in PEM in $tls/root.key"
ok "with the right one it lists jobs" cli --ca-file "$tls/root.pem" jobs
fails "a file that is not there is a mistake" 2 cli --ca-file "$tls/nothing.pem" jobs
FLOPWATCH_CA_FILE=$tls/stranger.pem fails "the environment may name the file" 5 cli jobs
export FLOPWATCH_CA_FILE=$tls/root.pem
ok "the right one there, too" cli jobs
unset FLOPWATCH_CA_FILE
FLOPWATCH_CA_FILE=$tls/nothing.pem fails "a plain server needs no file" 5 "$bin/flopwatch" --server "http://127.0.0.1:9" jobs
like "only an answer" "$out" 'cannot reach'
export FLOPWATCH_CA_FILE=$tls/root.pem
ok "it waits for a commit" cli --quiet wait main
fails "without a token it is refused" 1 "$bin/flopwatch" --server "$server" jobs
like "as through a proxy" "$out" 'access token'
client() { PYTHONPATH=$root/clients/python FLOPWATCH_SERVER=$server FLOPWATCH_TOKEN=$(cat "$admin") python3 -c 'import flopwatch_client as f, sys
print(len(f.Client(ca_file=(sys.argv + [None])[1]).repos()))' "$@"; }
ok "the Python client trusts it" client
ok "and reads no file for a plain server" env PYTHONPATH="$root/clients/python" python3 -c 'import flopwatch_client as f; f.Client("http://127.0.0.1:9", ca_file="/nothing")'
fails "and no other" 1 client "$tls/stranger.pem"
like "as a sentence" "$out" 'Unreachable: the certificate of .* is not trusted: .*ca_file'

# ---- versions and plain requests ----
handshake() { openssl s_client -connect "127.0.0.1:$(port)" -CAfile "$tls/root.pem" -verify_return_error "$@" </dev/null 2>&1; }
ok "TLS 1.3 is spoken" handshake -tls1_3
ok "and TLS 1.2" handshake -tls1_2
like "with forward secrecy" "$out" 'Cipher is ECDHE'
fails "groups of finite fields, which are slow, are not" 1 handshake -tls1_3 -groups ffdhe2048
fails "TLS 1.1 is not" 1 handshake -tls1_1 -cipher 'ALL:@SECLEVEL=0'
like "the daemon ends the handshake" "$out" 'Cipher is \(NONE\)'
fails "nor TLS 1.0" 1 handshake -tls1 -cipher 'ALL:@SECLEVEL=0'
like "as it does there" "$out" 'Cipher is \(NONE\)'
like "a plain request is answered with the reason" "$(curl -s --max-time 60 -w '%{http_code}' "http://127.0.0.1:$(port)/" | tr '\n' ' ')" 'accepts only HTTPS; .* 400$'
fails "so is the command line" 1 "$bin/flopwatch" --server "http://127.0.0.1:$(port)" jobs
like "with the same text" "$out" 'this port accepts only HTTPS'
like "doctor has the remedy" "$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" doctor 2>&1 | grep -A1 'only HTTPS')" 'name its address with https://'
is "noise is no request" "$(printf '\001\002\003' | timeout 60 bash -c "exec 3<>/dev/tcp/127.0.0.1/$(port); cat >&3; exec 3>&- " ; curl_here -o "$tmp/body" -w '%{http_code}' "$server/healthz")" 200

# ---- a client that begins a handshake, and stops ----
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
exec 7<>"/dev/tcp/127.0.0.1/$(port)"
printf '\026\003\001\002\000\001\000\001\374\003\003' >&7
curl_here -o "$tmp/body" "$server/healthz"
while :; do :; done & # it gets the share of a core that a busy daemon would get on this machine now
busy=$!
on_exit kill $busy
before=$(cpu_ticks "$daemon_pid")
sleep 3
used=$(($(cpu_ticks "$daemon_pid") - before))
ok "the daemon waits for it without using a core" test "$used" -lt $(($(cpu_ticks $busy) / 2))
printf '# CPU ticks: %s, of a busy process %s\n' "$used" "$(cpu_ticks $busy)"
kill $busy
exec 7>&-
piecemeal() { # a handshake whose bytes arrive one by one, until the daemon answers
	python3 - "$(port)" "$tls/root.pem" <<'PYTHON'
import socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[2])
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def call(f, *args):
    while True:
        try:
            result, wants = f(*args), False
        except ssl.SSLWantReadError:
            wants = True
        data = outgoing.read()
        for i in range(len(data)):
            connection.sendall(data[i:i + 1])
        if not wants:
            return result
        incoming.write(connection.recv(65536) or sys.exit("the daemon ended the connection"))
call(tls.do_handshake)
call(tls.write, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:" + sys.argv[1].encode() + b"\r\n\r\n")
print(call(tls.read, 65536).decode())
PYTHON
}
like "one whose bytes arrive one by one is served" "$(piecemeal 2>&1)" '^HTTP/1.1 200 OK'

# ---- limits: the same readers and slow clients as without TLS ----
stop_daemon
sqlite3 "$tmp/state/flopwatch.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
	INSERT INTO event (at, kind, payload) SELECT 1000 * unixepoch(), 'device.state', '{\"device\":\"sim-0\"}' FROM n; DELETE FROM event WHERE id < 5"
sed -i 's/^access: token/access: local/' "$tmp/c.yml"
start_daemon || exit 1
server=https://127.0.0.1:$(port)
check_streams "with TLS " 300 "$server" "$(sql 'SELECT max(id) FROM event')" "$tls/root.pem"
ok "a large answer arrives" curl_here -o "$tmp/copy.db" -X POST -H 'Content-Type: application/json' -d '{}' "$server/api/v1/backup"
is "whole" "$(sqlite3 "$tmp/copy.db" 'PRAGMA integrity_check')" ok

# ---- a new certificate, while a reader of events is connected ----
subject() { openssl s_client -connect "127.0.0.1:$(port)" -CAfile "$tls/root.pem" -verify_return_error </dev/null 2>/dev/null | sed -n 's/^subject=CN = //p'; }
has_subject() { [ "$(subject)" = "$1" ]; }
logged() { grep -c "ev=$1" "$tmp/log"; }
logged_more() { [ "$(logged "$1")" -gt "$2" ]; }
is "the first one is in use" "$(subject)" first
curl -sN --cacert "$tls/root.pem" "$server/api/v1/events" >"$tmp/events" &
reader=$!
on_exit kill $reader
await test -s "$tmp/events"
use second.pem second.key
ok "changed files are read without a signal" await has_subject second
ok "the open connection continues" kill -0 $reader
api_here() { curl_here -o "$tmp/body" -w '%{http_code}' -X POST -H 'Content-Type: application/json' -d '{}' "${@:2}" "$server/api/v1/$1"; }
is "a write through the new one" "$(api_here devices/sim-0/pause)" 200
ok "is an event of the old connection" await grep -q '"state":"paused"' "$tmp/events"
ok "TLS 1.2 with an RSA key has forward secrecy" handshake -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256
fails "and is not spoken without" 1 handshake -tls1_2 -cipher AES128-GCM-SHA256:AES256-GCM-SHA384
is "another site's page cannot write" "$(api_here devices/sim-0/pause -H "Origin: http://127.0.0.1:$(port)")" 403
is "the daemon's own page can" "$(api_here devices/sim-0/pause -H "Origin: $server")" 200
is "no replacement was rejected on the way" "$(logged certificate.rejected)" 0

use first.pem second.key
ok "files that do not belong together are rejected" await logged_more certificate.rejected 0
like "in one line" "$(grep certificate.rejected "$tmp/log")" "does not belong to the first certificate"
is "the previous certificate stays" "$(subject)" second
like "/healthz warns" "$(curl_here "$server/healthz")" 'warning: the new certificate of HTTPS cannot be used'
is "so does the metric" "$(curl_here "$server/metrics" | grep -c '^flopwatch_certificate_rejected 1$')" 1
like "and doctor" "$(cli doctor 2>&1)" 'the new certificate of HTTPS cannot be used'
before=$(logged certificate.rejected)
kill -HUP "$daemon_pid"
ok "a reload rejects it again" await logged_more certificate.rejected "$before"
is "and the certificate stays" "$(subject)" second
use past.pem past.key
before=$(logged certificate.rejected)
kill -HUP "$daemon_pid"
ok "one that has expired is rejected" await logged_more certificate.rejected "$before"
like "with its end" "$(tail -n 20 "$tmp/log" | grep certificate.rejected)" 'the certificate expired at 20'
is "the valid one stays, too" "$(subject)" second
like "the period of HTTPS stays" "$(curl_here -D - "$server/healthz")" 'Strict-Transport-Security: max-age=15552000'
sed -i 's/^tls: {/tls: {hsts: 0 s, /' "$tmp/c.yml"
kill -HUP "$daemon_pid"
has_ended_hsts() { curl_here -D - "$server/healthz" | grep -q 'Strict-Transport-Security: max-age=0'; }
ok "a reload ends it in browsers, though the certificate is rejected" await has_ended_hsts
openssl req -new -key "$tls/second.key" -subj /CN=later -out "$tls/later.csr" 2>/dev/null
: >"$tls/index" && echo 10 >"$tls/serial"
printf '[ca]\ndefault_ca=a\n[a]\ndatabase=%s\nserial=%s\nnew_certs_dir=%s\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' \
	"$tls/index" "$tls/serial" "$tls" >"$tls/ca.cnf"
openssl ca -batch -config "$tls/ca.cnf" -in "$tls/later.csr" -cert "$tls/root.pem" -keyfile "$tls/root.key" -notext -extfile "$tls/one.ext" \
	-startdate "$(date -u -d '45 seconds' +%Y%m%d%H%M%SZ)" -days 100 -out "$tls/later.pem" 2>/dev/null
before=$(logged certificate.rejected)
use later.pem second.key
kill -HUP "$daemon_pid"
ok "one that is not valid yet is rejected" await logged_more certificate.rejected "$before"
like "with its begin" "$(grep certificate.rejected "$tmp/log" | tail -n 1)" 'is valid only from'
ok "and is used from then on" await has_subject later
ok "the repeated tries are not logged" test "$(logged certificate.rejected)" -le $((before + 2)) # the change and the reload
use elsewhere.pem elsewhere.key
kill -HUP "$daemon_pid"
ok "one for another host is used" await has_subject elsewhere
fails "clients do not trust it" 5 cli jobs
like "and name the reason" "$out" 'is not trusted: .*127.0.0.1'
like "doctor names the page that explains it" "$(cli doctor 2>&1 | grep -A1 'not trusted')" 'see doc/troubleshooting.md#untrusted: '
use soon.pem soon.key
kill -HUP "$daemon_pid"
ok "a reload reads a good one" await has_subject soon
like "which /healthz wants renewed" "$(curl_here "$server/healthz")" 'warning: the certificate of HTTPS expires in less than 5 days'
unlike "the rejection ends" "$(curl_here "$server/healthz")" 'cannot be used'
is "its end is a metric" "$(curl_here "$server/metrics" | sed -n 's/^flopwatch_certificate_expiry_timestamp_seconds //p')" \
	"$(date -d "$(openssl x509 -in "$tls/soon.pem" -noout -enddate | cut -d= -f2)" +%s)"
like "doctor warns" "$(cli doctor 2>&1)" 'the certificate of HTTPS expires in less than 5 days.*'
like "so does the check of the configuration" "$("$bin/flopwatch" config check "$tmp/c.yml" 2>&1)" 'used.pem expires at'
use chain.pem below.key
kill -HUP "$daemon_pid"
ok "a certificate of an authority below comes with it" await has_subject below
is "clients need only the root" "$(curl_here -o "$tmp/body" -w '%{http_code}' "$server/healthz")" 200
openssl x509 -req -in "$tls/middle.csr" -CA "$tls/root.pem" -CAkey "$tls/root.key" -CAcreateserial -days -1 -extfile "$tls/ca.ext" \
	-out "$tls/ended.pem" 2>/dev/null
cat "$tls/below.pem" "$tls/ended.pem" >"$tls/ended-chain.pem"
before=$(logged certificate.read)
use ended-chain.pem below.key
kill -HUP "$daemon_pid"
ok "one whose issuer's certificate has expired is used" await logged_more certificate.read "$before"
like "with a warning" "$(grep certificate.issuer "$tmp/log")" 'expired=20.*clients may refuse'
unlike "but /healthz judges the daemon's own" "$(curl -sk --max-time 60 "$server/healthz")" 'warning: the certificate'
use chain.pem below.key
kill -HUP "$daemon_pid"
has_complete_chain() { curl_here -o "$tmp/body" "$server/healthz"; }
ok "until the issuer's is replaced" await has_complete_chain
ok "the first connection is still open" kill -0 $reader
is "a write" "$(api_here devices/sim-0/resume)" 200
ok "still is an event there" await grep -q '"state":"ok"' "$tmp/events"
kill $reader
stop_daemon
is "the daemon ends in order" $? 0

# ---- a start with an expired certificate: measuring goes on, and clients say what is wrong ----
use past.pem past.key
daemon_is_up() { [ -s "$tmp/state/port" ] && curl -skf -o "$tmp/health" --max-time 60 "https://127.0.0.1:$(port)/healthz"; }
start_daemon
is "the daemon starts with an expired certificate" $? 0
like "and warns" "$(grep certificate.read "$tmp/log" | tail -n 1)" 'warning="renew it"'
like "/healthz reports that" "$(curl -sk "https://127.0.0.1:$(port)/healthz")" 'warning: the certificate of HTTPS has expired'
server=https://127.0.0.1:$(port)
fails "clients refuse it" 5 cli jobs
like "and name the reason" "$out" 'is not trusted: .*expired'
stop_daemon
