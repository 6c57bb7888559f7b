#!/bin/bash
# A check (for attention_check the small problems) under compute-sanitizer: every given provider, one tool after the other.
# Usage: tests/gpu/sanitize.sh CHECK MODULE.so [PROVIDER...]      TOOLS="memcheck initcheck" ONLY=TEXT LIMIT_S=300 change the runs
#   The provider is hopper if none is given; ONLY is for attention_check.
#   racecheck and synccheck report bulk copies into shared memory as races, falsely.
set -u
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
check=$1 module=$2
shift 2
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) ||
	{ echo "sanitize.sh: compute-sanitizer is not here; it comes with the CUDA toolkit" >&2; exit 2; }
[ $# -gt 0 ] || set -- hopper
status=0
for tool in ${TOOLS:-memcheck}; do
	for provider in "$@"; do
		log=$(mktemp)
		arguments=("$provider")
		[ "${check##*/}" != attention_check ] || arguments=(--quick --provider "$provider" ${ONLY:+--only "$ONLY"})
		timeout "${LIMIT_S:-300}" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
			"$check" "$module" "${arguments[@]}" >"$log" 2>&1
		code=$?
		case $code in
		0) echo "ok     $tool $provider: $(grep -E '^[0-9]+ passed| right, ' "$log")" ;;
		124) echo "FAILED $tool $provider: not done after ${LIMIT_S:-300} s; ONLY=d64 is a smaller part of attention_check" ;;
		*) echo "FAILED $tool $provider: exit $code"; grep -E '^FAILED|=========|passed|named|wrong|judged' "$log" | head -40; status=1 ;;
		esac
		[ $code != 124 ] || status=1
		rm -f "$log"
	done
done
exit $status
