/* order.c - order of sides. */
#include "protocol/protocol.h"

static bool base_comes_first(int n, int base, int target, int first)
{
	return (base - first + n) % n < (target - first + n) % n;
}

int order_first(int n, int base, int target, int rotation)
{
	bool wanted = rotation % 2 == 0;
	int fits = 0;

	for (int i = 0; i < n; i++)
		fits += base_comes_first(n, base, target, i) == wanted;
	int position = fits ? rotation / 2 % fits : 0; /* at least 1, because base and target can each begin */
	for (int i = 0; i < n; i++)
		if (base_comes_first(n, base, target, i) == wanted && position-- == 0)
			return i;
	return base;
}

int order_side(int n, int first, int round, int k)
{
	int position = round & 1 ? n - 1 - k : k;

	return (first + (round >> 1) + position) % n;
}
