#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdlib.h>

static int last_run(const struct result *r)
{
	int last = -1;
	for (int i = 0; i < r->n_runs; i++)
		last = r->run[i]->run > last ? r->run[i]->run : last;
	return last;
}

/* Free the rest of the message: a record that it replaced, or the record itself after an error. */
static int add_message(struct result *whole, struct msg *m, struct fw_err *err)
{
	int result = result_add(whole, m, err);
	msg_fini(m);
	return result;
}

static int join_timings(struct result *whole, struct result *partition, const int *cell, int after, int set, struct fw_err *err)
{
	for (int i = 0; i < partition->n_runs; i++) {
		struct msg m = { .t = MSG_RUN, .u.run = partition->run[i] };
		partition->run[i] = NULL;
		m.u.run->run += after;
		m.u.run->set = set ? set : m.u.run->set;
		for (int k = 0; k < m.u.run->n_cells; k++)
			m.u.run->cell[k] = cell[m.u.run->cell[k]];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	while (partition->n_cells > 0) {
		struct msg m = { .t = MSG_CELL, .u.cell = partition->cell[0] };
		memmove(partition->cell, partition->cell + 1, (size_t)--partition->n_cells * sizeof *partition->cell);
		m.u.cell->run += after;
		m.u.cell->set = set ? set : m.u.cell->set;
		m.u.cell->cell = cell[m.u.cell->cell];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	return 0;
}

static int join_facts(struct result *whole, struct result *partition, const int *cell, struct fw_err *err)
{
	for (int i = 0; i < partition->n_checks; i++) {
		struct msg m = { .t = MSG_CHECK, .u.check = partition->check[i] };
		m.u.check.cell = cell[m.u.check.cell];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	for (int i = 0; i < partition->n_works; i++) {
		struct msg m = { .t = MSG_WORK, .u.work = partition->work[i] };
		partition->work[i].tried = (struct tried){ 0 };
		m.u.work.cell = cell[m.u.work.cell];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	for (int i = 0; i < partition->n_nodes; i++) {
		struct msg m = { .t = MSG_NODE, .u.node = partition->node[i] };
		m.u.node.cell = cell[m.u.node.cell];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	for (int i = 0; i < partition->n_notes; i++) {
		struct msg m = { .t = MSG_NOTE, .u.note = partition->note[i] };
		m.u.note.cell = m.u.note.cell < 0 ? -1 : cell[m.u.note.cell];
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	return 0;
}

static bool is_timed(const struct result *r, int cell)
{
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == cell && r->cell[i]->series == r->plan.request.cell[cell].decide)
			return true;
	return false;
}

/* A fault of the whole partition applies to its cells. A fault of its device voids no existing times, as in an unsplit result. */
static int join_faults(struct result *whole, struct result *partition, const int *cell, int n, struct fw_err *err)
{
	for (int i = 0; i < partition->n_faults; i++) {
		int at = partition->fault[i].cell, from = at < 0 ? 0 : at, to = at < 0 ? n : at + 1;
		bool is_outer = at < 0 && (partition->fault[i].role == ROLE_DEVICE || partition->fault[i].role == ROLE_WORKER);
		for (int k = from; k < to; k++) {
			if (is_outer && is_timed(whole, cell[k]))
				continue;
			struct msg m = { .t = MSG_FAULT, .u.fault = partition->fault[i] };
			m.u.fault.cell = cell[k];
			if (add_message(whole, &m, err) != 0)
				return -1;
		}
	}
	return 0;
}

/* Each partition requested the same builds; if they differ, the failed one counts. */
static int join_builds(struct result *whole, struct result *partition, struct fw_err *err)
{
	for (int i = 0; i < partition->plan.request.n_sides; i++) {
		struct msg m = { .t = MSG_BUILD, .u.build = partition->build[i] };
		if (partition->build[i].role == ROLE_NONE ||
			(whole->build[i].role != ROLE_NONE && strcmp(partition->build[i].state, "failed") != 0))
			continue;
		memset(&partition->build[i], 0, sizeof partition->build[i]);
		if (add_message(whole, &m, err) != 0)
			return -1;
	}
	return 0;
}

int result_join(struct result *whole, struct result *partition, const int *cell, int n, int set, struct fw_err *err)
{
	int after = whole->n_runs && partition->n_runs ? last_run(whole) + 1 - partition->run[0]->run : 0;
	if (join_builds(whole, partition, err) != 0 || join_facts(whole, partition, cell, err) != 0 ||
		join_timings(whole, partition, cell, after, set, err) != 0 || join_faults(whole, partition, cell, n, err) != 0)
		return -1;
	whole->done.gpu_s += partition->done.gpu_s;
	for (int i = 0; i < DEVICE_STEPS; i++)
		whole->done.step_s[i] += partition->done.step_s[i];
	if (!whole->started_at || partition->started_at < whole->started_at)
		whole->started_at = partition->started_at;
	whole->ended_at = partition->ended_at > whole->ended_at ? partition->ended_at : whole->ended_at;
	whole->done.wall_s =
		fmax(fmax(whole->done.wall_s, partition->done.wall_s), (double)(whole->ended_at - whole->started_at) / 1e3);
	return 0;
}

static bool contains(int cell, const int *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] == cell)
			return true;
	return false;
}

static bool has_records(const struct result *r, int run)
{
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->run == run)
			return true;
	return false;
}

static void drop_empty_runs(struct result *r, const int *cell, int n)
{
	int n_left = 0;
	for (int i = 0; i < r->n_runs; i++) {
		struct msg_run *l = r->run[i];
		int left = 0;
		for (int k = 0; k < l->n_cells; k++)
			if (!contains(l->cell[k], cell, n))
				l->cell[left++] = l->cell[k];
		l->n_cells = left;
		if (has_records(r, l->run))
			r->run[n_left++] = l;
		else
			free(l);
	}
	r->n_runs = n_left;
}

void result_forget(struct result *r, const int *cell, int n)
{
	int n_left = 0;
	for (int i = 0; i < r->n_cells; i++) {
		struct msg m = { .t = MSG_CELL, .u.cell = r->cell[i] };
		if (contains(r->cell[i]->cell, cell, n))
			msg_fini(&m);
		else
			r->cell[n_left++] = r->cell[i];
	}
	r->n_cells = n_left;
	n_left = 0;
	for (int i = 0; i < r->n_notes; i++)
		if (!contains(r->note[i].cell, cell, n))
			r->note[n_left++] = r->note[i];
	r->n_notes = n_left;
	drop_empty_runs(r, cell, n);
}
