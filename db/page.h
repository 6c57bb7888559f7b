/** page.h - filters, cursor and limit of lists. */
#ifndef DB_PAGE_H
#define DB_PAGE_H

#include "db/db.h"

/* A client requests up to VIEW_LIMIT_MAX rows; a view returns one more, which shows whether others follow. */
enum { VIEW_LIMIT_DEFAULT = 50, VIEW_LIMIT_MAX = 500, VIEW_ROWS_MAX = VIEW_LIMIT_MAX + 1, VIEW_HISTORY_MAX = 10000 };

/** Whether a filter is set: neither NULL nor "". */
static inline bool store_page_given(const char *text)
{
	return text && text[0];
}

/** Exclusive upper bound of ids from a cursor; 0 and less: no bound. */
static inline int64_t store_page_before(int64_t before)
{
	return before > 0 ? before : INT64_MAX;
}

static inline int store_page_size(int limit, int most)
{
	return limit <= 0 ? VIEW_LIMIT_DEFAULT : limit < most ? limit : most;
}

/** Map the number of rows of one id (-1 error) to 0 or -1. Err: ERR_NOT_FOUND. */
int store_page_one(int found, const char *what, int64_t id, struct fw_err *err);

#endif
