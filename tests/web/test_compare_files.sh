#!/bin/bash
# Two posted files: their comparison as a page and over the API, files that cannot be read, large ones, hostile names, permissions, and
# requests at the same time. The daemon is real, and so is the program that reads the files.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
data=$root/tests/data/readers

new_repo kernels
write_config
start_daemon || exit 1
server=http://127.0.0.1:$(port)
post() { curl -s -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' --max-time 60 "$@"; } # prints the status
page() { post -H 'Accept: text/html' "$@" "$server/compare"; }
rest() { post "$@" "$server/api/v1/compare"; }
detail() { jq -r .detail "$tmp/body"; }

# ---- the form ----
curl -s "$server/compare" >"$tmp/form"
like "the page has a form for two files" "$(cat "$tmp/form")" '<form [^>]*method=post action=/compare enctype="multipart/form-data">'
is "with both of them" "$(grep -o '<input type=file name=[a-z]*' "$tmp/form" | sed 's/.*=//' | paste -sd' ')" "base target"
like "and every format" "$(cat "$tmp/form")" '<option value="catch2">'

# ---- a good pair ----
sed 's/3.5861,613.2000/3.7000,594.3000/' "$data/ffa-dense.csv" >"$tmp/slower.csv"
is "two tables are compared" "$(page -F "base=@$data/ffa-dense.csv" -F "target=@$tmp/slower.csv" -F format= -F unit=)" 200
like "the title is the finding" "$(cat "$tmp/body")" '<h1>slower.csv is slower in 1 of 4 cells</h1>'
like "with the slower cell first" "$(grep -A3 'Slower cells' "$tmp/body")" 'ffa/dense/full/s8192/forward</code></td><td class=n>−3\.08'
like "and both times" "$(cat "$tmp/body")" '<td class=n>3\.5861</td><td class=n>3\.7000</td><td class="n w">613\.2</td><td class="n w">594\.3</td>'
like "which is no verdict" "$(cat "$tmp/body")" 'Two files give no verdict'
is "the other way round, too" "$(page -F "base=@$tmp/slower.csv" -F "target=@$data/ffa-dense.csv")" 200
like "it is faster" "$(cat "$tmp/body")" '<h1>ffa-dense.csv is faster in 1 of 4 cells</h1>'
is "equal files" "$(page -F "base=@$tmp/slower.csv" -F "target=@$tmp/slower.csv")" 200
like "do not differ" "$(cat "$tmp/body")" '<h1>base slower.csv and target slower.csv differ by at most 1\.5 % in 4 cells</h1>'
head -n 2 "$data/ffa-dense.csv" >"$tmp/short.csv"
is "fewer rows" "$(page -F "base=@$data/ffa-dense.csv" -F "target=@$tmp/short.csv")" 200
like "are counted" "$(cat "$tmp/body")" '<h1>ffa-dense.csv and short.csv differ by at most 1\.5 % in [0-9]* cells?; [0-9]+ cells? without a time in both</h1>'
is "results of Google Benchmark over the API" "$(rest -F "base=@$data/gbench-two-families-before.json" -F "target=@$data/gbench-two-families-after.json")" 200
is "are those of the command line" "$(jq 'del(.base, .target)' "$tmp/body")" \
	"$("$bin/flopwatch" compare "$data/gbench-two-families-before.json" "$data/gbench-two-families-after.json" --json | jq 'del(.base, .target)')"
is "with cells" "$(jq '.format == "google-benchmark" and (.cells | length) > 0' "$tmp/body")" true
is "and as a page" "$(page -F "base=@$data/google-benchmark-2018.json" -F "target=@$data/google-benchmark-2018.json")" 200
like "with what has no time" "$(cat "$tmp/body")" 'target failed: no kernel image for this device'
like "and what was omitted" "$(cat "$tmp/body")" 'base: <code>BM_Empty</code> was left out: a real_time of 0 is not a time'
like "a format and a unit can be given" "$(rest -F "base=@$data/triton-old.csv" -F "target=@$data/triton-old.csv" -F format=triton -F unit=GB/s)$(jq -r .format "$tmp/body")" '^200triton$'
sed 's/"gpu__time_duration.sum"/"sm__cycles.sum"/' "$data/ncu-metrics.csv" >"$tmp/ncu-metrics.csv"
is "metrics other than times" "$(page -F "base=@$tmp/ncu-metrics.csv" -F "target=@$tmp/ncu-metrics.csv" -F 'metric=dram__*')" 200
like "have a table" "$(cat "$tmp/body")" '<h2>Metrics, neither slower nor faster</h2>'
like "and are no times" "$(cat "$tmp/body")" '<h1>base ncu-metrics.csv and target ncu-metrics.csv have metrics, no times in common</h1>'

if command -v tidy >/dev/null; then
	for file in form body; do
		is "the $file is valid HTML" "$(tidy -e -q --drop-empty-elements no "$tmp/$file" 2>&1 | grep -vE 'proprietary attribute|trimming empty|missing </t[hr]>' | head -n 5)" ""
	done
fi

# ---- refusals ----
head -c 300 "$data/nvbench.json" >"$tmp/cut.json"
is "a file that is cut off" "$(rest -F "base=@$data/nvbench.json" -F "target=@$tmp/cut.json")" 422
like "is named with line and column" "$(detail)" '^cut\.json:[0-9]+:[0-9]+: is not JSON'
is "on a page, too" "$(page -F "base=@$data/nvbench.json" -F "target=@$tmp/cut.json")" 422
like "in a sentence" "$(cat "$tmp/body")" '<p class=lead>cut\.json:[0-9]+:[0-9]+: is not JSON'
is "two formats" "$(rest -F "base=@$data/nvbench.json" -F "target=@$tmp/slower.csv")" 422
like "are not compared" "$(detail)" 'nvbench.json is of format nvbench and slower.csv of format ffa'
: >"$tmp/nothing.csv"
is "an empty file" "$(rest -F "base=@$tmp/nothing.csv" -F "target=@$tmp/slower.csv")" 422
like "is empty" "$(detail)" '^nothing\.csv: is empty'
is "a file that was not chosen" "$(page -F "base=@$tmp/slower.csv" -F 'target=;filename=""')" 400
like "is asked for" "$(cat "$tmp/body")" 'there is no target file; choose two files'
is "a third field" "$(rest -F "base=@$tmp/slower.csv" -F "target=@$tmp/slower.csv" -F colour=red)" 400
like "is refused" "$(detail)" 'field colour is unknown; known: base, target'
is "JSON is no form with files" "$(rest -H 'Content-Type: application/json' -d '{}')" 415
is "half a form" "$(rest -H 'Content-Type: multipart/form-data; boundary=x' -d '--x')" 400
is "another site's page" "$(rest -H 'Origin: https://evil.example' -F "base=@$tmp/slower.csv" -F "target=@$tmp/slower.csv")" 403
head -c $((17 << 20)) /dev/zero | tr '\0' '1' >"$tmp/large.csv"
is "a file of 17 MiB" "$(rest -F "base=@$tmp/slower.csv" -F "target=@$tmp/large.csv")" 413
is "is too large, in a sentence" "$(detail)" "large.csv has 17.0 MiB; a file may have at most 16 MiB"
is "two of them" "$(page -F "base=@$tmp/large.csv" -F "target=@$tmp/large.csv")" 413
like "on a page" "$(cat "$tmp/body")" 'the body is too large; each of the two files may have at most 16 MiB'
head -c $((16 << 20)) "$tmp/large.csv" >"$tmp/largest.csv"
is "16 MiB are read" "$(rest -F "base=@$tmp/largest.csv" -F "target=@$tmp/largest.csv")" 422
like "and are no table" "$(detail)" '^base largest\.csv: has an unknown format'

# ---- hostile content ----
printf '{"context":{},"benchmarks":[{"name":"<script>alert(1)</script>%s","real_time":%s,"time_unit":"ms"}]}' '&\u202e' 1 >"$tmp/a.json"
sed 's/"real_time":1/"real_time":2/' "$tmp/a.json" >"$tmp/b.json"
is "names with markup" "$(page -F "base=@$tmp/a.json;filename=\"x<img src=1>.json\"" -F "target=@$tmp/b.json;filename=../../etc/--json")" 200
like "are text" "$(cat "$tmp/body")" '&lt;script&gt;alert\(1\)&lt;/script&gt;'
unlike "and never markup" "$(cat "$tmp/body")" '<script>alert|<img src=1'
unlike "nor turn a line around" "$(cat "$tmp/body")" $'\u202e'
like "a name has no folders, and is no option" "$(cat "$tmp/body")" '<h1>--json is slower in 1 of 1 cells</h1>'
is "one with a line end" "$(rest -F "base=@$tmp/a.json;filename=\"a"$'\n'"b\"" -F "target=@$tmp/b.json")" 200
is "is replaced" "$(jq -r .base "$tmp/body" | head -n 1)" "$(jq -r .base "$tmp/body")"
printf '[%.0s' $(seq 100000) >"$tmp/deep.json"
is "a deep file" "$(rest -F format=jmh -F "base=@$tmp/deep.json" -F "target=@$tmp/deep.json")" 422
is "nothing is stored" "$(sql 'SELECT count(*) FROM comparison')" "$(sql 'SELECT count(*) FROM comparison WHERE kind != '"'import'")"
ok "nor is a name" bash -c "! grep -rqa 'alert(1)' '$tmp/state'"
is "the daemon lives" "$(curl -s "$server/healthz" | head -n 1)" ok
stop_daemon

# ---- a reader that waits: limits, and requests at the same time ----
mkdir "$tmp/bin"
cp "$bin/flopwatchd" "$tmp/bin"
for program in "$bin"/flopwatch-*; do ln -s "$program" "$tmp/bin"; done
cat >"$tmp/bin/flopwatch" <<SH
#!/bin/sh
{ grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; ulimit -v; ulimit -t; env | grep -v '^\(PWD\|SHLVL\|_\|OLDPWD\)='; } >"$tmp/limits"
until [ -e "$tmp/go" ]; do sleep 0.05; done
exec "$bin/flopwatch" "\$@"
SH
chmod 755 "$tmp/bin/flopwatch"
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" "access: token"
own=$bin bin=$tmp/bin
start_daemon || exit 1
bin=$own
server=http://127.0.0.1:$(port)
token=$("$bin/flopwatch" --server "$server" --token-file "$tmp/state/admin.token" --quiet token add reader --scope read)
is "no token, no comparison" "$(rest -F "base=@$tmp/a.json" -F "target=@$tmp/b.json")" 401
is "a browser has to log in" "$(page -F "base=@$tmp/a.json" -F "target=@$tmp/b.json")" 303
like "first" "$(cat "$tmp/head")" '[Ll]ocation: /login\?next=/compare'
is "and sends no large file before" "$(rest -F "base=@$tmp/largest.csv" -F "target=@$tmp/b.json")" 401
other=$("$bin/flopwatch" --server "$server" --token-file "$tmp/state/admin.token" --quiet token add other --scope read)
files=(-F "base=@$tmp/a.json" -F "target=@$tmp/b.json")
reader=(-H "Authorization: Bearer $token" "${files[@]}")
# In the background, so that its process is curl.
ask() { exec curl -s -o "$tmp/body.$1" -w '%{http_code}' --max-time 120 -H "Authorization: Bearer $2" "${files[@]}" "$server/api/v1/compare" >"$tmp/status.$1"; }
children() { pgrep -P "$daemon_pid" -f "$tmp/bin/flopwatch compare" | wc -l; }
run_n() { [ "$(children)" = "$1" ]; }
ask 1 "$other" & first=$!
await run_n 1
is "a token has one comparison at a time" "$(rest -H "Authorization: Bearer $other" "${files[@]}")" 503
like "which a second one of it has to await" "$(detail)" '^a comparison of files of token other is running already'
ask 2 "$token" & second=$!
await run_n 2
is "two are compared at the same time, a third is not" "$(rest -H "Authorization: Bearer $(cat "$tmp/state/admin.token")" "${files[@]}")" 503
like "but may try again" "$(cat "$tmp/head")" '[Rr]etry-[Aa]fter: 5'
like "it has no network" "$(cat "$tmp/limits")" '^NoNewPrivs:.1
Seccomp:.2'
is "limits of memory and time, and an empty environment" "$(sed 1,2d "$tmp/limits" | paste -sd' ')" "1048576 30 LANG=C.UTF-8"
kill "$first"
ok "a disconnected client ends its comparison" await run_n 1
ask 3 "$other" & third=$!
await run_n 2
touch "$tmp/go"
wait "$second" "$third"
is "the others are answered" "$(cat "$tmp/status.2" "$tmp/status.3")" 200200
is "with read scope" "$(jq .slower "$tmp/body.2")" 1

# ---- a client that does not read its answer ----
cp "$tmp/bin/flopwatch" "$tmp/flopwatch"
cat >"$tmp/bin/flopwatch" <<'SH'
#!/bin/sh
printf '{"a": "'
head -c 15000000 /dev/zero | tr '\0' a
printf '"}\n'
SH
python3 - "$(port)" "$token" "$tmp" <<'PY' &
import http.client, os, sys, time
port, token, tmp = sys.argv[1:]
parts = "".join(f'--x\r\nContent-Disposition: form-data; name="{side}"; filename="{side}.json"\r\n\r\n{{}}\r\n' for side in ("base", "target"))
c = http.client.HTTPConnection("127.0.0.1", int(port))
c.request("POST", "/api/v1/compare", parts + "--x--\r\n", {"Authorization": "Bearer " + token, "Content-Type": "multipart/form-data; boundary=x"})
answer = c.getresponse()  # its head
open(tmp + "/stalled", "w").close()
while not os.path.exists(tmp + "/read"):
    time.sleep(0.05)
with open(tmp + "/length", "w") as f:
    f.write(str(len(answer.read())))
PY
stalled=$!
await [ -e "$tmp/stalled" ]
is "it holds up no other comparison of its token" "$(rest "${reader[@]}")" 200
touch "$tmp/read"
wait "$stalled"
is "and has its answer when it reads" "$(cat "$tmp/length")" 15000010
cp "$tmp/flopwatch" "$tmp/bin/flopwatch"

sed -i '$s/.*/kill -XCPU $$/' "$tmp/bin/flopwatch"
is "files that take too much time" "$(rest "${reader[@]}")" 422
like "are refused in a sentence" "$(detail)" '^the two files take too much time or memory to compare; split them$'
rm "$tmp/go"
ask 4 "$token" & fourth=$!
await run_n 1
stop_daemon
is "a comparison does not hold up the end" $? 0
wait "$fourth"
is "no reader is left" "$(pgrep -f "$tmp/bin/flopwatch compare" | wc -l)" 0
