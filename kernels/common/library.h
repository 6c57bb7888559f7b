/**
 * library.h - lazy loading of a third-party library: already in the process, on the loader's path, or in the toolkit's directory.
 */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LIBRARY_WHY_BYTES = 200 };

/** A function of the library, and the pointer that receives its address. */
struct library_function {
	const char *name;
	void *function; /* a pointer to a function pointer */
};

/** Result of a search. Zeros: not searched yet. */
struct library {
	bool is_tried;
	char why[LIBRARY_WHY_BYTES]; /* why the library cannot be used; "" it can */
};

/**
 * Open the first of `places`, which end with NULL, and resolve all of `functions`, whose last has no name. The library stays open
 * until the process ends.
 * Err: false, and `l->why` contains what is missing; `called` is the library's common name.
 */
bool library_open(struct library *l, const char *called, const char *const *places, const struct library_function *functions);
/** Whether the library is available; if not, the reason is in `why`, which may be NULL. */
static inline bool library_is_there(const struct library *l, char *why, size_t why_size)
{
	if (l->why[0] && why && why_size > 0)
		snprintf(why, why_size, "%s", l->why);
	return !l->why[0];
}

#endif
