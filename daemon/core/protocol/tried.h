/** tried.h - the configurations that a provider tried before it chose one, as it tells them: a claim, which decides nothing. */
#ifndef CORE_PROTOCOL_TRIED_H
#define CORE_PROTOCOL_TRIED_H

#include "base/jsonw.h"
#include "core/text/field.h"

enum { TRIED_MAX = 64, TRIED_OF_MAX = 1 << 24 }; /* that are told; that are counted */

struct tried_config {
	char config[160];
	double ms; /* of a call; 0 not timed */
};

/** Zeros are none. */
struct tried {
	int of, n;                   /* how many were tried; how many of these are told */
	struct tried_config *config; /* config[n], the fastest first, then those without a time; owned */
};

/** Order what is there, as it has to be told. */
void tried_sort(struct tried *t);
void tried_fini(struct tried *t);

/** {"of":8,"list":[{"config":"TILE=0","ms":0.5}]}; null: none. A time of null is not known. */
void tried_write(struct jsonw *j, const struct tried *t);
/** Absent or null: none. Own: tried_fini, also after a failure. Err: ERR_PROTOCOL with the key. */
int tried_read(struct fields *f, const char *key, struct tried *out);

#endif
