/* One comparison: the summary sentence, both sides, differences of their environments, the tables, the totals. */

#include "web/page/internal.h"

#include <math.h>

#include "readers/readers.h"

/* ---- lead ---- */

/* ---- sentence ------------------------------------------------------------------------------------------------------ */

static void name_cell(struct buf *out, const struct comparison_cell *cell)
{
	emit_format(out, "<a href=\"?open=%d#c%d\" data-cell=c%d>%s{case %s %lld} %s</a>", cell->n, cell->n, cell->n, cell->key,
		cell->title, (long long)cell->size, cell->direction);
}

static void write_changed_cell(struct buf *out, struct comparison_cell *cell)
{
	struct comparison_judged judged = comparison_judged(cell);
	emit_format(out, "%f{decided %d}%-s", judged.change_pct, true,
		cell->decided_by == DECIDER_SUSTAINED_RUNS ? " in sustained runs, once clocks stabilise under its power draw,"
							   : "");
	if (cell->decided_by == DECIDER_MEAN)
		emit_format(out, " on average, since %s,", comparison_text(comparison_decided(cell), "text"));
	emit_raw(out, " in ");
	name_cell(out, cell);
	if (isfinite(judged.ci_low_pct))
		emit_format(out, " (95 %% interval %.2f{signed} \u2026 %.2f{signed})", judged.ci_low_pct, judged.ci_high_pct);
}

/* Write a sentence about the cell whose change is in the title. */
static void write_changed_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *most = comparison_find_most_changed(c, c->verdict);
	bool is_slower = c->verdict == VERDICT_REGRESSION;
	if (!most)
		return;
	emit_raw(out, is_slower ? "The worst is " : "No cell is slower; the best is ");
	write_changed_cell(out, most);
	if (most->borderline)
		emit_raw(out, " (borderline: decided at the last run, by its sign or its interval)");
}

/* Write a sentence about rows that could not be compared. */
static void draw_absences(struct buf *out, const struct comparison *c)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} omitted[] = { { VERDICT_REMOVED, "removed" }, { VERDICT_ADDED, "added" },
		{ VERDICT_UNSUPPORTED, "supported by neither side" } };
	int n_omitted = 0;
	if (comparison_is_side_by_side(c))
		return;
	for (int i = 0; i < 3; i++) {
		int n = comparison_count(c, omitted[i].verdict);
		if (n)
			emit_rawf(out, "%s%d %s", n_omitted++ ? ", " : "; not compared: ", n, omitted[i].text);
	}
}

static int n_compared(const struct comparison *c)
{
	return c->n_cells - comparison_count(c, VERDICT_REMOVED) - comparison_count(c, VERDICT_ADDED) -
	       comparison_count(c, VERDICT_UNSUPPORTED);
}

/* Return whether both programs execute the same code although files differ; the reason of the only cell names the files. */
static bool is_equal_by_comment(const struct comparison *c)
{
	return strcmp(c->identical_by, "comment") == 0 && c->n_cells > 0;
}

/* Return the verdict's label; for two implementations "mixed" if some cells are slower and others faster. */
static const char *label_of(const struct comparison *c)
{
	bool is_mixed = comparison_is_side_by_side(c) && comparison_count(c, VERDICT_REGRESSION) &&
			comparison_count(c, VERDICT_IMPROVEMENT);
	return is_mixed ? "mixed" : verdict_label(c->kind, c->verdict);
}

/* Write the counts of a comparison with another implementation, and its slowest and fastest cell. */
static void draw_peer_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *worst = comparison_find_most_changed(c, VERDICT_REGRESSION),
			       *best = comparison_find_most_changed(c, VERDICT_IMPROVEMENT);
	comparison_peer_sentence(out, c);
	if (worst) {
		emit_raw(out, ". The worst is ");
		write_changed_cell(out, worst);
	}
	if (best) {
		emit_raw(out, worst ? ", the best " : ". The best is ");
		write_changed_cell(out, best);
	}
}

static void sentence(struct buf *out, const struct comparison *c)
{
	emit_format(out, "<p class=lead>%s{verdict} ", label_of(c));
	if (comparison_is_side_by_side(c))
		draw_peer_sentence(out, c);
	else if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT)
		write_changed_sentence(out, c);
	else if (is_equal_by_comment(c))
		emit_format(out, "%s, so nothing was timed", c->cell[0].reason);
	else if (*c->identical_by)
		emit_rawf(out, "Both sides %s, so nothing was timed",
			strcmp(c->identical_by, "tree") == 0 ? "are the same source tree"
			: comparison_is_of_programs(c)       ? "run the same files in the same way"
							     : "are the same compiled module");
	else if (c->verdict == VERDICT_UNCHANGED && c->kind == JOBKIND_SELFCHECK)
		emit_rawf(out, "None of %d cells differs from itself; there was no base to compare with", n_compared(c));
	else if (c->verdict == VERDICT_UNCHANGED)
		emit_rawf(out, "None of %d cells is slower by more than its threshold", n_compared(c));
	else if (c->verdict == VERDICT_UNDECIDED)
		emit_rawf(out, "%d of %d cells are undecided, %d are unchanged", comparison_count(c, VERDICT_UNDECIDED),
			c->n_cells, comparison_count(c, VERDICT_UNCHANGED));
	else if (c->verdict == VERDICT_FAILED)
		emit_rawf(out, "%d of %d cells of the target failed", comparison_count(c, VERDICT_FAILED), c->n_cells);
	else if (c->verdict == VERDICT_REJECTED)
		emit_rawf(out, "The times of %d of %d cells are rejected", comparison_count(c, VERDICT_REJECTED), c->n_cells);
	else if (c->verdict == VERDICT_NOT_COMPARABLE)
		emit_rawf(out, "%d of %d cells are not comparable; their rows give the reasons",
			comparison_count(c, VERDICT_NOT_COMPARABLE), c->n_cells);
	else
		emit_raw(out, "No cell is supported by both sides");
	draw_absences(out, c);
	emit_raw(out, ".</p>\n");
	emit_format(out, "%s{?<p>Settings: *.</p>\n}", explain_manifest(c->n_changed, c->changed));
	if (c->is_new)
		emit_format(out, "<p>The %s; it is compared from the next commit on.</p>\n", c->alone);
	else if (*c->alone)
		emit_format(out, "<p>The commit was compared with itself: %s.</p>\n", c->alone);
}

/* ---- certainty and cause ------------------------------------------------------------------------------------------- */

/* Write the reason of the most changed cell with this verdict, as lists do; without times that of the first cell. */
static void first_reason(struct buf *out, const struct comparison *c, enum verdict verdict)
{
	const struct comparison_cell *cell = comparison_find_most_changed(c, verdict);
	if (cell && !*cell->failure && !*cell->reason)
		cell = NULL;
	for (int i = 0; i < c->n_cells && !cell; i++)
		if (c->cell[i].verdict == verdict && (*c->cell[i].failure || *c->cell[i].reason))
			cell = &c->cell[i];
	if (!cell)
		return;
	emit_raw(out, "<p><b>Why:</b> ");
	name_cell(out, cell);
	emit_format(out, "%s%s%-s%s", *cell->failure ? " is " : ": ", cell->failure, *cell->failure && *cell->reason ? ": " : "",
		cell->reason);
}

static void draw_evidence(struct buf *out, const struct comparison *c)
{
	size_t begin = out->len;
	struct buf text;
	buf_init(&text, FINDING_BYTES);
	comparison_evidence(c, &text);
	if (text.len)
		emit_format(out, "<p><b>How sure:</b> %s", text.data);
	else
		first_reason(out, c, c->verdict);
	buf_fini(&text);
	if (out->len > begin)
		emit_raw(out, ".</p>\n");
}

/* Write the phase that changed: "phase run 9.91 -> 9.56 ms, of the call's 10.3 -> 9.94 ms, by medians". False: unknown. */
static bool write_phase(struct buf *out, struct comparison_cell *cell)
{
	const char *cause = comparison_decided(cell) ? NULL : comparison_cause(cell);
	const json_t *phase;
	size_t i;
	json_array_foreach(json_object_get(cell->json, "phases"), i, phase)
	{
		if (!cause || strcmp(comparison_text(phase, "phase"), cause) != 0)
			continue;
		double base_ms = comparison_number(phase, "base_ms"), target_ms = comparison_number(phase, "target_ms");
		emit_format(out,
			"phase <b>%s</b> %f{ms} \u2192 %f{ms} ms, of the call\u2019s %f{ms} \u2192 %f{ms} ms, by medians", cause,
			base_ms, target_ms, cell->base_ms, cell->target_ms);
		return true;
	}
	return false;
}

/* Write the cause of an improvement, which has no alert and so no profile. */
static void draw_why_faster(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *best =
		c->verdict == VERDICT_IMPROVEMENT ? comparison_find_most_changed(c, VERDICT_IMPROVEMENT) : NULL;
	struct buf phase;
	buf_init(&phase, 1 << 12);
	if (best && write_phase(&phase, best))
		emit_format(out, "<p><b>Why:</b> %-s.</p>\n", phase.data);
	else if (best)
		emit_raw(
			out, "<p><b>Why:</b> a gain is not profiled; what differs, and each opened cell, show both sides.</p>\n");
	out->failed |= phase.failed;
	buf_fini(&phase);
}

/* Draw the cause of a difference between implementations, which has no alert and so no profile. Err: the database's. */
static int draw_peer_cause(struct db *db, struct buf *out, const struct comparison *c, struct fw_err *err)
{
	char profile[EXPLANATION_STAMP_SIZE];
	if (!comparison_count(c, VERDICT_REGRESSION))
		return 0;
	if (explanation_stamp(db, c->id, profile, err) != 0)
		return -1;
	if (*profile)
		emit_raw(out, "<p><b>Why:</b> the opened cells have the profile.</p>\n");
	else
		emit_rawf(out, "<p><b>Why:</b> not profiled; <code>flopwatch profile C%lld</code> finds the causes.</p>\n",
			(long long)c->id);
	return 0;
}

static void draw_step(struct buf *out, const struct comparison *c)
{
	const struct comparison_cell *undecided = comparison_find_most_changed(c, VERDICT_UNDECIDED);
	struct step step = { .kind = c->kind,
		.verdict = c->verdict,
		.base_how = c->base_how,
		.job = c->job,
		.alert = { c->around->alert, c->around->alert_state },
		.repeat = c->around->repeat,
		.is_quick = c->quick,
		.reason = undecided ? undecided->reason : NULL };
	emit_raw(out, "<p><b>What to do:</b> ");
	step_draw(out, &step);
	emit_raw(out, ".</p>\n");
}

/* Err: the database's. */
static int draw_comparison_lead(struct db *db, struct buf *out, const struct comparison *c, struct fw_err *err)
{
	int result = 0;
	emit_raw(out, "<div class=summary>");
	sentence(out, c);
	if (!comparison_is_side_by_side(c)) {
		draw_evidence(out, c);
		draw_why_faster(out, c);
		result = explanation_draw_line(db, out, c->around->alert, c, err);
	} else {
		result = draw_peer_cause(db, out, c, err);
	}
	draw_step(out, c);
	emit_raw(out, "</div>\n");
	return result;
}

/* ---- setting ---- */

static void draw_fact(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	emit_format(out, "<dt>%s</dt><dd>%s</dd>", name, value);
}

static void side(struct buf *out, const struct comparison_side *side, const char *title, const char *how, bool program)
{
	emit_format(out,
		"<section class=card><h3>%-s%s{? <small>found by *</small>}</h3><p>%s{commit} %s</p><dl class=facts><dt>"
		"Author</dt><dd>%s</dd>",
		title, how, side->commit, side->subject, *side->author ? side->author : "\u2013");
	if (!program || *side->build) {
		emit_rawf(out, "<dt>%s</dt><dd>", program ? "Program" : "Module");
		if (*side->module_sha256)
			layout_sha(out, side->module_sha256);
		else
			emit_raw(out, "\u2013");
		emit_format(out, " %s</dd>", side->build);
	}
	draw_fact(out, "Built by", side->toolchain);
	draw_fact(out, "Provider", side->provider);
	draw_fact(out, "Pinned to", side->pinned);
	emit_raw(out, "</dl></section>\n");
}

static void draw_peer_differences(struct buf *out, const struct comparison *c)
{
	bool provider = strcmp(c->base.provider, c->target.provider) != 0, pinned = *c->base.pinned || *c->target.pinned;
	if (c->kind == JOBKIND_ENVIRONMENT) {
		emit_raw(out, strcmp(c->base.commit, c->target.commit) == 0 ? "only the build environment"
									    : "source and build environment");
		return;
	}
	bool alone = *c->base.module_sha256 && strcmp(c->base.module_sha256, c->target.module_sha256) == 0;
	emit_rawf(out, "%s%s%s%s", provider ? "the provider" : "", provider && pinned ? " and " : "",
		pinned ? "the configuration" : "", alone ? " alone" : ", source and module");
}

/* Return whether the programs of both sides were interleaved call by call, by a note of the run. */
static bool is_interleaved(const struct comparison *c)
{
	static const char begin[] = "interleaved programs: ";
	const char *at = c->notes.text, *end = c->notes.text + c->notes.len;
	return memmem(at, (size_t)(end - at), begin, sizeof begin - 1) != NULL;
}

/* Write the method of timing. The stored text, "1: interleaved pairs, ...", begins with its version. */
static void draw_timing(struct buf *out, const struct comparison *c)
{
	const char *text = c->environment.timing, *after = strstr(text, ": ");
	if (*text && comparison_is_of_programs(c))
		text = is_interleaved(c) ? "both programs run at once and take turns: pairs of calls in the order A B B A"
					 : "whole processes in the order A B B A, and the medians that the program reports";
	else if (after)
		text = after + 2;
	draw_fact(out, "Timing", text);
}

/* Draw what both sides share and where they differ: a verdict is valid only for this environment. */
static void draw_environment(struct buf *out, const struct comparison *c)
{
	const char *base = c->base.module_sha256, *target = c->target.module_sha256;
	double limit_w = c->environment.power_limit_w;
	emit_raw(out, "<section class=card><h3>Same for both sides</h3><dl class=facts>");
	draw_fact(out, "Device", c->environment.name);
	draw_fact(out, "Driver", c->environment.driver);
	draw_fact(out, "Toolkit", c->environment.toolkit);
	draw_fact(out, "cuDNN", c->environment.cudnn);
	if (limit_w > 0)
		emit_rawf(out, "<dt>Power limit</dt><dd>%.0f W</dd>", limit_w);
	draw_timing(out, c);
	draw_fact(out, "Isolation", c->isolation);
	draw_fact(out, "Suite", c->suite);
	emit_format(out, "%-s<dt>Differs</dt><dd>",
		!*c->environment.baseline_period ? "<dt>Device</dt><dd>\u2013 nothing ran</dd>" : "");
	if (is_equal_by_comment(c))
		emit_raw(out, "comments or layout of source files");
	else if (*c->identical_by)
		emit_raw(out, "nothing");
	else if (comparison_is_side_by_side(c))
		draw_peer_differences(out, c);
	else if (*base && strcmp(base, target) == 0)
		emit_raw(out, comparison_is_of_programs(c) ? "nothing: both sides run the same files in the same way"
							   : "nothing: both sides compiled to the same module");
	else if (comparison_is_of_programs(c))
		emit_raw(out, *base ? "source and program" : "results of another benchmark");
	else
		emit_raw(out, "source and module");
	emit_raw(out, "</dd></dl></section>\n");
}

static const char *device_of(const struct comparison_cell *c, bool confirming)
{
	return confirming ? c->confirmed_on : c->device;
}

/*
 * Draw the devices and the number of cells that each timed, if several timed them; or the number of cells whose
 * confirming set another device timed, whatever the result.
 */
static void draw_devices(struct buf *out, const struct comparison *c, bool confirming)
{
	bool is_begun = false;
	for (int i = 0; i < c->n_cells; i++) {
		const char *device = device_of(&c->cell[i], confirming);
		int first = 0, n = 0;
		while (strcmp(device_of(&c->cell[first], confirming), device) != 0)
			first++;
		if (first < i || !*device)
			continue;
		for (int k = i; k < c->n_cells; k++)
			n += strcmp(device_of(&c->cell[k], confirming), device) == 0;
		if (!confirming && n == c->n_cells)
			continue;
		if (is_begun)
			emit_raw(out, ", ");
		else
			emit_raw(out, confirming ? "<dt>Confirming set</dt><dd>" : "<dt>Split</dt><dd>");
		emit_format(out, "%d cell%s on %s", n, n == 1 ? "" : "s", device);
		is_begun = true;
	}
	if (is_begun)
		emit_raw(out, "</dd>");
}

enum { STEP_WIDTH = 540, STEP_HEIGHT = 14 };

/* Draw a bar of all steps in chronological order, and a line that names them. */
static void draw_device_steps(struct buf *out, const struct comparison *c)
{
	double step_s[DEVICE_STEPS], sum = 0, x = 0;
	char text[400];
	for (int i = 0; i < DEVICE_STEPS; i++)
		sum += step_s[i] = isfinite(c->step_s[i]) ? c->step_s[i] : 0; /* the body has no such step */
	if (sum <= 0)
		return;
	device_step_summary(step_s, text, sizeof text);
	emit_format(out, "<dt>Device time</dt><dd><svg class=\"dots stack\" viewBox=\"0 0 %d %d\" role=img aria-label=\"%s\">",
		STEP_WIDTH, STEP_HEIGHT, text);
	for (int i = 0, shown = 0; i < DEVICE_STEPS; i++) {
		double width = STEP_WIDTH * step_s[i] / sum;
		if (step_s[i] <= 0)
			continue;
		emit_format(out, "<rect class=\"part%s p%d\" x=%.1f y=0 width=%.1f height=%d><title>%s: %.1f s</title></rect>",
			i == DEVICE_STEP_TIMED ? " moved" : "", shown++ % 3, x, width, STEP_HEIGHT, device_step_names[i],
			step_s[i]);
		x += width;
	}
	emit_format(out, "</svg><br>%s</dd>", text);
}

static void run_facts(struct buf *out, const struct comparison *c)
{
	const struct view_around *around = c->around;
	const char *at = c->finished_at;
	emit_format(out,
		"<section class=card><h3>Run</h3><dl class=facts><dt>Job</dt><dd>%lld{job}, with "
		"builds and log</dd><dt>Device held</dt><dd>%f{duration} of %f{duration}, %d runs</dd><dt>Finished</dt>"
		"<dd><time>%-.10s %-.5s</time> UTC</dd>",
		(long long)c->job, c->gpu_s, c->wall_s, c->runs, at, strlen(at) > 15 ? at + 11 : "");
	draw_device_steps(out, c);
	draw_devices(out, c, false);
	draw_devices(out, c, true);
	if (around->alert)
		emit_format(out, "<dt>Alert</dt><dd>%lld{alert} %s{verdict}</dd>", (long long)around->alert,
			alertstate_name(around->alert_state));
	emit_raw(out, "<dt>Last push</dt><dd>");
	if (around->previous) {
		bool comparable = strcmp(around->previous_base, c->base.commit) == 0 ||
				  strcmp(around->previous_target, c->base.commit) == 0;
		const char *baseline_period = c->environment.baseline_period;
		emit_format(out, "%lld{comparison} %s{verdict}%-s", (long long)c->around->previous,
			verdict_name(around->previous_verdict),
			!comparable ? "<br>had another base, so the two are not compared" : "");
		if (*baseline_period && *around->previous_baseline_period &&
			strcmp(baseline_period, around->previous_baseline_period) != 0)
			emit_raw(out, "<br><span class=warn>! measured in another environment</span>");
	} else {
		emit_raw(out, "\u2013 the first of this branch and suite");
	}
	emit_raw(out, "</dd></dl></section>\n");
}

/* Write "736ae31d6e -> a851f9a236, on NVIDIA H200, suite ffa, 8 runs". */
static void write_one_line(struct buf *out, const struct comparison *c)
{
	emit_format(out, "%s%s%s{?, suite *}, %d run%-s, device held for %f{duration}",
		c->kind == JOBKIND_PEER ? "Peer, target, " : "Base, target, ",
		*c->environment.name ? c->environment.name : "no device", c->suite, c->runs, c->runs == 1 ? "" : "s", c->gpu_s);
}

static void draw_comparison_setting(struct buf *out, const struct comparison *c)
{
	bool program = comparison_is_of_programs(c);
	emit_raw(out, "<details class=card id=setting><summary>");
	write_one_line(out, c);
	emit_raw(out, "</summary><div class=cards>");
	side(out, &c->base, c->kind == JOBKIND_PEER ? "Peer" : "Base", comparison_is_side_by_side(c) ? "" : c->base_how, program);
	side(out, &c->target, "Target", "", program);
	draw_environment(out, c);
	run_facts(out, c);
	comparison_peer_card(out, c);
	emit_raw(out, "</div></details>\n");
}

/* ---- summary: Values that a user would otherwise derive from the cells by hand; they do not affect the verdict. ---- */

/* Find the backward cell of the same case, mostly one of the next cells; NULL: none. */
static const struct comparison_cell *backward_of(const struct comparison *c, const struct comparison_cell *forward)
{
	size_t stem = strlen(forward->key) - strlen("forward");
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[(forward - c->cell + i) % c->n_cells];
		if (strcmp(cell->direction, "backward") == 0 && strncmp(cell->key, forward->key, stem) == 0 &&
			strcmp(cell->key + stem, "backward") == 0)
			return cell;
	}
	return NULL;
}

static bool is_forward(const struct comparison_cell *cell)
{
	size_t len = strlen(cell->key);
	return strcmp(cell->direction, "forward") == 0 && len > 7 && strcmp(cell->key + len - 7, "forward") == 0;
}

static void draw_times(struct buf *out, double base_ms, double target_ms)
{
	emit_format(out, "<td class=\"n w\">%f{ms}</td><td class=n>%f{ms}</td><td class=n>%f{change}</td></tr>\n", base_ms,
		target_ms, derive_change_pct(base_ms, target_ms));
}

/* Sums over the cases that have both directions. */
struct sums {
	double base_ms, target_ms;
	int n;
};

static struct sums totals(struct buf *out, const struct comparison *c)
{
	struct sums sum = { .n = 0 };
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *forward = &c->cell[i],
					     *backward = is_forward(forward) ? backward_of(c, forward) : NULL;
		if (!backward || !isfinite(forward->base_ms + forward->target_ms + backward->base_ms + backward->target_ms))
			continue;
		if (sum.n++ == 0) {
			emit_raw(out, "<div>");
			layout_table(out, "Forward and backward of|~>Base ms|>Target ms|>Change");
		}
		double base_ms = forward->base_ms + backward->base_ms, target_ms = forward->target_ms + backward->target_ms;
		emit_format(
			out, "<tr><th scope=row>%s{case %s %lld}</th>", forward->key, forward->title, (long long)forward->size);
		draw_times(out, base_ms, target_ms);
		sum.base_ms += base_ms;
		sum.target_ms += target_ms;
	}
	if (sum.n)
		emit_raw(out, "</tbody></table></div></div>\n");
	return sum;
}

/* ---- t = a + b x pieces -------------------------------------------------------------------------------------------- */

/* Return the number of pieces of a cell's work: as the module counted them, or as its family does. */
static double pieces_of(const struct comparison_cell *cell)
{
	return isfinite(cell->blocks_kept) && cell->blocks_kept > 0 ? cell->blocks_kept : cell->pieces;
}

static void draw_fit_line(struct buf *out, const double *x, const double *ms, int n)
{
	double a, b;
	if (derive_line(x, ms, n, &a, &b) != 0) {
		emit_raw(out, "<td class=n>\u2013</td><td class=n>\u2013</td>");
		return;
	}
	emit_rawf(out, "<td class=n>");
	layout_signed(out, a, 3);
	emit_rawf(out, "</td><td class=n>%.4g</td>", b * 1e6);
}

/*
 * Fit a line through cells that differ only in their number of pieces: the fixed cost of a call, and the cost of a piece. Only
 * lines with a changed cell are shown.
 */
static void draw_fits(struct buf *out, const struct comparison *c)
{
	size_t capacity = (size_t)c->n_cells + 1;
	double *x = mem_alloc_zero(3 * capacity, sizeof *x), *base = x + capacity, *target = base + capacity;
	bool begun = false;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *like = &c->cell[i];
		int n = 0;
		bool is_first = *like->line != '\0', has_changed = false;
		for (int k = 0; k < c->n_cells && is_first; k++) {
			const struct comparison_cell *cell = &c->cell[k];
			if (strcmp(cell->line, like->line) != 0 || cell->size != like->size ||
				strcmp(cell->group, like->group) != 0 || strcmp(cell->direction, like->direction) != 0)
				continue;
			is_first = k >= i;
			has_changed |= verdict_is_change(cell->verdict);
			if (isfinite(cell->base_ms + cell->target_ms)) {
				x[n] = pieces_of(cell);
				base[n] = cell->base_ms;
				target[n++] = cell->target_ms;
			}
		}
		if (!is_first || n < 2 || !has_changed)
			continue;
		if (!begun)
			emit_raw(out,
				"<div><div class=scroll tabindex=0><table><caption>Sparse cells as a line, t = a + b \u00d7 used "
				"blocks: the fixed cost of a call, and the cost of a block</caption><thead><tr><th "
				"scope=col>Line</th><th scope=col "
				"class=n>Base a, ms</th><th scope=col class=n>b, ns</th><th scope=col class=n>Target a, "
				"ms</th><th "
				"scope=col class=n>b, ns</th></tr></thead><tbody>\n");
		begun = true;
		emit_format(
			out, "<tr><th scope=row>%s, %s<span class=dim>, %d cells</span></th>", like->line, like->direction, n);
		draw_fit_line(out, x, base, n);
		draw_fit_line(out, x, target, n);
		emit_raw(out, "</tr>\n");
	}
	free(x);
	if (begun)
		emit_raw(out, "</tbody></table></div></div>\n");
}

/* Draw forward and backward together, and the fit through the sparse cells, as a line that unfolds, without a verdict. */
static void draw_comparison_summary(struct buf *out, const struct comparison *c)
{
	struct buf part;
	buf_init(&part, 1 << 20);
	struct sums sum = totals(&part, c);
	if (comparison_count(c, VERDICT_REGRESSION) || comparison_count(c, VERDICT_IMPROVEMENT))
		draw_fits(&part, c);
	comparison_against_dense(&part, c);
	comparison_lengths(&part, c);
	if (part.len) {
		emit_raw(out, "<details class=card id=totals><summary>Totals, for information");
		if (sum.n)
			emit_format(out, ": forward and backward of %d cases %f{ms} \u2192 %f{ms} ms, %f{change}", sum.n,
				sum.base_ms, sum.target_ms, derive_change_pct(sum.base_ms, sum.target_ms));
		emit_raw(out, "</summary><div class=\"cards wide\">");
		buf_append(out, part.data, part.len);
		emit_raw(out, "</div></details>\n");
	}
	buf_fini(&part);
}

/* ---- page_comparison ---- */

/* Read a list of the body; NULL: empty or missing. Own: json_decref. */
static json_t *open_list(struct jsonr_span span)
{
	json_t *list = span.len > 2 ? jsonr_tree(span.text, span.len) : NULL;
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

/* Draw the notes of the run. */
static void draw_notes(struct buf *out, const struct comparison *c)
{
	size_t i;
	const json_t *note;
	json_t *list = open_list(c->notes);
	if (!list)
		return;
	emit_rawf(out, "<details class=card id=notes><summary>%zu note%s of the run</summary><ul>", json_array_size(list),
		json_array_size(list) == 1 ? "" : "s");
	json_array_foreach(list, i, note)
	{
		emit_format(out, "<li>%s %s %s</li>", comparison_text(note, "role"), comparison_text(note, "cell"),
			comparison_text(note, "text"));
	}
	emit_raw(out, "</ul></details>\n");
	json_decref(list);
}

/* ---- differences: one list, costs in time first ---- */

/* Write the phase of the worst cell that became slower. */
static void draw_differing_phase(struct buf *out, struct comparison_cell *worst)
{
	struct buf phase;
	buf_init(&phase, 1 << 12);
	if (worst && write_phase(&phase, worst))
		emit_format(out, "<li>Of the worst cell: %-s</li>\n", phase.data);
	out->failed |= phase.failed;
	buf_fini(&phase);
}

/* Write a different configuration of the same provider, which is known without a profile. */
static void draw_differing_configuration(struct buf *out, const struct comparison *c, const struct comparison_cell *worst)
{
	const struct comparison_cell *cell = worst && comparison_is_reconfigured(worst) ? worst : NULL;
	int n = 0;
	for (int i = 0; i < c->n_cells; i++) {
		if (!comparison_is_reconfigured(&c->cell[i]))
			continue;
		n++;
		cell = cell ? cell : &c->cell[i];
	}
	if (n)
		emit_format(out,
			"<li>%d cell%-s changed configuration: <code>%s</code> \u2192 <code>%s</code>; cost not measured</li>\n",
			n, n == 1 ? "" : "s", cell->base_config, cell->target_config);
}

/* Write the target's increased costs other than time, one item per kind, with the cell of the largest increase. */
static void draw_differing_cost(struct buf *out, const struct comparison *c, const json_t *cost)
{
	const json_t *cells = json_object_get(cost, "cells"), *most = json_array_get(cells, 0);
	char text[320];
	cost_text(comparison_text(cost, "what"), json_array_size(cells), comparison_number(most, "base"),
		comparison_number(most, "target"), text, sizeof text);
	emit_format(out, "<li>Besides time: %s, in ", text);
	const char *key = comparison_text(most, "cell");
	const struct comparison_cell *cell = comparison_find(c, key);
	if (cell)
		name_cell(out, cell);
	else
		emit_text(out, key);
	emit_raw(out, "</li>\n");
}

static void differences(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *worst = comparison_find_most_changed(c, VERDICT_REGRESSION);
	struct buf list;
	size_t i;
	const json_t *one;
	json_t *costs = open_list(c->costs);
	if (comparison_is_side_by_side(c)) {
		json_decref(costs);
		return;
	}
	buf_init(&list, 1 << 20);
	draw_differing_phase(&list, worst);
	draw_differing_configuration(&list, c, worst);
	json_array_foreach(costs, i, one) draw_differing_cost(&list, c, one);
	if (list.len)
		emit_raw(out, "<section id=differs><h2>What differs</h2><ul>");
	buf_append(out, list.data, list.len);
	if (list.len)
		emit_raw(out, "</ul></section>\n");
	buf_fini(&list);
	json_decref(costs);
}

static void request_counter(struct buf *out, const struct comparison *c, const struct comparison_view *view)
{
	emit_rawf(out, "<nav class=tabs aria-label=\"Cells by verdict\"><a href=\"/comparisons/%lld\"%s>all %d</a>",
		(long long)c->id, *view->show ? "" : " aria-current=true", c->n_cells);
	for (unsigned v = 0; v < VERDICT_NONE; v++) {
		const char *name = verdict_name((enum verdict)v);
		int n = comparison_count(c, (enum verdict)v);
		if (!n)
			continue;
		emit_format(out, "<a href=\"/comparisons/%lld?show=%-s\"%-s>%s{name} %d</a>", (long long)c->id, name,
			strcmp(view->show, name) == 0 ? " aria-current=true" : "", verdict_label(c->kind, (enum verdict)v), n);
	}
	emit_raw(out, "</nav>\n");
}

/* Draw links to the files with MagiAttention's columns. */
static void draw_link_files(struct buf *out, const struct comparison *c)
{
	char side[2][SIDE_NAME_SIZE], name[FFA_CSV_NAME_SIZE];
	bool any = false;
	comparison_side_names(c, side);
	for (int i = 0; i < FFA_CSV_FILES; i++) {
		if (!comparison_has_file(c, i))
			continue;
		ffa_csv_name(i, side[0], side[1], name);
		emit_raw(out, any ? " " : "<details id=ffa><summary>profile_ffa files</summary>");
		emit_format(out, "<a href=\"/api/v1/comparisons/%lld/ffa/%s.csv\">%s.csv</a>", (long long)c->id, name, name);
		any = true;
	}
	if (any)
		emit_raw(out, "</details>\n");
}

static void draw_tools(struct buf *out, const struct comparison *c, const struct comparison_view *view)
{
	emit_raw(out, "<div class=tools>");
	request_counter(out, c, view);
	emit_format(out,
		"<form class=filter action=\"/comparisons/%lld\"><input type=search name=q data-filter placeholder=\"filter "
		"cells\" aria-label=\"Filter cells\" value=\"%s\"><button>Filter</button></form><div class=row><a class=button "
		"href=\"/api/v1/comparisons/%lld.csv\">CSV</a><a class=button href=\"/api/v1/comparisons/%lld\">JSON</a>",
		(long long)c->id, view->find, (long long)c->id, (long long)c->id);
	emit_format(out,
		"%lld{?<a rel=prev href=\"/comparisons/*\">\u2190 C*</a>}%lld{?<a rel=next href=\"/comparisons/*\">C* \u2192</a>}"
		"</div></div>\n",
		(long long)c->around->previous, (long long)c->around->next);
	draw_link_files(out, c);
}

/* Draw the user's next steps. */
static void draw_actions(struct buf *out, const struct comparison *c)
{
	const struct comparison_cell *worst = reproduce_worst(c);
	long long id = (long long)c->id, alert = (long long)c->around->alert;
	char job[24];
	snprintf(job, sizeof job, "%lld", (long long)c->job);
	emit_raw(out, "<div class=row id=act>");
	if (alert) {
		emit_format(out, "<a href=\"/alerts/%lld\">A%lld %s{verdict}</a>", alert, alert,
			alertstate_name(c->around->alert_state));
		if (alertstate_is_live(c->around->alert_state))
			emit_rawf(out, "<a class=button href=\"/alerts/%lld#answer\">Answer</a>", alert);
	}
	if (c->around->repeat.job) {
		emit_raw(out, "<span>");
		step_draw_repeat(out, &c->around->repeat);
		emit_raw(out, "</span>");
	} else {
		layout_button(out, "jobs", job, "retry", "Measure again");
	}
	if (worst)
		emit_rawf(out, "<a class=button href=\"?open=%d#reproduce-%d\">Reproduce</a>", worst->n, worst->n);
	emit_rawf(out, "<a class=button data-copies href=\"/api/v1/comparisons/%lld.md\">Markdown</a></div>\n", id);
}

static void draw_crumbs(struct buf *out, const struct comparison *c)
{
	emit_format(out, "<p class=\"dim crumbs\">C%lld: <a href=\"/comparisons?repo=%s\">%s</a>", (long long)c->id, c->repo,
		c->repo);
	if (*c->around->branch)
		emit_format(out, " / <a href=\"/comparisons?repo=%s&amp;branch=%s\">%s{branch}</a>", c->repo, c->around->branch,
			c->around->branch);
	if (c->kind != JOBKIND_COMPARE)
		emit_format(out, ", a %s", jobkind_name(c->kind));
	emit_format(out, "%-s: %s{commit} %s%-s", c->quick ? ", a quick comparison" : "", c->target.commit, c->target.subject,
		c->kind == JOBKIND_ENVIRONMENT  ? ", against itself in another environment</p>\n"
		: comparison_is_side_by_side(c) ? ", against another implementation</p>\n"
						: ", against ");
	if (comparison_is_side_by_side(c))
		return;
	emit_format(out, "%s{commit} %s</p>\n", c->base.commit, c->base.subject);
}

/* Draw which shard of a large suite this is. */
static void draw_shard(struct buf *out, const struct comparison *c)
{
	char text[240];
	if (!c->shard.of)
		return;
	shard_describe(&(struct shard_counts){ c->shard.number, c->shard.of, c->n_cells, c->shard.suite_cells, c->shard.nights,
			       c->shard.measured },
		text, sizeof text);
	emit_format(out, "<p id=shard class=dim>%s</p>\n", text);
}

/* ---- page ---------------------------------------------------------------------------------------------------------- */

static const char *requested(struct http_request *r, const char *name)
{
	const char *value = http_query(r, name);
	return value ? value : "";
}

static bool is_plain(const struct comparison_view *view)
{
	return !*view->show && !*view->find && !*view->sort && !*view->open;
}

static int draw(struct site *site, struct http_response *response, int64_t id, const struct view_around *around,
	const struct comparison_view *view, struct fw_err *err)
{
	enum { USUAL_BYTES = 40 << 10 }; /* reserve once instead of growing by copies */
	struct comparison c;
	struct buf *out = &response->body;
	struct buf title;
	char data[64];
	buf_init(&title, FINDING_BYTES);
	int result = comparison_read(site->db, id, around, &c, err);
	if (result == 0) {
		comparison_finding(&c, &title);
		snprintf(data, sizeof data, "/api/v1/comparisons/%lld", (long long)id);
		buf_reserve(out, USUAL_BYTES);
		layout_begin(response, title.data, "comparisons", "alert. job.queued job.state job.done profile.");
		draw_actions(out, &c);
		draw_crumbs(out, &c);
		draw_shard(out, &c);
		result = draw_comparison_lead(site->db, out, &c, err);
		comparison_spread(out, &c);
		differences(out, &c);
		draw_tools(out, &c, view);
		if (result == 0 && (!*c.identical_by || !comparison_is_of_programs(
								&c))) { /* the program did not run, so its rows are unknown */
			result = comparison_tables(out, &c, view, comparison_detail, site, err);
			draw_comparison_setting(out, &c);
			draw_notes(out, &c);
			draw_comparison_summary(out, &c);
		} else {
			draw_comparison_setting(out, &c);
			draw_notes(out, &c);
		}
		layout_end(response, data, 0);
	}
	buf_fini(&title);
	comparison_free(&c);
	return result;
}

static struct comparison_view view_of(struct http_request *r)
{
	return (struct comparison_view){ .show = requested(r, "show"),
		.find = requested(r, "q"),
		.sort = requested(r, "sort"),
		.open = requested(r, "open") };
}

/* Answer with the page; its stamp covers all inputs, so it is the ETag. */
static int answer(struct site *site, struct http_request *r, struct http_response *response, int64_t id, struct fw_err *err)
{
	const struct comparison_view view = view_of(r);
	struct view_around around;
	char key[24], stamp[PAGE_STAMP_MAX], profile[EXPLANATION_STAMP_SIZE];
	if (page_count_alerts(site, response, err) != 0 || view_around(site->db, id, &around, err) != 0 ||
		explanation_stamp(site->db, id, profile, err) != 0 ||
		page_stamp(id, &around, profile, site->public_url, response, stamp, err) != 0)
		return -1;
	snprintf(key, sizeof key, "%lld", (long long)id);
	if (!page_cache_get(site->pages, key, stamp, response)) {
		if (draw(site, response, id, &around, &view, err) != 0)
			return -1;
		page_cache_put(site->pages, key, stamp, 0, response);
	}
	snprintf(response->etag, sizeof response->etag, "\"%s\"", stamp);
	return 0;
}

/* Answer with cells chosen or opened, by the arguments of the request. */
static int answer_chosen(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const struct comparison_view view = view_of(r);
	struct view_around around;
	int64_t id = answer_path_id(r, "comparison", err);
	return id < 0 || view_around(site->db, id, &around, err) != 0 ? -1 : draw(site, response, id, &around, &view, err);
}

int page_comparison(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const struct comparison_view view = view_of(r);
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	if (!is_plain(&view))
		return page_get(site, r, response, answer_chosen, err);
	int result = db_snapshot_begin(site->db, err);
	if (result == 0) {
		result = answer(site, r, response, id, err);
		db_snapshot_end(site->db);
	}
	return result;
}
