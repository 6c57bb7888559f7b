/** route.h - paths of requests: which are plain enough to look at, and which pattern of the table they fit. */
#ifndef WEB_HTTP_ROUTE_H
#define WEB_HTTP_ROUTE_H

#include <stdbool.h>

enum { ROUTE_PATH_MAX = 512, ROUTE_SEGMENTS_MAX = 4 };

/** The "{...}" parts of a path that fitted. */
struct route_parts {
	int n;
	char *part[ROUTE_SEGMENTS_MAX];
	char text[ROUTE_PATH_MAX];
};

/**
 * Letters, digits and "./_-~" only, no "..", no "//", shorter than ROUTE_PATH_MAX: every path of ours is such, and one that is
 * not means something else to somebody on its way.
 */
bool route_is_plain(const char *path);

/**
 * Whether a plain `path` fits `pattern`, whose "{name}" stands for one segment and may have a suffix ("{id}.csv").
 * Own: out->part points into out->text.
 */
bool route_match(const char *pattern, const char *path, struct route_parts *out);

#endif
