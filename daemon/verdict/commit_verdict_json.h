/** commit_verdict_json.h - a commit's verdict and its suites as JSON. Pure. */
#ifndef VERDICT_COMMIT_VERDICT_JSON_H
#define VERDICT_COMMIT_VERDICT_JSON_H

#include "lib/jsonw.h"
#include "verdict/commit_verdict.h"

/** Write "suites": an object each, in the order of the plan. */
void commit_verdict_write_suites(struct jsonw *j, const struct commit_verdict *v);
void commit_verdict_write_unfinished(struct jsonw *j, const struct commit_verdict *v);
/** Write a commit's verdict as an object. `branch` (its key) "": of the commit on any branch. */
void commit_verdict_write(struct jsonw *j, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v);

#endif
