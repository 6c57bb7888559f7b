/** comparison_json.c - one comparison as JSON. Callbacks copy their data: the texts of a row are valid only during the call. */
#include "flopwatchd/job/internal.h"

#include <math.h>

/* ---- cell_metrics ---- */

struct metric {
	const char *name;
	size_t at; /* offset of a double */
};

#define METRIC(name, member)                                                                                                     \
	{                                                                                                                        \
		name, offsetof(struct cell_metrics, member)                                                                      \
	}
/* Both sides have the same mask. */
#define MASK(member)               METRIC("base.mask_" #member, mask.member), METRIC("target.mask_" #member, mask.member)
#define CLAIM(member)              METRIC("base." #member, claim_base.member), METRIC("target." #member, claim_target.member)
#define SIDES_METRIC(name, member) METRIC("base." name, member##_base), METRIC("target." name, member##_target)
static const struct metric metrics[] = {
	METRIC("call.base_us", call_base_us),
	METRIC("call.target_us", call_target_us),
	METRIC("call.change_pct", call_change_pct),
	METRIC("enqueue.base_us", enqueue_base_us),
	METRIC("enqueue.target_us", enqueue_target_us),
	METRIC("clock.base_mhz", clock_base_mhz),
	METRIC("clock.target_mhz", clock_target_mhz),
	SIDES_METRIC("error_ratio", error),
	SIDES_METRIC("flops_issued", issued),
	SIDES_METRIC("bytes_moved", bytes),
	SIDES_METRIC("workspace_bytes", workspace),
	METRIC("target.blocks_kept", kept),
	SIDES_METRIC("peak_bytes", peak),
	SIDES_METRIC("taken_bytes", taken),
	MASK(blocks),
	MASK(kept),
	MASK(pairs),
	MASK(pairs_kept),
	MASK(rows),
	MASK(rows_empty),
	MASK(tiles),
	MASK(tiles_masked),
	MASK(common_tiles),
	MASK(common_masked),
	CLAIM(tiles_total),
	CLAIM(tiles_skipped),
	CLAIM(tiles_partial),
	METRIC("base.blocks_kept", claim_base.blocks_kept),
	METRIC("slow_calls.base_pct", slow_base_pct),
	METRIC("slow_calls.target_pct", slow_target_pct),
	METRIC("sustained.base_ms", sustained.base_ms),
	METRIC("sustained.target_ms", sustained.target_ms),
	METRIC("sustained.change_pct", sustained.change_pct),
	METRIC("sustained.ci_low_pct", sustained.ci_low_pct),
	METRIC("sustained.ci_high_pct", sustained.ci_high_pct),
	METRIC("sustained.runs", sustained.runs),
	METRIC("sustained_clock.base_mhz", sustained.base_mhz),
	METRIC("sustained_clock.target_mhz", sustained.target_mhz),
	METRIC("energy.base_j", sustained.base_j),
	METRIC("energy.target_j", sustained.target_j),
};
#define PHASE(member)                                                                                                            \
	{                                                                                                                        \
#member, offsetof(struct phase_metrics, member)                                                                  \
	}
static const struct metric phase_metrics[] = { PHASE(base_ms), PHASE(target_ms), PHASE(change_pct), PHASE(ci_low_pct),
	PHASE(ci_high_pct) };

static double *metric_at(struct cell_metrics *f, const struct metric *m)
{
	return (double *)((char *)f + m->at);
}

static struct phase_metrics *add_phase(struct cell_metrics *f, const char *name, size_t len)
{
	for (int i = 0; i < f->n_phases; i++)
		if (strlen(f->phase[i].name) == len && memcmp(f->phase[i].name, name, len) == 0)
			return &f->phase[i];
	if (f->n_phases == METRICS_PHASES_MAX || len >= sizeof f->phase[0].name)
		return NULL;
	struct phase_metrics *p = &f->phase[f->n_phases++];
	*p = (struct phase_metrics){ .base_ms = NAN, .target_ms = NAN, .change_pct = NAN, .ci_low_pct = NAN, .ci_high_pct = NAN };
	memcpy(p->name, name, len);
	return p;
}

/** Parse a name such as "phase.run.base_ms". */
static void set_phase_metric(struct cell_metrics *f, const char *name, double value)
{
	const char *dot = strrchr(name, '.');
	struct phase_metrics *p = dot ? add_phase(f, name, (size_t)(dot - name)) : NULL;
	if (!p)
		return;
	for (size_t i = 0; i < sizeof phase_metrics / sizeof phase_metrics[0]; i++)
		if (strcmp(dot + 1, phase_metrics[i].name) == 0)
			*(double *)((char *)p + phase_metrics[i].at) = value;
}

static void set_metric(void *arg, const char *name, const char *unit, double value)
{
	struct cell_metrics *f = arg;
	(void)unit;
	if (strncmp(name, "phase.", 6) == 0)
		set_phase_metric(f, name + 6, value);
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		if (strcmp(name, metrics[i].name) == 0)
			*metric_at(f, &metrics[i]) = value;
}

int cell_metrics_read(struct db *db, int64_t cell, struct cell_metrics *out, struct fw_err *err)
{
	*out = (struct cell_metrics){ 0 };
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		*metric_at(out, &metrics[i]) = NAN;
	return view_metrics(db, cell, set_metric, out, err);
}

static void write_pair(struct jsonw *j, const char *key, const char *unit, double base, double target)
{
	char name[32];
	if (!isfinite(base) && !isfinite(target)) {
		jsonw_kv_null(j, key);
		return;
	}
	jsonw_key(j, key);
	jsonw_object(j);
	snprintf(name, sizeof name, "base%s", unit);
	jsonw_kv_figure(j, name, base);
	snprintf(name, sizeof name, "target%s", unit);
	jsonw_kv_figure(j, name, target);
	jsonw_object_end(j);
}

static void write_claim(
	struct jsonw *j, const char *key, const struct sparsity_mask *mask, struct sparsity_claim claim, double issued)
{
	char text[SPARSITY_SIZE], contradiction[EXPLAIN_SIZE];
	claim.flops_issued = issued;
	sparsity_text(mask, &claim, text);
	sparsity_contradiction(mask, &claim, contradiction);
	jsonw_key(j, key);
	jsonw_format(j, "{ blocks_kept=%g tiles_total=%g tiles_skipped=%g tiles_partial=%g text=%s contradiction?=%s }",
		claim.blocks_kept, claim.tiles_total, claim.tiles_skipped, claim.tiles_partial, text, contradiction);
}

static void write_sparsity(struct jsonw *j, const struct cell_metrics *f, double flops)
{
	struct sparsity_mask mask = f->mask;
	if (!isfinite(mask.blocks)) {
		jsonw_kv_null(j, "sparsity");
		return;
	}
	mask.flops_useful = flops;
	struct sparsity_claim target = f->claim_target;
	target.blocks_kept = f->kept;
	double low = NAN, high = NAN;

	(void)sparsity_expected_range(&mask, &low, &high);
	jsonw_format(j, "sparsity={ blocks=%g masked=%g density=%g pairs=%g pairs_kept=%g rows=%g rows_empty=%g tiles=%g",
		mask.blocks, mask.blocks - mask.kept, sparsity_density(&mask), mask.pairs, mask.pairs_kept, mask.rows,
		mask.rows_empty, mask.tiles);
	jsonw_format(j, "tiles_masked=%g common_tiles=%g common_masked=%g expected_low=%g expected_high=%g", mask.tiles_masked,
		mask.common_tiles, mask.common_masked, low, high);
	write_claim(j, "base", &mask, f->claim_base, f->issued_base);
	write_claim(j, "target", &mask, target, f->issued_target);
	jsonw_object_end(j);
}

static void write_sustained(struct jsonw *j, const struct cell_metrics *f)
{
	if (!isfinite(f->sustained.change_pct)) {
		jsonw_kv_null(j, "sustained");
		return;
	}
	jsonw_format(j,
		"sustained={ base_ms=%g target_ms=%g change_pct=%g ci_low_pct=%g ci_high_pct=%g runs=%g base_mhz=%g "
		"target_mhz=%g base_j=%g target_j=%g",
		f->sustained.base_ms, f->sustained.target_ms, f->sustained.change_pct, f->sustained.ci_low_pct,
		f->sustained.ci_high_pct, f->sustained.runs, f->sustained.base_mhz, f->sustained.target_mhz, f->sustained.base_j,
		f->sustained.target_j);
	char why[EXPLAIN_SIZE];
	explain_sustained_runs(&(struct sustained_level){ f->sustained.base_ms, f->sustained.base_mhz, f->sustained.base_j },
		&(struct sustained_level){ f->sustained.target_ms, f->sustained.target_mhz, f->sustained.target_j }, why);
	jsonw_format(j, "why?=%s }", why);
}

/* Write members into the open object. `flops`: useful FLOPs of a call, NAN unknown. */
static void write_cell_metrics(struct jsonw *j, const struct cell_metrics *f, double flops)
{
	jsonw_format(j, "phases=[");
	for (int i = 0; i < f->n_phases; i++) {
		jsonw_format(j, "{ phase=%s base_ms=%g target_ms=%g change_pct=%g ci_low_pct=%g ci_high_pct=%g }",
			f->phase[i].name, f->phase[i].base_ms, f->phase[i].target_ms, f->phase[i].change_pct,
			f->phase[i].ci_low_pct, f->phase[i].ci_high_pct);
	}
	jsonw_array_end(j);
	if (isfinite(f->call_base_us) || isfinite(f->call_target_us)) {
		jsonw_format(j, "call={ base_us=%g target_us=%g change_pct=%g }", f->call_base_us, f->call_target_us,
			f->call_change_pct);
	} else {
		jsonw_kv_null(j, "call");
	}
	write_sustained(j, f);
	write_pair(j, "slow_calls", "_pct", f->slow_base_pct, f->slow_target_pct);
	write_pair(j, "enqueue", "_us", f->enqueue_base_us, f->enqueue_target_us);
	write_pair(j, "clock", "_mhz", f->clock_base_mhz, f->clock_target_mhz);
	write_pair(j, "error_ratio", "", f->error_base, f->error_target);
	write_pair(j, "flops_issued", "", f->issued_base, f->issued_target);
	write_pair(j, "moved", "_bytes", f->bytes_base, f->bytes_target);
	write_pair(j, "workspace", "_bytes", f->workspace_base, f->workspace_target);
	jsonw_kv_figure(j, "blocks_kept", f->kept);
	write_pair(j, "peak", "_bytes", f->peak_base, f->peak_target);
	write_pair(j, "taken", "_bytes", f->taken_base, f->taken_target);
	write_sparsity(j, f, flops);
}

/* ---- over_baseline ---- */

enum { SIDES = 2 };

struct cell_pair {
	struct store_runs cell, baseline;
};

static double median(const float *values, int n)
{
	float sorted[STATS_PAIRS_MAX];

	n = n > STATS_PAIRS_MAX ? STATS_PAIRS_MAX : n;
	memcpy(sorted, values, (size_t)n * sizeof *sorted);
	return stats_median(sorted, n);
}

static void sum_runs(const struct cell_pair *p, struct over_baseline *out)
{
	double sum[SIDES] = { 0 };

	for (int i = 0; i < p->cell.n; i++)
		for (int k = 0; k < p->baseline.n; k++) {
			const struct run_pairs *a = &p->cell.pairs[i], *b = &p->baseline.pairs[k];

			if (p->cell.run[i] != p->baseline.run[k] || a->n < 1 || b->n < 1)
				continue;
			sum[0] += log(median(b->base_ms, b->n) / median(a->base_ms, a->n));
			sum[1] += log(median(b->target_ms, b->n) / median(a->target_ms, a->n));
			out->runs++;
		}
	for (int side = 0; side < SIDES; side++)
		out->speed[side] = out->runs ? exp(sum[side] / out->runs) : NAN;
}

/* Compare two cells of one comparison in the deciding series. `runs` is 0 if their calls were thinned. */
static int over_baseline_read(
	struct db *db, int64_t cell, int64_t baseline, enum series series, struct over_baseline *out, struct fw_err *err)
{
	struct cell_pair *p = mem_alloc_zero(1, sizeof *p);

	*out = (struct over_baseline){ .speed = { NAN, NAN } };
	int result = store_cell_runs(db, cell, series, &p->cell, err);

	if (result == 0) {
		result = store_cell_runs(db, baseline, series, &p->baseline, err);
		if (result == 0 && p->cell.raw && p->baseline.raw)
			sum_runs(p, out);
		buf_fini(&p->baseline.values);
	}
	buf_fini(&p->cell.values);
	free(p);
	return result;
}

/* ---- comparison_json ---- */

enum { BODY_MAX = 8 << 20 };

/* Fields of a cell, read before any is written, because entries refer to other cells. Shape: ms, tflops of base and target. */
struct cell_summary {
	int64_t id;
	char key[CASE_KEY_SIZE], group[16], title[CELL_TITLE_SIZE], direction[16];
	int64_t size;
	double flops, ms[2], tflops[2];
};

struct body {
	struct db *db;
	struct jsonw j;
	struct buf environment; /* finished JSON, because the comparison's row is open while the cells are read */
	char isolation[8], suite[64];
	char device_kind[8];                   /* of the environment; "" unknown */
	char provider[2][PEERS_PROVIDER_SIZE]; /* requested providers of base and target */
	char pinned[2][160];                   /* requested configurations */
	struct buf name[2];                    /* user names of base and target; empty: none */
	int64_t device;                        /* of the previous cell, and its UUID */
	char device_uuid[64];
	int n_sources; /* comparisons against peers that give ratios for this one */
	struct store_peer_source source[STORE_PEER_SOURCES_MAX];
	int n_summaries;
	struct cell_summary summary[JOB_CELLS_MAX];
	struct fw_err *err;
	int failed;
};

static void write_side(
	struct jsonw *j, const char *key, double median_ms, double flops, double bytes, const struct used_config *used, int side)
{
	jsonw_key(j, key);
	jsonw_format(j, "{ median_ms=%g tflops=%g gb_s=%g provider?=%s configuration?=%s }", median_ms,
		view_tflops(flops, median_ms), bytes / median_ms * 1e-6, used->provider[side], used->config[side]);
}

static void write_flags(struct jsonw *j, const struct store_cell *c)
{
	char words[FLAG_NAMES_SIZE];
	flag_names(c->flags, words);
	jsonw_format(j, "flags=[");
	for (const char *word = words; *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		jsonw_bytes(j, word, len);
		word += len;
	}
	jsonw_array_end(j);
}

/** Write a stored JSON text under `key`, null if there is none. */
static void write_artifact(struct body *b, const char *key, const char *owner_kind, int64_t owner, const char *kind)
{
	struct buf text;
	struct fw_err err = { 0 };
	buf_init(&text, BODY_MAX);
	if (view_artifact(b->db, owner_kind, owner, kind, &text, &err) == 0) {
		jsonw_key(&b->j, key);
		jsonw_raw(&b->j, text.data, text.len);
	} else {
		jsonw_kv_null(&b->j, key);
		if (err.code != ERR_NOT_FOUND)
			b->failed = err_set(b->err, err.code, "%s", err.text);
	}
	buf_fini(&text);
}

/** Compute the ratios of both sides of a cell to a peer from one comparison against it. False: it has no ratio for this cell. */
static bool get_peer_ratios(struct body *b, const struct store_cell *c, const struct store_peer_source *source,
	struct peer_ratio *base, struct peer_ratio *target)
{
	struct store_peer_cell peer = { 0 };
	int there = b->failed ? 0 : store_peer_cell(b->db, source->comparison, c->key, &peer, b->err);
	struct peer_ratio_pair ratio = { peer.m, peer.ci_low_pct, peer.ci_high_pct },
			       own = { c->m, c->ci_low_pct, c->ci_high_pct };
	double held_ms = NAN;
	*base = *target = (struct peer_ratio){ NAN, NAN, NAN };
	if (there == 1 && source->basis == STORE_PEER_SCALED && store_peer_held_ms(b->db, c->id, &held_ms, b->err))
		there = -1;
	if (there < 0)
		b->failed = -1;
	if (there < 1)
		return false;
	if (source->basis == STORE_PEER_PAIRED) {
		*target = peer_ratio_paired(&ratio);
	} else if (source->basis == STORE_PEER_CHAINED) {
		*base = peer_ratio_paired(&ratio);
		*target = peer_ratio_chained(&ratio, &own);
	} else if (isfinite(held_ms) && isfinite(peer.held_base_ms)) {
		*target = peer_ratio_scaled(peer.held_base_ms, held_ms);
	} else {
		*target = peer_ratio_scaled(peer.base_ms, c->target_median_ms);
	}
	if (!isfinite(base->pct) && isfinite(c->m)) /* a cell that the base had and the target no longer has */
		base->pct = target->pct * exp(c->m);
	return isfinite(target->pct);
}

static void write_peers(struct body *b, const struct store_cell *c)
{
	static const char *const words[] = { "paired", "chained", "scaled" };
	const char *done = "";
	struct peer_ratio base, target;
	struct jsonw *j = &b->j;
	jsonw_format(j, "peers=[");
	for (int i = 0; i < b->n_sources; i++) {
		const struct store_peer_source *s = &b->source[i];
		if (strcmp(done, s->provider) == 0 || !get_peer_ratios(b, c, s, &base, &target))
			continue;
		done = s->provider;
		jsonw_format(j,
			"{ provider=%s comparison=%ld commit=%s basis=%s base_pct=%g target_pct=%g ci_low_pct=%g "
			"ci_high_pct=%g }",
			s->provider, s->comparison, s->target_sha, words[s->basis], base.pct, target.pct, target.ci_low_pct,
			target.ci_high_pct);
	}
	jsonw_array_end(j);
}

/** Write the change at equal clocks and the change of the clock; they add up to the change. */
static void write_components(struct jsonw *j, const struct store_cell *c)
{
	double code_pct = isfinite(c->m_code) ? stats_change_pct(c->m_code) : NAN;
	jsonw_format(j, "code_pct=%g clock_pct=%g clock_se_pct=%g", code_pct, c->change_pct - code_pct, 100 * c->se_clock);
	if (c->flags & FLAG_CLOCK) {
		char text[EXPLAIN_SIZE];
		explain_components(code_pct, c->change_pct - code_pct, text);
		jsonw_kv_string(j, "components", text);
	} else {
		jsonw_kv_null(j, "components");
	}
}

static void write_underpowered(struct jsonw *j, const struct store_cell *c)
{
	char text[EXPLAIN_SIZE];
	if (!(c->flags & FLAG_UNDERPOWERED)) {
		jsonw_kv_null(j, "underpowered");
		return;
	}
	explain_underpowered(100 * c->tau0, c->nu0, c->underpowered_pct, text);
	jsonw_format(
		j, "underpowered={ below_pct=%g noise_pct=%g seen=%g why=%s }", c->underpowered_pct, 100 * c->tau0, c->nu0, text);
}

/** Write the change of the mean call, if slow calls became more or less frequent. */
static void write_mean(struct jsonw *j, const struct store_cell *c)
{
	char words[EXPLAIN_SIZE];
	if (!isfinite(c->mean.m)) {
		jsonw_kv_null(j, "mean");
		return;
	}
	jsonw_format(j, "mean={ change_pct=%g", stats_change_pct(c->mean.m));
	jsonw_kv_figure(
		j, "ci_low_pct", stats_change_pct(c->mean.m + MEAN_CI * c->mean.se)); /* a longer time is a lower throughput */
	jsonw_format(j, "ci_high_pct=%g slow_base_pct=%g slow_target_pct=%g longer_pct=%g",
		stats_change_pct(c->mean.m - MEAN_CI * c->mean.se), 100 * c->mean.share[TAIL_BASE],
		100 * c->mean.share[TAIL_TARGET], 100 * c->mean.longer);
	explain_slow_calls(c->mean.share, c->mean.longer, words);
	jsonw_format(j, "text=%s }", words);
}

static void copy_summary(void *arg, const struct store_cell *c)
{
	struct body *b = arg;
	if (c->size <= 0 || b->n_summaries == JOB_CELLS_MAX)
		return;
	struct cell_summary *d = &b->summary[b->n_summaries++];
	*d = (struct cell_summary){ .id = c->id,
		.size = c->size,
		.flops = c->flops,
		.ms = { c->base_median_ms, c->target_median_ms },
		.tflops = { view_tflops(c->flops, c->base_median_ms), view_tflops(c->flops, c->target_median_ms) } };
	snprintf(d->key, sizeof d->key, "%s", c->key);
	snprintf(d->group, sizeof d->group, "%s", c->group);
	snprintf(d->title, sizeof d->title, "%s", c->title);
	snprintf(d->direction, sizeof d->direction, "%s", c->direction);
}

static bool same_but_size(const struct cell_summary *a, const struct cell_summary *b)
{
	return strcmp(a->title, b->title) == 0 && strcmp(a->group, b->group) == 0 && strcmp(a->direction, b->direction) == 0;
}

/* Write the throughput of the longest size over that of the shortest, for every title with several sizes. */
static void write_long_over_short(struct body *b)
{
	struct jsonw *j = &b->j;
	jsonw_format(j, "long_over_short=[");
	for (int i = 0; i < b->n_summaries; i++) {
		const struct cell_summary *shortest = &b->summary[i], *longest = shortest;
		bool is_first = true;
		for (int k = 0; k < b->n_summaries && is_first; k++) {
			const struct cell_summary *other = &b->summary[k];
			if (!same_but_size(other, &b->summary[i]))
				continue;
			is_first = k >= i;
			shortest = other->size < shortest->size ? other : shortest;
			longest = other->size > longest->size ? other : longest;
		}
		if (!is_first || shortest == longest)
			continue;
		double over[2] = { longest->tflops[0] / shortest->tflops[0], longest->tflops[1] / shortest->tflops[1] };
		if (!isfinite(over[0]) && !isfinite(over[1]))
			continue;
		jsonw_format(j, "{ title=%s direction=%s shortest=%ld longest=%ld base=%g target=%g }", shortest->title,
			shortest->direction, shortest->size, longest->size, over[0], over[1]);
	}
	jsonw_array_end(j);
}

/* Write the speed relative to the baseline cell, run by run if calls are stored; `ideal` follows from the smaller work. */
static void write_over_baseline(struct body *b, const struct store_cell *c, const struct sparsity_mask *mask)
{
	const struct cell_summary *d = NULL;
	for (int i = 0; i < b->n_summaries && *c->baseline; i++)
		if (strcmp(b->summary[i].key, c->baseline) == 0)
			d = &b->summary[i];
	if (!d) {
		jsonw_kv_null(&b->j, "over_baseline");
		return;
	}
	struct over_baseline over;
	if (over_baseline_read(b->db, c->id, d->id, c->series, &over, b->err) != 0)
		b->failed = -1;
	double base = over.runs ? over.speed[0] : d->ms[0] / c->base_median_ms;
	double target = over.runs ? over.speed[1] : d->ms[1] / c->target_median_ms;
	char expected[2][SPARSITY_SIZE];

	sparsity_expected(mask, base, expected[0]);
	sparsity_expected(mask, target, expected[1]);
	jsonw_format(&b->j, "over_baseline={ base=%g target=%g ideal=%g runs=%d base_expected?=%s target_expected?=%s }", base,
		target, d->flops / c->flops, over.runs, expected[0], expected[1]);
}

static void write_device(struct body *b, const char *key, int64_t device)
{
	if (device && device != b->device && store_device_uuid(b->db, device, b->device_uuid, b->err) != 0)
		b->failed = -1;
	b->device = device ? device : b->device;
	jsonw_kv_string(&b->j, key, device && b->device_uuid[0] ? b->device_uuid : NULL);
}

static void write_cell(void *arg, const struct store_cell *c)
{
	struct body *b = arg;
	struct jsonw *j = &b->j;
	struct cell_metrics f;
	struct used_config used;
	int confirmed = b->failed ? 0 : view_confirmed(b->db, c->id, b->err);
	if (b->failed || confirmed < 0 || cell_metrics_read(b->db, c->id, &f, b->err) ||
		used_config_read(b->db, c->id, &used, b->err)) {
		b->failed = -1;
		return;
	}
	jsonw_format(
		j, "{ cell=%s verdict=%s borderline=%i", c->key, verdict_name(c->verdict), (c->flags & FLAG_BORDERLINE) != 0);
	write_flags(j, c);
	jsonw_format(j, "series=%s decided_by=%s", series_name(c->series),
		c->decider == DECIDER_PAIRS ? "pairs" : decider_name(c->decider));
	write_device(b, "device", c->device);
	write_device(b, "confirmed_on", c->confirmed_on);
	/* the group of a benchmark's cells is its name, which a stored group may cut */
	jsonw_format(j, "confirmed=%i failure?=%s reason?=%s group=%s title=%s direction=%s size=%ld line=%s pieces=%f",
		confirmed > 0, c->failure, c->reason, *c->title ? c->group : b->suite, c->title, c->direction, c->size, c->line,
		c->pieces);
	jsonw_key(j, "shape");
	if (*c->shape)
		jsonw_raw(j, c->shape, strlen(c->shape));
	else
		jsonw_null(j);
	jsonw_format(j, "flops_useful=%g bytes_useful=%g threshold_pct=%g", c->flops, c->bytes, c->threshold_pct);
	write_side(j, "base", c->base_median_ms, c->flops, c->bytes, &used, USED_CONFIG_BASE);
	write_side(j, "target", c->target_median_ms, c->flops, c->bytes, &used, USED_CONFIG_TARGET);
	write_artifact(b, "tried", "cell", c->id, "tried");
	write_artifact(b, "kernels", "cell", c->id, "kernels");
	jsonw_format(j, "change_pct=%g ci_low_pct=%g ci_high_pct=%g mde_pct=%g", c->change_pct, c->ci_low_pct, c->ci_high_pct,
		c->mde_pct);
	write_underpowered(j, c);
	write_components(j, c);
	jsonw_format(j, "change_raw_pct=%g beta=%g runs=%d samples=%d", isfinite(c->m_raw) ? stats_change_pct(c->m_raw) : NAN,
		c->beta, c->runs, c->samples);
	write_mean(j, c);
	write_cell_metrics(j, &f, c->flops);
	write_over_baseline(b, c, &f.mask);
	write_peers(b, c);
	write_artifact(b, "nodes", "cell", c->id, "nodes_changed");
	jsonw_object_end(j);
}

struct side {
	char module[65];
	char toolchain[TOOLCHAIN_TEXT_SIZE];
	char state[8];
};

static void copy_build(void *arg, const struct view_build *row)
{
	struct side *s = arg;
	snprintf(s->module, sizeof s->module, "%s", row->module_sha);
	snprintf(s->state, sizeof s->state, "%s", row->state);
	snprintf(s->toolchain, sizeof s->toolchain, "%s", row->toolchain);
}

/** Write {"name","commit","tree","module_sha256",...} of side 0, the base, or 1; unknown values are null. */
static void write_commit(struct body *b, int which, int64_t repo, int64_t comparison, const char *sha)
{
	const char *role = which ? "target" : "base";
	struct side side = { .module = "" };
	struct store_commit c = { .tree = "" };
	struct fw_err err = { 0 };
	if (view_build(b->db, comparison, role, copy_build, &side, &err) && err.code != ERR_NOT_FOUND)
		b->failed = err_set(b->err, err.code, "%s", err.text);
	err_clear(&err);
	if (store_commit_get(b->db, repo, sha, &c, &err) && err.code != ERR_NOT_FOUND)
		b->failed = err_set(b->err, err.code, "%s", err.text);
	jsonw_key(&b->j, role);
	jsonw_format(&b->j,
		"{ name?=%s commit=%s tree?=%s module_sha256?=%s build?=%s toolchain?=%s provider?=%s pinned?=%s "
		"subject?=%s author?=%s }",
		b->name[which].len ? b->name[which].data : "", sha, c.tree, side.module, side.state, side.toolchain,
		b->provider[which], b->pinned[which], c.subject, c.author);
}

enum { PLACEMENT_PCT = 30 }; /* a larger slowdown has another cause than where the code is */

/*
 * "not known: benchmark programs are profiled only on a GPU; changed: PATH, PATH and 3 more files; see git diff BASE TARGET", and
 * of a regression on a CPU that equal code may have moved.
 */
static void write_unprofiled(struct body *b, const struct view_comparison *c, const json_t *files)
{
	const json_t *path, *paths = json_object_get(files, "paths");
	long long more = json_integer_value(json_object_get(files, "number")) - (long long)json_array_size(paths);
	bool is_cpu = strcmp(b->device_kind, device_kind_name(DEVICE_CPU)) == 0;
	struct buf text;
	size_t i;
	buf_init(&text, 1 << 16);
	if (strcmp(b->device_kind, device_kind_name(DEVICE_CUDA)) == 0)
		buf_printf(&text, "not known: a benchmark program is profiled only on request: flopwatch profile --suite %s",
			b->suite);
	else
		buf_puts(&text, "not known: benchmark programs are profiled only on a GPU");
	json_array_foreach(paths, i, path) buf_printf(&text, "%s%s", i ? ", " : "; changed: ", json_string_value(path));
	if (more > 0)
		buf_printf(&text, " and %lld more file%s", more, more == 1 ? "" : "s");
	buf_printf(&text, "; see git diff %.12s %.12s", c->base, c->target);
	if (is_cpu && c->regressions > 0 && c->worst_pct > -PLACEMENT_PCT)
		buf_puts(&text, "; code that only moved may be the reason: doc/howto/noisy-machine.md#code-placement");
	jsonw_kv_string(&b->j, "unprofiled", text.data);
	buf_fini(&text);
}

/* The changed files replace a profile, which no benchmark program has by itself. */
static void write_changed_files(struct body *b, int64_t repo, const struct view_comparison *c)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	int found = store_changed_files(b->db, repo, c->base, c->target, &text, b->err);
	json_t *files = found > 0 ? json_loads(text.data, 0, NULL) : NULL;
	jsonw_key(&b->j, "changed_files");
	if (files)
		jsonw_raw(&b->j, text.data, text.len);
	else
		jsonw_null(&b->j);
	if (files)
		write_unprofiled(b, c, files);
	else
		jsonw_kv_null(&b->j, "unprofiled");
	if (found < 0)
		b->failed = -1;
	json_decref(files);
	buf_fini(&text);
}

static void copy_environment(void *arg, const struct view_environment *e)
{
	struct body *b = arg;
	struct jsonw j;
	snprintf(b->isolation, sizeof b->isolation, "%s", e->isolation);
	snprintf(b->device_kind, sizeof b->device_kind, "%s", e->kind);
	jsonw_init(&j, &b->environment);
	jsonw_format(&j,
		"{ baseline_period=%s device=%s kind=%s name=%s driver?=%s toolkit?=%s cudnn?=%s timing=%s "
		"power_limit_w=%g peak_gb_s=%g }",
		e->hash, e->uuid, e->kind, e->name, e->driver, e->toolkit, e->cudnn, e->timing, e->power_limit_w, e->peak_gb_s);
}

static void read_environment(struct body *b, int64_t comparison)
{
	struct fw_err err = { 0 };
	if (view_environment(b->db, comparison, copy_environment, b, &err) && err.code != ERR_NOT_FOUND)
		b->failed = err_set(b->err, err.code, "%s", err.text);
}

static void write_environment(struct body *b)
{
	jsonw_key(&b->j, "environment");
	if (b->environment.len)
		jsonw_raw(&b->j, b->environment.data, b->environment.len);
	else
		jsonw_null(&b->j);
}

static void copy_job(void *arg, const struct view_job *row)
{
	struct body *b = arg;
	jsonw_format(&b->j, "quick=%i cells_glob?=%s", row->quick, row->cells_glob);
	snprintf(b->provider[0], sizeof b->provider[0], "%s", row->base_provider);
	snprintf(b->provider[1], sizeof b->provider[1], "%s", row->target_provider);
	snprintf(b->pinned[0], sizeof b->pinned[0], "%s", row->base_config);
	snprintf(b->pinned[1], sizeof b->pinned[1], "%s", row->target_config);
	branch_text(&b->name[0], row->base_name);
	branch_text(&b->name[1], row->target_name[0] ? row->target_name : row->branch);
}

static void write_shard(struct body *b, int64_t comparison)
{
	struct view_shard shard;
	if (view_shard(b->db, comparison, &shard, b->err))
		b->failed = -1;
	if (!shard.shards) {
		jsonw_kv_null(&b->j, "shard");
		return;
	}
	jsonw_format(&b->j, "shard={ number=%d of=%d suite_cells=%d nights=%d measured=%d }", shard.shard, shard.shards,
		shard.cells, shard.nights, shard.measured);
}

/* Why the commit is compared with itself, and whether that is because it adds the benchmark (plan/resolve.c). */
static void write_alone(struct body *b, const struct view_comparison *c)
{
	char why[STORE_JOB_ALONE_SIZE] = "";
	bool is_alone = c->kind == JOBKIND_SELFCHECK && strcmp(c->base_how, "given") != 0;
	if (is_alone && store_job_alone(b->db, c->job, why, b->err) != 0)
		b->failed = -1;
	jsonw_format(&b->j, "new=%i alone?=%s", strncmp(why, "benchmark ", 10) == 0 && strstr(why, " is new: "), why);
}

struct head {
	struct body *b;
	int64_t repo;
	const char *rule;
};

static void write_head(void *arg, const struct view_comparison *c)
{
	struct head *h = arg;
	struct body *b = h->b;
	struct jsonw *j = &b->j;
	char at[32];
	clock_format(c->finished_at, at);
	snprintf(b->suite, sizeof b->suite, "%s", c->suite);
	jsonw_format(j, "id=%ld repo=%s branch?=%s kind=%s suite=%s verdict=%s identical_by?=%s job=%ld", c->id, c->repo,
		c->branch, jobkind_name(c->kind), c->suite, verdict_name(c->verdict), c->identical_by, c->job);
	if (view_job(b->db, c->job, copy_job, b, b->err))
		b->failed = -1;
	write_shard(b, c->id);
	jsonw_format(j, "finished_at=%s base_how?=%s", at, c->base_how);
	write_alone(b, c);
	write_commit(b, 0, h->repo, c->id, c->base);
	write_commit(b, 1, h->repo, c->id, c->target);
	read_environment(b, c->id);
	write_changed_files(b, h->repo, c);
	write_environment(b);
	jsonw_key(j, "rule");
	jsonw_raw(j, h->rule, strlen(h->rule));
	jsonw_format(j, "runs=%d gpu_s=%g", c->runs, c->gpu_s);
	write_artifact(b, "steps", "comparison", c->id, "steps");
	jsonw_format(j, "wall_s=%g isolation?=%s", c->wall_s, b->isolation);
	write_artifact(b, "notes", "comparison", c->id, "notes");
	write_artifact(b, "costs", "comparison", c->id, "costs");
	jsonw_format(j, "regressions=%d worst_pct=%g", c->regressions, c->worst_pct);
}

int body_comparison(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err)
{
	struct body b = { .db = db, .err = err };
	struct store_comparison row;
	struct buf rule;
	buf_init(&rule, 1 << 16);
	buf_init(&b.environment, 1 << 16);
	buf_init(&b.name[0], 1 << 14);
	buf_init(&b.name[1], 1 << 14);
	jsonw_init(&b.j, out);
	int result = store_comparison_get(db, comparison, &row, &rule, err);
	if (result == 0 && (b.n_sources = store_peer_sources(db, comparison, b.source, err)) < 0)
		result = -1;
	if (result == 0)
		result = view_cells(db, comparison, copy_summary, &b, err);
	if (result == 0) {
		struct head head = { .b = &b, .repo = row.repo, .rule = row.rule_json };
		jsonw_object(&b.j);
		result = view_comparison(db, comparison, write_head, &head, err);
		write_long_over_short(&b);
		jsonw_format(&b.j, "cells=[");
		if (result == 0)
			result = view_cells(db, comparison, write_cell, &b, err);
		jsonw_format(&b.j, "] }");
	}
	if (result == 0 && b.failed)
		result = -1;
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the body of C%lld does not fit", (long long)comparison);
	buf_fini(&rule);
	buf_fini(&b.environment);
	buf_fini(&b.name[0]);
	buf_fini(&b.name[1]);
	return result;
}

int body_store(struct db *db, int64_t comparison, struct fw_err *err)
{
	struct buf body;
	char etag[HASH_HEX];
	buf_init(&body, BODY_MAX);
	int result = body_comparison(db, comparison, &body, err);
	if (result == 0) {
		hash_hex(body.data, body.len, etag);
		result = store_comparison_body(db, comparison, body.data, body.len, etag, err);
	}
	buf_fini(&body);
	return result;
}
