/**
 * comparison_json.h - the JSON of one comparison, as stored and as the API serves it. It is built once, from the rows that the
 * job's transaction wrote, never per request.
 */
#ifndef FLOPWATCHD_JOB_COMPARISON_JSON_H
#define FLOPWATCHD_JOB_COMPARISON_JSON_H

#include "lib/buf.h"
#include "db/db.h"

/** Append the JSON. Err: ERR_NOT_FOUND; ERR_FULL it does not fit into `out`. */
int body_comparison(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err);

/** Build the JSON and store it with its ETag (SHA-256). Inside the caller's transaction. */
int body_store(struct db *db, int64_t comparison, struct fw_err *err);

#endif
