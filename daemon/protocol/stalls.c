/* stalls.c - reader and writer of warp stalls, one array for each instruction. */
#include "protocol/internal.h"

/* Parse [offset, samples, reason, samples of that reason]; the caller reads the text of the instruction. -1: malformed. */
static int read_stall(const json_t *item, struct evidence_stall *s)
{
	const json_t *number[] = { json_array_get(item, 0), json_array_get(item, 1), json_array_get(item, 3) };
	const char *reason = json_string_value(json_array_get(item, 2));

	for (int i = 0; i < 3; i++)
		if (!json_is_integer(number[i]) || json_integer_value(number[i]) < 0 || json_integer_value(number[i]) > INT_MAX)
			return -1;
	if (!reason || !reason[0] || strlen(reason) >= sizeof s->reason || !field_is(FIELD_IDENTIFIER, reason))
		return -1;
	s->offset = (uint32_t)json_integer_value(number[0]);
	s->samples = (int)json_integer_value(number[1]);
	s->of_reason = (int)json_integer_value(number[2]);
	memcpy(s->reason, reason, strlen(reason) + 1);
	return 0;
}

static void write_stall(struct jsonw *j, const struct evidence_stall *s, const char *text)
{
	jsonw_array(j);
	jsonw_int(j, s->offset);
	jsonw_int(j, s->samples);
	jsonw_string(j, s->reason);
	jsonw_int(j, s->of_reason);
	if (text)
		jsonw_string(j, text);
	jsonw_array_end(j);
}

static int read_lines(struct fields *f, const struct row *r, void *message)
{
	json_t *list = field_array(f, r->key, 0, EVIDENCE_STALLS_MAX);
	struct msg_stalls *m = message;

	if (!list)
		return -1;
	m->line = calloc(json_array_size(list) + 1, sizeof *m->line);
	if (!m->line)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu stalls", json_array_size(list));
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (read_stall(json_array_get(list, i), &m->line[i]) != 0)
			return field_fail(f, r->key, "item %zu is not a sample of an instruction", i);
		if (i > 0 && m->line[i].offset <= m->line[i - 1].offset)
			return field_fail(f, r->key, "item %zu does not have a higher offset than the item before it", i);
		m->n++;
	}
	return 0;
}

static void write_lines(struct jsonw *j, const struct row *r, const void *message)
{
	const struct msg_stalls *m = message;

	jsonw_kv_array(j, r->key);
	for (int i = 0; i < m->n; i++)
		write_stall(j, &m->line[i], NULL);
	jsonw_array_end(j);
}

const struct row protocol_stalls_rows[] = {
	{ ROW_INT(struct msg_stalls, cell, "cell", REQUIRED, 0, JOB_CELLS_MAX - 1) },
	{ ROW_ENUM(struct msg_stalls, role, "role", REQUIRED, role_names, ROLE_BASE, ROLE_TARGET) },
	{ ROW_SHA256(struct msg_stalls, symbol_sha256, "symbol_sha256", REQUIRED) },
	{ ROW_INT(struct msg_stalls, samples, "samples", REQUIRED, 0, INT64_MAX / 2) },
	{ ROW_CUSTOM(struct msg_stalls, line, "lines", REQUIRED, read_lines, write_lines), .n_owned = 1 },
	{ .key = NULL },
};

static int read_hot_lines(struct fields *f, const struct row *r, void *hot)
{
	json_t *list = field_array(f, r->key, 0, EVIDENCE_HOT_MAX);
	struct evidence_hot *h = hot;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i), *text = json_array_get(item, 4);
		struct fields words = { .object = json_pack("{s:O?}", "text", text), .err = f->err };

		if (!words.object || read_stall(item, &h->line[i].stall) != 0 || json_array_size(item) != 5) {
			json_decref(words.object);
			return field_fail(f, r->key, "item %zu is not a sample of an instruction", i);
		}
		field_text(&words, "text", h->line[i].text, sizeof h->line[i].text);
		json_decref(words.object);
		h->n++;
	}
	return list ? 0 : -1;
}

static void write_hot_lines(struct jsonw *j, const struct row *r, const void *hot)
{
	const struct evidence_hot *h = hot;

	jsonw_kv_array(j, r->key);
	for (int i = 0; i < h->n; i++)
		write_stall(j, &h->line[i].stall, h->line[i].text);
	jsonw_array_end(j);
}

const struct row protocol_hot_rows[] = {
	{ ROW_INT(struct evidence_hot, samples, "samples", REQUIRED, 0, INT64_MAX / 2) },
	{ ROW_CUSTOM(struct evidence_hot, line, "lines", REQUIRED, read_hot_lines, write_hot_lines) },
	{ .key = NULL },
};

void protocol_stalls_put_hot(struct jsonw *j, const struct evidence_hot *h)
{
	table_write_object(j, protocol_hot_rows, h);
}
