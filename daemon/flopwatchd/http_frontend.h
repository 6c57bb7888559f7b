/** http_frontend.h - puts the web room on the daemon's loop and connects its actions to control.h. */
#ifndef FLOPWATCHD_HTTP_FRONTEND_H
#define FLOPWATCHD_HTTP_FRONTEND_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/control.h"
#include "db/sqlite/db.h"
#include "flopwatchd/runtime/loop.h"

struct http_frontend;

/** Bind the port. With port 0 the one taken is written to state_dir/port. Own: borrows all; `control` may be filled in later, before the loop runs. Err: ERR_BUSY the port is in use. */
int http_frontend_start(struct loop *l, const struct config *c, struct db *db, struct control *control,
	struct http_frontend **out, struct fw_err *err);
int http_frontend_port(const struct http_frontend *f);
/** There may be new events for open streams. */
void http_frontend_wake(struct http_frontend *f);
/** Accepts NULL. */
void http_frontend_stop(struct http_frontend *f);

#endif
