#include "web/http/http.h"

#include <stdlib.h>
#include <strings.h>

/* How specifically a range matches `type`: 0 no match, 1 any type, 2 the part before the slash, 3 both parts. */
static int exactness(const char *range, size_t len, const char *type, size_t type_len)
{
	size_t half = strcspn(type, "/") + 1;
	if (len == 3 && strncmp(range, "*/*", 3) == 0)
		return 1;
	if (len == half + 1 && range[half] == '*' && strncasecmp(range, type, half) == 0)
		return 2;
	return len == type_len && strncasecmp(range, type, len) == 0 ? 3 : 0;
}

/* The weight (q) in the parameters of a range, which end at a comma; 1 if absent. */
static double weight(const char *at)
{
	while (*at == ';' || *at == ' ' || *at == '\t') {
		at += strspn(at, "; \t");
		if ((at[0] == 'q' || at[0] == 'Q') && at[1] == '=') {
			double q = strtod(at + 2, NULL);
			return q >= 0 && q <= 1 ? q : 0;
		}
		at += strcspn(at, ";,");
	}
	return 1;
}

double media_quality(const char *accept, const char *type)
{
	size_t type_len = strcspn(type, "; ");
	double quality = 0;
	int best = 0;
	if (!accept || !*accept)
		return 1;
	for (const char *at = accept; *at; at += strcspn(at, ","), at += *at == ',') {
		at += strspn(at, " \t");
		size_t len = strcspn(at, ",; \t");
		int exact = exactness(at, len, type, type_len);
		if (exact > best) {
			best = exact;
			quality = weight(at + len);
		}
	}
	return quality;
}

bool media_accepts_gzip(const char *accept)
{
	double gzip = -1, any = 0;
	for (const char *at = accept ? accept : ""; *at; at += strcspn(at, ","), at += *at == ',') {
		at += strspn(at, " \t");
		size_t len = strcspn(at, ",; \t");
		if ((len == 4 && strncasecmp(at, "gzip", 4) == 0) || (len == 6 && strncasecmp(at, "x-gzip", 6) == 0))
			gzip = weight(at + len);
		else if (len == 1 && *at == '*')
			any = weight(at + len);
	}
	return (gzip >= 0 ? gzip : any) > 0;
}
