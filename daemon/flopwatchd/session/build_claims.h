/**
 * build_claims.h - coordination of workers of one kind that build in separate allocations, each with its own cache: a worker
 * measures the jobs it built, and the others do not build them again.
 */
#ifndef FLOPWATCHD_SESSION_BUILD_CLAIMS_H
#define FLOPWATCHD_SESSION_BUILD_CLAIMS_H

#include "lib/buf.h"
#include "flopwatchd/session/slot.h"

/** Build a JSON array of ids: begin, add, end. Own: the caller's; buf_fini frees. */
void build_claims_begin(struct buf *ids);
void build_claims_add(struct buf *ids, int64_t id);
void build_claims_end(struct buf *ids);

/** Add jobs that other workers than `w` built and will measure, up to their number of slots. Err: the database. */
int build_claims_for(const struct slot_host *host, const struct config_worker *w, struct buf *ids, struct fw_err *err);
/** Further builds `w` may request: next to other builders, no more than it can measure. Err: the database. */
int build_claims_room(const struct slot_host *host, const struct config_worker *w, int *room, struct fw_err *err);

#endif
