/** lack.h - why a queued job waits that no worker has a device for, wherever jobs are shown. */
#ifndef WEB_ANSWER_LACK_H
#define WEB_ANSWER_LACK_H

#include "web/answer/site.h"

enum { LACK_SIZE = 1200 };

/** Whether a queued job waits for a device that no worker has; what it waits for and what to do into `why`, "" else, or where nobody knows. */
bool lack_of(const struct site *site, int64_t job, char why[LACK_SIZE]);
/** How many jobs do. Err: the database. */
int lack_count(const struct site *site, int *n, struct fw_err *err);

#endif
