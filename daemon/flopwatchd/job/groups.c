/* groups.c - sums over the cells of a group. */
#include "flopwatchd/job/job.h"

#include <stdio.h>

static int find_group(const struct judge_groups *g, const struct store_cell *c)
{
	for (int i = 0; i < g->n; i++)
		if (strcmp(g->of[i].group, c->group) == 0 && strcmp(g->of[i].direction, c->direction) == 0 &&
			g->of[i].device == c->device)
			return i;
	return -1;
}

void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t)
{
	int i = find_group(g, c);
	if (i < 0 && g->n < JUDGE_GROUPS_MAX) {
		i = g->n++;
		snprintf(g->of[i].group, sizeof g->of[i].group, "%s", c->group);
		snprintf(g->of[i].direction, sizeof g->of[i].direction, "%s", c->direction);
		g->of[i].device = c->device;
		memset(g->of[i].tail, 0, sizeof g->of[i].tail);
	}
	for (int set = 0; i >= 0 && set < MEAN_SETS; set++)
		tail_pool(&g->of[i].tail[set], &t->found.tail[set]);
}

void judge_groups_of_result(const struct result *r, struct judge_groups *g)
{
	g->n = 0;
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		struct judge_timed t;
		struct store_cell c;
		judge_cell(r, i, &t, &c);
		judge_groups_add(g, &c, &t);
	}
}

void judge_groups_mean(const struct judge_groups *g, const struct rule *rule, const struct judge_timed *t, struct store_cell *c)
{
	int i = find_group(g, c);
	judge_mean(rule, t, i >= 0 ? g->of[i].tail : t->found.tail, c);
}

int judge_groups_unconfirmed(const struct result *r, int *cell)
{
	struct judge_groups groups;
	int n = 0;
	judge_groups_of_result(r, &groups);
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		struct judge_timed t;
		struct store_cell c;
		struct cell_verdict v;
		memset(&t, 0, sizeof t);
		judge_cell(r, i, &t, &c);
		if (c.runs == 0)
			continue;
		int group = find_group(&groups, &c);
		cell_decide(
			&r->plan.request.rule, c.threshold_pct, &t.found, group >= 0 ? groups.of[group].tail : t.found.tail, &v);
		if (t.found.typical.want_set == 2 || t.found.sustained.want_set == 2 || v.mean.want_set == 2)
			cell[n++] = i;
	}
	return n;
}
