/** tried.h - configurations that a provider tried before it chose one, as it reports them: unverified, decides nothing. */
#ifndef PROTOCOL_TRIED_H
#define PROTOCOL_TRIED_H

#include "lib/jsonw.h"
#include "lib/field.h"

enum { TRIED_MAX = 64, TRIED_OF_MAX = 1 << 24 }; /* limits of the list, and of the number tried */

struct tried_config {
	char config[160];
	double ms; /* of a call; 0 not timed */
};

struct tried {
	int of, n;                   /* number tried; number in the list */
	struct tried_config *config; /* config[n], the fastest first, then those without a time; owned */
};

void tried_sort(struct tried *t);
void tried_fini(struct tried *t);

/** Write {"of":8,"list":[{"config":"TILE=0","ms":0.5}]}; null: none. A time of null is unknown. */
void tried_write(struct jsonw *j, const struct tried *t);
/** Read it; absent or null: none. Own: tried_fini, also after a failure. Err: ERR_PROTOCOL with the key. */
int tried_read(struct fields *f, const char *key, struct tried *out);

#endif
