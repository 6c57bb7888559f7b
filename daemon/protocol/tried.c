/* tried.c - list of tried configurations. */
#include "protocol/internal.h"

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

static const struct row config_rows[] = {
	{ ROW_TEXT(struct tried_config, config, "config", OPTIONAL) },
	{ ROW_DOUBLE(struct tried_config, ms, "ms", NULLABLE, 0, MS_MAX) },
	{ .key = NULL },
};

static int check_tried(struct fields *f, void *message)
{
	struct tried *t = message;

	return t->of >= t->n ? 0 : field_fail(f, "of", "%d is outside %d..%d", t->of, t->n, TRIED_OF_MAX);
}

const struct row protocol_tried_rows[] = {
	{ ROW_INT(struct tried, of, "of", REQUIRED, 0, TRIED_OF_MAX) },
	{ ROW_OWNED_LIST(struct tried, config, n, "list", REQUIRED, 1, TRIED_MAX, config_rows) },
	{ .check = check_tried },
};

void tried_write(struct jsonw *j, const struct tried *t)
{
	if (t->n)
		table_write_object(j, protocol_tried_rows, t);
	else
		jsonw_null(j);
}
