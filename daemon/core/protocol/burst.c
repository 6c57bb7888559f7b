/* burst.c - see burst.h. */
#include "core/protocol/burst.h"

int burst_side_of(int first, int i)
{
	return first ^ (i == 1 || i == 2);
}

int burst_gather(const struct burst_calls *b, int rounds, int first, struct burst_side *side)
{
	int n = BURST_KEPT_MAX;
	for (int i = 0; i < 2 * rounds; i++)
		n = b[i].kept < n ? b[i].kept : n;
	for (int i = 0; i < 2 * rounds; i++) {
		struct burst_side *to = &side[burst_side_of(first, i)];
		for (int k = 0; k < n; k++) {
			int at = (2 * k + 1) * b[i].kept / (2 * n);
			to->ms[i / 2 * n + k] = b[i].ms[at];
			to->mhz[i / 2 * n + k] = b[i].mhz[at];
		}
	}
	return rounds * n;
}

void burst_order(int n, int rounds, int first, char *order)
{
	for (int i = 0; i < 2 * n; i++)
		order[i] = (char)('A' + burst_side_of(first, i / (n / rounds)));
	order[2 * n] = '\0';
}
