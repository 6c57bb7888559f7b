/** site.h - flopwatchd's HTTP face: the table of routes over pages and API. */
#ifndef WEB_SITE_H
#define WEB_SITE_H

#include "web/answer/site.h"

/** Start serving. Own: `site` stays the caller's and outlives the http. Err: as http_start. */
int site_start(struct site *site, const char *host, int port, struct http **out, struct fw_err *err);

#endif
