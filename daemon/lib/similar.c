/* similar.c - the edit distance of two names, computed one table row at a time. */
#include "lib/lib.h"

enum { LETTERS_MAX = 64 };

int similar_distance(const char *a, const char *b)
{
	int row[LETTERS_MAX + 1], i, j;
	size_t la = strlen(a), lb = strlen(b);

	if (la > LETTERS_MAX || lb > LETTERS_MAX)
		return 99;
	for (j = 0; j <= (int)lb; j++)
		row[j] = j;
	for (i = 1; i <= (int)la; i++) {
		int corner = row[0];

		row[0] = i;
		for (j = 1; j <= (int)lb; j++) {
			int best = corner + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			corner = row[j];
			row[j] = best;
		}
	}
	return row[lb];
}
