/* judge_groups.c - sums over the cells of a group. */
#include "judge_groups.h"

#include <stdio.h>
#include <string.h>

static int find(const struct judge_groups *g, const struct store_cell *c)
{
	for (int i = 0; i < g->n; i++)
		if (strcmp(g->of[i].group, c->group) == 0 && strcmp(g->of[i].direction, c->direction) == 0)
			return i;
	return -1;
}

void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t)
{
	int i = find(g, c);
	if (i < 0 && g->n < JUDGE_GROUPS_MAX) {
		i = g->n++;
		snprintf(g->of[i].group, sizeof(g->of[i].group), "%s", c->group);
		snprintf(g->of[i].direction, sizeof(g->of[i].direction), "%s", c->direction);
		g->of[i].tail = (struct tail){ .total = 0 };
	}
	if (i >= 0)
		tail_pool(&g->of[i].tail, &t->tail);
}

void judge_groups_of_result(const struct result *r, struct judge_groups *g)
{
	g->n = 0;
	for (int i = 0; i < r->plan.ask.n_cells; i++) {
		struct judge_timed t;
		struct store_cell c;
		judge_cell(r, i, &t, &c);
		judge_groups_add(g, &c, &t);
	}
}

void judge_groups_flag(const struct judge_groups *g, const struct judge_timed *t, struct store_cell *c)
{
	int i = find(g, c);
	if (i >= 0)
		judge_tail(t, &g->of[i].tail, c);
}
