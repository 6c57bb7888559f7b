/* completion.c - completions for bash, zsh and fish, generated from the catalog; and, for the build, the sources of man pages. */
#include "cli/internal.h"

/* ---- names ---- */

enum { HURRY_MS = 1500 };

static const struct kind {
	const char *name, *path, *key, *letter; /* letter: before a number */
	bool takes_repo, wants_repo;            /* wants: requested separately for each repository */
	const char *also;                       /* a kind whose names follow; NULL none */
} kinds[] = {
	{ "branches", "/api/v1/branches?limit=500", "display", "", true, false, NULL },
	{ "cells", "/api/v1/cells", "cell", "", true, true, NULL },
	{ "alerts", "/api/v1/alerts?limit=100", "id", "A", true, false, NULL },
	{ "jobs", "/api/v1/jobs?limit=100", "id", "J", true, false, NULL },
	{ "comparisons", "/api/v1/comparisons?limit=100", "id", "C", true, false, NULL },
	{ "alerts_and_branches", "/api/v1/alerts?limit=100", "id", "A", true, false, "branches" },
	{ "devices", "/api/v1/devices", "uuid", "", false, false, NULL },
	{ "repos", "/api/v1/repos", "name", "", false, false, NULL },
};

/* NULL: unknown kind of names */
static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static void print_items(const json_t *items, const char *key, const char *letter)
{
	size_t i;
	json_t *item;
	json_array_foreach(items, i, item)
	{
		const json_t *name = json_object_get(item, key);
		if (json_is_integer(name))
			printf("%s%lld", letter, (long long)json_integer_value(name));
		else
			plain_print(stdout, value_text(item, key));
		putchar('\n');
	}
}

/* Errors are not printed while a user types. */
static void print_of(struct client *c, const struct kind *kind, const char *repo)
{
	const struct member query[] = { { "repo", .text = kind->takes_repo ? repo : NULL }, { 0 } };
	struct fw_err ignored = { 0 };
	json_t *answer = NULL;
	if (client_get_query(c, kind->path, query, &answer, &ignored) == 0)
		print_items(json_object_get(answer, "items"), kind->key, kind->letter);
	json_decref(answer);
}

/* Print the names of o->repo, or of all repositories; nothing if the daemon does not answer at once. */
static void names_print(struct client *c, const struct options *o, const struct kind *k)
{
	struct fw_err ignored = { 0 };
	json_t *repos = NULL, *repo;
	size_t i;
	client_set_timeout(c, HURRY_MS);
	if (!k->wants_repo || o->repo) {
		print_of(c, k, o->repo);
		return;
	}
	if (client_get(c, "/api/v1/repos", &repos, &ignored) == 0)
		json_array_foreach(json_object_get(repos, "items"), i, repo) print_of(c, k, value_text(repo, "name"));
	json_decref(repos);
}

/* The servers of the user's file. An entry with a mistake may have no name. */
static void servers_print(const struct servers *all)
{
	for (int i = 0; i < all->n; i++)
		if (all->server[i].name[0]) {
			plain_print(stdout, all->server[i].name);
			putchar('\n');
		}
}

/* ---- completion ---- */

enum { KIND_BYTES = 32 };

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

/* Options that take a value, which is neither the verb nor an argument. */
static void value_options(const char *between, FILE *out)
{
	const char *gap = "";
	for (const struct catalog_option *o = catalog_options; o->name; o++)
		if (o->value) {
			fprintf(out, "%s--%s", gap, o->name);
			gap = between;
		}
}

/* The kind of names for argument `at` of a verb, from 0. False: none. Shape: kind[KIND_BYTES]. */
static bool requested_at(const struct catalog_verb *verb, int at, char *kind)
{
	const char *word = verb->completes ? verb->completes : "";
	for (; at > 0 && *word; at--) {
		word += strcspn(word, " ");
		word += strspn(word, " ");
	}
	snprintf(kind, KIND_BYTES, "%.*s", (int)strcspn(word, " "), word);
	return *kind && strcmp(kind, "-") != 0;
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
		else if (o->kind == CATALOG_CHOICES)
			fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", o->words);
		else if (o->kind == CATALOG_REQUESTED)
			fprintf(out, "_flopwatch_request %s; return ;;\n", o->words);
		else
			fputs("return ;;\n", out);
	}
	fputs("\tesac\n", out);
}

/* The possible values of a verb's arguments, by position. */
static void bash_arguments(const struct catalog_verb *v, FILE *out)
{
	char kind[KIND_BYTES];
	for (int at = 0; at < v->max_arg; at++) {
		if (at == 0 && v->kind == CATALOG_CHOICES)
			fprintf(out, "\t\t[[ $at == 0 ]] && COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n", v->words);
		if (requested_at(v, at, kind))
			fprintf(out, "\t\t[[ $at == %d ]] && _flopwatch_request %s\n", at, kind);
	}
	if (v->kind == CATALOG_FILE)
		fputs("\t\tCOMPREPLY+=($(compgen -f -- \"$word\"))\n", out);
	if (strcmp(v->name, "help") == 0) {
		fputs("\t\tCOMPREPLY=($(compgen -W '", out);
		verb_names(out);
		fputs("' -- \"$word\"))\n", out);
	}
}

static void bash_start(FILE *out)
{
	fputs("# bash completion of flopwatch; made by: flopwatch completion bash\n"
	      "# Names of the kind $1 that the daemon knows and that begin as the word does: text, which bash must not read again.\n"
	      "_flopwatch_request() {\n\tlocal line\n\twhile IFS= read -r line; do\n"
	      "\t\t[[ $line == \"$word\"* ]] && COMPREPLY+=(\"$(printf %q \"$line\")\")\n"
	      "\tdone < <(\"${COMP_WORDS[0]}\" \"${given[@]}\" completion \"$1\" 2>/dev/null)\n}\n"
	      "_flopwatch() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb='' at=0 i option value given=()\n"
	      "\tCOMPREPLY=()\n\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t\t",
		out);
	value_options("|", out);
	/* bash splits addresses at colons */
	fputs(")\n\t\t\toption=${COMP_WORDS[i]} value=${COMP_WORDS[++i]}\n"
	      "\t\t\twhile ((i + 2 < COMP_CWORD)) && [[ ${COMP_WORDS[i+1]} == : ]]; do value+=:${COMP_WORDS[i+2]}; ((i += 2)); done\n"
	      "\t\t\t[[ $option == --server || $option == --token-file || $option == --ca-file || $option == --repo ]] && given+=(\"$option\" \"$value\") ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) if [[ $verb ]]; then ((at++)); else verb=${COMP_WORDS[i]}; fi ;;\n\t\tesac\n\tdone\n",
		out);
}

static void bash(FILE *out)
{
	bash_start(out);
	bash_values(out);
	fputs("\tcase $verb in\n\t'')\n\t\tif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '", out);
	option_names(NULL, out);
	fputs("' -- \"$word\")); else COMPREPLY=($(compgen -W '", out);
	verb_names(out);
	fputs("' -- \"$word\")); fi ;;\n", out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "\t%s)\n\t\tif [[ $word == -* ]]; then COMPREPLY=($(compgen -W '", v->name);
		option_names(v, out);
		fputs("' -- \"$word\")); return; fi\n", out);
		bash_arguments(v, out);
		fputs("\t\t;;\n", out);
	}
	fputs("\tesac\n}\ncomplete -F _flopwatch flopwatch\n", out);
}

/* ---- zsh, fish --------------------------------------------------------------------------------------------------------- */

/* text` in single quotes; a quote in it is escaped. Colons and brackets are special in zsh. */
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
	else if (o->kind == CATALOG_CHOICES)
		fprintf(out, "(%s)", o->words);
	else if (o->kind == CATALOG_REQUESTED)
		fprintf(out, "{_flopwatch_request %s}", o->words);
	fputs("'", out);
}

/* One argument by its position, from 0: fixed values, names from the daemon, or files. */
static void zsh_argument(const struct catalog_verb *v, int at, FILE *out)
{
	char kind[KIND_BYTES];
	bool has_words = at == 0 && v->kind == CATALOG_CHOICES, is_requested = requested_at(v, at, kind);
	if (!has_words && !is_requested)
		return;
	fprintf(out, " '%d: :{", at + 1);
	if (has_words)
		fprintf(out, "compadd -- %s; ", v->words);
	if (is_requested)
		fprintf(out, "_flopwatch_request %s; ", kind);
	fputs(v->kind == CATALOG_FILE ? "_files}'" : "}'", out);
}

static void zsh_start(FILE *out)
{
	fputs("#compdef flopwatch\n# made by: flopwatch completion zsh\n"
	      "# Names of the kind $1 that the daemon knows.\n"
	      "_flopwatch_request() {\n\tlocal -a found\n"
	      "\tfound=(${(f)\"$(command $flopwatch_requested completion $1 2>/dev/null)\"})\n\tcompadd -a found\n}\n"
	      "_flopwatch_verbs() {\n\tlocal -a verbs\n\tverbs=(\n",
		out);
}

static void zsh(FILE *out)
{
	zsh_start(out);
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		fprintf(out, "\t\t'%s:", v->name);
		quoted(out, v->what, ":");
		fputs("'\n", out);
	}
	fputs("\t)\n\t_describe verb verbs\n}\n_flopwatch() {\n"
	      "\tlocal context state line\n\tlocal -i i\n\tlocal -a flopwatch_requested\n\tflopwatch_requested=(${(Q)words[1]})\n"
	      "\tfor ((i = 2; i < CURRENT - 1; i++)); do\n"
	      "\t\tcase $words[i] in --server|--token-file|--ca-file|--repo) flopwatch_requested+=($words[i] ${(Q)words[i+1]}) ;; esac\n\tdone\n"
	      "\t_arguments -C",
		out);
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
		for (int at = 0; at < v->max_arg; at++)
			zsh_argument(v, at, out);
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
		fputs(" -x", out); /* a value that is not a file */
	if (o->kind == CATALOG_CHOICES)
		fprintf(out, " -a '%s'", o->words);
	else if (o->kind == CATALOG_REQUESTED)
		fprintf(out, " -a '(__flopwatch_request %s)'", o->words);
	fputc('\n', out);
}

static void fish_start(FILE *out)
{
	fputs("# made by: flopwatch completion fish\n"
	      "# The verb on the command line, if there is one, and its arguments.\n"
	      "function __flopwatch_words\n"
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
	      "        end\n"
	      "    end\n"
	      "end\n"
	      "function __flopwatch_verb\n"
	      "    set -l words (__flopwatch_words)\n"
	      "    test (count $words) -gt 0\n"
	      "    and echo $words[1]\n"
	      "end\n"
	      "# Whether the next word is this argument, from 0, of this verb.\n"
	      "function __flopwatch_at\n"
	      "    set -l words (__flopwatch_words)\n"
	      "    test (count $words) -eq (math $argv[2] + 1)\n"
	      "    and test $words[1] = $argv[1]\n"
	      "end\n"
	      "# Names of a kind that the daemon knows.\n"
	      "function __flopwatch_request\n"
	      "    set -l words (commandline -opc)\n"
	      "    set -l given\n"
	      "    for i in (seq 2 (math (count $words) - 1))\n"
	      "        if contains -- $words[$i] --server --token-file --ca-file --repo\n"
	      "            set given $given $words[$i] $words[(math $i + 1)]\n"
	      "        end\n"
	      "    end\n"
	      "    command $words[1] $given completion $argv[1] 2>/dev/null\n"
	      "end\n"
	      "complete -c flopwatch -f\n",
		out);
}

static void fish_arguments(const struct catalog_verb *v, FILE *out)
{
	char kind[KIND_BYTES];
	for (int at = 0; at < v->max_arg; at++)
		if (requested_at(v, at, kind))
			fprintf(out, "complete -c flopwatch -n '__flopwatch_at %s %d' -a '(__flopwatch_request %s)'\n", v->name,
				at, kind);
}

static void fish(FILE *out)
{
	char when[128];
	fish_start(out);
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
		if (v->kind == CATALOG_CHOICES)
			fprintf(out, "complete -c flopwatch -n '__flopwatch_at %s 0' -a '%s'\n", v->name, v->words);
		if (v->kind == CATALOG_FILE)
			fprintf(out, "complete -c flopwatch%s -F\n", when);
		fish_arguments(v, out);
		if (strcmp(v->name, "help") == 0) {
			fprintf(out, "complete -c flopwatch%s -a '", when);
			verb_names(out);
			fputs("'\n", out);
		}
	}
}

int verb_completion(struct client *c, const struct options *o)
{
	const char *shell = o->arg[0];
	if (strcmp(shell, "bash") == 0)
		bash(stdout);
	else if (strcmp(shell, "zsh") == 0)
		zsh(stdout);
	else if (strcmp(shell, "fish") == 0)
		fish(stdout);
	else if (strncmp(shell, "man:", 4) == 0 && catalog_find(shell + 4)) /* for etc/install.sh: source of flopwatch-VERB(1) */
		help_man(catalog_find(shell + 4), stdout);
	else if (strcmp(shell, "verbs") == 0)
		verb_names(stdout), putchar('\n');
	else if (strcmp(shell, "servers") == 0)
		servers_print(o->servers);
	else if (find(shell)) /* the names that completions request */
		for (const struct kind *k = find(shell); k; k = k->also ? find(k->also) : NULL)
			names_print(c, o, k);
	else
		return verb_usage("flopwatch: completions are for bash, zsh or fish");
	return EXIT_OK;
}
