#!/bin/bash
# Reliability campaign, part 7: builds that attack the machine, the worker and its cache (builds.py).
# Attacks: daemon/worker daemon/runner/main.c daemon/runner/mode daemon/lib/elf.c daemon/lib/proc.c
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
if [ "${FW_OWN_MOUNTS:-}" != yes ] && unshare -m true 2>/dev/null; then # a disk that builds can fill
	trap - EXIT
	rm -rf "$tmp"
	FW_OWN_MOUNTS=yes exec unshare -m bash "$0"
fi
probe=$("$bin/flopwatch-worker" serve --device sim --sandbox required --cache "$tmp/probe" </dev/null 2>&1)
if [[ $probe != *isolation* ]]; then
	skip "hostile builds" "no sandbox works here: $probe"
	exit 0
fi
ln -s "$bin" "$tmp/bin"
mkdir "$tmp/cache"
if [ "${FW_OWN_MOUNTS:-}" = yes ] && mount -t tmpfs -o size=200m,nr_inodes=20000 none "$tmp/cache"; then
	on_exit umount -l "$tmp/cache"
	touch "$tmp/own-disk"
fi
new_repo kernels
sed -i 's/masks: .*/masks: [full]}/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
(cd "$tmp/kernels/kernels" && gcc -std=gnu17 -O1 -ftree-vectorize -fPIC -shared -fvisibility=hidden -DWORK_FACTOR=1.0 -I.. -o good.so good.c -lm)
commit kernels "one cell"
push kernels main
write_config "sandbox: required" "limits: {check: 20 s, run: 20 s}" \
	"workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
ok "a build reads, reaches and leaves nothing" python3 "$root/tests/campaign/builds.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
