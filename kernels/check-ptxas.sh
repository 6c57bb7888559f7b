#!/bin/sh
# Judge what ptxas -v said about one source: fail on what makes a kernel quietly slower, print what a person should know.
#
#     check-ptxas.sh SOURCE LOG
#
# Everywhere: wgmma made serial (C7510 to C7518), setmaxnreg ignored (C7508 and its siblings). In forward kernels from v2 on, and in
# gemm kernels, also a stack frame or a spilled register: they hold their tiles in registers, so either means that the tiles do not
# fit. C7519 (a fence was inserted, which costs nothing), warnings, and in other kernels spills, in ptxas's own lines, are shown and
# pass.
set -eu
case ${1##*/} in
v[01]_*) strict=0 ;;
v[0-9]*forward* | *gemm*) strict=1 ;;
*) strict=0 ;;
esac
awk -v source="$1" -v strict="$strict" '
	function fail(text) { print source ": " text; bad = 1 }
	/Compiling entry function/ { split($0, part, "\047"); where = part[2] " for " part[4]; entry = $0 }
	/Function properties for/ { name = $NF; properties = $0 }
	/\(C75(08|1[0-8])\)|are serialized due to|setmaxnreg. ignored/ { sub(/^ptxas info *: */, ""); fail($0); next }
	/bytes stack frame/ {
		if (strict && ($1 > 0 || $5 > 0 || $9 > 0))
			fail(name " (" where "): " $1 " bytes of stack, " $5 " spilled by stores, " $9 " by loads; such a kernel may have none")
		spills = $5 > 0 || $9 > 0
		if (spills)
			print source ": " entry "\n" source ": " properties "\n" source ": " $0
		next
	}
	spills && /Used [0-9]+ registers/ { print source ": " $0; spills = 0; next }
	/^ptxas info/ && !/\(C[0-9]+\)/ { next }
	NF { print source ": " $0 }
	END { exit bad }
' "$2" >&2
