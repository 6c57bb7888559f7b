/** asset.h - style, scripts and the chart library, compiled in: no file is served from the file system. */
#ifndef WEB_HTML_ASSET_H
#define WEB_HTML_ASSET_H

#include <stdbool.h>

struct asset {
	const char *name, *type, *start, *end;
	char address[64], etag[16];
};

/** With its address, made at the first use. NULL: there is no such file, or it was not there to compile in. Own: asset.c's. */
const struct asset *asset_find(const char *name);

/** The address of a file for a page: "/static/NAME?v=...", which names its bytes, so that it may be kept for ever. Own: asset.c's. */
const char *asset_address(const char *name);

/** Whether a file is there; the chart library is only where npm had it when flopwatch was built. */
bool asset_has(const char *name);

#endif
