#!/bin/bash
# Programs of the real nvbench on this GPU: by themselves, with JSON output, and judged by the daemon in pushes.
# Usage: tests/gpu/nvbench.sh BUNDLE OUT PROGRAMS      PROGRAMS: folder of nvbench_build.sh
# OUT gets nvbench.json, nvbench.csv, and what repository.sh writes: main against itself, a branch that differs by a comment, and one
# whose scaled sums are calculated twice.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/checkout"
cp "$3"/nvbench_{copy,interleaved,slower} "$tree/checkout/"
printf '#!/bin/sh\nexec ./nvbench_interleaved "$@"\n' >"$tree/checkout/bench.sh"
chmod +x "$tree/checkout/bench.sh"
cat >"$tree/manifest.yaml" <<YML
flopwatch: 1
benchmarks:
  copy: {command: [./bench.sh], reader: flopwatch}
YML
"$tree/checkout/nvbench_copy" --json "$out/nvbench.json" --csv "$out/nvbench.csv" --timeout 2 >"$out/nvbench.log" 2>&1 || tail -n 5 "$out/nvbench.log"
"$root/tests/gpu/repository.sh" "$1" "$out" "$tree/checkout" "$tree/manifest.yaml" \
	"comment=bench.sh=\$a # a comment" "slower=bench.sh=s/interleaved/slower/"
