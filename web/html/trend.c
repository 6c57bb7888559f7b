#include "web/html/html.h"

#include <math.h>

const struct trend_metric trend_metrics[TREND_METRICS] = {
	{ "tflops", "Throughput", "", "tflops", COST_N, 1 },
	{ "held", "At the held clock", " at the clock of its environment", "held_tflops", COST_N, 1 },
	{ "reference", "Against the reference commit", "% against the reference commit", "reference_change_pct", COST_N, 1 },
	{ "peak", "Share of peak", "% of peak at the held clock", "held_tflops", COST_N, 1 },
	{ "change", "Against its base", "% against the base", "change_pct", COST_N, 1 },
	{ "ms", "Time", "ms", "median_ms", COST_N, 1 },
	{ "memory", "Memory", "MB of workspace", "value", COST_MEMORY, 1e-6 },
	{ "error", "Error", "times the error of the plain type", "value", COST_ERROR, 1 },
	{ "first", "First call", "ms of plan, bind and first call", "value", COST_FIRST, 1 },
	{ "energy", "Energy", "J a call", "value", COST_ENERGY, 1 },
	{ "host", "Host time", "us to enqueue a call", "value", COST_HOST, 1 },
	{ "launches", "Launches", "kernels a call", "value", COST_LAUNCHES, 1 },
};
enum { POINTS_READ_MAX = 50 /* points that are read to find out whether FLOPs are known */ };

/* ---- points ----------------------------------------------------------------------------------------------------------- */

static bool is_metric(const struct trend_metric *metric, const char *name)
{
	return strcmp(metric->name, name) == 0;
}

/* Whether it is shown in the unit of the table. */
static bool is_rate(const struct trend_metric *metric)
{
	return is_metric(metric, "tflops") || is_metric(metric, "held");
}

bool trend_needs_flops(const struct trend_metric *metric)
{
	return is_rate(metric) || is_metric(metric, "peak");
}

static bool is_cost(const struct trend_metric *metric)
{
	return metric->cost != COST_N;
}

const char *trend_stored(const struct trend_metric *metric)
{
	return is_cost(metric) ? cost_kinds[metric->cost].target : NULL;
}

const struct trend_metric *trend_metric(const char *name, bool flops)
{
	const struct trend_metric *found = &trend_metrics[0];
	for (int i = 0; name && i < TREND_METRICS; i++)
		if (is_metric(&trend_metrics[i], name))
			found = &trend_metrics[i];
	for (int i = 0; i < TREND_METRICS && !flops && trend_needs_flops(found); i++)
		if (is_metric(&trend_metrics[i], "ms"))
			return &trend_metrics[i];
	return found;
}

struct known {
	bool times, flops;
	double most_tflops;
};

static void note_point(void *arg, const struct view_point *row)
{
	struct known *known = arg;
	known->times = known->times || isfinite(row->median_ms);
	known->flops = known->flops || isfinite(row->tflops);
	known->most_tflops = unit_max(known->most_tflops, row->tflops);
}

int trend_flops(struct db *db, const struct view_scope *of, bool *flops, struct unit *unit, struct fw_err *err)
{
	struct known known = { .most_tflops = NAN };
	int result = view_history(db, of, POINTS_READ_MAX, note_point, &known, err);
	*flops = known.flops || !known.times;
	*unit = unit_of_rates(known.most_tflops);
	return result < 0 ? -1 : 0;
}

static double value_of(const struct trend_metric *metric, const struct view_point *row)
{
	return is_cost(metric)                  ? row->metric
	       : is_metric(metric, "ms")        ? row->median_ms
	       : is_metric(metric, "change")    ? row->change_pct
	       : is_metric(metric, "reference") ? row->reference_change_pct
	       : is_metric(metric, "tflops")    ? row->tflops
						: row->held_tflops;
}

/*
 * The stored interval is that of the change, except against the reference commit, so the interval of a throughput or a time is
 * derived from it.
 */
static void set_interval(struct chart_point *p, const struct trend_metric *metric, const struct view_point *row)
{
	double low = 1 + row->ci_low_pct / 100, high = 1 + row->ci_high_pct / 100, change = 1 + row->change_pct / 100;
	if (is_cost(metric)) {
		p->low = p->high = NAN;
	} else if (is_metric(metric, "change")) {
		p->low = row->ci_low_pct;
		p->high = row->ci_high_pct;
	} else if (is_metric(metric, "reference")) {
		p->low = row->reference_ci_low_pct;
		p->high = row->reference_ci_high_pct;
	} else if (is_metric(metric, "ms")) {
		p->low = p->y * change / high;
		p->high = p->y * change / low;
	} else {
		p->low = p->y * low / change;
		p->high = p->y * high / change;
	}
}

static void table_row(struct trend *t, const struct view_point *row)
{
	struct buf *out = t->chart.n_lines == 1 ? &t->table : &t->over;
	struct store_commit commit;
	struct fw_err unknown = { 0 };
	if (!t->repo || store_commit_get(t->db, t->repo, row->commit, &commit, &unknown) != 0)
		commit.subject[0] = '\0';
	char digits[13]; /* enough for a link, which a history has many of */
	snprintf(digits, sizeof digits, "%.12s", row->commit);
	emit_format(out, "<tr><td class=w>%lld{time}</td><td><a href=\"/commits/%s\">%s{sha}</a>%s{? <small>*</small>}",
		(long long)row->finished_at, digits, row->commit, commit.subject);
	if (!t->is_one_branch && *row->branch)
		emit_format(out, " <b>%s{branch}</b>", row->branch);
	emit_raw(out, "</td><td class=n>");
	if (is_cost(t->metric) && isfinite(row->metric))
		emit_format(out, "%.4g", t->scale * row->metric);
	else if (is_cost(t->metric))
		emit_raw(out, "\u2013");
	else if (t->flops)
		layout_rate(out, t->unit, row->tflops);
	else
		layout_ms(out, row->median_ms);
	emit_format(out, "</td><td class=n>%f{decided %d}</td><td><a href=\"/comparisons/%lld\">%s{verdict}</a></td></tr>\n",
		row->change_pct, verdict_is_change(row->verdict), (long long)row->comparison, verdict_name(row->verdict));
}

/* y of the base of a point, by the paired change. */
static double base_of(const struct trend_metric *metric, double y, double change_pct)
{
	double change = 1 + change_pct / 100;
	return is_metric(metric, "change") || is_metric(metric, "reference") ? 0
	       : is_metric(metric, "ms")                                     ? y * change
									     : y / change;
}

static void take_point(void *arg, const struct view_point *row)
{
	struct trend *t = arg;
	struct chart_line *line = &t->chart.line[t->chart.n_lines - 1];
	char at[32], change[32] = "change unknown";
	if (line->n == CHART_POINTS_MAX) {
		t->is_cut = true;
		return;
	}
	struct chart_point *p = &line->point[line->n++];
	p->y = t->scale * value_of(t->metric, row);
	set_interval(p, t->metric, row);
	p->at = row->finished_at;
	p->comparison = row->comparison;
	p->baseline_period = row->baseline_period;
	clock_format(row->finished_at, at);
	if (is_cost(t->metric)) { /* verdict and change are of the time */
		p->change_pct = p->base_y = NAN;
		snprintf(p->label, sizeof p->label, "%.10s: %.4g %s, %.16s", row->commit, p->y, t->metric->unit, at);
		if (t->has_table)
			table_row(t, row);
		return;
	}
	p->is_slower = row->verdict == VERDICT_REGRESSION;
	p->is_faster = row->verdict == VERDICT_IMPROVEMENT;
	p->change_pct = row->change_pct;
	p->base_y = base_of(t->metric, p->y, row->change_pct);
	if (isfinite(row->change_pct))
		snprintf(change, sizeof change, "%+.2f %%", row->change_pct);
	snprintf(p->label, sizeof p->label, "%.10s: %.4g %s, %s, %.16s, %.16s", row->commit,
		t->flops ? row->tflops * t->unit.factor : row->median_ms, t->flops ? t->unit.name : "ms", change,
		verdict_name(row->verdict), at);
	if (t->has_table)
		table_row(t, row);
}

/* Points are read newest first; a chart needs the oldest first. */
static void reverse(struct chart_line *line)
{
	for (int i = 0; i < line->n / 2; i++) {
		struct chart_point first = line->point[i];
		line->point[i] = line->point[line->n - 1 - i];
		line->point[line->n - 1 - i] = first;
	}
}

/* ---- events ----------------------------------------------------------------------------------------------------------- */

static struct chart_mark *new_mark(struct trend *t, int64_t at, const char *tone)
{
	if (at == 0)
		return NULL;
	if (t->chart.n_marks == CHART_MARKS_MAX) {
		t->marks_left++;
		return NULL;
	}
	struct chart_mark *m = &t->chart.mark[t->chart.n_marks++];
	*m = (struct chart_mark){ .at = at, .tone = tone };
	return m;
}

static void take_baseline_period(void *arg, const struct view_baseline_period *row)
{
	struct trend *t = arg;
	struct chart_mark *m = new_mark(t, row->started_at, "");
	t->n_baseline_periods++;
	if (m)
		snprintf(m->label, sizeof m->label, "environment: driver %.32s, %.32s, reference commit %.10s", row->driver,
			row->toolkit, row->reference);
}

/* The size of the effect, where it is known. */
static void effect_text(const struct view_environment_change *row, char out[96])
{
	int n = snprintf(out, 96, "%s", row->paired || row->unpaired ? "" : ", not measured yet");
	if (isfinite(row->paired_pct))
		n = snprintf(out, 96, ", %+.2f %%", row->paired_pct);
	if (isfinite(row->unpaired_pct))
		snprintf(out + n, 96 - (size_t)n, "%s%+.1f %% unpaired", n ? "; " : ", ", row->unpaired_pct);
	else if (n == 0)
		snprintf(out, 96, ", this cell could not be measured");
}

static void take_environment(void *arg, const struct view_environment_change *row)
{
	double worst = fmin(row->paired_pct, row->unpaired_pct); /* fmin ignores a NAN */
	struct chart_mark *m = new_mark(arg, row->seen_at, row->alert && worst < 0 ? "bad" : "");
	char changed[160], effect[96];
	changed_text(row->changed_json, changed, sizeof changed);
	effect_text(row, effect);
	if (m)
		snprintf(m->label, sizeof m->label, "environment changed: %s%s", changed, effect);
}

/* When the commit of a finding was first shown, by its comparison among the points. */
static int64_t time_of(const struct trend *t, const char *commit)
{
	const struct chart_line *line = &t->chart.line[0];
	for (int i = 0; i < line->n; i++)
		if (strncmp(line->point[i].label, commit, 10) == 0)
			return line->point[i].at;
	return 0;
}

static void take_change(void *arg, const struct store_change *row)
{
	struct trend *t = arg;
	struct chart_mark *m = new_mark(t, time_of(t, row->commit_sha), row->change_pct < 0 ? "bad" : "good");
	if (m)
		snprintf(m->label, sizeof m->label, "%.16s of %+.2f %% at %.10s, %.16s", row->kind, row->change_pct,
			row->commit_sha, row->state);
}

static void take_alert(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit)
{
	struct trend *t = arg;
	struct chart_mark *m = new_mark(t, time_of(t, commit), "bad");
	if (m)
		snprintf(m->label, sizeof m->label, "A%lld, %.16s, %.16s", (long long)id, alertkind_name(kind),
			alertstate_name(state));
}

static int add_marks(struct db *db, struct trend *t, const struct view_scope *of, struct fw_err *err)
{
	return view_baseline_periods(db, of, take_baseline_period, t, err) ||
			       view_environment_changes(db, of, take_environment, t, err) ||
			       view_changes(db, of, take_change, t, err) || view_cell_alerts(db, of, take_alert, t, err)
		       ? -1
		       : 0;
}

/* Rates at the held clock as a share of the peak of the class; the clock is that of the newest environment. */
static void take_device(void *arg, const struct view_device *row)
{
	struct trend *t = arg;
	if (row->class != t->class)
		return;
	json_t *info = json_loads(row->info_json, 0, NULL);
	t->scale = (double)json_integer_value(json_object_get(info, "cores"));
	const struct chip *chip = derive_chip(row->name);
	t->scale = chip ? 100 / derive_peak_tflops(chip, (int)t->scale, t->held_mhz) : NAN;
	json_decref(info);
}

static void take_held(void *arg, const struct view_baseline_period *row)
{
	struct trend *t = arg;
	t->held_mhz = row->held_mhz;
	t->class = row->class;
}

static int find_scale(struct db *db, struct trend *t, const struct view_scope *of, struct fw_err *err)
{
	t->scale = is_rate(t->metric) ? t->unit.factor : t->metric->scale;
	if (!is_metric(t->metric, "peak"))
		return 0;
	t->scale = NAN;
	if (view_baseline_periods(db, of, take_held, t, err) != 0)
		return -1;
	return t->class ? view_devices(db, take_device, t, err) : 0;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------ */

struct trend *trend_new(const struct trend_metric *metric, bool flops, struct unit unit)
{
	struct trend *t = mem_alloc_zero(1, sizeof *t);
	t->metric = metric;
	t->flops = flops;
	t->unit = unit;
	buf_init(&t->table, 1 << 20);
	buf_init(&t->over, 1 << 20);
	return t;
}

void trend_free(struct trend *t)
{
	if (t) {
		buf_fini(&t->table);
		buf_fini(&t->over);
	}
	free(t);
}

static void take_base(void *arg, const struct view_comparison *row)
{
	struct chart_line *line = arg;
	snprintf(line->origin, sizeof line->origin, "%s", row->base);
}

/* The point of the first line that a branch leaves from: the base of its first push. */
static int find_origin(struct db *db, struct trend *t, const struct view_scope *of, struct chart_line *line, struct fw_err *err)
{
	const struct chart_line *first = &t->chart.line[0];
	bool is_branch = line != first && of->branch && *of->branch && t->branch && strcmp(of->branch, t->branch) != 0;
	if (!is_branch || line->n == 0)
		return 0;
	if (view_comparison(db, line->point[0].comparison, take_base, line, err) != 0)
		return -1;
	for (int i = 0; i < first->n; i++)
		if (strncmp(first->point[i].label, line->origin, sizeof line->origin - 1) == 0)
			line->after = i + 1;
	if (!line->after)
		line->origin[0] = '\0';
	return 0;
}

int trend_add_line(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err)
{
	if (t->chart.n_lines == CHART_LINES_MAX)
		return 0;
	if (t->chart.n_lines && t->has_table)
		emit_format(&t->over, "<tr><th scope=colgroup colspan=5>%s</th></tr>\n", name);
	struct chart_line *line = &t->chart.line[t->chart.n_lines];
	line->point = t->point[t->chart.n_lines++];
	snprintf(line->name, sizeof line->name, "%s", name);
	t->db = db;
	if (t->has_table && store_repo_find(db, of->repo, &t->repo, err) < 0)
		return -1;
	int result = view_history(db, of, CHART_POINTS_MAX + 1, take_point, t, err);
	reverse(line);
	return result == 0 ? find_origin(db, t, of, line, err) : -1;
}

int trend_add_first(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err)
{
	t->is_one_branch = of->branch && *of->branch;
	t->branch = of->branch;
	return find_scale(db, t, of, err) || trend_add_line(db, t, of, name, err) || add_marks(db, t, of, err) ? -1 : 0;
}

void trend_limit(struct trend *t, double around, double threshold_pct)
{
	bool is_change = is_metric(t->metric, "change") || is_metric(t->metric, "reference");
	double share = threshold_pct / 100;
	if (is_cost(t->metric)) { /* more is worse; the band shows as much less, which is never judged */
		t->chart.has_limit = isfinite(around) && share > 0;
		t->chart.slower_y = around * (1 + share);
		t->chart.faster_y = around / (1 + share);
		return;
	}
	if (is_metric(t->metric, "change"))
		around = 0;
	t->chart.has_limit = isfinite(around) && share > 0 && share < 1;
	t->chart.slower_y = is_change                    ? around - threshold_pct
			    : is_metric(t->metric, "ms") ? around / (1 - share)
							 : around * (1 - share);
	t->chart.faster_y = is_change                    ? around + threshold_pct
			    : is_metric(t->metric, "ms") ? around / (1 + share)
							 : around * (1 + share);
}

/* ---- the finding ------------------------------------------------------------------------------------------------------ */

static void put_value(const struct trend *t, double y, struct buf *out)
{
	buf_printf(out, fabs(y) >= 100 ? "%.0f %s" : "%.3g %s", y, is_rate(t->metric) ? t->unit.name : t->metric->unit);
}

/* Whether a point repeats the change of the one before it, as each push of a branch is compared with the branch's base. */
static bool repeats(const struct chart_point *before, const struct chart_point *p)
{
	bool is_same = (p->is_slower && before->is_slower) || (p->is_faster && before->is_faster);
	return is_same && before->y > 0 && fabs(p->y / before->y - 1) * 100 < fabs(p->change_pct) / 2;
}

/* The points since the newest change, that one included: they have one level. */
static int level_of(const struct chart_line *line)
{
	int i = line->n - 1;
	while (i > 0 && !line->point[i].is_slower && !line->point[i].is_faster)
		i--;
	return i;
}

/* The same from the first point that shows the change. */
static int level_from_first(const struct chart_line *line)
{
	int i = level_of(line);
	while (i > 0 && repeats(&line->point[i - 1], &line->point[i]))
		i--;
	return i;
}

static bool is_flat(const struct chart_line *line, int from, double threshold_pct)
{
	double low = INFINITY, high = -INFINITY;
	for (int i = from; i < line->n; i++) {
		low = isfinite(line->point[i].y) ? fmin(low, line->point[i].y) : low;
		high = isfinite(line->point[i].y) ? fmax(high, line->point[i].y) : high;
	}
	return low > 0 && (high / low - 1) * 100 <= threshold_pct;
}

const struct chart_point *trend_step(const struct trend *t, int *line)
{
	const struct chart_point *step = NULL;
	*line = 0;
	for (int i = 0; i < t->chart.n_lines; i++) {
		const struct chart_line *one = &t->chart.line[i];
		const struct chart_point *begin = one->n ? &one->point[level_of(one)] : NULL;
		if (!begin || (!begin->is_slower && !begin->is_faster))
			continue;
		if (step && (step->is_slower != begin->is_slower ? step->is_slower : step->at >= begin->at))
			continue;
		step = begin;
		*line = i;
	}
	return step;
}

void trend_finding(const struct trend *t, int at, bool is_one_branch, const char *name, double threshold_pct, struct buf *out)
{
	const struct chart_line *line = &t->chart.line[at];
	const struct chart_point *newest = line->n ? &line->point[line->n - 1] : NULL;
	bool is_level = is_rate(t->metric) || is_metric(t->metric, "ms") || is_cost(t->metric);
	if (is_cost(t->metric))
		threshold_pct = cost_kinds[t->metric->cost].limit_pct;
	buf_printf(out, "%s: ", name);
	if (!newest || !isfinite(newest->y)) {
		buf_puts(out, newest ? "no value at the newest push" : "not measured yet");
		return;
	}
	put_value(t, newest->y, out);
	int from = level_from_first(line), n = line->n - from;
	const struct chart_point *since = &line->point[from];
	bool is_change = since->is_slower || since->is_faster;
	if (!is_one_branch || !is_level || n == 0)
		buf_printf(out, ", the newest of %d push%s", line->n, line->n == 1 ? "" : "es");
	else if (n == 1 && is_change)
		buf_printf(out, ", %.1f %% %s at %.7s", fabs(since->change_pct), since->is_slower ? "slower" : "faster",
			since->label);
	else if (is_flat(line, from, threshold_pct) && is_change)
		buf_printf(out, ", %.1f %% %s since %.7s (%d pushes)", fabs(since->change_pct),
			since->is_slower ? "slower" : "faster", since->label, n);
	else if (is_flat(line, from, threshold_pct))
		buf_printf(out, ", flat for %d push%s", n, n == 1 ? "" : "es");
	else if (isfinite(since->y)) {
		buf_puts(out, ", from ");
		put_value(t, since->y, out);
		buf_printf(out, " in %d pushes", n);
	}
}

/* Counts the drawn points of a line: a point without this value is not drawn. */
static void count_drawn(const struct chart_line *line, int *points, int *regressions)
{
	*points = *regressions = 0;
	for (int i = 0; i < line->n; i++) {
		*points += isfinite(line->point[i].y);
		*regressions += isfinite(line->point[i].y) && line->point[i].is_slower;
	}
}

static void label_line(struct buf *out, const struct trend *t, const struct chart_line *line, bool is_named)
{
	int points, regressions;
	count_drawn(line, &points, &regressions);
	if (is_named)
		buf_printf(out, "%.60s ", line->name);
	buf_printf(out, "%d point%s", points, points == 1 ? "" : "s");
	if (is_cost(t->metric))
		return;
	buf_puts(out, ", ");
	if (regressions)
		buf_printf(out, "%d regression%s", regressions, regressions == 1 ? "" : "s");
	else
		buf_puts(out, "no regression");
}

void trend_label(struct trend *t, const char *cell, bool by_date)
{
	const struct chart_line *line = &t->chart.line[0];
	struct buf text;
	buf_init(&text, sizeof t->summary - 1);
	snprintf(t->unit_text, sizeof t->unit_text, "%s%s", is_rate(t->metric) ? t->unit.name : "", t->metric->unit);
	buf_printf(&text, "%.200s: ", cell);
	for (int i = 0; i < t->chart.n_lines; i++) {
		if (i)
			buf_puts(&text, "; ");
		label_line(&text, t, &t->chart.line[i], t->chart.n_lines > 1);
	}
	if (t->is_one_branch && t->chart.n_lines == 1 && line->n > 1 && isfinite(line->point[0].y) &&
		isfinite(line->point[line->n - 1].y))
		buf_printf(&text, "; first %.4g, last %.4g %s", line->point[0].y, line->point[line->n - 1].y, t->unit_text);
	if (t->is_cut)
		buf_printf(&text, "; of each line the newest %d pushes", CHART_POINTS_MAX);
	snprintf(t->summary, sizeof t->summary, "%s", text.data ? text.data : "");
	buf_fini(&text);
	t->chart.unit = t->unit_text;
	t->chart.summary = t->summary;
	t->chart.field = t->metric->field;
	t->chart.scale = t->scale;
	t->chart.by_date = by_date;
}
