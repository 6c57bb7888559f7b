/** ran.h - provider and configuration that each side of a cell ran. */
#ifndef DB_RAN_H
#define DB_RAN_H

#include <stdbool.h>

#include "db/db.h"

enum { RAN_BASE, RAN_TARGET, RAN_SIDES };

/** "" where a side did not report it. */
struct ran {
	char provider[RAN_SIDES][48], config[RAN_SIDES][160];
};

/** Read both sides of a cell; missing reports are no error. */
int ran_read(struct db *db, int64_t cell, struct ran *out, struct fw_err *err);
/** Whether both sides reported different values. */
bool ran_differs(const struct ran *r);
/** The integer after NAME= in a configuration like "BLOCK_M=128 STAGES=2"; 0 none. */
int ran_number(const char *config, const char *name);

#endif
