/** period.h - ?since= and ?until= of a list: from when to when. */
#ifndef WEB_ANSWER_PERIOD_H
#define WEB_ANSWER_PERIOD_H

#include <stdbool.h>

#include "web/http/http.h"

enum { PERIOD_SLACK_MS = 24 * 3600 * 1000 }; /* how far a clock may have been set back between two rows that follow each other */

/** Units: ms since 1970-01-01 UTC; 0: open on that side. */
struct period {
	int64_t since, until; /* from `since` on, and before `until` */
};

/**
 * Read both: each a time or day (clock_parse), or how long ago: a number and m, h, d or w. "" is as if it were not there.
 * Err: -1 and the problem (400) is written: neither form, or an end that lies before the beginning.
 */
int period_read(struct http_request *r, struct http_response *response, struct period *out);
bool period_holds(const struct period *p, int64_t at);

#endif
