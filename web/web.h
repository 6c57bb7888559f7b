/** web.h - the table of routes. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "web/answer/answer.h"

/* ---- site: Flopwatchd's HTTP face: the table of routes over pages and API. ---- */

/** Start serving. Own: `site` stays the caller's and outlives the http. Err: as http_start. */
int site_start(struct site *site, const char *host, int port, struct http **out, struct fw_err *err);

#endif
