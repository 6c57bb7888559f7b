/** web.h - the table of routes. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "web/answer/answer.h"

/* ---- site: The HTTP server of flopwatchd: the table of routes of pages and API. ---- */

/** Start the server. Own: `site` must outlive the server. Err: as http_start. */
int site_start(struct site *site, const char *host, int port, struct http **out, struct fw_err *err);

#endif
