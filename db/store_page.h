/** store_page.h - what every list of the read side does with its filters, cursor and limit. */
#ifndef DB_STORE_PAGE_H
#define DB_STORE_PAGE_H

#include "db/store_live.h"

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

/** From the number of rows that one id gave (-1 error) to an answer. */
static inline int store_page_one(int found, const char *what, int64_t id, struct fw_err *err)
{
	if (found < 0)
		return -1;
	return found ? 0 : err_set(err, ERR_NOT_FOUND, "there is no %s %lld", what, (long long)id);
}

#endif
