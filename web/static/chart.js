// The interactive history: drag to zoom, move the cursor with keys, click to open the comparison. Without the chart library,
// or if the points cannot be fetched, the server's chart stays.

const version = document.querySelector('meta[name="uplot"]');
let library;

function load() {
	library ??= new Promise((done, failed) => {
		const [js, css] = version.content.split(" ");
		document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: css }));
		document.head.append(Object.assign(document.createElement("script"), { src: js, onload: done, onerror: failed }));
	});
	return library;
}

const dashes = [[], [7, 3], [2, 3], [10, 3, 2, 3], [5, 2], [1, 3]]; // the same as in style.css for the server's chart

// The URL contains the zoom, as times of the first and last visible point, so that it can be shared.
function zoomOf(points, xs, from, to) {
	const shown = xs.filter((_, i) => points.some((line) => { const at = Date.parse(line[i]?.finished_at); return at >= from && (!to || at < to); }));
	return shown.length ? [shown[0], shown.at(-1)] : undefined;
}

function keepZoom(points, xs, min, max) {
	const address = new URL(location.href), whole = min <= xs[0] && max >= xs.at(-1);
	const times = xs.flatMap((x, i) => (x < min || x > max ? [] : points.map((line) => Date.parse(line[i]?.finished_at)))).filter((at) => at);
	for (const [name, at] of [["since", Math.min(...times)], ["until", Math.max(...times) + 1]]) {
		if (whole || !times.length) address.searchParams.delete(name);
		else address.searchParams.set(name, new Date(at).toISOString());
	}
	if (address.href !== location.href) history.replaceState(history.state, "", address);
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// A canvas needs the resolved colour of the current theme.
function ink(name) {
	const probe = Object.assign(document.createElement("span"), { hidden: true });
	probe.style.color = colour(name);
	document.body.append(probe);
	const decided = getComputedStyle(probe).color;
	probe.remove();
	return decided;
}

async function historyOf(address) {
	const answer = await fetch(`${address}&limit=10000`);
	if (!answer.ok) throw new Error(`${answer.status}`);
	const history = await answer.json();
	history.items.reverse(); // oldest first
	return history;
}

// Events other than points: an environment change, a step or a drift.
function marksOf({ items, baseline_periods = [], change_points = [] }, place) {
	const marks = [];
	const at = (find) => { const i = items.findIndex(find); return i < 0 ? undefined : place(items[i]); };
	for (const e of baseline_periods) marks.push({ x: at((p) => p.baseline_period === e.id), tone: "--warn", text: "another environment" });
	for (const c of change_points) marks.push({ x: at((p) => p.commit === c.commit), tone: c.change_pct < 0 ? "--bad" : "--good", text: c.kind });
	return marks.filter((m) => m.x !== undefined);
}

// One x for all lines: time, or the number of a push. A branch begins behind the commit that it leaves from, others end together.
function join(lines, field, scale, byDate, origins) {
	const after = lines.map((_, k) => (origins[k] ? lines[0].findIndex((p) => p.commit.startsWith(origins[k])) + 1 : 0));
	const longest = Math.max(...lines.map((l, k) => (after[k] ? 0 : l.length)));
	const places = new Map();
	lines.forEach((line, k) => line.forEach((p, i) => {
		const x = byDate ? Date.parse(p.finished_at) / 1000 : i + (after[k] ? longest - lines[0].length + after[k] : longest - line.length);
		if (!places.has(x)) places.set(x, []);
		places.get(x)[k] = p;
	}));
	const xs = [...places.keys()].sort((a, b) => a - b);
	const points = lines.map((_, k) => xs.map((x) => places.get(x)[k]));
	return { xs, points, after, ys: points.map((line) => line.map((p) => (p?.[field] == null ? null : p[field] * scale))) };
}

// The ends of a point's interval, in the displayed unit.
function ends(p, field, scale) {
	if (field === "value" || !p || p[field] == null || p.ci_low_pct == null || p.change_pct == null) return [null, null];
	const low = 1 + p.ci_low_pct / 100, high = 1 + p.ci_high_pct / 100, change = 1 + p.change_pct / 100;
	if (field === "change_pct") return [p.ci_low_pct, p.ci_high_pct];
	if (field === "reference_change_pct") return [p.reference_ci_low_pct, p.reference_ci_high_pct];
	if (field === "median_ms") return [p[field] * change / high, p[field] * change / low];
	return [scale * p[field] * low / change, scale * p[field] * high / change];
}

function describe(p, field, scale, unit) {
	if (!p) return "no point";
	if (field === "value") return `${p.commit.slice(0, 10)}: ${p.value == null ? "not known" : (scale * p.value).toPrecision(4)} ${unit}`;
	const change = p.change_pct == null ? "" : `, ${p.change_pct > 0 ? "+" : "\u2212"}${Math.abs(p.change_pct).toFixed(2)} % against its base`;
	return `${p.commit.slice(0, 10)}: ${p[field] == null ? "not known" : (scale * p[field]).toPrecision(5)} ${unit}${change}, ${p.verdict.replace("_", " ")}`;
}

async function draw(figure) {
	const { field, unit, axis } = figure.dataset, byDate = axis === "date", scale = Number(figure.dataset.scale);
	const names = [...figure.querySelectorAll(".chart-key")].map((k) => k.textContent.trim());
	const histories = await Promise.all(figure.dataset.chart.split(" ").map(historyOf)), lines = histories.map((h) => h.items);
	await load();
	if (!lines[0].length) return;
	const { xs, points, after, ys } = join(lines, field, scale, byDate, (figure.dataset.origins ?? "").split(","));
	const limits = (figure.dataset.limit ?? "").split(" ").filter(Boolean).map(Number); // y of a loss, y of a gain
	const edges = points[0].map((p) => ends(p, field, scale));
	const strokes = ["--link", "--bad", "--warn", "--good", "--dim", "--ink"].map(ink), grid = { stroke: ink("--line"), width: 1 }, dim = ink("--dim");
	const say = Object.assign(document.createElement("p"), { className: "dim", ariaLive: "polite" });
	say.textContent = "Drag to zoom, double-click to see all, arrow keys to move, Enter or a click to open.";
	const place = document.createElement("div");
	const show = (i) => { if (i != null) say.textContent = describe(points.find((l) => l[i])?.[i], field, scale, unit); };
	const open = (i) => {
		const p = points.find((l) => l[i])?.[i];
		if (p) location.href = `/comparisons/${p.comparison}`;
	};
	const loss = (u) => { // a regression: a triangle that points down, next to the line
		const { ctx } = u;
		ctx.save();
		ctx.fillStyle = strokes[1];
		points[0].forEach((p, i) => {
			if (field === "value" || p?.verdict !== "regression" || ys[0][i] == null || xs[i] < u.scales.x.min || xs[i] > u.scales.x.max) return;
			const x = u.valToPos(xs[i], "x", true), y = u.valToPos(ys[0][i], "y", true), r = 6 * devicePixelRatio;
			ctx.beginPath();
			ctx.moveTo(x, y + r);
			ctx.lineTo(x + r, y - r);
			ctx.lineTo(x - r, y - r);
			ctx.fill();
		});
		ctx.restore();
	};
	const threshold = (u) => { // below everything else
		if (limits.length < 2) return;
		const { ctx } = u, { left, width } = u.bbox, [loss_y, gain_y] = limits.map((y) => u.valToPos(y, "y", true));
		ctx.save();
		ctx.fillStyle = ink("--sunk");
		ctx.fillRect(left, Math.min(loss_y, gain_y), width, Math.abs(loss_y - gain_y));
		ctx.strokeStyle = strokes[1];
		ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
		ctx.beginPath();
		ctx.moveTo(left, loss_y);
		ctx.lineTo(left + width, loss_y);
		ctx.stroke();
		ctx.restore();
	};
	const leave = (u) => { // from the first line to a branch's first point
		const { ctx } = u;
		ctx.save();
		ctx.strokeStyle = dim;
		ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
		after.forEach((n, k) => {
			const from = points[0].indexOf(lines[0][n - 1]), to = points[k].indexOf(lines[k][0]);
			if (!n || ys[0][from] == null || ys[k][to] == null) return;
			ctx.beginPath();
			ctx.moveTo(u.valToPos(xs[from], "x", true), u.valToPos(ys[0][from], "y", true));
			ctx.lineTo(u.valToPos(xs[to], "x", true), u.valToPos(ys[k][to], "y", true));
			ctx.stroke();
		});
		ctx.restore();
	};
	// Points of two environments are not joined.
	const breaks = points[0].flatMap((p, i) => (i && p?.baseline_period && points[0][i - 1]?.baseline_period && p.baseline_period !== points[0][i - 1].baseline_period ? [i] : []));
	const gaps = (u, k, from, to, other) => [...other, ...breaks.filter((i) => i > from && i <= to).map((i) => [u.valToPos(xs[i - 1], "x", true), u.valToPos(xs[i], "x", true)])].sort((a, b) => a[0] - b[0]);
	const happened = marksOf(histories[0], (p) => xs[points[0].indexOf(p)]);
	const marks = (u) => {
		const { ctx } = u, { left, top, width, height } = u.bbox;
		ctx.save();
		for (const { x, tone, text } of happened) {
			const at = u.valToPos(x, "x", true);
			if (at < left || at > left + width) continue;
			ctx.strokeStyle = ctx.fillStyle = ink(tone);
			ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
			ctx.beginPath();
			ctx.moveTo(at, top);
			ctx.lineTo(at, top + height);
			ctx.stroke();
			ctx.fillText(text, at + 4, top + 12 * devicePixelRatio);
		}
		ctx.restore();
	};
	const asked = zoomOf(points, xs, Number(figure.dataset.from), Number(figure.dataset.to));
	let zoomed = false; // once the chart has the zoom of the URL
	const hidden = { stroke: "transparent", points: { show: false } };
	const chart = new window.uPlot({
		width: figure.clientWidth, height: 340,
		scales: { x: { time: byDate }, y: { range: (_, low, high) => {
			const [a, b] = [Math.min(low, ...limits), Math.max(high, ...limits)], pad = (b - a) * 0.1 || Math.abs(b) * 0.01 || 1;
			return [a - pad, b + pad];
		} } },
		legend: { show: false },
		cursor: { points: { size: 9 } },
		bands: [{ series: [lines.length + 2, lines.length + 1], fill: strokes[0].replace("rgb(", "rgba(").replace(")", ", .14)") }],
		axes: [
			{ stroke: dim, grid: { show: false }, ticks: grid, values: byDate ? undefined : (_, v) => v.map((x) => (Number.isInteger(x) ? points[0][xs.indexOf(x)]?.commit.slice(0, 7) ?? "" : "")), space: 70 },
			{ stroke: dim, grid, ticks: grid, size: 64, label: unit, labelSize: 18 },
		],
		series: [{}, ...lines.map((_, k) => ({ ...(k ? {} : { gaps }), label: names[k] ?? "", stroke: strokes[k % 6], width: 1.75, dash: dashes[k % 6], points: { show: xs.length < 120, size: 6, fill: strokes[k % 6] } })), { ...hidden }, { ...hidden }],
		hooks: { drawClear: [threshold], draw: [leave, loss, marks], setCursor: [(u) => show(u.cursor.idx)], setScale: [(u, key) => {
			if (key !== "x") return;
			const { min, max } = u.scales.x;
			figure.dataset.shown = `${min} ${max}`;
			if (zoomed) keepZoom(points, xs, min, max);
		}] },
	}, [xs, ...ys, edges.map((e) => e[0]), edges.map((e) => e[1])], place);
	figure.querySelector("svg[role]").replaceWith(place);
	place.after(say);
	if (asked && (figure.dataset.from !== "0" || figure.dataset.to !== "0")) {
		const margin = asked[0] < asked[1] ? 0 : byDate ? 3600 : 0.5; // around a single point
		chart.setScale("x", { min: asked[0] - margin, max: asked[1] + margin });
	}
	queueMicrotask(() => { zoomed = true; }); // the chart reports its first scale in a microtask
	let at = xs.length - 1;
	Object.assign(chart.root, { tabIndex: 0, role: "application", ariaLabel: `${figure.querySelector("figcaption").textContent}. Arrow keys move through the points.` });
	chart.root.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, Home: -xs.length, End: xs.length }[event.key];
		if (event.key === "Enter") open(at);
		if (step === undefined) return;
		event.preventDefault();
		at = Math.max(0, Math.min(xs.length - 1, at + step));
		chart.setCursor({ left: chart.valToPos(xs[at], "x"), top: chart.valToPos(ys[0][at] ?? 0, "y") });
		show(at);
	});
	let pressed, opening;
	chart.over.addEventListener("mousedown", (event) => { pressed = event.clientX; });
	chart.over.addEventListener("click", (event) => { // not after a drag, nor on a double-click
		const i = chart.cursor.idx;
		clearTimeout(opening);
		if (event.detail === 1 && Math.abs(event.clientX - pressed) < 4 && i != null) opening = setTimeout(open, 300, i);
	});
	new ResizeObserver(() => chart.setSize({ width: figure.clientWidth, height: 340 })).observe(figure);
	document.addEventListener("light", () => location.reload(), { once: true });
}

export function drawCharts(figures) {
	if (!version) return;
	for (const figure of figures) draw(figure).catch(() => { /* the server's chart stays */ });
}
