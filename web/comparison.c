#include "web/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 8 << 20 };

double comparison_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *comparison_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static int whole(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

static struct comparison_cell read_cell(const json_t *o, int n)
{
	const json_t *base = json_object_get(o, "base"), *target = json_object_get(o, "target"),
		     *clock = json_object_get(o, "clock");
	return (struct comparison_cell){
		.json = o,
		.n = n,
		.key = comparison_text(o, "cell"),
		.verdict = comparison_text(o, "verdict"),
		.group = comparison_text(o, "group"),
		.mask = comparison_text(o, "mask"),
		.direction = comparison_text(o, "direction"),
		.failure = comparison_text(o, "failure"),
		.reason = comparison_text(o, "reason"),
		.seqlen = whole(o, "seqlen"),
		.block = whole(o, "block"),
		.launches = whole(o, "launches"),
		.samples = whole(o, "samples"),
		.sparsity_ratio = comparison_number(o, "sparsity_ratio"),
		.threshold_pct = comparison_number(o, "threshold_pct"),
		.base_ms = comparison_number(base, "median_ms"),
		.target_ms = comparison_number(target, "median_ms"),
		.base_tflops = comparison_number(base, "tflops"),
		.target_tflops = comparison_number(target, "tflops"),
		.change_pct = comparison_number(o, "change_pct"),
		.ci_low_pct = comparison_number(o, "ci_low_pct"),
		.ci_high_pct = comparison_number(o, "ci_high_pct"),
		.mde_pct = comparison_number(o, "mde_pct"),
		.base_mhz = comparison_number(clock, "base_mhz"),
		.target_mhz = comparison_number(clock, "target_mhz"),
		.borderline = json_is_true(json_object_get(o, "borderline")),
		.previous_pct = NAN,
		.since_previous_pct = NAN,
	};
}

static int read_cells(struct comparison *c, struct fw_err *err)
{
	const json_t *cells = json_object_get(c->body, "cells");
	size_t n = json_array_size(cells);
	c->n_cells = n < COMPARISON_CELLS_MAX ? (int)n : COMPARISON_CELLS_MAX;
	c->cell = calloc((size_t)c->n_cells + 1, sizeof *c->cell);
	if (!c->cell)
		return err_set(err, ERR_INTERNAL, "out of memory");
	for (int i = 0; i < c->n_cells; i++)
		c->cell[i] = read_cell(json_array_get(cells, (size_t)i), i);
	return 0;
}

/* ---- around it -------------------------------------------------------------------------------------------------------- */

static void take_previous(void *arg, const struct view_comparison *row)
{
	struct comparison *c = arg;
	snprintf(c->previous_base, sizeof c->previous_base, "%s", row->base);
	snprintf(c->previous_target, sizeof c->previous_target, "%s", row->target);
	snprintf(c->previous_verdict, sizeof c->previous_verdict, "%s", row->verdict);
}

static void take_epoch(void *arg, const struct view_environment *row)
{
	struct comparison *c = arg;
	snprintf(c->previous_epoch, sizeof c->previous_epoch, "%s", row->hash);
}

/* Both pushes against one base: their ratio is the change between them. The base itself was the push before: so is ours. */
static void take_previous_cell(void *arg, const struct view_cell *row)
{
	struct comparison *c = arg;
	for (int i = 0; i < c->n_cells; i++) {
		struct comparison_cell *cell = &c->cell[i];
		if (strcmp(cell->key, row->key) != 0)
			continue;
		cell->previous_pct = row->change_pct;
		if (strcmp(c->previous_target, c->base) == 0)
			cell->since_previous_pct = cell->change_pct;
		else if (strcmp(c->previous_base, c->base) == 0)
			cell->since_previous_pct = 100 * ((1 + cell->change_pct / 100) / (1 + row->change_pct / 100) - 1);
		return;
	}
}

static void take_alert(void *arg, const struct view_alert *row)
{
	struct comparison *c = arg;
	c->alert.id = row->id;
	snprintf(c->alert.state, sizeof c->alert.state, "%s", row->state);
}

static int read_around(struct db *db, struct comparison *c, struct fw_err *err)
{
	struct fw_err why = { 0 };
	if (view_near(db, c->id, &c->near, err) || view_alert_of(db, c->repo, c->target, take_alert, c, err))
		return -1;
	if (!c->near.previous)
		return 0;
	if (view_comparison(db, c->near.previous, take_previous, c, err) ||
		view_cells(db, c->near.previous, take_previous_cell, c, err))
		return -1;
	if (view_environment(db, c->near.previous, take_epoch, c, &why) && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	return 0;
}

static void take_cores(void *arg, const struct view_device *row)
{
	struct comparison *c = arg;
	if (strcmp(row->uuid, comparison_text(c->environment, "device")) != 0)
		return;
	json_t *info = json_loads(row->info_json, 0, NULL);
	c->cores = whole(info, "cores");
	json_decref(info);
}

int comparison_read(struct db *db, int64_t id, struct comparison *out, struct fw_err *err)
{
	struct buf text;
	char etag[65];
	*out = (struct comparison){ .id = id };
	buf_init(&text, BODY_MAX);
	int result = view_body(db, id, &text, etag, err);
	if (result == 0) {
		out->body = json_loadb(text.data, text.len, 0, NULL);
		if (!out->body)
			result = err_set(err, ERR_INTERNAL, "the stored body of comparison %lld is not JSON", (long long)id);
	}
	buf_fini(&text);
	if (result)
		return -1;
	out->job = json_integer_value(json_object_get(out->body, "job"));
	out->repo = comparison_text(out->body, "repo");
	out->branch = comparison_text(out->body, "branch");
	out->kind = comparison_text(out->body, "kind");
	out->verdict = comparison_text(out->body, "verdict");
	out->suite = comparison_text(out->body, "suite");
	out->identical_by = comparison_text(out->body, "identical_by");
	out->base = comparison_text(json_object_get(out->body, "base"), "commit");
	out->target = comparison_text(json_object_get(out->body, "target"), "commit");
	out->regressions = whole(out->body, "regressions");
	const json_t *environment = json_object_get(out->body, "environment");
	out->environment = json_is_object(environment) ? environment : NULL;
	if (read_cells(out, err) || read_around(db, out, err))
		return -1;
	if (out->environment) {
		out->chip = derive_chip(comparison_text(out->environment, "name"));
		return out->chip ? view_devices(db, take_cores, out, err) : 0;
	}
	return 0;
}

void comparison_free(struct comparison *c)
{
	json_decref(c->body);
	free(c->cell);
	*c = (struct comparison){ 0 };
}

/* ---- answers ---------------------------------------------------------------------------------------------------------- */

double comparison_peak_pct(const struct comparison *c, double tflops, double mhz)
{
	return 100 * tflops / derive_peak_tflops(c->chip, c->cores, mhz);
}

const char *comparison_cause(const struct comparison_cell *cell)
{
	size_t i;
	const json_t *phase, *phases = json_object_get(cell->json, "phases");
	const char *cause = NULL;
	double moved_ms = cell->target_ms - cell->base_ms, most = 0;
	json_array_foreach(phases, i, phase)
	{
		double low = comparison_number(phase, "ci_low_pct"), high = comparison_number(phase, "ci_high_pct");
		double share = (comparison_number(phase, "target_ms") - comparison_number(phase, "base_ms")) / moved_ms;
		if ((low > 0 || high < 0) && share >= 0.5 && share > most) {
			most = share;
			cause = comparison_text(phase, "phase");
		}
	}
	return cause;
}
