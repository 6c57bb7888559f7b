// A program over the API, whose types are generated from its description. The compiler must
// reject lines with @ts-expect-error: with a description looser than the API it would not. Usage: node client.js SERVER REPO TARGET; prints TAP.
import createClient from "openapi-fetch";
import type { components, paths } from "./flopwatch.js";

declare const process: { argv: string[] };
type Verdict = components["schemas"]["verdict"];
type Row = components["schemas"]["comparison_row"];

const [server, repo, target] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl: server });
let n = 0;

function result(ok: boolean, name: string, note = ""): void {
	console.log(`${ok ? "ok" : "not ok"} ${++n} - ${name}${ok ? "" : `\n# ${note}`}`);
}

// ---- lists and their filters
const listed = await client.GET("/api/v1/comparisons", { params: { query: { repo, since: "7d", limit: 10 } } });
const rows: Row[] = listed.data?.items ?? [];
result(rows.length > 0 && rows.every((row) => row.repo === repo), "comparisons since last week", JSON.stringify(listed.error));
const verdicts: Verdict[] = rows.map((row) => row.verdict);
result(verdicts.includes("regression"), "one of them is a regression", verdicts.join(" "));
const changes: (number | null)[] = rows.map((row) => row.worst_pct);
result(changes.every((pct) => pct === null || Number.isFinite(pct)), "figures are numbers or null");

// @ts-expect-error a list takes no such argument
const unknown = await client.GET("/api/v1/comparisons", { params: { query: { colour: "blue" } } });
result(unknown.response.status === 400 && /colour/.test(unknown.error?.detail ?? ""), "an unknown argument is a problem that names it", JSON.stringify(unknown));
// @ts-expect-error no verdict is called so
const misspelt = await client.GET("/api/v1/comparisons", { params: { query: { verdict: "slower than before" } } });
result(misspelt.response.status === 400, "a verdict that there is not is one, too");
const nobody = await client.GET("/api/v1/comparisons", { params: { query: { repo: "nobody" } } });
result(nobody.response.status === 404 && nobody.error?.status === 404, "an unknown repository is not found", JSON.stringify(nobody.error));

// ---- one object
const id = rows.find((row) => row.verdict === "regression")?.id ?? 0;
const one = await client.GET("/api/v1/comparisons/{id}", { params: { path: { id } } });
const cells = typeof one.data === "object" ? one.data.cells : []; // as CSV and Markdown it would be a text
result(cells.some((cell) => cell.verdict === "regression" && (cell.change_pct ?? 0) < 0), "its cells say which lost", JSON.stringify(one.error));
const none = await client.GET("/api/v1/comparisons/{id}", { params: { path: { id: 999999 } } });
result(none.data === undefined && none.error?.status === 404, "what is not there is a problem");
// @ts-expect-error a cell has no such property
result(cells.every((cell) => cell.beauty === undefined), "what the description does not name is not there");

// ---- the report in one call
const report = await client.GET("/api/v1/report", { params: { query: { since: "7d", verdict: "regression" } } });
result(typeof report.data === "object" && report.data.items.length > 0, "the report of a week's regressions", JSON.stringify(report.error));
const csv = await client.GET("/api/v1/report", { params: { query: { since: "7d", format: "csv" } }, parseAs: "text" });
const text = String(csv.data ?? "");
result(/^[a-z_]+,/.test(text) && text.split("\r\n").length > 2, "and as CSV", text.slice(0, 80));

// ---- requests
const asked = await client.POST("/api/v1/jobs", { body: { repo, target } });
const job: number = asked.data?.id ?? 0;
result(asked.response.status === 201 && job > 0, "a measurement is asked for", JSON.stringify(asked.error));
const known = await client.GET("/api/v1/jobs/{id}", { params: { path: { id: job } } });
result(known.data?.target === target, "and is in the queue", JSON.stringify(known.error));
// @ts-expect-error a job is for a target
const empty = await client.POST("/api/v1/jobs", { body: { repo } });
result(empty.response.status === 400, "without a target it is refused", JSON.stringify(empty));

console.log(`1..${n}`);
