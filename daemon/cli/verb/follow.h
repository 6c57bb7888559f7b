/** follow.h - wait for jobs, with progress on standard error, over restarts of the daemon. */
#ifndef CLI_VERB_FOLLOW_H
#define CLI_VERB_FOLLOW_H

#include "cli/verbs.h"

/** When `o->timeout_s` from now is over, as clock_mono_ns tells; INT64_MAX without one. */
int64_t follow_deadline(const struct options *o);
void follow_pause(void);
/**
 * The verdict at `path` (what GET /api/v1/jobs/{id}/verdict or /commits/{sha}/verdict answers) once all of its suites have ended. Own: *out is
 * the caller's. Err: ERR_TIMEOUT, and those of client.h.
 */
int follow_verdict(struct client *c, const struct options *o, const char *path, int64_t end_ns, json_t **out, struct fw_err *err);

#endif
