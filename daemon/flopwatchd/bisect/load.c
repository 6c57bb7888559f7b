/* load.c - conversion of stored comparisons to a bisect_search. */
#include "flopwatchd/bisect/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "stats/stats.h"

bool bisect_add_cell(char *cells, const char *key)
{
	size_t at = strlen(cells), len = strlen(key);
	if (at + len + 2 > STORE_JOB_CELLS_SIZE)
		return false;
	snprintf(cells + at, STORE_JOB_CELLS_SIZE - at, "%s%s", at ? " " : "", key);
	return true;
}

/** `cells`: keys separated by spaces. */
static bool has_cell(const char *cells, const char *key)
{
	size_t len = strlen(key);
	for (const char *at = strstr(cells, key); at; at = strstr(at + 1, key))
		if ((at == cells || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static struct bisect_track *find_track(struct bisect_search *s, const char *key)
{
	for (int k = 0; k < s->n_tracks; k++)
		if (strcmp(s->track[k].key, key) == 0)
			return &s->track[k];
	return NULL;
}

static void make_tracks(struct bisect_search *s, const char *cells)
{
	while (*cells && s->n_tracks < BISECT_CELLS_MAX) {
		size_t len = strcspn(cells, " ");
		struct bisect_track *t = &s->track[s->n_tracks++];
		snprintf(t->key, sizeof t->key, "%.*s", (int)len, cells);
		t->point[0].state = BISECT_KNOWN;
		t->threshold = 1;
		cells += len + strspn(cells + len, " ");
	}
}

static void add_point(void *arg, const struct store_bisect_point *p)
{
	struct bisect_search *s = arg;
	struct bisect_track *t = find_track(s, p->key);
	if (!t || p->target_n > s->n)
		return;
	if (!s->certain)
		t->threshold = stats_theta(p->threshold_pct);
	bisect_direct_put(t, p->base_n, p->target_n, p->verdict, p->m, p->se, p->comparison);
	if (p->base_n)
		return;
	struct bisect_point *point = &t->point[p->target_n];
	if (s->certain)
		*point = bisect_failed_point(p->verdict);
	/* One failure, by heat for instance, is worth a job of the search; note_ended_job settles the point. */
	else if (!bisect_timed_point(point, p->verdict, p->m, p->se) && point->state == BISECT_UNKNOWN &&
		 p->verdict != VERDICT_REJECTED)
		point->state = BISECT_SKIPPED;
}

static void note_ended_job(void *arg, int base_n, int target_n, const char *cells)
{
	struct bisect_search *s = arg;
	for (int k = 0; k < s->n_tracks; k++)
		if (has_cell(cells, s->track[k].key) && target_n <= s->n)
			bisect_job_ended(&s->track[k], base_n, target_n);
}

int bisect_load(struct db *db, const struct store_bisect *b, struct bisect_search **out, struct fw_err *err)
{
	struct bisect_search *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ERR_INTERNAL, "out of memory for a bisect");
	s->certain = strcmp(b->goal, "failing") == 0;
	make_tracks(s, b->cells);
	if (store_bisect_last(db, b->id, &s->n, err) || store_bisect_points(db, b, add_point, s, err) ||
		store_bisect_ended_jobs(db, b->id, note_ended_job, s, err)) {
		free(s);
		return -1;
	}
	*out = s;
	return 0;
}

struct goal {
	enum verdict wanted, worst;
	int n;
	char *cells;
};

static void note_goal_cell(void *arg, const struct store_bisect_point *p)
{
	struct goal *g = arg;
	g->worst = verdict_worse(g->worst, p->verdict);
	if (p->verdict == g->wanted && g->n < BISECT_CELLS_MAX && bisect_add_cell(g->cells, p->key))
		g->n++;
}

int bisect_load_goal(struct db *db, struct store_bisect *b, struct fw_err *err)
{
	static const struct {
		enum verdict verdict;
		enum alertkind goal;
	} goals[] = { { VERDICT_REGRESSION, ALERTKIND_REGRESSION }, { VERDICT_FAILED, ALERTKIND_FAILING } };
	b->goal[0] = 0;
	for (int i = 0; i < 2 && !b->goal[0]; i++) {
		struct goal g = { .wanted = goals[i].verdict, .worst = VERDICT_NONE, .cells = b->cells };
		b->cells[0] = 0;
		if (store_bisect_cells(db, b->comparison, note_goal_cell, &g, err))
			return -1;
		snprintf(b->verdict, sizeof b->verdict, "%s", verdict_name(g.worst));
		if (g.n)
			snprintf(b->goal, sizeof b->goal, "%s", alertkind_name(goals[i].goal));
	}
	return 0;
}
