/* screen.c - see screen.c. */
#include "web/page/internal.h"

#include "profile/profile.h"
#include "web/html/html.h"

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

void screen_line(struct buf *out, const struct why *w)
{
	if (!w->head.profile)
		return;
	emit_raw(out, "<p class=why><b>Why:</b> ");
	emit_text(out, w->head.answer);
	emit_raw(out, ".");
	if (w->head.state != JOBSTATE_DONE)
		emit_rawf(out, " <a href=\"/jobs/%lld\">Job %lld</a>", (long long)w->head.job, (long long)w->head.job);
	emit_raw(out, "</p>\n");
}

/* Why nothing was counted, and what to do about it. */
static void uncounted(struct buf *out, const struct why *w)
{
	bool is_denied = strstr(w->why, "administrators"), is_timed = strcmp(w->path, "activity") == 0;

	if (w->evidence.is_counted)
		return;
	emit_rawf(out, "<p class=\"banner warn\"><b>%s:</b> ", is_denied ? "Counters were denied" : "Nothing was counted");
	emit_text(out, *w->why ? w->why : "the worker did not say why");
	emit_rawf(out, ". What follows comes from %smachine code and launches alone, so hardly a cause has its milliseconds. ",
		is_timed ? "times of kernels, " : "");
	emit_raw(out, "<b>Remedy:</b> <code>flopwatch doctor</code> tries it and says what to change");
	emit_raw(out, is_denied ? "; mostly the driver leaves counters to administrators until its module is loaded with "
				  "<code>NVreg_RestrictProfilingToAdminUsers=0</code>.</p>\n"
				: ".</p>\n");
}

static void bar(struct buf *out, const struct why_cause *c)
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

static void causes(struct buf *out, const struct why *w)
{
	static const char *const columns[] = { "Cause", ">Explains ms", "~Share", "How sure" };

	if (w->n_causes == 0)
		return;
	layout_table(out, 4, columns);
	for (size_t i = 0; i < w->n_causes; i++) {
		const struct why_cause *c = &w->cause[i];

		emit_raw(out, "<tr><th scope=row>");
		emit_text(out, c->kind < CAUSE_KINDS ? labels[c->kind] : c->word);
		emit_raw(out, "<span class=why>");
		emit_text(out, c->sentence);
		emit_raw(out, "</span></th>");
		if (strcmp(c->confidence, "seen") == 0 || !isfinite(c->explained_ms)) {
			emit_raw(out, "<td class=n>\u2013</td><td class=w></td>");
		} else {
			emit_rawf(out, "<td class=n>%.3g <span class=dim>of %.3g</span></td><td class=w>", fabs(c->explained_ms),
				fabs(c->of_ms));
			bar(out, c);
			emit_raw(out, "</td>");
		}
		emit_raw(out, "<td>");
		emit_text(out, c->confidence);
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
}

static void configurations(struct buf *out, const struct why *w)
{
	struct config_change change[CONFIG_DELTA_MAX];
	size_t n = config_delta(w->evidence.base_config, w->evidence.target_config, change);
	static const char *const columns[] = { "Configuration", "Base", "Target" };

	if (n == 0)
		return;
	emit_raw(out, "<h3>Configuration</h3>");
	layout_table(out, 3, columns);
	for (size_t i = 0; i < n; i++) {
		const char *const cell[] = { change[i].key, change[i].base, change[i].target };

		emit_raw(out, "<tr>");
		for (int k = 0; k < 3; k++) {
			emit_raw(out, k == 0 ? "<th scope=row><code>" : "<td><code>");
			emit_text(out, *cell[k] ? cell[k] : "none");
			emit_raw(out, k == 0 ? "</code></th>" : "</code></td>");
		}
		emit_raw(out, "</tr>\n");
	}
	layout_table_end(out);
	if (!*w->with_config)
		return;
	emit_raw(out, "<p>The target in the base\u2019s configuration takes ");
	layout_ms(out, w->evidence.with_ms);
	emit_raw(out, ", beside ");
	layout_ms(out, w->evidence.with_target_ms);
	emit_raw(out, " in its own and ");
	layout_ms(out, w->evidence.with_base_ms);
	emit_raw(out, " of the base.</p>\n");
}

static void how(struct buf *out, const struct why *w)
{
	emit_rawf(out, "<p><small><a href=\"/jobs/%lld\">Job %lld</a>", (long long)w->head.job, (long long)w->head.job);
	if (*w->tool) {
		emit_raw(out, ", ");
		emit_text(out, w->tool);
	}
	if (w->passes > 0)
		emit_rawf(out, ", %d passes", w->passes);
	if (w->gpu_s > 0)
		emit_rawf(out, ", the device was held for %.1f s", w->gpu_s);
	emit_raw(out,
		". Counters were read in processes of their own, which ran the branch\u2019s code and timed nothing: they explain "
		"the verdict and have no part in it.</small></p>\n");
}

void screen_draw(struct buf *out, const struct why *w, const struct screen_facts *facts)
{
	if (!w->head.profile)
		return;
	screen_line(out, w);
	if (strcmp(w->state, "done") != 0)
		return;
	uncounted(out, w);
	causes(out, w);
	configurations(out, w);
	tables_kernels(out, w);
	traffic_draw(out, w, facts);
	tables_use(out, w);
	waits_draw(out, w);
	roofline_draw(out, w, facts);
	code_diagnostics(out, w);
	code_draw(out, w);
	code_raw(out, w);
	how(out, w);
}
