/** tally.h - how many requests were answered, by route and status. Pure. */
#ifndef WEB_HTTP_TALLY_H
#define WEB_HTTP_TALLY_H

#include <stdint.h>

struct tally;

/** For `n_routes` routes; number n_routes stands for requests that no route took. Own: tally_free, accepts NULL. NULL: out of memory. */
struct tally *tally_new(int n_routes);
void tally_free(struct tally *t);
/** A status that HTTP does not have counts as 500. */
void tally_add(struct tally *t, int route, int status);

typedef void tally_fn(void *arg, int route, int status, uint64_t n);
/** Every count above 0, by route, then by status. */
void tally_each(const struct tally *t, tally_fn *each, void *arg);

#endif
