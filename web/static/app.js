// Additions to the HTML of every page: the theme switch, copy buttons, and the modules that the page needs.
import { followPage } from "./live.js";
import { enhanceTables } from "./table.js";
import { listenToKeys } from "./keys.js";

const themes = ["auto", "light", "dark"];

function switchLight() {
	const button = document.querySelector("[data-switch=light]");
	if (!button) return;
	const root = document.documentElement;
	const show = () => {
		const now = root.dataset.theme ?? "auto";
		button.textContent = { auto: "\u25d0", light: "\u25cb", dark: "\u25cf" }[now];
		button.title = button.ariaLabel = `Light: ${now}. Press for ${themes[(themes.indexOf(now) + 1) % 3]}`;
	};
	button.hidden = false;
	button.addEventListener("click", () => {
		const next = themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3];
		if (next === "auto") delete root.dataset.theme;
		else root.dataset.theme = next;
		try {
			if (next === "auto") localStorage.removeItem("light");
			else localStorage.setItem("light", next);
		} catch { /* without storage it lasts until the page is closed */ }
		show();
		document.dispatchEvent(new Event("light"));
	});
	show();
}

// The text of a button is next to it, that of a link with data-copies at its address.
function copyOnClick() {
	document.addEventListener("click", async (event) => {
		const button = event.target.closest("[data-copy], [data-copies]");
		if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
		const label = button.textContent;
		if (button.href) event.preventDefault();
		try {
			await navigator.clipboard.writeText(button.href ? await (await fetch(button.href)).text() : button.parentElement.querySelector("pre, code").textContent);
			button.textContent = "Copied";
		} catch {
			button.textContent = "Not allowed";
		}
		setTimeout(() => { button.textContent = label; }, 1500);
	});
}

// A link with data-png to an SVG file gets a button that saves it as a PNG file of twice its size.
function savePictures() {
	document.addEventListener("click", async (event) => {
		const link = event.target.matches("[data-png] + button") && event.target.previousElementSibling;
		if (!link) return;
		const image = new Image();
		image.src = link.href;
		await image.decode();
		const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
		canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
		Object.assign(document.createElement("a"), { href: canvas.toDataURL("image/png"), download: "flopwatch.png" }).click();
	});
}

// As layout_age: an open page becomes older.
function age(at) {
	const s = Math.floor(Math.abs(Date.now() - at) / 1000);
	const text = s < 3600 ? `${Math.floor(s / 60)} min` : s < 172800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
	return s >= 5184000 ? new Date(at).toISOString().slice(0, 10) : s < 60 ? "just now" : at > Date.now() ? `in ${text}` : `${text} ago`;
}

function keepAges() {
	setInterval(() => {
		for (const time of document.querySelectorAll("time[title]")) time.textContent = age(Date.parse(time.dateTime));
	}, 60000);
}

// Set up a region again after newer HTML replaced it.
function enhance(root) {
	for (const element of root.querySelectorAll("[data-copy], [data-js]")) element.hidden = false;
	for (const link of root.querySelectorAll("[data-png]")) link.after(Object.assign(document.createElement("button"), { className: "quiet", textContent: "PNG" }));
	for (const link of root.querySelectorAll("[data-copies]")) link.textContent = "Copy Markdown";
	enhanceTables(root);
	const charts = root.querySelectorAll("[data-chart]");
	if (charts.length) import("./chart.js").then(({ drawCharts }) => drawCharts(charts));
}

switchLight();
copyOnClick();
keepAges();
savePictures();
enhance(document);
document.addEventListener("replaced", (event) => enhance(event.target));
document.addEventListener("change", (event) => {
	if (event.target.matches("select[data-go]")) event.target.form.requestSubmit();
});
listenToKeys();
followPage();
