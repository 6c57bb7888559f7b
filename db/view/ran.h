/** ran.h - what each side of a cell ran: a provider of its module, in a configuration that the provider chose. */
#ifndef DB_VIEW_RAN_H
#define DB_VIEW_RAN_H

#include <stdbool.h>

#include "db/sqlite/db.h"

enum { RAN_BASE, RAN_TARGET, RAN_SIDES };

/** "" where a side did not say. */
struct ran {
	char provider[RAN_SIDES][48], config[RAN_SIDES][160];
};

/** Read what the sides of a cell said; nothing is no error. */
int ran_read(struct db *db, int64_t cell, struct ran *out, struct fw_err *err);
/** Whether both said, and not the same. */
bool ran_differs(const struct ran *r);
/** The whole number behind NAME= in a configuration like "BLOCK_M=128 STAGES=2"; 0 none. */
int ran_number(const char *config, const char *name);

#endif
