#!/bin/bash
# Jobs that wait for a device that no worker has: in the command line, the API, the pages and /metrics.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
says() { fw jobs "${@:2}" >"$tmp/said" && grep -qE -- "$1" "$tmp/said"; }
lacks() { job_field "$1" 'no_device // "-"'; }
stuck() { http GET /metrics | sed -n 's/^flopwatch_jobs_without_device //p'; }
page() { curl -s "http://127.0.0.1:$(port)/$1"; }

printf '#!/bin/sh\nFLOPWATCH_SIM_DEVICES=3 exec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
restart() { # workers: the same configuration with these
	stop_daemon TERM
	sed -i "s|^workers:.*|workers: [$1]|" "$tmp/c.yml"
	start_daemon
}
see='see doc/troubleshooting.md#no-device'

new_repo kernels
push kernels main
write_config
start_daemon || exit 1
is "main is measured" "$(result_of "$(head_of kernels)" | cut -d' ' -f1)" done
fw pause sim-0 >"$tmp/said"
any=$(post jobs '{"repo": "kernels", "target": "main"}' | jq -r .id)
kind=$(post jobs '{"repo": "kernels", "target": "main", "device": "sim"}' | jq -r .id)
this=$(post calibrate '{"repo": "kernels", "device": "sim-0", "runs": 1}' | jq -r '.jobs[0]')
ok "a device that is paused is named" await says '^WARNING device sim-0 is paused'
is "it is a device all the same" "$(lacks "$any") $(lacks "$kind") $(lacks "$this") $(stuck)" "- - - 0"
unlike "and prints nothing else" "$(cat "$tmp/said")" 'which no worker has|may have it'

# ---- no worker of that kind ----
restart '{name: other, command: ["false"], device: cuda}' || exit 1
ok "a kind that no worker has is reported" await says "^WARNING J$kind waits for a device of kind sim, which no worker has: add one that does to \`workers\`, or cancel the job \($see\)\$"
like "so is a device" "$(cat "$tmp/said")" "^WARNING J$this waits for device sim-0, which no worker has:"
ok "a worker that may have it and is down is reported with it" await says "^WARNING J$any waits for a device, and worker other, which may have it, is down: \`flopwatch doctor\` shows the cause \($see\)\$"
like "the table reports it as well" "$(cat "$tmp/said")" "^ *J$kind .* queued .*waits for a device of kind sim, which no worker has"
like "the API reports it of one device" "$(lacks "$kind")" '^waits for a device of kind sim, which no worker has:'
like "and in the list" "$(api 'jobs?state=queued' | jq -r ".items[] | select(.id == $this) | .no_device")" '^waits for device sim-0, which no worker has:'
like "the page of the queue" "$(page jobs)" 'waits for a device of kind sim, which no worker has'
like "and that of the job" "$(page "jobs/$this")" 'waits for device sim-0, which no worker has'
is "Prometheus counts them" "$(stuck)" 3

# ---- its worker is down ----
restart '{name: gone, command: ["false"], device: sim}' || exit 1
ok "equal jobs are reported once" await says "^WARNING J$this waits for device sim-0, and worker gone, which may have it, is down:"
is "a line for each thing that is wanted" "$(grep -c '^WARNING J.*worker gone' "$tmp/said")" 3
more=$(post jobs '{"repo": "kernels", "target": "main", "device": "sim"}' | jq -r .id)
ok "with how many more there are" await says "^WARNING J$more \(and 1 more\) waits for a device of kind sim, and worker gone"

# ---- another device ----
restart "{name: third, command: [$tmp/worker, serve], device: sim}" || exit 1
for job in "$any" "$kind" "$more"; do
	ok "job $job has another device" await job_is "$job" done
done
is "the one device is still lacking" "$(lacks "$this" | cut -d: -f1) $(stuck)" "waits for device sim-0, which no worker has 1"
is "what was measured lacks nothing" "$(lacks "$kind")" -
fw cancel "$this" >"$tmp/said"
is "what is cancelled neither" "$(lacks "$this") $(stuck)" "- 0"
