/**
 * carry_json.h - stored JSON of a database that carry_over.h brings to the tables of today: the names and words that changed since.
 *
 * Numbers, spaces and the order of keys stay as they were written, so that only what was renamed differs. Pure.
 */
#ifndef DB_CARRY_JSON_H
#define DB_CARRY_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

/** Whether a second set of runs timed the cell `key`, which a body of then does not say. */
typedef bool carry_confirmed_fn(void *arg, const char *key, size_t len);

/**
 * Append `text` with today's names. `confirmed` (NULL: it is no body of a comparison) answers for cells that do not say it themselves.
 * False: it is no JSON, or does not fit into `out`, which then holds a part of it.
 */
bool carry_json(const char *text, size_t len, carry_confirmed_fn *confirmed, void *arg, struct buf *out);

#endif
