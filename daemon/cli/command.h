/** command.h - an argument vector that is put together word by word. Pure. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "lib/buf.h"

enum { COMMAND_WORDS_MAX = 16, COMMAND_WORD_SIZE = 256 };

struct command {
	int n;
	char word[COMMAND_WORDS_MAX][COMMAND_WORD_SIZE];
	bool is_shell; /* a word of it needs the shell, as "$FLOPWATCH_KIT" does */
};

/** Add a word; what does not fit is cut, and no manifest is written that such a word does not survive. */
void command_add(struct command *c, const char *word);
bool command_is_same(const struct command *a, const struct command *b);
/** `c` as the shell would take it, behind what is in `out`. */
void command_put_shell(const struct command *c, struct buf *out);
/** `c` as a list of YAML. */
void command_put_yaml(const struct command *c, struct buf *out);
/** One word as YAML reads it again as text. */
void command_put_word(const char *word, struct buf *out);

#endif
