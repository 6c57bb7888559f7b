// Shortcuts: / searches, j and k select rows, Enter opens, [ and ] go to neighbours, g and a letter to a page, ? for help.

const pages = {
	o: ["/", "overview"], a: ["/alerts", "alerts"], b: ["/branches", "branches"], c: ["/comparisons", "comparisons"], h: ["/history", "history"],
	m: ["/heat", "heat map"], q: ["/jobs", "queue"], d: ["/devices", "devices"], w: ["/glossary", "glossary"],
};
const keys = [["/", "find, or filter the cells of this page"], ["j k", "next, previous row"], ["Enter", "open it"], ["[ ]", "previous, next comparison"]];
let went = false;

function isOff() {
	try {
		return localStorage.getItem("keys") === "off";
	} catch {
		return false;
	}
}

function walk(step) {
	const rows = [...document.querySelectorAll("main tbody tr, main section.card")].filter((r) => r.querySelector("a[href]") && r.offsetParent);
	if (!rows.length) return;
	const at = rows.findIndex((r) => r.classList.contains("at"));
	const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))] ?? rows[0];
	rows[at]?.classList.remove("at");
	next.classList.add("at");
	next.querySelector("a[href]").focus({ preventScroll: true });
	next.scrollIntoView({ block: "nearest" });
}

const kbd = (names) => names.split(" ").map((name) => `<kbd>${name}</kbd>`).join(" ");

// The dialog of keys, which only scripts can show, so that no page contains it. All of its text is constant.
function draw() {
	const dialog = document.createElement("dialog");
	dialog.id = "keys";
	dialog.ariaLabel = "Keys";
	dialog.innerHTML = `<h2>Keys</h2><dl class=facts>${keys.map(([key, text]) => `<dt>${kbd(key)}<dd>${text}`).join("")}<dt>${kbd("g")}, then<dd>a page: ${
		Object.entries(pages).map(([key, [, name]]) => `<span>${kbd(key)} ${name}</span>`).join(" ")}<dt>${kbd("?")}<dd>these keys<dt>${
		kbd("Esc")}<dd>close them</dl><form method=dialog><p><label><input type=checkbox> keys enabled</label></p><button>Close</button></form>`;
	return document.body.appendChild(dialog);
}

function help() {
	const dialog = document.getElementById("keys") ?? draw();
	const box = dialog.querySelector("input");
	box.checked = !isOff();
	box.onchange = () => {
		try {
			if (box.checked) localStorage.removeItem("keys");
			else localStorage.setItem("keys", "off");
		} catch { /* without storage shortcuts stay on */ }
	};
	dialog.showModal();
}

const actions = {
	"/": () => (document.querySelector("input[data-filter]") ?? document.querySelector(".find input"))?.focus(),
	j: () => walk(1),
	k: () => walk(-1),
	"[": () => document.querySelector("a[rel=prev]")?.click(),
	"]": () => document.querySelector("a[rel=next]")?.click(),
	"?": help,
};

export function listenToKeys() {
	document.querySelector("[data-keys]")?.addEventListener("click", help);
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog, .uplot")) return;
		if (event.key !== "?" && isOff()) return;
		if (went) {
			went = false;
			if (pages[event.key]) [location.href] = pages[event.key];
			return;
		}
		went = event.key === "g";
		const action = actions[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	});
}
