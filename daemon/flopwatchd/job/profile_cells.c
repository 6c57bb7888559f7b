#include "flopwatchd/job/job.h"

#include <stdio.h>
#include <stdlib.h>

void profile_cells_add(struct profile_cells *c, const char *key, const char *group, const char *direction, double loss)
{
	int at = 0;
	if (!isfinite(loss))
		loss = -HUGE_VAL;
	while (at < c->n && (strcmp(c->cell[at].group, group) != 0 || strcmp(c->cell[at].direction, direction) != 0))
		at++;
	if (at == PROFILE_CELLS_GROUPS_MAX || (at < c->n && c->cell[at].loss >= loss))
		return;
	if (at == c->n)
		c->n++;
	snprintf(c->cell[at].key, sizeof c->cell[at].key, "%s", key);
	snprintf(c->cell[at].group, sizeof c->cell[at].group, "%s", group);
	snprintf(c->cell[at].direction, sizeof c->cell[at].direction, "%s", direction);
	c->cell[at].loss = loss;
}

void profile_cells_choose(struct profile_cells *c, int most)
{
	for (int i = 1; i < c->n; i++) /* insertion sort of a few cells; equal losses keep the order of the suite */
		for (int k = i; k > 0 && c->cell[k].loss > c->cell[k - 1].loss; k--) {
			struct profile_cell less = c->cell[k - 1];
			c->cell[k - 1] = c->cell[k];
			c->cell[k] = less;
		}
	if (c->n > most)
		c->n = most;
}

void profile_cells_words(const struct profile_cells *c, char *text, size_t size)
{
	size_t len = 0;
	text[0] = 0;
	for (int i = 0; i < c->n; i++) {
		size_t more = strlen(c->cell[i].key) + (len > 0);
		if (len + more >= size)
			return;
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? " " : "", c->cell[i].key);
	}
}
