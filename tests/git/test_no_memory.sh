#!/bin/bash
# flopwatch-git without memory or descriptors ends with 75, after which the daemon repeats the request: nothing that it could not
# read looks absent, empty or wrong.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
cd "$tmp" || exit 1
new_lines_repo
lines_take 1
commit lines "first"
push lines main
git -C lines checkout -q -b topic/one
commit lines "second"
push lines topic/one
sha=$(head_of lines)
git_=$bin/flopwatch-git
without() { # fault, name of the call, arguments...
	local fault=$1 call=$2 n last status bad="" again=0
	shift 2
	"$git_" "$@" >wanted || return 1
	rm -f seen
	AT_CALL="all 100000000 EIO" AT_CALL_SEEN=$tmp/seen LD_PRELOAD=$tmp/at_call.so "$git_" "$@" >/dev/null 2>&1
	last=$(tr '\0' '\n' <seen | grep -c "^$call\$")
	for ((n = 1; n <= last; n += n > 25 && n < last - 240 ? 40 : 2)); do # OpenSSL makes most of those between
		AT_CALL="$call $n $fault" LD_PRELOAD=$tmp/at_call.so "$git_" "$@" >printed 2>errors
		status=$?
		[ $status = 0 ] && cmp -s printed wanted && continue
		[ $status = 75 ] && [ ! -s printed ] && [ "$(wc -l <errors)" = 1 ] && again=$((again + 1)) && continue
		bad+="$n: status $status: $(diff wanted printed | head -n 2) $(cat errors) "
	done
	ok "$1: calls of $call, of $last, that fail by $fault have no effect, or are repeated ($again)" test $again -gt 0
	is "it looks like nothing else" "$bad" ""
}
without ENOMEM-once memory tree --repo "$tmp/lines.git" --commit "$sha" --blob .flopwatch.yaml --oid .
without ENOMEM-once memory tips --repo "$tmp/lines.git"
without EMFILE descriptor tips --repo "$tmp/lines.git"
