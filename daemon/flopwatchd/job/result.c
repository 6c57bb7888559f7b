/* result.c - results of a job from its worker's messages; every number is checked against the request. */
#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIST_MAX = 1 << 20 };

struct result *result_new(struct plan *plan)
{
	struct result *r = mem_alloc_zero(1, sizeof *r);
	r->plan = *plan;
	plan_init(plan);
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	for (int i = 0; i < PROTOCOL_SIDES_MAX; i++)
		buf_fini(&r->build[i].log);
	for (int i = 0; i < r->n_runs; i++)
		free(r->run[i]);
	for (int i = 0; i < r->n_cells; i++) {
		struct msg m = { .t = MSG_CELL, .u.cell = r->cell[i] };
		msg_fini(&m);
	}
	for (int i = 0; i < r->n_works; i++)
		tried_fini(&r->work[i].tried);
	for (int i = 0; i < r->n_kernels; i++)
		reported_kernels_fini(&r->kernels[i].list);
	free(r->kernels);
	free(r->check);
	free(r->work);
	free(r->node);
	free(r->run);
	free(r->cell);
	free(r->fault);
	free(r->note);
	free(r->cell_device);
	free(r->confirmed_on);
	profiled_fini(&r->profiled);
	plan_fini(&r->plan);
	free(r);
}

int result_side(const struct result *r, enum role role)
{
	for (int i = 0; i < r->plan.request.n_sides; i++)
		if (r->plan.request.side[i].role == role)
			return i;
	return -1;
}

const struct msg_check *result_check(const struct result *r, enum role role, int cell)
{
	for (int i = 0; i < r->n_checks; i++)
		if (r->check[i].cell == cell && r->check[i].role == role)
			return &r->check[i];
	return NULL;
}

const struct msg_work *result_work(const struct result *r, enum role role, int cell)
{
	for (int i = 0; i < r->n_works; i++)
		if (r->work[i].cell == cell && r->work[i].role == role)
			return &r->work[i];
	return NULL;
}

double result_launches(const struct result *r, enum role role, int cell)
{
	int n = 0;
	for (int i = 0; i < r->n_nodes; i++)
		n += r->node[i].cell == cell && r->node[i].role == role;
	return n ? n : NAN;
}

bool result_launches_equal(const struct result *r, int cell)
{
	const struct msg_work *base = result_work(r, ROLE_BASE, cell), *target = result_work(r, ROLE_TARGET, cell);
	char of_base[HASH_HEX] = "", of_target[HASH_HEX] = "";

	if (!base || !target || strcmp(base->config, target->config) != 0)
		return false;
	for (int i = 0; i < r->n_nodes; i++)
		if (r->node[i].cell == cell && (r->node[i].role == ROLE_BASE || r->node[i].role == ROLE_TARGET))
			launches_add(r->node[i].role == ROLE_BASE ? of_base : of_target, &r->node[i]);
	return launches_equal(of_base, of_target);
}

const struct msg_reported_kernels *result_kernels(const struct result *r, enum role role, int cell)
{
	for (int i = 0; i < r->n_kernels; i++)
		if (r->kernels[i].cell == cell && r->kernels[i].role == role)
			return &r->kernels[i];
	return NULL;
}

const struct msg_fault *result_fault(const struct result *r, enum role role, int cell)
{
	for (int i = 0; i < r->n_faults; i++)
		if ((r->fault[i].cell == cell || r->fault[i].cell < 0) && r->fault[i].role == role)
			return &r->fault[i];
	return NULL;
}

/* Reserve memory for one more item of `size` bytes; NULL with err. */
static void *grow(struct result *r, void **list, int *n, size_t size, size_t extra, struct fw_err *err)
{
	if (r->bytes + size + extra > RESULT_BYTES_MAX || *n >= LIST_MAX) {
		err_set(err, ERR_FULL, "the worker sent more than %u MiB of results", RESULT_BYTES_MAX >> 20);
		return NULL;
	}
	if ((*n & (*n - 1)) == 0) { /* full at every power of two */
		void *bigger = realloc(*list, (*n ? (size_t)*n * 2 : 1) * size);
		if (!bigger) {
			err_set(err, ERR_INTERNAL, "out of memory for results");
			return NULL;
		}
		*list = bigger;
	}
	r->bytes += size + extra;
	return (char *)*list + (size_t)(*n)++ * size;
}

static int check_cell(const struct result *r, int cell, bool none_allowed, const char *what, struct fw_err *err)
{
	if (cell >= 0 ? cell < r->plan.request.n_cells : none_allowed)
		return 0;
	return err_set(err, ERR_PROTOCOL, "%s names cell %d of %d", what, cell, r->plan.request.n_cells);
}

static int check_role(const struct result *r, enum role role, const char *what, struct fw_err *err)
{
	if (result_side(r, role) >= 0)
		return 0;
	return err_set(err, ERR_PROTOCOL, "%s names the role `%s`, which the job does not have", what, role_name(role));
}

static struct msg_run *find_run(const struct result *r, int number)
{
	for (int i = r->n_runs - 1; i >= 0; i--)
		if (r->run[i]->run == number)
			return r->run[i];
	return NULL;
}

static int add_build(struct result *r, struct msg_build *b, struct fw_err *err)
{
	if (check_role(r, b->role, "build", err) != 0)
		return -1;
	struct msg_build *mine = &r->build[result_side(r, b->role)];
	if (r->bytes + b->log.len > RESULT_BYTES_MAX)
		return err_set(err, ERR_FULL, "the worker sent more than %u MiB of results", RESULT_BYTES_MAX >> 20);
	r->bytes += b->log.len;
	buf_fini(&mine->log);
	*mine = *b;
	memset(&b->log, 0, sizeof b->log);
	return 0;
}

static int add_check(struct result *r, const struct msg_check *c, struct fw_err *err)
{
	if (check_role(r, c->role, "check", err) != 0 || check_cell(r, c->cell, false, "check", err) != 0)
		return -1;
	for (int i = 0; i < r->n_checks; i++)
		if (r->check[i].cell == c->cell && r->check[i].role == c->role) {
			r->check[i] = *c;
			return 0;
		}
	struct msg_check *mine = grow(r, (void **)&r->check, &r->n_checks, sizeof *c, 0, err);
	if (mine)
		*mine = *c;
	return mine ? 0 : -1;
}

/* A module that is queried again sends its nodes again. */
static void drop_nodes(struct result *r, enum role role, int cell)
{
	int n_left = 0;
	for (int i = 0; i < r->n_nodes; i++)
		if (r->node[i].cell != cell || r->node[i].role != role)
			r->node[n_left++] = r->node[i];
	r->n_nodes = n_left;
}

static int add_work(struct result *r, struct msg_work *w, struct fw_err *err)
{
	if (check_role(r, w->role, "work", err) != 0 || check_cell(r, w->cell, false, "work", err) != 0)
		return -1;
	for (int i = 0; i < r->n_works; i++)
		if (r->work[i].cell == w->cell && r->work[i].role == w->role) {
			tried_fini(&r->work[i].tried);
			r->work[i] = *w;
			w->tried = (struct tried){ 0 };
			drop_nodes(r, w->role, w->cell);
			return 0;
		}
	struct msg_work *mine =
		grow(r, (void **)&r->work, &r->n_works, sizeof *w, (size_t)w->tried.n * sizeof *w->tried.config, err);
	if (!mine)
		return -1;
	*mine = *w;
	w->tried = (struct tried){ 0 };
	return 0;
}

static int add_node(struct result *r, const struct msg_node *n, struct fw_err *err)
{
	if (check_role(r, n->role, "node", err) != 0 || check_cell(r, n->cell, false, "node", err) != 0)
		return -1;
	struct msg_node *mine = grow(r, (void **)&r->node, &r->n_nodes, sizeof *n, 0, err);
	if (mine)
		*mine = *n;
	return mine ? 0 : -1;
}

static int add_run(struct result *r, struct msg *m, struct fw_err *err)
{
	struct msg_run *l = m->u.run;
	if (find_run(r, l->run))
		return err_set(err, ERR_PROTOCOL, "run %d was sent twice", l->run);
	for (int i = 0; i < l->n_cells; i++)
		if (check_cell(r, l->cell[i], false, "run", err) != 0)
			return -1;
	struct msg_run **mine = grow(r, (void **)&r->run, &r->n_runs, sizeof *mine, sizeof *l, err);
	if (!mine)
		return -1;
	*mine = l;
	m->u.run = NULL;
	return 0;
}

static size_t cell_bytes(const struct msg_cell *c)
{
	size_t arrays = 0;
	for (int s = 0; s < c->n_sides; s++)
		arrays += 1u + (c->mhz[s] != NULL) + (c->host_us[s] != NULL);
	return sizeof *c + arrays * (size_t)c->n * sizeof(float);
}

static int add_cell(struct result *r, struct msg *m, struct fw_err *err)
{
	struct msg_cell *c = m->u.cell;
	if (check_cell(r, c->cell, false, "cell", err) != 0)
		return -1;
	if (!find_run(r, c->run))
		return err_set(err, ERR_PROTOCOL, "cell names run %d, which has not begun", c->run);
	for (int s = 0; s < c->n_sides; s++)
		if (check_role(r, c->role[s], "cell", err) != 0)
			return -1;
	for (int i = r->n_cells - 1; i >= 0; i--) {
		struct msg_cell *old = r->cell[i];
		if (old->run != c->run || old->cell != c->cell || old->series != c->series || strcmp(old->phase, c->phase) != 0)
			continue;
		if (c->redo <= old->redo)
			return err_set(err, ERR_PROTOCOL, "cell %d of run %d was sent twice", c->cell, c->run);
		r->cell[i] = c;
		m->u.cell = old; /* freed with the message */
		return 0;
	}
	struct msg_cell **mine = grow(r, (void **)&r->cell, &r->n_cells, sizeof *mine, cell_bytes(c), err);
	if (!mine)
		return -1;
	*mine = c;
	m->u.cell = NULL;
	return 0;
}

static int add_fault(struct result *r, const struct msg_fault *f, struct fw_err *err)
{
	bool is_side = result_side(r, f->role) >= 0;
	if (!is_side && f->role != ROLE_WORKER && f->role != ROLE_DEVICE)
		return check_role(r, f->role, "fault", err);
	if (check_cell(r, f->cell, true, "fault", err) != 0)
		return -1;
	struct msg_fault *mine = grow(r, (void **)&r->fault, &r->n_faults, sizeof *f, 0, err);
	if (mine)
		*mine = *f;
	return mine ? 0 : -1;
}

static int add_found(struct result *r, const struct msg_found *f, struct fw_err *err)
{
	struct msg_job *request = &r->plan.request;
	if (!plan_is_benchmark(&r->plan) || request->n_cells > 0)
		return err_set(err, ERR_PROTOCOL, "found names cells for a job that has cells already");
	struct cell *cells = mem_alloc_zero((size_t)f->n + 1, sizeof *cells);
	for (int i = 0; i < f->n; i++)
		benchmark_cell(&request->side[0].benchmark, f->cell[i].key, f->cell[i].flops, &cells[i]);
	free(request->cell);
	request->cell = cells;
	request->n_cells = f->n;
	request->rule.k = rule_k(f->n);
	return 0;
}

int result_name_cell(struct result *r, struct fw_err *err)
{
	struct msg_found one = { .n = 1 };
	if (!plan_is_benchmark(&r->plan) || r->plan.request.n_cells > 0)
		return 0;
	snprintf(one.cell[0].key, sizeof one.cell[0].key, "%s", r->plan.request.side[0].benchmark.name);
	r->is_named = true;
	return add_found(r, &one, err);
}

bool result_rows_unknown(const struct result *r)
{
	if (!plan_is_benchmark(&r->plan))
		return false; /* its suite names the cells */
	return r->is_named || (r->n_runs == 0 && result_fault(r, ROLE_TARGET, -1));
}

bool result_names_provider(const struct result *r)
{
	for (int i = 0; i < r->plan.request.n_sides; i++)
		if (r->plan.request.side[i].provider[0])
			return true;
	return false;
}

int result_unrun(struct result *r, struct fw_err *err)
{
	if (!r->plan.dropped)
		snprintf(r->identical_by, sizeof r->identical_by, "tree");
	return result_name_cell(r, err);
}

static int add_kernels(struct result *r, struct msg_reported_kernels *k, struct fw_err *err)
{
	if (check_role(r, k->role, "reported_kernels", err) != 0 || check_cell(r, k->cell, false, "reported_kernels", err) != 0)
		return -1;
	if (result_kernels(r, k->role, k->cell))
		return err_set(err, ERR_PROTOCOL, "the kernels of cell %d were sent twice", k->cell);
	struct msg_reported_kernels *mine =
		grow(r, (void **)&r->kernels, &r->n_kernels, sizeof *k, (size_t)k->list.n * sizeof *k->list.kernel, err);
	if (!mine)
		return -1;
	*mine = *k;
	k->list = (struct reported_kernels){ 0 };
	return 0;
}

static int add_same(struct result *r, const struct msg_same *same, struct fw_err *err)
{
	if (!plan_is_benchmark(&r->plan) || r->n_runs > 0)
		return err_set(err, ERR_PROTOCOL, "same was sent for a job that is not of a program, or was measured");
	snprintf(r->same_why, sizeof r->same_why, "%s", same->why);
	return 0;
}

static int add_note(struct result *r, const struct msg_note *n, struct fw_err *err)
{
	if (check_cell(r, n->cell, true, "note", err) != 0)
		return -1;
	if (r->n_notes == RESULT_NOTES_MAX)
		return 0;
	struct msg_note *mine = grow(r, (void **)&r->note, &r->n_notes, sizeof *n, 0, err);
	if (mine)
		*mine = *n;
	return mine ? 0 : -1;
}

static int add_profiled(struct result *r, struct msg *m, struct fw_err *err)
{
	if (r->plan.request.kind != JOBKIND_PROFILE)
		return err_set(err, ERR_PROTOCOL, "%s was sent for a job that is not a profile", protocol_name(m->t));
	return profiled_add(&r->profiled, m, r->plan.request.n_cells, err);
}

int result_add(struct result *r, struct msg *m, struct fw_err *err)
{
	switch (m->t) {
	case MSG_KERNEL:
	case MSG_CODE:
	case MSG_COUNTERFACTUAL:
	case MSG_PROFILE:
		return add_profiled(r, m, err);
	case MSG_BUILD:
		return add_build(r, &m->u.build, err);
	case MSG_CHECK:
		return add_check(r, &m->u.check, err);
	case MSG_WORK:
		return add_work(r, &m->u.work, err);
	case MSG_NODE:
		return add_node(r, &m->u.node, err);
	case MSG_REPORTED_KERNELS:
		return add_kernels(r, &m->u.reported_kernels, err);
	case MSG_SAME:
		return add_same(r, &m->u.same, err);
	case MSG_FOUND:
		return add_found(r, m->u.found, err);
	case MSG_RUN:
		return add_run(r, m, err);
	case MSG_CELL:
		return add_cell(r, m, err);
	case MSG_FAULT:
		return add_fault(r, &m->u.fault, err);
	case MSG_NOTE:
		return add_note(r, &m->u.note, err);
	case MSG_DONE:
		r->done = m->u.done;
		return 0;
	default:
		return 0;
	}
}

void result_end(struct result *r)
{
	int base = result_side(r, ROLE_BASE), target = result_side(r, ROLE_TARGET);
	(void)result_name_cell(r, NULL); /* without memory for one cell the judge fails next */
	if (base < 0 || target < 0 || r->identical_by[0] || jobkind_is_itself(r->plan.request.kind))
		return;
	const char *a = r->build[base].module_sha256, *b = r->build[target].module_sha256;
	if (a[0] && !plan_is_named(&r->plan) && !strcmp(a, b))
		snprintf(r->identical_by, sizeof r->identical_by, "module");
	else if (a[0] && b[0] && r->same_why[0])
		snprintf(r->identical_by, sizeof r->identical_by, "comment");
}

int64_t result_device(const struct result *r, const struct msg_cell *m)
{
	if (m->set == 2 && r->confirmed_on && r->confirmed_on[m->cell])
		return r->confirmed_on[m->cell];
	return r->cell_device ? r->cell_device[m->cell] : 0;
}

bool result_same_code(const struct msg_node *a, const struct msg_node *b)
{
	return !a->code_sha256[0] || !b->code_sha256[0] || strcmp(a->code_sha256, b->code_sha256) == 0;
}
