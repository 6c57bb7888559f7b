#!/bin/bash
# Sixty commits of main on device sim, pushed one by one and in groups: three make it slower, eight do so in small steps, one breaks the build and
# one is wrong. Each is found and named, and no other commit is blamed.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

n=0 level=1.0 include="" source=good.c
next() { # percent slower than before, subject; no commit is exactly as fast as the one before
	n=$((n + 1))
	level=$(awk -v l="$level" -v p="$1" 'BEGIN { printf "%.6f", l * (1 + p / 100) }')
	awk -v l="$level" -v n="$n" 'BEGIN { printf "%.6f\n", l * (1 + (n * 7 % 5 - 2) * 1e-4) }' >"$tmp/kernels/kernels/factor"
	sed -i "\$ s/libattention.so.*-lm/libattention.so $include $source -lm/" "$tmp/kernels/kernels/Makefile"
	commit kernels "$n: $2"
}
harmless() { # number of commits
	local i
	for ((i = 0; i < $1; i++)); do next 0 harmless; done
}
pushed() { # and judged
	push kernels main
	await job_ended "$(head_of kernels)"
}
nothing_is_open() {
	[ "$(sql "SELECT (SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')) + (SELECT count(*) FROM bisect WHERE state IN ('listing','measuring'))")" = 0 ]
}

new_repo kernels
cp "$root/tests/modules/wrong_result.c" "$tmp/kernels/kernels"
echo 'int x = ;' >"$tmp/kernels/kernels/broken.h"
sed -i 's/masks: \[full, causal\]/masks: [causal]/' "$tmp/kernels/etc/suites/tiny.yaml"
write_config
start_daemon
is "the daemon starts" $? 0

harmless 1 && git -C "$tmp/kernels" reset -q --soft HEAD~1 && git -C "$tmp/kernels" commit -q --amend -m "1: the first" && pushed
for i in 2 3 4 5; do harmless 1 && pushed; done
harmless 3 && next 4 "slower A" && harmless 4 && pushed
harmless 2 && include="-include broken.h" && next 0 "breaks the build" && harmless 2 && pushed
include="" && next 0 "builds again" && pushed
harmless 5 && next 3 "slower B" && harmless 2 && pushed
harmless 3 && source=wrong_result.c && next 0 "wrong" && harmless 2 && pushed
source=good.c && next 0 "right again" && pushed
harmless 3 && next 2.5 "slower C" && harmless 6 && pushed
# each loses three times the noise of its point, so that the range may be off by a commit
for i in 1 2 3 4 5 6 7 8; do next 0.4 "drifts" && pushed; done
for i in 1 2 3 4 5 6 7 8; do harmless 1 && pushed; done
is "sixty commits" "$(git -C "$tmp/kernels" rev-list --count main)" 60
await nothing_is_open
is "everything came to an end" $? 0

culprits() { # culprits of the alerts of a kind, in order of commits
	api "alerts?limit=500" | jq -r --arg kind "$1" '[.items[] | select(.kind == $kind) | .culprits[] | if .commits == 1 then .subject else "\(.commits) commits up to \(.subject)" end] | sort_by(split(":")[0] | tonumber? // 99) | join(", ")'
}
is "the three that regress are named" "$(culprits regression)" "9: slower A, 25: slower B, 38: slower C"
is "and so are those that break the build and get it wrong" "$(culprits failing)" "16: breaks the build, 31: wrong"
echo "# drift: $(api 'alerts?limit=500' | jq -c '[.items[] | select(.kind == "drift") | .culprits[] | [.subject, .commits]]')"
is "what drifts is named as a range of those that do" \
	"$(api 'alerts?limit=500' | jq '[.items[] | select(.kind == "drift") | .culprits[] | (.subject | test("^5[1-3]: ")) and .commits >= 6 and .commits <= 10] | all and length > 0')" true
is "with one alert each, and no other commit is blamed" "$(sql "SELECT group_concat(kind || ' ' || n, ', ') FROM (SELECT kind, count(*) AS n FROM alert GROUP BY kind ORDER BY kind)")" "drift 1, failing 2, regression 3"
is "the broken ones are over" "$(sql "SELECT DISTINCT state FROM alert WHERE kind = 'failing'")" resolved
is "the others are not" "$(sql "SELECT DISTINCT state FROM alert WHERE kind <> 'failing'")" open
echo "# jobs: $(sql "SELECT group_concat(kind || ' ' || n, ', ') FROM (SELECT kind, count(*) AS n FROM job GROUP BY kind)")"
stop_daemon
is "the daemon ends in order" $? 0
