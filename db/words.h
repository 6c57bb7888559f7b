/** words.h - lists of words: rows in the database, a text with single spaces in memory. */
#ifndef DB_WORDS_H
#define DB_WORDS_H

#include "db/db.h"

/** Store each word of `text` as a row. `insert` has the parameters :owner, :n (from 0) and :word; NULL: as stmt_run(NULL). */
int words_put(struct stmt *insert, int64_t owner, const char *text, struct fw_err *err);

/** SQL expression: the words of one owner as text. `table` has the key (owner, n). */
#define WORDS_TEXT(table, owner, id)                                                                                             \
	"coalesce((SELECT group_concat(word, ' ') FROM (SELECT word FROM " table " WHERE " owner " = " id " ORDER BY "           \
	"n)), '')"

#endif
