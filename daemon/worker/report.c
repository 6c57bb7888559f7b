/* report.c - text and JSON of `compare`. */
#include "worker/internal.h"

#include <math.h>

enum { TEXT_MAX = 4 << 20 };

struct cell_result {
	enum verdict verdict;
	bool measured;
	double base_ms, target_ms, base_rate, target_rate; /* TFLOP/s, or GB/s */
	double change_pct, low_pct, high_pct;
	struct cell_verdict decision; /* verdict of its runs */
	bool by_mean;                 /* the mean decides, not the typical call */
};

static bool is_by_bytes(const struct bench *b, int cell)
{
	return case_metric(&b->cells[cell]) == METRIC_GBPS;
}

static const char *rate_name(const struct bench *b, int cell)
{
	return is_by_bytes(b, cell) ? "GB/s" : "TFLOP/s";
}

static void set_cell_result(const struct bench *b, int cell, struct cell_result *f)
{
	const struct bench_cell *c = &b->cell[cell];
	bool by_bytes = is_by_bytes(b, cell);
	double work = by_bytes ? case_bytes(&b->cells[cell]) * 1e3 : case_flops(&b->cells[cell]);

	*f = (struct cell_result){ .verdict = bench_verdict(b, cell) };
	f->measured = c->judged && c->n_runs > 0;
	if (!f->measured)
		return;
	bench_decide(b, cell, &f->decision);
	f->by_mean = f->decision.verdict == f->verdict && f->decision.decider == DECIDER_MEAN;
	f->base_ms = bench_median_ms(b, cell, false);
	f->target_ms = bench_median_ms(b, cell, true);
	f->base_rate = work / (f->base_ms * 1e9);
	f->target_rate = work / (f->target_ms * 1e9);
	f->change_pct = stats_change_pct(c->found.typical.all.m);
	f->low_pct = stats_change_pct(c->found.typical.all.ci_high);
	f->high_pct = stats_change_pct(c->found.typical.all.ci_low);
}

enum verdict report_verdict(const struct bench *b)
{
	enum verdict v = VERDICT_NONE;
	int i;

	for (i = 0; i < b->n_cells; i++)
		v = verdict_worse(v, bench_verdict(b, i));
	return v;
}

/* Return the reason why a cell without a failure has no verdict from its runs; "" if it has one. */
static const char *reason_of(const struct cell_result *f)
{
	if (f->decision.reason[0])
		return f->decision.reason;
	switch (f->verdict) {
	case VERDICT_UNDECIDED:
		return "not measured within the budget";
	case VERDICT_NOT_COMPARABLE:
		return "base and target were given different inputs";
	case VERDICT_REJECTED:
		return "not measured: device readings invalidated every run";
	default:
		return "";
	}
}

static const char *border(const struct cell_result *f)
{
	return f->decision.flags & FLAG_BORDERLINE ? " (borderline)" : "";
}

static void put_flags(const struct cell_result *f, struct buf *out)
{
	char words[FLAG_NAMES_SIZE];

	flag_names(f->decision.flags, words);
	if (words[0])
		buf_printf(out, " (%s)", words);
}

static void row(const struct bench *b, int cell, int width, struct buf *out)
{
	struct cell_result f;

	set_cell_result(b, cell, &f);
	buf_printf(out, "%-*s", width, b->cells[cell].key);
	if (f.measured)
		buf_printf(out, " %10.4f %10.4f %10.4g %10.4g %+8.2f %% %+8.2f .. %+6.2f", f.base_ms, f.target_ms, f.base_rate,
			f.target_rate, f.change_pct, f.low_pct, f.high_pct);
	else
		buf_printf(out, " %10s %10s %10s %10s %10s %18s", "-", "-", "-", "-", "-", "-");
	buf_printf(out, " %8d  %s", b->cell[cell].n_runs, verdict_name(f.verdict));
	put_flags(&f, out);
	buf_putc(out, '\n');
}

static bool is_first_of_group(const struct bench *b, int cell)
{
	for (int i = 0; i < cell; i++)
		if (strcmp(b->cells[i].group, b->cells[cell].group) == 0)
			return false;
	return true;
}

static void table(const struct bench *b, const char *group, int width, struct buf *out)
{
	const struct family_group *known = family_group(group);
	bool any = false;
	int i;

	for (i = 0; i < b->n_cells; i++) {
		if (strcmp(b->cells[i].group, group) != 0)
			continue;
		if (!any)
			buf_printf(out, "%-*s %10s %10s %10s %10s %10s %18s %8s  %s\n", width, known ? known->title : group,
				"base ms", "target ms", is_by_bytes(b, i) ? "base GB/s" : "base TF/s", "target", "change",
				"95 % interval", "runs", "verdict");
		any = true;
		row(b, i, width, out);
	}
	if (any)
		buf_putc(out, '\n');
}

/* Warn of slow calls: of their cost if it exceeds the threshold, else of a difference to the typical call. */
static void warn_of_tail(const struct bench *b, int cell, const struct cell_result *f, struct buf *out)
{
	const struct mean *mean = &f->decision.mean.all;
	char words[EXPLAIN_SIZE];

	explain_slow_calls(mean->share, mean_longer(mean), words);
	if (f->by_mean)
		buf_printf(out,
			"warning: %s: %s: on average %.2f %% less %s than the base (95 %% interval %+.2f .. %+.2f %%, "
			"threshold "
			"%.4g %%)%s; the typical call %+.2f %%\n",
			b->cells[cell].key, words, -stats_change_pct(mean->m), rate_name(b, cell),
			stats_change_pct(mean->m + MEAN_CI * mean->se), stats_change_pct(mean->m - MEAN_CI * mean->se),
			b->cells[cell].threshold_pct, border(f), f->change_pct);
	else if (f->decision.mean.reason[0])
		buf_printf(out, "warning: %s: %s\n", b->cells[cell].key, f->decision.mean.reason);
	else
		buf_printf(out, "warning: %s: %s: on average %+.2f %%, the typical call %+.2f %%\n", b->cells[cell].key, words,
			stats_change_pct(mean->m), f->change_pct);
}

static void print_gain(const struct bench *b, int cell, const struct cell_result *f, struct buf *out)
{
	char words[EXPLAIN_SIZE];

	explain_slow_calls(f->decision.mean.all.share, mean_longer(&f->decision.mean.all), words);
	buf_printf(out, "%s: %s: on average %.2f %% more %s than the base; the typical call %+.2f %%\n", b->cells[cell].key,
		words, stats_change_pct(f->decision.mean.all.m), rate_name(b, cell), f->change_pct);
}

static void warning(const struct bench *b, int cell, struct buf *out)
{
	const struct bench_cell *c = &b->cell[cell];
	const struct bench_failure *t = bench_failure(b, cell);
	const char *key = b->cells[cell].key;
	struct cell_result f;

	set_cell_result(b, cell, &f);
	if (f.decision.mean.is_tail)
		warn_of_tail(b, cell, &f, out);
	switch (f.verdict) {
	case VERDICT_REGRESSION:
		if (f.by_mean)
			break;
		if (c->found.typical.flags & FLAG_SUSTAINED) {
			buf_printf(out,
				"warning: %s: %.2f %% less %s than the base once clocks stabilise (95 %% interval %+.2f .. "
				"%+.2f %%); at "
				"equal clocks %+.2f %%\n",
				key, -stats_change_pct(c->found.sustained.all.m), rate_name(b, cell),
				stats_change_pct(c->found.sustained.all.ci_high), stats_change_pct(c->found.sustained.all.ci_low),
				f.change_pct);
			break;
		}
		buf_printf(out,
			"warning: %s: %.2f %% less %s than the base (95 %% interval %+.2f .. %+.2f %%, threshold %.4g "
			"%%)%s\n",
			key, -f.change_pct, rate_name(b, cell), f.low_pct, f.high_pct, b->cells[cell].threshold_pct, border(&f));
		break;
	case VERDICT_IMPROVEMENT:
		if (f.by_mean)
			print_gain(b, cell, &f, out);
		else if (c->found.typical.flags & FLAG_SUSTAINED)
			buf_printf(out, "%s: %.2f %% more %s than the base once clocks stabilise; in pairs %+.2f %%\n", key,
				stats_change_pct(c->found.sustained.all.m), rate_name(b, cell), f.change_pct);
		else
			buf_printf(out,
				"%s: %.2f %% more %s than the base (95 %% interval %+.2f .. %+.2f %%, threshold %.4g %%)%s\n",
				key, f.change_pct, rate_name(b, cell), f.low_pct, f.high_pct, b->cells[cell].threshold_pct,
				border(&f));
		break;
	case VERDICT_UNDECIDED:
		buf_printf(out, "warning: %s: undecided: %s\n", key, t ? t->detail : reason_of(&f));
		break;
	case VERDICT_FAILED:
	case VERDICT_NOT_COMPARABLE:
	case VERDICT_REJECTED:
		if (!t) {
			buf_printf(out, "warning: %s: %s: %s\n", key, verdict_name(f.verdict), reason_of(&f));
			break;
		}
		buf_printf(out, "warning: %s: %s: %s %s: %s\n", key, verdict_name(f.verdict), role_name(t->role), t->failure,
			t->detail);
		break;
	default:
		break;
	}
}

/* Explain a change that differs from the quotient of the printed medians. */
static void explain_changes(const struct bench *b, struct buf *out)
{
	struct cell_result f;
	int i;

	for (i = 0; i < b->n_cells; i++) {
		set_cell_result(b, i, &f);
		if (!f.measured || fabs(100 * (f.base_ms / f.target_ms - 1) - f.change_pct) < 0.005)
			continue;
		buf_puts(out, "change: the middle of paired ratios\n");
		return;
	}
}

static int flush(struct buf *text, FILE *out)
{
	int result = text->failed || fwrite(text->data, 1, text->len, out) != text->len || fflush(out) != 0 ? -1 : 0;

	buf_fini(text);
	return result;
}

int report_text(const struct bench *b, const char *suite, FILE *out)
{
	double step_s[DEVICE_STEPS];
	char steps[400];
	int width = 24, i;
	struct buf text;

	buf_init(&text, TEXT_MAX);
	for (i = 0; i < b->n_cells; i++)
		if ((int)strlen(b->cells[i].key) > width)
			width = (int)strlen(b->cells[i].key);
	for (i = 0; i < b->n_cells; i++)
		if (is_first_of_group(b, i))
			table(b, b->cells[i].group, width, &text);
	report_work_text(b, &text);
	buf_printf(&text, "%s: %s, suite %s, %d cells, %d runs, device held %.1f s of %.1f s, isolation %s\n",
		verdict_name(report_verdict(b)), b->device.name, suite, b->n_cells, b->runs, b->gpu_s,
		(double)clock_mono_ns() * 1e-9 - b->started_s, sandbox_isolation(b->sandbox));
	bench_steps(b, step_s);
	device_step_summary(step_s, steps, sizeof steps);
	if (*steps)
		buf_printf(&text, "device time: %s\n", steps);
	explain_changes(b, &text);
	for (i = 0; i < b->n_cells; i++)
		warning(b, i, &text);
	return flush(&text, out);
}

static void side(struct jsonw *j, const char *key, const struct bench_side *s)
{
	jsonw_key(j, key);
	jsonw_format(j, "{ module_sha256=%s provider=%s }", s->sha256, s->provider);
}

static void times(struct jsonw *j, const char *key, bool measured, double ms, bool by_bytes, double rate)
{
	jsonw_kv_object(j, key);
	jsonw_kv_double(j, "median_ms", measured ? ms : NAN);
	jsonw_kv_double(j, by_bytes ? "gb_s" : "tflops", measured ? rate : NAN);
	jsonw_object_end(j);
}

static void cell_json(const struct bench *b, int cell, struct jsonw *j)
{
	const struct bench_cell *c = &b->cell[cell];
	const struct bench_failure *t = bench_failure(b, cell);
	char words[FLAG_NAMES_SIZE];
	struct cell_result f;
	bool blamed;

	set_cell_result(b, cell, &f);
	const struct mean *mean = f.decision.mean.is_known ? &f.decision.mean.all : NULL;
	blamed = t && f.verdict != VERDICT_UNDECIDED; /* an undecided result is no side's fault */
	flag_names(f.decision.flags, words);
	jsonw_format(j, "{ cell=%s verdict=%s borderline=%i flags=%s", b->cells[cell].key, verdict_name(f.verdict),
		*border(&f) != '\0', words);
	times(j, "base", f.measured, f.base_ms, is_by_bytes(b, cell), f.base_rate);
	times(j, "target", f.measured, f.target_ms, is_by_bytes(b, cell), f.target_rate);
	if (f.measured)
		jsonw_format(j, "change_pct=%f ci_low_pct=%f ci_high_pct=%f code_pct=%f change_raw_pct=%f", f.change_pct,
			f.low_pct, f.high_pct, stats_change_pct(c->found.typical.all.m_code),
			stats_change_pct(c->found.typical.all.m_raw));
	else
		jsonw_format(j, "change_pct=null ci_low_pct=null ci_high_pct=null code_pct=null change_raw_pct=null");
	jsonw_format(j, "sustained_pct=%f mean_pct=%f slow_base_pct=%f slow_target_pct=%f slow_longer_pct=%f",
		c->n_sustained_runs > 0 ? stats_change_pct(c->found.sustained.all.m) : NAN,
		mean ? stats_change_pct(mean->m) : NAN, mean ? 100 * mean->share[TAIL_BASE] : NAN,
		mean ? 100 * mean->share[TAIL_TARGET] : NAN, mean ? 100 * mean_longer(mean) : NAN);
	jsonw_format(j, "mde_pct=%f threshold_pct=%f runs=%d samples=%d class=%s role=%s detail=%s",
		f.measured ? c->found.typical.mde_pct : NAN, b->cells[cell].threshold_pct, c->n_runs, c->found.typical.all.pairs,
		blamed ? t->failure : "", blamed ? role_name(t->role) : "", t ? t->detail : reason_of(&f));
	report_work_json(b, cell, j);
	jsonw_object_end(j);
}

int report_json(const struct bench *b, const char *suite, FILE *out)
{
	double step_s[DEVICE_STEPS];
	struct jsonw j;
	struct buf text;
	int i;

	buf_init(&text, TEXT_MAX);
	jsonw_init(&j, &text);
	jsonw_format(&j, "{ suite=%s verdict=%s", suite, verdict_name(report_verdict(b)));
	side(&j, "base", &b->side[b->base]);
	side(&j, "target", &b->side[b->target]);
	jsonw_format(&j, "device={ kind=%s uuid=%s name=%s driver=%s toolkit=%s } isolation=%s runs=%d gpu_s=%f steps={",
		device_kind_name(b->device.kind), b->device.uuid, b->device.name, b->device.driver, b->device.toolkit,
		sandbox_isolation(b->sandbox), b->runs, b->gpu_s);
	bench_steps(b, step_s);
	for (i = 0; i < DEVICE_STEPS; i++)
		if (step_s[i] > 0)
			jsonw_kv_double(&j, device_step_names[i], step_s[i]);
	jsonw_format(&j, "} wall_s=%f cells=[", (double)clock_mono_ns() * 1e-9 - b->started_s);
	for (i = 0; i < b->n_cells; i++)
		cell_json(b, i, &j);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	buf_putc(&text, '\n');
	return flush(&text, out);
}
