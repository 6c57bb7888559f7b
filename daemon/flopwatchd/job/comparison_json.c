/** comparison_json.c - one comparison as JSON. Callbacks copy what they need: a row's texts live only during the call. */
#include "flopwatchd/job/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "lib/lib.h"
#include "verdict/verdict.h"

enum { BODY_MAX = 8 << 20 };

/* Fields of a cell, read before any is written: entries refer to other cells. Shape: ms, tflops of base and target. */
struct cell_summary {
	int64_t id;
	char key[CASE_KEY_SIZE], group[16], title[48], direction[16];
	int64_t size;
	double flops, ms[2], tflops[2];
};

struct body {
	struct db *db;
	struct jsonw j;
	struct buf environment; /* finished JSON, because the comparison's row is open while cells are read */
	char isolation[8];
	char provider[2][48]; /* requested providers of base and target */
	char pinned[2][160];  /* requested configurations */
	struct buf name[2];   /* user names of base and target; empty: none */
	int64_t device;       /* of the previous cell, and its UUID */
	char device_uuid[64];
	int n_sources; /* comparisons against peers that give ratios for this one */
	struct store_peer_source source[STORE_PEER_SOURCES_MAX];
	int n_summaries;
	struct cell_summary summary[JOB_CELLS_MAX];
	struct fw_err *err;
	int failed;
};

static void text_or_null(struct jsonw *j, const char *key, const char *text)
{
	jsonw_kv_string(j, key, text[0] ? text : NULL);
}

static void write_side(
	struct jsonw *j, const char *key, double median_ms, double tflops, double bytes, const struct ran *ran, int side)
{
	jsonw_key(j, key);
	jsonw_object(j);
	jsonw_kv_figure(j, "median_ms", median_ms);
	jsonw_kv_figure(j, "tflops", tflops);
	jsonw_kv_figure(j, "gb_s", bytes / median_ms * 1e-6);
	text_or_null(j, "provider", ran->provider[side]);
	text_or_null(j, "configuration", ran->config[side]);
	jsonw_object_end(j);
}

static void write_flags(struct jsonw *j, const struct view_cell *c)
{
	char words[FLAG_WORDS_SIZE];
	flag_words(c->flags, words);
	jsonw_key(j, "flags");
	jsonw_array(j);
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

/** Compute the ratios of both sides of a cell to a peer from one comparison against it; false: it has no ratio for this cell. */
static bool get_peer_ratios(struct body *b, const struct view_cell *c, const struct store_peer_source *source,
	struct peer_ratio *base, struct peer_ratio *target)
{
	struct store_peer_cell peer;
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
	if (!isfinite(base->pct) && isfinite(c->m)) /* the base had what the target lost */
		base->pct = target->pct * exp(c->m);
	return isfinite(target->pct);
}

static void write_peers(struct body *b, const struct view_cell *c)
{
	static const char *const words[] = { "paired", "chained", "scaled" };
	const char *done = "";
	struct peer_ratio base, target;
	struct jsonw *j = &b->j;
	jsonw_key(j, "peers");
	jsonw_array(j);
	for (int i = 0; i < b->n_sources; i++) {
		const struct store_peer_source *s = &b->source[i];
		if (strcmp(done, s->provider) == 0 || !get_peer_ratios(b, c, s, &base, &target))
			continue;
		done = s->provider;
		jsonw_object(j);
		jsonw_kv_string(j, "provider", s->provider);
		jsonw_kv_int(j, "comparison", s->comparison);
		jsonw_kv_string(j, "commit", s->target_sha);
		jsonw_kv_string(j, "basis", words[s->basis]);
		jsonw_kv_figure(j, "base_pct", base.pct);
		jsonw_kv_figure(j, "target_pct", target.pct);
		jsonw_kv_figure(j, "ci_low_pct", target.ci_low_pct);
		jsonw_kv_figure(j, "ci_high_pct", target.ci_high_pct);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/** Write the change at equal clocks and the change of the clock; they add up to the change. */
static void write_clock_parts(struct jsonw *j, const struct view_cell *c)
{
	double code_pct = isfinite(c->m_code) ? stats_change_pct(c->m_code) : NAN;
	jsonw_kv_figure(j, "code_pct", code_pct);
	jsonw_kv_figure(j, "clock_pct", c->change_pct - code_pct);
	jsonw_kv_figure(j, "clock_se_pct", 100 * c->se_clock);
	if (c->flags & FLAG_CLOCK) {
		char text[EXPLAIN_SIZE];
		explain_parts(code_pct, c->change_pct - code_pct, text);
		jsonw_kv_string(j, "parts", text);
	} else {
		jsonw_kv_null(j, "parts");
	}
}

static void write_underpowered(struct jsonw *j, const struct view_cell *c)
{
	char text[EXPLAIN_SIZE];
	if (!(c->flags & FLAG_UNDERPOWERED)) {
		jsonw_kv_null(j, "underpowered");
		return;
	}
	explain_underpowered(100 * c->tau0, c->nu0, c->underpowered_pct, text);
	jsonw_key(j, "underpowered");
	jsonw_object(j);
	jsonw_kv_figure(j, "below_pct", c->underpowered_pct);
	jsonw_kv_figure(j, "noise_pct", 100 * c->tau0);
	jsonw_kv_figure(j, "seen", c->nu0);
	jsonw_kv_string(j, "why", text);
	jsonw_object_end(j);
}

/** Write the change of the mean call, if slow calls became more or less frequent. */
static void write_mean(struct jsonw *j, const struct view_cell *c)
{
	char words[EXPLAIN_SIZE];
	if (!isfinite(c->mean_m)) {
		jsonw_kv_null(j, "mean");
		return;
	}
	jsonw_key(j, "mean");
	jsonw_object(j);
	jsonw_kv_figure(j, "change_pct", stats_change_pct(c->mean_m));
	jsonw_kv_figure(
		j, "ci_low_pct", stats_change_pct(c->mean_m + MEAN_CI * c->mean_se)); /* a longer time is a lower throughput */
	jsonw_kv_figure(j, "ci_high_pct", stats_change_pct(c->mean_m - MEAN_CI * c->mean_se));
	jsonw_kv_figure(j, "slow_base_pct", 100 * c->slow_share[TAIL_BASE]);
	jsonw_kv_figure(j, "slow_target_pct", 100 * c->slow_share[TAIL_TARGET]);
	jsonw_kv_figure(j, "longer_pct", 100 * c->slow_longer);
	explain_slow_calls(c->slow_share, c->slow_longer, words);
	jsonw_kv_string(j, "text", words);
	jsonw_object_end(j);
}

static void copy_summary(void *arg, const struct view_cell *c)
{
	struct body *b = arg;
	if (c->size <= 0 || b->n_summaries == JOB_CELLS_MAX)
		return;
	struct cell_summary *d = &b->summary[b->n_summaries++];
	*d = (struct cell_summary){ .id = c->id,
		.size = c->size,
		.flops = c->flops,
		.ms = { c->base_median_ms, c->target_median_ms },
		.tflops = { c->base_tflops, c->target_tflops } };
	snprintf(d->key, sizeof d->key, "%s", c->key);
	snprintf(d->group, sizeof d->group, "%s", c->group);
	snprintf(d->title, sizeof d->title, "%s", c->title);
	snprintf(d->direction, sizeof d->direction, "%s", c->direction);
}

static bool same_but_size(const struct cell_summary *a, const struct cell_summary *b)
{
	return strcmp(a->title, b->title) == 0 && strcmp(a->group, b->group) == 0 && strcmp(a->direction, b->direction) == 0;
}

/* Write, for every title with several sizes, the throughput of the longest over that of the shortest. */
static void write_long_over_short(struct body *b)
{
	struct jsonw *j = &b->j;
	jsonw_key(j, "long_over_short");
	jsonw_array(j);
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
		jsonw_object(j);
		jsonw_kv_string(j, "title", shortest->title);
		jsonw_kv_string(j, "direction", shortest->direction);
		jsonw_kv_int(j, "shortest", shortest->size);
		jsonw_kv_int(j, "longest", longest->size);
		jsonw_kv_figure(j, "base", over[0]);
		jsonw_kv_figure(j, "target", over[1]);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/* Speed relative to the baseline cell, run by run if calls are stored; `ideal` follows from the smaller work. */
static void write_over_baseline(struct body *b, const struct view_cell *c)
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
	if (over_baseline_read(b->db, c->id, d->id, series_from_name(c->series), &over, b->err) != 0)
		b->failed = -1;
	jsonw_key(&b->j, "over_baseline");
	jsonw_object(&b->j);
	jsonw_kv_figure(&b->j, "base", over.runs ? over.speed[0] : d->ms[0] / c->base_median_ms);
	jsonw_kv_figure(&b->j, "target", over.runs ? over.speed[1] : d->ms[1] / c->target_median_ms);
	jsonw_kv_figure(&b->j, "ideal", d->flops / c->flops);
	jsonw_kv_int(&b->j, "runs", over.runs);
	jsonw_object_end(&b->j);
}

static void write_device(struct body *b, const char *key, int64_t device)
{
	if (device && device != b->device && store_device_uuid(b->db, device, b->device_uuid, b->err) != 0)
		b->failed = -1;
	b->device = device ? device : b->device;
	text_or_null(&b->j, key, device ? b->device_uuid : "");
}

static void write_cell(void *arg, const struct view_cell *c)
{
	struct body *b = arg;
	struct jsonw *j = &b->j;
	struct figures f;
	struct ran ran;
	int confirmed = b->failed ? 0 : view_confirmed(b->db, c->id, b->err);
	if (b->failed || confirmed < 0 || figures_read(b->db, c->id, &f, b->err) || ran_read(b->db, c->id, &ran, b->err)) {
		b->failed = -1;
		return;
	}
	jsonw_object(j);
	jsonw_kv_string(j, "cell", c->key);
	jsonw_kv_string(j, "verdict", verdict_name(c->verdict));
	jsonw_kv_bool(j, "borderline", (c->flags & FLAG_BORDERLINE) != 0);
	write_flags(j, c);
	jsonw_kv_string(j, "series", c->series);
	jsonw_kv_string(j, "decided_by", c->decided_by == DECIDER_PAIRS ? "pairs" : decider_name(c->decided_by));
	write_device(b, "device", c->device);
	write_device(b, "confirmed_on", c->confirmed_on);
	jsonw_kv_bool(j, "confirmed", confirmed > 0);
	text_or_null(j, "failure", c->failure);
	text_or_null(j, "reason", c->reason);
	jsonw_kv_string(j, "group", c->group);
	jsonw_kv_string(j, "title", c->title);
	jsonw_kv_string(j, "direction", c->direction);
	jsonw_kv_int(j, "size", c->size);
	jsonw_kv_string(j, "line", c->line);
	jsonw_kv_double(j, "pieces", c->pieces);
	jsonw_key(j, "shape");
	if (*c->shape)
		jsonw_raw(j, c->shape, strlen(c->shape));
	else
		jsonw_null(j);
	jsonw_kv_figure(j, "flops_useful", c->flops);
	jsonw_kv_figure(j, "bytes_useful", c->bytes);
	jsonw_kv_figure(j, "threshold_pct", c->threshold_pct);
	write_side(j, "base", c->base_median_ms, c->base_tflops, c->bytes, &ran, RAN_BASE);
	write_side(j, "target", c->target_median_ms, c->target_tflops, c->bytes, &ran, RAN_TARGET);
	write_artifact(b, "tried", "cell", c->id, "tried");
	jsonw_kv_figure(j, "change_pct", c->change_pct);
	jsonw_kv_figure(j, "ci_low_pct", c->ci_low_pct);
	jsonw_kv_figure(j, "ci_high_pct", c->ci_high_pct);
	jsonw_kv_figure(j, "mde_pct", c->mde_pct);
	write_underpowered(j, c);
	write_clock_parts(j, c);
	jsonw_kv_figure(j, "change_raw_pct", isfinite(c->m_raw) ? stats_change_pct(c->m_raw) : NAN);
	jsonw_kv_figure(j, "beta", c->beta);
	jsonw_kv_int(j, "runs", c->runs);
	jsonw_kv_int(j, "samples", c->samples);
	write_mean(j, c);
	figures_write(j, &f, c->flops);
	write_over_baseline(b, c);
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
	jsonw_object(&b->j);
	text_or_null(&b->j, "name", b->name[which].len ? b->name[which].data : "");
	jsonw_kv_string(&b->j, "commit", sha);
	text_or_null(&b->j, "tree", c.tree);
	text_or_null(&b->j, "module_sha256", side.module);
	text_or_null(&b->j, "build", side.state);
	text_or_null(&b->j, "toolchain", side.toolchain);
	text_or_null(&b->j, "provider", b->provider[which]);
	text_or_null(&b->j, "pinned", b->pinned[which]);
	text_or_null(&b->j, "subject", c.subject);
	text_or_null(&b->j, "author", c.author);
	jsonw_object_end(&b->j);
}

static void copy_environment(void *arg, const struct view_environment *e)
{
	struct body *b = arg;
	struct jsonw j;
	snprintf(b->isolation, sizeof b->isolation, "%s", e->isolation);
	jsonw_init(&j, &b->environment);
	jsonw_object(&j);
	jsonw_kv_string(&j, "baseline_period", e->hash);
	jsonw_kv_string(&j, "device", e->uuid);
	jsonw_kv_string(&j, "kind", e->kind);
	jsonw_kv_string(&j, "name", e->name);
	text_or_null(&j, "driver", e->driver);
	text_or_null(&j, "toolkit", e->toolkit);
	text_or_null(&j, "cudnn", e->cudnn);
	jsonw_kv_string(&j, "timing", e->timing);
	jsonw_kv_figure(&j, "power_limit_w", e->power_limit_w);
	jsonw_kv_figure(&j, "peak_gb_s", e->peak_gb_s);
	jsonw_object_end(&j);
}

static void write_environment(struct body *b, int64_t comparison)
{
	struct fw_err err = { 0 };
	if (view_environment(b->db, comparison, copy_environment, b, &err) && err.code != ERR_NOT_FOUND)
		b->failed = err_set(b->err, err.code, "%s", err.text);
	jsonw_key(&b->j, "environment");
	if (b->environment.len)
		jsonw_raw(&b->j, b->environment.data, b->environment.len);
	else
		jsonw_null(&b->j);
}

static void copy_job(void *arg, const struct view_job *row)
{
	struct body *b = arg;
	jsonw_kv_bool(&b->j, "quick", row->quick);
	text_or_null(&b->j, "cells_glob", row->cells_glob);
	snprintf(b->provider[0], sizeof b->provider[0], "%s", row->base_provider);
	snprintf(b->provider[1], sizeof b->provider[1], "%s", row->target_provider);
	snprintf(b->pinned[0], sizeof b->pinned[0], "%s", row->base_config);
	snprintf(b->pinned[1], sizeof b->pinned[1], "%s", row->target_config);
	branch_text(&b->name[0], row->base_name);
	branch_text(&b->name[1], row->target_name[0] ? row->target_name : row->branch);
}

static void write_part(struct body *b, int64_t comparison)
{
	struct view_part part;
	if (view_part(b->db, comparison, &part, b->err))
		b->failed = -1;
	if (!part.parts) {
		jsonw_kv_null(&b->j, "part");
		return;
	}
	jsonw_key(&b->j, "part");
	jsonw_object(&b->j);
	jsonw_kv_int(&b->j, "number", part.part);
	jsonw_kv_int(&b->j, "of", part.parts);
	jsonw_kv_int(&b->j, "suite_cells", part.cells);
	jsonw_kv_int(&b->j, "nights", part.nights);
	jsonw_kv_int(&b->j, "measured", part.measured);
	jsonw_object_end(&b->j);
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
	jsonw_kv_int(j, "id", c->id);
	jsonw_kv_string(j, "repo", c->repo);
	text_or_null(j, "branch", c->branch);
	jsonw_kv_string(j, "kind", jobkind_name(c->kind));
	jsonw_kv_string(j, "suite", c->suite);
	jsonw_kv_string(j, "verdict", verdict_name(c->verdict));
	text_or_null(j, "identical_by", c->identical_by);
	jsonw_kv_int(j, "job", c->job);
	if (view_job(b->db, c->job, copy_job, b, b->err))
		b->failed = -1;
	write_part(b, c->id);
	jsonw_kv_string(j, "finished_at", at);
	text_or_null(j, "base_how", c->base_how);
	write_commit(b, 0, h->repo, c->id, c->base);
	write_commit(b, 1, h->repo, c->id, c->target);
	write_environment(b, c->id);
	jsonw_key(j, "rule");
	jsonw_raw(j, h->rule, strlen(h->rule));
	jsonw_kv_int(j, "runs", c->runs);
	jsonw_kv_figure(j, "gpu_s", c->gpu_s);
	jsonw_kv_figure(j, "wall_s", c->wall_s);
	text_or_null(j, "isolation", b->isolation);
	write_artifact(b, "notes", "comparison", c->id, "notes");
	write_artifact(b, "costs", "comparison", c->id, "costs");
	jsonw_kv_int(j, "regressions", c->regressions);
	jsonw_kv_figure(j, "worst_pct", c->worst_pct);
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
		jsonw_key(&b.j, "cells");
		jsonw_array(&b.j);
		if (result == 0)
			result = view_cells(db, comparison, write_cell, &b, err);
		jsonw_array_end(&b.j);
		jsonw_object_end(&b.j);
	}
	if (result == 0 && b.failed)
		result = -1;
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the body of comparison %lld does not fit", (long long)comparison);
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
