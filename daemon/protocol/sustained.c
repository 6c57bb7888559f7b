/* sustained.c - order and selection of calls. */
#include "protocol/protocol.h"

int sustained_side_of(int first, int i)
{
	return first ^ (i == 1 || i == 2);
}

int sustained_gather(const struct sustained_calls *b, int rounds, int first, struct sustained_side *side)
{
	int n = SUSTAINED_RECORDED_MAX;
	for (int i = 0; i < 2 * rounds; i++)
		n = b[i].kept < n ? b[i].kept : n;
	for (int i = 0; i < 2 * rounds; i++) {
		struct sustained_side *to = &side[sustained_side_of(first, i)];
		for (int k = 0; k < n; k++) {
			int at = (2 * k + 1) * b[i].kept / (2 * n);
			to->ms[i / 2 * n + k] = b[i].ms[at];
			to->mhz[i / 2 * n + k] = b[i].mhz[at];
		}
	}
	return rounds * n;
}

void sustained_order(int n, int rounds, int first, char *order)
{
	for (int i = 0; i < 2 * n; i++)
		order[i] = (char)('A' + sustained_side_of(first, i / (n / rounds)));
	order[(size_t)2 * (size_t)n] = '\0';
}
