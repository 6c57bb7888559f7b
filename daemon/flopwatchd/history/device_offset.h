/**
 * device_offset.h - which devices stand out of their class: whose reference commit runs at another pace at held clock than on the others, or whose
 * comparisons of equal builds call losses. Such a device gets only what asks for it by name until it fits again, as long as another of
 * its class can do the work. One device alone has nothing to stand out of.
 */
#ifndef FLOPWATCHD_HISTORY_DEVICE_OFFSET_H
#define FLOPWATCHD_HISTORY_DEVICE_OFFSET_H

#include "db/store/device.h"

/** Look at the whole class, inside the caller's transaction: a row and an event for each device that has changed. Err: the database. */
int device_offset_look(struct db *db, int64_t class, int64_t now_ms, struct fw_err *err);

#endif
