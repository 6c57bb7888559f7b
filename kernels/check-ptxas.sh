#!/bin/sh
# Check the output of ptxas -v for one source: fail on diagnostics that mean slower code, print those that are worth reading.
#
#     check-ptxas.sh SOURCE LOG
#
# Fails in every kernel: serialised wgmma (C7510 to C7518), ignored setmaxnreg (C7508 and similar). Fails in forward kernels from v2
# on and in gemm kernels: a stack frame or a spilled register, because these kernels hold their tiles in registers. Only printed, as
# ptxas's own lines: C7519 (an inserted fence, which costs nothing), warnings, and spills in other kernels.
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
