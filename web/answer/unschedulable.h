/** unschedulable.h - why queued jobs wait, wherever they are shown: no worker has a device, or the daemon begins no job. Asked once an answer. */
#ifndef WEB_ANSWER_UNSCHEDULABLE_H
#define WEB_ANSWER_UNSCHEDULABLE_H

#include <jansson.h>

#include "web/answer/site.h"

/** What is known of the jobs of an answer; zeroed but for the first two. */
struct unschedulable {
	const struct site *site;
	int64_t job; /* the only one that is asked about; 0 all */
	json_t *why; /* a line by the job's number; NULL: not asked yet */
	bool has_hold;
	char hold[512]; /* with has_hold: why the daemon begins no job */
};

/**
 * Say what a queued job waits for that no worker has, and what to do; "" it does not wait so, or nobody knows, which is logged. The
 * first call asks. Own: the line lives until unschedulable_fini.
 */
const char *unschedulable_of(struct unschedulable *l, int64_t job);
/** Say why the daemon begins no job, such as a full disk; "" it does. Such a reason cannot be stored with the job. Own: as unschedulable_of. */
const char *unschedulable_hold(struct unschedulable *l);
/** Forget what was asked. */
void unschedulable_fini(struct unschedulable *l);
/** Count the queued jobs that wait so, 0 where nobody knows. Err: the database. */
int unschedulable_count(const struct site *site, int *n, struct fw_err *err);

#endif
