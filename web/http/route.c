/* route.c - documented in http.h. */
#include "web/http/http.h"

#include <stdio.h>

bool route_is_plain(const char *path)
{
	size_t len = strlen(path);
	return path[0] == '/' && len < ROUTE_PATH_MAX && !strstr(path, "..") && !strstr(path, "//") &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~") == len;
}

bool route_match(const char *pattern, const char *path, struct route_parts *out)
{
	size_t fixed = strcspn(pattern, "{");
	out->n = 0;
	if (strncmp(pattern, path, fixed) != 0) /* nearly all routes: nothing is copied */
		return false;
	snprintf(out->text, sizeof out->text, "%s", path);
	char *at = out->text + fixed;
	pattern += fixed;
	for (;;) {
		if (*pattern != '{') {
			if (*pattern != *at)
				return false;
			if (*pattern == '\0')
				return true;
			pattern++, at++;
			continue;
		}
		pattern += strcspn(pattern, "}") + 1;
		size_t len = strcspn(at, "/"), suffix = strcspn(pattern, "/{");
		if (len <= suffix || out->n == ROUTE_SEGMENTS_MAX || memcmp(at + len - suffix, pattern, suffix) != 0)
			return false;
		bool last = at[len] == '\0';
		if ((pattern[suffix] == '\0') != last)
			return false;
		out->part[out->n++] = at;
		at[len - suffix] = '\0';
		if (last)
			return true;
		/* without a suffix the slash was overwritten by the terminator: skip it in both strings */
		at += len + 1;
		pattern += suffix + 1;
	}
}
