#!/bin/bash
# `flopwatch config check` also checks that everything a configuration names exists, and changes nothing.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
check() {
	"$bin/flopwatch" config check "$tmp/c.yml" "$@" >"$tmp/said" 2>&1
}
said() { # health, what, text
	grep -qE -- "^$1 +$2 +$3" "$tmp/said" || { cat "$tmp/said"; return 1; }
}
lines() { # repos, workers, more...
	write_config "repos: [$1]" "workers: [$2]" "${@:3}"
}

new_repo kernels
push kernels main
good_repo="{name: kernels, url: $tmp/kernels.git}"
good_worker='{name: sim, command: [flopwatch-worker, serve], device: sim}'

lines "$good_repo, {name: far, url: 'file://$tmp/kernels.git'}" "$good_worker"
ok "all is there" check
like "the file is fine" "$(cat "$tmp/said")" 'fine; 2 repositories, 1 worker,'
ok "folders that are not there yet" said ok folder "state_dir: $tmp/state will be created"
ok "suites that can be read" said ok suites '[1-9][0-9]* in .*/etc/suites can be read'
ok "programs" said ok program '.*/flopwatch-git'
ok "a repository in place, with its branch" said ok repository 'kernels can be read: 1 branch, main among them'
ok "one of a server" said ok repository 'far can be read: 1 branch, main among them'
ok "a worker and its device" said ok worker 'sim measures on sim sim-0'
ok "nothing was made" test ! -e "$tmp/state" -a ! -e "$tmp/cache"
ok "--json" check --json
ok "is JSON alone" jq -e '.ok and (.checks | length) >= 8 and all(.checks[]; .health != "fail")' "$tmp/said"

# ---- every mistake, at its position ----
put "$tmp/wrong.yml" "state_dir: relative
listen: nowhere
workers: [{name: a b, comand: [x], device: sim}, {name: c, command: [x], colour: red}]
repos: [{name: a, url: x}, {name: a, url: $tmp/a.git}]
public_url: z
access: token
oidc: {issuer: x, client_id: y, roles: {a: b}}
foo: 1"
fails "several mistakes" 2 "$bin/flopwatch" config check "$tmp/wrong.yml"
is "are all printed, also those of one line" "$(sed -n "s|^$tmp/wrong.yml:\\([0-9]*:[0-9]*\\): \\([a-z_0-9.]*\\)[]:[].*|\\1 \\2|p" <<<"$out" | sort -V | paste -sd,)" \
	"1:12 state_dir,2:9 listen,3:11 workers,3:18 workers,3:23 workers,3:74 workers,4:24 repos,4:35 repos,5:13 public_url,7:7 oidc,7:16 oidc.issuer,7:44 oidc.roles.a,8:1 foo"
{ printf 'state_dir: /x\nlisten: 127.0.0.1:1\n'; for n in {1..70}; do echo "k$n: 1"; done; } >"$tmp/wrong.yml"
fails "more than fifty" 2 "$bin/flopwatch" config check "$tmp/wrong.yml"
is "are not counted" "$(grep -c 'unknown key' <<<"$out") $(tail -n 1 <<<"$out")" "50 flopwatchd: more than 50 mistakes in $tmp/wrong.yml"

# ---- suites of GPUs ----
cpu_worker='{name: cpu, command: [flopwatch-worker, serve], device: cpu}'
lines "$good_repo" "$cpu_worker"
ok "workers for CPUs" check
ok "get a warning for the default suite" said warn suite 'kernels: the default suite ffa has sizes of GPUs, and all workers measure on CPUs'
like "which names another" "$(cat "$tmp/said")" 'else name suites: \[ffa-smoke\]'
lines "{name: kernels, url: $tmp/kernels.git, suites: [ffa]}" "$cpu_worker"
ok "also where it is named" check
ok "by its name" said warn suite 'kernels: suite ffa has sizes of GPUs'
lines "{name: kernels, url: $tmp/kernels.git, suites: [ffa-smoke]}" "$cpu_worker"
ok "another suite" check
unlike "needs none" "$(cat "$tmp/said")" 'sizes of GPUs'
lines "$good_repo" "$cpu_worker, $good_worker"
ok "nor does another device" check
unlike "of one of the workers" "$(cat "$tmp/said")" 'sizes of GPUs'
lines "$good_repo" "$good_worker"

# ---- the port ----
ok "a port that is free" check
ok "is tried" said ok port '0 on 127.0.0.1 is free'
python3 -c 'import socket, sys, time
s = socket.create_server(("127.0.0.1", 0)); open(sys.argv[1], "w").write(str(s.getsockname()[1])); time.sleep(1000)' "$tmp/taken" &
taken_by=$!
on_exit kill $taken_by
await test -s "$tmp/taken"
sed -i "s/^listen: .*/listen: 127.0.0.1:$(cat "$tmp/taken")/" "$tmp/c.yml"
fails "a port that another program has" 1 check
ok "is named, with the program" said fail port "port $(cat "$tmp/taken") on 127.0.0.1 is in use by python3[.0-9]* \\(process $taken_by\\)"
fails "and the daemon does not start on it" 1 "$bin/flopwatchd" --config "$tmp/c.yml"
like "and prints that" "$out" "port $(cat "$tmp/taken") on 127.0.0.1 is in use by another program"
rm -rf "$tmp/state" "$tmp/cache"
lines "$good_repo" "$good_worker"
start_daemon || exit 1
sed -i "s/^listen: .*/listen: 127.0.0.1:$(port)/" "$tmp/c.yml"
ok "while a daemon runs on the same state_dir" check
ok "the port is its own" said ok port "$(port) on 127.0.0.1 is that of the daemon that runs on this state_dir \\(process $daemon_pid\\)"
stop_daemon
rm -rf "$tmp/state" "$tmp/cache"

lines "{name: gone, url: $tmp/gone}, {name: far, url: 'file://$tmp/gone'}" "$good_worker"
fails "repositories that are not" 1 check
ok "one in place" said fail repository "gone: .*$tmp/gone: no git repository there"
ok "one of a server" said fail repository 'far: .*connect to file:'
like "with what to do" "$(cat "$tmp/said")" '-> correct its url'

lines "{name: kernels, url: $tmp/kernels.git, upstream: mian}" "$good_worker"
fails "a branch that is not there" 1 check
ok "is reported with its place" said fail branch 'kernels: .*c.yml:5:[0-9]+: repos\[0\]\.upstream: there is no branch mian to compare others with; push it'

git clone -q --bare --depth 1 "file://$tmp/kernels.git" "$tmp/shallow.git"
echo "$(git -C "$tmp/shallow.git" rev-parse HEAD)" >"$tmp/shallow.git/shallow"
lines "{name: kernels, url: $tmp/shallow.git}" "$good_worker"
ok "a shallow clone in place can be read" check
ok "but is named" said warn repository 'kernels: .*/shallow.git is a shallow clone; commits whose merge-base is not in it fail'
lines "{name: kernels, url: 'file://$tmp/shallow.git'}" "$good_worker"
fails "by URL it cannot be fetched" 1 check
ok "and that is reported, with the remedy" said fail repository 'kernels: .*is a shallow clone, whose history cannot be fetched; complete it with .git fetch --unshallow.$'

lines "{name: kernels, url: $tmp/kernels.git, branches: ['*', '!wip/*']}" "$good_worker"
ok "a pattern that matches no branch now is no mistake" check
ok "but named" said warn branches 'kernels: `!wip/\*` excludes no existing branch'
lines "{name: kernels, url: $tmp/kernels.git, branches: ['*', '^wip/']}" "$good_worker"
fails "a pattern of another language" 2 check
like "is refused at its place" "$(cat "$tmp/said")" 'c.yml:[0-9]+:[0-9]+: repos\[0\]\.branches\[1\].*`\^wip/` matches no branch, because git allows no `\^`'
lines "{name: kernels, url: $tmp/kernels.git, branches: ['!wip/*']}" "$good_worker"
fails "patterns that only exclude" 2 check
like "are refused" "$(cat "$tmp/said")" 'only excludes, so that no branch is watched'

git init -q --bare -b main "$tmp/empty.git"
lines "{name: empty, url: $tmp/empty.git}" "$good_worker"
ok "a repository without a branch is no mistake" check
ok "but reported" said warn repository 'empty can be read, but has no branch yet'

lines "$good_repo" "{name: none, command: [$tmp/no-such-worker, serve]}, {name: mute, command: [sh, -c, 'echo no such host >&2; exit 1']}, {name: sock, socket: $tmp/none.sock}"
fails "workers that do not answer" 1 check
ok "a program that is none" said fail worker "worker none: .*$tmp/no-such-worker"
ok "one that ends, with what it said" said fail worker 'mute: no such host: the worker ended before its hello'
ok "a socket without a listener" said fail worker "worker sock: cannot reach $tmp/none.sock: No such file"
printf '#!/bin/sh\nexec "%s" probe --device sim\n' "$bin/flopwatch-worker" >"$tmp/other"
chmod +x "$tmp/other"
lines "$good_repo" "{name: other, command: [$tmp/other], device: cuda}"
fails "a worker without the device" 1 check
ok "is reported by the kind" said fail device 'other answers, but has no device of kind cuda'

mkdir "$tmp/suites"
cp "$root/etc/suites/demo.yaml" "$tmp/suites/good.yaml"
echo 'suite: [' >"$tmp/suites/bad.yaml"
mkfifo "$tmp/suites/fifo.yaml"
lines "{name: kernels, url: $tmp/kernels.git, suites: [other]}" "$good_worker"
sed -i "s,^suites_dir:.*,suites_dir: $tmp/suites," "$tmp/c.yml"
fails "a suite that cannot be read" 1 check
ok "is named" said fail suite "$tmp/suites/bad.yaml:"
ok "so is one that is a FIFO" said fail suite "$tmp/suites/fifo.yaml is a FIFO, not a file"
ok "the others are counted" said ok suites "1 in $tmp/suites can be read"
ok "one that is the repository's own is asked about" said warn suite "kernels: suite other is not in $tmp/suites"

touch "$tmp/file"
lines "$good_repo" "$good_worker"
sed -i "s,^state_dir:.*,state_dir: $tmp/file/state," "$tmp/c.yml"
fails "a folder that cannot be" 1 check
ok "is reported with what is in its place" said fail folder "state_dir: $tmp/file.* is not a folder"
fails "a mistake in the file comes first" 2 "$bin/flopwatch" config check "$tmp/none.yml"
mkfifo "$tmp/fifo.yml"
fails "a configuration that is a FIFO" 2 timeout "$patience" "$bin/flopwatch" config check "$tmp/fifo.yml"
like "is named" "$out" "the configuration $tmp/fifo.yml is a FIFO, not a file"
fails "a token in a FIFO without a writer" 1 timeout "$patience" "$bin/flopwatch" --token-file "$tmp/fifo.yml" status
like "is not waited for" "$out" "cannot read the token in $tmp/fifo.yml"
fails "one that comes from a program" 5 "$bin/flopwatch" --server http://127.0.0.1:9 --token-file <(sleep 0.2; echo a-token-of-a-program) status
like "is read, and the daemon asked" "$out" '127.0.0.1:9'
