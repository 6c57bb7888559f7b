/** pairs.h - "a=1&b=2" of a query or a form, cut and decoded in place. */
#ifndef WEB_HTTP_PAIRS_H
#define WEB_HTTP_PAIRS_H

enum { PAIRS_MAX = 64 };

struct pairs {
	int n;
	struct {
		char *name, *value;
	} pair[PAIRS_MAX];
};

/** Own: names and values point into `text`, which is changed. Err: -1 for a bad escape, a NUL, or more than PAIRS_MAX. */
int pairs_split(struct pairs *p, char *text);
/** The first value of a name, NULL if absent. */
const char *pairs_get(const struct pairs *p, const char *name);
/** Its value at place `n` among several, from 0; NULL where there are not so many. */
const char *pairs_at(const struct pairs *p, const char *name, int n);
/** The first name that is none of `known`, which are separated by spaces; NULL: every one is. */
const char *pairs_unknown(const struct pairs *p, const char *known);

#endif
