/* stalls.c - stalls as lists: offset, samples, main reason, samples of that reason; the hottest with their instruction. */
#include "protocol/protocol.h"

#include <limits.h>
#include <stdlib.h>

/* Parse [offset, samples, reason, samples of it], and for the hottest the instruction. -1 malformed. */
static int read_stall(const json_t *item, struct evidence_stall *s)
{
	const json_t *number[] = { json_array_get(item, 0), json_array_get(item, 1), json_array_get(item, 3) };
	const char *reason = json_string_value(json_array_get(item, 2));

	for (int i = 0; i < 3; i++)
		if (!json_is_integer(number[i]) || json_integer_value(number[i]) < 0 || json_integer_value(number[i]) > INT_MAX)
			return -1;
	if (!reason || !reason[0] || strlen(reason) >= sizeof s->reason || !field_is(FIELD_WORD, reason))
		return -1;
	s->offset = (uint32_t)json_integer_value(number[0]);
	s->samples = (int)json_integer_value(number[1]);
	s->of_reason = (int)json_integer_value(number[2]);
	memcpy(s->reason, reason, strlen(reason) + 1);
	return 0;
}

int protocol_stalls_read(struct fields *f, struct msg_stalls *m)
{
	static const char *const sides[] = { "base", "target", NULL };

	m->cell = (int)field_int(f, "cell", 0, JOB_CELLS_MAX - 1);
	m->role = field_word(f, "role", sides, NULL, 0) == 1 ? ROLE_TARGET : ROLE_BASE;
	field_digest(f, "symbol_sha256", true, false, m->symbol_sha256);
	m->samples = field_int(f, "samples", 0, INT64_MAX / 2);
	json_t *list = field_array(f, "lines", 0, EVIDENCE_STALLS_MAX);
	if (!list)
		return -1;
	m->line = calloc(json_array_size(list) + 1, sizeof *m->line);
	if (!m->line) {
		f->failed = true;
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu stalls", json_array_size(list));
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (read_stall(json_array_get(list, i), &m->line[i]) != 0)
			return field_fail(f, "lines", "item %zu is none of an instruction", i);
		if (i > 0 && m->line[i].offset <= m->line[i - 1].offset)
			return field_fail(f, "lines", "item %zu lies before the one before it", i);
		m->n++;
	}
	return 0;
}

static void put_stall(struct jsonw *j, const struct evidence_stall *s)
{
	jsonw_int(j, s->offset);
	jsonw_int(j, s->samples);
	jsonw_string(j, s->reason);
	jsonw_int(j, s->of_reason);
}

void protocol_stalls_put(struct jsonw *j, const struct msg_stalls *m)
{
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_string(j, "symbol_sha256", m->symbol_sha256);
	jsonw_kv_int(j, "samples", m->samples);
	jsonw_key(j, "lines");
	jsonw_array(j);
	for (int i = 0; i < m->n; i++) {
		jsonw_array(j);
		put_stall(j, &m->line[i]);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
}

int protocol_stalls_read_hot(struct fields *of, const char *key, struct evidence_hot *h)
{
	struct fields f;

	if (!field_has(of, key))
		return 0;
	field_begin(&f, field_object(of, key), of->err, "code.%s", key);
	h->samples = field_int(&f, "samples", 0, INT64_MAX / 2);
	json_t *list = field_array(&f, "lines", 0, EVIDENCE_HOT_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i), *text = json_array_get(item, 4);
		struct fields words = { .object = json_pack("{s:O?}", "text", text), .err = of->err };

		if (!words.object || read_stall(item, &h->line[i].stall) != 0 || json_array_size(item) != 5) {
			json_decref(words.object);
			return field_fail(&f, "lines", "item %zu is none of an instruction", i);
		}
		field_text(&words, "text", h->line[i].text, sizeof h->line[i].text);
		json_decref(words.object);
		h->n++;
	}
	return f.failed ? -1 : 0;
}

void protocol_stalls_put_hot(struct jsonw *j, const struct evidence_hot *h)
{
	jsonw_object(j);
	jsonw_kv_int(j, "samples", h->samples);
	jsonw_key(j, "lines");
	jsonw_array(j);
	for (int i = 0; i < h->n; i++) {
		jsonw_array(j);
		put_stall(j, &h->line[i].stall);
		jsonw_string(j, h->line[i].text);
		jsonw_array_end(j);
	}
	jsonw_array_end(j);
	jsonw_object_end(j);
}
