/** request_counter.h - how many requests were answered, by route and status. Pure. */
#ifndef WEB_HTTP_REQUEST_COUNTER_H
#define WEB_HTTP_REQUEST_COUNTER_H

#include <stdint.h>

struct request_counter;

/** For `n_routes` routes; number n_routes stands for requests that no route took. Own: request_counter_free, accepts NULL. NULL: out of memory. */
struct request_counter *request_counter_new(int n_routes);
void request_counter_free(struct request_counter *t);
/** A status that HTTP does not have counts as 500. */
void request_counter_add(struct request_counter *t, int route, int status);

typedef void request_counter_fn(void *arg, int route, int status, uint64_t n);
/** Every count above 0, by route, then by status. */
void request_counter_each(const struct request_counter *t, request_counter_fn *each, void *arg);

#endif
