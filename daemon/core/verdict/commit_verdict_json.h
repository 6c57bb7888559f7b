/** commit_verdict_json.h - where a commit stands with each of its suites, as JSON. Pure. */
#ifndef CORE_VERDICT_COMMIT_VERDICT_JSON_H
#define CORE_VERDICT_COMMIT_VERDICT_JSON_H

#include "base/jsonw.h"
#include "core/verdict/commit_verdict.h"

/** "suites": an object each, in the order of the plan. */
void commit_verdict_write_suites(struct jsonw *j, const struct commit_verdict *v);
/** "unfinished": the names of those that wait or run. */
void commit_verdict_write_unfinished(struct jsonw *j, const struct commit_verdict *v);
/** What a commit deserves, as an object. `branch` (its key) "": of the commit, whichever branches it is on. */
void commit_verdict_write(struct jsonw *j, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v);

#endif
