/* profile.c - tables of a profile's messages. */
#include "protocol/internal.h"

#define VALUE_MAX 1e30
#define MS_MAX    1e8
#define CELL_MAX  (JOB_CELLS_MAX - 1)

const char *const evidence_code_names[EVIDENCE_CODES + 1] = {
	[EVIDENCE_CODE_SAME] = "same",
	[EVIDENCE_CODE_RENAMED] = "renamed",
	[EVIDENCE_CODE_RESCHEDULED] = "rescheduled",
	[EVIDENCE_CODE_CHANGED] = "changed",
	[EVIDENCE_CODE_ADDED] = "added",
	[EVIDENCE_CODE_REMOVED] = "removed",
	[EVIDENCE_CODE_DIFFERS] = "differs",
};

const char *const evidence_path_names[EVIDENCE_PATHS + 1] = {
	[EVIDENCE_RANGE] = "range",
	[EVIDENCE_NCU] = "ncu",
	[EVIDENCE_ACTIVITY] = "activity",
	[EVIDENCE_CODE] = "code",
};

static int read_values(struct fields *f, const struct row *r, void *message)
{
	json_t *object = field_object(f, r->key), *number;
	struct msg_kernel *m = message;
	const char *metric;
	struct fields v;

	if (!object)
		return -1;
	if (json_object_size(object) > EVIDENCE_VALUES_MAX)
		return field_fail(f, r->key, "has more than %d metrics", EVIDENCE_VALUES_MAX);
	m->value = calloc(json_object_size(object) + 1, sizeof *m->value);
	if (!m->value)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu metrics", json_object_size(object));
	field_begin(&v, object, f->err, "kernel.values");
	json_object_foreach(object, metric, number)
	{
		struct evidence_value *value = &m->value[m->n_values];

		if (!metric[0] || strlen(metric) >= sizeof value->metric || !field_is(FIELD_IDENTIFIER, metric))
			return field_fail(f, r->key, "has an invalid metric name");
		memcpy(value->metric, metric, strlen(metric) + 1);
		value->value = field_double(&v, metric, -VALUE_MAX, VALUE_MAX);
		if (v.failed)
			return -1;
		m->n_values++;
	}
	return 0;
}

static void write_values(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_kernel *m = message;

	jsonw_kv_object(j, r->key);
	for (int i = 0; i < m->n_values; i++)
		jsonw_kv_double(j, m->value[i].metric, m->value[i].value);
	jsonw_object_end(j);
}

const struct row protocol_kernel_rows[] = {
	{ ROW_INT(struct msg_kernel, cell, "cell", REQUIRED, 0, CELL_MAX) },
	{ ROW_ENUM(struct msg_kernel, role, "role", REQUIRED, role_names, ROLE_BASE, ROLE_TARGET) },
	{ ROW_INT(struct msg_kernel, repeat, "repeat", REQUIRED, 0, EVIDENCE_REPEATS - 1) },
	{ ROW_INT(struct msg_kernel, n, "n", REQUIRED, 0, EVIDENCE_KERNELS_MAX - 1) },
	{ ROW_TOKEN(struct msg_kernel, phase, "phase", REQUIRED, FIELD_IDENTIFIER, 0) },
	{ ROW_TEXT(struct msg_kernel, kernel, "kernel", OPTIONAL) },
	{ ROW_SHA256(struct msg_kernel, code_sha256, "code", REQUIRED), .may_be_empty = true },
	{ ROW_SHA256(struct msg_kernel, symbol_sha256, "symbol_sha256", SPARSE) },
	{ ROW_INT(struct msg_kernel, sm, "sm", SPARSE, 0, 9999) },
	{ ROW_DOUBLE(struct msg_kernel, ms, "ms", OPTIONAL, -1, MS_MAX), .absent = -1 },
	{ ROW_SIZES(struct msg_kernel, grid, "grid") },
	{ ROW_SIZES(struct msg_kernel, block, "block") },
	{ ROW_INT(struct msg_kernel, registers, "registers", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_kernel, local_bytes, "local_bytes", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_kernel, shared_bytes, "shared_bytes", OPTIONAL, 0, INT_MAX) },
	{ ROW_INT(struct msg_kernel, ctas_per_sm, "ctas_per_sm", OPTIONAL, 0, 4096) },
	{ ROW_CUSTOM(struct msg_kernel, value, "values", REQUIRED, read_values, write_values), .n_owned = 1 },
	{ .key = NULL },
};

static const struct row takes_rows[] = {
	{ ROW_INT(struct evidence_takes, registers, "registers", OPTIONAL, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct evidence_takes, local_bytes, "local_bytes", OPTIONAL, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct evidence_takes, shared_bytes, "shared_bytes", OPTIONAL, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct evidence_takes, ctas_per_sm, "ctas_per_sm", OPTIONAL, -1, 4096), .absent = -1 },
	{ .key = NULL },
};

static int read_opcodes(struct fields *f, const struct row *r, void *message)
{
	json_t *list = field_array(f, r->key, 0, EVIDENCE_OPCODES_MAX);
	struct msg_code *m = message;

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i), *base = json_array_get(item, 1), *target = json_array_get(item, 2);
		const char *name = json_string_value(json_array_get(item, 0));

		if (!name || strlen(name) >= sizeof m->opcode[i].opcode || !field_is(FIELD_IDENTIFIER, name) ||
			json_array_size(item) != 3)
			return field_fail(f, r->key, "item %zu is not an array of a name and two numbers", i);
		if (!json_is_integer(base) || !json_is_integer(target) || json_integer_value(base) < 0 ||
			json_integer_value(target) < 0 || json_integer_value(base) > INT_MAX ||
			json_integer_value(target) > INT_MAX)
			return field_fail(f, r->key, "item %zu has an invalid count", i);
		memcpy(m->opcode[i].opcode, name, strlen(name) + 1);
		m->opcode[i].base = (int)json_integer_value(base);
		m->opcode[i].target = (int)json_integer_value(target);
		m->n_opcodes++;
	}
	return list ? 0 : -1;
}

static void write_opcodes(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_code *m = message;

	jsonw_kv_array(j, r->key);
	for (int i = 0; i < m->n_opcodes; i++) {
		jsonw_array(j);
		jsonw_string(j, m->opcode[i].opcode);
		jsonw_int(j, m->opcode[i].base);
		jsonw_int(j, m->opcode[i].target);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
}

const struct row protocol_code_rows[] = {
	{ ROW_INT(struct msg_code, cell, "cell", REQUIRED, 0, CELL_MAX) },
	{ ROW_TEXT(struct msg_code, base, "base", OPTIONAL) },
	{ ROW_TEXT(struct msg_code, target, "target", OPTIONAL) },
	{ ROW_ENUM(struct msg_code, what, "what", REQUIRED, evidence_code_names, EVIDENCE_CODE_SAME, EVIDENCE_CODE_DIFFERS) },
	{ ROW_CUSTOM(struct msg_code, opcode, "opcodes", REQUIRED, read_opcodes, write_opcodes) },
	{ ROW_LINES(struct msg_code, hunks, "hunks", OPTIONAL) },
	{ ROW_OBJECT(struct msg_code, base_takes, "base_takes", OPTIONAL, takes_rows) },
	{ ROW_OBJECT(struct msg_code, target_takes, "target_takes", OPTIONAL, takes_rows) },
	{ ROW_OBJECT(struct msg_code, hot[0], "base_stalls", OPTIONAL, protocol_hot_rows),
		ROW_IF(struct msg_code, hot[0].samples) },
	{ ROW_OBJECT(struct msg_code, hot[1], "target_stalls", OPTIONAL, protocol_hot_rows),
		ROW_IF(struct msg_code, hot[1].samples) },
	{ .key = NULL },
};

const struct row protocol_counterfactual_rows[] = {
	{ ROW_INT(struct msg_counterfactual, cell, "cell", REQUIRED, 0, CELL_MAX) },
	{ ROW_TEXT(struct msg_counterfactual, config, "config", OPTIONAL) },
	{ ROW_DOUBLE(struct msg_counterfactual, base_ms, "base_ms", REQUIRED, 0, MS_MAX) },
	{ ROW_DOUBLE(struct msg_counterfactual, target_ms, "target_ms", REQUIRED, 0, MS_MAX) },
	{ ROW_DOUBLE(struct msg_counterfactual, with_ms, "with_ms", REQUIRED, 0, MS_MAX) },
	{ .key = NULL },
};

const struct row protocol_profile_rows[] = {
	{ ROW_INT(struct msg_profile, cell, "cell", REQUIRED, 0, CELL_MAX) },
	{ ROW_ENUM(struct msg_profile, path, "path", REQUIRED, evidence_path_names, EVIDENCE_RANGE, EVIDENCE_CODE) },
	{ ROW_TEXT(struct msg_profile, why, "why", OPTIONAL) },
	{ ROW_TEXT(struct msg_profile, tool, "tool", OPTIONAL) },
	{ ROW_INT(struct msg_profile, passes, "passes", OPTIONAL, 0, 10000) },
	{ ROW_TEXT(struct msg_profile, stalls_why, "stalls_why", SPARSE) },
	{ ROW_TEXT(struct msg_profile, base_config, "base_config", OPTIONAL) },
	{ ROW_TEXT(struct msg_profile, target_config, "target_config", OPTIONAL) },
	{ ROW_DOUBLE(struct msg_profile, gpu_s, "gpu_s", OPTIONAL, 0, 1e9) },
	{ ROW_BOOL(struct msg_profile, tunes, "tunes", SPARSE) },
	{ ROW_OBJECT(struct msg_profile, base_tried, "base_tried", OPTIONAL, protocol_tried_rows),
		ROW_IF(struct msg_profile, base_tried.n) },
	{ ROW_OBJECT(struct msg_profile, target_tried, "target_tried", OPTIONAL, protocol_tried_rows),
		ROW_IF(struct msg_profile, target_tried.n) },
	{ .key = NULL },
};
