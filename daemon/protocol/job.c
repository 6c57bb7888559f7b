/*
 * job.c - tables of job and task. The receiver of these messages builds, starts processes and allocates memory, so every size is
 * checked against its limit, and every cell by model/case.c.
 */
#include "protocol/internal.h"

#define SECONDS_MAX  86400.0
#define ROTATION_MAX (1 << 24)

/* ---- rule ---- */

/*
 * Rules before version 3 have no clock values: use their defaults, and tau0 for tau0_clocked. Rules before version 5 have neither
 * interim analyses nor `programs`, which is derived: rules for whole programs have fewer pairs than paired calls need.
 */
static int check_rule(struct fields *f, void *message)
{
	struct rule *r = message;

	if (!field_has(f, "tau0_clocked"))
		r->tau0_clocked = r->tau0;
	if (!field_has(f, "clock"))
		clock_prior_default(&r->clock);
	if (r->version < 5 && !field_has(f, "interim"))
		r->programs = r->pairs_max < STATS_CALLS_MIN;
	else if (!field_has(f, "programs") || !field_has(f, "interim"))
		return field_fail(f, field_has(f, "programs") ? "interim" : "programs", "is missing");
	return r->pairs_min > r->pairs_max ? field_fail(f, "pairs_min", "is above pairs_max") : 0;
}

static const struct row clock_rows[] = {
	{ ROW_DOUBLE(struct clock_prior, usual, "usual", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct clock_prior, odd, "odd", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct clock_prior, odd_share, "odd_share", REQUIRED, 0, 1) },
	{ ROW_DOUBLE(struct clock_prior, nu, "nu", REQUIRED, 1e-9, 1e6) },
	{ ROW_DOUBLE(struct clock_prior, k, "k", REQUIRED, 1e-3, 100) },
	{ .key = NULL },
};

static const struct row prior_rows[] = {
	{ ROW_DOUBLE(struct run_prior, s0, "s0", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct run_prior, nu0, "nu0", REQUIRED, 1e-9, 1e6) },
	{ .key = NULL },
};

static const struct row interim_rows[] = {
	{ ROW_DOUBLE(struct rule, p_interim, "p", REQUIRED, 1e-12, 0.01) },
	{ ROW_DOUBLE(struct rule, p_alone, "p_alone", REQUIRED, 1e-12, 1) },
	{ ROW_OBJECT(struct rule, interim[0], "modules", REQUIRED, prior_rows) },
	{ ROW_OBJECT(struct rule, interim[1], "interleave", REQUIRED, prior_rows) },
	{ ROW_OBJECT(struct rule, interim[2], "processes", REQUIRED, prior_rows) },
	{ .key = NULL },
};

static const struct row cover_rows[] = {
	{ ROW_DOUBLE(struct cover_prior, runs.s0, "s0", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct cover_prior, runs.nu0, "nu0", REQUIRED, 1e-9, 1e6) },
	{ ROW_DOUBLE(struct cover_prior, usual, "usual", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct cover_prior, odd, "odd", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct cover_prior, odd_share, "odd_share", REQUIRED, 0, 1) },
	{ .key = NULL },
};

const struct row protocol_rule_rows[] = {
	{ ROW_INT(struct rule, version, "version", REQUIRED, 1, 6) },
	{ ROW_DOUBLE(struct rule, tau0, "tau0", REQUIRED, 1e-9, 1) },
	{ ROW_DOUBLE(struct rule, tau0_clocked, "tau0_clocked", OPTIONAL, 1e-9, 1) },
	{ ROW_DOUBLE(struct rule, nu0, "nu0", REQUIRED, 1e-9, 1e6) },
	{ ROW_DOUBLE(struct rule, placement, "placement", OPTIONAL, 0, 1) },
	{ ROW_DOUBLE(struct rule, k, "k", REQUIRED, 1e-3, 100) },
	{ ROW_DOUBLE(struct rule, se_max, "se_max", REQUIRED, 1e-9, 1) },
	{ ROW_INT(struct rule, runs_ok_min, "runs_ok_min", REQUIRED, 1, STATS_RUNS_MAX / 2) },
	{ ROW_INT(struct rule, runs_regression_min, "runs_regression_min", REQUIRED, 1, STATS_RUNS_MAX / 2) },
	{ ROW_INT(struct rule, runs_max, "runs_max", REQUIRED, 1, STATS_RUNS_MAX / 2) },
	{ ROW_INT(struct rule, runs_pooled_max, "runs_pooled_max", OPTIONAL, 0, STATS_RUNS_MAX),
		ROW_IF(struct rule, runs_pooled_max) },
	{ ROW_INT(struct rule, pairs_min, "pairs_min", REQUIRED, 1, STATS_PAIRS_MAX) },
	{ ROW_INT(struct rule, pairs_max, "pairs_max", REQUIRED, 1, STATS_PAIRS_MAX) },
	{ ROW_DOUBLE(struct rule, pair_budget_s, "pair_budget_s", REQUIRED, 1e-6, SECONDS_MAX) },
	{ ROW_INT(struct rule, pairs_short, "pairs_short", OPTIONAL, 0, STATS_PAIRS_MAX) },
	{ ROW_DOUBLE(struct rule, short_budget_s, "short_budget_s", OPTIONAL, 0, SECONDS_MAX) },
	{ ROW_DOUBLE(struct rule, beta_min, "beta_min", REQUIRED, -2, 0) },
	{ ROW_OBJECT(struct rule, clock, "clock", OPTIONAL, clock_rows) },
	{ ROW_DOUBLE(struct rule, half_width_dense_pct, "half_width_dense_pct", REQUIRED, 0, 100) },
	{ ROW_DOUBLE(struct rule, half_width_sparse_pct, "half_width_sparse_pct", REQUIRED, 0, 100) },
	{ ROW_BOOL(struct rule, confirm, "confirm", REQUIRED) },
	{ ROW_BOOL(struct rule, programs, "programs", OPTIONAL), ROW_IF(struct rule, p_interim) },
	{ ROW_PART("interim", OPTIONAL, interim_rows), ROW_IF(struct rule, p_interim) },
	{ ROW_OBJECT(struct rule, cover, "cover", OPTIONAL, cover_rows), ROW_IF(struct rule, cover.runs.nu0) },
	{ .check = check_rule },
};

/* ---- cell ---- */

static int read_shape(struct fields *f, const struct row *r, void *cell)
{
	struct cell *c = cell;
	struct fields shape;

	if (!case_family(c))
		return field_fail(f, "family", "\"%s\" is unknown", c->family);
	field_begin(&shape, field_object(f, r->key), f->err, "%.40s.%s", f->where, r->key);
	if (!shape.failed)
		case_family(c)->parse(&shape, c->shape.bytes);
	return shape.failed ? -1 : 0;
}

static void write_shape(struct jsonw *j, const struct row *r, const void *cell)
{
	const struct cell *c = cell;

	jsonw_kv_object(j, r->key);
	case_family(c)->write(c->shape.bytes, j);
	jsonw_object_end(j);
}

/* The fields determine the key. If the received key differs, sender and receiver disagree about the work. */
static int check_cell(struct fields *f, void *message)
{
	struct cell *c = message;
	struct fw_err why = { 0 };
	char key[CASE_KEY_SIZE];

	memcpy(key, c->key, sizeof key);
	if (case_check(c, &why) != 0)
		return field_fail(f, "key", "%s", why.text);
	case_name(c);
	return strcmp(c->key, key) == 0 ? 0 : field_fail(f, "key", "does not match these sizes, whose key is %s", c->key);
}

const struct row protocol_cell_rows[] = {
	{ ROW_TOKEN(struct cell, key, "key", REQUIRED, FIELD_PATH, 1) },
	{ ROW_TOKEN(struct cell, family, "family", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_ENUM(struct cell, direction, "direction", REQUIRED, direction_names, DIRECTION_FORWARD, DIRECTION_ONCE) },
	{ ROW_DOUBLE(struct cell, threshold_pct, "threshold_pct", REQUIRED, 0, 100) },
	{ ROW_ENUM(struct cell, decide, "decide", SPARSE, series_names, SERIES_DEVICE, SERIES_CALL) },
	{ ROW_DOUBLE(struct cell, tau0, "tau0", SPARSE, 0, 1) },
	{ ROW_DOUBLE(struct cell, nu0, "nu0", SPARSE, 0, 1e6) },
	{ ROW_DOUBLE(struct cell, underpowered_pct, "underpowered_pct", SPARSE, 0, 100) },
	{ ROW_CUSTOM(struct cell, shape, "shape", REQUIRED, read_shape, write_shape) },
	{ ROW_SEED(struct cell, seed, "seed") },
	{ ROW_TOKEN(struct cell, config, "config", SPARSE, FIELD_PATH, 0) },
	{ .check = check_cell },
};

/* ---- job ---- */

static const char *wrong_path(const char *path)
{
	return manifest_path_ok(path) ? NULL : "must be a relative path inside the tree";
}

static const char *wrong_output(const char *path)
{
	return field_is(FIELD_PATH, path) && manifest_path_ok(path) ? NULL : "must be a relative path inside the work folder";
}

static const char *wrong_artifact(const char *path)
{
	return wrong_output(strcmp(path, ".") == 0 ? ".." : path);
}

static const char *wrong_device(const char *uuid)
{
	return *uuid && field_is(FIELD_IDENTIFIER, uuid) ? NULL : "must be the uuid of a device";
}

static int read_outputs(struct fields *f, const struct row *r, void *object)
{
	json_t *outputs = field_object(f, r->key), *path;
	struct build *b = object;
	const char *family;

	if (!outputs)
		return -1;
	if (json_object_size(outputs) > sizeof b->family / sizeof b->family[0])
		return field_fail(f, r->key, "has more than %zu items", sizeof b->family / sizeof b->family[0]);
	json_object_foreach(outputs, family, path)
	{
		const char *text = json_string_value(path);

		if (!field_is(FIELD_IDENTIFIER, family) || !family[0] || strlen(family) >= sizeof b->family[0])
			return field_fail(f, r->key, "has an invalid family name");
		if (!text || strlen(text) >= sizeof b->output[0] || wrong_output(text))
			return field_fail(f, r->key, "%s must be a relative path inside the work folder", family);
		snprintf(b->family[b->n_outputs], sizeof b->family[0], "%s", family);
		snprintf(b->output[b->n_outputs++], sizeof b->output[0], "%s", text);
	}
	return 0;
}

static void write_outputs(struct jsonw *j, const struct row *r, const void *object)
{
	const struct build *b = object;

	jsonw_kv_object(j, r->key);
	for (int i = 0; i < b->n_outputs; i++)
		jsonw_kv_string(j, b->family[i], b->output[i]);
	jsonw_object_end(j);
}

static const struct row build_rows[] = {
	{ ROW_TOKEN(struct build, dir, "dir", REQUIRED, FIELD_PATH, 1), .wrong = wrong_path },
	{ ROW_TEXTS(struct build, command, n_command, "command", REQUIRED, 0) },
	{ ROW_CUSTOM(struct build, output, "outputs", REQUIRED, read_outputs, write_outputs) },
	{ ROW_DOUBLE(struct build, timeout_s, "timeout_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ .key = NULL },
};

static const char *const clocks[] = { "real", "cpu", NULL };

#define COST_ROW(cost, name)                                                                                                     \
	{                                                                                                                        \
		ROW_DOUBLE(struct cost_limits, pct[COST_##cost], name, OPTIONAL, COST_OFF, 10000), .absent = COST_LIMIT_##cost   \
	}

static const struct row cost_rows[] = {
	COST_ROW(MEMORY, "memory"),
	COST_ROW(ERROR, "error"),
	COST_ROW(FIRST, "first"),
	COST_ROW(ENERGY, "energy"),
	COST_ROW(HOST, "host"),
	COST_ROW(LAUNCHES, "launches"),
	{ .key = NULL },
};

static const struct row benchmark_rows[] = {
	{ ROW_TOKEN(struct benchmark, name, "name", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_TEXTS(struct benchmark, command, n_command, "command", REQUIRED, 1) },
	{ ROW_TEXTS(struct benchmark, output, n_outputs, "outputs", REQUIRED, 0), .wrong = wrong_output },
	{ ROW_TEXTS(struct benchmark, artifact, n_artifacts, "artifacts", SPARSE, 1), .wrong = wrong_artifact },
	{ ROW_TOKEN(struct benchmark, reader, "reader", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_TOKEN(struct benchmark, unit, "unit", REQUIRED, FIELD_PATH, 0) },
	{ ROW_CHOICE(struct benchmark, time, "time", SPARSE, clocks) },
	{ ROW_DOUBLE(struct benchmark, threshold_pct, "threshold_pct", REQUIRED, 0.01, 99) },
	{ ROW_OBJECT(struct benchmark, costs, "costs", OPTIONAL, cost_rows) },
	{ ROW_DOUBLE(struct benchmark, timeout_s, "timeout_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_DOUBLE(struct benchmark, budget_s, "budget_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_INT(struct benchmark, pairs, "pairs", SPARSE, BENCHMARK_INTERLEAVE_MIN, BENCHMARK_INTERLEAVE_MAX) },
	{ ROW_BOOL(struct benchmark, gpu, "gpu", REQUIRED) },
	{ ROW_BOOL(struct benchmark, fork, "fork", SPARSE) },
	{ .key = NULL },
};

static const struct row tools_rows[] = {
	{ ROW_TOKEN(struct toolchain_override, dir, "dir", SPARSE, FIELD_PATH, 1), .wrong = toolchain_override_wrong_dir },
	{ ROW_TOKEN(struct toolchain_override, flags, "flags", SPARSE, FIELD_PATH, 1), .wrong = toolchain_override_wrong_flags },
	{ ROW_DIGEST(struct toolchain_override, module, "module", SPARSE) },
	{ ROW_TEXT(struct toolchain_override, made_by, "made_by", OPTIONAL), ROW_IF(struct toolchain_override, module[0]) },
	{ .key = NULL },
};

static const struct row input_rows[] = {
	{ ROW_TOKEN(struct msg_input, path, "path", REQUIRED, FIELD_PATH, 1), .wrong = wrong_path },
	{ ROW_DIGEST(struct msg_input, oid, "oid", REQUIRED) },
	{ .key = NULL },
};

static int check_side(struct fields *f, void *message)
{
	struct msg_side *s = message;

	if (!s->tools.module[0])
		s->tools.made_by[0] = '\0';
	return s->benchmark.name[0] || s->build.n_command > 0 ? 0 : field_fail(f, "build", "has no command");
}

static const struct row side_rows[] = {
	{ ROW_ENUM(struct msg_side, role, "role", REQUIRED, role_names, ROLE_BASE, ROLE_REFERENCE) },
	{ ROW_DIGEST(struct msg_side, commit, "commit", REQUIRED), .may_be_empty = true },
	{ ROW_LIST(struct msg_side, input, n_inputs, "inputs", 0, input_rows) },
	{ ROW_OBJECT(struct msg_side, build, "build", REQUIRED, build_rows) },
	{ ROW_BOOL(struct msg_side, untrusted, "untrusted", SPARSE) },
	{ ROW_TOKEN(struct msg_side, provider, "provider", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ ROW_TOKEN(struct msg_side, config, "config", SPARSE, FIELD_PATH, 1) },
	{ ROW_OBJECT(struct msg_side, tools, "tools", SPARSE, tools_rows) },
	{ ROW_OBJECT(struct msg_side, benchmark, "benchmark", OPTIONAL, benchmark_rows),
		ROW_IF(struct msg_side, benchmark.name[0]) },
	{ .check = check_side },
};

static const struct row limits_rows[] = {
	{ ROW_DOUBLE(struct msg_limits, build_s, "build_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_DOUBLE(struct msg_limits, check_s, "check_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_DOUBLE(struct msg_limits, run_s, "run_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_DOUBLE(struct msg_limits, budget_s, "budget_s", REQUIRED, 0.001, SECONDS_MAX) },
	{ ROW_DOUBLE(struct msg_limits, wait_s, "wait_s", OPTIONAL, 0, SECONDS_MAX), .absent = 600 },
	{ ROW_INT(struct msg_limits, log_bytes, "log_bytes", REQUIRED, 0, 64 << 20) },
	{ .key = NULL },
};

static int check_roles(struct fields *f, const struct msg_side *s, int n)
{
	for (int i = 0; i < n; i++)
		for (int other = 0; other < i; other++)
			if (s[other].role == s[i].role)
				return field_fail(f, "sides", "role %s appears twice", role_name(s[i].role));
	return 0;
}

static int check_sides(struct fields *f, void *message)
{
	struct msg_job *m = message;

	return check_roles(f, m->side, m->n_sides);
}

static int check_job(struct fields *f, void *message)
{
	struct msg_job *m = message;

	if (m->kind == JOBKIND_IMPORT)
		return field_fail(f, "kind", "must not be import");
	if (m->n_cells == 0 && !m->side[0].benchmark.name[0])
		return field_fail(f, "cells", "has 0 items, not 1..%d", JOB_CELLS_MAX);
	return check_roles(f, m->side, m->n_sides);
}

const struct row protocol_job_rows[] = {
	{ ROW_INT(struct msg_job, job, "job", REQUIRED, 0, INT64_MAX) },
	{ ROW_INT(struct msg_job, attempt, "attempt", REQUIRED, 1, 1000) },
	{ ROW_TOKEN(struct msg_job, nonce, "nonce", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_ENUM(struct msg_job, kind, "kind", REQUIRED, jobkind_names, JOBKIND_COMPARE, JOBKIND_PROFILE) },
	{ ROW_TOKEN(struct msg_job, device, "device", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_TEXTS(struct msg_job, concurrent, n_concurrent, "concurrent", SPARSE, 0), .wrong = wrong_device },
	{ ROW_SEED(struct msg_job, seed, "seed") },
	{ ROW_BOOL(struct msg_job, quick, "quick", REQUIRED) },
	{ ROW_CLASSES(struct msg_job, sentinels_elsewhere, "sentinels_elsewhere") },
	{ ROW_CLASSES(struct msg_job, sustained_runs, "sustained_runs") },
	{ ROW_LIST(struct msg_job, side, n_sides, "sides", 1, side_rows) },
	{ ROW_OWNED_LIST(struct msg_job, cell, n_cells, "cells", REQUIRED, 0, JOB_CELLS_MAX, protocol_cell_rows) },
	{ ROW_OBJECT(struct msg_job, rule, "rule", REQUIRED, protocol_rule_rows) },
	{ ROW_OBJECT(struct msg_job, limits, "limits", REQUIRED, limits_rows) },
	{ .check = check_job },
};

const struct row protocol_sides_rows[] = {
	{ ROW_LIST(struct msg_job, side, n_sides, "sides", 1, side_rows) },
	{ .check = check_sides },
};

/* ---- run ---- */

static const struct row task_side_rows[] = {
	{ ROW_ENUM(struct msg_task_side, role, "role", REQUIRED, role_names, ROLE_BASE, ROLE_REFERENCE) },
	{ ROW_TOKEN(struct msg_task_side, module, "module", REQUIRED, FIELD_PATH, 1) },
	{ ROW_TOKEN(struct msg_task_side, provider, "provider", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ .key = NULL },
};

static const struct row pin_rows[] = {
	{ ROW_INT(struct msg_pin, cell, "cell", REQUIRED, 0, JOB_CELLS_MAX - 1) },
	{ ROW_INT(struct msg_pin, side, "side", REQUIRED, 0, PROTOCOL_SIDES_MAX - 1) },
	{ ROW_TOKEN(struct msg_pin, config, "config", REQUIRED, FIELD_PATH, 1) },
	{ ROW_BOOL(struct msg_pin, is_request, "request", SPARSE) },
	{ .key = NULL },
};

static const char *const first_side[] = { [SUSTAINED_BASE_FIRST] = "base", [SUSTAINED_TARGET_FIRST] = "target" };

/* Read one item of sustained runs. Returns false if it is malformed, or names no cell of the task. */
static bool read_sustained_run(struct msg_task *m, const json_t *item)
{
	const json_t *cell = json_object_get(item, "cell");
	const char *first = json_string_value(json_object_get(item, "first"));
	bool known = false;

	for (int i = 0; i < m->n_cells; i++)
		for (int o = SUSTAINED_BASE_FIRST; o <= SUSTAINED_TARGET_FIRST; o++)
			if (json_is_integer(cell) && json_integer_value(cell) == m->index[i] && first &&
				strcmp(first, first_side[o]) == 0) {
				m->sustained[i] = (enum sustained_order)o;
				known = true;
			}
	return known && json_object_size(item) == 2;
}

static int read_sustained_runs(struct fields *f, const struct row *r, void *message)
{
	struct msg_task *m = message;

	m->sustained = calloc((size_t)m->n_cells + 1, sizeof *m->sustained);
	if (!m->sustained)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %d cells", m->n_cells);
	if (!field_has(f, r->key))
		return 0;
	json_t *list = field_array(f, r->key, 0, JOB_CELLS_MAX);

	for (size_t k = 0; k < json_array_size(list); k++)
		if (!read_sustained_run(m, json_array_get(list, k)))
			return field_fail(f, r->key, "item %zu must have the number of a cell and the first side", k);
	return list ? 0 : -1;
}

static void write_sustained_runs(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_task *m = message;

	jsonw_kv_array(j, r->key);
	for (int i = 0; m->sustained && i < m->n_cells; i++)
		if (m->sustained[i] != SUSTAINED_NONE) {
			jsonw_object(j);
			jsonw_kv_int(j, "cell", m->index[i]);
			jsonw_kv_string(j, "first", first_side[m->sustained[i]]);
			jsonw_object_end(j);
		}
	jsonw_array_end(j);
}

static int check_run(struct fields *f, void *message)
{
	struct msg_task *m = message;

	if (m->mode < TASK_AUDIT && (m->n_sides == 0 || m->n_cells == 0))
		return field_fail(f, m->n_sides ? "cells" : "sides", "has 0 items");
	for (int i = 0; i < m->n_sides; i++)
		for (int other = 0; other < i; other++)
			if (m->side[other].role == m->side[i].role)
				return field_fail(f, "sides", "role %s appears twice", role_name(m->side[i].role));
	if (m->n_pins > m->n_cells * m->n_sides)
		return field_fail(f, "pins", "has %d items, not 0..%d", m->n_pins, m->n_cells * m->n_sides);
	for (int i = 0; i < m->n_pins; i++)
		if (m->pin[i].side >= m->n_sides) {
			char key[32];

			snprintf(key, sizeof key, "pins[%d].side", i);
			return field_fail(f, key, "%d is outside 0..%d", m->pin[i].side, m->n_sides - 1);
		}
	return 0;
}

const struct row protocol_task_rows[] = {
	{ ROW_ENUM(struct msg_task, mode, "mode", REQUIRED, task_mode_names, TASK_CHECK, TASK_CLOCKS) },
	{ ROW_TOKEN(struct msg_task, device, "device", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_INT(struct msg_task, run, "run", REQUIRED, 0, INT_MAX) },
	{ ROW_INT(struct msg_task, set, "set", REQUIRED, 0, 2) },
	{ ROW_INT(struct msg_task, pass, "pass", SPARSE, 0, INT_MAX) },
	{ ROW_SEED(struct msg_task, seed, "seed") },
	{ ROW_INT(struct msg_task, rotation, "rotation", SPARSE, 1, ROTATION_MAX) },
	{ ROW_TOKEN(struct msg_task, signature, "signature", SPARSE, FIELD_HEX, SIGNATURE_KEY) },
	{ ROW_LIST(struct msg_task, side, n_sides, "sides", 0, task_side_rows) },
	{ ROW_OWNED_LIST(struct msg_task, cell, n_cells, "cells", REQUIRED, 0, JOB_CELLS_MAX, protocol_cell_rows),
		.index = offsetof(struct msg_task, index) },
	{ ROW_OWNED_LIST(struct msg_task, pin, n_pins, "pins", SPARSE, 0, (size_t)JOB_CELLS_MAX *PROTOCOL_SIDES_MAX, pin_rows) },
	{ ROW_OBJECT(struct msg_task, rule, "rule", REQUIRED, protocol_rule_rows) },
	{ ROW_DOUBLE(struct msg_task, warm_s, "warm_s", REQUIRED, 0, 3600) },
	{ ROW_DOUBLE(struct msg_task, cell_warm_s, "cell_warm_s", REQUIRED, 0, 3600) },
	{ ROW_BOOL(struct msg_task, phases, "phases", REQUIRED) },
	{ ROW_BOOL(struct msg_task, calls, "calls", REQUIRED) },
	{ ROW_INT(struct msg_task, calls_n, "calls_n", OPTIONAL, 0, 1000000) },
	{ ROW_INT(struct msg_task, warmup_n, "warmup_n", OPTIONAL, 0, 1000000) },
	{ ROW_BOOL(struct msg_task, only_sustained_runs, "only_sustained_runs", OPTIONAL) },
	{ ROW_INT(struct msg_task, repeat, "repeat", OPTIONAL, 0, EVIDENCE_REPEATS - 1), ROW_IF(struct msg_task, mode),
		.gate_value = TASK_PROFILE },
	{ ROW_BOOL(struct msg_task, counters, "counters", OPTIONAL), ROW_IF(struct msg_task, mode), .gate_value = TASK_PROFILE },
	{ ROW_BOOL(struct msg_task, samples, "samples", OPTIONAL), ROW_IF(struct msg_task, mode), .gate_value = TASK_PROFILE },
	{ ROW_CUSTOM(struct msg_task, sustained, "sustained_runs", REQUIRED, read_sustained_runs, write_sustained_runs),
		.n_owned = 1 },
	{ ROW_LINES(struct msg_task, device_check_script, "device_check_script", SPARSE) },
	{ .check = check_run },
};
