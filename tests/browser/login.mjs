// A user logs in at a provider of another site, in a real browser: which cookies it sends is the browser's decision.
// login.mjs SERVER USER [off]: prints where the user is at the end, and the buttons there; "off": without scripts.
import { openBrowser } from "./browser.mjs";

const [server, user, scripts] = process.argv.slice(2);
const browser = await openBrowser();
const context = await browser.newContext({ javaScriptEnabled: scripts !== "off" });
const page = await context.newPage();
page.setDefaultTimeout(60000);
await page.goto(`${server}/alerts`);
await page.click("text=Log in at localhost");
await page.fill("input[name=login]", user);
await page.fill("input[name=password]", "any");
await page.click("button[type=submit]");
await page.click("button[type=submit]"); // consent
await page.waitForURL(`${server}/alerts`);
console.log(new URL(page.url()).pathname, await page.locator("form[action='/logout'] button").innerText());
await page.click("form[action='/logout'] button");
await page.click("text=Yes, sign me out"); // of the provider, which returns the browser
await page.waitForURL(`${server}/login/oidc/logged-out*`);
await page.goto(`${server}/alerts`);
console.log(new URL(page.url()).pathname);
await browser.close();
