/* completion.c - completions for bash, zsh and fish, written from the catalog; and, for the build, the sources of man pages. */
#include <stdio.h>
#include <string.h>

#include "cli/catalog.h"
#include "cli/help.h"

static void verb_names(FILE *out)
{
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++)
		fprintf(out, "%s%s", v == catalog_verbs ? "" : " ", v->name);
}

static void option_names(const struct catalog_verb *verb, FILE *out)
{
	const char *gap = "";
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (verb ? catalog_takes(verb, o) : o->everywhere) {
			fprintf(out, "%s--%s", gap, o->name);
			gap = " ";
		}
}

/* Options that may stand before the verb and are followed by a value, which is not the verb. */
static void value_options(const char *between, FILE *out)
{
	const char *gap = "";
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (o->value && o->everywhere) {
			fprintf(out, "%s--%s", gap, o->name);
			gap = between;
		}
}

/* ---- bash -------------------------------------------------------------------------------------------------------------- */

static void bash_values(FILE *out)
{
	fputs("\tcase $previous in\n", out);
	for (const struct catalog_option *o = catalog_options; o->name; o++) {
		if (!o->value)
			continue;
		fprintf(out, "\t--%s) ", o->name);
		if (o->kind == CATALOG_FILE)
			fputs("COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", out);
		else if (o->kind == CATALOG_WORDS)
			fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", o->words);
		else
			fputs("return ;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void bash(FILE *out)
{
	fputs("# bash completion of flopwatch; made by: flopwatch completion bash\n_flopwatch() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb='' i\n\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n",
		out);
	fputs("\t\t", out);
	value_options("|", out);
	fputs(") ((i++)) ;;\n\t\t-*) ;;\n\t\t*) verb=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n", out);
	bash_values(out);
	fputs("\tcase $verb in\n\t'')\n\t\tif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '", out);
	option_names(NULL, out);
	fputs("' -- \"$word\")); else COMPREPLY=($(compgen -W '", out);
	verb_names(out);
	fputs("' -- \"$word\")); fi ;;\n", out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "\t%s)\n\t\tif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '", v->name);
		option_names(v, out);
		fputs("' -- \"$word\"))\n", out);
		if (v->kind == CATALOG_WORDS)
			fprintf(out, "\t\telif [[ $previous == %s ]]; then COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n",
				v->name, v->words);
		if (v->kind == CATALOG_FILE)
			fputs("\t\telse COMPREPLY=($(compgen -f -- \"$word\"))\n", out);
		if (strcmp(v->name, "help") == 0) {
			fputs("\t\telse COMPREPLY=($(compgen -W '", out);
			verb_names(out);
			fputs("' -- \"$word\"))\n", out);
		}
		fputs("\t\tfi ;;\n", out);
	}
	fputs("\tesac\n}\ncomplete -F _flopwatch flopwatch\n", out);
}

/* ---- zsh, fish --------------------------------------------------------------------------------------------------------- */

/* `text` inside single quotes; a quote in it ends them for a moment. Colons and brackets mean something to zsh. */
static void quoted(FILE *out, const char *text, const char *escape)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(escape, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void zsh_option(const struct catalog_option *o, FILE *out)
{
	fprintf(out, " '--%s[", o->name);
	quoted(out, o->what, "[]:");
	fputs("]", out);
	if (o->value)
		fprintf(out, ":%s:", o->value);
	if (o->kind == CATALOG_FILE)
		fputs("_files", out);
	else if (o->kind == CATALOG_WORDS)
		fprintf(out, "(%s)", o->words);
	fputs("'", out);
}

static void zsh(FILE *out)
{
	fputs("#compdef flopwatch\n# made by: flopwatch completion zsh\n_flopwatch_verbs() {\n\tlocal -a verbs\n\tverbs=(\n",
		out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "\t\t'%s:", v->name);
		quoted(out, v->what, ":");
		fputs("'\n", out);
	}
	fputs("\t)\n\t_describe verb verbs\n}\n_flopwatch() {\n\tlocal context state line\n\t_arguments -C", out);
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (o->everywhere)
			zsh_option(o, out);
	fputs(" '1:verb:->verb' '*::argument:->argument'\n\tcase $state in\n\tverb) _flopwatch_verbs "
	      ";;\n\targument)\n\t\tcase $line[1] in\n",
		out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "\t\t%s) _arguments", v->name);
		for (const struct catalog_option *o = catalog_options; o->name; o++)
			if (catalog_takes(v, o))
				zsh_option(o, out);
		if (v->kind == CATALOG_WORDS)
			fprintf(out, " '1:word:(%s)'", v->words);
		if (strcmp(v->name, "help") == 0)
			fputs(" '1:verb:_flopwatch_verbs'", out);
		fputs(v->kind == CATALOG_FILE ? " '*:file:_files' ;;\n" : " ;;\n", out);
	}
	fputs("\t\tesac ;;\n\tesac\n}\n_flopwatch \"$@\"\n", out);
}

static void fish_option(const struct catalog_option *o, const char *when, FILE *out)
{
	fprintf(out, "complete -c flopwatch%s -l %s -d '", when, o->name);
	quoted(out, o->what, "\\");
	fputs("'", out);
	if (o->kind == CATALOG_FILE)
		fputs(" -r -F", out);
	else if (o->value)
		fputs(" -x", out); /* a value that is no file */
	if (o->kind == CATALOG_WORDS)
		fprintf(out, " -a '%s'", o->words);
	fputc('\n', out);
}

static void fish(FILE *out)
{
	char when[128];
	fputs("# made by: flopwatch completion fish\n"
	      "# The verb on the command line, if there is one.\n"
	      "function __flopwatch_verb\n"
	      "    set -l value no\n"
	      "    for word in (commandline -opc)[2..-1]\n"
	      "        if test $value = yes\n"
	      "            set value no\n"
	      "            continue\n"
	      "        end\n"
	      "        switch $word\n"
	      "            case ",
		out);
	value_options(" ", out);
	fputs("\n                set value yes\n"
	      "            case '-*'\n"
	      "            case '*'\n"
	      "                echo $word\n"
	      "                return\n"
	      "        end\n"
	      "    end\n"
	      "    return 1\n"
	      "end\n"
	      "complete -c flopwatch -f\n",
		out);
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (o->everywhere)
			fish_option(o, "", out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "complete -c flopwatch -n 'not __flopwatch_verb >/dev/null' -a %s -d '", v->name);
		quoted(out, v->what, "\\");
		fputs("'\n", out);
		snprintf(when, sizeof when, " -n 'contains %s (__flopwatch_verb)'", v->name);
		for (const struct catalog_option *o = catalog_options; o->name; o++)
			if (!o->everywhere && catalog_takes(v, o))
				fish_option(o, when, out);
		if (v->kind == CATALOG_WORDS)
			fprintf(out, "complete -c flopwatch%s -a '%s'\n", when, v->words);
		if (v->kind == CATALOG_FILE)
			fprintf(out, "complete -c flopwatch%s -F\n", when);
		if (strcmp(v->name, "help") == 0) {
			fprintf(out, "complete -c flopwatch%s -a '", when);
			verb_names(out);
			fputs("'\n", out);
		}
	}
}

int verb_completion(struct client *c, const struct options *o)
{
	(void)c;
	const char *shell = o->arg[0];
	if (strcmp(shell, "bash") == 0)
		bash(stdout);
	else if (strcmp(shell, "zsh") == 0)
		zsh(stdout);
	else if (strcmp(shell, "fish") == 0)
		fish(stdout);
	else if (strncmp(shell, "man:", 4) == 0 &&
		 catalog_find(shell + 4)) /* for etc/install.sh: the source of flopwatch-VERB(1) */
		help_man(catalog_find(shell + 4), stdout);
	else if (strcmp(shell, "verbs") == 0)
		verb_names(stdout), putchar('\n');
	else {
		fputs("flopwatch: completions are for bash, zsh or fish\n", stderr);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}
