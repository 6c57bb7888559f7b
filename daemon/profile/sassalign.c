/*
 * sassalign.c - E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): furthest point of each number of edits
 * on each diagonal. All frontiers are stored for the way back, which bounds the number of edits.
 */
#include "profile/internal.h"

#include <limits.h>
#include <stdlib.h>

enum { EDITS_MAX = 4000 };

/* Frontier `d` has d + 1 diagonals, -d to d in steps of two. */
static size_t position(int d, int k)
{
	return (size_t)d * (size_t)(d + 1) / 2 + (size_t)((k + d) / 2);
}

/* Whether the best path to diagonal `k` in `d` edits inserts an entry of b; else it deletes one of a. */
static bool is_down(const int *x, int d, int k)
{
	return k == -d || (k != d && x[position(d - 1, k - 1)] < x[position(d - 1, k + 1)]);
}

/* Return the number of edits; -1: too many. `x` holds all frontiers. */
static int search(const uint32_t *a, int n, const uint32_t *b, int m, int **x)
{
	for (int d = 0; d <= n + m && d <= EDITS_MAX; d++) {
		if ((d & (d - 1)) == 0) { /* grow to twice the size */
			int *more = realloc(*x, position(2 * d + 1, -2 * d - 1) * sizeof **x);
			if (!more)
				return -1;
			*x = more;
		}
		for (int k = -d; k <= d; k += 2) {
			int i = 0;
			if (d > 0)
				i = is_down(*x, d, k) ? (*x)[position(d - 1, k + 1)] : (*x)[position(d - 1, k - 1)] + 1;
			/* beyond the end of either list it stays */
			while (i < n && i - k < m && i - k >= 0 && a[i] == b[i - k])
				i++;
			(*x)[position(d, k)] = i;
			if (i >= n && i - k >= m && k == n - m)
				return d;
		}
	}
	return -1;
}

static void go_back(const int *x, int edits, int n, int m, bool *kept_a, bool *kept_b)
{
	int i = n, j = m;
	for (int d = edits; d > 0; d--) {
		int k = i - j;
		bool down = is_down(x, d, k);
		int before = down ? k + 1 : k - 1;
		int from = x[position(d - 1, before)], start = down ? from : from + 1;
		for (; i > start; i--, j--)
			kept_a[i - 1] = kept_b[j - 1] = true;
		i = from;
		j = from - before;
	}
	for (; i > 0; i--, j--)
		kept_a[i - 1] = kept_b[j - 1] = true;
}

bool sassalign_keep(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *kept_a, bool *kept_b)
{
	size_t head = 0, tail = 0;
	if (n > INT_MAX / 4 || m > INT_MAX / 4)
		return false;
	while (head < n && head < m && a[head] == b[head])
		head++;
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
		tail++;
	int *x = NULL, left = (int)(n - head - tail), right = (int)(m - head - tail);
	int edits = search(a + head, left, b + head, right, &x);
	if (edits >= 0) {
		memset(kept_a, true, head);
		memset(kept_b, true, head);
		memset(kept_a + n - tail, true, tail);
		memset(kept_b + m - tail, true, tail);
		go_back(x, edits, left, right, kept_a + head, kept_b + head);
	}
	free(x);
	return edits >= 0;
}
