// The display of causes, over pages_demo: on the alert and on the opened cell, with scripts and without, in both colour schemes, on
// a desktop and on a phone. Usage: node explanation.mjs SERVER
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { json, openBrowser } from "./browser.mjs";
import { end, result, test } from "./tap.mjs";

const server = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await openBrowser();
const { items } = await json(`${server}/api/v1/alerts?limit=20`);

async function explained() { // the alert whose page shows a cause, and its cell's row in the comparison
	for (const alert of items) {
		const page = await (await fetch(`${server}/alerts/${alert.id}`)).text();
		const key = /<summary>Why, in ([^<]+)<\/summary>/.exec(page)?.[1];
		if (!key) continue;
		const { cells } = await json(`${server}/api/v1/comparisons/${alert.comparison}`);
		const n = cells.findIndex((c) => c.cell === key);
		return { alert: `/alerts/${alert.id}`, cell: `/comparisons/${alert.comparison}?open=${n}` };
	}
	throw new Error("no alert says why");
}
const pages = await explained();

// The other colour scheme changes only colours, by style sheets: the page needs no second load, and only their contrast is checked.
const contrast = { type: "rule", values: ["color-contrast"] };
for (const width of [1280, 390]) {
	const context = await browser.newContext({ viewport: { width, height: 900 } });
	for (const [name, path] of Object.entries(pages)) {
		const page = await context.newPage();
		const seen = [];
		page.on("console", (message) => message.type() === "error" && seen.push(message.text()));
		page.on("pageerror", (error) => seen.push(error.message));
		await page.goto(server + path);
		for (const details of await page.locator(".whys details").all()) await details.evaluate((d) => { d.open = true; });
		await page.evaluate(axe);
		for (const [colorScheme, runOnly] of [["light", undefined], ["dark", contrast]]) {
			await page.emulateMedia({ colorScheme });
			const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
			result(wide <= 0, `${name} at ${width} ${colorScheme}: nothing sticks out, unfolded`, `${wide} px`);
			const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], runOnly: only }), runOnly);
			const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
			result(serious.length === 0, `${name} at ${width} ${colorScheme}: axe finds nothing serious`,
				serious.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`).join("\n"));
			result(seen.length === 0, `${name} at ${width} ${colorScheme}: no error, no policy broken`, seen.join("\n"));
		}
		await page.close();
	}
	await context.close();
}

const plain = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
for (const [name, path] of Object.entries(pages)) {
	await test(`${name} without scripts: sentence, causes, traffic, bars and roofline are there`, async () => {
		const page = await plain.newPage();
		await page.goto(server + path);
		const why = page.locator(".whys").first(), folded = page.locator("details.whys > summary").first();
		if (await folded.count()) await folded.click();
		return /^Why: \S/.test(await why.locator("p.why").first().innerText())
			&& await why.locator(".share").count() > 0 && !await why.getByText("Memory traffic").isVisible()
			&& await why.locator("details.counted > summary").click().then(() => why.getByText("Memory traffic").isVisible())
			&& await why.locator("svg.wait").count() > 4 && await why.locator("svg.roofline path.roof").count() === 3;
	});
}
await test("without scripts what is folded unfolds", async () => {
	const page = await plain.newPage();
	await page.goto(server + pages.alert);
	await page.locator("details.whys > summary").first().click();
	const raw = page.getByText("gpc__cycles_elapsed.max").first();
	if (await raw.isVisible()) return false;
	await page.getByText("All values as they were read").first().click();
	return raw.isVisible();
});
await browser.close();
end();
