/** follow.h - wait for jobs, with progress on standard error, over restarts of the daemon. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/verbs.h"

/** When `o->timeout_s` from now is over, as clock_mono_ns tells; INT64_MAX without one. */
int64_t follow_deadline(const struct options *o);
void follow_pause(void);

/** What is said while one waits: on a terminal one line that changes; in a pipe, where each is kept, a line in ten seconds at most. */
struct follow_said {
	bool terminal, lines;
	int64_t quiet_until_ns, every_ns; /* every_ns: between lines; 0 each step has its own */
	char last[512];
};
struct follow_said follow_begin(const struct options *o);
/** Say `what`, such as "job 7", and `text`, unless that was said last or it is too early. */
void follow_print(struct follow_said *s, const char *what, const char *text);
/** Nothing is waited for any more: a line that changed goes. */
void follow_end(const struct follow_said *s);

/**
 * The verdict at `path` (what GET /api/v1/jobs/{id}/verdict or /commits/{sha}/verdict answers) once all of its suites have ended. Own: *out is
 * the caller's. Err: ERR_TIMEOUT, and those of client.h.
 */
int follow_verdict(struct client *c, const struct options *o, const char *path, int64_t end_ns, json_t **out, struct fw_err *err);

#endif
