// Screenshots of every page at 390, 768 and 1280 pixels, light and dark. Usage: node shots.mjs SERVER FOLDER [WORD...]
import { mkdirSync } from "node:fs";
import { chooseCell, openBrowser, pagesOf } from "./browser.mjs";

const [server, folder, ...words] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
const pages = await pagesOf(server, await chooseCell(server));
for (const [name, path] of Object.entries(pages)) {
	if (words.length && !words.some((w) => name.includes(w))) continue;
	for (const width of [390, 768, 1280])
		for (const colorScheme of ["light", "dark"]) {
			const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, deviceScaleFactor: 1 });
			await page.goto(server + path, { waitUntil: "load" });
			if (path.startsWith("/history?")) await page.waitForSelector(".uplot", { timeout: 3000 }).catch(() => {});
			await page.waitForTimeout(300);
			await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
			await page.close();
		}
	console.log(name);
}
await browser.close();
