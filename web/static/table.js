// Tables that sort, filter and open rows in place; without scripts the same links lead to the server's views.

const number = (cell) => (cell?.dataset.v === undefined ? Number.NaN : Number(cell.dataset.v));

function keepInAddress(name, value) {
	const url = new URL(location.href);
	if (value) url.searchParams.set(name, value);
	else url.searchParams.delete(name);
	history.replaceState(null, "", url);
}

function rowsOf(table) { // each with its opened row
	const rows = [];
	for (const tr of table.tBodies[0].rows)
		if (tr.dataset.of === undefined) rows.push([tr]);
		else rows.at(-1).push(tr);
	return rows;
}

function sortBy(table, name, falling) {
	const heads = [...table.tHead.rows[0].cells];
	const column = heads.findIndex((th) => th.dataset.sort === name);
	if (column < 0) return;
	const isText = rowsOf(table).every(([tr]) => Number.isNaN(number(tr.cells[column])));
	const rows = rowsOf(table).sort(([a], [b]) => {
		const x = a.cells[column], y = b.cells[column];
		if (isText) return (falling ? -1 : 1) * x.textContent.localeCompare(y.textContent);
		if (Number.isNaN(number(x))) return 1; // unknown values are last in either order
		if (Number.isNaN(number(y))) return -1;
		return (falling ? -1 : 1) * (number(x) - number(y));
	});
	table.tBodies[0].append(...rows.flat());
	for (const th of heads) th.removeAttribute("aria-sort");
	heads[column].setAttribute("aria-sort", falling ? "descending" : "ascending");
}

function enhanceSort(table) {
	table.tHead.addEventListener("click", (event) => {
		const th = event.target.closest("th[data-sort]");
		if (!th || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		const falling = th.getAttribute("aria-sort") === "ascending";
		for (const other of document.querySelectorAll("table[data-sorts]")) sortBy(other, th.dataset.sort, falling);
		keepInAddress("sort", (falling ? "-" : "") + th.dataset.sort);
	});
}

function enhanceFilter(input) {
	const apply = () => {
		const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
		let shown = 0;
		for (const table of document.querySelectorAll("table[data-filters]")) {
			let here = 0;
			for (const [tr, ...rest] of rowsOf(table)) {
				const text = `${tr.textContent} ${tr.dataset.key ?? ""}`.toLowerCase();
				const hide = !words.every((w) => text.includes(w));
				for (const row of [tr, ...rest]) row.hidden = hide;
				here += !hide;
			}
			shown += here;
			const fold = table.closest("details.fold");
			if (fold && words.length) fold.open = here > 0;
			(fold ?? table.closest("section")).hidden = here === 0;
		}
		const none = document.getElementById("no-match");
		if (none) none.hidden = shown > 0;
	};
	input.addEventListener("input", () => {
		keepInAddress(input.name, input.value);
		apply();
	});
	apply();
}

async function openRow(link) {
	const tr = link.closest("tr"), below = tr.nextElementSibling;
	const url = new URL(link.href);
	if (below?.dataset.of === tr.id) { // close it again
		below.remove();
		link.setAttribute("aria-expanded", "false");
		keepOpen();
		return;
	}
	link.classList.add("loading");
	try {
		const answer = await fetch(url);
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const row = page.querySelector(`tr[data-of="${tr.id}"]`);
		if (!row) throw new Error("the row is not there any more");
		tr.after(document.importNode(row, true));
		link.setAttribute("aria-expanded", "true");
		tr.nextElementSibling.dispatchEvent(new Event("replaced", { bubbles: true }));
		keepOpen();
	} catch {
		location.href = link.href; // the page shows the error
	}
	link.classList.remove("loading");
}

function keepOpen() {
	const open = [...document.querySelectorAll("tr[data-of]")].map((tr) => tr.dataset.of.slice(1));
	keepInAddress("open", open.length ? open.join(".") : "none");
}

// From the chart to the row: unfold its table, open the row, and scroll to it.
async function showRow(name) {
	const tr = document.getElementById(name);
	const fold = tr.closest("details");
	if (fold) fold.open = true;
	tr.hidden = false;
	if (tr.nextElementSibling?.dataset.of !== name) await openRow(tr.querySelector("a[data-open]"));
	tr.scrollIntoView({ block: "start" });
	tr.querySelector("a[data-open]").focus({ preventScroll: true });
}

export function enhanceTables(root) {
	for (const table of root.querySelectorAll("table[data-sorts]")) enhanceSort(table);
	for (const input of root.querySelectorAll("input[data-filter]")) enhanceFilter(input);
	for (const link of root.querySelectorAll("a[data-cell]"))
		link.addEventListener("click", (event) => {
			if (event.ctrlKey || event.metaKey || event.shiftKey || !document.getElementById(link.dataset.cell)) return;
			event.preventDefault();
			showRow(link.dataset.cell);
		});
	for (const link of root.querySelectorAll("a[data-open]"))
		link.addEventListener("click", (event) => {
			if (event.ctrlKey || event.metaKey || event.shiftKey) return;
			event.preventDefault();
			openRow(link);
		});
}
