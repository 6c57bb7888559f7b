#!/usr/bin/env zsh
# What zsh makes of command lines when Tab is pressed at their end, one a line of standard input: it is really typed, on a terminal.
# Argument: the folder that holds _flopwatch. Prints the arguments of each line as they then are.
emulate -R zsh
zmodload zsh/zpty || exit 1
folder=$1 answer=$(mktemp) || exit 1
trap 'zpty -d shell 2>/dev/null; rm -f -- $answer' EXIT

wait_for() { # until the shell has written to $answer; what it shows meanwhile has to be read
	local -i i
	local shown
	for ((i = 0; i < 600; i++)); do
		[[ -s $answer ]] && return 0
		zpty -rt shell shown >/dev/null 2>&1 || sleep 0.05
	done
	print -r -- "zsh gave no answer" >&2
	exit 1
}
zpty -b shell env TERM=dumb zsh -f -i
zpty -w shell "PROMPT= RPROMPT=; fpath=(${(q)folder} \$fpath); unsetopt beep; setopt no_list_beep; autoload -Uz compinit && compinit -u -D
flopwatch() { print -r -- \"\$*\" >${(q)answer}.new && mv ${(q)answer}.new ${(q)answer}; }; print ready >${(q)answer}"
wait_for
while IFS= read -r line; do
	: >$answer
	zpty -wn shell "$line"$'\t\n'
	wait_for
	print -r -- "$(<$answer)"
done
