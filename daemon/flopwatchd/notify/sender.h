/**
 * sender.h - sending of the outbox by flopwatch-send and flopwatch-git: one notification at a time to each receiver, a few
 * receivers at once. A failed notification is retried six times over about an hour, or when the receiver says (Retry-After). A
 * notification may arrive twice, with the same id; each attempt is a row.
 */
#ifndef FLOPWATCHD_NOTIFICATION_SENDER_H
#define FLOPWATCHD_NOTIFICATION_SENDER_H

#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"

struct sender;

/** Start with the due rows. Own: borrows all. */
int sender_start(struct loop *l, const struct config *c, struct txn *g, struct sender **out, struct fw_err *err);
/** Call it when rows were added. */
void sender_wake(struct sender *n);
void sender_stop(struct sender *n);

/** Delay before the next attempt after `attempts` failures, 0: give up. Units: ms. `luck` in [0, 1) varies it by a quarter. */
int64_t sender_pause_ms(int attempts, double luck);

#endif
