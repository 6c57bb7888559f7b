#!/bin/bash
# Two GPUs of one host: pushes judged on both at once, equal builds unchanged there, comparisons split over both in at most 0.6 of
# the time (medians of ROUNDS each), planted regressions confirmed by the other device, and a power draw that one device measures
# causes measurements of the other's cells. A line "ok" or "not ok" each; exit status 1 where one is not.
# Usage: tests/gpu/two.sh BUNDLE OUT [SUITE]
#   DEVICE: cuda (default) sim; device sim simulates two, and its seconds are not judged
#   SEQLENS, SHAPE: "64, 128" and "nhq: 2, nhk: 1, headdim: 64": others than those of an H200, for device sim
#   MODULES: folder with base.so, twin.so (the same except for a text in it, "twin 0,"), slower.so and hungry.so (plant.sh's
#            evict), stripped; without it the kernels of the bundle are built before anything is measured; the last two only for
#            cuda: device sim computes times from the work that a module reports
#   ROUNDS: comparisons on one device, and as many on both: 3
#   LIMIT_S: branches that are not judged by then are not waited for
# OUT gets a JSON of each branch, seen.txt with the checks, the daemons' logs, and the database.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-two}
export DEVICE=${DEVICE:-cuda}
[ "$DEVICE" != sim ] || export WORKER="[env, \"FLOPWATCH_SIM_DEVICES=0,1\", \"$bundle/bin/flopwatch-worker\", serve]"

built() { # FOLDER OUT: its kernels as one module
	make -s -j "$(nproc)" -C "$1" "DEVICE=${DEVICE/sim/cpu}" "build/${DEVICE/sim/cpu}/libattention.so"
	strip -s -o "$2" "$1/build/${DEVICE/sim/cpu}/libattention.so"
}
mkdir -p "$state/tree/kernels" "$state/tree/etc/suites"
base=$state/tree/kernels/libattention.so twin=$state/twin.so slower=$state/slower.so hungry=$state/hungry.so
if [ -n "${MODULES:-}" ]; then
	cp "$MODULES/base.so" "$base"
	cp "$MODULES/twin.so" "$twin"
	cp "$MODULES/slower.so" "$slower"
	cp "$MODULES/hungry.so" "$hungry"
else
	cp -r "$bundle/kernels" "$state/made"
	built "$state/made" "$base"
	sed -i 's/MODULE("/&twin 0, /' "$state/made/attention/module.c"
	built "$state/made" "$twin"
	if [ "$DEVICE" = cuda ]; then
		mkdir "$state/planted" "$state/evicting"
		cp -r "$bundle/kernels" "$state/planted/kernels"
		cp -r "$bundle/kernels" "$state/evicting/kernels"
		"$root/etc/demo-slower.sh" "$state/planted" cuda 250
		"$root/tests/gpu/plant.sh" "$state/evicting" evict
		built "$state/planted/kernels" "$slower"
		built "$state/evicting/kernels" "$hungry"
	fi
fi
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp libattention.so build/$(DEVICE)/\n' >"$state/tree/kernels/Makefile"
cat >"$state/tree/etc/suites/two.yaml" <<YML
suite: two
family: attention
common: {${SHAPE:-nhq: 64, nhk: 8, headdim: 128}, dtype: bf16}
dense: {seqlens: [${SEQLENS:-4096, 8192, 16384, 24576, 32768}], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 150
YML
daemon_repository "$state/tree/kernels" "$state/tree/etc"

grep -q 'twin 0,' "$twin" || { echo "the twin is no other file than main's"; exit 1; }

# NAME N: a branch whose module differs only in a text, so that it is timed
equal_push() {
	git checkout -q -B "$1" main
	LC_ALL=C sed "s/twin 0,/twin $2,/" "$twin" >kernels/libattention.so
	git commit -q -a -m "equal: $1"
}
asked() { # SQL: its rows; by Python, since machines with a GPU have no sqlite3
	python3 -c 'import sqlite3, sys
for row in sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True).execute(sys.argv[2]):
    print(*("" if v is None else v for v in row), sep="|")' "$state/state/flopwatch.db" "$1"
}
say() {
	echo "# $*" | tee -a "$out/seen.txt"
}
checked=0 failed=0
tell() { # TEXT FOUND WANTED: an extended regular expression that all of FOUND matches
	checked=$((checked + 1))
	if [[ $2 =~ ^($3)$ ]]; then
		echo "ok $checked - $1" | tee -a "$out/seen.txt"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n#   is %s\n#   not %s\n' "$checked" "$1" "$2" "$3" | tee -a "$out/seen.txt"
	fi
}
: >"$out/seen.txt"
judge() { # BRANCH
	local left=$((${LIMIT_S:-86400} - SECONDS))
	if [ $left -lt 1 ] || ! daemon_judge "$1" "$out" "$left"; then say "$1 is not judged after $SECONDS s"; fi
}
of_branch() { echo "comparison c JOIN job j ON j.id = c.job WHERE j.branch = '$1' AND j.kind = 'compare'"; }
verdict_of() { asked "SELECT c.verdict FROM $(of_branch "$1") ORDER BY c.id DESC LIMIT 1"; }
cells_of() { echo "FROM cell x WHERE x.comparison = (SELECT max(c.id) FROM $(of_branch "$1"))"; }
furthest() { asked "SELECT round(max(abs(change_pct)), 3) || ' %' $(cells_of "$1")"; }

# ---- two pushes at once, each on a separate device -----------------------------------------------------------------------------
daemon_start "$out/daemon.log" "$suite"
git push -q origin main
judge main
beside_itself=$(asked "SELECT c.verdict FROM comparison c JOIN job j ON j.id = c.job WHERE j.branch = 'main' ORDER BY c.id DESC LIMIT 1")
[ "$DEVICE" != cuda ] || tell "main beside itself is unchanged" "$beside_itself" unchanged
equal_push one 1
equal_push two 2
git push -q origin one two
judge one
judge two
say "devices: $(asked "SELECT group_concat(uuid || ' class ' || class, ', ') FROM device WHERE state = 'ok'")"
for branch in one two; do
	tell "equal builds on one of two devices are unchanged: $branch" "$(verdict_of "$branch")" unchanged
	say "furthest from 0: $(furthest "$branch")"
done
tell "each of two pushes has a device of its own" \
	"$(asked "SELECT count(DISTINCT c.device) FROM comparison c JOIN job j ON j.id = c.job WHERE j.branch IN ('one', 'two')")" 2
overlap=$(asked "SELECT max(0, min(ended_at) - max(started_at)) FROM job WHERE branch IN ('one', 'two')")
tell "at the same time, for so many ms" "$overlap" '[1-9][0-9]*'
kill "$daemon_pid"
wait "$daemon_pid" || true

# ---- comparisons over both, and the same on one --------------------------------------------------------------------------------
rounds=${ROUNDS:-3}
took() { asked "SELECT round(max(j.ended_at - j.started_at) / 1e3, 2) FROM $(of_branch "$1")"; }
several() { # NAME: as many pushes, of equal builds, one after the other
	for ((round = 1; round <= rounds; round++)); do
		pushed=$((pushed + 1))
		equal_push "$1$round" $pushed
		git push -q origin "$1$round"
		judge "$1$round"
		took "$1$round" >>"$state/$1.seconds"
		say "$1$round: $(took "$1$round") s, furthest from 0: $(furthest "$1$round"), runs $(asked "SELECT max(x.runs) $(cells_of "$1$round")")"
		tell "equal builds are unchanged: $1$round" "$(verdict_of "$1$round")" unchanged
	done
}
middle() { sort -n "$state/$1.seconds" | sed -n "$(((rounds + 1) / 2))p" | grep . || echo NULL; }
pushed=2
daemon_start "$out/daemon-alone.log" "$suite"
several alone
kill "$daemon_pid"
wait "$daemon_pid" || true
daemon_start "$out/daemon-split.log" "$suite" "split: true
profile: off
confirm: other_device"
for _ in $(seq 100); do # the worker has reported its devices
	! grep -q 'ev=worker.up' "$out/daemon-split.log" || break
	sleep 0.1
done
several split
n_cells=$(asked "SELECT count(*) $(cells_of alone1)")
tell "a comparison that is split has cells on both devices" "$(asked "SELECT count(DISTINCT x.device) $(cells_of split1)")" 2
tell "all of its cells" "$(asked "SELECT count(*) $(cells_of split1) AND x.device IS NOT NULL")" "$n_cells"
tell "each on one of them" "$(asked "SELECT count(*) FROM (SELECT s.run FROM sample s JOIN cell y ON y.id = s.cell WHERE y.id IN \
	(SELECT x.id $(cells_of split1)) GROUP BY s.run HAVING count(DISTINCT y.device) > 1)")" 0
say "cells: $(asked "SELECT group_concat(t, ', ') FROM (SELECT count(*) || ' on ' || d.uuid AS t FROM device d JOIN (SELECT x.device $(cells_of split1)) e ON e.device = d.id GROUP BY d.uuid)")"
ratio=$(asked "SELECT round($(middle split) / $(middle alone), 3)")
say "seconds: $(middle alone) on one, $(middle split) on both, $ratio of that"
[ "$DEVICE" != cuda ] || tell "in at most 0.6 of the time of one" "$(asked "SELECT ${ratio:-1} <= 0.6")" 1

# ---- planted regressions, on one device, and again on the other ----------------------------------------------------------------
planted() { # BRANCH MODULE
	git checkout -q -B "$1" main
	cp "$2" kernels/libattention.so
	git commit -q -a -m "$1"
	git push -q origin "$1"
	judge "$1"
	tell "what was planted is a loss: $1" "$(verdict_of "$1")" regression
	lost="$(cells_of "$1") AND x.verdict = 'regression'"
	say "cells: $(asked "SELECT count(*) $lost") of $n_cells"
	tell "each of its cells is overwhelming, or timed on one device and confirmed by the other" \
		"$(asked "SELECT count(*) || ' ' || sum((x.flags & 256) <> 0 OR coalesce(x.confirmed_on <> x.device, 0)) $lost" | sed 's/^\([1-9][0-9]*\) \1$/all/')" all
}
if [ -e "$slower" ]; then
	planted slower "$slower"
	planted hungry "$hungry"
	tell "lost in sustained_runs, which all forward cells have run in that had not lost in pairs" "$(asked "SELECT count(*) $(cells_of hungry) AND x.direction = 'forward' \
		AND NOT (x.verdict = 'regression' AND x.decided_by = '') AND NOT EXISTS \
		(SELECT * FROM sample s JOIN sample_kind k ON k.id = s.kind WHERE s.cell = x.id AND k.series = 'sustained')") $(verdict_of hungry)" "0 regression"
	say "$(asked "SELECT coalesce(max(line), 'nothing was measured again') FROM job_log WHERE line LIKE 'again,%'")"
fi
say "outliers: $(asked "SELECT coalesce(group_concat(uuid || ': ' || outlier, '; '), 'none') FROM device WHERE outlier <> ''")"
echo "1..$checked" | tee -a "$out/seen.txt"
kill "$daemon_pid"
wait "$daemon_pid" || true
daemon_pid=
gzip -c "$state/state/flopwatch.db" >"$out/flopwatch.db.gz"
[ "$failed" = 0 ]
