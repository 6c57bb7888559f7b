/**
 * catalog.h - every verb and option of the command line, once: the parser, --help, man pages and completions all read these tables.
 */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/verbs.h"

/** What a word of the command line may be, for completion. CATALOG_REQUESTED: a name that the daemon knows, of the kind in `words` (names.h). */
enum catalog_kind { CATALOG_NONE, CATALOG_FILE, CATALOG_WORDS, CATALOG_REQUESTED };

/** What an option leaves in struct options: const char *, int above 0, double above 0 and below 100, bool. */
enum catalog_holds { CATALOG_TEXT, CATALOG_COUNT, CATALOG_PERCENT, CATALOG_FLAG };

enum { CATALOG_OPTIONS_MAX = 56 }; /* with the end */

struct catalog_option {
	const char *name;  /* without the dashes */
	const char *value; /* "FILE"; NULL: it takes none */
	const char *what;  /* one line for people */
	enum catalog_kind kind;
	const char *words; /* with CATALOG_WORDS: separated by spaces; with CATALOG_REQUESTED: of which kind */
	bool everywhere;   /* every verb takes it */
	enum catalog_holds holds;
	size_t at; /* offset in struct options */
};

struct catalog_verb {
	const char *name;
	int min_arg, max_arg;
	int (*run)(struct client *, const struct options *);
	const char *usage;   /* after "flopwatch "; further ways on further lines */
	const char *what;    /* one line */
	const char *more;    /* a paragraph or several, "" none */
	const char *options; /* names, separated by spaces, beside those that every verb takes */
	const char *example; /* lines "command  # what it does" */
	enum catalog_kind kind;
	const char *words; /* first arguments, with CATALOG_WORDS */
	const char *asks;  /* by argument, the kind of names that the daemon is asked for, "-" none: "- alerts"; NULL: nowhere */
};

/** NULL-ended by name: the entry after the last has no name. */
extern const struct catalog_verb catalog_verbs[];
extern const struct catalog_option catalog_options[];

/** Exact; NULL: none. */
const struct catalog_verb *catalog_find(const char *name);
/** The verb that `name` was probably meant to be; NULL: none is near. */
const struct catalog_verb *catalog_nearest(const char *name);
/** Whether the verb takes this option. */
bool catalog_takes(const struct catalog_verb *verb, const struct catalog_option *option);

#endif
