#!/bin/bash
# Builds on cores of their own: the next push is built while the device measures another, and is measured without another build.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
if [ "$(nproc)" -lt 2 ]; then
	skip "builds next to measurements" "needs two cores"
	exit 0
fi
first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
last=$(taskset -cp $$ | sed 's/.*[-, ]//')

# The worker's runner waits for $tmp/pause to disappear, and notes its cores.
mkdir "$tmp/bin"
cp "$bin/flopwatch-worker" "$tmp/bin/"
cat >"$tmp/bin/flopwatch-runner" <<EOF
#!/bin/bash
[ "\$1" = --list ] || taskset -cp \$\$ >>"$tmp/measured"
while [ "\$1" != --list ] && [ -e "$tmp/pause" ]; do touch "$tmp/held"; sleep 0.05; done
exec "$bin/flopwatch-runner" "\$@"
EOF
chmod +x "$tmp/bin/flopwatch-runner"

write_config "workers: [{name: local, device: sim, command: [$tmp/bin/flopwatch-worker, serve], build: {cores: '$last'}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "cores: {measure: shared}" "sandbox: {mode: none}"
new_repo kernels
echo "taskset -cp \$\$ >>$tmp/built" >"$tmp/kernels/kernels/recipe"
commit kernels "builds note their cores"
push kernels main
start_daemon || exit 1
await job_ended "$(head_of kernels)"

touch "$tmp/pause"
for n in 1 2; do
	branch kernels "push$n" main
	echo "0.99$n" >"$tmp/kernels/kernels/factor"
	commit kernels "push $n"
	push kernels "push$n"
	eval "sha$n=\$(head_of kernels)"
	await has_job "$(head_of kernels)"
done
is_held() { [ -e "$tmp/held" ] && ! job_ended "$sha1"; }
is_built() { api "jobs/$(job_of "$sha2")/log" | grep -q 'built; waits for a device'; }
ok "the first push is measured" await is_held
ok "and the second is built meanwhile" await is_built
ok "while the first still holds the device" is_held
n_built=$(wc -l <"$tmp/built")
rm "$tmp/pause"
is "the first is judged" "$(result_of "$sha1")" "done unchanged"
is "the second as well" "$(result_of "$sha2")" "done unchanged"
is "each commit was built once" "$(wc -l <"$tmp/built") $n_built" "3 3"
is "builds ran on their core" "$(sed 's/.*: //' "$tmp/built" | sort -u)" "$last"
is "measurements ran on the others" "$(sed 's/.*: //' "$tmp/measured" | sort -u | grep -c "\b$last\b")" 0

# ---- mistakes ----
wrong() { # entry of a worker, message
	sed "s|^workers: .*|workers: [{name: local, $1}]|" "$tmp/c.yml" >"$tmp/wrong.yml"
	like "$2" "$("$bin/flopwatchd" --config "$tmp/wrong.yml" --check-config 2>&1)" "$2"
}
wrong "device: sim, command: [flopwatch-worker, serve], build: {cores: x}" 'build.cores: is not a list of cores as 8-15,20'
wrong "device: sim, command: [flopwatch-worker, serve], build: {}" 'needs `cores`, a list of cores for builds'
wrong "command: [flopwatch-worker, serve], build: {cores: '$last'}" 'needs the `device` that modules are built for'
wrong "device: sim, socket: $tmp/socket, build: {cores: '$last'}" 'applies only to a worker with `slurm`, `kubernetes` or only a `command`'
