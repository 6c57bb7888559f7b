/* reproduce.c - prints a script that reruns a cell. */

#include "cli/internal.h"

enum { TEXT_MAX = 4 << 20 };

static int print_lines(const json_t *answer, struct fw_err *err)
{
	const char *where = value_text(answer, "where");
	size_t i;
	json_t *line;
	struct buf text;
	buf_init(&text, TEXT_MAX);
	buf_printf(&text, "# %s\n", value_text(answer, "cell"));
	if (*where)
		buf_printf(&text, "# commands with kernels run %s\n", where);
	json_array_foreach(json_object_get(answer, "lines"), i, line)
		buf_printf(&text, "\n# %s\n%s\n", value_text(line, "what"), value_text(line, "line"));
	int result = text.failed ? err_set(err, ERR_FULL, "the lines do not fit")
				 : plain_print_lines(stdout, text.data, text.len, err);
	buf_fini(&text);
	return result;
}

int verb_reproduce(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	const char *id = verb_id(o->arg[0], 'C');
	const struct member query[] = { { "cell", .text = o->n_arg == 2 ? o->arg[1] : NULL }, { 0 } };
	char path[96];
	if (!*id || strspn(id, "0123456789") != strlen(id))
		return verb_usage("flopwatch: reproduce takes the number of a comparison");
	int status = EXIT_OK;
	snprintf(path, sizeof path, "/api/v1/comparisons/%.40s/reproduce", id);
	if (client_get_query(c, path, query, &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json) {
		verb_print_json(answer);
	} else if (json_array_size(json_object_get(answer, "lines")) == 0) {
		err_set(&err, ERR_INVALID,
			"%s was imported or measured with other compilers, so there is no command to run it again",
			value_text(answer, "cell"));
		status = verb_fail_here(&err);
	} else if (print_lines(answer, &err) != 0) {
		status = verb_fail_here(&err);
	}
	json_decref(answer);
	return status;
}
