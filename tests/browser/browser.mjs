// Shared by tests and screenshots: a browser that connects only to the daemon, and the list of pages.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const places = [process.env.CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

// `args`: further options of the browser.
export function openBrowser(args = []) {
	const executablePath = places.find((place) => place && existsSync(place));
	if (!executablePath) throw new Error("no chromium; install the package or set CHROMIUM");
	return chromium.launch({
		executablePath,
		args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", ...args],
	});
}

export async function json(address) {
	const answer = await fetch(address);
	if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
	return answer.json();
}

// A comparison with a verdict to display: a regression if there is one.
export async function chooseCell(server) {
	const { items } = await json(`${server}/api/v1/comparisons?limit=100`);
	const comparison = items.find((c) => c.verdict === "regression") ?? items[0];
	const { cells } = await json(`${server}/api/v1/comparisons/${comparison.id}`);
	return { comparison, cell: cells.find((c) => c.verdict === "regression") ?? cells[0], items };
}

export async function pagesOf(server, { comparison, cell, items }) {
	const history = `/history?repo=${comparison.repo}&cell=${encodeURIComponent(cell.cell)}`;
	const pages = {
		overview: "/",
		branches: "/branches",
		branch: `/branches?repo=${comparison.repo}&branch=${encodeURIComponent(comparison.branch)}`,
		repo: `/repos/${comparison.repo}`,
		settings: "/settings",
		comparisons: "/comparisons",
		comparison: `/comparisons/${comparison.id}`,
		history: `${history}&branch=main&overlay=${encodeURIComponent(comparison.branch)}`,
		"history-cells": "/history",
		heat: "/heat",
		peers: "/peers",
		commit: `/commits/${comparison.target}`,
		alerts: "/alerts",
		queue: "/jobs",
		job: `/jobs/${comparison.job}`,
		devices: "/devices",
		compare: "/compare",
		"compare-pair": `/compare?repo=${comparison.repo}&base=main&target=${encodeURIComponent(comparison.branch)}`,
		notifications: "/notifications",
		bisects: "/bisects",
		login: "/login",
		help: "/help",
		reference: "/reference",
		"reference-config": "/reference/flopwatchd.yml.5",
		glossary: "/glossary",
		troubleshooting: "/troubleshooting",
		api: "/api",
		search: "/search?q=attention",
		nothing: "/nothing",
	};
	const [alert] = (await json(`${server}/api/v1/alerts?limit=1`)).items;
	if (alert) pages.alert = `/alerts/${alert.id}`;
	for (const { id, state } of (await json(`${server}/api/v1/bisects`)).items)
		pages[state === "done" ? "bisect" : `bisect-${state}`] ??= `/bisects/${id}`;
	const [running] = (await json(`${server}/api/v1/jobs?state=measuring&limit=1`)).items;
	if (running) pages["job-running"] = `/jobs/${running.id}`;
	const peer = items.find((c) => c.kind === "peer");
	if (peer) pages["comparison-peer"] = `/comparisons/${peer.id}`;
	for (const verdict of ["undecided", "failed", "improvement", "identical"]) {
		const other = items.find((c) => c.verdict === verdict);
		if (other) pages[`comparison-${verdict}`] = `/comparisons/${other.id}`;
	}
	return pages;
}
