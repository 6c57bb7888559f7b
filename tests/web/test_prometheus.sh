#!/bin/bash
# A real Prometheus reads two running daemons with our alert rules; every query of the Grafana dashboard and of the rules runs there,
# the dashboard has rows of both daemons and fits Grafana's types, and the metrics fit both text formats.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
for program in prometheus promtool; do
	command -v $program >/dev/null || { skip "metrics in Prometheus" "there is no $program here"; exit 0; }
done
rules=$root/etc/prometheus/flopwatch.rules.yml dashboard=$root/etc/grafana/flopwatch.json

ok "promtool accepts the rules" promtool check rules "$rules"
cp "$rules" "$tmp/rules.yml"
cat >"$tmp/rules_test.yml" <<'YML'
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'up{job="flopwatch",instance="a"}', values: '0x20'}
      - {series: 'flopwatch_jobs{state="queued",instance="a"}', values: '3x200'}
      - {series: 'flopwatch_jobs_total{result="done",instance="a"}', values: '5x200'}
      - {series: 'flopwatch_jobs{state="queued",instance="b"}', values: '3x200'}
      - {series: 'flopwatch_jobs_total{result="done",instance="b"}', values: '0+1x200'}
      - {series: 'flopwatch_workers{worker="w",state="down",instance="a"}', values: '1x200'}
      - {series: 'flopwatch_notifications{state="failed",instance="a"}', values: '0x50 1x150'}
      - {series: 'flopwatch_certificate_expiry_timestamp_seconds{instance="a"}', values: '1213200x200'} # 14 days and an hour
      - {series: 'flopwatch_certificate_expiry_timestamp_seconds{instance="b"}', values: '9000000x200'}
      - {series: 'flopwatch_certificate_rejected{instance="b"}', values: '0x100 1x100'}
    alert_rule_test:
      - eval_time: 10m
        alertname: FlopwatchDown
        exp_alerts:
          - exp_labels: {severity: critical, job: flopwatch, instance: a}
            exp_annotations: {summary: "flopwatchd of a does not answer", description: "No push is measured. systemctl status flopwatchd"}
      - eval_time: 180m
        alertname: FlopwatchQueueStuck
        exp_alerts:
          - exp_labels: {severity: warning, state: queued, instance: a}
            exp_annotations: {summary: "3 jobs wait on a, and none ended for two hours", description: "flopwatch jobs prints what each one waits for."}
      - eval_time: 20m
        alertname: FlopwatchWorkerDown
        exp_alerts:
          - exp_labels: {severity: warning, worker: w, instance: a}
            exp_annotations: {summary: "worker w of a is down", description: "The daemon retries it; /devices shows the reason."}
      - {eval_time: 50m, alertname: FlopwatchCertificate, exp_alerts: []}
      - eval_time: 90m
        alertname: FlopwatchCertificate
        exp_alerts:
          - exp_labels: {severity: warning, instance: a}
            exp_annotations: {summary: "the certificate of a expires soon, or its replacement cannot be used", description: "flopwatch doctor names the reason."}
      - eval_time: 150m
        alertname: FlopwatchCertificate
        exp_alerts:
          - exp_labels: {severity: warning, instance: a}
            exp_annotations: {summary: "the certificate of a expires soon, or its replacement cannot be used", description: "flopwatch doctor names the reason."}
          - exp_labels: {severity: warning, instance: b}
            exp_annotations: {summary: "the certificate of b expires soon, or its replacement cannot be used", description: "flopwatch doctor names the reason."}
      - {eval_time: 40m, alertname: FlopwatchNotificationsFail, exp_alerts: []}
      - eval_time: 60m
        alertname: FlopwatchNotificationsFail
        exp_alerts:
          - exp_labels: {severity: warning, state: failed, instance: a}
            exp_annotations: {summary: "notifications of a were given up", description: "flopwatch notifications --state failed"}
YML
ok "they fire, and only when they should" promtool test rules "$tmp/rules_test.yml"

new_repo kernels
git -C "$tmp/kernels" push -q origin main
# the simulated device has a temperature here, and was throttled, as a GPU
for moment in time idle health_check; do echo "at=$moment temp_c=61 power_w=400 sm_mhz=1500"; done >"$tmp/checks"
printf '#!/bin/sh\nexport FLOPWATCH_SIM_DEVICE_CHECK=%s\nexec "%s" "$@"\n' "$tmp/checks" "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
# with HTTPS, because rules name the metrics of its certificate
openssl req -x509 -newkey rsa:2048 -nodes -days 60 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$tmp/key.pem" \
	-out "$tmp/cert.pem" 2>/dev/null
export FLOPWATCH_CA_FILE=$tmp/cert.pem
daemon_is_up() { [ -s "$tmp/state/port" ] && curl -sf -o "$tmp/health" --max-time 20 --cacert "$tmp/cert.pem" "https://127.0.0.1:$(port)/healthz"; }
api() { curl -s --max-time 60 --cacert "$tmp/cert.pem" "https://127.0.0.1:$(port)/api/v1/$1" "${@:2}"; }
write_config "workers: [{name: sim, command: [$tmp/worker, serve], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}]" "tls: {certificate: $tmp/cert.pem, key_file: $tmp/key.pem}"
start_daemon || exit 1
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
# another daemon, with a store of its own
sed "s#$tmp/state#$tmp/state2#; s#$tmp/cache#$tmp/cache2#" "$tmp/c.yml" >"$tmp/c2.yml"
"$bin/flopwatchd" --config "$tmp/c2.yml" >"$tmp/log2" 2>&1 </dev/null &
on_exit kill $!
ok "a second daemon" await [ -s "$tmp/state2/port" ]
servers=("https://127.0.0.1:$(port)" "https://127.0.0.1:$(cat "$tmp/state2/port")")
has_device() { "$bin/flopwatch" --server "$1" devices | grep -q sim; }
for server in "${servers[@]}"; do
	await has_device "$server"
	ok "a calibration is queued" "$bin/flopwatch" --server "$server" calibrate --repo kernels --runs 1
done

web=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$tmp/prometheus.yml" <<YML
global: {scrape_interval: 1s, evaluation_interval: 2s}
rule_files: [rules.yml]
scrape_configs:
  - {job_name: flopwatch, scheme: https, tls_config: {ca_file: $tmp/cert.pem}, static_configs: [{targets: ["${servers[0]#https://}", "${servers[1]#https://}"]}]}
YML
prometheus --enable-feature=exemplar-storage --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --web.listen-address="127.0.0.1:$web" \
	--log.level=warn >"$tmp/prometheus.log" 2>&1 &
on_exit kill $!
query() { curl -s --data-urlencode "query=$1" "http://127.0.0.1:$web/api/v1/query"; }
rows() { query "$1" | jq -r 'if .status == "success" then .data.result | length else .error end'; }
instances() { query "$1" | jq -r 'if .status == "success" then [.data.result[].metric.instance] | unique | length else .error end'; }
ended() { [ "$(rows 'flopwatch_jobs_total{result="done"} >= 2')" = 2 ] && [ "$(rows 'count_over_time(flopwatch_build_info[1m]) > 5')" = 2 ]; }
ok "Prometheus reads both daemons" await ended
is "without an error" "$(curl -s "http://127.0.0.1:$web/api/v1/targets" | jq -r '.data.activeTargets[] | .health + .lastError')" $'up\nup'
is "it evaluates each rule" "$(curl -s "http://127.0.0.1:$web/api/v1/rules" | jq -r '.data.groups[].rules[] | select(.health != "ok") | .name + " " + .health + " " + (.lastError // "")')" ""
is "none fires on a healthy daemon" "$(curl -s "http://127.0.0.1:$web/api/v1/alerts" | jq -r '.data.alerts[] | select(.state == "firing") | .labels.alertname')" ""

while IFS= read -r text; do
	n=$(instances "$text")
	[ "$n" = 2 ]
	tap_result $? "rows of both daemons: $text" "$n"
done < <(jq -r '.panels[].targets[].expr' "$dashboard" | sed 's/\$instance/.*/g; s/\$__rate_interval/1m/g')
is "the variable has a value" "$(curl -s "http://127.0.0.1:$web/api/v1/label/instance/values?match[]=flopwatch_build_info" | jq -r '.data | length')" 2
# each metric of a rule exists: a renamed one would silence its rule
while IFS= read -r name; do is "of a rule: $name" "$(rows "count($name) > 0")" 1; done < <(grep -oE 'flopwatch_[a-z_]+[a-z]' "$rules" | grep -v '^flopwatch_down$' | sort -u)

# ---- the two text formats ----
curl -s --cacert "$tmp/cert.pem" "https://127.0.0.1:$(port)/metrics" >"$tmp/metrics"
ok "promtool accepts the metrics" promtool check metrics <"$tmp/metrics"

curl -s -D "$tmp/head" -H 'Accept: application/openmetrics-text; version=1.0.0,text/plain;q=0.5' --cacert "$tmp/cert.pem" "https://127.0.0.1:$(port)/metrics" >"$tmp/open"
like "OpenMetrics where it is accepted" "$(tr -d '\r' <"$tmp/head")" '^Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8$'
is "with the same metrics" "$(grep -v '^#' "$tmp/open" | sed 's/ .*//' | sort)" "$(grep -v '^#' "$tmp/metrics" | sed 's/ .*//' | sort)"
job=$(sql "SELECT id FROM job WHERE state = 'done' ORDER BY ended_at DESC LIMIT 1")
like "a bucket has its newest job" "$(grep _bucket "$tmp/open")" "^flopwatch_job_duration_seconds_bucket\{le=\"[0-9]+\"\} [0-9]+ # \{job=\"$job\"\} [0-9.]+ [0-9]+\.[0-9]{3}$"
is "Prometheus stores it" "$(curl -s --data-urlencode 'query=flopwatch_job_duration_seconds_bucket' -d "start=$(($(date +%s) - 86400))" -d "end=$(($(date +%s) + 60))" \
	"http://127.0.0.1:$web/api/v1/query_exemplars" | jq "[.data[].exemplars[] | select(.labels.job == \"$job\")] | length > 0")" true
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
	ok "the reference parser accepts it" /usr/bin/python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
assert sum(1 for _ in read(open(sys.argv[1]).read())) > 20' "$tmp/open"
else
	skip "OpenMetrics in its reference parser" "there is no python3-prometheus-client here"
fi

# ---- Grafana's types ----
modules=$root/tests/client/node_modules
for module in @grafana/schema typescript; do
	[ -d "$modules/$module" ] || { skip "the dashboard in Grafana's types" "npm has not installed $module"; exit 0; }
done
mkdir "$tmp/types"
cd "$tmp/types" || exit 1
ln -s "$modules" node_modules
compile() { # file with the dashboard
	{
		echo "import type { Dashboard } from '@grafana/schema';"
		printf 'export const dashboard: Dashboard =\n'
		cat "$1"
		echo ';'
	} >check.ts
	timeout -k 5 120 node node_modules/typescript/bin/tsc --strict --noEmit --skipLibCheck --module nodenext --target es2022 check.ts
}
ok "the dashboard is one of Grafana" compile "$dashboard"
jq '.panels[0].gridPos.h = "4"' "$dashboard" >broken.json
fails "a wrong one is not" 2 compile broken.json
is "no panel lies over another" "$(jq -r '[.panels[] | .gridPos as $g | range($g.x; $g.x + $g.w) as $x | range($g.y; $g.y + $g.h) as $y | "\($x) \($y)"] | length - (unique | length)' "$dashboard")" 0
is "each has its own id" "$(jq '[.panels[].id] | length - (unique | length)' "$dashboard")" 0
