/** http_frontend.h - puts the web room on the daemon's loop and connects its actions to control.h. */
#ifndef FLOPWATCHD_HTTP_FRONTEND_H
#define FLOPWATCHD_HTTP_FRONTEND_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/control.h"
#include "db/sqlite/db.h"
#include "flopwatchd/runtime/loop.h"

struct face;

/** Bind the port. With port 0 the one taken is written to state_dir/port. Own: borrows all; `control` may be filled in later, before the loop runs. Err: ERR_BUSY the port is in use. */
int face_start(
	struct loop *l, const struct config *c, struct db *db, struct control *control, struct face **out, struct fw_err *err);
int face_port(const struct face *f);
/** There may be new events for open streams. */
void face_wake(struct face *f);
/** Accepts NULL. */
void face_stop(struct face *f);

#endif
