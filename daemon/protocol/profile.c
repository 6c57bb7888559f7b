/* profile.c - parser and writer of a profile's messages. */
#include "protocol/internal.h"

#include <limits.h>
#include <stdlib.h>

#define VALUE_MAX 1e30
#define MS_MAX    1e8

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

bool protocol_profile_is(enum msg_type t)
{
	return t == MSG_KERNEL || t == MSG_CODE || t == MSG_COUNTERFACTUAL || t == MSG_PROFILE || t == MSG_STALLS;
}

static int read_values(struct fields *f, struct msg_kernel *m)
{
	json_t *object = field_object(f, "values"), *number;
	const char *metric;
	struct fields v;

	if (!object)
		return -1;
	if (json_object_size(object) > EVIDENCE_VALUES_MAX)
		return field_fail(f, "values", "holds more than %d metrics", EVIDENCE_VALUES_MAX);
	m->value = calloc(json_object_size(object) + 1, sizeof *m->value);
	if (!m->value) {
		f->failed = true;
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu metrics", json_object_size(object));
	}
	field_begin(&v, object, f->err, "kernel.values");
	json_object_foreach(object, metric, number)
	{
		struct evidence_value *value = &m->value[m->n_values];

		if (!metric[0] || strlen(metric) >= sizeof value->metric || !field_is(FIELD_WORD, metric))
			return field_fail(f, "values", "holds a name that is none of a metric");
		memcpy(value->metric, metric, strlen(metric) + 1);
		value->value = field_double(&v, metric, -VALUE_MAX, VALUE_MAX);
		if (v.failed)
			return -1;
		m->n_values++;
	}
	return 0;
}

static int read_cell_number(struct fields *f)
{
	return (int)field_int(f, "cell", 0, JOB_CELLS_MAX - 1);
}

static int read_kernel(struct fields *f, struct msg_kernel *m)
{
	static const char *const sides[] = { "base", "target", NULL };

	m->cell = read_cell_number(f);
	m->role = field_word(f, "role", sides, NULL, 0) == 1 ? ROLE_TARGET : ROLE_BASE;
	m->repeat = (int)field_int(f, "repeat", 0, EVIDENCE_REPEATS - 1);
	m->n = (int)field_int(f, "n", 0, EVIDENCE_KERNELS_MAX - 1);
	field_token(f, "phase", FIELD_WORD, 0, m->phase, sizeof m->phase);
	field_text(f, "kernel", m->kernel, sizeof m->kernel);
	field_digest(f, "code", true, true, m->code_sha256);
	if (field_has(f, "symbol_sha256"))
		field_digest(f, "symbol_sha256", true, false, m->symbol_sha256);
	m->sm = (int)field_int_or(f, "sm", 0, 9999, 0);
	m->ms = field_double_or(f, "ms", -1, MS_MAX, -1);
	m->registers = (int)field_int_or(f, "registers", 0, INT_MAX, 0);
	m->local_bytes = (int)field_int_or(f, "local_bytes", 0, INT_MAX, 0);
	m->shared_bytes = (int)field_int_or(f, "shared_bytes", 0, INT_MAX, 0);
	m->ctas_per_sm = (int)field_int_or(f, "ctas_per_sm", 0, 4096, 0);
	if (field_sizes(f, "grid", m->grid, 3) != 0 || field_sizes(f, "block", m->block, 3) != 0)
		return -1;
	return read_values(f, m);
}

static void put_kernel(struct jsonw *j, const struct msg_kernel *m)
{
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_int(j, "repeat", m->repeat);
	jsonw_kv_int(j, "n", m->n);
	jsonw_kv_string(j, "phase", m->phase);
	jsonw_kv_string(j, "kernel", m->kernel);
	jsonw_kv_string(j, "code", m->code_sha256);
	if (m->symbol_sha256[0])
		jsonw_kv_string(j, "symbol_sha256", m->symbol_sha256);
	if (m->sm)
		jsonw_kv_int(j, "sm", m->sm);
	jsonw_kv_double(j, "ms", m->ms);
	protocol_put_ints(j, "grid", m->grid, 3);
	protocol_put_ints(j, "block", m->block, 3);
	jsonw_kv_int(j, "registers", m->registers);
	jsonw_kv_int(j, "local_bytes", m->local_bytes);
	jsonw_kv_int(j, "shared_bytes", m->shared_bytes);
	jsonw_kv_int(j, "ctas_per_sm", m->ctas_per_sm);
	jsonw_key(j, "values");
	jsonw_object(j);
	for (int i = 0; i < m->n_values; i++)
		jsonw_kv_double(j, m->value[i].metric, m->value[i].value);
	jsonw_object_end(j);
}

static int read_takes(struct fields *f, const char *key, struct evidence_takes *t)
{
	struct fields in;

	*t = (struct evidence_takes){ -1, -1, -1, -1 };
	if (!field_has(f, key))
		return 0;
	field_begin(&in, field_object(f, key), f->err, "code.%s", key);
	t->registers = (int)field_int_or(&in, "registers", -1, INT_MAX, -1);
	t->local_bytes = (int)field_int_or(&in, "local_bytes", -1, INT_MAX, -1);
	t->shared_bytes = (int)field_int_or(&in, "shared_bytes", -1, INT_MAX, -1);
	t->ctas_per_sm = (int)field_int_or(&in, "ctas_per_sm", -1, 4096, -1);
	return in.failed ? -1 : 0;
}

static int read_opcodes(struct fields *f, struct msg_code *m)
{
	json_t *list = field_array(f, "opcodes", 0, EVIDENCE_OPCODES_MAX);

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i), *base = json_array_get(item, 1), *target = json_array_get(item, 2);
		const char *name = json_string_value(json_array_get(item, 0));

		if (!name || strlen(name) >= sizeof m->opcode[i].opcode || !field_is(FIELD_WORD, name) ||
			json_array_size(item) != 3)
			return field_fail(f, "opcodes", "item %zu is no list of a name and two numbers", i);
		if (!json_is_integer(base) || !json_is_integer(target) || json_integer_value(base) < 0 ||
			json_integer_value(target) < 0 || json_integer_value(base) > INT_MAX ||
			json_integer_value(target) > INT_MAX)
			return field_fail(f, "opcodes", "item %zu has a count that is none", i);
		memcpy(m->opcode[i].opcode, name, strlen(name) + 1);
		m->opcode[i].base = (int)json_integer_value(base);
		m->opcode[i].target = (int)json_integer_value(target);
		m->n_opcodes++;
	}
	return list ? 0 : -1;
}

static int read_code(struct fields *f, struct msg_code *m)
{
	m->cell = read_cell_number(f);
	field_text(f, "base", m->base, sizeof m->base);
	field_text(f, "target", m->target, sizeof m->target);
	int what = field_word(f, "what", evidence_code_names, NULL, 0);
	m->what = what < 0 ? EVIDENCE_CODE_DIFFERS : (enum evidence_code)what;
	field_lines(f, "hunks", m->hunks, sizeof m->hunks);
	if (read_takes(f, "base_takes", &m->base_takes) != 0 || read_takes(f, "target_takes", &m->target_takes) != 0 ||
		protocol_stalls_read_hot(f, "base_stalls", &m->hot[0]) != 0 ||
		protocol_stalls_read_hot(f, "target_stalls", &m->hot[1]) != 0)
		return -1;
	return read_opcodes(f, m);
}

static void put_takes(struct jsonw *j, const char *key, const struct evidence_takes *t)
{
	jsonw_key(j, key);
	jsonw_object(j);
	jsonw_kv_int(j, "registers", t->registers);
	jsonw_kv_int(j, "local_bytes", t->local_bytes);
	jsonw_kv_int(j, "shared_bytes", t->shared_bytes);
	jsonw_kv_int(j, "ctas_per_sm", t->ctas_per_sm);
	jsonw_object_end(j);
}

static void put_code(struct jsonw *j, const struct msg_code *m)
{
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "base", m->base);
	jsonw_kv_string(j, "target", m->target);
	jsonw_kv_string(j, "what", evidence_code_names[m->what]);
	jsonw_key(j, "opcodes");
	jsonw_array(j);
	for (int i = 0; i < m->n_opcodes; i++) {
		jsonw_array(j);
		jsonw_string(j, m->opcode[i].opcode);
		jsonw_int(j, m->opcode[i].base);
		jsonw_int(j, m->opcode[i].target);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
	jsonw_kv_string(j, "hunks", m->hunks);
	put_takes(j, "base_takes", &m->base_takes);
	put_takes(j, "target_takes", &m->target_takes);
	for (int side = 0; side < 2; side++)
		if (m->hot[side].samples) {
			jsonw_key(j, side ? "target_stalls" : "base_stalls");
			protocol_stalls_put_hot(j, &m->hot[side]);
		}
}

static void read_counterfactual(struct fields *f, struct msg_counterfactual *m)
{
	m->cell = read_cell_number(f);
	field_text(f, "config", m->config, sizeof m->config);
	m->base_ms = field_double(f, "base_ms", 0, MS_MAX);
	m->target_ms = field_double(f, "target_ms", 0, MS_MAX);
	m->with_ms = field_double(f, "with_ms", 0, MS_MAX);
}

static void put_counterfactual(struct jsonw *j, const struct msg_counterfactual *m)
{
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "config", m->config);
	jsonw_kv_double(j, "base_ms", m->base_ms);
	jsonw_kv_double(j, "target_ms", m->target_ms);
	jsonw_kv_double(j, "with_ms", m->with_ms);
}

static int read_profile(struct fields *f, struct msg_profile *m)
{
	m->cell = read_cell_number(f);
	int path = field_word(f, "path", evidence_path_names, NULL, 0);
	m->path = path < 0 ? EVIDENCE_CODE : (enum evidence_path)path;
	field_text(f, "why", m->why, sizeof m->why);
	field_text(f, "tool", m->tool, sizeof m->tool);
	m->passes = (int)field_int_or(f, "passes", 0, 10000, 0);
	field_text(f, "stalls_why", m->stalls_why, sizeof m->stalls_why);
	field_text(f, "base_config", m->base_config, sizeof m->base_config);
	field_text(f, "target_config", m->target_config, sizeof m->target_config);
	m->gpu_s = field_double_or(f, "gpu_s", 0, 1e9, 0);
	m->tunes = field_bool_or(f, "tunes", false);
	if (tried_read(f, "base_tried", &m->base_tried) != 0)
		return -1;
	return tried_read(f, "target_tried", &m->target_tried);
}

static void put_profile(struct jsonw *j, const struct msg_profile *m)
{
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "path", evidence_path_names[m->path]);
	jsonw_kv_string(j, "why", m->why);
	jsonw_kv_string(j, "tool", m->tool);
	jsonw_kv_int(j, "passes", m->passes);
	if (m->stalls_why[0])
		jsonw_kv_string(j, "stalls_why", m->stalls_why);
	jsonw_kv_string(j, "base_config", m->base_config);
	jsonw_kv_string(j, "target_config", m->target_config);
	jsonw_kv_double(j, "gpu_s", m->gpu_s);
	if (m->tunes)
		jsonw_kv_bool(j, "tunes", true);
	if (m->base_tried.n) {
		jsonw_key(j, "base_tried");
		tried_write(j, &m->base_tried);
	}
	if (m->target_tried.n) {
		jsonw_key(j, "target_tried");
		tried_write(j, &m->target_tried);
	}
}

int protocol_profile_read(struct fields *f, struct msg *out)
{
	if (out->t == MSG_KERNEL)
		return read_kernel(f, &out->u.kernel);
	if (out->t == MSG_CODE) {
		out->u.code = calloc(1, sizeof *out->u.code);
		if (!out->u.code)
			return err_set(f->err, ERR_INTERNAL, "out of memory for a record");
		return read_code(f, out->u.code);
	}
	if (out->t == MSG_STALLS)
		return protocol_stalls_read(f, &out->u.stalls);
	if (out->t == MSG_PROFILE)
		return read_profile(f, &out->u.profile);
	read_counterfactual(f, &out->u.counterfactual);
	return 0;
}

void protocol_profile_fini(struct msg *m)
{
	if (m->t == MSG_KERNEL)
		free(m->u.kernel.value);
	if (m->t == MSG_CODE)
		free(m->u.code);
	if (m->t == MSG_PROFILE) {
		tried_fini(&m->u.profile.base_tried);
		tried_fini(&m->u.profile.target_tried);
	}
	if (m->t == MSG_STALLS)
		free(m->u.stalls.line);
}

void protocol_put_profile(struct jsonw *j, const struct msg *m)
{
	if (m->t == MSG_KERNEL)
		put_kernel(j, &m->u.kernel);
	else if (m->t == MSG_CODE)
		put_code(j, m->u.code);
	else if (m->t == MSG_COUNTERFACTUAL)
		put_counterfactual(j, &m->u.counterfactual);
	else if (m->t == MSG_STALLS)
		protocol_stalls_put(j, &m->u.stalls);
	else
		put_profile(j, &m->u.profile);
}
