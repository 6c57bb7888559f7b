// Live updates: on an event of the server, fetch the page again and replace the changed regions.
// Only the server generates HTML.

const POLL_MS = 15000, GATHER_MS = 250, REST_MS = 1500, SPEAK_MS = 5000;

let source, timer, poll, wanted = [], loading = false, again = false, spokeAt = 0, drawnAt = 0;

function tell(state, text) {
	const light = document.querySelector(".live");
	if (!light) return;
	light.hidden = false;
	light.dataset.state = state;
	light.textContent = text;
}

// Announce a region's text to screen readers, at a limited rate.
function speak(text) {
	const voice = document.getElementById("voice");
	if (!voice || !text || Date.now() - spokeAt < SPEAK_MS) return;
	spokeAt = Date.now();
	voice.textContent = text;
}

function isBusy(region) { // the user is typing in it, or typed a reason that is not sent yet
	const active = document.activeElement;
	return (active && region.contains(active) && active.matches("input, textarea, select")) ||
		[...region.querySelectorAll("input:not([type=hidden]), textarea")].some((field) => field.value !== field.defaultValue);
}

function put(fresh) {
	const heading = document.querySelector("h1"), finding = fresh.querySelector("h1");
	if (heading && finding && heading.textContent !== finding.textContent) {
		heading.textContent = finding.textContent;
		document.title = fresh.title;
	}
	for (const region of document.querySelectorAll("[data-live]")) {
		const next = fresh.getElementById(region.id);
		if (!next) {
			location.reload(); // the page has another structure now, such as a job that ended
			return;
		}
		const drawn = next.innerHTML.replace(/(<time [^>]*>)[^<]*/g, "$1"); // an age alone is no change
		if (drawn === region.dataset.drawn || isBusy(region)) continue;
		const open = [...region.querySelectorAll("details[open][id]")].map((d) => d.id);
		const focus = document.activeElement?.id;
		region.dataset.drawn = drawn;
		region.replaceChildren(...document.importNode(next, true).childNodes);
		for (const id of open) document.getElementById(id)?.setAttribute("open", "");
		if (focus) document.getElementById(focus)?.focus();
		region.dispatchEvent(new Event("replaced", { bubbles: true }));
		speak(next.dataset.announcement);
	}
}

async function refresh() {
	if (loading) {
		again = true;
		return;
	}
	loading = true;
	const main = document.getElementById("main");
	main.setAttribute("aria-busy", "true");
	try {
		const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
		if (answer.ok) put(new DOMParser().parseFromString(await answer.text(), "text/html"));
		main.classList.toggle("stale", !answer.ok);
	} catch {
		main.classList.add("stale");
	}
	main.removeAttribute("aria-busy");
	loading = false;
	drawnAt = Date.now();
	if (again) {
		again = false;
		soon();
	}
}

// Events come in groups; rendering a page too often takes processor time from measurements.
function soon() {
	clearTimeout(timer);
	timer = setTimeout(refresh, Math.max(GATHER_MS, drawnAt + REST_MS - Date.now()));
}

// Progress of a running job only replaces its text: rendering the page again would cost too much.
function putProgress(event) {
	const { job, progress: p } = JSON.parse(event.data);
	const words = p.note ? p.note : p.run ? `run ${p.run}${p.set === 2 ? ", confirming" : ""}` : p.checks ? `${p.checked} of ${p.checks} checks` : "";
	for (const place of document.querySelectorAll(`[data-progress="${job}"]`)) place.textContent = words;
}

const kinds = ["job.queued", "job.state", "job.progress", "job.done", "alert.opened", "alert.extended", "alert.named", "alert.explained", "alert.acknowledged", "alert.accepted",
	"alert.invalid", "alert.resolved",
	"bisect.ended", "profile.done", "device.state", "worker.pending", "branch.moved", "branch.gone", "baseline_period.started", "baseline_period.reference_set", "baseline_period.reference_moved", "resync"];

function open() {
	if (source) return;
	source = new EventSource("/api/v1/events");
	source.onopen = () => {
		clearInterval(poll);
		poll = undefined;
		tell("live", "live");
		soon(); // for events missed while disconnected
	};
	source.onerror = () => {
		tell("lost", source.readyState === EventSource.CLOSED ? "polling" : "reconnecting");
		poll ??= setInterval(refresh, POLL_MS);
	};
	source.onmessage = soon;
	source.addEventListener("job.progress", putProgress);
	for (const kind of kinds)
		if (kind === "resync" || wanted.some((w) => kind.startsWith(w))) source.addEventListener(kind, soon);
}

function close() { // a hidden tab closes its connection: browsers allow six for each site
	source?.close();
	source = undefined;
	clearInterval(poll);
	poll = undefined;
	tell("off", "paused");
}

export function followPage() {
	const mark = document.querySelector("[data-follow]");
	if (!mark) return;
	wanted = mark.dataset.follow.split(" ");
	document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
	window.addEventListener("pagehide", close);
	if (!document.hidden) open();
}
