// Every page with scripts on and off: it answers, sends no other requests, violates no policy, has no serious accessibility finding, stays
// within its budget, and is complete without scripts. Usage: node pages.mjs SERVER
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chooseCell, openBrowser, pagesOf } from "./browser.mjs";
import { end, result, test } from "./tap.mjs";

const server = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await openBrowser();
const pages = await pagesOf(server, await chooseCell(server));

// A page that is missing in the list has neither tests nor screenshots.
const routes = [...readFileSync(new URL("../../web/site.c", import.meta.url), "utf8").matchAll(/\{ "GET", "(\/[^"]*)", (?:cached_)?page_/g)].map(([, path]) => path)
	.filter((path) => !/^\/(static|login\/oidc)|^\/bisects\/|\.atom$/.test(path)); // a search runs only for a culprit among several commits
const drawn = (route) => Object.values(pages).some((path) => new RegExp(`^${route.replace(/\{[^}]*\}/g, "[^/]+")}$`).test(path.split("?")[0]));
result(routes.length > 20 && routes.every(drawn), "the list of pages has every page of the site", routes.filter((route) => !drawn(route)).join(" "));

function watch(page) { // events that fail the test: errors, policy violations, requests to other hosts
	const seen = [];
	page.on("pageerror", (error) => seen.push(`error: ${error.message}`));
	page.on("console", (message) => message.type() === "error" && !/status of 404/.test(message.text()) && seen.push(message.text()));
	page.on("request", (request) => !request.url().startsWith(server) && seen.push(`foreign request: ${request.url()}`));
	return seen;
}

async function findings(page, only) { // undefined: every rule
	const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { resultTypes: ["violations"], runOnly }), only);
	return violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

async function inspect(page, seen, name, only) {
	const serious = await findings(page, only);
	result(serious.length === 0, `${name}: axe finds nothing serious`, serious.join("\n"));
	result(seen.length === 0, `${name}: no error, no policy broken, nobody else asked`, seen.join("\n"));
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	result(wide <= 0, `${name}: nothing sticks out to the side`, `${wide} px`);
}

const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
const page = await context.newPage(); // one for all, since each starts a process
const seen = watch(page);

await page.goto(`${server}/glossary`);
const entries = await page.locator("dt[id]").evaluateAll((all) => all.map((dt) => ({ id: dt.id, options: dt.textContent.split(", ") })));
result(entries.length > 50, "the glossary is served", `${entries.length} entries`);

async function inspectWords(name) {
	const unlinked = await page.evaluate((all) => {
		const main = document.querySelector("main").cloneNode(true);
		for (const unread of main.querySelectorAll("code, pre, svg, select, textarea, script")) unread.remove();
		main.querySelectorAll("*").forEach((e) => e.append(" "));
		const text = main.textContent.toLowerCase();
		const stands = (term) => new RegExp(`(^|[^a-z0-9/-])${term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(e?s)?($|[^a-z0-9/-])`).test(text);
		return all.filter(({ id, options }) => options.some((t) => stands(t.toLowerCase())) && !document.querySelector(`a[href="/glossary#${id}"]`)).map(({ id }) => id);
	}, entries);
	result(unlinked.length === 0, `${name}: each of its words that is in the glossary leads there`, unlinked.join(" "));
}

for (const [name, path] of Object.entries(pages)) {
	await page.goto("about:blank");
	seen.length = 0;
	await page.goto(server + path);
	const isChart = path.startsWith("/history?");
	if (isChart) await page.locator(".uplot, svg.chart").first().waitFor();
	if (name !== "glossary") await inspectWords(name);
	await page.evaluate(axe);
	await inspect(page, seen, `${name} at 1280 light`);
	// the other colour scheme changes only colours, by style sheets: the page needs no second load
	await page.emulateMedia({ colorScheme: "dark" });
	seen.length = 0;
	await inspect(page, seen, `${name} at 1280 dark`, { type: "rule", values: ["color-contrast"] });
	await page.emulateMedia({ colorScheme: "light" });
	// nor for another width, by which scripts only draw the chart
	await page.setViewportSize({ width: 360, height: 900 });
	if (isChart) {
		await page.reload();
		await page.locator(".uplot, svg.chart").first().waitFor();
		await page.evaluate(axe);
	}
	seen.length = 0;
	await inspect(page, seen, `${name} at 360 light`);
	await page.setViewportSize({ width: 1280, height: 900 });
}
await context.close();

// ---- text of twice the size, as users set it in the browser
const large = await openBrowser(["--blink-settings=defaultFontSize=32,defaultFixedFontSize=26"]);
const magnified = await large.newPage({ viewport: { width: 1280, height: 900 } });
for (const [name, path] of Object.entries(pages)) {
	await magnified.goto(server + path);
	const { size, wide, cut } = await magnified.evaluate(() => {
		const edge = document.documentElement.clientWidth;
		const shown = [...document.querySelectorAll("h1, h2, a, button, label, summary, input, select")].filter((e) => e.checkVisibility() && !e.closest(".scroll, .gone, .skip, pre"));
		const isCut = (e) => {
			const box = e.getBoundingClientRect();
			return box.left < -1 || box.right > edge + 1 || (!e.matches("input, select, a, label") && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible");
		};
		return {
			size: getComputedStyle(document.documentElement).fontSize,
			wide: document.documentElement.scrollWidth - edge,
			cut: shown.filter(isCut).map((e) => e.outerHTML.slice(0, 120)),
		};
	});
	result(size === "32px" && wide <= 0 && cut.length === 0, `${name} with text of 200 %: nothing sticks out or is cut`, `${size}, ${wide} px\n${cut.slice(0, 5).join("\n")}`);
}
await large.close();

// ---- header and footer
for (const width of [900, 1024, 1440])
	await test(`at ${width} the header is one line, whole`, async () => {
		const page = await browser.newPage({ viewport: { width, height: 900 } });
		await page.goto(server);
		const { height, cut } = await page.evaluate(() => {
			const nav = document.querySelector(".top nav");
			return { height: document.querySelector(".top").offsetHeight, cut: nav.scrollWidth - nav.clientWidth };
		});
		await page.close();
		return height < 60 && cut <= 0;
	});
for (const width of [390, 900])
	await test(`at ${width} the keys are shown whole, each page with its own`, async () => {
		const page = await browser.newPage({ viewport: { width, height: 900 } });
		await page.goto(server);
		await page.keyboard.press("?");
		const box = await page.locator("dialog#keys[open]").boundingBox();
		const cut = await page.locator("dialog#keys").evaluate((d) => d.scrollHeight - d.clientHeight + d.scrollWidth - d.clientWidth);
		const links = await page.locator("dialog#keys dd span").count();
		await page.close();
		return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= 900 && cut <= 0 && links === 9;
	});

const plain = await browser.newContext({ javaScriptEnabled: false });
const bare = await plain.newPage();
for (const [name, path] of Object.entries(pages)) {
	const answer = await bare.goto(server + path);
	const wanted = name === "nothing" ? 404 : 200;
	const headings = await bare.locator("h1").count();
	const buttons = await bare.locator("[data-copy]:visible, [data-js]:visible, [data-switch]:visible").count();
	result(answer.status() === wanted && headings === 1 && buttons === 0, `${name} without scripts: there, one heading, no dead button`,
		`status ${answer.status()}, ${headings} headings, ${buttons} dead buttons`);
}
await test("without scripts a history is a drawing and a table", async () => {
	const page = await plain.newPage();
	await page.goto(server + pages.history);
	return await page.locator("svg.chart[role] circle, svg.chart[role] .loss").count() > 0 && await page.locator("tbody tr").count() > 0;
});
await test("without scripts a row opens by its link", async () => {
	const page = await plain.newPage();
	await page.goto(`${server}${pages.comparison}?open=none`);
	if (await page.locator("td.open").count()) return false;
	await page.locator("a[data-open]").first().click();
	return await page.locator("td.open").count() === 1;
});
await test("without scripts the filter is a form", async () => {
	const page = await plain.newPage();
	await page.goto(server + pages.comparison);
	await page.fill("input[data-filter]", "causal backward");
	await page.press("input[data-filter]", "Enter");
	const rows = await page.locator("tr[data-key]").evaluateAll((all) => all.map((tr) => tr.dataset.key));
	return rows.length > 0 && rows.every((key) => key.includes("causal") && key.includes("backward"));
});
await test("without scripts two files are compared", async () => {
	const page = await plain.newPage();
	const file = (name, ms) => ({ name, mimeType: "application/json", buffer: Buffer.from(`{"cell": "copy/forward", "ms": ${ms}}\n`) });
	await page.goto(`${server}/compare`);
	await page.getByLabel("Base file").setInputFiles(file("before.jsonl", 1));
	await page.getByLabel("Target file").setInputFiles(file("after.jsonl", 1.25));
	await page.getByRole("button", { name: "Compare files" }).click();
	return await page.locator("h1").innerText() === "after.jsonl is slower in 1 of 1 cells" && await page.locator("tbody tr", { hasText: "copy/forward" }).count() === 1;
});
await plain.close();

if (await (await browser.newPage()).goto(server).then((answer) => answer.text()).then((text) => text.includes('name=uplot')))
	await test("the zoom of a history stands in its address, and comes back from there", async () => {
		const page = await browser.newPage();
		const shown = () => page.locator("[data-chart]").getAttribute("data-shown");
		await page.goto(server + pages.history);
		await page.locator(".u-over").waitFor({ timeout: 30000 });
		const whole = await shown(), box = await page.locator(".u-over").boundingBox();
		await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.8, box.y + 60, { steps: 5 });
		await page.mouse.up();
		await page.waitForURL(/since=.*until=/, { timeout: 20000 });
		await page.reload();
		await page.locator(".u-over").waitFor({ timeout: 30000 });
		const [from, to] = (await shown()).split(" ").map(Number), [first, last] = whole.split(" ").map(Number);
		const fewer = await page.locator("tbody tr").count();
		await page.locator(".u-over").dblclick();
		await page.waitForURL((url) => !url.searchParams.has("since"), { timeout: 20000 });
		await page.reload();
		const all = await page.locator("tbody tr").count();
		await page.close();
		console.log(`# ${first} to ${last}, zoomed ${from} to ${to}; ${fewer} of ${all} rows`);
		return from > first && to < last && fewer > 0 && fewer < all;
	});
await test("the first page with everything is at most 150 kB, a comparison at most 60 kB", async () => {
	const page = await browser.newPage();
	let bytes = 0;
	page.on("response", async (r) => { bytes += (await r.body().catch(() => Buffer.alloc(0))).length; });
	await page.goto(server);
	await page.waitForTimeout(500);
	const comparison = (await (await fetch(server + pages.comparison)).arrayBuffer()).byteLength;
	console.log(`# first page ${bytes} bytes, comparison ${comparison} bytes`);
	return bytes <= 150000 && comparison <= 60000;
});
await browser.close();
end();
