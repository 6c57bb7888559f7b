/** suites.h - where a commit stands with each of its suites, in the words of pages. */
#ifndef WEB_PAGE_SUITES_H
#define WEB_PAGE_SUITES_H

#include "lib/buf.h"
#include "verdict/commit_verdict.h"
#include "db/db.h"

/** The verdict, linked to the comparison or job that decides it; a dash where there is none. */
void suites_verdict(struct buf *out, const struct commit_verdict *v);
/** Which of several suites decides, linked to the commit: "gemm, 1 of 2 suites". Nothing where there is one alone. */
void suites_which(struct buf *out, const struct commit_verdict *v, const char *sha);
/** "waits for gemm, second"; nothing where all have ended. */
void suites_unfinished(struct buf *out, const struct commit_verdict *v);
/** A table, a row a suite. Err: the database. */
int suites_table(struct db *db, struct buf *out, const struct commit_verdict *v, struct fw_err *err);

#endif
