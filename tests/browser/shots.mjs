// Screenshots of every page at 390, 768 and 1280 pixels, light and dark. Usage: node shots.mjs SERVER FOLDER [WORD...]
import { mkdirSync } from "node:fs";
import { chooseCell, openBrowser, pagesOf } from "./browser.mjs";

const HIGHEST = 4000; // of a long text its begin: the browser draws no picture of any height
const [server, folder, ...words] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
const pages = await pagesOf(server, await chooseCell(server));
for (const [name, path] of Object.entries(pages)) {
	if (words.length && !words.some((w) => name.includes(w))) continue;
	for (const colorScheme of ["light", "dark"]) { // a chart takes its colours when it is drawn; widths follow from style sheets
		const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme, deviceScaleFactor: 1 });
		for (const width of [1280, 768, 390]) {
			await page.setViewportSize({ width, height: 800 });
			if (width === 1280 || path.startsWith("/history?")) await page.goto(server + path, { waitUntil: "load" });
			if (path.startsWith("/history?")) await page.waitForSelector(".uplot", { timeout: 3000 }).catch(() => {});
			const height = await page.evaluate(() => document.documentElement.scrollHeight);
			await page.setViewportSize({ width, height: Math.min(HIGHEST, height) });
			await page.waitForTimeout(200);
			await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` });
		}
		await page.close();
	}
	console.log(name);
}
await browser.close();
