/*
 * record.c - tables of reports of workers and runners.
 *
 * Branch code runs in the runner's process, so every report is validated: arrays of equal length, times finite and above zero,
 * cell numbers within their limits.
 */
#include "protocol/internal.h"

#include <math.h>

#define BYTES_MAX   (INT64_C(1) << 50)
#define COUNT_MAX   (INT64_C(1) << 53)
#define MS_MAX      1e8
#define MHZ_MAX     1e5
#define HOST_US_MAX 1e11
#define CELL_MAX    (JOB_CELLS_MAX - 1)

static const char *const failures[] = { "", "build", "abi", "unsupported", "provider", "crash", "wrong", "oob", "timeout",
	"device", "protocol", "interrupted", "escaped", "clock", "roofline", "forged", "slowed", "lost", "reported", "full",
	"unsure", "unpaired", NULL };

#define ROW_ROLE(s, first) ROW_ENUM(s, role, "role", REQUIRED, role_names, first, ROLE_WORKER)
#define ROW_CELL(s)        ROW_INT(s, cell, "cell", REQUIRED, 0, CELL_MAX)
/* null: no single cell */
#define ROW_CELL_OR_NONE(s) ROW_INT(s, cell, "cell", NULLABLE, -1, CELL_MAX), .absent = -1

static int need_digest(struct fields *f, const char *key, const char *digest)
{
	return digest[0] ? 0 : field_fail(f, key, "must be 64 lower-case hex digits");
}

/* ---- hello ---- */

const struct row protocol_location_rows[] = {
	{ ROW_TOKEN(struct msg_location, host, "host", REQUIRED, FIELD_PATH, 0) },
	{ ROW_TOKEN(struct msg_location, user, "user", REQUIRED, FIELD_PATH, 0) },
	{ ROW_BOOL(struct msg_location, is_system, "is_system", OPTIONAL) },
	{ ROW_TOKEN(struct msg_location, runner, "runner", REQUIRED, FIELD_PATH, 1) },
	{ ROW_TOKEN(struct msg_location, modules, "modules", REQUIRED, FIELD_PATH, 1) },
	{ .key = NULL },
};

static const struct row device_rows[] = {
	{ ROW_ENUM(struct msg_device, kind, "kind", REQUIRED, device_kind_names, DEVICE_CUDA, DEVICE_SIM) },
	{ ROW_TOKEN(struct msg_device, uuid, "uuid", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ ROW_TEXT(struct msg_device, name, "name", OPTIONAL) },
	{ ROW_TEXT(struct msg_device, driver, "driver", OPTIONAL) },
	{ ROW_TEXT(struct msg_device, toolkit, "toolkit", OPTIONAL) },
	{ ROW_TEXT(struct msg_device, cudnn, "cudnn", SPARSE) },
	{ ROW_TEXT(struct msg_device, cublas, "cublas", SPARSE) },
	{ ROW_TEXT(struct msg_device, image, "image", SPARSE) },
	{ ROW_TEXT(struct msg_device, vbios, "vbios", SPARSE) },
	{ ROW_TEXT(struct msg_device, pci, "pci", SPARSE) },
	{ ROW_INT(struct msg_device, index, "index", OPTIONAL, 0, 1023) },
	{ ROW_INT(struct msg_device, cores, "cores", OPTIONAL, 0, 1000000) },
	{ ROW_INT(struct msg_device, memory_bytes, "memory_bytes", OPTIONAL, 0, BYTES_MAX) },
	{ ROW_INT(struct msg_device, l2_bytes, "l2_bytes", OPTIONAL, 0, BYTES_MAX) },
	{ ROW_DOUBLE(struct msg_device, power_limit_w, "power_limit_w", OPTIONAL, 0, 1e5) },
	{ ROW_DOUBLE(struct msg_device, clock_max_mhz, "clock_max_mhz", OPTIONAL, 0, MHZ_MAX) },
	{ ROW_DOUBLE(struct msg_device, peak_tflops, "peak_tflops", OPTIONAL, 0, 1e9) },
	{ ROW_DOUBLE(struct msg_device, peak_gb_s, "peak_gb_s", OPTIONAL, 0, 1e9) },
	{ .key = NULL },
};

static const char *const isolations[] = { "bwrap", "none", NULL };

const struct row protocol_hello_rows[] = {
	{ ROW_INT(struct msg_hello, protocol, "protocol", REQUIRED, 0, INT_MAX) },
	{ ROW_TEXT(struct msg_hello, version, "version", OPTIONAL) },
	{ ROW_CHOICE(struct msg_hello, isolation, "isolation", REQUIRED, isolations) },
	{ ROW_BOOL(struct msg_hello, builds_only, "builds_only", SPARSE) },
	{ ROW_TEXTS(struct msg_hello, read_only, n_read_only, "read_only", SPARSE, 0), .wrong = readonly_wrong },
	{ ROW_OBJECT(struct msg_hello, location, "location", OPTIONAL, protocol_location_rows),
		ROW_IF(struct msg_hello, location.modules[0]) },
	{ ROW_LIST(struct msg_hello, device, n_devices, "devices", 0, device_rows) },
	{ .key = NULL },
};

/* ---- sources and builds ---- */

static const char *wrong_oid(const char *oid)
{
	size_t len = strlen(oid);

	return (len == 40 || len == 64) && field_is(FIELD_HEX, oid) ? NULL : "must be 40 or 64 lower-case hex digits";
}

const struct row protocol_need_rows[] = {
	{ ROW_TEXTS(struct msg_need, oid, n, "trees", REQUIRED, 1), .wrong = wrong_oid },
	{ .key = NULL },
};

const struct row protocol_tree_rows[] = {
	{ ROW_DIGEST(struct msg_tree, oid, "oid", REQUIRED) },
	{ ROW_INT(struct msg_tree, bytes, "bytes", REQUIRED, 0, BYTES_MAX) },
	{ .key = NULL },
};

static int read_modules(struct fields *f, const struct row *r, void *message)
{
	struct msg_build *m = message;
	struct fields modules;

	if (strcmp(m->state, "cached") != 0 && strcmp(m->state, "ok") != 0)
		return 0;
	field_begin(&modules, field_object(f, r->key), f->err, "build.modules");
	const char *family = json_object_iter_key(json_object_iter(modules.object));

	if (!modules.failed && (!family || strlen(family) >= sizeof m->family || !field_is(FIELD_IDENTIFIER, family)))
		return field_fail(&modules, "FAMILY", "must name one module");
	snprintf(m->family, sizeof m->family, "%s", family ? family : "");
	field_digest(&modules, m->family, true, false, m->module_sha256);
	return modules.failed ? -1 : 0;
}

static void write_modules(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_build *m = message;

	jsonw_kv_object(j, r->key);
	if (m->module_sha256[0])
		jsonw_kv_string(j, m->family, m->module_sha256);
	jsonw_object_end(j);
}

static int read_log(struct fields *f, const struct row *r, void *message)
{
	json_t *text = json_object_get(f->object, r->key);
	struct buf *log = &((struct msg_build *)message)->log;

	if (!json_is_string(text))
		return field_fail(f, r->key, "must be a string");
	buf_init(log, PROTOCOL_LINE_MAX);
	if (buf_unbase64(log, json_string_value(text), json_string_length(text)) || log->failed)
		return field_fail(f, r->key, "is not base64");
	return 0;
}

static void write_log(struct jsonw *j, const struct row *r, const void *message)
{
	const struct buf *log = &((const struct msg_build *)message)->log;
	size_t len = log->len < PROTOCOL_LOG_MAX ? log->len : PROTOCOL_LOG_MAX;
	struct buf text;

	if (len == 0)
		return;
	buf_init(&text, PROTOCOL_LINE_MAX);
	buf_base64(&text, log->data + log->len - len, len);
	jsonw_key(j, r->key);
	jsonw_bytes(j, text.data, text.len);
	buf_fini(&text);
}

static const char *const build_states[] = { "start", "cached", "ok", "failed", NULL };

const struct row protocol_build_rows[] = {
	{ ROW_ROLE(struct msg_build, ROLE_BASE) },
	{ ROW_CHOICE(struct msg_build, state, "state", REQUIRED, build_states) },
	{ ROW_INT(struct msg_build, exit, "exit", OPTIONAL, -1, 255) },
	{ ROW_INT(struct msg_build, signal, "signal", OPTIONAL, 0, 64) },
	{ ROW_INT(struct msg_build, duration_ms, "duration_ms", OPTIONAL, 0, COUNT_MAX) },
	{ ROW_CUSTOM(struct msg_build, module_sha256, "modules", REQUIRED, read_modules, write_modules) },
	{ ROW_TEXT(struct msg_build, toolchain, "toolchain", OPTIONAL) },
	{ ROW_TEXT(struct msg_build, detail, "detail", OPTIONAL) },
	{ ROW_CUSTOM(struct msg_build, log, "log_b64", OPTIONAL, read_log, write_log) },
	{ .key = NULL },
};

/* ---- checks ---- */

static int check_check(struct fields *f, void *message)
{
	struct msg_check *m = message;

	if (m->ok && need_digest(f, "input_sha256", m->input_sha256) != 0)
		return -1;
	if (m->ok != !m->failure[0])
		return field_fail(f, "class", m->ok ? "must be empty if ok is true" : "must not be empty if ok is false");
	return 0;
}

static const char *const repeats[] = { "", "same", "differs", NULL };

const struct row protocol_check_rows[] = {
	{ ROW_ROLE(struct msg_check, ROLE_BASE) },
	{ ROW_CELL(struct msg_check) },
	{ ROW_BOOL(struct msg_check, ok, "ok", REQUIRED) },
	{ ROW_CHOICE(struct msg_check, failure, "class", REQUIRED, failures) },
	{ ROW_DOUBLE(struct msg_check, error_ratio, "error_ratio", OPTIONAL, -1, HUGE_VAL), .absent = -1 },
	{ ROW_DOUBLE(struct msg_check, alone_ms, "alone_ms", SPARSE, 0, MS_MAX) },
	{ ROW_DOUBLE(struct msg_check, alone_mhz, "alone_mhz", SPARSE, 0, MHZ_MAX) },
	{ ROW_CHOICE(struct msg_check, repeats, "repeats", SPARSE, repeats) },
	{ ROW_SHA256(struct msg_check, input_sha256, "input_sha256", REQUIRED), .may_be_empty = true },
	{ ROW_TEXT(struct msg_check, detail, "detail", OPTIONAL) },
	{ .check = check_check },
};

static const struct row mask_rows[] = {
	{ ROW_INT(struct mask_counts, pairs, "pairs", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, pairs_kept, "pairs_kept", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, rows, "rows", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, rows_empty, "rows_empty", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, tiles, "tiles", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, tiles_masked, "tiles_masked", REQUIRED, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, common_tiles, "common_tiles", SPARSE, 0, COUNT_MAX) },
	{ ROW_INT(struct mask_counts, common_masked, "common_masked", OPTIONAL, 0, COUNT_MAX),
		ROW_IF(struct mask_counts, common_tiles) },
	{ .key = NULL },
};

const struct row protocol_work_rows[] = {
	{ ROW_ROLE(struct msg_work, ROLE_BASE) },
	{ ROW_CELL(struct msg_work) },
	{ ROW_TEXT(struct msg_work, provider, "provider", OPTIONAL) },
	{ ROW_TEXT(struct msg_work, config, "config", OPTIONAL) },
	{ ROW_DOUBLE(struct msg_work, flops_issued, "flops_issued", OPTIONAL, -1, HUGE_VAL), .absent = -1 },
	{ ROW_DOUBLE(struct msg_work, bytes_moved, "bytes_moved", OPTIONAL, -1, HUGE_VAL), .absent = -1 },
	{ ROW_INT(struct msg_work, tiles_total, "tiles_total", OPTIONAL, -1, COUNT_MAX) },
	{ ROW_INT(struct msg_work, tiles_skipped, "tiles_skipped", OPTIONAL, -1, COUNT_MAX) },
	{ ROW_INT(struct msg_work, tiles_partial, "tiles_partial", OPTIONAL, -1, COUNT_MAX) },
	{ ROW_INT(struct msg_work, blocks_kept, "blocks_kept", OPTIONAL, -1, COUNT_MAX) },
	{ ROW_INT(struct msg_work, workspace_bytes, "workspace_bytes", OPTIONAL, -1, BYTES_MAX) },
	{ ROW_INT(struct msg_work, persist_bytes, "persist_bytes", OPTIONAL, 0, BYTES_MAX) },
	{ ROW_INT(struct msg_work, tensor_bytes, "tensor_bytes", OPTIONAL, 0, BYTES_MAX) },
	{ ROW_DOUBLE(struct msg_work, first_ms, "first_ms", SPARSE, 0, HUGE_VAL), .absent = -1 },
	{ ROW_DOUBLE(struct msg_work, plan_ms, "plan_ms", SPARSE, 0, HUGE_VAL) },
	{ ROW_INT(struct msg_work, taken_bytes, "taken_bytes", SPARSE, 0, BYTES_MAX), .absent = -1 },
	{ ROW_INT(struct msg_work, mask_blocks, "mask_blocks", SPARSE, 0, COUNT_MAX) },
	{ ROW_INT(struct msg_work, mask_kept, "mask_kept", OPTIONAL, 0, COUNT_MAX), ROW_IF(struct msg_work, mask_blocks) },
	{ ROW_OBJECT(struct msg_work, mask, "mask", OPTIONAL, mask_rows), ROW_IF(struct msg_work, mask.pairs) },
	{ ROW_INT(struct msg_work, phases, "phases", OPTIONAL, 0, UINT32_MAX) },
	{ ROW_BOOL(struct msg_work, tunes, "tunes", SPARSE) },
	{ ROW_OBJECT(struct msg_work, tried, "tried", OPTIONAL, protocol_tried_rows), ROW_IF(struct msg_work, tried.n) },
	{ .key = NULL },
};

const struct row protocol_node_rows[] = {
	{ ROW_ROLE(struct msg_node, ROLE_BASE) },
	{ ROW_CELL(struct msg_node) },
	{ ROW_TOKEN(struct msg_node, phase, "phase", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ ROW_TEXT(struct msg_node, kernel, "kernel", OPTIONAL) },
	{ ROW_SIZES(struct msg_node, grid, "grid") },
	{ ROW_SIZES(struct msg_node, block, "block") },
	{ ROW_INT(struct msg_node, registers, "registers", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_node, local_bytes, "local_bytes", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_node, shared_bytes, "shared_bytes", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_node, sm, "sm", SPARSE, 0, 9999) },
	{ ROW_SHA256(struct msg_node, symbol_sha256, "symbol_sha256", SPARSE) },
	{ ROW_SHA256(struct msg_node, code_sha256, "code_sha256", SPARSE) },
	{ .key = NULL },
};

static const struct row found_cell_rows[] = {
	{ ROW_TOKEN(struct msg_found_cell, key, "key", REQUIRED, FIELD_PATH, 1) },
	{ ROW_DOUBLE(struct msg_found_cell, flops, "flops", OPTIONAL, 0, 1e30) },
	{ .key = NULL },
};

static int check_found(struct fields *f, void *message)
{
	struct msg_found *m = message;

	for (int i = 0; i < m->n; i++)
		for (int other = 0; other < i; other++)
			if (strcmp(m->cell[other].key, m->cell[i].key) == 0)
				return field_fail(f, "cells", "item %d has a key that appears twice", i);
	return 0;
}

const struct row protocol_found_rows[] = {
	{ ROW_LIST(struct msg_found, cell, n, "cells", 1, found_cell_rows) },
	{ .check = check_found },
};

/* ---- runs ---- */

const struct row protocol_run_rows[] = {
	{ ROW_INT(struct msg_run, run, "run", REQUIRED, 0, INT_MAX) },
	{ ROW_INT(struct msg_run, set, "set", REQUIRED, 1, 2) },
	{ ROW_SEED(struct msg_run, seed, "seed") },
	{ ROW_INTS(struct msg_run, cell, n_cells, "cells", CELL_MAX) },
	{ .key = NULL },
};

static const char *const steps[] = { "context", "load", "inputs", "forward", "plan", "reference", "check", "warm", "time",
	"sustained", "phase", "end", "count", "sample", "inspect", NULL };

const struct row protocol_at_rows[] = {
	{ ROW_INT(struct msg_at, run, "run", REQUIRED, 0, INT_MAX) },
	{ ROW_CELL_OR_NONE(struct msg_at) },
	{ ROW_ROLE(struct msg_at, ROLE_NONE) },
	{ ROW_CHOICE(struct msg_at, step, "step", REQUIRED, steps) },
	{ .key = NULL },
};

const struct row protocol_device_check_rows[] = {
	{ ROW_DOUBLE(struct msg_device_check, power_w, "power_w", OPTIONAL, -1, 1e5), .absent = -1 },
	{ ROW_DOUBLE(struct msg_device_check, temp_c, "temp_c", OPTIONAL, -1, 1e4), .absent = -1 },
	{ ROW_DOUBLE(struct msg_device_check, sm_mhz, "sm_mhz", OPTIONAL, -1, MHZ_MAX), .absent = -1 },
	{ ROW_INT(struct msg_device_check, reasons, "reasons", OPTIONAL, 0, INT64_MAX) },
	{ ROW_INT(struct msg_device_check, foreign, "foreign", OPTIONAL, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct msg_device_check, xid, "xid", SPARSE, 0, 100000) },
	{ ROW_INT(struct msg_device_check, ecc, "ecc", SPARSE, 0, INT_MAX) },
	{ ROW_DOUBLE(struct msg_device_check, energy_j, "energy_j", SPARSE, -1, 1e12), .absent = -1 },
	{ ROW_TEXT(struct msg_device_check, regime, "regime", OPTIONAL) },
	{ .key = NULL },
};

/* ---- samples ---- */

/* Read floats above `above` and up to `max`. Shape: *out[n]. Own: the caller frees *out, also after a failure. */
static int read_floats(struct fields *f, const char *key, json_t *list, int n, double above, double max, float **out)
{
	if (!json_is_array(list) || json_array_size(list) != (size_t)n)
		return field_fail(f, key, "must have an array of n numbers for each role");
	*out = calloc((size_t)n, sizeof **out);
	if (!*out)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %d samples", n);
	for (int i = 0; i < n; i++) {
		json_t *v = json_array_get(list, (size_t)i);
		double value = json_number_value(v) + 0.0;

		(*out)[i] = (float)value;
		/* compare the stored float, because a tiny double may round to 0 */
		if (!json_is_number(v) || !((double)(*out)[i] > above) || value > max)
			return field_fail(
				f, key, "item %d is not a number above %g and at most %g", i, above < 0 ? 0.0 : above, max);
	}
	return 0;
}

/* Read "ms", whose keys are the roles of the message. */
static int read_ms(struct fields *f, const struct row *r, void *message)
{
	struct msg_cell *m = message;
	json_t *ms = field_object(f, r->key), *list;
	const char *role;

	if (f->failed)
		return -1;
	if (json_object_size(ms) < 1 || json_object_size(ms) > PROTOCOL_SIDES_MAX)
		return field_fail(f, r->key, "must have 1 to %d roles", PROTOCOL_SIDES_MAX);
	json_object_foreach(ms, role, list)
	{
		int s = m->n_sides;

		m->role[s] = role_from_name(role);
		if (m->role[s] == ROLE_NONE || m->role[s] == ROLES)
			return field_fail(f, r->key, "has an unknown role");
		m->n_sides++;
		if (read_floats(f, r->key, list, m->n, 0, MS_MAX, &m->ms[s]))
			return -1;
	}
	return 0;
}

/* Read an object with an array for each role of "ms"; a role may be missing, and 0 is unknown. */
static int read_column(struct fields *f, const struct row *r, void *message)
{
	const struct msg_cell *m = message;
	float **out = (float **)(void *)((char *)message + r->offset);
	json_t *column = field_object(f, r->key);

	for (int s = 0; column && s < m->n_sides; s++) {
		json_t *list = json_object_get(column, role_name(m->role[s]));

		if (list && !json_is_null(list) && read_floats(f, r->key, list, m->n, -1e-30, r->real_max, &out[s]))
			return -1;
	}
	return column ? 0 : -1;
}

/* Write a column unless no side has it. */
static void write_column(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_cell *m = message;
	float *const *column = (float *const *)(const void *)((const char *)message + r->offset);
	bool any = false;

	for (int s = 0; s < m->n_sides; s++)
		any = any || column[s];
	if (!any)
		return;
	jsonw_kv_object(j, r->key);
	for (int s = 0; s < m->n_sides; s++) {
		if (!column[s])
			continue;
		jsonw_kv_array(j, role_name(m->role[s]));
		for (int i = 0; i < m->n; i++)
			jsonw_float(j, column[s][i]);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

#define ROW_COLUMN(m, name, how, reader, to)                                                                                     \
	ROW_CUSTOM(struct msg_cell, m, name, how, reader, write_column), .n_owned = PROTOCOL_SIDES_MAX, .real_max = to

/* Read an object with a number for each role. */
static int read_energy(struct fields *f, const struct row *r, void *message)
{
	struct msg_cell *m = message;
	struct fields in;

	field_begin(&in, json_object_get(f->object, r->key), f->err, "%.40s.%s", f->where, r->key);
	for (int s = 0; s < m->n_sides && !in.failed; s++)
		m->energy_j[s] = field_double_or(&in, role_name(m->role[s]), 0, 1e9, 0);
	return in.failed ? -1 : 0;
}

static void write_energy(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_cell *m = message;
	bool any = false;

	for (int s = 0; s < m->n_sides; s++)
		any = any || m->energy_j[s] > 0;
	if (!any)
		return;
	jsonw_kv_object(j, r->key);
	for (int s = 0; s < m->n_sides; s++)
		jsonw_kv_double(j, role_name(m->role[s]), m->energy_j[s]);
	jsonw_object_end(j);
}

static int check_samples(struct fields *f, void *message)
{
	struct msg_cell *m = message;
	int count[PROTOCOL_SIDES_MAX] = { 0 };

	/* a benchmark program has its own inputs; for the sustained runs of a module the worker compares the digest itself */
	if (m->series != SERIES_PROCESS && m->series != SERIES_SUSTAINED && need_digest(f, "input_sha256", m->input_sha256) != 0)
		return -1;
	for (const char *c = m->order; *c; c++) {
		if (*c < 'A' || *c >= 'A' + m->n_sides)
			return field_fail(f, "order", "letter %c is not a side", *c);
		count[*c - 'A']++;
	}
	for (int s = 0; m->order[0] && s < m->n_sides; s++)
		if (count[s] != m->n)
			return field_fail(f, "order", "letter %c appears %d times, not n = %d", 'A' + s, count[s], m->n);
	return 0;
}

const struct row protocol_samples_rows[] = {
	{ ROW_INT(struct msg_cell, run, "run", REQUIRED, 0, INT_MAX) },
	{ ROW_INT(struct msg_cell, set, "set", REQUIRED, 1, 2) },
	{ ROW_CELL(struct msg_cell) },
	{ ROW_ENUM(struct msg_cell, series, "series", REQUIRED, series_names, SERIES_DEVICE, SERIES_PROCESS) },
	{ ROW_TOKEN(struct msg_cell, phase, "phase", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ ROW_SHA256(struct msg_cell, input_sha256, "input_sha256", REQUIRED), .may_be_empty = true },
	{ ROW_TOKEN(struct msg_cell, order, "order", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ ROW_INT(struct msg_cell, n, "n", REQUIRED, 1, PROTOCOL_SAMPLES_MAX) },
	{ ROW_COLUMN(ms, "ms", REQUIRED, read_ms, MS_MAX) },
	{ ROW_COLUMN(mhz, "mhz", OPTIONAL, read_column, MHZ_MAX) },
	{ ROW_COLUMN(host_us, "host_us", OPTIONAL, read_column, HOST_US_MAX) },
	{ ROW_CUSTOM(struct msg_cell, energy_j, "energy_j", OPTIONAL, read_energy, write_energy) },
	{ ROW_OBJECT(struct msg_cell, device_check, "device_check", OPTIONAL, protocol_device_check_rows) },
	{ ROW_INT(struct msg_cell, redo, "redo", OPTIONAL, 0, 1000) },
	{ .check = check_samples },
};

/* ---- other messages ---- */

const struct row protocol_fault_rows[] = {
	{ ROW_CELL_OR_NONE(struct msg_fault) },
	{ ROW_ROLE(struct msg_fault, ROLE_BASE) },
	{ ROW_CHOICE(struct msg_fault, failure, "class", REQUIRED, failures + 1) },
	{ ROW_TEXT(struct msg_fault, detail, "detail", OPTIONAL) },
	{ .key = NULL },
};

#define ROW_STEP(step, name) { ROW_DOUBLE(struct msg_done, step_s[step], name, SPARSE, 0, 1e9) },
static const struct row step_rows[] = { DEVICE_STEP_LIST(ROW_STEP){ .key = NULL } };

const struct row protocol_done_rows[] = {
	{ ROW_DOUBLE(struct msg_done, gpu_s, "gpu_s", REQUIRED, 0, 1e9) },
	{ ROW_DOUBLE(struct msg_done, wall_s, "wall_s", OPTIONAL, 0, 1e9) },
	{ ROW_BOOL(struct msg_done, cancelled, "cancelled", OPTIONAL) },
	{ ROW_CLASSES(struct msg_done, sustained_runs, "sustained_runs") },
	{ ROW_PART("steps", SPARSE, step_rows) },
	{ .key = NULL },
};

const struct row protocol_ping_rows[] = { { .key = NULL } };

const struct row protocol_cancel_rows[] = {
	{ ROW_BOOL(struct msg_cancel, stays, "stay", SPARSE) },
	{ .key = NULL },
};

const struct row protocol_note_rows[] = {
	{ ROW_CELL_OR_NONE(struct msg_note) },
	{ ROW_ROLE(struct msg_note, ROLE_NONE) },
	{ ROW_TEXT(struct msg_note, text, "text", OPTIONAL) },
	{ .key = NULL },
};

const struct row protocol_same_rows[] = {
	{ ROW_TEXT(struct msg_same, why, "why", REQUIRED) },
	{ .key = NULL },
};

const struct row protocol_state_rows[] = {
	{ ROW_ENUM(struct msg_state, what, "what", REQUIRED, task_mode_names, TASK_IDLE, TASK_CLOCKS) },
	{ ROW_BOOL(struct msg_state, ok, "ok", REQUIRED) },
	{ ROW_OBJECT(struct msg_state, device_check, "device_check", OPTIONAL, protocol_device_check_rows) },
	{ ROW_TEXT(struct msg_state, detail, "detail", OPTIONAL) },
	{ .key = NULL },
};

const struct row protocol_health_check_rows[] = {
	{ ROW_TOKEN(struct msg_health_check, device, "device", REQUIRED, FIELD_IDENTIFIER, 1) },
	{ .key = NULL },
};

static const char *const audit_states[] = { "ready", "done", NULL };

const struct row protocol_audit_rows[] = {
	{ ROW_CELL(struct msg_audit) },
	{ ROW_ROLE(struct msg_audit, ROLE_BASE) },
	{ ROW_INT(struct msg_audit, calls, "calls", REQUIRED, 1, 1000000) },
	{ ROW_ENUM(struct msg_audit, done, "state", REQUIRED, audit_states, false, true) },
	{ ROW_DOUBLE(struct msg_audit, ms, "ms", OPTIONAL, 0, MS_MAX) },
	{ .key = NULL },
};
