/* sustained.c - selection and order of calls. */
#include "protocol/protocol.h"

int sustained_gather(struct sustained_calls *side)
{
	int n = side[0].kept < side[1].kept ? side[0].kept : side[1].kept;

	for (int s = 0; s < 2; s++) {
		struct sustained_calls *c = &side[s];

		for (int k = 0; k < n; k++) {
			int at = (2 * k + 1) * c->kept / (2 * n); /* at least k, so nothing is overwritten before it is read */

			c->ms[k] = c->ms[at];
			c->mhz[k] = c->mhz[at];
		}
		c->kept = n;
	}
	return n;
}

void sustained_write_order(int n, int first, char *order)
{
	memset(order, 'A' + first, (size_t)n);
	memset(order + n, 'B' - first, (size_t)n);
	order[2 * (size_t)n] = '\0';
}
