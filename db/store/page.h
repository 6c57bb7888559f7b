/** page.h - what every list of the read side does with its filters, cursor and limit. */
#ifndef DB_STORE_PAGE_H
#define DB_STORE_PAGE_H

#include "db/sqlite/db.h"

/* A reader asks for up to VIEW_LIMIT_MAX rows; a view gives one more, which says whether others follow. */
enum { VIEW_LIMIT_DEFAULT = 50, VIEW_LIMIT_MAX = 500, VIEW_ROWS_MAX = VIEW_LIMIT_MAX + 1, VIEW_HISTORY_MAX = 10000 };

/** A filter that narrows: neither NULL nor "". */
static inline bool store_page_given(const char *text)
{
	return text && text[0];
}

/** The id below which a page lies; 0 and less: every id. */
static inline int64_t store_page_before(int64_t before)
{
	return before > 0 ? before : INT64_MAX;
}

static inline int store_page_size(int limit, int most)
{
	return limit <= 0 ? VIEW_LIMIT_DEFAULT : limit < most ? limit : most;
}

/** From the number of rows that one id gave (-1 error) to an answer. Err: ERR_NOT_FOUND. */
int store_page_one(int found, const char *what, int64_t id, struct fw_err *err);

#endif
