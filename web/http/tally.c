#include "web/http/tally.h"

#include <stdlib.h>

enum { STATUS_MIN = 100, STATUS_MAX = 599, STATUSES = STATUS_MAX - STATUS_MIN + 1 };

struct tally {
	int n;
	uint64_t count[][STATUSES];
};

struct tally *tally_new(int n_routes)
{
	struct tally *t = calloc(1, sizeof *t + (size_t)(n_routes + 1) * sizeof t->count[0]);
	if (t)
		t->n = n_routes + 1;
	return t;
}

void tally_free(struct tally *t)
{
	free(t);
}

void tally_add(struct tally *t, int route, int status)
{
	int known = status >= STATUS_MIN && status <= STATUS_MAX ? status : 500;
	t->count[route >= 0 && route < t->n ? route : t->n - 1][known - STATUS_MIN]++;
}

void tally_each(const struct tally *t, tally_fn *each, void *arg)
{
	for (int i = 0; i < t->n; i++)
		for (int s = 0; s < STATUSES; s++)
			if (t->count[i][s])
				each(arg, i, STATUS_MIN + s, t->count[i][s]);
}
