#!/bin/bash
# Jobs in pods of Kubernetes, by the real kubectl and a server of the paths that it uses (support/kubernetes.py), device sim.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
if ! command -v kubectl >/dev/null; then
	skip "jobs in pods" "there is no kubectl here"
	exit 0
fi
mkdir -p "$tmp/kube" "$tmp/home"
export HOME=$tmp/home KUBECONFIG=$tmp/kube/config # kubectl has a cache in the home
python3 "$root/tests/support/kubernetes.py" "$tmp/kube" >"$tmp/kube/log" 2>&1 &
on_exit kill $!
ok "a server of pods" await [ -s "$tmp/kube/port" ]

printf '#!/bin/sh\nexec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
echo '{"spec": {"tolerations": [{"key": "gpu", "operator": "Exists"}]}}' >"$tmp/template.json"
write_config "workers: [{name: cluster, device: sim, max_jobs: 1, cache: $tmp/cache, command: [$tmp/worker, serve],
  kubernetes: {image: registry.example.org/flopwatch, namespace: bench, resources: [nvidia.com/gpu=1, memory=64Gi], node_selector: [nvidia.com/gpu.product=NVIDIA-H200], time: 30 min, template: $tmp/template.json}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none"

n_pushed=0
new_push() { # name, shell command of its build: its commit in $sha
	n_pushed=$((n_pushed + 1))
	branch kernels "$1" main
	echo "${2-:}" >"$tmp/kernels/kernels/recipe"
	printf '0.99%d\n' "$n_pushed" >"$tmp/kernels/kernels/factor" # another module, within the threshold
	commit kernels "$1"
	push kernels "$1"
	sha=$(head_of kernels)
}
hold_push() { # name: its build waits for go-NAME
	new_push "$1" "touch $tmp/holds-$1; until [ -e $tmp/go-$1 ]; do sleep 0.05; done"
	await [ -e "$tmp/holds-$1" ]
}
attempt() { sql "SELECT attempt FROM job WHERE id = $(job_of "$sha")"; }
tried_again() { [ "$(attempt)" = 2 ]; }
worker_says() { # state, pattern
	api workers | jq -r '.items[] | .state + " " + .why' | grep -qE "^$1 .*$2"
}
names_of_pods() { kubectl --namespace=bench get pods --output=name 2>&1; }
has_no_pod() { [ -z "$(names_of_pods)" ]; }
worker_processes="^$bin/flopwatch-worker .* --cache $tmp/cache"
has_no_process() { ! pgrep -f "$worker_processes|$tmp/kube/pods" >"$tmp/left"; }
ends_once() { # name, attempts, pattern of its log
	touch "$tmp/go-$1"
	is "$1: one verdict" "$(result_of "$sha") $(sql "SELECT count(*) FROM comparison WHERE target_sha = '$sha'")" "done unchanged 1"
	is "$1: attempts" "$(attempt)" "$2"
	like "$1: its log" "$(api "jobs/$(job_of "$sha")/log")" "$3"
	ok "$1: no pod is left" await has_no_pod
	ok "$1: no process is left" await has_no_process
}

probe() { "$bin/flopwatchd" --config "$tmp/c.yml" --probe | jq -r 'select(.what == "worker") | .health + " " + .text'; }
is "config check asks the server whether it may create pods" "$(probe)" "ok cluster may create pods in namespace bench of Kubernetes"
ok "and creates none" has_no_pod
printf 'delete pods\ncreate pods/exec\n' >"$tmp/kube/forbidden"
is "it names the rights that the account lacks" "$(probe)" "fail cluster: its account may not delete pods, create pods/exec in namespace bench"
rm "$tmp/kube/forbidden"
echo 'pods "flopwatch-probe" is forbidden: violates PodSecurity "restricted:latest"' >"$tmp/kube/rejected"
like "why the server would reject the pod" "$(probe)" '^fail cluster: the server rejects its pod: .*violates PodSecurity'
echo 'pods "flopwatch-probe" is forbidden: exceeded quota: gpus' >"$tmp/kube/rejected"
like "a quota, which may only be used up now" "$(probe)" '^warn cluster: .*exceeded quota: gpus'
rm "$tmp/kube/rejected"
mkdir "$tmp/none"
like "a missing kubectl" "$(PATH=$tmp/none "$bin/flopwatchd" --config "$tmp/c.yml" --probe)" 'cluster: .*kubectl'
touch "$tmp/kube/expired"
like "and an expired token" "$(probe)" 'cluster: .*You must be logged in to the server'
rm "$tmp/kube/expired"

new_repo kernels
push kernels main
start_daemon || exit 1
sha=$(head_of kernels)
ends_once first 1 "measured: device held"
is "its device is known by its node" "$(sql "SELECT worker || ' ' || host || ' ' || on_call FROM device")" "cluster node-1 1"

# ---- waiting ----
touch "$tmp/kube/unschedulable"
new_push waits
ok "a pod that fits no node waits, with the reason" await worker_says pending "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu"
like "also on the page of the queue" "$(http GET /jobs)" 'Insufficient nvidia.com/gpu'
made=$(kubectl --namespace=bench get pods --output=json)
is "the pod has the resources, the labels of nodes, the time and the rest of the template" "$(jq -c '.items[-1].spec | [.containers[0].resources.limits, .nodeSelector, .activeDeadlineSeconds, .tolerations[0].key]' <<<"$made")" '[{"memory":"64Gi","nvidia.com/gpu":"1"},{"nvidia.com/gpu.product":"NVIDIA-H200"},1800,"gpu"]'
touch "$tmp/kube/away"
ok "a server that cannot be reached is the reason" await worker_says pending "(Unable to connect to the server|an error on the server)"
rm "$tmp/kube/away"
touch "$tmp/kube/expired"
ok "so is an expired token" await worker_says pending "You must be logged in to the server"
rm "$tmp/kube/expired" "$tmp/kube/unschedulable"
ends_once waits 1 "measured: device held"

touch "$tmp/kube/badimage"
new_push image
ok "an image that cannot be pulled" await worker_says down "ErrImagePull: manifest unknown"
ok "holds no pod" await has_no_pod
rm "$tmp/kube/badimage"
ends_once image 1 "measured: device held"

echo 'delete pods' >"$tmp/kube/forbidden"
new_push undeleted
is "a pod that cannot be deleted is measured" "$(result_of "$sha")" "done unchanged"
ok "its deletion is tried again after a growing pause" await grep -qE "pod.delete .*again_s=6 .*cannot delete pods" "$tmp/log"
touch "$tmp/kube/unschedulable"
new_push beside
ok "lists for other pods continue meanwhile" await worker_says pending "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu"
rm "$tmp/kube/unschedulable" "$tmp/kube/forbidden"
ends_once beside 1 "measured: device held"

# ---- during a job ----
hold_push evicted
curl -s -X POST "http://127.0.0.1:$(cat "$tmp/kube/port")/fake/evict?reason=Evicted&message=The+node+was+low+on+resource:+memory." >/dev/null
await tried_again
ends_once evicted 2 "Evicted: The node was low on resource: memory. \(attempt 1 of 3\)"

hold_push killed
pkill -9 -f "$worker_processes"
await tried_again
ends_once killed 2 "ended in the middle of the job .*\(attempt 1 of 3\)"

hold_push cut
pkill -9 -P "$daemon_pid" -f "exec --stdin flopwatch-"
await tried_again
ends_once cut 2 "killed by SIGKILL.*\(attempt 1 of 3\)"

# Only the silence of 60 s shows that a node is lost, so the short run of this test leaves it out.
if [ "${1-}" = all ]; then
	hold_push lost
	pkill -STOP -f "$worker_processes"
	await tried_again
	ends_once lost 2 "the worker sent nothing for 60 s"
fi

# ---- the end of the daemon ----
hold_push orphan
stop_daemon KILL
ok "the processes of a killed daemon's pod end by themselves" await has_no_process
start_daemon
ends_once orphan 1 "measured: device held"

touch "$tmp/kube/unschedulable"
new_push ghost
await worker_says pending Unschedulable
old=$(names_of_pods)
stop_daemon KILL
start_daemon
is_replaced() { [ "$(names_of_pods | wc -w)" = 1 ] && [ "$(names_of_pods)" != "$old" ]; }
ok "the next start deletes the pod that waited for a killed daemon" await is_replaced
rm "$tmp/kube/unschedulable"
ends_once ghost 1 "measured: device held"

hold_push stopped
stop_daemon
ok "a daemon that ends leaves no pod" await has_no_pod
ok "and no process" await has_no_process
unlike "the log has no token" "$(cat "$tmp/log")" "token-of-the-test"
