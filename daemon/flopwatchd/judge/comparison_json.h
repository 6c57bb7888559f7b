/**
 * comparison_json.h - the JSON of one comparison, as the API serves it and as it is stored beside the comparison.
 *
 * It is built once, from the rows that the job's own transaction has just written, and never per request.
 */
#ifndef FLOPWATCHD_JUDGE_COMPARISON_JSON_H
#define FLOPWATCHD_JUDGE_COMPARISON_JSON_H

#include "base/buf.h"
#include "db/sqlite/db.h"

/** Append the body. Err: ERR_NOT_FOUND; ERR_FULL it does not fit into `out`. */
int body_comparison(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err);

/** Build the body and store it with its ETag (SHA-256). Inside the caller's transaction. */
int body_store(struct db *db, int64_t comparison, struct fw_err *err);

#endif
