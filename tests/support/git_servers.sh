# git_servers.sh - git servers with authentication, on this machine. Source it after tap.sh.
#
#   make_certificate          $tmp/tls/cert.pem for localhost, self-signed, and its key
#   start_https NAME FOLDER USER:PASSWORD    serve the repositories in FOLDER; sets $https_port; logs requests in $tmp/tls/NAME.log
#   start_redirect NAME URL   the same, but every request is redirected to URL
#   can_start_sshd            whether this machine has the programs for start_sshd
#   start_sshd                a server with host keys $tmp/ssh/host and $tmp/ssh/host_rsa that accepts the key
#                             $tmp/ssh/mine; sets $ssh_port
make_certificate() {
	mkdir -p "$tmp/tls"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
		-keyout "$tmp/tls/key.pem" -out "$tmp/tls/cert.pem" 2>/dev/null
}
start_server() { # name, arguments of git_https.py after the log
	rm -f "$tmp/tls/$1.port"
	python3 "$root/tests/support/git_https.py" "$2" "$tmp/tls/cert.pem" "$tmp/tls/key.pem" "$tmp/tls/$1.port" "$tmp/tls/$1.log" "${@:3}" \
		>/dev/null 2>&1 &
	on_exit kill $!
	: >"$tmp/tls/$1.log"
	await test -s "$tmp/tls/$1.port"
	https_port=$(cat "$tmp/tls/$1.port")
}
start_https() {
	start_server "$1" "$2" "$3"
}
start_redirect() {
	start_server "$1" / --redirect "$2"
}
can_start_sshd() {
	command -v sshd >/dev/null && command -v ssh-keygen >/dev/null
}
start_sshd() {
	mkdir -p "$tmp/ssh" && chmod 700 "$tmp/ssh"
	[ -e "$tmp/ssh/host" ] || ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/host"
	[ -e "$tmp/ssh/mine" ] || ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/mine"
	cp "$tmp/ssh/mine.pub" "$tmp/ssh/authorized"
	ssh_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # where sshd of a root drops its privileges
	"$(command -v sshd)" -D -e -f /dev/null -p "$ssh_port" -h "$tmp/ssh/host" -o ListenAddress=127.0.0.1 -o PidFile=none \
		-o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes -o PasswordAuthentication=no \
		-o AuthorizedKeysFile="$tmp/ssh/authorized" >"$tmp/ssh/log" 2>&1 &
	on_exit kill $!
	await python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()' "$ssh_port" 2>/dev/null
}
