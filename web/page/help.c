/* Help: how a verdict is reached, with a worked example that is computed by the rule itself. */
#include "web/page/internal.h"

#include <math.h>

/* Log ratios of four runs of a kernel that became 2 % slower, and of the four confirming runs. */
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

static void draw_worked_example(struct buf *out)
{
	const double threshold_pct = 1.5;
	struct rule rule;
	struct judgement j;
	struct mark_run run[EXAMPLE];
	rule_default(&rule, 20);
	verdict_judge(&rule, threshold_pct, false, example, EXAMPLE, &j);
	for (int i = 0; i < EXAMPLE; i++) {
		double half = 1.96 * sqrt(example[i].q);
		run[i] = (struct mark_run){ .change_pct = stats_change_pct(example[i].d),
			.low_pct = stats_change_pct(example[i].d + half),
			.high_pct = stats_change_pct(example[i].d - half),
			.set = example[i].set };
		snprintf(run[i].label, sizeof run[i].label, "run %d: %+.2f %%", i + 1, run[i].change_pct);
	}
	emit_raw(out, "<h2 id=example>A worked example</h2><p>A cell with a threshold of 1.5 %. Eight runs, each a fresh "
		      "process that timed 24 pairs of base and target, showed:</p>");
	mark_runs(out, run, EXAMPLE, threshold_pct, "eight runs between -2.1 and -1.8 percent, all below the threshold of -1.5");
	double theta = stats_theta(threshold_pct);
	emit_format(out,
		"<ol><li>Their mean as a log ratio is m = %.4f: the target takes e<sup>m</sup> = %.4f times as long.<li>"
		"Its standard error, from how the runs vary, is %.5f.<li>The threshold as a log ratio is %.4f. The "
		"distance between the two is %.1f standard errors; %.1f are needed.<li>The first four runs showed it, "
		"and four fresh ones confirmed it.</ol><p>%s{verdict} %f{change}, 95 %% interval %.2f{signed} \u2026 "
		"%.2f{signed}",
		j.all.m, exp(j.all.m), j.all.se, theta, (j.all.m - theta) / j.all.se, rule.k, verdict_name(j.verdict),
		stats_change_pct(j.all.m), stats_change_pct(j.all.ci_high), stats_change_pct(j.all.ci_low));
	emit_rawf(out, ". These runs detect any slowdown of %.2f %% or more.</p>\n", j.mde_pct);
}

static void draw_verdict_item(struct buf *out, const char *name, const char *meaning)
{
	emit_format(out, "<dt>%s{verdict}</dt><dd>%-s</dd>", name, meaning);
}

int page_help(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	struct buf *out = &response->body;
	layout_begin(response, "How a verdict is reached", "help", NULL);
	emit_raw(out,
		"<p class=lead>Base and target are timed side by side, in one process, on one device, call by call. Clock, heat and other processes, which change between two measurements, are then the same for both, and only the code differs.</p>"
		"<h2>From calls to a verdict</h2><ol>"
		"<li><b>A pair</b> is one base call and one target call, in the order base target, target base, and so on. The measurement is the log of their time ratio. The caches are cold.<li><b>The clock is separated.</b> The SM clock of each call is known; its random changes are removed, the effect of the branch on it remains.<li><b>A run</b> is a fresh "
		"process. Its "
		"pairs become one "
		"trimmed mean, because processes differ from each other more than calls do.<li><b>Runs are added</b> until "
		"3.5 standard "
		"errors clear the threshold on one side or the other, or the budget ends.<li><b>Overwhelming evidence decides at once:</b> a slowdown or speedup that chance produces less than once in a million.<li><b>Any other change is measured twice.</b> A slowdown or speedup of a module gets a second set of runs; if the sets disagree, a slowdown is undecided and a speedup is no improvement. Programs, whose processes differ in speed, get up to 32 runs instead.</ol>");
	draw_worked_example(out);
	emit_raw(out,
		"<h2>The verdicts</h2><p>The <a href=/glossary>glossary</a> has all other terms, <a href=/troubleshooting>troubleshooting</a> the fixes by message, the <a href=/reference>reference</a> every command, option and key.</p><dl class=\"facts card\">");
	draw_verdict_item(out, "failed", "the target does not build, crashes, or computes wrong results; nothing is timed");
	draw_verdict_item(out, "rejected",
		"the times are not plausible: the device was throttled or shared, work was not timed, the base was slowed, or an external clock disagrees");
	draw_verdict_item(
		out, "regression", "slower by more than the threshold, in two sets of runs or with overwhelming evidence");
	draw_verdict_item(out, "undecided",
		"the interval still covers the threshold; the row shows how many runs would decide it, and a cell that is only noisy is measured again once");
	draw_verdict_item(out, "not_comparable", "the base failed, or the two sides had different inputs");
	draw_verdict_item(out, "improvement", "faster by more than the threshold");
	draw_verdict_item(out, "unchanged",
		"no slowdown beyond the threshold; <b>Detects</b> is the smallest one that its runs can detect");
	draw_verdict_item(out, "identical",
		"the same source tree, the same compiled module, or programs that differ only in comments; nothing had to run");
	draw_verdict_item(
		out, "removed", "a row that only the base\u2019s program writes; on the upstream branch it opens an alert");
	draw_verdict_item(out, "added", "only the target supports it; the next comparison has both");
	draw_verdict_item(out, "unsupported",
		"neither side supports it, such as the backward of a forward-only kernel. A cell that only the base supports is failed");
	emit_raw(out,
		"</dl><p>A comparison has the first of these verdicts that any of its cells has, a commit the first that any of its suites has. If it has only the last three, nothing was compared. <b>Borderline</b>: decided by its sign "
		"at the last "
		"run. <b>More slow calls</b>: the typical call, which pairs compare, did not change, but calls that take more "
		"than "
		"1.04 times as long became more frequent, in a cell or in all that run the same kernel together. The change of the mean call is judged like any other: beyond the threshold, in two sets of runs, it is a regression.</p>"
		"<h2>Metrics</h2><dl class=\"facts card\"><dt>Change</dt><dd>of throughput, or of speed if FLOPs are not known, in percent; negative is slower</dd>"
		"<dt>95 % interval</dt><dd>range of the change; drawn on one axis for a whole page, the threshold dashed</dd>"
		"<dt>TFLOP/s</dt><dd>useful FLOPs, counted by flopwatch from the case; issued ones are reported by the module</dd>"
		"<dt>% peak</dt><dd>of the tensor cores\u2019 peak at the held clock, not at the nominal one</dd>"
		"<dt>Same code?</dt><dd>of a kernel: its instructions and those of the functions that it calls, the constants "
		"that "
		"the compiler made for it, and the sizes of its parameters and of static memory, as stored in the two modules\u2019 files; initial contents of variables do not count</dd>"
		"<dt>% of a peer</dt><dd>throughput against another provider of the module (<a href=/peers>Peers</a>). "
		"<i>Paired</i>: this target was timed side by side with it. <i>Chained</i>: its base was, and the two ratios are "
		"multiplied. <i>Scaled</i>: another module was, in the same environment; times are divided, at one clock where "
		"it is "
		"known, and there is no interval. No verdict follows from it</dd>"
		"<dt>Phase</dt><dd>named as the cause only if its own interval excludes 0 and it covers half of the "
		"change</dd></dl>");
	return layout_end(response, NULL, 0);
}

/* ---- glossary ------------------------------------------------------------------------------------------------------ */

int page_glossary(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	layout_begin(response, "Glossary", "glossary", NULL);
	emit_raw(&response->body,
		"<p class=lead>Terms of these pages and of the command line; <a href=/help>how a verdict is reached</a> explains them together.</p>\n");
	glossary_draw(&response->body);
	return layout_end(response, NULL, 0);
}

int page_troubleshooting(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	layout_begin(response, "Troubleshooting, by message", "troubleshooting", NULL);
	troubleshooting_draw(&response->body);
	return layout_end(response, NULL, 0);
}

/* ---- reference ----------------------------------------------------------------------------------------------------- */

static int draw_reference(struct http_request *r, struct http_response *response, const char *name, const char *here)
{
	char title[REFERENCE_NAME_MAX];
	const char *page = reference_find(name, title);
	if (!page)
		return answer_problem(r, response, 404,
			strcmp(name, "index") == 0 ? "this flopwatch was built without its reference; see man flopwatch" : NULL);
	layout_begin(response, title, here, NULL);
	reference_draw(&response->body, page);
	return layout_end(response, NULL, 0);
}

int page_reference(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	return draw_reference(r, response, "index", "reference");
}

int page_reference_entry(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)err;
	return draw_reference(r, response, http_segment(r, 0), "reference_entry");
}
