/* screen.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

/* ---- waits ---- */

enum { SHOWN = 8, WIDTH = 120, HEIGHT = 20 };

static const char *const words[STALLS] = {
	[STALL_BARRIER] = "a barrier",
	[STALL_BRANCH_RESOLVING] = "a branch",
	[STALL_DISPATCH_STALL] = "the dispatcher",
	[STALL_DRAIN] = "stores to drain",
	[STALL_GMMA] = "tensor instructions",
	[STALL_IMC_MISS] = "constants",
	[STALL_LG_THROTTLE] = "space in the queue of memory instructions",
	[STALL_LONG_SCOREBOARD] = "global memory",
	[STALL_MATH_PIPE_THROTTLE] = "a free arithmetic pipe",
	[STALL_MEMBAR] = "a memory fence",
	[STALL_MIO_THROTTLE] = "space in the queue of shared memory instructions",
	[STALL_MISC] = "other things",
	[STALL_NO_INSTRUCTION] = "instructions to be fetched",
	[STALL_NOT_SELECTED] = "other warps that issued",
	[STALL_SELECTED] = "nothing: it issued",
	[STALL_SHORT_SCOREBOARD] = "shared memory",
	[STALL_SLEEPING] = "its sleep to end",
	[STALL_TEX_THROTTLE] = "space in the queue of texture instructions",
	[STALL_WAIT] = "the previous instruction",
};

static void bars(struct buf *out, double base, double target, double most)
{
	emit_rawf(out,
		"<svg class=wait viewBox=\"0 0 %d %d\" aria-hidden=true><path class=b d=\"M0 5H%.1f\"/><path class=t d=\"M0 15H%.1f\"/></svg>",
		WIDTH, HEIGHT, WIDTH * base / most, WIDTH * target / most);
}

/* Find the reason with the largest share that is not drawn yet. */
static int largest(const struct stalls *s, const bool *shown)
{
	int at = -1;

	for (int i = 0; i < STALLS; i++)
		if (!shown[i] && (at < 0 || fmax(s->of[i].base, s->of[i].target) > fmax(s->of[at].base, s->of[at].target)))
			at = i;
	return at;
}

static void draw(struct buf *out, const struct kernel_pair *p, const struct stalls *s)
{
	bool shown[STALLS] = { false };
	double most = 0;

	for (int i = 0; i < STALLS; i++)
		most = fmax(most, fmax(s->of[i].base, s->of[i].target));
	emit_raw(out, "<h3>What warps wait for in ");
	tables_name(out, pair_name(p));
	emit_raw(out, "</h3>");
	layout_table(out, "Waits for|Base above target|>Base %|>Target %|>Points");
	for (int n = 0; n < SHOWN; n++) {
		int i = largest(s, shown);
		double base = s->of[i].base, target = s->of[i].target;

		shown[i] = true;
		if (fmax(base, target) < 0.001)
			break;
		emit_format(out, "<tr><th scope=row>%s <span class=\"dim w\">%s</span></th><td>", words[i], stall_names[i]);
		bars(out, base, target, most);
		emit_rawf(out, "</td><td class=n>%.1f</td><td class=n>%.1f</td><td class=n>", 100 * base, 100 * target);
		layout_signed(out, 100 * (target - base), 1);
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
	emit_raw(out,
		"<p><small>Shares of the time that warps are resident, over all warps; a share may be equal on both sides while the target waits "
		"longer.</small></p>\n");
}

/* Draw the stalls of the kernel with the largest change among those with samples. */
static void draw_stalls(struct buf *out, const struct explanation *w)
{
	const struct kernel_pair *most = NULL;
	struct stalls s;

	for (size_t i = 0; i < w->pairing.n; i++) {
		const struct kernel_pair *p = &w->pairing.pair[i];

		if (!pair_is_whole(p))
			continue;
		stalls_read(p, &s);
		if (s.is_known && (!most || fabs(p->change_ms) > fabs(most->change_ms)))
			most = p;
	}
	if (!most)
		return;
	stalls_read(most, &s);
	draw(out, most, &s);
}

/* ---- roofline ---- */

#define SECTOR 32.0

enum { ROOFLINE_WIDTH = 560, ROOFLINE_HEIGHT = 300, LEFT = 52, RIGHT = 14, TOP = 14, BOTTOM = 40 };

struct point {
	double intensity, tflops; /* FLOP per byte */
};

struct level {
	const char *name;
	double tb_s; /* bandwidth: the slope of its roof */
	struct point base, target;
};

struct scale {
	double low_x, high_x, low_y, high_y; /* limits of the axes, as logarithms */
};

static double bytes_of(const struct explanation *w, int side, const char *const metric[2], double unit)
{
	double sum = 0;

	for (size_t i = 0; i < w->pairing.n; i++)
		for (int m = 0; m < 2 && metric[m]; m++) {
			double v = tables_value(&w->pairing.pair[i], side, metric[m]);

			sum += isfinite(v) ? v * unit : 0;
		}
	return sum;
}

static double x_of(const struct scale *s, double intensity)
{
	return LEFT + (ROOFLINE_WIDTH - LEFT - RIGHT) * (log(intensity) - s->low_x) / (s->high_x - s->low_x);
}

static double y_of(const struct scale *s, double tflops)
{
	return TOP + (ROOFLINE_HEIGHT - TOP - BOTTOM) * (s->high_y - log(tflops)) / (s->high_y - s->low_y);
}

static bool is_whole(const struct level *l)
{
	return isfinite(log(l->base.intensity)) && isfinite(log(l->target.intensity)) && l->tb_s > 0;
}

static void include(struct scale *s, const struct point *p)
{
	s->low_x = fmin(s->low_x, log(p->intensity));
	s->high_x = fmax(s->high_x, log(p->intensity));
	s->low_y = fmin(s->low_y, log(p->tflops));
	s->high_y = fmax(s->high_y, log(p->tflops));
}

/* Draw ticks at 1, 2 and 5 times powers of ten. */
static void draw_ticks(struct buf *out, const struct scale *s, bool of_x)
{
	static const double steps[] = { 1, 2, 5 };
	double low = of_x ? s->low_x : s->low_y, high = of_x ? s->high_x : s->high_y;
	bool wide = high - low > log(100);

	for (int power = (int)floor(low / log(10)); power <= high / log(10); power++)
		for (int i = 0; i < (wide ? 1 : 3); i++) {
			double v = steps[i] * pow(10, power);

			if (log(v) < low || log(v) > high)
				continue;
			if (of_x)
				emit_rawf(out,
					"<path class=grid d=\"M%.1f %dV%d\"/><text x=%.1f y=%d text-anchor=middle>%g</text>",
					x_of(s, v), TOP, ROOFLINE_HEIGHT - BOTTOM, x_of(s, v), ROOFLINE_HEIGHT - BOTTOM + 16, v);
			else
				emit_rawf(out, "<path class=grid d=\"M%d %.1fH%d\"/><text class=tick x=%d y=%.1f>%g</text>", LEFT,
					y_of(s, v), ROOFLINE_WIDTH - RIGHT, LEFT - 6, y_of(s, v) + 4, v);
		}
}

/* Draw the slope up to the peak, cut at the edges of the picture. */
static void draw_roof(struct buf *out, const struct scale *s, const struct level *l, double peak, int index)
{
	double from = fmax(exp(s->low_x), exp(s->low_y) / l->tb_s), to = fmin(exp(s->high_x), peak / l->tb_s);

	if (from >= to)
		return;
	/* the name of the first roof is to its right, that of the second to its left */
	double at = sqrt(from * to), x = x_of(s, at) + (index ? -10 : 10), y = y_of(s, at * l->tb_s) + 4;

	emit_rawf(out,
		"<path class=\"roof r%d\" d=\"M%.1f %.1fL%.1f %.1f\"/><text x=%.1f y=%.1f text-anchor=%s>%s, %.1f TB/s</text>",
		index, x_of(s, from), y_of(s, from * l->tb_s), x_of(s, to), y_of(s, to * l->tb_s), x, y, index ? "end" : "start",
		l->name, l->tb_s);
}

static void draw_arrow(struct buf *out, const struct scale *s, const struct level *l, int index)
{
	double x = x_of(s, l->base.intensity), y = y_of(s, l->base.tflops);
	double to_x = x_of(s, l->target.intensity), to_y = y_of(s, l->target.tflops), len = hypot(to_x - x, to_y - y);

	emit_rawf(out, "<g class=\"r%d\"><circle class=base cx=%.1f cy=%.1f r=5 />", index, x, y);
	if (len > 3) { /* the tip of the arrow is at the target */
		double dx = (to_x - x) / len, dy = (to_y - y) / len, head = fmin(9, len);

		emit_rawf(out, "<path class=arrow d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>", x, y, to_x, to_y,
			to_x - head * (dx + dy * 0.5), to_y - head * (dy - dx * 0.5), to_x, to_y, to_x - head * (dx - dy * 0.5),
			to_y - head * (dy + dx * 0.5));
	} else {
		emit_rawf(out, "<circle class=target cx=%.1f cy=%.1f r=2.5 />", to_x, to_y);
	}
	emit_rawf(out,
		"<text x=%.1f y=%.1f>%s</text>"
		"<title>%s: base %.3g TFLOP/s at %.3g FLOP a byte, target %.3g at %.3g</title></g>",
		x + 9, y - 7, l->name, l->name, l->base.tflops, l->base.intensity, l->target.tflops, l->target.intensity);
}

static void draw_picture(struct buf *out, const struct level *level, int n, double peak)
{
	struct scale s = { INFINITY, -INFINITY, INFINITY, -INFINITY };

	for (int i = 0; i < n; i++) {
		include(&s, &level[i].base);
		include(&s, &level[i].target);
	}
	s.high_y = fmax(s.high_y, log(peak)) + 0.2;
	s.low_y -= 0.7;
	s.low_x = fmin(s.low_x, log(peak / level[n - 1].tb_s)) - 1;
	s.high_x = fmax(s.high_x, log(peak / level[0].tb_s)) + 0.7;
	emit_rawf(out,
		"<svg class=\"chart roofline\" viewBox=\"0 0 %d %d\" role=img aria-label=\"useful TFLOP/s against FLOP a byte; "
		"the values are below\">",
		ROOFLINE_WIDTH, ROOFLINE_HEIGHT);
	draw_ticks(out, &s, true);
	draw_ticks(out, &s, false);
	for (int i = 0; i < n; i++)
		draw_roof(out, &s, &level[i], peak, i);
	emit_rawf(out, "<path class=\"roof\" d=\"M%.1f %.1fH%d\"/><text x=%d y=%.1f text-anchor=end>peak %.0f TFLOP/s</text>",
		fmax(LEFT, x_of(&s, peak / level[n - 1].tb_s)), y_of(&s, peak), ROOFLINE_WIDTH - RIGHT, ROOFLINE_WIDTH - RIGHT,
		y_of(&s, peak) - 5, peak);
	for (int i = 0; i < n; i++)
		draw_arrow(out, &s, &level[i], i);
	emit_rawf(out, "<text x=%d y=%d text-anchor=middle>useful FLOP a byte; up: useful TFLOP/s; both logarithmic</text></svg>",
		(LEFT + ROOFLINE_WIDTH - RIGHT) / 2, ROOFLINE_HEIGHT - 6);
}

static int digits(double v)
{
	return v < 10 ? 2 : v < 100 ? 1 : 0;
}

/* Draw the roofline, with an arrow from base to target for each level, or a line about the missing input. */
static void draw_roofline(struct buf *out, const struct explanation *w, const struct screen_facts *facts)
{
	static const char *const dram[2] = { "dram__bytes_read.sum", "dram__bytes_write.sum" }, *const l2[2] = {
		"lts__t_sectors.sum", NULL
	};
	struct rates rates = rates_of(&facts->device);
	struct level level[2], whole[2];
	double work[2] = { facts->base_tflops * w->base_ms * 1e9, facts->target_tflops * w->target_ms * 1e9 };
	int n = 0;

	if (!w->evidence.is_counted)
		return;
	level[0] = (struct level){ "DRAM", facts->dram_gb_s / 1e3, { work[0] / bytes_of(w, 0, dram, 1), facts->base_tflops },
		{ work[1] / bytes_of(w, 1, dram, 1), facts->target_tflops } };
	level[1] = (struct level){ "L2", rates.l2_bytes / 1e9, { work[0] / bytes_of(w, 0, l2, SECTOR), facts->base_tflops },
		{ work[1] / bytes_of(w, 1, l2, SECTOR), facts->target_tflops } };
	emit_raw(out, "<h3>Roofline</h3>");
	for (int i = 0; i < 2; i++)
		if (is_whole(&level[i]))
			whole[n++] = level[i];
	if (n == 0 || !(facts->peak_tflops > 0) || !(work[0] > 0) || !(work[1] > 0)) {
		emit_rawf(out, "<p><small>It cannot be drawn: %s not known.</small></p>\n",
			!(work[0] > 0) || !(work[1] > 0) ? "the useful FLOPs are"
			: !(facts->peak_tflops > 0)      ? "the device\u2019s peak is"
							 : "the bytes are");
		return;
	}
	emit_raw(out, "<figure>");
	draw_picture(out, whole, n, facts->peak_tflops);
	emit_raw(out, "<figcaption>From base (ring) to target (arrow). ");
	for (int i = 0; i < n; i++)
		emit_rawf(out, "%s: %.4g TFLOP/s at %.*f FLOP a byte, then %.4g at %.*f. ", whole[i].name, whole[i].base.tflops,
			digits(whole[i].base.intensity), whole[i].base.intensity, whole[i].target.tflops,
			digits(whole[i].target.intensity), whole[i].target.intensity);
	emit_raw(out,
		"A point below a slope is at least partly limited by that level of memory; a point below the peak only is limited by computation.</figcaption></figure>\n");
}

/* ---- code ---- */

enum { STALLS_SHOWN = 8 };

static bool is_same(const struct cause_code *c)
{
	return strcmp(c->what, "same") == 0;
}

static void takes(struct buf *out, const char *name, int base, int target)
{
	if (base >= 0 && target >= 0 && base != target)
		emit_rawf(out, ", %s %d \u2192 %d", name, base, target);
}

/* Draw the instructions of one side with the most samples. */
static void draw_stalls_of(struct buf *out, const struct explanation_stalls *s, const char *side)
{
	for (size_t i = 0; i < s->n && i < STALLS_SHOWN && s->samples > 0; i++) {
		const struct explanation_stall *l = &s->line[i];

		emit_rawf(out, "<tr><td>%s</td><th scope=row><code>%04lx</code></th><td class=wrap><code>", side, l->offset);
		emit_format(out, "%s</code></td><td class=n>%.1f</td><td>%s", *l->text ? l->text : "\u2013",
			100.0 * (double)l->samples / (double)s->samples, l->reason);
		if (l->samples > 0)
			emit_rawf(out, " <span class=dim>%.0f %%</span>", 100.0 * (double)l->of_reason / (double)l->samples);
		emit_raw(out, "</td></tr>\n");
	}
}

static void stalls(struct buf *out, const struct explanation_code *w)
{

	if (!w->stalls[0].samples && !w->stalls[1].samples)
		return;
	layout_table(out, "Side|Offset|Instruction|>% of samples|Most wait for");
	draw_stalls_of(out, &w->stalls[0], "base");
	draw_stalls_of(out, &w->stalls[1], "target");
	layout_table_end(out);
}

static void draw_kernel(struct buf *out, const struct cause_code *c, const struct explanation_code *w)
{
	emit_raw(out, "<details class=card><summary>");
	tables_name(out, *c->target ? c->target : c->base);
	emit_format(out, ": %s", c->what);
	if (strcmp(c->what, "added") != 0 && strcmp(c->what, "removed") != 0) {
		takes(out, "registers", c->base_takes.registers, c->target_takes.registers);
		takes(out, "local bytes", c->base_takes.local_bytes, c->target_takes.local_bytes);
		takes(out, "CTAs/SM", c->base_takes.ctas_per_sm, c->target_takes.ctas_per_sm);
	}
	emit_raw(out, "</summary>");
	if (c->n_opcodes) {
		emit_raw(out, "<ul>");
		for (size_t i = 0; i < c->n_opcodes; i++)
			emit_format(out, "<li><code>%s</code> %ld \u2192 %ld</li>", c->opcode[i].opcode, c->opcode[i].base,
				c->opcode[i].target);
		emit_raw(out, "</ul>");
	}
	stalls(out, w);
	if (*w->hunks)
		emit_format(out, "<pre class=log tabindex=0>%s</pre>", w->hunks);
	else if (!is_same(c))
		emit_raw(out, "<p><small>There are no lines to show.</small></p>");
	emit_raw(out, "</details>\n");
}

/*
 * Draw opcodes with different counts, stalls, and hunks to unfold, kernel by kernel; kernels with the same code and no other
 * information are listed together.
 */
static void draw_code(struct buf *out, const struct explanation *w)
{
	size_t same = 0;

	if (w->evidence.n_codes == 0)
		return;
	emit_raw(out, "<h3>Machine code</h3>");
	for (size_t i = 0; i < w->evidence.n_codes; i++) {
		const struct cause_code *c = &w->evidence.code[i];

		same += is_same(c);
		if (!is_same(c) || w->code[i].stalls[0].n || w->code[i].stalls[1].n)
			draw_kernel(out, c, &w->code[i]);
	}
	if (*w->stalls_why)
		emit_format(out, "<p><small>Where in the code warps wait is not known: %s.</small></p>\n", w->stalls_why);
	if (same == w->evidence.n_codes)
		emit_raw(out, "<p>The same on both sides.</p>\n");
	else if (same > 0)
		emit_rawf(out, "<p><small>The code of %zu kernel%s the same on both sides.</small></p>\n", same,
			same == 1 ? " is" : "s are");
}

/* ---- ptxas diagnostics --------------------------------------------------------------------------------------------- */

static bool is_launched(const struct explanation *w, const char *kernel)
{
	for (size_t i = 0; i < w->evidence.n_kernels; i++)
		if (w->evidence.kernel[i].name && diagnostic_names(w->evidence.kernel[i].name, kernel))
			return true;
	return !*kernel;
}

static void diagnostic(struct buf *out, const struct explanation_diagnostic *c)
{
	emit_format(out, "<li>%s%s%s%s%s%s{? in <code>*</code>}</li>\n", c->change, *c->code ? ": (" : ": ", c->code,
		*c->code ? ") " : "", c->what, c->kernel);
}

/* Draw ptxas diagnostics that only one build has, for kernels of this cell; count those of other kernels. */
static void draw_code_diagnostics(struct buf *out, const struct explanation *w)
{
	size_t others = 0;

	if (w->n_diagnostics == 0)
		return;
	emit_raw(out, "<h3>Diagnostics of ptxas</h3><ul class=ptxas>");
	for (size_t i = 0; i < w->n_diagnostics; i++)
		if (is_launched(w, w->diagnostic[i].kernel))
			diagnostic(out, &w->diagnostic[i]);
		else
			others++;
	if (others > 0)
		emit_rawf(out, "<li class=dim>%zu more about kernels that this cell does not run</li>", others);
	emit_raw(out, "</ul>\n");
}

/* ---- values -------------------------------------------------------------------------------------------------------- */

static void draw_value(struct buf *out, const struct cause_kernel *k, const char *metric)
{
	double v = amount_value(k, metric);

	if (isfinite(v))
		emit_rawf(out, " %.7g", v);
	else
		emit_raw(out, " -");
}

static void values(struct buf *out, const struct kernel_pair *p)
{
	const struct cause_kernel *any = pair_kernel(p, 1) && pair_kernel(p, 1)->n_values ? pair_kernel(p, 1) : pair_kernel(p, 0);

	if (!any || any->n_values == 0)
		return;
	emit_raw(out, "<h3>");
	tables_name(out, pair_name(p));
	emit_raw(out, "</h3><pre class=log tabindex=0>");
	for (size_t i = 0; i < any->n_values; i++) {
		emit_text(out, any->value[i].metric);
		for (int side = 0; side < 2; side++)
			for (int repeat = 0; repeat < CAUSE_REPEATS; repeat++)
				draw_value(out, p->at[side][repeat], any->value[i].metric);
		emit_raw(out, "\n");
	}
	emit_raw(out, "</pre>");
}

/* Draw all values of all kernels, folded. */
static void draw_code_raw(struct buf *out, const struct explanation *w)
{
	if (!w->evidence.is_counted)
		return;
	emit_raw(out, "<details><summary>All values as they were read</summary><p><small>The base\u2019s two processes, then the "
		      "target\u2019s; differences between two processes of one side are noise.</small></p>");
	for (size_t i = 0; i < w->pairing.n; i++)
		values(out, &w->pairing.pair[i]);
	emit_raw(out, "</details>\n");
}

/* ---- screen ---- */

enum { BAR_WIDTH = 96, BAR_HEIGHT = 10 };

static const char *const labels[CAUSE_KINDS + 1] = {
	[CAUSE_EXTRA_NODE] = "extra node",
	[CAUSE_MISSING_NODE] = "missing node",
	[CAUSE_CONFIG] = "configuration",
	[CAUSE_CLOCK] = "clock",
	[CAUSE_HOST] = "host",
	[CAUSE_TENSOR_INSTRUCTIONS] = "tensor instructions",
	[CAUSE_EXPONENTIALS] = "exponentials",
	[CAUSE_INSTRUCTIONS] = "instructions",
	[CAUSE_SPILLS] = "spills",
	[CAUSE_BANK_CONFLICTS] = "bank conflicts",
	[CAUSE_SHARED_MEMORY] = "shared memory",
	[CAUSE_ATOMICS] = "atomics",
	[CAUSE_L2_READS] = "L2 reads",
	[CAUSE_L2_WRITES] = "L2 writes",
	[CAUSE_DRAM_READS] = "DRAM reads",
	[CAUSE_DRAM_WRITES] = "DRAM writes",
	[CAUSE_GRID] = "grid",
	[CAUSE_OCCUPANCY] = "occupancy",
	[CAUSE_IMBALANCE] = "imbalance",
	[CAUSE_BARRIER] = "barrier",
	[CAUSE_TENSOR_WAIT] = "tensor wait",
	[CAUSE_MEMORY_WAIT] = "memory wait",
	[CAUSE_SHARED_WAIT] = "shared wait",
	[CAUSE_WAIT] = "wait",
	[CAUSE_MACHINE_CODE] = "machine code",
	[CAUSE_NOT_EXPLAINED] = "not explained",
};

void screen_line(struct buf *out, const struct explanation *w)
{
	if (!w->head.profile)
		return;
	emit_format(out, "<p class=why><b>Why:</b> %s.", w->head.answer);
	if (w->head.state != JOBSTATE_DONE)
		emit_rawf(out, " <a href=\"/jobs/%lld\">J%lld</a>", (long long)w->head.job, (long long)w->head.job);
	emit_raw(out, "</p>\n");
}

/* Draw why nothing was counted, and the fix. */
static void draw_uncounted(struct buf *out, const struct explanation *w)
{
	bool is_denied = strstr(w->why, "administrators"), is_timed = strcmp(w->path, "activity") == 0;

	if (w->evidence.is_counted)
		return;
	emit_format(out,
		"<p class=\"banner warn\"><b>%s:</b> %s. The following is from %smachine code and launches only, so "
		"hardly a cause has its milliseconds. <b>Remedy:</b> <code>flopwatch doctor</code> tests this and prints "
		"the fix%-s",
		is_denied ? "Counters were denied" : "No counters were read", *w->why ? w->why : "the worker reported no reason",
		is_timed ? "times of kernels, " : "",
		is_denied ? "; mostly the driver leaves counters to administrators until its module is loaded with "
			    "<code>NVreg_RestrictProfilingToAdminUsers=0</code>.</p>\n"
			  : ".</p>\n");
}

/* Return the text of a confidence; an unknown name of another version is unchanged. */
static const char *confidence_text(const char *name)
{
	return strcmp(name, "follows") == 0 ? "consequence" : strcmp(name, "seen") == 0 ? "seen, cost unknown" : name;
}

static void draw_bar(struct buf *out, const struct explanation_cause *c)
{
	double share = fmin(1, fmax(0, c->explained_ms / c->of_ms));

	if (!isfinite(share))
		return;
	emit_rawf(out,
		"<svg class=\"share %s\" viewBox=\"0 0 %d %d\" aria-hidden=true><path class=all d=\"M0 5H%d\"/><path class=part "
		"d=\"M0 5H%.1f\"/></svg>",
		c->kind == CAUSE_NOT_EXPLAINED          ? "warn"
		: strcmp(c->confidence, "follows") == 0 ? "dim"
							: "bad",
		BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, share * BAR_WIDTH);
}

static void cause_row(struct buf *out, const struct explanation_cause *c)
{
	emit_format(out, "<tr><th scope=row>%s<span class=why>%s</span></th>", c->kind < CAUSE_KINDS ? labels[c->kind] : c->name,
		c->sentence);
	if (strcmp(c->confidence, "seen") == 0 || !isfinite(c->explained_ms)) {
		emit_raw(out, "<td class=n>\u2013</td><td class=w></td>");
	} else {
		emit_rawf(out, "<td class=n>%.3g <span class=dim>of %.3g</span></td><td class=w>", fabs(c->explained_ms),
			fabs(c->of_ms));
		draw_bar(out, c);
		emit_raw(out, "</td>");
	}
	emit_format(out, "<td>%s</td></tr>\n", confidence_text(c->confidence));
}

/* Draw the causes, the unexplained rest last; without counters there is no rest. */
static void draw_causes(struct buf *out, const struct explanation *w)
{
	size_t n = 0;

	for (int is_rest = 0; is_rest <= (w->evidence.is_counted ? 1 : 0); is_rest++)
		for (size_t i = 0; i < w->n_causes; i++) {
			if ((w->cause[i].kind == CAUSE_NOT_EXPLAINED) != is_rest)
				continue;
			if (n++ == 0)
				layout_table(out, "Cause|>Explains ms|~Share|How sure");
			cause_row(out, &w->cause[i]);
		}
	if (n == 0)
		return;
	layout_table_end(out);
	if (w->base_ms > 0) /* otherwise only the times of the profiled kernels are known */
		emit_raw(out,
			"<p><small>Milliseconds by the verdict: its change, from pairs of calls, of the base\u2019s median; the "
			"two medians differ by slightly more or less.</small></p>\n");
}

static void draw_configurations(struct buf *out, const struct explanation *w)
{
	struct config_change change[CONFIG_DELTA_MAX];
	size_t n = config_delta(w->evidence.base_config, w->evidence.target_config, change);

	if (n == 0)
		return;
	emit_raw(out, "<h3>Configuration</h3>");
	layout_table(out, "Configuration|Base|Target");
	for (size_t i = 0; i < n; i++) {
		const char *const cell[] = { change[i].key, change[i].base, change[i].target };

		emit_raw(out, "<tr>");
		for (int k = 0; k < 3; k++)
			emit_format(out, "%-s%s%-s", k == 0 ? "<th scope=row><code>" : "<td><code>", *cell[k] ? cell[k] : "none",
				k == 0 ? "</code></th>" : "</code></td>");
		emit_raw(out, "</tr>\n");
	}
	layout_table_end(out);
	if (!*w->with_config)
		return;
	emit_format(out,
		"<p>The target in the base\u2019s configuration takes %f{ms}, against %f{ms} in its own and %f{ms} of the "
		"base.</p>\n",
		w->evidence.with_ms, w->evidence.with_target_ms, w->evidence.with_base_ms);
}

static void how(struct buf *out, const struct explanation *w)
{
	emit_format(out, "<p><small><a href=\"/jobs/%lld\">J%lld</a>%s{?, *}", (long long)w->head.job, (long long)w->head.job,
		w->tool);
	if (w->passes > 0)
		emit_rawf(out, ", %d passes", w->passes);
	if (w->gpu_s > 0)
		emit_rawf(out, ", the device was held for %.1f s", w->gpu_s);
	emit_raw(out, ". Counters were read in separate processes: they explain the verdict and do not affect it.</small></p>\n");
}

void screen_draw(struct buf *out, const struct explanation *w, const struct screen_facts *facts)
{
	if (!w->head.profile)
		return;
	screen_line(out, w);
	if (strcmp(w->state, "done") != 0)
		return;
	draw_causes(out, w);
	draw_uncounted(out, w);
	tables_kernels(out, w);
	draw_configurations(out, w);
	draw_code_diagnostics(out, w);
	draw_code(out, w);
	if (w->evidence.is_counted) {
		emit_raw(out, "<details class=counted><summary>Traffic, waits and roofline</summary>");
		traffic_draw(out, w, facts);
		tables_use(out, w);
		draw_stalls(out, w);
		draw_roofline(out, w, facts);
		emit_raw(out, "</details>\n");
	}
	draw_code_raw(out, w);
	how(out, w);
}
