#!/usr/bin/env zsh
# zsh's completions of command lines when Tab is pressed at their end, one line of standard input each: they are really typed, on
# a terminal.
# Argument: the folder with _flopwatch. Prints the resulting arguments of each line.
emulate -R zsh
zmodload zsh/zpty || exit 1
folder=$1 answer=$(mktemp) || exit 1
trap 'zpty -d shell 2>/dev/null; rm -f -- $answer' EXIT

wait_for() { # until the shell has written to $answer; its output meanwhile has to be read
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
