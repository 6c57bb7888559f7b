#!/bin/bash
# All results as CSV tables: their columns and rows, compressed and not, described in doc/export.md, and read by DuckDB.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
new_repo kernels
write_config
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels '"slower", =1+1'
push kernels main
is "a slower commit is judged" "$(result_of "$(head_of kernels)")" "done regression"
no_job() { [ "$(api 'jobs?state=open' | jq '.items | length')" = 0 ]; }
await no_job

fails "--all takes a folder" 2 fw export --all "$tmp/a" more
fails "and no format" 2 fw export --all "$tmp/a" --format ffa
fails "--zstd is for tables" 2 fw export C1 --zstd
echo >"$tmp/file"
fails "a file is no folder" 1 fw export --all "$tmp/file"
fails "an unknown repository" 4 fw export --all "$tmp/unknown" --repo nothing
is "leaves no unfinished file" "$(find "$tmp/unknown" -name '*.unfinished')" ""
ok "all tables are exported" fw export --all "$tmp/plain"
like "and counted" "$out" "plain/comparisons\\.csv: $(sql "SELECT count(*) FROM comparison") rows"

python3 - "$tmp/plain" "$root/doc/export.md" "http://127.0.0.1:$(port)/api/v1" >"$tmp/checks" 2>&1 <<'END'
import csv, json, pathlib, re, sys, urllib.request
folder, document, api = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(), sys.argv[3]
get = lambda path: json.load(urllib.request.urlopen(f"{api}/{path}"))
tables = {p.stem: list(csv.reader(p.open(newline="", encoding="utf-8"))) for p in folder.iterdir()}
described = {part.split("\n")[0]: re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", part, re.M))) for part in document.split("\n## ")[1:]}
for name in sorted(set(tables) | set(described)):
    columns = tables.get(name, [[]])[0]
    missing = set(columns) ^ set(described.get(name, []))
    print("ok" if columns and not missing else "not ok", "-", f"doc/export.md describes {name}", missing or "")
rows = {name: [dict(zip(t[0], r)) for r in t[1:]] for name, t in tables.items()}
same = lambda text, value: text == ("" if value is None else str(value).lower() if isinstance(value, bool) else str(value)) or (
    isinstance(value, float) and float(text) == value)
for name, path, key in (("comparisons", "comparisons?limit=500", "id"), ("jobs", "jobs?limit=500", "id"), ("alerts", "alerts", "id"),
                        ("branches", "branches", "name"), ("repositories", "repos", "name"), ("devices", "devices", "uuid")):
    items = {str(i[key]): i for i in get(path)["items"]}
    good = len(rows[name]) == len(items) > 0 and all(same(r[c], items[r[key]].get(c)) for r in rows[name] for c in r if c not in ("seen_at", "fetched_at"))
    print("ok" if good else "not ok", "-", f"{name} is as in the API", "" if good else (rows[name], items))
cells = [(c["id"], cell) for c in get("comparisons?limit=500")["items"] for cell in get(f"comparisons/{c['id']}")["cells"]]
wrong = [(r, cell) for r, (number, cell) in zip(rows["cells"], cells)
         if r["comparison"] != str(number) or r["cell"] != cell["cell"] or not same(r["change_pct"], cell["change_pct"]) or
         not same(r["target_median_ms"], cell["target"]["median_ms"])]
print("ok" if len(cells) == len(rows["cells"]) > 0 and not wrong else "not ok", "- every cell with all digits", wrong[:1])
print("ok" if any(r["subject"] == '"slower", =1+1' for r in rows["comparisons"]) else "not ok", "- texts are unchanged")
END
while IFS= read -r line; do
	case "$line" in
	"ok - "*) tap_result 0 "${line#ok - }" ;;
	*) tap_result 1 "$line" ;;
	esac
done <"$tmp/checks"
is "all checks ran" "$(grep -c ' - ' "$tmp/checks")" 16

files=$(fw export --all "$tmp/packed" --zstd --repo kernels --json | jq -r '.files[].file')
is "compressed files" "$(wc -w <<<"$files") $(ls "$tmp/packed" | grep -vc '\.csv\.zst$')" "8 0"
if command -v zstd >/dev/null; then
	for name in cells comparisons; do
		ok "$name has the same rows" cmp <(zstd -dc "$tmp/packed/$name.csv.zst") "$tmp/plain/$name.csv"
	done
	ok "the files have checksums" zstd -tq "$tmp"/packed/*.zst
else
	skip "compressed rows" "there is no zstd"
fi

# ---- DuckDB, with the statements of the how-to ----
modules=$root/tests/client/node_modules
if command -v node >/dev/null && [ -d "$modules/@duckdb/node-api" ]; then
	mkdir "$tmp/duck"
	ln -s "$modules" "$tmp/duck/node_modules"
	ln -s "$tmp/packed" "$tmp/duck/tables"
	sed -n '/^```sql/,/^```/p' "$root/doc/howto/export-to-duckdb.md" | grep -v '^```' >"$tmp/duck/howto.sql"
	cat >"$tmp/duck/run.mjs" <<-'END'
		import { DuckDBInstance } from "@duckdb/node-api";
		import { readFileSync } from "node:fs";
		const connection = await (await DuckDBInstance.create(":memory:")).connect();
		for (const statement of readFileSync("howto.sql", "utf8").split(";").filter((s) => s.trim())) {
		  const rows = (await connection.runAndReadAll(statement)).getRows();
		  if (/^\s*SELECT/.test(statement)) console.log("regressions", rows.length);
		}
		const one = async (query) => (await connection.runAndReadAll(query)).getRows()[0];
		console.log("parquet", String(await one("SELECT count(*) FROM 'cells.parquet'")));
		console.log("types", String((await one("SELECT typeof(finished_at), typeof(change_pct), typeof(comparison) FROM 'cells.parquet'"))));
	END
	(cd "$tmp/duck" && timeout -k 5 120 node run.mjs >out 2>&1)
	tap_result $? "DuckDB runs the how-to" "$(tail -n 5 "$tmp/duck/out")"
	is "with every cell in Parquet" "$(sed -n 's/^parquet //p' "$tmp/duck/out")" "$(sql 'SELECT count(*) FROM cell')"
	is "and the regressions" "$(sed -n 's/^regressions //p' "$tmp/duck/out")" "$(sql "SELECT count(*) FROM cell WHERE verdict = 'regression'")"
	like "numbers and times have their types" "$(sed -n 's/^types //p' "$tmp/duck/out")" '^TIMESTAMP.*,DOUBLE,BIGINT$'
else
	skip "DuckDB reads the export" "npm has not installed @duckdb/node-api"
fi
stop_daemon
is "the daemon ends in order" $? 0
