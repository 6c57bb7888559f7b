/* sustained.c - selection and order of calls. */
#include "protocol/protocol.h"

int sustained_gather(struct sustained_calls *side)
{
	int n = side[0].n < side[1].n ? side[0].n : side[1].n;

	for (int s = 0; s < 2; s++) {
		struct sustained_calls *c = &side[s];

		for (int k = 0; k < n; k++) {
			int at = (2 * k + 1) * c->n / (2 * n); /* at least k, so nothing is overwritten before it is read */

			c->ms[k] = c->ms[at];
			c->mhz[k] = c->mhz[at];
		}
		c->n = n;
	}
	return n;
}

void sustained_write_order(int n, int first, char *order)
{
	memset(order, 'A' + first, (size_t)n);
	memset(order + n, 'B' - first, (size_t)n);
	order[2 * (size_t)n] = '\0';
}
