/* suite.c - suite files on this machine: convert the configuration of a public suite to a suite file. */

#include "cli/internal.h"

enum { SUITE_TEXT_MAX = 1 << 20 };

static const struct family *importer(void)
{
	for (int i = 0; family_at(i); i++)
		if (family_at(i)->import)
			return family_at(i);
	return NULL;
}

/* Every error is a line with its position; so is every reason why nothing is left of the file. */
static int fail_of_mistakes(const struct yaml *y, const char *path, const struct buf *notes)
{
	static const char mark[] = "# line ";
	for (const char *line = notes->data; strncmp(line, mark, strlen(mark)) == 0; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "%s:%.*s\n", path, (int)(strcspn(line, "\n") - strlen(mark)), line + strlen(mark));
	fprintf(stderr, "%s", yaml_mistake_text(y));
	return EXIT_USAGE;
}

/* Print what was omitted, if the text itself was written to a file. */
static void print_notes(const struct buf *text, FILE *to)
{
	for (const char *line = text->data; *line == '#'; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "# line ", 7) == 0)
			fprintf(to, "%.*s\n", (int)strcspn(line, "\n") - 2, line + 2);
}

/* Positions in generated text mean nothing to the user: remove them from "FILE:3:5: what", line by line. */
static int fail_of_text(const char *from, const char *mistakes)
{
	size_t len = strlen(from);

	for (const char *line = mistakes, *end; *line; line = *end ? end + 1 : end) {
		const char *what = line;

		end = line + strcspn(line, "\n");
		if (strncmp(line, from, len) == 0 && line[len] == ':')
			for (what += len + 1; (*what >= '0' && *what <= '9') || *what == ':'; what++)
				;
		fprintf(stderr, "%s: is not a suite of flopwatch: %.*s\n", from, (int)(end - what) - (*what == ' '),
			what + (*what == ' '));
	}
	return EXIT_USAGE;
}

static int write_suite(const char *from, const struct buf *text, const struct options *o)
{
	struct fw_err err = { 0 };
	struct suite suite;

	if (suite_parse(text->data, text->len, from, &suite, &err) != 0)
		return fail_of_text(from, err.text);
	if (!o->output)
		fputs(text->data, stdout);
	else if (files_write(o->output, text, &err) == 0 && !o->quiet)
		fprintf(stderr, "%s: suite %s of %d cells\n", o->output, suite.name, suite.n_cells);
	if (o->output && !o->quiet && !err.code)
		print_notes(text, stderr);
	suite_fini(&suite);
	return err.code ? verb_fail_here(&err) : EXIT_OK;
}

static int import_file(const char *path, const struct options *o)
{
	const struct family *family = importer();
	struct fw_err err = { 0 };
	struct buf text, suite;
	int status;

	buf_init(&text, SUITE_TEXT_MAX);
	buf_init(&suite, SUITE_TEXT_MAX);
	struct yaml *y = files_read_text(path, &text, &err) == 0 ? yaml_new(text.data, text.len, path) : NULL;

	if (!y) {
		status = verb_fail_here(&err);
	} else {
		family->import(y, yaml_root(y), o->suite, &suite);
		status = yaml_mistakes(y) ? fail_of_mistakes(y, path, &suite) : write_suite(path, &suite, o);
	}
	yaml_free(y);
	buf_fini(&suite);
	buf_fini(&text);
	return status;
}

int verb_suite(struct client *c, const struct options *o)
{
	(void)c;
	if (strcmp(o->arg[0], "import") == 0)
		return import_file(o->arg[1], o);
	return verb_usage("flopwatch: suite takes import, not %s", o->arg[0]);
}
