/** words.h - a list of words is rows in the database, and a text with single spaces between them elsewhere. */
#ifndef DB_SQLITE_WORDS_H
#define DB_SQLITE_WORDS_H

#include "db/sqlite/db.h"

/** Store each word of `text` as a row. `insert` (NULL: an error was set already) takes :owner, :n from 0 and :word. */
int words_put(struct stmt *insert, int64_t owner, const char *text, struct fw_err *err);

/** In SQL: the words of one owner as text again. `table` has the key (owner, n). */
#define WORDS_TEXT(table, owner, id)                                                                                             \
	"coalesce((SELECT group_concat(word, ' ') FROM (SELECT word FROM " table " WHERE " owner " = " id " ORDER BY n)), '')"

#endif
