/** http_frontend.h - the web server on the daemon's loop, with control.h as its actions. */
#ifndef FLOPWATCHD_HTTP_FRONTEND_H
#define FLOPWATCHD_HTTP_FRONTEND_H

#include "flopwatchd/config/config.h"
#include "flopwatchd/control.h"
#include "db/db.h"
#include "lib/loop.h"

struct http_frontend;

/** Bind the port (0: any, written to state_dir/port). Own: borrows all; `control` may be filled later. Err: ERR_BUSY. */
int http_frontend_start(struct loop *l, const struct config *c, struct db *db, struct control *control,
	struct http_frontend **out, struct fw_err *err);
int http_frontend_port(const struct http_frontend *f);
/** Call it when events were written, for open streams. */
void http_frontend_wake(struct http_frontend *f);
void http_frontend_stop(struct http_frontend *f);

#endif
