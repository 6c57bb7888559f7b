#!/bin/bash
# Completions offer names from the daemon: branches, cells, alerts and others; and none, without a message, if it is not running.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export PATH=$bin:$PATH

new_repo kernels
write_config
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
branch kernels 'team/slow$(id>evil)' main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels 'team/slow$(id>evil)'
is "a branch is slower" "$(result_of "$(head_of kernels)")" "done regression"
server=http://127.0.0.1:$(port)
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
cd "$tmp" || exit 1

# ---- existing names ----
names() { flopwatch --server "$server" completion "$@"; }
is "branches" "$(names branches | sort | paste -sd' ')" 'main team/slow$(id>evil)'
like "cells" "$(names cells | paste -sd' ')" "(^| )$cell( |\$)"
is "of one repository" "$(names cells --repo kernels)" "$(names cells)"
is "of one that is none" "$(names cells --repo other 2>&1)" ""
is "alerts, with their letter" "$(names alerts)" A1
is "devices" "$(names devices)" sim-0
is "repositories" "$(names repos)" kernels
ok "nothing without a daemon" flopwatch --server http://127.0.0.1:1 completion branches
is "and not a word about it" "$out" ""

mkdir -p "$tmp/xdg/flopwatch"
put "$tmp/xdg/flopwatch/servers.yml" "servers: [{name: bench1, url: \"$server\"}, {name: gpu2, url: \"http://127.0.0.1:1\"}]"
export XDG_CONFIG_HOME=$tmp/xdg
is "servers, without a daemon" "$(flopwatch completion servers | paste -sd' ')" "bench1 gpu2"

# ---- bash ----
completes() { # bash's completions of the last argument
	bash -c 'source <(flopwatch completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flopwatch; echo "${COMPREPLY[*]}"' bash flopwatch "$@"
}
is "bash: a branch" "$(completes --server "$server" wait ma)" main
is "bash: an address as bash takes it apart" "$(completes --server http : //127.0.0.1 : "$(port)" wait ma)" main
is "bash: what a shell would run stays text" "$(completes --server "$server" wait team)" 'team/slow\$\(id\>evil\)'
is "bash: nothing was run" "$(ls "$tmp/evil" 2>&1 | grep -c 'No such')" 1
is "bash: the second side" "$(completes --server "$server" compare main ma)" main
is "bash: a cell, after an option" "$(completes --server "$server" history --limit 3 attention/dense/full/s64/hq2/hk1/d64/bf16/f)" "$cell"
is "bash: a cell of an option" "$(completes --server "$server" compare --cells attention/dense/full/s64/hq2/hk1/d64/bf16/f)" "$cell"
is "bash: an alert" "$(completes --server "$server" alerts accept '')" A1
is "bash: a step comes before it" "$(completes --server "$server" alerts acc)" accept
is "bash: alerts and branches" "$(completes --server "$server" why '' | tr ' ' '\n' | grep -xE 'A1|main' | paste -sd' ')" "A1 main"
is "bash: a device" "$(completes --server "$server" pause s)" sim-0
is "bash: a choice next to branches" "$(completes --server "$server" peer '' | tr ' ' '\n' | grep -xE 'show|main' | sort | paste -sd' ')" "main show"
is "bash: the server" "$(completes status --server '')" "bench1 gpu2"
is "bash: before the verb" "$(completes --server bench1)" bench1
is "bash: a branch of a server by its name" "$(completes --server bench1 wait ma)" main
is "bash: silence without a daemon" "$(completes --server http://127.0.0.1:1 wait ma 2>&1)" ""

# ---- zsh, fish ----
if command -v zsh >/dev/null; then
	mkdir "$tmp/zsh"
	flopwatch completion zsh >"$tmp/zsh/_flopwatch"
	. "$root/tests/support/completes.sh"
	FLOPWATCH_SERVER=$server zsh_completes "$tmp/zsh" <<CASES
a branch|wait mai|wait main
what a shell would run stays text|wait team|wait team/slow\$(id>evil)
a cell|history attention/dense/full/s64/hq2/hk1/d64/bf16/f|history $cell
a device, of the server that is named|--server $server pause si|--server $server pause sim-0
a server|--server gp|--server gpu2
a server after the verb|status --server gp|status --server gpu2
a branch of a server by its name|--server bench1 wait mai|--server bench1 wait main
a repository of an option|jobs --repo ker|jobs --repo kernels
CASES
	is "zsh: nothing was run" "$(ls "$tmp/evil" 2>&1 | grep -c 'No such')" 1
else
	skip "zsh completes names" "zsh is not installed"
fi
if command -v fish >/dev/null; then
	flopwatch completion fish >"$tmp/flopwatch.fish"
	fish_offers() { # fish's completions of the last argument
		HOME=$tmp timeout 60 fish --no-config -c "source '$tmp/flopwatch.fish'; complete -C \$argv[1]" "flopwatch $*" | cut -f1 | paste -sd' '
	}
	is "fish: a branch" "$(fish_offers --server "$server" wait ma)" main
	is "fish: an alert" "$(fish_offers --server "$server" alerts accept "''")" A1
	is "fish: a cell of an option" "$(fish_offers --server "$server" submit main --cells attention/dense/full/s64/hq2/hk1/d64/bf16/f)" "$cell"
	is "fish: the server" "$(fish_offers status --server "''" | tr ' ' '\n' | sort | paste -sd' ')" "bench1 gpu2"
	is "fish: a branch of a server by its name" "$(fish_offers --server bench1 wait ma)" main
	is "fish: silence without a daemon" "$(fish_offers --server http://127.0.0.1:1 wait ma 2>&1)" ""
else
	skip "fish completes names" "fish is not installed"
fi
