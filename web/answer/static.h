/** static.h - style, scripts and the chart library, compiled in: no file is served from the file system. */
#ifndef WEB_ANSWER_STATIC_H
#define WEB_ANSWER_STATIC_H

#include <stdbool.h>

#include "web/http/http.h"

/** The address of a file for a page: "/static/NAME?v=...", which names its bytes, so that it may be kept for ever. Own: static.c's. */
const char *static_address(const char *name);

/** Whether a file is there; the chart library is only where npm had it when flopwatch was built. */
bool static_has(const char *name);

/** GET /static/{file} */
http_handler_fn page_static;

#endif
