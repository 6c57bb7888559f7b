// Shortcuts: / searches, j and k select rows, Enter opens, [ and ] go to neighbours, g and a letter to a page, ? for help.

const pages = { o: "/", c: "/comparisons", h: "/history", m: "/heat", p: "/peers", a: "/alerts", q: "/jobs", d: "/devices", w: "/glossary" };
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

function help() {
	const dialog = document.getElementById("keys");
	if (!dialog) return;
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
			if (pages[event.key]) location.href = pages[event.key];
			return;
		}
		went = event.key === "g";
		const action = actions[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	});
}
