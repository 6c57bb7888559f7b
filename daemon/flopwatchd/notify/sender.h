/**
 * sender.h - sends what the outbox owes by flopwatch-send and flopwatch-git, one notification at a time to each receiver, a few
 * receivers at once. One that fails is tried again six times over about an hour, or when it says itself (Retry-After). A notification
 * may arrive twice, with the same id; each attempt is a row.
 */
#ifndef FLOPWATCHD_NOTIFICATION_SENDER_H
#define FLOPWATCHD_NOTIFICATION_SENDER_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"

struct sender;

/** Begin with what is due. Own: borrows all. */
int sender_start(struct loop *l, const struct config *c, struct txn *g, struct sender **out, struct fw_err *err);
/** There may be new rows. */
void sender_wake(struct sender *n);
/** Accepts NULL. */
void sender_stop(struct sender *n);

/** Pause before the try after `attempts` that failed, 0: give up. Units: ms. `luck` in [0, 1) spreads them by a quarter. */
int64_t sender_pause_ms(int attempts, double luck);

#endif
