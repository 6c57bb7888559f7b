#include "web/http/internal.h"

#include <stdlib.h>

enum { STATUS_MIN = 100, STATUS_MAX = 599, STATUSES = STATUS_MAX - STATUS_MIN + 1 };

struct request_counter {
	int n;
	uint64_t count[][STATUSES];
};

struct request_counter *request_counter_new(int n_routes)
{
	struct request_counter *t = mem_alloc_zero(1, sizeof *t + (size_t)(n_routes + 1) * sizeof t->count[0]);
	t->n = n_routes + 1;
	return t;
}

void request_counter_free(struct request_counter *t)
{
	free(t);
}

void request_counter_add(struct request_counter *t, int route, int status)
{
	int known = status >= STATUS_MIN && status <= STATUS_MAX ? status : 500;
	t->count[route >= 0 && route < t->n ? route : t->n - 1][known - STATUS_MIN]++;
}

void request_counter_each(const struct request_counter *t, request_counter_fn *each, void *arg)
{
	for (int i = 0; i < t->n; i++)
		for (int s = 0; s < STATUSES; s++)
			if (t->count[i][s])
				each(arg, i, STATUS_MIN + s, t->count[i][s]);
}
