/* hipblaslt.c - output of hipblaslt-bench. Its tables, of one or more rows, are between other lines. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

/* "[0]:transA" of newer and "[0]transA" of older versions. */
static void cut_number(char *name)
{
	const char *end = name[0] == '[' ? strchr(name, ']') : NULL;

	if (end)
		memmove(name, end + 1 + (end[1] == ':'), strlen(end + 1 + (end[1] == ':')) + 1);
}

/* Return whether a column is not an argument: a result, a check, or a choice of the library or the machine. */
static bool is_outcome(const char *name)
{
	static const char *const names[] = { "us", "CPU-Gflops", "CPU-us", "norm_error", "atol", "rtol", "solution_index", "CUs",
		"gcnArchName", "command" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "hipblaslt-", 10) == 0;
}

/* An argument of its usual value is not named; nor are the strides of a single product. */
static bool is_usual(const char *name, const char *value, bool is_single)
{
	value += strspn(value, " ");
	return strcmp(value, "0") == 0 || strcmp(value, "none") == 0 || strcmp(value, "non-supported type") == 0 ||
	       (strcmp(value, "1") == 0 && (strcmp(name, "alpha") == 0 || strcmp(name, "batch_count") == 0)) ||
	       (is_single && strncmp(name, "stride_", 7) == 0);
}

static int read_row(struct reading *out, const struct csv *c, const struct table_header *h, bool is_winner, struct fw_err *err)
{
	int us = table_column(h, "us"), gflops = table_column(h, "hipblaslt-Gflops"), batch = table_column(h, "batch_count");
	int arch = table_column(h, "gcnArchName");
	bool is_single = batch < 0 || strcmp(c->cell[batch], "1") == 0;
	char key[TABLE_KEY_SIZE] = "";
	double rate;

	for (int i = 0; i < h->n; i++)
		if (!is_outcome(h->name[i]) && !is_usual(h->name[i], c->cell[i], is_single))
			table_put(key, h->name[i], c->cell[i]);
	if (is_winner)
		table_put(key, "solution", "winner");
	if (arch >= 0)
		reading_report(out, h->name[arch], c->cell[arch]);
	out->line = c->line;
	reading_entry(out, c->line);
	return table_add(out, c, h, us, "us", key, gflops >= 0 && reading_number(c->cell[gflops], &rate) ? rate / 1e3 : NAN, err);
}

/* Read the rows after a header. They end at a line of another shape, or at the next header. */
static int read_rows(struct reading *out, struct csv *c, const struct table_header *h, bool is_winner, struct fw_err *err)
{
	for (int n = 0;; n++) {
		struct fw_err ignored = { 0 };
		size_t at = c->at;
		int line = c->next_line;
		char name[32];

		if (csv_next(c, &ignored) != 1)
			return 0;
		if (strstr(c->cell[0], "transA")) {
			c->at = at;
			c->next_line = line;
			return 0;
		}
		if (n == 0 || c->n == h->n)
			if (table_check_end(c, h, err) != 0)
				return -1;
		if (c->n == h->n) {
			if (read_row(out, c, h, is_winner, err) != 0)
				return -1;
			continue;
		}
		out->line = c->line;
		snprintf(name, sizeof name, "line %d", c->line);
		return n > 0 ? 0 : reading_skip(out, name, err, "it has %d cells, the header has %d", c->n, h->n);
	}
}

int read_hipblaslt(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct csv c;
	int result = 0, tables = 0;

	(void)how;
	csv_init(&c, text, len, file);
	for (size_t from = 0; result == 0 && table_seek(&c, "hipblaslt-Gflops");) {
		bool is_winner = memmem(text + from, c.at - from, "Winner", 6) != NULL;

		result = table_header_read(&c, &h, err);
		from = c.at;
		cut_number(h.name[0]);
		if (result == 0)
			result = table_require_column(&c, &h, "us", err) < 0 ? -1 : read_rows(out, &c, &h, is_winner, err);
		tables++;
	}
	csv_fini(&c);
	return result == 0 && tables == 0
		       ? err_set(err, ERR_INVALID, "%s: holds no results of hipblaslt-bench, whose tables have hipblaslt-Gflops",
				 file)
		       : result;
}
