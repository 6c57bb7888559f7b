#!/bin/bash
# Builds in separate pods of Kubernetes, by the real kubectl and the server of support/kubernetes.py, device sim.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
if ! command -v kubectl >/dev/null; then
	skip "builds in pods" "there is no kubectl here"
	exit 0
fi
mkdir -p "$tmp/kube" "$tmp/home"
export HOME=$tmp/home KUBECONFIG=$tmp/kube/config
python3 "$root/tests/support/kubernetes.py" "$tmp/kube" >"$tmp/kube/log" 2>&1 &
on_exit kill $!
ok "a server of pods" await [ -s "$tmp/kube/port" ]

# Purpose of each worker, a line in $tmp/workers.
cat >"$tmp/worker" <<END
#!/bin/sh
case " \$* " in *" --build-only "*) echo build;; *) echo measure;; esac >>"$tmp/workers"
exec "$bin/flopwatch-worker" "\$@"
END
chmod +x "$tmp/worker"
echo '{"spec": {"priorityClassName": "builds"}}' >"$tmp/build.json"
write_config "workers: [{name: cluster, device: sim, max_jobs: 1, cache: $tmp/cache, command: [$tmp/worker, serve],
  kubernetes: {image: registry.example.org/flopwatch, namespace: bench},
  build: {resources: [cpu=2], node_selector: [pool=cpu], time: 20 min, template: $tmp/build.json}}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git, poll: 1s}]" "sandbox: none"

probe() { "$bin/flopwatchd" --config "$tmp/c.yml" --probe | jq -r 'select(.what == "worker") | .text'; }
like "config check asks for both kinds of pods" "$(probe)" 'cluster may create pods for its builds in namespace bench of Kubernetes'
new_repo kernels
push kernels main
touch "$tmp/kube/unschedulable"
start_daemon || exit 1
pods() { kubectl --namespace=bench get pods --output=json; }
waits_to() { api workers | jq -r '.items[] | .state + " " + .to + " " + .why' | grep -q "^pending $1 Unschedulable"; }
ok "a push waits for a pod to build" await waits_to build
is "which has the keys of build, and no device" "$(pods | jq -c '.items[0].spec | [.containers[0].resources.limits, .nodeSelector, .activeDeadlineSeconds, .priorityClassName, .containers[0].image]')" \
	'[{"cpu":"2"},{"pool":"cpu"},1200,"builds","registry.example.org/flopwatch"]'
rm "$tmp/kube/unschedulable"
is "the push is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
is "it was built in one pod and measured in another" "$(tr '\n' ' ' <"$tmp/workers")" "build measure "
branch kernels breaks main
echo 'exit 3' >"$tmp/kernels/kernels/recipe"
commit kernels breaks
push kernels breaks
is "a build that fails is the result" "$(result_of "$(head_of kernels)")" "done failed"
is "for which no device was requested" "$(tr '\n' ' ' <"$tmp/workers")" "build measure build "
has_no_pod() { [ -z "$(kubectl --namespace=bench get pods --output=name 2>&1)" ]; }
ok "no pod is left" await has_no_pod
