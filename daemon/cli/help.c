/* help.c - documented in internal.h. */
#include "cli/internal.h"

static const char exits[] =
	"0 no regression, 1 error or failed, 2 usage, 3 regression that no user accepted, 4 not found, 5 daemon unreachable, 6 timeout, 7 undecided or "
	"nothing to compare, 130 interrupted";

/* Iterate over the lines of `text`. Own: line[size]. False after the last. */
static bool next_line(const char **text, char *line, size_t size)
{
	size_t n = strcspn(*text, "\n");
	if (!**text)
		return false;
	snprintf(line, size, "%.*s", (int)n, *text);
	*text += n + ((*text)[n] == '\n');
	return true;
}

/* Print the words of `text`, wrapped at `columns`. A newline begins a paragraph. */
static void wrap(FILE *out, const char *text, int columns)
{
	int at = 0;
	while (*text) {
		int n = (int)strcspn(text, " \n");
		if (at && at + 1 + n > columns) {
			fputc('\n', out);
			at = 0;
		}
		at += fprintf(out, "%s%.*s", at ? " " : "", n, text);
		if (text[n] == '\n') {
			fputc('\n', out);
			at = 0;
		}
		text += n + (text[n] != '\0');
	}
	fputc('\n', out);
}

static void option_line(FILE *out, const struct catalog_option *o)
{
	char left[64];
	snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
	fprintf(out, "  %-18s %s\n", left, o->what);
}

void help_all(FILE *out)
{
	fputs("flopwatch, regression tracking for GPU kernels\n\n"
	      "Without a daemon, in a checkout:\n"
	      "  flopwatch init                        # find its benchmarks and write .flopwatch.yaml\n"
	      "  flopwatch try                         # build, check and run them once\n"
	      "With a daemon that watches the repository:\n"
	      "  flopwatch wait my-branch              # after a push: wait for its verdict\n"
	      "  flopwatch compare main . --quick      # a quick estimate of this checkout\n"
	      "  flopwatch status                      # every branch with its verdict\n"
	      "  flopwatch doctor                      # what is wrong, and how to fix it\n"
	      "`flopwatch help VERB` and `man flopwatch` (from make install) explain the verbs; doc/quickstart.md leads to the\n"
	      "first verdict.\n\n"
	      "Verbs:\n",
		out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++)
		fprintf(out, "  %-14s %s\n", v->name, v->what);
	fputs("\nOptions of every verb:\n", out);
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (o->everywhere)
			option_line(out, o);
	fputs("\nExit status: ", out);
	wrap(out, exits, 110);
}

void help_verb(const struct catalog_verb *verb, FILE *out)
{
	const char *rest = verb->example;
	char line[400];
	int usages = 0;
	fprintf(out, "flopwatch %s: %s\n\n", verb->name, verb->what);
	while (next_line(&rest, line, sizeof line))
		fprintf(out, "  %s\n", line);
	for (rest = verb->usage; next_line(&rest, line, sizeof line); usages++)
		fprintf(out, "%s flopwatch %s [options]\n", usages ? "      " : "\nUsage:", line);
	if (*verb->more) {
		fputc('\n', out);
		wrap(out, verb->more, 100);
	}
	fputs("\nOptions:\n", out);
	for (int everywhere = 0; everywhere < 2; everywhere++)
		for (const struct catalog_option *o = catalog_options; o->name; o++)
			if (o->everywhere == everywhere && catalog_takes(verb, o))
				option_line(out, o);
	fputs("\nExit status: ", out);
	wrap(out, exits, 110);
}

/* ---- man --------------------------------------------------------------------------------------------------------------- */

/* scdoc interprets *, _, \ and a few more as markup. */
static void plain(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("*_\\`#~.+<>[]{}|", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

void help_man(const struct catalog_verb *verb, FILE *out)
{
	const char *rest = verb->usage;
	char line[400];
	fprintf(out, "flopwatch-%s(1)\n\n# NAME\n\nflopwatch-%s - ", verb->name, verb->name);
	plain(out, verb->what);
	fputs("\n\n# SYNOPSIS\n", out);
	while (next_line(&rest, line, sizeof line)) {
		fputs("\n*flopwatch* ", out);
		plain(out, line);
		fputs(" \\[options\\]\n", out);
	}
	if (*verb->more) {
		fputs("\n# DESCRIPTION\n\n", out);
		plain(out, verb->more);
		fputc('\n', out);
	}
	fputs("\n# OPTIONS\n", out);
	for (int everywhere = 0; everywhere < 2; everywhere++)
		for (const struct catalog_option *o = catalog_options; o->name; o++) {
			if (o->everywhere != everywhere || !catalog_takes(verb, o))
				continue;
			fprintf(out, "\n*--%s*%s%s\n\t", o->name, o->value ? " " : "", o->value ? o->value : "");
			plain(out, o->what);
			fputc('\n', out);
		}
	fputs("\n# EXAMPLES\n\n```\n", out);
	fprintf(out, "%s\n```\n\n# EXIT STATUS\n\n%s.\n\n# SEE ALSO\n\n*flopwatch*(1)\n", verb->example, exits);
}

int verb_help(struct client *c, const struct options *o)
{
	(void)c;
	const struct catalog_verb *verb = o->n_arg ? catalog_find(o->arg[0]) : NULL;
	if (o->n_arg && !verb)
		return verb_usage("flopwatch: there is no verb %s; see flopwatch --help", o->arg[0]);
	if (verb)
		help_verb(verb, stdout);
	else
		help_all(stdout);
	return EXIT_OK;
}
