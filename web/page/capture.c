#include "web/page/internal.h"

enum { SUITES_MAX = 4, SUITE_MAX_BYTES = 1 << 20, CELLS_MAX_BYTES = 16 << 20, KEPT_MAX_BYTES = 512 << 10 };

struct captures {
	struct read_suite {
		int64_t id;    /* 0: free entry */
		uint64_t used; /* value of the counter at its last use */
		struct buf cells;
	} suite[SUITES_MAX];
	uint64_t uses;
};

struct captures *captures_new(void)
{
	return mem_alloc_zero(1, sizeof(struct captures));
}

void captures_free(struct captures *captures)
{
	for (int i = 0; captures && i < SUITES_MAX; i++)
		buf_fini(&captures->suite[i].cells);
	free(captures);
}

/* Write each cell's key and JSON, each with a final NUL; nothing for a suite that this build cannot read. */
static void write_cells(const char *name, const struct buf *text, struct buf *out)
{
	struct suite suite;
	struct fw_err unread = { 0 };
	struct jsonw j;
	if (suite_parse(text->data, text->len, name, &suite, &unread) != 0)
		return;
	for (int i = 0; i < suite.n_cells; i++) {
		buf_append(out, suite.cell[i].key, strlen(suite.cell[i].key) + 1);
		jsonw_init(&j, out);
		protocol_put_cell(&j, &suite.cell[i]);
		buf_putc(out, '\0');
	}
	suite_fini(&suite);
}

static int read_cells(struct db *db, const struct comparison *c, struct buf *out, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, SUITE_MAX_BYTES);
	int result = view_suite_text(db, c->id, &text, err);
	if (result == 0)
		write_cells(c->suite, &text, out);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the cells of suite %s do not fit", c->suite);
	buf_fini(&text);
	return result;
}

static int take(const struct buf *cells, const char *key, struct buf *out)
{
	for (const char *at = cells->data, *end = at + cells->len; at < end;) {
		const char *json = at + strlen(at) + 1;
		if (strcmp(at, key) == 0) {
			buf_puts(out, json);
			return 1;
		}
		at = json + strlen(json) + 1;
	}
	return 0;
}

static void drop(struct read_suite *s)
{
	buf_fini(&s->cells);
	*s = (struct read_suite){ .id = 0 };
}

/* Return the entry of a suite, or without one a free or the least recently used entry. */
static struct read_suite *find_entry(struct captures *captures, int64_t id)
{
	struct read_suite *oldest = &captures->suite[0];
	for (int i = 0; i < SUITES_MAX; i++) {
		struct read_suite *s = &captures->suite[i];
		if (s->id == id)
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	return oldest;
}

int captures_cell(struct captures *captures, struct db *db, const struct comparison *c, const char *key, struct buf *out,
	struct fw_err *err)
{
	struct read_suite rebuilt = { .id = 0 }, *s = &rebuilt;
	int64_t id;
	int found = view_suite(db, c->id, &id, err);
	if (found < 1)
		return found;
	if (captures)
		s = find_entry(captures, id);
	if (s->id != id) {
		drop(s);
		buf_init(&s->cells, CELLS_MAX_BYTES);
		found = read_cells(db, c, &s->cells, err);
	}
	if (found >= 0) {
		found = take(&s->cells, key, out);
		s->id = id;
	}
	if (!captures || found < 0 || s->cells.len > KEPT_MAX_BYTES)
		drop(s);
	else
		s->used = ++captures->uses;
	return found;
}
