// The first screen of a comparison, over pages_demo: content that must be within the first 900 pixels, no element outside of its
// box at any width, and a picture that leads to its cells, with scripts and without. Usage: node screen.mjs SERVER
import { chooseCell, openBrowser } from "./browser.mjs";
import { end, result, test } from "./tap.mjs";

const server = process.argv[2];
const browser = await openBrowser();
const { comparison, cell } = await chooseCell(server);
const { cells } = await (await fetch(`${server}/api/v1/comparisons/${comparison.id}`)).json();
const lost = cells.filter((c) => c.verdict === "regression");
const worst = lost.reduce((a, b) => (b.change_pct < a.change_pct ? b : a));
const path = `/comparisons/${comparison.id}`;
const signed = (v) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(2)}`;

async function open(width, colorScheme, address = path, scripts = true) {
	const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled: scripts });
	const page = await context.newPage();
	await page.goto(server + address);
	return page;
}

async function isAbove(locator, pixels) { // the whole element, which must not be empty
	const box = await locator.first().boundingBox();
	return box !== null && box.width > 0 && box.height > 0 && box.y >= 0 && box.y + box.height <= pixels;
}

for (const scripts of [true, false]) {
	const page = await open(1440, "light", path, scripts);
	const name = scripts ? "with scripts" : "without scripts";
	const lead = page.locator("p.lead").first();
	await test(`${name} the first 900 pixels hold the verdict`, () => isAbove(lead.locator(".v", { hasText: "regression" }), 900));
	await test(`${name} they hold the worst cell with its change`, async () =>
		await isAbove(lead.locator(`a[data-cell=c${cells.indexOf(worst)}]`), 900) && (await lead.innerText()).includes(signed(worst.change_pct)));
	await test(`${name} they hold its interval`, async () =>
		(await lead.innerText()).includes(`${signed(worst.ci_low_pct)} … ${signed(worst.ci_high_pct)}`) && isAbove(lead, 900));
	await test(`${name} the title is the finding`, async () =>
		(await page.locator("h1").innerText()).replace(" is up to ", " is ") === `${comparison.branch} is ${Math.abs(worst.change_pct).toFixed(1)} % slower in ${lost.length} of ${cells.length} cells`
		&& (await page.title()).startsWith(await page.locator("h1").innerText()));
	await test(`${name} they hold what to do: answer the alert, measure again, reproduce, copy`, async () => {
		const act = page.locator("#act");
		return await isAbove(act.locator(".v", { hasText: "open" }), 900) && await act.getByRole("link", { name: "Answer" }).isVisible()
			&& await act.getByRole("button", { name: "Measure again" }).isVisible() && await act.getByRole("link", { name: "Reproduce" }).isVisible()
			&& await act.getByRole("link", { name: scripts ? "Copy Markdown" : "Markdown" }).isVisible();
	});
	await test(`${name} groups that lost are first, the others are one line`, async () => {
		const first = await page.locator("#spread .panel").first().locator("li a").evaluateAll((all) => all.map((a) => Number(a.dataset.cell.slice(1))));
		return first.some((n) => cells[n].verdict === "regression") && /^10 forward cells: [−+]0\.\d\d to [−+]0\.\d\d/.test(await page.locator("#spread details.rest:not([open]) > summary").innerText());
	});
	await test(`${name} they say how sure that is`, () => isAbove(page.getByText("How sure:"), 900));
	await test(`${name} they hold the whole picture, a link a cell`, async () =>
		await isAbove(page.locator("#spread"), 900) && await page.locator("#spread li a").count() === cells.length);
	await test(`${name} the picture leads to the opened cell`, async () => {
		const quiet = cells.findIndex((c) => c.verdict === "unchanged");
		await page.locator("#spread details.rest > summary").click();
		await page.locator(`#spread a[data-cell=c${quiet}]`).click();
		await page.locator(`tr[data-of=c${quiet}] td.open`).waitFor({ timeout: 20000 });
		return page.locator(`#c${quiet}`).isVisible();
	});
	await page.context().close();
}

await test("each direction goes from the greatest loss to the greatest gain, and all intervals lie on the axis", async () => {
	const page = await open(1440, "light");
	await page.locator("#spread details.rest > summary").click();
	const panels = await page.locator("#spread .panel").evaluateAll((all) => all.map((panel) => {
		const inside = panel.querySelector("svg.axis").getBoundingClientRect();
		const lines = [...panel.querySelectorAll(".strip line, .strip circle")].map((line) => line.getBoundingClientRect());
		return { cells: [...panel.querySelectorAll("li a")].map((a) => Number(a.dataset.cell.slice(1))),
			isInside: lines.length > 0 && lines.every((line) => line.left >= inside.left - 0.5 && line.right <= inside.right + 0.5) };
	}));
	const rising = (list) => list.every((n, i) => i === 0 || cells[list[i - 1]].change_pct <= cells[n].change_pct);
	return panels.length === 2 && panels.every((panel) => panel.isInside && rising(panel.cells));
});
await test("rows that lost stand first, those that stayed are folded", async () => {
	const page = await open(1440, "light");
	const first = await page.locator("table.cells").first().locator("tbody > tr[data-key]").evaluateAll((all) => all.map((tr) => tr.dataset.key));
	const folded = page.locator("details.fold:not([open])");
	return first.length === lost.length && lost.every((c) => first.includes(c.cell)) && await folded.count() > 0 && !await folded.locator("table").first().isVisible();
});
await test("what was compared is one line that unfolds", async () => {
	const page = await open(1440, "light", path, false);
	const author = page.locator("#setting dt", { hasText: "Author" }).first();
	if (await author.isVisible()) return false;
	await page.locator("#setting > summary").click();
	return author.isVisible();
});

// Style sheets alone depend on width and colours, so one load of a page serves all of them.
const unfolded = await open(1440, "light", `${path}?show=`), folded = await open(1440, "light", `${path}?open=none`);
for (const details of await unfolded.locator("details").all()) await details.evaluate((d) => { d.open = true; });
for (const width of [390, 900, 1440])
	for (const colorScheme of ["light", "dark"]) {
		for (const page of [unfolded, folded]) {
			await page.setViewportSize({ width, height: 900 });
			await page.emulateMedia({ colorScheme });
		}
		const out = await unfolded.evaluate(() => [...document.querySelectorAll(".scroll, main, .card")]
			.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => `${box.className} ${box.innerText.slice(0, 60)}: ${box.scrollWidth} in ${box.clientWidth}`));
		result(out.length === 0, `at ${width} ${colorScheme} no table runs out of its box`, out.join("\n"));
		const row = folded.locator(`tr#c${cells.findIndex((c) => c.cell === cell.cell)}`), text = (await row.innerText()).replace(/\s+/g, " ");
		const wanted = [signed(cell.change_pct), signed(cell.ci_low_pct), signed(cell.ci_high_pct), String(Math.floor(cell.base.median_ms)), String(Math.floor(cell.target.median_ms))];
		result(wanted.every((w) => text.includes(w)), `at ${width} ${colorScheme} a row keeps change, interval and times`, `${text}: ${wanted}`);
	}
for (const page of [unfolded, folded]) await page.context().close();
await test("one screen of home says which branch, how much, which cells, why and what to do", async () => {
	const page = await open(1280, "light", "/", false), missing = []; // scripts would draw the page again meanwhile
	for (const selector of [".alarm b", ".alarm .why a", ".alarm a.button", "tr:has-text('three-stages') .why", "tr:has-text('failed')", ".heat.small tbody tr"])
		if (!await isAbove(page.locator(selector), 800 - 24)) missing.push(selector); // a line to spare
	const bar = (await page.locator(".alarm").first().innerText()).replace(/\s+/g, " "), title = (await page.title()).replace(/\s+/g, " ");
	const rows = await page.locator("table").first().locator("tbody tr").allInnerTexts();
	await page.context().close();
	if (missing.length) throw new Error(`below: ${missing.join(", ")}`);
	return /three-stages is (up to )?\d\.\d % slower in 6 of 20 cells/.test(title) && /worst: .+ backward; .+ ago Answer A\d+/.test(bar) && /failed/.test(rows[0]) && /regression/.test(rows[1]);
});
// The five questions of a visitor on every page that leads to a result: which branch, how much, which cells, why, what to do.
const branch = encodeURIComponent(comparison.branch), first = (list) => list.locator(".alarm").first();
const leads = {
	job: `/jobs/${comparison.job}`,
	commit: `/commits/${comparison.target}`,
	"history of main and the branch": `/history?repo=${comparison.repo}&cell=${encodeURIComponent(worst.cell)}&branch=main&overlay=${branch}`,
	"heat map": `/heat?repo=${comparison.repo}&branch=${branch}`,
	branch: `/branches?repo=${comparison.repo}&branch=${branch}`,
};
for (const [name, address] of Object.entries(leads))
	for (const width of [390, 1280])
		await test(`${name} at ${width}: one screen holds branch, size, cells, cause and the answer`, async () => {
			const page = await open(width, "light", address, false);
			const title = await page.locator("h1").innerText(), box = first(page), text = (await box.innerText()).replace(/\s+/g, " ");
			const seen = await isAbove(page.locator("h1"), 800) && await isAbove(box.getByRole("link", { name: /^Answer A\d+$/ }), 800);
			await page.context().close();
			if (!title.includes(comparison.branch) || !/\d\.\d % slower/.test(title)) throw new Error(title);
			if (!/backward/.test(text) || !/executes|instead of/.test(text)) throw new Error(text);
			return seen;
		});
for (const width of [390, 1280])
	await test(`alerts at ${width}: the first one is answered from the first screen`, async () => {
		const page = await open(width, "light", "/alerts", false);
		const seen = await isAbove(page.locator("section.card").first().getByRole("link", { name: /^Answer A\d+$/ }), 800);
		await page.context().close();
		return seen;
	});
for (const width of [390, 1280])
	await test(`bisects at ${width}: each says branch, size, cells, culprit, for whom, and what to do`, async () => {
		const page = await open(width, "light", "/bisects", false), rows = page.locator("#bisects tbody tr");
		const title = await page.locator("h1").innerText(), seen = await isAbove(rows.last(), 800);
		const texts = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
		await page.context().close();
		const found = texts.find((text) => text.includes("culprit")) ?? "";
		const wanted = ["Bisect ", "kernels main", "requested by noor", "forward: wider tiles", "8 cells, worst ", "−2.87 %", "push a fix, or answer A"];
		const missing = wanted.filter((words) => !found.includes(words));
		if (missing.length) throw new Error(`${found}: ${missing}`);
		if (title !== "Bisects: 1 found its culprit, 1 is running, 1 failed") throw new Error(title);
		return seen && texts.some((text) => text.includes("wait for J")) && texts.some((text) => text.includes("request it again"));
	});
await test("next to a peer the heading, the sign and the sentence say how many cells are slower and faster", async () => {
	const page = await open(1280, "light", "/peers", false);
	const title = await page.locator("h1").innerText(), finding = /2 of 20 cells up to \d\.\d % slower, 6 up to \d+\.\d % faster$/;
	await page.locator("section p a", { hasText: /^C\d+$/ }).first().click();
	const own = await page.locator("h1").innerText(), sign = await page.locator(".lead .v").first().innerText();
	await page.context().close();
	if (!finding.test(title) || !finding.test(own)) throw new Error(`${title}; ${own}`);
	return sign.endsWith("mixed");
});
await test("a phone has a bar of three pages and More, which has the others", async () => {
	const page = await open(390, "light", "/", false);
	const shown = async () => (await page.locator(".top nav a:visible").allInnerTexts()).map((text) => text.replace(/\s*\d+$/, "")).join();
	const before = await shown();
	await page.getByRole("button", { name: "More" }).click();
	const after = await shown();
	await page.context().close();
	return before === "Overview,Alerts,Queue" && after === "Overview,Alerts,Queue,Branches,History,Devices,Help";
});
await test("a time is an age, with the time itself as its title", async () => {
	const page = await open(1280, "light", "/comparisons");
	const time = page.locator("td time").first(), text = await time.innerText(), title = await time.getAttribute("title");
	await page.context().close();
	return /^(just now|\d+ (min|h|d) ago)$/.test(text) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(title);
});
for (const address of ["/", "/branches", ...Object.values(leads), "/repos/kernels", "/settings", "/comparisons", "/jobs", "/devices", "/alerts", "/bisects", "/bisects/1", "/peers"]) {
	const page = await open(390, "light", address);
	for (const width of [390, 900]) {
		await page.setViewportSize({ width, height: 900 });
		const out = await page.evaluate(() => [...document.querySelectorAll(".scroll, main")]
			.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => `${box.innerText.slice(0, 60)}: ${box.scrollWidth} in ${box.clientWidth}`));
		result(out.length === 0, `${address} at ${width}: no table runs out of its box`, out.join("\n"));
	}
	await page.context().close();
}
await browser.close();
end();
