// A user with scripts: sees a push go from queued to its alert, acknowledges it, filters, sorts, opens, zooms, exports.
// Usage: node live.mjs SERVER PUSH, where PUSH is a script that pushes a slower branch `slow`.
import { execFileSync } from "node:child_process";
import { json, openBrowser } from "./browser.mjs";
import { end, result, test } from "./tap.mjs";

const [server, push] = process.argv.slice(2);
const browser = await openBrowser();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);
const errors = [];
context.on("weberror", (error) => errors.push(error.error().message));
// Presses the keys until the page has reacted: on a busy machine they may arrive before the script is loaded, or be delayed.
const pressUntil = async (page, keys, done) => {
	for (const end = Date.now() + 180000; Date.now() < end;) {
		for (const key of keys) await page.keyboard.press(key);
		if (await page.waitForFunction(done, null, { timeout: 2000 }).then(() => true, () => false)) return true;
	}
	return false;
};
const query = (page, name) => new URL(page.url()).searchParams.get(name);

// ---- live: the page is not reloaded from here on
const queue = await context.newPage(), overview = await context.newPage(), alerts = await context.newPage();
await queue.goto(`${server}/jobs`);
await overview.goto(server);
await alerts.goto(`${server}/alerts`);
await test("the page says that it is live", () => queue.locator(".live[data-state=live]").waitFor({ timeout: 30000 }));
await test("there is no alert yet", () => alerts.getByText("No alert.").waitFor({ timeout: 20000 }));
await queue.evaluate(() => { // every stage that the queue shows, in its order
	window.seen = new Set();
	const look = () => document.querySelectorAll("#queue .v").forEach((v) => window.seen.add(v.textContent));
	new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
	look();
});
await overview.evaluate(() => { // the progress of the job, without redrawing the page: its nodes stay the same
	window.steps = new Set();
	const look = (records) => {
		for (const { target } of records)
			if (target instanceof Element && target.matches("[data-progress]")) window.steps.add(target.textContent);
	};
	new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
});
for (const page of [queue, overview, alerts]) await page.bringToFront();
execFileSync("bash", [push], { stdio: "inherit" });
await test("the queue shows the pushed branch at work", () => queue.locator("#queue .card, #queue tr", { hasText: "slow" }).first().waitFor({ timeout: 60000 }));
await test("and its verdict, by itself", () => queue.locator("#queue tr", { hasText: "slow" }).filter({ hasText: "regression" }).first().waitFor({ timeout: 120000 }));
const seen = await queue.evaluate(() => [...window.seen].join(" "));
result(/building|checking|measuring|sent/.test(seen), "stages were seen on the way", seen);
await test("the overview has the regression", () => overview.locator("#overview tr", { hasText: "slow" }).filter({ hasText: "regression" }).waitFor({ timeout: 30000 }));
await test("its heading is the finding, without a reload", () => overview.locator("h1", { hasText: /^slow is (up to )?[0-9.]+ % slower/ }).waitFor({ timeout: 30000 }));
await test("and that of its browser tab", async () => /^slow is (up to )?[0-9.]+ % slower/.test(await overview.title()));
const steps = await overview.evaluate(() => [...window.steps]);
result(steps.some((s) => /^(run \d+(, confirming)?|\d+ of \d+ checks)$/.test(s)), "and had said how far its job was", JSON.stringify(steps));
await test("the alert appears by itself", () => alerts.locator("section.card", { hasText: "slow" }).waitFor({ timeout: 30000 }));
await queue.close();
await overview.close();

// ---- acknowledge, by the keyboard alone: Tab reaches each element in a sensible order, with a visible focus
const tabTo = async (page, wanted) => {
	for (let i = 0; i < 150; i++) {
		await page.keyboard.press("Tab");
		const at = await page.evaluate(() => {
			const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
			return {
				name: (e.labels?.[0] ?? e).innerText?.trim() ?? "",
				isShown: e.matches(":focus-visible") && (style.outlineStyle !== "none" || style.boxShadow !== "none") && box.top >= 0 && box.bottom <= innerHeight,
			};
		});
		if (!wanted.test(at.name)) continue;
		if (!at.isShown) throw new Error(`the focus on "${at.name}" is not visible`);
		return true;
	}
	throw new Error(`Tab does not reach ${wanted}`);
};
const typist = await context.newPage();
await typist.goto(server);
await test("the keyboard alone opens the alert from the overview", async () => {
	await tabTo(typist, /^Answer A\d+$/);
	await typist.keyboard.press("Enter");
	await typist.waitForURL(/\/alerts\/\d+$/, { timeout: 30000 });
});
await test("and acknowledges it, with a reason", async () => {
	await tabTo(typist, /^Reason$/);
	await typist.keyboard.type("the tile is on purpose");
	await tabTo(typist, /on it$/);
	await typist.keyboard.press("Enter");
	await typist.locator(".life", { hasText: "the tile is on purpose" }).waitFor({ timeout: 30000 });
});
await test("the list of alerts shows it by itself", () => alerts.locator("section.card .life", { hasText: "the tile is on purpose" }).waitFor({ timeout: 30000 }));
await typist.close();
const alert = (await json(`${server}/api/v1/alerts`)).items[0];
result(alert.state === "acknowledged", "and the API says so", JSON.stringify(alert.events));

// ---- one comparison
const page = await context.newPage();
const path = `/comparisons/${alert.comparison}`;
await page.goto(`${server}${path}?open=none`);
await test("a filter leaves the rows that fit, and stands in the address", async () => {
	await page.fill("input[data-filter]", "causal backward");
	const keys = await page.locator("tr[data-key]:visible").evaluateAll((all) => all.map((tr) => tr.dataset.key));
	return keys.length > 0 && keys.every((k) => k.includes("causal") && k.includes("backward")) && query(page, "q") === "causal backward";
});
await test("the address alone brings the same view", async () => {
	await page.reload();
	return await page.locator("tr[data-key]:visible").count() === 1;
});
await page.goto(`${server}${path}?open=none`);
await test("a head sorts, both ways", async () => {
	const values = () => page.locator("table[data-sorts]").first().locator("tbody tr td:nth-child(3)").evaluateAll((all) => all.map((td) => Number(td.dataset.v)));
	await page.getByRole("columnheader", { name: "Change" }).first().click();
	const rising = await values();
	const word = await page.getByRole("columnheader", { name: "Change" }).first().getAttribute("aria-sort");
	await page.getByRole("columnheader", { name: "Change" }).first().click();
	const falling = await values();
	const sorted = (v) => [...v].sort((a, b) => a - b);
	return word === "ascending" && String(rising) === String(sorted(rising)) && String(falling) === String(sorted(falling).reverse()) && query(page, "sort") === "-change";
});
await test("a row opens in place and closes again", async () => {
	const link = page.locator("a[data-open]").first();
	await link.click();
	await page.locator("td.open").waitFor({ timeout: 20000 });
	const open = query(page, "open");
	const text = await page.locator("td.open").innerText();
	await link.click();
	return /^\d+$/.test(open) && /Throughput[\s\S]*SM clock[\s\S]*Runs, calls[\s\S]*Kernels[\s\S]*Reproduce/.test(text) && !/Phases/.test(text) && await page.locator("td.open").count() === 0;
});
await test("a command is copied", async () => {
	await page.locator("a[data-open]").first().click();
	await page.locator("td.open summary", { hasText: "Reproduce" }).click();
	await page.locator("td.open [data-copy]").first().click();
	return (await page.evaluate(() => navigator.clipboard.readText())).startsWith("flopwatch compare ");
});
await test("the table is exported", async () => {
	const [download] = await Promise.all([
		page.waitForEvent("download", { timeout: 20000 }).catch(() => null),
		page.getByRole("link", { name: "CSV" }).click(),
	]);
	const text = download ? await (await fetch(download.url())).text() : await page.locator("body").innerText();
	return text.startsWith("cell,verdict,") && text.split("\r\n").length >= 5;
});

// ---- history
const { cells } = await json(`${server}/api/v1${path}`);
await page.goto(`${server}/history?repo=kernels&cell=${encodeURIComponent(cells[0].cell)}`);
if (await page.locator('meta[name="uplot"]').count()) {
	await test("the chart becomes one that zooms", async () => {
		await page.locator(".u-over").waitFor({ timeout: 30000 });
		const before = await page.locator("[data-chart]").getAttribute("data-shown");
		const box = await page.locator(".u-over").boundingBox();
		await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.9, box.y + 60, { steps: 5 });
		await page.mouse.up();
		await page.waitForFunction((old) => document.querySelector("[data-chart]").dataset.shown !== old, before, { timeout: 20000 });
	});
	await test("keys step through its points, and Enter opens one", async () => {
		await page.reload();
		await page.locator(".uplot").focus();
		await page.keyboard.press("Home");
		await page.getByText(/^[0-9a-f]{10}: /).waitFor({ timeout: 20000 });
		await page.keyboard.press("Enter");
		await page.waitForURL(/\/comparisons\/\d+$/, { timeout: 20000 });
	});
} else {
	console.log("# the chart library is not built in; pages keep the drawing of the server");
	await test("the server's drawing stays", async () => await page.locator("svg.chart[role]").count() === 1);
}

// ---- colour scheme, keys
await test("the light is chosen and stays chosen", async () => {
	await page.goto(server);
	await page.locator("[data-switch=light]").click();
	await page.locator("[data-switch=light]").click();
	await page.reload();
	return await page.evaluate(() => document.documentElement.dataset.theme) === "dark";
});
await test("the keyboard finds, walks and goes", async () => {
	const found = await pressUntil(page, ["/"], () => document.activeElement.name === "q");
	await page.evaluate(() => document.activeElement.blur());
	const row = await pressUntil(page, ["j"], () => document.querySelectorAll("tr.at").length === 1);
	const help = await pressUntil(page, ["?"], () => document.querySelector("dialog#keys").open);
	await page.keyboard.press("Escape");
	const gone = await pressUntil(page, ["g", "d"], () => location.pathname === "/devices");
	return found && row && help && gone;
});
await test("a commit is found by its digits", async () => {
	await page.fill(".find input", alert.target.slice(0, 8));
	await page.press(".find input", "Enter");
	await page.waitForURL(/\/commits\/[0-9a-f]{40}$/, { timeout: 20000 });
});

// ---- the same steps without scripts
const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
await test("without scripts the alert is resolved by a form", async () => {
	await plain.goto(`${server}/alerts?state=acknowledged`);
	await plain.fill("input[name=reason]", "done by hand");
	await plain.getByRole("button", { name: "Fixed" }).click();
	await plain.waitForURL(/\/alerts/, { timeout: 20000 });
	return (await json(`${server}/api/v1/alerts`)).items[0].state === "resolved";
});
result(errors.length === 0, "no script failed on the way", errors.join("\n"));
await browser.close();
end();
