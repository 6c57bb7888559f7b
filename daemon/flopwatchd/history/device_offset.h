/**
 * device_offset.h - outliers of a device class: a device whose reference commit runs at another speed at held clock than on the
 * others, or whose A/A comparisons report losses. Until it agrees again, such a device gets only jobs that name it, as long as
 * another device of its class can do the work. A class of one device has no outlier.
 */
#ifndef FLOPWATCHD_HISTORY_DEVICE_OFFSET_H
#define FLOPWATCHD_HISTORY_DEVICE_OFFSET_H

#include "db/device.h"

/** Check the class in the caller's transaction: a row and an event for each changed device. Err: the database. */
int device_offset_look(struct db *db, int64_t class, int64_t now_ms, struct fw_err *err);

#endif
