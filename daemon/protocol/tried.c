/* tried.c - list of tried configurations. */
#include "protocol/protocol.h"

#include <stdlib.h>

#define MS_MAX 1e9

static int by_time(const void *a, const void *b)
{
	const struct tried_config *x = a, *y = b;

	if ((x->ms > 0) != (y->ms > 0))
		return x->ms > 0 ? -1 : 1;
	if (x->ms != y->ms)
		return x->ms < y->ms ? -1 : 1;
	return strcmp(x->config, y->config);
}

void tried_sort(struct tried *t)
{
	if (t->n > 1)
		qsort(t->config, (size_t)t->n, sizeof *t->config, by_time);
}

void tried_fini(struct tried *t)
{
	free(t->config);
	*t = (struct tried){ 0 };
}

void tried_write(struct jsonw *j, const struct tried *t)
{
	if (t->n == 0) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_int(j, "of", t->of);
	jsonw_key(j, "list");
	jsonw_array(j);
	for (int i = 0; i < t->n; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "config", t->config[i].config);
		if (t->config[i].ms > 0)
			jsonw_kv_double(j, "ms", t->config[i].ms);
		else
			jsonw_kv_null(j, "ms");
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_object_end(j);
}

int tried_read(struct fields *f, const char *key, struct tried *out)
{
	struct fields o;

	*out = (struct tried){ 0 };
	if (f->failed || !field_has(f, key))
		return 0;
	field_begin(&o, field_object(f, key), f->err, "%.40s.%s", f->where, key);
	json_t *list = field_array(&o, "list", 1, TRIED_MAX);
	size_t n = json_array_size(list);

	out->config = calloc(n + 1, sizeof *out->config);
	if (!out->config)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu configurations", n);
	for (size_t i = 0; i < n && !o.failed; i++) {
		struct fields c;

		field_begin(&c, json_array_get(list, i), f->err, "%.40s.%s[%zu]", f->where, key, i);
		field_text(&c, "config", out->config[i].config, sizeof out->config[i].config);
		out->config[i].ms = field_double_or(&c, "ms", 0, MS_MAX, 0);
		o.failed = c.failed;
		out->n++;
	}
	out->of = (int)field_int(&o, "of", out->n, TRIED_OF_MAX);
	f->failed = f->failed || o.failed;
	return o.failed ? -1 : 0;
}
