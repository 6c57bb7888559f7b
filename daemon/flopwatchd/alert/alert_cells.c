/* alert_cells.c - phase and kernel of each slower cell, and the groups of an alert. */
#include "flopwatchd/alert/alert.h"

#include <math.h>
#include <stdio.h>

#define EXPLAINS_LEAST 0.5 /* of the slowdown: a smaller share explains nothing */

enum { CELLS_BYTES_MAX = 1 << 20 };

void alert_cells_init(struct alert_cells *a)
{
	*a = (struct alert_cells){ .worst_pct = NAN };
	buf_init(&a->cells, CELLS_BYTES_MAX);
	buf_init(&a->groups, CELLS_BYTES_MAX);
	jsonw_init(&a->j, &a->cells);
	jsonw_array(&a->j);
}

void alert_cells_fini(struct alert_cells *a)
{
	buf_fini(&a->cells);
	buf_fini(&a->groups);
}

static bool is_certain(const struct result *r, int i, const char *phase, bool is_gain)
{
	struct judge_change c = judge_change(r, i, SERIES_PHASE, phase);
	return is_gain ? c.ci_low_pct > 0 : c.ci_high_pct < 0;
}

/** Return the time by which a call changed. Units: ms, at least 0; NAN unknown. */
static double moved_ms(const struct store_cell *c)
{
	return fabs(c->base_median_ms * expm1(c->decided_m));
}

/**
 * Find the phase that grew most (shrank most if the cell became faster) among those whose interval excludes 0: noise of a long
 * phase exceeds all of a short one, and a single run gives no interval. "" if none explains half of the change. Returns false if
 * no phase was timed.
 */
static bool find_phase(const struct result *r, int i, const struct store_cell *c, bool is_gain, char phase[16])
{
	double least = EXPLAINS_LEAST * moved_ms(c), most = 0;
	bool timed = false;
	phase[0] = 0;
	for (int k = 0; k < r->n_cells; k++) {
		const struct msg_cell *m = r->cell[k];
		if (m->cell != i || m->series != SERIES_PHASE)
			continue;
		double grown = judge_median(r, i, SERIES_PHASE, m->phase, ROLE_TARGET, JUDGE_MS) -
			       judge_median(r, i, SERIES_PHASE, m->phase, ROLE_BASE, JUDGE_MS);
		timed = true;
		if (is_gain)
			grown = -grown;
		if (grown >= least && grown > most && is_certain(r, i, m->phase, is_gain)) {
			most = grown;
			snprintf(phase, 16, "%s", m->phase);
		}
	}
	return timed;
}

static bool is_in(const struct msg_node *n, int i, enum role role, const char *phase)
{
	return n->cell == i && n->role == role && (!phase[0] || strcmp(n->phase, phase) == 0);
}

static bool base_has(const struct result *r, int i, const struct msg_node *n)
{
	for (int k = 0; k < r->n_nodes; k++) {
		const struct msg_node *b = &r->node[k];
		if (is_in(b, i, ROLE_BASE, n->phase) && strcmp(b->kernel, n->kernel) == 0 && b->registers == n->registers &&
			b->local_bytes == n->local_bytes && b->shared_bytes == n->shared_bytes && result_same_code(b, n))
			return true;
	}
	return false;
}

/** Find the target's kernel of that phase: the first that differs from the base's, else the only one; "" if several are equal. */
static void find_kernel(const struct result *r, int i, const char *phase, char kernel[ALERT_KERNEL_SIZE])
{
	int n = 0;
	kernel[0] = 0;
	for (int k = 0; k < r->n_nodes; k++) {
		const struct msg_node *node = &r->node[k];
		if (!is_in(node, i, ROLE_TARGET, phase))
			continue;
		bool changed = !base_has(r, i, node);
		snprintf(kernel, ALERT_KERNEL_SIZE, "%.*s", ALERT_KERNEL_SIZE - 1, node->kernel);
		if (changed)
			return;
		n++;
	}
	if (n > 1)
		kernel[0] = 0;
}

static bool same_group(const struct alert_group *a, const struct alert_group *b)
{
	return strcmp(a->family, b->family) == 0 && strcmp(a->direction, b->direction) == 0 && strcmp(a->phase, b->phase) == 0 &&
	       strcmp(a->kernel, b->kernel) == 0 && strcmp(a->failure, b->failure) == 0 && a->decider == b->decider &&
	       a->is_gain == b->is_gain;
}

static void merge_group(struct alert_group *to, const struct alert_group *g)
{
	if (g->is_gain ? g->most_pct > to->most_pct : g->most_pct < to->most_pct)
		memcpy(to->slow, g->slow, sizeof g->slow);
	to->most_pct = (g->is_gain ? fmax : fmin)(to->most_pct, g->most_pct);
	to->least_pct = (g->is_gain ? fmin : fmax)(to->least_pct, g->least_pct);
	to->cells += g->cells;
}

static bool is_unexplained(const struct alert_group *g)
{
	return !g->phase[0] && !g->kernel[0] && !g->failure[0] && g->decider == DECIDER_PAIRS;
}

static bool may_be_joined(const struct alert_group *explained, const struct alert_group *unexplained)
{
	struct alert_group g = *explained;
	g.phase[0] = g.kernel[0] = 0;
	return explained->phase[0] && same_group(&g, unexplained);
}

/**
 * Join cells without a phase to the group that has one and is otherwise equal: slightly more or less than half of a slowdown is
 * no second cause. The joined group names no phase, since none explains all of its cells. If several groups with a phase match,
 * the cells stay separate.
 */
static void join_unexplained(struct alert_cells *a)
{
	for (int i = 0; i < a->n_groups; i++) {
		int n = 0, with = 0;
		if (!is_unexplained(&a->group[i]))
			continue;
		for (int k = 0; k < a->n_groups; k++)
			if (may_be_joined(&a->group[k], &a->group[i])) {
				n++;
				with = k;
			}
		if (n != 1)
			continue;
		merge_group(&a->group[i], &a->group[with]);
		a->n_groups--;
		memmove(&a->group[with], &a->group[with + 1], (size_t)(a->n_groups - with) * sizeof a->group[0]);
		if (with < i)
			i--;
	}
}

static void count_group(struct alert_cells *a, const struct alert_group *g)
{
	int at = 0;
	while (at < a->n_groups && !same_group(&a->group[at], g))
		at++;
	if (at == ALERT_GROUPS_MAX)
		at--;
	if (at == a->n_groups)
		a->group[a->n_groups++] = *g;
	else
		merge_group(&a->group[at], g);
	a->worst_pct = fmin(a->worst_pct, g->most_pct); /* fmin ignores a NAN */
}

static void write_group(struct jsonw *j, const struct alert_group *g)
{
	jsonw_format(j, "family=%s direction=%s phase?=%s kernel?=%s failure~=%s", g->family, g->direction, g->phase, g->kernel,
		g->failure);
	if (g->decider == DECIDER_SUSTAINED_RUNS)
		jsonw_kv_bool(j, "sustained", true);
	if (g->decider == DECIDER_MEAN)
		jsonw_kv_string(j, "slow_calls", g->slow);
}

void alert_cells_add(struct alert_cells *a, const struct result *r, int i, const struct store_cell *c)
{
	struct alert_group g = {
		.cells = 1, .most_pct = c->decided_pct, .is_gain = c->verdict == VERDICT_IMPROVEMENT, .decider = c->decider
	};
	bool failed = c->verdict == VERDICT_FAILED || c->verdict == VERDICT_REJECTED || c->verdict == VERDICT_UNSUPPORTED ||
		      c->verdict == VERDICT_NOT_COMPARABLE;
	snprintf(g.family, sizeof g.family, "%s",
		plan_is_benchmark(&r->plan) ? r->plan.suite_name : r->plan.request.cell[i].family);
	snprintf(g.direction, sizeof g.direction, "%s", c->direction);
	if (!failed && g.decider == DECIDER_MEAN)
		explain_slow_calls(c->mean.share, c->mean.longer, g.slow);
	if (failed) {
		snprintf(g.failure, sizeof g.failure, "%s", c->failure);
		if (!a->detail[0])
			snprintf(a->detail, sizeof a->detail, "%.190s", c->reason);
	} else {
		bool timed = g.decider == DECIDER_PAIRS && find_phase(r, i, c, g.is_gain, g.phase);
		if (!timed || g.phase[0]) /* a phase that explains nothing has no kernel that explains anything */
			find_kernel(r, i, g.phase, g.kernel);
	}
	g.least_pct = g.most_pct;
	count_group(a, &g);
	a->n++;
	jsonw_format(&a->j, "{ cell=%s suite=%s comparison=%ld verdict=%s change_pct=%f borderline=%i", c->key,
		r->plan.suite_name, c->comparison, verdict_name(c->verdict), c->decided_pct, (c->flags & FLAG_BORDERLINE) != 0);
	write_group(&a->j, &g);
	if (failed)
		jsonw_kv_string(&a->j, "reason", c->reason);
	jsonw_object_end(&a->j);
}

void alert_cells_add_missing(struct alert_cells *a, const char *suite, const char *key, int64_t comparison)
{
	if (a->n++ >= STORE_ALERT_CELLS_MAX) /* beyond the limit, cells are only counted */
		return;
	jsonw_format(&a->j, "{ cell=%s suite=%s comparison~=%ld verdict=%s change_pct=null borderline=%i }", key, suite,
		comparison, "missing", false);
}

void alert_cells_add_unpaired(struct alert_cells *a, const char *suite, const char *key, int64_t comparison, double change_pct)
{
	a->n++;
	a->worst_pct = fmin(a->worst_pct, change_pct);
	jsonw_format(&a->j, "{ cell=%s suite=%s comparison=%ld verdict=%s change_pct=%f borderline=%i unpaired=%i }", key, suite,
		comparison, verdict_name(VERDICT_REGRESSION), change_pct, false, true);
}

static const char *text_of(const json_t *cell, const char *key)
{
	const char *text = json_string_value(json_object_get(cell, key));
	return text ? text : "";
}

void alert_cells_count(struct alert_cells *a, const char *cells_json)
{
	size_t i;
	json_t *cell, *cells = json_loads(cells_json, 0, NULL);
	json_array_foreach(cells, i, cell)
	{
		const json_t *change = json_object_get(cell, "change_pct");
		struct alert_group g = { .cells = 1, .most_pct = json_is_number(change) ? json_number_value(change) : NAN };
		g.least_pct = g.most_pct;
		snprintf(g.family, sizeof g.family, "%s", text_of(cell, "family"));
		snprintf(g.direction, sizeof g.direction, "%s", text_of(cell, "direction"));
		snprintf(g.phase, sizeof g.phase, "%s", text_of(cell, "phase"));
		snprintf(g.kernel, sizeof g.kernel, "%s", text_of(cell, "kernel"));
		snprintf(g.failure, sizeof g.failure, "%s", text_of(cell, "failure"));
		snprintf(g.slow, sizeof g.slow, "%s", text_of(cell, "slow_calls"));
		if (json_is_true(json_object_get(cell, "sustained")))
			g.decider = DECIDER_SUSTAINED_RUNS;
		else if (g.slow[0])
			g.decider = DECIDER_MEAN;
		if (g.failure[0] && !a->detail[0])
			snprintf(a->detail, sizeof a->detail, "%.190s", text_of(cell, "reason"));
		if (json_object_get(cell, "family")) /* cells from the history have no family */
			count_group(a, &g);
		else
			a->worst_pct = fmin(a->worst_pct, g.most_pct);
		a->n++;
	}
	json_decref(cells);
}

int alert_cells_end(struct alert_cells *a, const char **cells_json, const char **groups_json, struct fw_err *err)
{
	struct jsonw j;
	join_unexplained(a);
	jsonw_array_end(&a->j);
	jsonw_init(&j, &a->groups);
	jsonw_array(&j);
	for (int i = 0; i < a->n_groups; i++) {
		jsonw_object(&j);
		write_group(&j, &a->group[i]);
		jsonw_kv_int(&j, "cells", a->group[i].cells);
		jsonw_kv_double(&j, a->group[i].is_gain ? "best_pct" : "worst_pct", a->group[i].most_pct);
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	if (a->cells.failed || a->groups.failed)
		return err_set(err, ERR_FULL, "the alert's cells do not fit");
	*cells_json = a->cells.data;
	*groups_json = a->groups.data;
	return 0;
}

void alert_cells_title(struct alert_cells *a, char *out, size_t size)
{
	join_unexplained(a);
	const struct alert_group *worst = &a->group[0];
	char more[48] = "", phase[32] = "", most[32], least[32], slow[EXPLAIN_SIZE + 2] = "";
	for (int i = 1; i < a->n_groups; i++)
		if (a->group[i].most_pct < worst->most_pct)
			worst = &a->group[i];
	if (a->n_groups > 1)
		snprintf(more, sizeof more, ", and %d more group%s", a->n_groups - 1, a->n_groups == 2 ? "" : "s");
	const char *by = worst->decider == DECIDER_SUSTAINED_RUNS ? "sustained"
			 : worst->decider == DECIDER_MEAN         ? "slow calls"
								  : worst->phase;
	if (by[0])
		snprintf(phase, sizeof phase, " (%s)", by);
	if (worst->slow[0])
		snprintf(slow, sizeof slow, ": %s", worst->slow);
	snprintf(most, sizeof most, "%+.1f", worst->most_pct);
	snprintf(least, sizeof least, "%+.1f", worst->least_pct);
	const char *gap = worst->direction[0] ? " " : "";
	const char *cells = worst->cells == 1 ? "cell" : "cells";
	if (a->n_groups == 0)
		snprintf(out, size, "%d cell%s", a->n, a->n == 1 ? "" : "s");
	else if (worst->failure[0])
		snprintf(out, size, "%s: %s%s%s, %d %s%s: %s", worst->failure, worst->family, gap, worst->direction, worst->cells,
			cells, more, a->detail);
	else if (!isfinite(worst->most_pct))
		snprintf(out, size, "%s%s%s%s: %d %s%s%s", worst->family, gap, worst->direction, phase, worst->cells, cells, slow,
			more);
	else
		snprintf(out, size, "%s%s%s%s %s%s %% in %d %s%s%s", worst->family, gap, worst->direction, phase,
			strcmp(most, least) != 0 ? "up to " : "", most, worst->cells, cells, slow, more);
}
