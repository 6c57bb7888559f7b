/**
 * build_claims.h - workers of one kind whose builds are apart, each with a cache of its own: what one of them has built it also measures, and the
 * others do not build it once more.
 */
#ifndef FLOPWATCHD_DISPATCH_BUILD_CLAIMS_H
#define FLOPWATCHD_DISPATCH_BUILD_CLAIMS_H

#include "base/buf.h"
#include "flopwatchd/dispatch/slot.h"

/** A JSON array of ids that is added to: begin, add, end. Own: the caller's; buf_fini frees. */
void build_claims_begin(struct buf *ids);
void build_claims_add(struct buf *ids, int64_t id);
void build_claims_end(struct buf *ids);

/**
 * Add what others than `w`, which builds, have built and are about to measure: of each that is not down as many as it has slots. Err: the
 * database.
 */
int build_claims_for(const struct slot_host *host, const struct config_worker *w, struct buf *ids, struct fw_err *err);
/**
 * How many more builds `w` may ask for: where others are there no more than it can measure, so that it leaves them the rest; else as many
 * as it likes. Err: the database.
 */
int build_claims_room(const struct slot_host *host, const struct config_worker *w, int *room, struct fw_err *err);

#endif
