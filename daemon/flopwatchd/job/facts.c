/* facts.c - medians of the other series, results of checks, and changed kernels. */
#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdio.h>

#include "profile/profile.h"

enum { NODES_MAX_BYTES = 4 << 20, TRIED_MAX_BYTES = 1 << 18, KERNELS_MAX_BYTES = 1 << 18, CHANGED_MAX = 4 };

static const enum role sides[] = { ROLE_BASE, ROLE_TARGET };

/** Destination of a cell's metrics; stops at the first error. */
struct sink {
	struct db *db;
	int64_t cell;
	struct fw_err *err;
	int failed;
};

static void put_metric(struct sink *s, const char *prefix, const char *name, const char *unit, double value)
{
	char full[96];
	snprintf(full, sizeof full, "%s.%s", prefix, name);
	if (!s->failed)
		s->failed = store_metric(s->db, s->cell, full, unit, value, s->err);
}

/** Store medians of both sides and the paired change of one series. `scale` converts ms to `unit`. */
static void put_series(
	struct sink *s, const struct result *r, int i, enum series series, const char *phase, const char *unit, double scale)
{
	char prefix[48], name[32];
	snprintf(prefix, sizeof prefix, "%s%s%s", series_name(series), phase[0] ? "." : "", phase);
	for (int k = 0; k < 2; k++) {
		snprintf(name, sizeof name, "%s_%s", role_name(sides[k]), unit);
		put_metric(s, prefix, name, unit, scale * judge_median(r, i, series, phase, sides[k], JUDGE_MS));
	}
	struct judge_change change = judge_change(r, i, series, phase);
	put_metric(s, prefix, "change_pct", "pct", change.change_pct);
	put_metric(s, prefix, "ci_low_pct", "pct", change.ci_low_pct);
	put_metric(s, prefix, "ci_high_pct", "pct", change.ci_high_pct);
}

static void put_phases(struct sink *s, const struct result *r, int i)
{
	for (int k = 0; k < r->n_cells; k++) {
		const struct msg_cell *m = r->cell[k];
		bool seen = m->cell != i || m->series != SERIES_PHASE;
		for (int p = 0; p < k && !seen; p++)
			seen = r->cell[p]->cell == i && r->cell[p]->series == SERIES_PHASE &&
			       strcmp(r->cell[p]->phase, m->phase) == 0;
		if (!seen)
			put_series(s, r, i, SERIES_PHASE, m->phase, "ms", 1);
	}
}

static void put_device_extras(struct sink *s, const struct result *r, int i)
{
	enum series clocked = judge_series(r, i) == SERIES_PROCESS ? SERIES_PROCESS : SERIES_DEVICE;

	for (int k = 0; k < 2; k++) {
		char name[32];
		snprintf(name, sizeof name, "%s_mhz", role_name(sides[k]));
		put_metric(s, "clock", name, "mhz", judge_median(r, i, clocked, "", sides[k], JUDGE_MHZ));
		snprintf(name, sizeof name, "%s_us", role_name(sides[k]));
		put_metric(s, "enqueue", name, "us", judge_median(r, i, clocked, "", sides[k], JUDGE_HOST_US));
	}
}

struct sustained_energy result_energy(const struct result *r, int cell)
{
	struct sustained_energy e = { .least_ratio = INFINITY };
	double sum[2] = { 0 };
	for (int c = 0; c < r->n_cells; c++) {
		const struct msg_cell *m = r->cell[c];
		char why[DEVICE_CHECK_WHY_SIZE];
		double j[2] = { NAN, NAN };
		if (m->cell != cell || m->series != SERIES_SUSTAINED || device_check_discards(&m->device_check, why))
			continue;
		for (int i = 0; i < m->n_sides; i++)
			for (int k = 0; k < 2; k++)
				if (m->role[i] == sides[k] && m->energy_j[i] > 0)
					j[k] = m->energy_j[i];
		if (!isfinite(j[0]) || !isfinite(j[1]))
			continue;
		sum[0] += j[0];
		sum[1] += j[1];
		e.least_ratio = fmin(e.least_ratio, j[1] / j[0]);
		e.runs++;
	}
	e.base_j = e.runs ? sum[0] / e.runs : NAN;
	e.target_j = e.runs ? sum[1] / e.runs : NAN;
	return e;
}

/** Store medians of the sustained runs: time, clock of each side, energy of a call. The judge writes their change. */
static void put_sustained_runs(struct sink *s, const struct result *r, int i)
{
	struct sustained_energy energy = result_energy(r, i);
	for (int k = 0; k < 2; k++) {
		char name[32];
		snprintf(name, sizeof name, "%s_ms", role_name(sides[k]));
		put_metric(s, "sustained", name, "ms", judge_median(r, i, SERIES_SUSTAINED, "", sides[k], JUDGE_MS));
		snprintf(name, sizeof name, "%s_mhz", role_name(sides[k]));
		put_metric(s, "sustained_clock", name, "mhz", judge_median(r, i, SERIES_SUSTAINED, "", sides[k], JUDGE_MHZ));
		snprintf(name, sizeof name, "%s_j", role_name(sides[k]));
		put_metric(s, "energy", name, "j", k ? energy.target_j : energy.base_j);
	}
}

int judge_facts_timed(struct db *db, int64_t cell, const struct judge_timed *t, struct fw_err *err)
{
	struct sink s = { .db = db, .cell = cell, .err = err };
	const struct judgement *j = &t->found.sustained;
	if (j->all.runs > 0) {
		put_metric(&s, "sustained", "change_pct", "pct", stats_change_pct(j->all.m));
		put_metric(&s, "sustained", "ci_low_pct", "pct", stats_change_pct(j->all.ci_high));
		put_metric(&s, "sustained", "ci_high_pct", "pct", stats_change_pct(j->all.ci_low));
		put_metric(&s, "sustained", "runs", "count", j->all.runs);
	}
	struct tail both = t->found.tail[0];
	tail_pool(&both, &t->found.tail[1]);
	put_metric(&s, "slow_calls", "base_pct", "pct", both.calls ? 100 * tail_share(&both, TAIL_BASE) : NAN);
	put_metric(&s, "slow_calls", "target_pct", "pct", both.calls ? 100 * tail_share(&both, TAIL_TARGET) : NAN);
	return s.failed ? s.failed : store_slow_calls_put(db, cell, t->found.tail, err);
}

static double nan_if_unknown(double v) /* -1: unknown */
{
	return v >= 0 ? v : NAN;
}

static void put_side(struct sink *s, const struct result *r, int i, enum role role)
{
	const struct msg_check *check = result_check(r, role, i);
	const struct msg_work *w = result_work(r, role, i);
	const char *side = role_name(role);
	if (check)
		put_metric(s, side, "error_ratio", "ratio", nan_if_unknown(check->error_ratio));
	if (check && check->repeats[0])
		put_metric(s, side, "repeatable", "count", strcmp(check->repeats, "same") == 0);
	if (!w)
		return;
	put_metric(s, side, "flops_issued", "count", nan_if_unknown(w->flops_issued));
	put_metric(s, side, "bytes_moved", "bytes", nan_if_unknown(w->bytes_moved));
	put_metric(s, side, "workspace_bytes", "bytes", nan_if_unknown((double)w->workspace_bytes));
	put_metric(s, side, "tiles_total", "count", nan_if_unknown((double)w->tiles_total));
	put_metric(s, side, "tiles_skipped", "count", nan_if_unknown((double)w->tiles_skipped));
	put_metric(s, side, "tiles_partial", "count", nan_if_unknown((double)w->tiles_partial));
	put_metric(s, side, "blocks_kept", "count", nan_if_unknown((double)w->blocks_kept));
	if (w->tensor_bytes > 0)
		put_metric(s, side, "peak_bytes", "bytes", (double)(w->tensor_bytes + w->workspace_bytes + w->persist_bytes));
	put_metric(s, side, "taken_bytes", "bytes", nan_if_unknown((double)w->taken_bytes));
	put_metric(s, side, "first_ms", "ms", nan_if_unknown(w->first_ms));
	put_metric(s, side, "launches", "count", result_launches(r, role, i));
	if (w->mask_blocks > 0) {
		put_metric(s, side, "mask_blocks", "count", (double)w->mask_blocks);
		put_metric(s, side, "mask_kept", "count", (double)w->mask_kept);
	}
	if (w->mask.pairs > 0) {
		put_metric(s, side, "mask_pairs", "count", (double)w->mask.pairs);
		put_metric(s, side, "mask_pairs_kept", "count", (double)w->mask.pairs_kept);
		put_metric(s, side, "mask_rows", "count", (double)w->mask.rows);
		put_metric(s, side, "mask_rows_empty", "count", (double)w->mask.rows_empty);
		put_metric(s, side, "mask_tiles", "count", (double)w->mask.tiles);
		put_metric(s, side, "mask_tiles_masked", "count", (double)w->mask.tiles_masked);
		put_metric(s, side, "mask_common_tiles", "count", (double)w->mask.common_tiles);
		put_metric(s, side, "mask_common_masked", "count", (double)w->mask.common_masked);
	}
}

static void write_triple(struct jsonw *j, const char *key, const int v[3])
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (int i = 0; i < 3; i++)
		jsonw_int(j, v[i]);
	jsonw_array_end(j);
}

static void write_shape(struct jsonw *j, const struct msg_node *n)
{
	write_triple(j, "grid", n->grid);
	write_triple(j, "block", n->block);
	jsonw_format(j, "registers=%d local_bytes=%d shared_bytes=%d code_sha256?=%s", n->registers, n->local_bytes,
		n->shared_bytes, n->code_sha256);
}

static bool is_node(const struct msg_node *n, int cell, enum role role)
{
	return n->cell == cell && n->role == role;
}

static void write_nodes(struct jsonw *j, const struct result *r, int i, enum role role)
{
	const struct msg_work *w = result_work(r, role, i);
	jsonw_key(j, role_name(role));
	jsonw_format(j, "{ provider=%s config=%s nodes=[", w ? w->provider : NULL, w ? w->config : NULL);
	for (int k = 0; k < r->n_nodes; k++) {
		if (!is_node(&r->node[k], i, role))
			continue;
		jsonw_format(j, "{ phase=%s kernel=%s", r->node[k].phase, r->node[k].kernel);
		write_shape(j, &r->node[k]);
		jsonw_object_end(j);
	}
	jsonw_format(j, "] }");
}

static bool same_position(const struct msg_node *a, const struct msg_node *b)
{
	return strcmp(a->phase, b->phase) == 0 && strcmp(a->kernel, b->kernel) == 0;
}

static bool same_shape(const struct msg_node *a, const struct msg_node *b)
{
	return memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
	       a->registers == b->registers && a->local_bytes == b->local_bytes && a->shared_bytes == b->shared_bytes;
}

/**
 * Find the node of `role` that corresponds to node `k`: same phase, same kernel, same number of earlier such nodes. NULL: none.
 */
static const struct msg_node *find_counterpart(const struct result *r, int k, enum role role)
{
	const struct msg_node *n = &r->node[k];
	int nth = 0;
	for (int p = 0; p < k; p++)
		nth += is_node(&r->node[p], n->cell, n->role) && same_position(&r->node[p], n);
	for (int p = 0; p < r->n_nodes; p++)
		if (is_node(&r->node[p], n->cell, role) && same_position(&r->node[p], n) && nth-- == 0)
			return &r->node[p];
	return NULL;
}

static void write_side_shape(struct jsonw *j, const char *key, const struct msg_node *n)
{
	jsonw_key(j, key);
	if (!n) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	write_shape(j, n);
	jsonw_object_end(j);
}

static void write_change(struct jsonw *j, const struct msg_node *base, const struct msg_node *target)
{
	const struct msg_node *n = base ? base : target;
	jsonw_format(j, "{ phase=%s kernel=%s", n->phase, n->kernel);
	write_side_shape(j, "base", base);
	write_side_shape(j, "target", target);
	jsonw_object_end(j);
}

static void write_changes(struct jsonw *j, const struct result *r, int i)
{
	int n[2] = { 0, 0 }, changed = 0;
	jsonw_format(j, "{ changed=[");
	for (int k = 0; k < r->n_nodes; k++)
		for (int side = 0; side < 2; side++) {
			if (!is_node(&r->node[k], i, sides[side]))
				continue;
			n[side]++;
			const struct msg_node *other = find_counterpart(r, k, sides[!side]);
			/* a pair is written once, with its base */
			if (other && (side == 1 || (same_shape(&r->node[k], other) && result_same_code(&r->node[k], other))))
				continue;
			if (changed++ < CHANGED_MAX)
				write_change(j, side ? other : &r->node[k], side ? &r->node[k] : other);
		}
	jsonw_format(j, "] changes=%d base=%d target=%d }", changed, n[0], n[1]);
}

static int put_artifact(struct sink *s, const char *kind, struct buf *text)
{
	if (text->failed)
		return err_set(s->err, ERR_FULL, "the %s of a cell do not fit", kind);
	return store_artifact(s->db, "cell", s->cell, kind, text->data, text->len, s->err);
}

static void put_nodes(struct sink *s, const struct result *r, int i)
{
	struct buf text;
	struct jsonw j;
	if (s->failed || (!result_work(r, ROLE_BASE, i) && !result_work(r, ROLE_TARGET, i)))
		return;
	buf_init(&text, NODES_MAX_BYTES);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	for (int k = 0; k < 2; k++)
		write_nodes(&j, r, i, sides[k]);
	jsonw_object_end(&j);
	s->failed = put_artifact(s, "nodes", &text);
	if (!s->failed && r->n_nodes) {
		buf_clear(&text);
		jsonw_init(&j, &text);
		write_changes(&j, r, i);
		s->failed = put_artifact(s, "nodes_changed", &text);
	}
	buf_fini(&text);
}

static void put_tried(struct sink *s, const struct result *r, int i)
{
	const struct msg_work *w[] = { result_work(r, ROLE_BASE, i), result_work(r, ROLE_TARGET, i) };
	static const struct tried none;
	struct buf text;
	struct jsonw j;
	if (s->failed || !((w[0] && w[0]->tried.n) || (w[1] && w[1]->tried.n)))
		return;
	buf_init(&text, TRIED_MAX_BYTES);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	for (int k = 0; k < 2; k++) {
		jsonw_key(&j, role_name(sides[k]));
		tried_write(&j, w[k] ? &w[k]->tried : &none);
	}
	jsonw_object_end(&j);
	s->failed = put_artifact(s, "tried", &text);
	buf_fini(&text);
}

static const struct reported_kernel *find_kernel(const struct msg_reported_kernels *m, const char *name)
{
	for (int i = 0; m && i < m->list.n; i++)
		if (strcmp(m->list.kernel[i].name, name) == 0)
			return &m->list.kernel[i];
	return NULL;
}

/* Whether autotuners chose between the same configurations for the same source. */
static const char *describe_equality(
	const struct result *r, const struct reported_kernel *base, const struct reported_kernel *target)
{
	int of_base = result_side(r, ROLE_BASE), of_target = result_side(r, ROLE_TARGET);

	if (strcmp(r->plan.request.side[of_base].commit, r->plan.request.side[of_target].commit) == 0)
		return ": both sides are the same commit, so equal kernels choose differently";
	if (base->source_sha256[0] && strcmp(base->source_sha256, target->source_sha256) == 0)
		return ": its source and configurations are equal on both sides, so equal kernels choose differently";
	return "";
}

bool result_other_choice(const struct result *r, int cell, int i, char out[RESULT_CHOICE_SIZE])
{
	const struct msg_reported_kernels *of_base = result_kernels(r, ROLE_BASE, cell),
					  *of_target = result_kernels(r, ROLE_TARGET, cell);
	const struct reported_kernel *base = of_base && i < of_base->list.n ? &of_base->list.kernel[i] : NULL,
				     *target = base ? find_kernel(of_target, base->name) : NULL;
	char choice[CONFIG_DELTA_SIZE] = "";

	if (target && base->config[0] && target->config[0] && find_kernel(of_base, base->name) == base)
		config_choice_text(base->config, target->config, choice);
	if (!choice[0])
		return false;
	snprintf(out, RESULT_CHOICE_SIZE, "the autotuner chose %s in %s%s", choice, base->name,
		describe_equality(r, base, target));
	return true;
}

/* Write one sentence for each kernel with another choice of the autotuner, and for processes with other kernels. */
static void write_choices(struct jsonw *j, const struct result *r, int cell, const struct msg_reported_kernels *const m[2])
{
	jsonw_kv_array(j, "causes");
	for (int i = 0; m[0] && i < m[0]->list.n; i++) {
		char text[RESULT_CHOICE_SIZE];

		if (result_other_choice(r, cell, i, text))
			jsonw_string(j, text);
	}
	for (int k = 0; k < 2; k++) {
		char text[160];

		if (!m[k] || m[k]->unlike == 0)
			continue;
		snprintf(text, sizeof text, "%d of %d processes of the %s ran other kernels or configurations than the first",
			m[k]->unlike, m[k]->processes, role_name(sides[k]));
		jsonw_string(j, text);
	}
	jsonw_array_end(j);
}

static void put_kernels(struct sink *s, const struct result *r, int i)
{
	const struct msg_reported_kernels *const m[2] = { result_kernels(r, sides[0], i), result_kernels(r, sides[1], i) };
	struct buf text;
	struct jsonw j;
	if (s->failed || (!m[0] && !m[1]))
		return;
	buf_init(&text, KERNELS_MAX_BYTES);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	write_choices(&j, r, i, m);
	for (int k = 0; k < 2; k++) {
		jsonw_key(&j, role_name(sides[k]));
		reported_kernels_write(&j, m[k]);
	}
	jsonw_object_end(&j);
	s->failed = put_artifact(s, "kernels", &text);
	buf_fini(&text);
}

int judge_facts(struct db *db, const struct result *r, int i, int64_t cell, struct fw_err *err)
{
	struct sink s = { .db = db, .cell = cell, .err = err };
	put_phases(&s, r, i);
	put_series(&s, r, i, SERIES_CALL, "", "us", 1000);
	put_sustained_runs(&s, r, i);
	put_device_extras(&s, r, i);
	for (int k = 0; k < 2; k++)
		put_side(&s, r, i, sides[k]);
	put_nodes(&s, r, i);
	put_tried(&s, r, i);
	put_kernels(&s, r, i);
	return s.failed;
}
