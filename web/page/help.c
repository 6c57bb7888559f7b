/* Help: how a verdict is reached, with a worked example whose figures come from the rule itself; and the API in words. */
#include <math.h>
#include <stdio.h>

#include "core/verdict/verdict.h"
#include "web/html/emit.h"
#include "web/html/glossary.h"
#include "web/html/layout.h"
#include "web/html/mark.h"
#include "web/html/troubleshooting.h"
#include "web/page/page.h"

/* Four runs of a kernel that became 2 % slower, then the confirming four: the log ratios a person can follow. */
static const struct run_estimate example[] = {
	{ .set = 1, .n = 24, .d = 0.0194, .q = 4e-7, .d_raw = 0.0194 },
	{ .set = 1, .n = 24, .d = 0.0207, .q = 4e-7, .d_raw = 0.0207 },
	{ .set = 1, .n = 24, .d = 0.0181, .q = 4e-7, .d_raw = 0.0181 },
	{ .set = 1, .n = 24, .d = 0.0198, .q = 4e-7, .d_raw = 0.0198 },
	{ .set = 2, .n = 24, .d = 0.0186, .q = 4e-7, .d_raw = 0.0186 },
	{ .set = 2, .n = 24, .d = 0.0202, .q = 4e-7, .d_raw = 0.0202 },
	{ .set = 2, .n = 24, .d = 0.0190, .q = 4e-7, .d_raw = 0.0190 },
	{ .set = 2, .n = 24, .d = 0.0183, .q = 4e-7, .d_raw = 0.0183 },
};
enum { EXAMPLE = sizeof example / sizeof example[0] };

static void worked_example(struct buf *out)
{
	const double threshold_pct = 1.5;
	struct rule rule;
	struct judgement j;
	struct mark_run process_run[EXAMPLE];
	rule_default(&rule, 20);
	verdict_judge(&rule, threshold_pct, false, example, EXAMPLE, &j);
	for (int i = 0; i < EXAMPLE; i++) {
		double half = 1.96 * sqrt(example[i].q);
		process_run[i] = (struct mark_run){ .change_pct = stats_change_pct(example[i].d),
			.low_pct = stats_change_pct(example[i].d + half),
			.high_pct = stats_change_pct(example[i].d - half),
			.set = example[i].set };
		snprintf(process_run[i].label, sizeof process_run[i].label, "run %d: %+.2f %%", i + 1, process_run[i].change_pct);
	}
	emit_raw(out, "<h2 id=example>A worked example</h2><p>A cell with a threshold of 1.5 %. Eight runs, each a fresh "
		      "process that "
		      "timed 24 pairs of base and target, said:</p>");
	mark_runs(out, process_run, EXAMPLE, threshold_pct,
		"eight runs between -2.1 and -1.8 percent, all below the threshold of -1.5");
	double theta = stats_theta(threshold_pct);
	emit_rawf(out,
		"<ol><li>Their mean as a log ratio is m = %.4f: the target takes e<sup>m</sup> = %.4f times as long.<li>Its "
		"standard "
		"error, from how the runs vary, is %.5f.<li>The threshold as a log ratio is %.4f. The distance between "
		"the two is "
		"%.1f standard errors; %.1f are needed.<li>The first four runs said so, four fresh ones had to say it again, "
		"and "
		"did.</ol><p>",
		j.all.m, exp(j.all.m), j.all.se, theta, (j.all.m - theta) / j.all.se, rule.k);
	layout_verdict(out, verdict_name(j.verdict));
	emit_raw(out, " ");
	layout_change(out, stats_change_pct(j.all.m));
	emit_raw(out, ", 95 % interval ");
	layout_signed(out, stats_change_pct(j.all.ci_high), 2);
	emit_raw(out, " \u2026 ");
	layout_signed(out, stats_change_pct(j.all.ci_low), 2);
	emit_rawf(out, ". These runs would have called any loss from %.2f %% on.</p>\n", j.mde_pct);
}

static void verdict_item(struct buf *out, const char *word, const char *meaning)
{
	emit_raw(out, "<dt>");
	layout_verdict(out, word);
	emit_rawf(out, "</dt><dd>%s</dd>", meaning);
}

void page_help(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg, (void)r;
	struct buf *out = &response->body;
	layout_begin(response, "How a verdict is reached", "help");
	emit_raw(out,
		"<p class=lead>Base and target are timed side by side, in one process, on one device, call by call. The clock, "
		"the heat "
		"and the neighbours that change between two runs are then the same for both, and what is left is the code.</p>"
		"<h2>From calls to a verdict</h2><ol>"
		"<li><b>A pair</b> is one base call beside one target call, in the order base target, target base, and so on. "
		"The log of "
		"their time ratio is what counts. The caches are cold.<li><b>The clock is told apart.</b> Each call\u2019s own "
		"SM "
		"clock is "
		"known; what it does by itself is taken out, what the branch does to it stays in.<li><b>A run</b> is a fresh "
		"process. Its "
		"pairs become one "
		"trimmed mean, because processes differ from each other more than calls do.<li><b>Runs are added</b> until "
		"3.5 standard "
		"errors clear the threshold on one side or the other, or the budget ends.<li><b>Overwhelming evidence "
		"decides at once:</b> a "
		"loss or a gain that chance shows less than once in a million.<li><b>Any other is measured twice.</b> What looks "
		"like a loss or a gain of a module gets a second set of runs; both agree, or the loss is undecided and the "
		"gain is not called. Programs, of which each process has a speed of its own, get up to 32 runs instead.</ol>");
	worked_example(out);
	emit_raw(out,
		"<h2>The verdicts</h2><p>All other words stand in the <a href=/glossary>glossary</a>; what to do about a message, under <a href=/troubleshooting>troubleshooting</a>.</p><dl class=\"facts card\">");
	verdict_item(out, "failed",
		"the target does not build, crashes, or its results are wrong. Wrong is worse than slow: nothing is timed");
	verdict_item(out, "rejected",
		"it was timed, but the times are not believed: the device was throttled or shared, work escaped the clock, the "
		"base was slowed, or a clock outside disagrees");
	verdict_item(out, "regression",
		"it lost more than its threshold: a second set of runs says so too, or the evidence is overwhelming");
	verdict_item(out, "undecided",
		"the interval still covers the threshold; its row says what would decide it, and what only varied is asked "
		"again once by itself");
	verdict_item(out, "not_comparable", "the base is broken, or the two were given different inputs");
	verdict_item(out, "improvement", "it gained more than the threshold");
	verdict_item(out, "unchanged",
		"no loss beyond the threshold; <b>Loss it calls</b> is the smallest one that its runs would have called");
	verdict_item(out, "identical", "the same source tree or the same compiled module on both sides; nothing had to run");
	verdict_item(out, "removed", "a row that only the base\u2019s program writes; on the upstream branch that is told");
	verdict_item(out, "added", "the base does not do it, the target does; the next comparison has both");
	verdict_item(out, "unsupported",
		"neither side does it, such as the backward of a kernel that has a forward alone. What the target does no more "
		"is failed");
	emit_raw(out,
		"</dl><p>A comparison has the first of these that any of its cells has, a commit the first that any of its "
		"suites has; one that has nothing but the last three has "
		"compared nothing. <b>Borderline</b>: decided by its sign "
		"at the last "
		"run. <b>More slow calls</b>: the typical call, which pairs compare, did not move, but calls that take more "
		"than "
		"1.04 times as long became more frequent, in a cell or in all that run the same kernel together. What they make "
		"of the mean call is judged like any change: beyond the threshold, in two sets of runs, it is a "
		"regression.</p>"
		"<h2>The figures</h2><dl class=\"facts card\"><dt>Change</dt><dd>of throughput, or of speed where nobody counts "
		"FLOPs, in percent; negative is slower</dd>"
		"<dt>95 % interval</dt><dd>where the change lies; drawn on one axis for a whole page, the threshold dashed</dd>"
		"<dt>TFLOP/s</dt><dd>useful FLOPs, counted by flopwatch from the case; issued ones are the module\u2019s own "
		"claim</dd>"
		"<dt>% peak</dt><dd>of the tensor cores\u2019 peak at the clock that was held, not at the one on the box</dd>"
		"<dt>Same code?</dt><dd>of a kernel: its instructions and those of the functions that it calls, the constants "
		"that "
		"the compiler made for it, and the sizes of its parameters and of static memory, as they stand in the two "
		"modules\u2019 "
		"files; initial contents of variables do not count</dd>"
		"<dt>% of a peer</dt><dd>throughput beside another provider of a module that is a yardstick (<a "
		"href=/peers>Peers</a>). "
		"<i>Paired</i>: this target was timed side by side with it. <i>Chained</i>: its base was, and the two ratios are "
		"multiplied. <i>Scaled</i>: another module was, in the same environment; times are divided, at one clock where "
		"it is "
		"known, and there is no interval. No verdict follows from it</dd>"
		"<dt>Phase</dt><dd>named as the one that moved only if its own interval leaves out 0 and it covers half of the "
		"change</dd></dl>");
	layout_end(response);
}

/* ---- words ------------------------------------------------------------------------------------------------------------ */

void page_glossary(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg, (void)r;
	layout_begin(response, "Words", "help");
	emit_raw(&response->body,
		"<p class=lead>What the words on these pages and in the command line mean; <a href=/help>how a verdict is "
		"reached</a> puts them together.</p>\n");
	glossary_draw(&response->body);
	layout_end(response);
}

void page_troubleshooting(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg, (void)r;
	layout_begin(response, "Troubleshooting, by message", "help");
	troubleshooting_draw(&response->body);
	layout_end(response);
}

/* ---- the API ---------------------------------------------------------------------------------------------------------- */

static void route(struct buf *out, const char *method, const char *path, const char *what)
{
	emit_rawf(out, "<tr><td>%s</td><th scope=row class=wrap><code>%s</code></th><td class=wrap>%s</td></tr>\n", method, path,
		what);
}

void page_api(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { "Method", "Address", "Gives" };
	(void)arg, (void)r;
	struct buf *out = &response->body;
	layout_begin(response, "API", "");
	emit_raw(out,
		"<p class=lead>Everything on these pages comes from the same addresses as JSON. The index is at <a "
		"href=\"/api/v1/\">/api/v1/</a>, the whole of it described as <a "
		"href=\"/api/v1/openapi.json\">OpenAPI</a>.</p><p>Lists are "
		"<code>{\"items\":[],\"next_cursor\":null}</code>: pass "
		"<code>cursor</code> on for the next page; what has a time takes <code>since</code> and <code>until</code> "
		"(<code>2026-11-21T02:46:00Z</code>, <code>2026-11-21</code>, <code>7d</code>). Refusals are problem documents (RFC 9457). A finished "
		"comparison has an ETag. "
		"Times are UTC, and every number names its unit.</p>");
	layout_table(out, 3, columns);
	route(out, "GET", "/api/v1/repos", "what is watched");
	route(out, "GET", "/api/v1/branches?repo=", "branches with verdict and job");
	route(out, "POST", "/api/v1/repos/{repo}/looks",
		"have the daemon read the repository's branches now, and number that look");
	route(out, "GET", "/api/v1/repos/{repo}/looks/{id}", "whether that look has ended, and how");
	route(out, "GET", "/api/v1/commits/{sha}", "a commit by four digits or more, its verdict and its comparisons");
	route(out, "GET", "/api/v1/commits/{sha}/verdict", "what it deserves: the worst over its suites, each of them named");
	route(out, "GET", "/api/v1/comparisons?repo=&amp;branch=&amp;verdict=", "comparisons, newest first");
	route(out, "GET", "/api/v1/comparisons/{id}",
		"one, with every cell; <code>.csv</code> as a table, <code>.md</code> for a review, "
		"<code>.svg</code> as a picture");
	route(out, "GET", "/api/v1/report?since=7d&amp;verdict=regression",
		"what commits changed, with the cells; <code>format=csv</code> or <code>md</code>");
	route(out, "GET", "/api/v1/badge.svg?repo=&amp;branch=", "the latest verdict as a picture");
	route(out, "GET", "/api/v1/compare?repo=&amp;base=&amp;target=", "the newest comparison of two commits");
	route(out, "GET", "/api/v1/cells?repo=", "the keys of its newest comparisons' cells");
	route(out, "GET", "/api/v1/history?repo=&amp;branch=&amp;cell=&amp;device=", "one cell over time");
	route(out, "GET", "/api/v1/alerts?state=", "alerts with their life; <code>/alerts/{id}</code> one");
	route(out, "GET", "/api/v1/jobs?state=", "the queue; <code>/jobs/{id}</code> one, <code>/jobs/{id}/log</code> its log");
	route(out, "GET", "/api/v1/bisects", "searches for culprits; <code>/bisects/{id}</code> one");
	route(out, "GET", "/api/v1/profiles?alert=&amp;comparison=",
		"why cells lost; <code>/profiles/{id}</code> one, also as <code>.csv</code> and <code>.md</code>");
	route(out, "GET", "/api/v1/devices", "what measures");
	route(out, "GET", "/api/v1/calibration?repo=&amp;device=", "what equal builds have shown of each cell");
	route(out, "POST", "/api/v1/calibration/forget", "begin anew: <code>{\"repo\", \"cells\", \"device\"}</code>");
	route(out, "GET", "/api/v1/peers?repo=&amp;device=", "how fast repositories are beside their peers");
	route(out, "GET", "/api/v1/events", "what happens, as it happens (server-sent events)");
	route(out, "POST", "/api/v1/jobs", "<code>{\"repo\", \"base\", \"target\", \"suite\"}</code>: measure two commits");
	route(out, "POST", "/api/v1/peers",
		"<code>{\"repo\", \"target\", \"provider\"}</code>: measure a commit beside its peers");
	route(out, "POST", "/api/v1/profiles", "<code>{\"alert\"}</code> or <code>{\"comparison\"}</code>: ask why");
	route(out, "POST", "/api/v1/jobs/{id}/cancel", "or <code>retry</code>");
	route(out, "POST", "/api/v1/alerts/{id}/acknowledge",
		"or <code>accept</code>, <code>resolve</code>, <code>invalidate</code>, with "
		"<code>{\"reason\"}</code>");
	route(out, "POST", "/api/v1/devices/{uuid}/pause", "or <code>resume</code>");
	layout_table_end(out);
	layout_command(out,
		"curl -s http://127.0.0.1:8451/api/v1/comparisons?verdict=regression | jq '.items[] | {id, branch, worst_pct}'");
	layout_end_data(response, "/api/v1/");
}
