/* reproduce.c - commands that rerun one cell of a comparison. */

#include "web/api/internal.h"

static void line(void *arg, const char *what, const char *text)
{
	jsonw_format(arg, "{ what=%s line=%s }", what, text);
}

/* Write {"cell","lines":[{"what","line"}],"where"}. */
static int write_lines(struct site *site, struct http_response *response, const struct comparison *c,
	const struct comparison_cell *cell, struct fw_err *err)
{
	char where[REPRODUCE_WHERE_SIZE];
	struct jsonw j;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "cell", cell->key);
	jsonw_kv_array(&j, "lines");
	int result = reproduce_lines(site, c, cell, where, line, &j, err);
	jsonw_array_end(&j);
	jsonw_format(&j, "where?=%s", where);
	jsonw_object_end(&j);
	return result;
}

int api_comparison_reproduce(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct comparison c;
	const char *key = http_query(r, "cell");
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	int result = comparison_read(site->db, id, NULL, &c, err);
	const struct comparison_cell *cell = result != 0 ? NULL : key && *key ? comparison_find(&c, key) : reproduce_worst(&c);
	if (result == 0 && !cell)
		result = err_set(err, ERR_NOT_FOUND, "C%lld does not have this cell", (long long)id);
	if (result == 0)
		result = write_lines(site, response, &c, cell, err);
	comparison_free(&c);
	return result;
}
