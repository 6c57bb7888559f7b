/* cell.c - checks, faults and timings of one cell to its verdict, by functions of core. */
#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdio.h>

/* Whether the first set of pairs shows a change that another set must confirm. */
static bool is_unconfirmed(const struct judgement *typical)
{
	return typical->want_set == 2 && !typical->is_pooled;
}

/* ---- lost: Judgement of a cell without its group or earlier comparisons. ---- */

static void judge_alone(const struct result *r, int cell, struct judge_timed *t)
{
	struct store_cell unused;
	memset(t, 0, sizeof *t);
	judge_cell(r, cell, t, &unused);
}

bool judge_pairs_show_slowdown(const struct result *r, int cell)
{
	struct judge_timed t;
	judge_alone(r, cell, &t);
	return is_unconfirmed(&t.found.typical) ||
	       (t.found.typical.verdict == VERDICT_REGRESSION && !(t.found.typical.flags & FLAG_SUSTAINED));
}

bool judge_sustained_runs_show_slowdown(const struct result *r, int cell)
{
	struct judge_timed t;
	judge_alone(r, cell, &t);
	return t.found.sustained.want_set == 2;
}

/* ---- throttle: Void times count too: throttling is why they are void. ---- */

int judge_throttle(struct db *db, const struct result *r, int64_t device, struct fw_err *err)
{
	for (int k = 0; k < DEVICE_CHECK_REASONS; k++)
		for (int i = 0; device_check_reason[k].limits && i < r->n_cells; i++) {
			const struct msg_cell *m = r->cell[i];
			double seconds = m->device_check.reasons & device_check_reason[k].bit ? msg_cell_seconds(m) : 0;
			int64_t own = result_device(r, m);
			if (seconds > 0 && store_throttle_add(db, own ? own : device, device_check_reason[k].name, seconds, err))
				return -1;
		}
	return 0;
}

/* ---- groups: Sums over the cells of a group. ---- */

static int find_group(const struct judge_groups *g, const struct store_cell *c)
{
	for (int i = 0; i < g->n; i++)
		if (strcmp(g->of[i].group, c->group) == 0 && strcmp(g->of[i].direction, c->direction) == 0 &&
			g->of[i].device == c->device)
			return i;
	return -1;
}

void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t)
{
	int i = find_group(g, c);
	if (i < 0 && g->n < JUDGE_GROUPS_MAX) {
		i = g->n++;
		snprintf(g->of[i].group, sizeof g->of[i].group, "%s", c->group);
		snprintf(g->of[i].direction, sizeof g->of[i].direction, "%s", c->direction);
		g->of[i].device = c->device;
		memset(g->of[i].tail, 0, sizeof g->of[i].tail);
	}
	for (int set = 0; i >= 0 && set < MEAN_SETS; set++)
		tail_pool(&g->of[i].tail[set], &t->found.tail[set]);
}

void judge_groups_of_result(const struct result *r, struct judge_groups *g)
{
	g->n = 0;
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		struct judge_timed t;
		struct store_cell c;
		judge_cell(r, i, &t, &c);
		judge_groups_add(g, &c, &t);
	}
}

void judge_groups_mean(const struct judge_groups *g, const struct rule *rule, const struct judge_timed *t, struct store_cell *c)
{
	int i = find_group(g, c);
	judge_mean(rule, t, i >= 0 ? g->of[i].tail : t->found.tail, c);
}

int judge_groups_unconfirmed(const struct result *r, int *cell)
{
	struct judge_groups groups;
	int n = 0;
	judge_groups_of_result(r, &groups);
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		struct judge_timed t;
		struct store_cell c;
		struct cell_verdict v;
		memset(&t, 0, sizeof t);
		judge_cell(r, i, &t, &c);
		if (c.runs == 0)
			continue;
		int group = find_group(&groups, &c);
		cell_decide(
			&r->plan.request.rule, c.threshold_pct, &t.found, group >= 0 ? groups.of[group].tail : t.found.tail, &v);
		if (is_unconfirmed(&t.found.typical) || t.found.sustained.want_set == 2 || v.mean.want_set == 2)
			cell[n++] = i;
	}
	return n;
}

/* ---- cell ---- */

enum { VALUES_MAX = 4096 }; /* limit of a median */

static int find_role(const struct msg_cell *m, enum role role)
{
	for (int i = 0; i < m->n_sides; i++)
		if (m->role[i] == role)
			return i;
	return -1;
}

static bool is_series(const struct msg_cell *m, int cell, enum series series, const char *phase)
{
	return m->cell == cell && m->series == series && strcmp(m->phase, phase) == 0;
}

/* `host`: use the host time of enqueue instead of the device time of the call. */
static void collect_runs(
	const struct result *r, int cell, enum series series, enum role against, bool host, struct judge_runs *out)
{
	for (int i = 0; i < r->n_cells && out->n < STATS_RUNS_MAX; i++) {
		const struct msg_cell *m = r->cell[i];
		int base = find_role(m, against), target = find_role(m, ROLE_TARGET);
		if (!is_series(m, cell, series, "") || base < 0 || target < 0 || m->n < 1)
			continue;
		bool clocks = !host && m->mhz[base] && m->mhz[target];
		out->pairs[out->n] = (struct run_pairs){ .set = m->set,
			.n = m->n,
			.base_ms = host ? m->host_us[base] : m->ms[base],
			.target_ms = host ? m->host_us[target] : m->ms[target],
			.base_mhz = clocks ? m->mhz[base] : NULL,
			.target_mhz = clocks ? m->mhz[target] : NULL };
		out->device_check[out->n] = m->device_check;
		out->message[out->n++] = m;
	}
}

void judge_timed_init(struct judge_timed *t)
{
	memset(t, 0, sizeof *t);
}

enum series judge_series(const struct result *r, int cell)
{
	return r->plan.request.cell[cell].decide;
}

/* Collect all timings of a cell. Own: all remain the result's. */
static void collect_all(const struct result *r, int cell, struct judge_timed *out)
{
	enum series decides = judge_series(r, cell);
	bool by_call = decides == SERIES_CALL;
	judge_timed_init(out);
	out->are_forked = r->plan.request.side[0].benchmark.fork;
	for (int i = 0; i < r->n_notes; i++)
		out->is_base_alone |= strncmp(r->note[i].text, VERDICT_BASE_WHOLE, strlen(VERDICT_BASE_WHOLE)) == 0;
	collect_runs(r, cell, decides, ROLE_BASE, false, &out->decides);
	collect_runs(r, cell, SERIES_SUSTAINED, ROLE_BASE, false, &out->sustained_runs);
	if (!by_call)
		collect_runs(r, cell, SERIES_CALL, ROLE_BASE, false, &out->call);
	if (!by_call)
		collect_runs(r, cell, decides, ROLE_BASE, true, &out->host);
}

/** Return the median over all runs of one side; NAN if samples are missing. */
static double side_median(const struct cell_runs *l, bool target)
{
	float all[VALUES_MAX];
	int n = 0;
	for (int i = 0; i < l->n; i++) {
		const float *v = target ? l->pairs[i].target_ms : l->pairs[i].base_ms;
		if (!l->pairs[i].base_ms || !l->pairs[i].target_ms)
			return NAN;
		for (int k = 0; k < l->pairs[i].n && n < VALUES_MAX; k++)
			all[n++] = v[k];
	}
	return n ? stats_median(all, n) : NAN;
}

static void clear_change(struct store_cell *c)
{
	c->m = c->m_raw = c->se = c->beta = c->m_code = c->se_clock = NAN;
	c->base_median_ms = c->target_median_ms = NAN;
	c->change_pct = c->ci_low_pct = c->ci_high_pct = c->mde_pct = NAN;
	c->decided_m = c->decided_se = c->decided_pct = NAN;
	c->decider = DECIDER_PAIRS;
	c->mean = (struct store_mean){ .m = NAN };
	c->runs = c->samples = 0;
	c->flags = 0;
	c->failure[0] = c->reason[0] = 0;
}

static void set_change(const struct judgement *j, struct store_cell *c)
{
	c->m = j->all.m;
	c->m_raw = j->all.m_raw;
	c->se = j->all.se;
	c->beta = j->beta;
	c->m_code = j->all.m_code;
	c->se_clock = j->all.se_clock;
	c->change_pct = stats_change_pct(j->all.m);
	c->ci_low_pct = stats_change_pct(j->all.ci_high); /* a longer time is a lower throughput */
	c->ci_high_pct = stats_change_pct(j->all.ci_low);
	c->mde_pct = j->mde_pct;
	c->runs = j->all.runs;
	c->samples = j->all.pairs;
	snprintf(c->reason, sizeof c->reason, "%s", j->reason);
}

static void set_verdict(const struct cell_verdict *v, struct store_cell *c)
{
	c->verdict = v->verdict;
	c->decider = v->decider;
	c->flags = v->flags;
	c->decided_m = v->m;
	c->decided_se = v->se;
	c->decided_pct = stats_change_pct(v->m);
}

/** List valid runs; `from`: their indices in the list. */
struct counted {
	struct cell_runs good;
	int from[STATS_RUNS_MAX];
};

/** Returns the number of valid runs; `why`: the reason why the last void run is void. */
static int select_valid(const struct judge_runs *l, struct counted *out, char why[DEVICE_CHECK_WHY_SIZE])
{
	struct cell_runs *good = &out->good;
	memset(out, 0, sizeof *out);
	for (int i = 0; i < l->n; i++) {
		char reason[DEVICE_CHECK_WHY_SIZE];
		if (device_check_discards(&l->device_check[i], reason)) {
			memcpy(why, reason, sizeof reason);
			continue;
		}
		good->pairs[good->n] = l->pairs[i];
		good->estimate[good->n] = l->estimate[i];
		out->from[good->n++] = i;
	}
	return good->n;
}

static void copy_estimates(const struct counted *counted, struct judge_runs *l)
{
	for (int i = 0; i < counted->good.n; i++)
		l->estimate[counted->from[i]] = counted->good.estimate[i];
}

bool judge_estimate(const struct result *r, int cell, enum role role, struct estimate *out)
{
	struct judge_runs all = { .n = 0 };
	struct counted counted;
	char why[DEVICE_CHECK_WHY_SIZE];
	const struct cell *c = &r->plan.request.cell[cell];
	collect_runs(r, cell, judge_series(r, cell), role, false, &all);
	if (select_valid(&all, &counted, why) == 0 || !cell_estimate(&r->plan.request.rule, &counted.good))
		return false;
	struct cell_runs *good = &counted.good;
	struct rule rule = memory_rule(&r->plan.request.rule, c->tau0, c->nu0, good->estimate, good->n);
	stats_combine(&rule, good->estimate, good->n, out);
	return isfinite(out->m) && isfinite(out->se);
}

static int call_flag(const struct rule *rule, struct judge_timed *t)
{
	struct counted counted;
	struct estimate e;
	char why[DEVICE_CHECK_WHY_SIZE];
	select_valid(&t->call, &counted, why);
	(void)cell_estimate(rule, &counted.good); /* after a failure the stored estimates remain */
	copy_estimates(&counted, &t->call);
	stats_combine(rule, counted.good.estimate, counted.good.n, &e);
	return flag_call(&e);
}

/** `before`: the old flag, unchanged if samples were deleted. */
static int enqueue_flag(const struct rule *rule, const struct judge_timed *t, bool is_program, int before)
{
	struct counted counted;
	struct rule host = *rule;
	struct estimate e;
	char why[DEVICE_CHECK_WHY_SIZE];
	host.tau0 = FLAG_HOST_TAU0;
	host.nu0 = FLAG_HOST_NU0;
	host.learned = false;
	host.programs = false; /* its noise is that of the host's time, for all kinds of processes */
	host.beta_min = 0;
	if (select_valid(&t->host, &counted, why) == 0 || !cell_estimate(&host, &counted.good))
		return before & FLAG_ENQUEUE;
	const struct cell_runs *good = &counted.good;
	stats_combine(&host, good->estimate, good->n, &e);
	double variance = e.se * e.se;
	if (t->are_forked) { /* each side has its own parents */
		int parents = (good->n + INTERLEAVE_FORKED_RUNS_MAX - 1) / INTERLEAVE_FORKED_RUNS_MAX;
		variance += 2 * FLAG_PARENT_TAU0 * FLAG_PARENT_TAU0 / parents;
	}
	return flag_enqueue(side_median(good, false), side_median(good, true), e.m - host.k * sqrt(variance), is_program);
}

static void explain_void(const struct judge_timed *t, int counted, const char *why, struct store_cell *c)
{
	int lost = t->decides.n - counted;
	size_t at = strlen(c->reason);
	if (c->verdict == VERDICT_UNDECIDED && lost > 0)
		snprintf(c->reason + at, sizeof c->reason - at, "; %d more did not count: %s", lost, why);
}

/* Partitions of a split job have separate budgets. */
static void explain_budget(const struct result *r, const struct judge_timed *t, struct store_cell *c)
{
	double budget_s = r->cell_device ? 0 : r->plan.request.limits.budget_s;
	bool given_up = t->decides.n - t->found.typical.all.runs >= DEVICE_CHECK_DISCARDED_MAX;
	size_t at = strlen(c->reason);
	if (c->verdict == VERDICT_UNDECIDED && t->found.typical.want_set && !given_up && !r->done.cancelled && budget_s > 0 &&
		r->done.gpu_s >= budget_s) /* cli/summary.c reads the number */
		snprintf(c->reason + at, sizeof c->reason - at, "; the base's budget of %.0f s ended first", budget_s);
}

void judge_timings(const struct rule *general, bool sparse, struct judge_timed *t, struct store_cell *c)
{
	struct counted pairs, sustained_runs;
	struct cell_verdict v;
	struct verdict_options options = { .threshold_pct = c->threshold_pct,
		.tau0 = c->tau0,
		.nu0 = c->nu0,
		.underpowered_pct = c->underpowered_pct,
		.sparse = sparse,
		.is_over = true,
		.is_base_alone = t->is_base_alone };
	char why[DEVICE_CHECK_WHY_SIZE], why_sustained[DEVICE_CHECK_WHY_SIZE];
	int flags = c->flags;
	double beta = isfinite(c->beta) ? c->beta : 0, base = c->base_median_ms, target = c->target_median_ms;
	clear_change(c);
	if (t->decides.n == 0) {
		c->verdict = cell_unmeasured(0);
		snprintf(c->reason, sizeof c->reason, "not measured");
		return;
	}
	if (select_valid(&t->decides, &pairs, why) == 0) {
		c->verdict = cell_unmeasured(t->decides.n);
		c->runs = t->decides.n;
		snprintf(c->reason, sizeof c->reason, "not measured: in all %d runs %s", t->decides.n, why);
		return;
	}
	select_valid(&t->sustained_runs, &sustained_runs, why_sustained);
	pairs.good.beta = beta;
	if (cell_judge(general, &options, &pairs.good, &sustained_runs.good, &t->found)) {
		base = side_median(&pairs.good, false);
		target = side_median(&pairs.good, true);
	}
	copy_estimates(&pairs, &t->decides);
	copy_estimates(&sustained_runs, &t->sustained_runs);
	t->found.typical.flags |= call_flag(general, t) | enqueue_flag(general, t, c->series == SERIES_PROCESS, flags);
	cell_decide(general, c->threshold_pct, &t->found, NULL, &v);
	set_change(&t->found.typical, c);
	set_verdict(&v, c);
	explain_void(t, pairs.good.n, why, c);
	c->base_median_ms = base;
	c->target_median_ms = target;
	c->flags |= flags & FLAG_TAIL;
}

void judge_mean(const struct rule *rule, const struct judge_timed *t, const struct tail *group, struct store_cell *c)
{
	const struct mean *mean;
	struct cell_verdict v;
	if (t->found.tail[0].calls + t->found.tail[1].calls == 0)
		return;
	cell_decide(rule, c->threshold_pct, &t->found, group, &v);
	set_verdict(&v, c);
	mean = &v.mean.all;
	if (v.mean.is_known)
		c->mean = (struct store_mean){ .m = mean->m,
			.se = mean->se,
			.share = { mean->share[TAIL_BASE], mean->share[TAIL_TARGET] },
			.longer = mean_longer(mean) };
	if (v.decider == DECIDER_MEAN)
		c->reason[0] = 0;
	else if (!c->reason[0])
		snprintf(c->reason, sizeof c->reason, "%s", v.reason);
}

/** class[0] is 0 if the side has a result. */
struct problem {
	char class[16];
	char detail[512];
};

static void set_failure(struct problem *t, const char *class, const char *detail)
{
	snprintf(t->class, sizeof t->class, "%s", class[0] ? class : "crash");
	snprintf(t->detail, sizeof t->detail, "%s", detail);
}

static void find_failure(const struct result *r, enum role role, int cell, struct problem *out)
{
	int side = result_side(r, role);
	const struct msg_build *b = side >= 0 ? &r->build[side] : NULL;
	const struct msg_check *check = result_check(r, role, cell);
	const struct msg_fault *fault = result_fault(r, role, cell);
	out->class[0] = 0;
	if (b && strcmp(b->state, "failed") == 0)
		set_failure(out, "build", b->detail);
	else if (check && !check->ok)
		set_failure(out, check->failure, check->detail);
	else if (fault)
		set_failure(out, fault->failure, fault->detail);
}

void judge_target_class(const struct result *r, int i, char class[16])
{
	struct problem target;
	find_failure(r, ROLE_TARGET, i, &target);
	snprintf(class, 16, "%.15s", target.class);
}

static void fail_cell(struct store_cell *c, enum verdict v, const char *class)
{
	clear_change(c);
	c->verdict = v;
	snprintf(c->failure, sizeof c->failure, "%s", class);
}

/** Returns false if the two sides report different inputs; `sha` is "" if unknown. */
static bool same_inputs(const struct result *r, int cell, char sha[65])
{
	const struct msg_check *checks[] = { result_check(r, ROLE_BASE, cell), result_check(r, ROLE_TARGET, cell) };
	sha[0] = 0;
	for (int i = 0; i < 2; i++) {
		const char *reported = checks[i] ? checks[i]->input_sha256 : "";
		if (reported[0] && sha[0] && strcmp(reported, sha) != 0)
			return false;
		if (reported[0])
			snprintf(sha, 65, "%s", reported);
	}
	for (int i = 0; i < r->n_cells; i++) {
		const char *reported = r->cell[i]->cell == cell ? r->cell[i]->input_sha256 : "";
		if (reported[0] && sha[0] && strcmp(reported, sha) != 0)
			return false;
		if (reported[0] && !sha[0])
			snprintf(sha, 65, "%s", reported);
	}
	return true;
}

static const struct msg_fault *outer_fault(const struct result *r, int cell, bool of_this_cell)
{
	for (int i = 0; i < r->n_faults; i++) {
		const struct msg_fault *f = &r->fault[i];
		bool outer = f->role == ROLE_WORKER || f->role == ROLE_DEVICE;
		if (outer && (f->cell == cell || (f->cell < 0 && !of_this_cell)))
			return f;
	}
	return NULL;
}

static bool is_side_by_side(const struct result *r)
{
	return jobkind_is_side_by_side(r->plan.request.kind);
}

/** Return the name of a side in messages: in a comparison of two providers, the requested provider. */
static const char *get_side_name(const struct result *r, enum role role)
{
	int side = result_side(r, role);
	bool is_named = is_side_by_side(r) && side >= 0 && r->plan.request.side[side].provider[0];
	return is_named ? r->plan.request.side[side].provider : role_name(role);
}

/** Set the reason of a cell that a side does not support, which is not a failure. */
static void explain_absence(
	const struct result *r, const struct problem *base, const struct problem *target, struct store_cell *c)
{
	snprintf(c->reason, sizeof c->reason, "%s: %.400s",
		c->verdict == VERDICT_UNSUPPORTED ? "neither side supports it"
		: c->verdict == VERDICT_ADDED     ? get_side_name(r, ROLE_BASE)
						  : get_side_name(r, ROLE_TARGET),
		c->verdict == VERDICT_ADDED ? base->detail : target->detail);
}

/** Judge a cell without valid timings. Returns false if it has timings to judge. */
static bool judge_failure(const struct result *r, int i, const struct judge_timed *t, struct store_cell *c)
{
	const struct msg_fault *outside = outer_fault(r, i, t->decides.n > 0);
	const struct msg_check *check = result_check(r, ROLE_TARGET, i);
	bool rows = plan_is_benchmark(&r->plan), inherited;
	struct problem base, target;
	enum cell_cause cause;
	enum verdict v;
	char inputs[sizeof c->input_sha];
	find_failure(r, ROLE_BASE, i, &base);
	find_failure(r, ROLE_TARGET, i, &target);
	v = cell_obstacle(&(struct cell_failure){ .base = base.class,
				  .target = target.class,
				  .outside = outside ? outside->failure : "",
				  .is_itself = jobkind_is_itself(r->plan.request.kind),
				  .may_be_absent = rows || is_side_by_side(r),
				  .target_does = rows || (check && check->ok),
				  .other_inputs = !same_inputs(r, i, inputs) },
		&cause);
	inherited = strcmp(base.class, target.class) == 0;
	if (cause == CELL_CLEAR || cause == CELL_OUTSIDE)
		memcpy(c->input_sha, inputs, sizeof inputs);
	switch (cause) {
	case CELL_CLEAR:
		return false;
	case CELL_ABSENT:
		fail_cell(c, v, "");
		explain_absence(r, &base, &target, c);
		break;
	case CELL_TARGET:
		fail_cell(c, v, target.class);
		snprintf(c->reason, sizeof c->reason, "%s", target.detail);
		break;
	case CELL_BASE:
		fail_cell(c, v, "");
		snprintf(c->reason, sizeof c->reason, "%s %s%s: %.400s", get_side_name(r, ROLE_BASE), base.class,
			inherited ? " (the target too)" : "", base.detail);
		break;
	case CELL_INPUTS:
		fail_cell(c, v, "");
		snprintf(c->reason, sizeof c->reason, "base and target were given different inputs");
		break;
	case CELL_OUTSIDE:
		fail_cell(c, v, v == VERDICT_REJECTED ? outside->failure : "");
		snprintf(c->reason, sizeof c->reason, "%s%s%.480s", v == VERDICT_REJECTED ? role_name(outside->role) : "",
			v == VERDICT_REJECTED ? ": " : "", outside->detail);
		break;
	}
	return true;
}

static void copy_shape(const struct cell *cell, struct store_cell *c)
{
	const struct family *f = case_family(cell);
	struct buf json;
	if (!f)
		return;
	buf_init(&json, sizeof c->shape - 1);
	family_json(f, cell->shape.bytes, &json);
	buf_require_memory(&json);
	if (!json.failed)
		snprintf(c->shape, sizeof c->shape, "%s", json.data);
	buf_fini(&json);
}

void judge_cell(const struct result *r, int i, struct judge_timed *t, struct store_cell *c)
{
	const struct cell *cell = &r->plan.request.cell[i];
	*c = (struct store_cell){ .n = i,
		.device = r->cell_device ? r->cell_device[i] : 0,
		.confirmed_on = r->confirmed_on ? r->confirmed_on[i] : 0,
		.size = cell->size,
		.pieces = cell->pieces,
		.flops = case_metric(cell) == METRIC_TFLOPS ? case_flops(cell) : NAN,
		.bytes = case_metric(cell) == METRIC_GBPS ? case_bytes(cell) : NAN,
		.tau0 = cell->tau0,
		.nu0 = cell->nu0,
		.underpowered_pct = cell->underpowered_pct,
		.threshold_pct = cell->threshold_pct };
	snprintf(c->key, sizeof c->key, "%s", cell->key);
	snprintf(c->group, sizeof c->group, "%s", cell->group);
	snprintf(c->title, sizeof c->title, "%s", cell->title);
	snprintf(c->line, sizeof c->line, "%s", cell->line);
	snprintf(c->baseline, sizeof c->baseline, "%s", cell->baseline);
	copy_shape(cell, c);
	if (strcmp(cell->family, BENCHMARK_FAMILY) != 0)
		snprintf(c->direction, sizeof c->direction, "%s", direction_name(cell->direction));
	c->series = judge_series(r, i);
	collect_all(r, i, t);
	if (r->identical_by[0]) {
		clear_change(c);
		c->verdict = VERDICT_IDENTICAL;
		snprintf(c->reason, sizeof c->reason, "%s", r->same_why);
		return;
	}
	if (r->plan.dropped) {
		fail_cell(c, VERDICT_REMOVED, "");
		snprintf(c->reason, sizeof c->reason, ".flopwatch.yaml of the target no longer names benchmark %s", c->key);
		return;
	}
	if (judge_failure(r, i, t, c))
		return;
	judge_timings(&r->plan.request.rule, case_is_irregular(cell), t, c);
	if (t->decides.n > 0)
		explain_budget(r, t, c);
	else
		snprintf(c->reason, sizeof c->reason, "%s",
			r->done.cancelled ? "not measured: the job was cancelled" : "not measured: the budget ended first");
}

double judge_median(
	const struct result *r, int cell, enum series series, const char *phase, enum role role, enum judge_values which)
{
	float all[VALUES_MAX];
	int n = 0;
	for (int i = 0; i < r->n_cells; i++) {
		const struct msg_cell *m = r->cell[i];
		int s = is_series(m, cell, series, phase) ? find_role(m, role) : -1;
		if (s < 0)
			continue;
		const float *v = which == JUDGE_MS ? m->ms[s] : which == JUDGE_MHZ ? m->mhz[s] : m->host_us[s];
		for (int k = 0; v && k < m->n && n < VALUES_MAX; k++)
			if (which != JUDGE_MHZ || v[k] > 0) /* 0: unknown clock */
				all[n++] = v[k];
	}
	return n ? stats_median(all, n) : NAN;
}

struct judge_change judge_change(const struct result *r, int cell, enum series series, const char *phase)
{
	struct judge_change out = { NAN, NAN, NAN };
	struct run_estimate run[STATS_RUNS_MAX];
	struct estimate all;
	int runs = 0;
	for (int i = 0; i < r->n_cells && runs < STATS_RUNS_MAX; i++) {
		const struct msg_cell *m = r->cell[i];
		int base = find_role(m, ROLE_BASE), target = find_role(m, ROLE_TARGET), n = 0;
		double y[STATS_PAIRS_MAX];
		if (!is_series(m, cell, series, phase) || base < 0 || target < 0)
			continue;
		for (int k = 0; k < m->n && n < STATS_PAIRS_MAX; k++)
			if (m->ms[base][k] > 0 && m->ms[target][k] > 0)
				y[n++] = log((double)m->ms[target][k] / (double)m->ms[base][k]);
		if (n == 0)
			continue;
		struct run_estimate *e = &run[runs++];
		*e = (struct run_estimate){ .set = m->set, .n = n };
		stats_trimmed(y, n, &e->d, &e->q);
		e->d_raw = e->d;
	}
	if (runs == 0)
		return out;
	stats_combine(&r->plan.request.rule, run, runs, &all);
	out.change_pct = stats_change_pct(all.m);
	if (runs > 1) {
		out.ci_low_pct = stats_change_pct(all.ci_high); /* a longer time is a lower throughput */
		out.ci_high_pct = stats_change_pct(all.ci_low);
	}
	return out;
}
