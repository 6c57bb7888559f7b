#!/bin/bash
# Printed commands that rerun a cell work: with the device, the provider and the modules of the measurement.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export FLOPWATCH_SERVER PATH=$bin:$PATH
fw() { "$bin/flopwatch" "$@"; }
block() { # the lines under "# $1"
	fw reproduce "$id" | awk -v title="# $1" '$0 == title { on = 1; next } /^$/ { on = 0 } on'
}
pasted() { bash -c "$1"; }

new_repo kernels
write_config
sed -i "s,^cache_dir:.*,cache_dir: $tmp/it's a cache," "$tmp/c.yml"
start_daemon || exit 1
FLOPWATCH_SERVER=http://127.0.0.1:$(port)
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
branch kernels slow main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
is "a branch is slower" "$(result_of "$(head_of kernels)")" "done regression"
id=$(job_field "$(job_of "$(head_of kernels)")" comparison)
worst=$(api "comparisons/$id" | jq -r '[.cells[]] | min_by(.change_pct).cell')
provider=$(api "comparisons/$id" | jq -r '.cells[0].target.provider')
ok "reproduce" fw reproduce "$id"
like "means the worst cell" "$out" "^# $worst\$"
like "says where" "$out" "^# commands with kernels run on $(hostname)"
unlike "and has no GPU's profilers for another device" "$out" 'ncu|nsys'
is "--json is what the API says" "$(fw reproduce "$id" --json | jq -c '[.cell, (.lines | length)]')" "[\"$worst\",2]"
ok "another cell can be named" fw reproduce "$id" attention/dense/full/s64/hq2/hk1/d64/bf16/backward
like "and is meant" "$out" 's64/hq2/hk1/d64/bf16/backward'
fails "one that is not there" 4 fw reproduce "$id" attention/none
fails "measuring again, pasted, ends as a regression does" 3 pasted "$(block 'measure this cell again') --quiet"
like "of this cell alone" "$out" "$worst .*regression"
unlike "and no other" "$out" 'dense/full/s64/hq2/hk1/d64/bf16/backward .*runs'
ok "running the calls alone, pasted" pasted "$(block 'run its calls alone')"
is "runs both sides on that device" "$(grep -c "^$worst $provider on sim-0: 30 calls, median" <<<"$out")" 2
is "of which the target's is the slower one" "$(grep -o 'median [0-9.e-]*' <<<"$out" | awk '{t[NR] = $2} END {print (t[2] / t[1] > 1.04)}')" 1
page=$(curl -s "$FLOPWATCH_SERVER/comparisons/$id")
like "the page has the lines" "${page//&#39;/\'}" "flopwatch-runner' --device 'sim-0' --provider '$provider'"
like "and says where they run" "$page" "Commands with kernels run on $(hostname)"
printf '{"cell": "x", "ms": [1, 2]}\n' >"$tmp/theirs"
fw import "$tmp/theirs" --repo kernels --commit "$(head_of kernels)" >"$tmp/said"
rm "$tmp/it's a cache/modules/"*
fails "a deleted module" 1 pasted "$(block 'run its calls alone')"
like "is reported as that" "$out" 'cannot load the module'
fails "figures from elsewhere have no kernel" 1 fw reproduce 4
like "and that is reported" "$out" 'was imported or measured with other compilers, so there is no command to run it again'
stop_daemon

# ---- as on a GPU: the comparison's device is changed to one, and fake profilers affect processes as real ones do ----------------
git -C "$tmp/kernels" push -q origin :refs/heads/slow
sqlite3 "$tmp/state/flopwatch.db" "UPDATE device SET kind = 'cuda'"
sed -i 's/^workers:.*/workers: [{name: none, command: ["false"]}]/; s/^cache_dir:.*/cache_dir: /' "$tmp/c.yml"
sed -i "s,^cache_dir:.*,cache_dir: $tmp/other," "$tmp/c.yml"
rm -f "$tmp/state/port"
start_daemon || exit 1
FLOPWATCH_SERVER=http://127.0.0.1:$(port)
post "comparisons/$id/judge" >"$tmp/answer"
mkdir "$tmp/profilers" && PATH=$tmp/profilers:$PATH
cat >"$tmp/profilers/ncu" <<'STUB'
#!/bin/bash
[ "$1 $2 $3 $4 $5 $6 $7 $8" = "--set full --clock-control none --cache-control none --nvtx --nvtx-include" ] && [ "${10} ${11}" = "-f -o" ] ||
	{ echo "ncu: $*"; exit 9; }
echo "filter $9"
echo "report ${12}"
shift 12
NV_NSIGHT_INJECTION_PORT_BASE=49152 exec "$@"
STUB
cat >"$tmp/profilers/nsys" <<'STUB'
#!/bin/bash
[ "$1 $2 $3 $4 $6 $7 $8 $9 ${10} ${11}" = "profile -c nvtx -p --capture-range-end=stop -t cuda,nvtx --force-overwrite true -o" ] || { echo "nsys: $*"; exit 9; }
echo "range $5"
echo "report ${12}"
shift 12
NSYS_PROFILING_SESSION_ID=1 exec "$@"
STUB
chmod +x "$tmp/profilers/"*
for side in base target; do
	cp "$root/build/tests/modules/good.so" "$tmp/it's a cache/modules/$(api "comparisons/$id" | jq -r .$side.module_sha256).so"
done
ok "the line for ncu, pasted" pasted "$(block 'the counters of its kernels')"
is "makes a report of either side" "$(grep ^report <<<"$out" | tr '\n' ' ')" "report flopwatch-$id-c$(api "comparisons/$id" | jq "[.cells[].cell] | index(\"$worst\")")-base report flopwatch-$id-c$(api "comparisons/$id" | jq "[.cells[].cell] | index(\"$worst\")")-target "
is "whose times are none" "$(grep -c 'on sim-0: 1 calls, no times: ncu (NV_NSIGHT_INJECTION_PORT_BASE) would distort them' <<<"$out")" 2
unlike "so that none is printed" "$out" 'median'
is "ncu profiles only the ranges of this cell" "$(grep -c "^filter flopwatch@${worst//\//\\\\/}/\$" <<<"$out")" 2
ok "the line for nsys" pasted "$(block 'its timeline')"
is "likewise" "$(grep -c 'on sim-0: 1 calls, no times: nsys (NSYS_PROFILING_SESSION_ID) would distort them' <<<"$out")" 2
is "which begins at this cell's first range" "$(grep -c "^range $worst@flopwatch\$" <<<"$out")" 2
stop_daemon
