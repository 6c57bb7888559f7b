#!/bin/bash
# The whole daemon on a GPU: a repository made from kernels/, a push whose forward kernel is really slower by a few percent, a
# harmless push, both built and judged over suite ffa.
# Usage: tests/gpu/daemon.sh BUNDLE OUT [SUITE] [NEEDLESS]
#   OUT gets <device>-<date>-daemon.jsonl (results, one per line), the comparisons as the API serves them, the printed
#   tables, and the database with every timed call.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-ffa} needless=${4:-250}
daemon_repository "$bundle/kernels"
daemon_start "$out/daemon.log" "$suite"

git push -q origin main
daemon_judge main "$out"
git checkout -q -b slower
"$root/etc/demo-slower.sh" "$state/work" cuda "$needless"
git commit -q -a -m "attention: scores twice in forward"
git checkout -q -b harmless main
# another text in the module: other bytes, so that it is timed, and the same kernels
sed -i 's/MODULE("/&harmless, /' kernels/attention/module.c
git diff --quiet && { echo "the harmless branch changes nothing"; exit 1; }
git commit -q -a -m "attention: a module says who it is"
git push -q origin slower harmless
daemon_judge slower "$out"
daemon_judge harmless "$out"
cat "$out"/{main,slower,harmless}.txt
flopwatch alerts --long | tee "$out/alerts.txt"
flopwatch backup "$out/flopwatch.db"
flopwatch devices
"$root/tests/gpu/daemon_figures.py" "$out" daemon "$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)" main slower harmless
