// forge_schemas.mjs FOLDER OUT: what the forges publish about the operations and webhooks that flopwatch uses, as JSON schemas in one file.
//
// FOLDER has the files that etc/install-browser.sh unpacked. GitHub publishes OpenAPI; of GitLab, Gitea and Forgejo the types of their clients
// count (forge_types.ts), and paths and names of GitLab are those that its client sends.
// OUT: {operations: [{forge, name, source, method, path, params, query, body, answers}], events: {"FORGE EVENT": schema}, schemas: {NAME: schema}}
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Gitlab } from "@gitbeaker/rest";
import ts from "typescript";

const here = path.dirname(fileURLToPath(import.meta.url));
const [folder, out] = process.argv.slice(2);
const schemas = {};
const operations = [];
const events = {};

function published(value, what) {
	if (!value) throw new Error(`the forges publish no ${what}`);
	return value;
}
const version = (module) => `${module} ${JSON.parse(fs.readFileSync(path.join(here, "node_modules", module, "package.json"))).version}`;

// ---- GitHub ----
const NAMES = {
	status: "post /repos/{owner}/{repo}/statuses/{sha}",
	"check run": "post /repos/{owner}/{repo}/check-runs",
	"check run changed": "patch /repos/{owner}/{repo}/check-runs/{check_run_id}",
	list: "get /repos/{owner}/{repo}/issues/{issue_number}/comments",
	comment: "post /repos/{owner}/{repo}/issues/{issue_number}/comments",
	change: "patch /repos/{owner}/{repo}/issues/comments/{comment_id}",
	member: "get /repos/{owner}/{repo}/collaborators/{username}/permission",
};
// An operation does not list every refusal; these are the general ones. None of these lists 429, which has the body of a 403.
const GENERAL = { 304: "not_modified", 401: "requires_authentication", 403: "forbidden", 404: "not_found", 410: "gone", 422: "validation_failed", 429: "forbidden", 500: "internal_error" };
const WEBHOOKS = ["ping", "push", "pull-request-labeled", "pull-request-unlabeled", "pull-request-synchronize", "issue-comment-created", "issue-comment-edited"];

/** Whether a key of a schema only describes it; members of objects may have these names as well. */
const isNote = (key, value) => key === "example" || key === "examples" || ((key === "description" || key === "title") && typeof value === "string");
/** Move the schema and all that it refers to into `schemas`, under names of this document. */
function take(document, prefix, value) {
	if (Array.isArray(value)) return value.map((one) => take(document, prefix, one));
	if (!value || typeof value !== "object") return value;
	if (typeof value.$ref === "string") {
		const name = value.$ref.split("/").at(-1);
		const key = `${prefix}.${name}`;
		if (!(key in schemas)) {
			schemas[key] = null; // it may refer to itself
			schemas[key] = take(document, prefix, published(document.components.schemas[name], `schema ${name}`));
		}
		return { $ref: `#/schemas/${key}` };
	}
	return Object.fromEntries(Object.entries(value).filter(([key, one]) => !isNote(key, one)).map(([key, one]) => [key, take(document, prefix, one)]));
}
function answerOf(document, response) {
	const one = response.$ref ? document.components.responses[response.$ref.split("/").at(-1)] : response;
	const content = one.content?.["application/json"];
	return content ? take(document, "github", content.schema) : null;
}
const api = JSON.parse(fs.readFileSync(path.join(folder, "api.json")));
for (const [name, key] of Object.entries(NAMES)) {
	const [method, template] = key.split(" ");
	const operation = published(api.paths[template]?.[method], key);
	const parameters = operation.parameters.map((one) => (one.$ref ? api.components.parameters[one.$ref.split("/").at(-1)] : one));
	const at = (where) => Object.fromEntries(parameters.filter((one) => one.in === where).map((one) => [one.name, take(api, "github", one.schema)]));
	const answers = {};
	for (const [status, response] of Object.entries(GENERAL)) answers[status] = answerOf(api, published(api.components.responses[response], response));
	for (const [status, response] of Object.entries(operation.responses)) answers[status] = answerOf(api, response);
	const body = operation.requestBody?.content["application/json"].schema;
	operations.push({ forge: "github", name, source: `@octokit/openapi ${api.info.version}`, method: method.toUpperCase(), path: template,
		params: at("path"), query: at("query"), body: body ? take(api, "github", body) : null, answers });
}
const webhooks = JSON.parse(fs.readFileSync(path.join(folder, "webhooks.json")));
for (const name of WEBHOOKS) {
	const hook = published(webhooks.webhooks[name]?.post, `webhook ${name}`);
	const key = name.startsWith("pull-request-") ? `pull_request ${name.slice(13)}` : name.startsWith("issue-comment-") ? `issue_comment ${name.slice(14)}` : name;
	events[`github ${key}`] = { source: `@octokit/openapi-webhooks ${webhooks.info.version}`, schema: take(webhooks, "webhook", hook.requestBody.content["application/json"].schema),
		headers: hook.parameters.filter((one) => one.in === "header" && one.required).map((one) => one.name) };
}

// ---- what the client of GitLab sends ----
const sent = {};
async function callGitlab() {
	const gitlab = new Gitlab({ host: "https://gitlab.invalid", token: "secret" });
	let last;
	globalThis.fetch = async (request) => {
		last = { method: request.method, url: new URL(request.url), headers: request.headers, body: await request.text() };
		return new Response("{}", { headers: { "content-type": "application/json" } });
	};
	const calls = {
		status: () => gitlab.Commits.editStatus("PROJECT", "SHA", "success", { name: "a", targetUrl: "b", description: "c" }),
		list: () => gitlab.MergeRequestNotes.all("PROJECT", "IID", { sort: "asc", orderBy: "created_at", perPage: 50, page: 1, maxPages: 1, showExpanded: true }),
		comment: () => gitlab.MergeRequestNotes.create("PROJECT", "IID", "a"),
		change: () => gitlab.MergeRequestNotes.edit("PROJECT", "IID", "NOTE", { body: "a" }),
		member: () => gitlab.ProjectMembers.show("PROJECT", "USER", { includeInherited: true }),
	};
	for (const [name, call] of Object.entries(calls)) {
		await call();
		if (last.headers.get("private-token") !== "secret") throw new Error("the client of GitLab sends no PRIVATE-TOKEN");
		sent[name] = { method: last.method, path: last.url.pathname.replace("/api/v4", "").replace(/\b(PROJECT|SHA|IID|NOTE|USER)\b/g, (word) => `{${word.toLowerCase()}}`),
			names: [...last.url.searchParams.keys(), ...Object.keys(last.body ? JSON.parse(last.body) : {})] };
	}
}
await callGitlab();

// ---- types ----
const entry = path.join(here, "forge_types.ts");
const forgejo = path.resolve(folder, "forgejo.d.ts");
const program = ts.createProgram([entry], { strict: true, skipLibCheck: true, noEmit: true, types: [], target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
	moduleResolution: ts.ModuleResolutionKind.Bundler, paths: { forgejo: [forgejo] } });
const checker = program.getTypeChecker();
const file = program.getSourceFile(entry);
for (const one of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
	throw new Error(`forge_types.ts: ${ts.flattenDiagnosticMessageText(one.messageText, " ")}`);

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const F = ts.TypeFlags;
let defined = new Map();

function schemaOfUnion(types, rename, prefix) {
	const rest = types.filter((one) => !(one.flags & (F.Undefined | F.Void)));
	const values = rest.filter((one) => one.isLiteral() || one.flags & (F.BooleanLiteral | F.Null));
	const parts = rest.filter((one) => !values.includes(one)).map((one) => schemaOf(one, rename, prefix));
	const valueOf = (one) => (one.flags & F.Null ? null : one.flags & F.BooleanLiteral ? one.intrinsicName === "true" : one.value);
	if (values.length) parts.push({ enum: values.map(valueOf) });
	return parts.length === 1 ? parts[0] : { anyOf: parts };
}
function schemaOfObject(type, rename, prefix) {
	const schema = { type: "object", properties: {} };
	const required = [];
	for (const one of checker.getPropertiesOfType(type)) {
		const name = rename ? snake(one.name) : one.name;
		schema.properties[name] = schemaOf(checker.getTypeOfSymbol(one), rename, prefix);
		if (!(one.flags & ts.SymbolFlags.Optional)) required.push(name);
	}
	if (required.length) schema.required = required;
	if (checker.getIndexInfosOfType(type).length) schema.additionalProperties = {};
	return schema;
}
/** JSON schema of a type; rename: members get underscores. */
function schemaOf(type, rename, prefix) {
	if (type.flags & (F.Any | F.Unknown)) return {};
	if (type.flags & F.Never) return { not: {} };
	if (type.flags & F.Boolean) return { type: "boolean" };
	if (type.isUnion()) return schemaOfUnion(type.types, rename, prefix);
	if (type.isLiteral() || type.flags & (F.BooleanLiteral | F.Null)) return schemaOfUnion([type], rename, prefix);
	if (type.flags & F.StringLike) return { type: "string" };
	if (type.flags & F.NumberLike) return { type: "number" };
	if (checker.isArrayType(type)) return { type: "array", items: schemaOf(checker.getTypeArguments(type)[0], rename, prefix) };
	const symbol = type.aliasSymbol ?? type.symbol;
	if (type.flags & F.Intersection || !symbol || symbol.name.startsWith("__")) return schemaOfObject(type, rename, prefix);
	let key = defined.get(type);
	if (!key) {
		for (key = `${prefix}.${symbol.name}`; key in schemas; key += "'");
		defined.set(type, key);
		schemas[key] = null;
		schemas[key] = schemaOfObject(type, rename, prefix);
	}
	return { $ref: `#/schemas/${key}` };
}
const exported = (name) => checker.getDeclaredTypeOfSymbol(published(checker.getExportsOfModule(checker.getSymbolAtLocation(file)).find((one) => one.name === name), name));
const memberType = (type, name) => {
	const symbol = type && checker.getPropertyOfType(type, name);
	return symbol && checker.getTypeOfSymbol(symbol);
};
function statuses(type, rename, prefix) {
	return type ? Object.fromEntries(checker.getPropertiesOfType(type).map((one) => [one.name, schemaOf(checker.getTypeOfSymbol(one), rename, prefix)])) : {};
}

// The types of Gitea and Forgejo have text for the states of a commit; their description lists them.
function statesOf(declarations, module) {
	const text = fs.readFileSync(declarations, "utf8");
	const found = published(text.match(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*type CommitStatusState = string;/), `state of a commit in ${module}`);
	const states = [...found[1].matchAll(/"(\w+)"/g)].map((one) => one[1]);
	return { enum: published(states.length >= 4 && states, `list of states in ${module}`) };
}
const giteaTypes = path.join(here, "node_modules/gitea-js/dist/index.d.ts");
const states = { gitea: statesOf(giteaTypes, "gitea-js"), forgejo: statesOf(forgejo, "forgejo-ts") };
// "@request POST:/repos/..." stands above each method of Gitea's client.
const giteaMethods = { status: "repoCreateStatus", list: "issueGetComments", comment: "issueCreateComment", change: "issueEditComment", member: "repoGetRepoPermissions" };
const giteaText = fs.readFileSync(giteaTypes, "utf8");
function requestOf(name) {
	const end = giteaText.indexOf(`        ${giteaMethods[name]}: (`);
	const tag = giteaText.slice(giteaText.lastIndexOf("@request ", end), end).match(/^@request (\w+):(\S+)/);
	return { method: published(tag, giteaMethods[name])[1], path: tag[2] };
}
const pinned = JSON.parse(fs.readFileSync(path.join(here, "package.json"))).unpack;
const sources = { gitlab: version("@gitbeaker/core"), gitea: version("gitea-js"), forgejo: pinned["forgejo.d.ts"].split(" ")[0].replace(/@(?=[^@]*$)/, " ") };

for (const one of checker.getPropertiesOfType(exported("Operations"))) {
	const [forge, name] = one.name.split(" ");
	const type = checker.getTypeOfSymbol(one);
	const rename = forge === "gitlab";
	const part = (key) => memberType(type, key) && !(memberType(type, key).flags & F.Never) && memberType(type, key);
	const query = part("query") ? schemaOf(part("query"), rename, forge) : null;
	// GitLab has pages by number and pages by key, which exclude each other: by number.
	const target = query?.$ref ? schemas[query.$ref.slice("#/schemas/".length)] : query?.anyOf ? query.anyOf.find((option) => option.properties.page) : query;
	const body = part("body") ? schemaOf(part("body"), rename, forge) : null;
	const request = forge === "gitlab" ? published(sent[name], name) : requestOf(name);
	if (forge === "forgejo") request.path = memberType(type, "url").value;
	for (const known of sent[forge === "gitlab" ? name : ""]?.names ?? [])
		if (!(known in { ...target?.properties, ...body?.properties })) throw new Error(`${one.name}: the client of GitLab sends ${known}, which its types do not have`);
	operations.push({ forge, name, source: sources[forge], method: request.method, path: request.path, params: {}, query: target?.properties ?? {}, body,
		answers: { 304: null, ...statuses(part("errors"), false, forge), ...statuses(part("answers"), false, forge) } });
}
for (const one of checker.getPropertiesOfType(exported("Events")))
	events[one.name] = { source: sources[one.name.split(" ")[0]], schema: schemaOf(checker.getTypeOfSymbol(one), false, one.name.split(" ")[0]), headers: [] };
for (const forge of ["gitea", "forgejo"]) {
	for (const key of [`${forge}.CreateStatusOption`, `${forge}.CommitStatus`])
		for (const name of ["state", "status"]) if (published(schemas[key], key).properties[name]) schemas[key].properties[name] = states[forge];
}
fs.writeFileSync(`${out}.new`, JSON.stringify({ operations, events, schemas }));
fs.renameSync(`${out}.new`, out);
