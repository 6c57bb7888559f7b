#!/bin/bash
# Compare every include that the compiler saw (build/obj/**/*.d) with tests/layers.txt. Prints offending edges.
set -eu
cd "$(dirname "$0")/.."
bad=0
room_of() { # path -> room
	case "$1" in
	daemon/*/*) echo "${1%/*}" ;;
	daemon/*) echo daemon ;;
	db/*) echo db ;;
	web/*) echo web ;;
	kernels/fw_kernel.h) echo abi ;;
	*) echo other ;;
	esac
}
declare -A allowed
while IFS=: read -r room list; do
	case "$room" in ''|'#'*|'='*) continue ;; esac
	allowed[$room]="$list"
done < tests/layers.txt

for d in $(find build/obj/daemon build/obj/db build/obj/web -name '*.d'); do
	source=${d#build/obj/}
	source=${source%.d}
	[ -f "$source" ] || continue
	from=$(room_of "$source")
	for header in $(sed 's/\\$//; s/^[^:]*://' "$d" | tr ' ' '\n' | grep -E '^(\./)?(daemon|db|web|kernels)/.*\.h$' | sort -u); do
		to=$(room_of "${header#./}")
		[ "$to" = "$from" ] && continue
		[ "$to" = abi ] && continue
		case " ${allowed[$from]-} " in
		*" $to "*) ;;
		*) echo "$source includes $header: $from may not include $to"; bad=1 ;;
		esac
	done
done
while IFS=: read -r header file; do
	case "$header" in '= '*) ;; *) continue ;; esac
	header=${header#= } file=${file# }
	for other in $(grep -rlE "#include <$header>" daemon db web --include='*.c' --include='*.h' || true); do
		[ "$other" = "$file" ] || { echo "$other includes <$header>, which belongs to $file"; bad=1; }
	done
done < tests/layers.txt
for cuda in $(grep -rlE '#include <(cuda|nvtx3/)' daemon db web --include='*.c' --include='*.h' --include='*.cu' | grep -vE '^daemon/(runner|kit)/' || true); do
	echo "$cuda includes CUDA headers, which belong to daemon/runner, daemon/kit and kernels"; bad=1
done
exit $bad
