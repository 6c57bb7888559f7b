/**
 * library.h - another's library, looked for when it is first asked for: in the process, on the loader's path, or beside the toolkit.
 */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LIBRARY_WHY_BYTES = 200 };

/** One of its functions, and where its address goes. */
struct library_function {
	const char *name;
	void *function; /* a pointer to a function pointer */
};

/** What became of a search. Zeros: nobody asked yet. */
struct library {
	bool is_tried;
	char why[LIBRARY_WHY_BYTES]; /* it is of no use; "" it is */
};

/**
 * Open the first of `places`, which end with NULL, and find all of `functions`, whose last has no name. It is kept until the process ends.
 * Err: false, and `l->why` says what is missing; `called` is what people call the library.
 */
bool library_open(struct library *l, const char *called, const char *const *places, const struct library_function *functions);
/** Whether it is there, and else the reason in `why`, which may be NULL. */
static inline bool library_is_there(const struct library *l, char *why, size_t why_size)
{
	if (l->why[0] && why && why_size > 0)
		snprintf(why, why_size, "%s", l->why);
	return !l->why[0];
}

#endif
