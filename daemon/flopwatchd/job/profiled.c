#include "flopwatchd/job/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- profile_request ---- */

void profile_request_like(const struct store_profile_of *of, struct store_job *job)
{
	job->repo = of->repo;
	snprintf(job->base_sha, sizeof job->base_sha, "%s", of->base_sha);
	snprintf(job->target_sha, sizeof job->target_sha, "%s", of->target_sha);
	snprintf(job->suite, sizeof job->suite, "%s", of->suite);
	snprintf(job->base_provider, sizeof job->base_provider, "%s", of->base_provider);
	snprintf(job->target_provider, sizeof job->target_provider, "%s", of->target_provider);
	snprintf(job->base_config, sizeof job->base_config, "%s", of->base_config);
	snprintf(job->target_config, sizeof job->target_config, "%s", of->target_config);
	job->base_tools = of->base_tools;
	job->target_tools = of->target_tools;
	snprintf(job->device_uuid, sizeof job->device_uuid, "%s", of->device_uuid);
}

int profile_request(
	struct db *db, struct store_job *job, struct store_profile *p, const char *line, int64_t now_ms, struct fw_err *err)
{
	job->kind = JOBKIND_PROFILE;
	job->priority = strcmp(job->origin, "alert") == 0 ? PROFILE_PRIORITY_ALERT : PROFILE_PRIORITY;
	job->branch[0] = 0; /* not in a branch's history: no newer tip supersedes it */
	job->plan = 0;
	snprintf(job->base_how, sizeof job->base_how, "given");
	if (store_job_insert(db, job, now_ms, err) != 0)
		return -1;
	p->job = job->id;
	return store_profile_insert(db, p, err) != 0 || store_job_log(db, job->id, now_ms, line, err) != 0 ||
			       store_job_report(db, job, "job.queued", JOBSTATE_QUEUED, NULL, now_ms, err) != 0
		       ? -1
		       : 0;
}

/* ---- profile_cells ---- */

void profile_cells_add(struct profile_cells *c, const char *key, const char *group, const char *direction, double slowdown)
{
	int at = 0;
	if (!isfinite(slowdown))
		slowdown = -HUGE_VAL;
	while (at < c->n && (strcmp(c->cell[at].group, group) != 0 || strcmp(c->cell[at].direction, direction) != 0))
		at++;
	if (at == PROFILE_CELLS_GROUPS_MAX || (at < c->n && c->cell[at].slowdown >= slowdown))
		return;
	if (at == c->n)
		c->n++;
	snprintf(c->cell[at].key, sizeof c->cell[at].key, "%s", key);
	snprintf(c->cell[at].group, sizeof c->cell[at].group, "%s", group);
	snprintf(c->cell[at].direction, sizeof c->cell[at].direction, "%s", direction);
	c->cell[at].slowdown = slowdown;
}

void profile_cells_choose(struct profile_cells *c, int most)
{
	for (int i = 1; i < c->n; i++) /* insertion sort of a few cells; equal slowdowns stay in the order of the suite */
		for (int k = i; k > 0 && c->cell[k].slowdown > c->cell[k - 1].slowdown; k--) {
			struct profile_cell less = c->cell[k - 1];
			c->cell[k - 1] = c->cell[k];
			c->cell[k] = less;
		}
	if (c->n > most)
		c->n = most;
}

void profile_cells_text(const struct profile_cells *c, char *text, size_t size)
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

/* ---- profiled ---- */

/* Reserve memory for one more item. */
static void *grow(void **list, int n, size_t size)
{
	if ((n & (n - 1)) == 0) /* full at every power of two */
		*list = mem_grow(*list, n ? (size_t)n * 2 : 1, size);
	return (char *)*list + (size_t)n * size;
}

const struct msg_profile *profiled_end(const struct profiled *p, int cell)
{
	for (int i = 0; i < p->n_ends; i++)
		if (p->end[i].cell == cell)
			return &p->end[i];
	return NULL;
}

const struct msg_counterfactual *profiled_with(const struct profiled *p, int cell)
{
	for (int i = 0; i < p->n_with; i++)
		if (p->with[i].cell == cell)
			return &p->with[i];
	return NULL;
}

static int check_cell(const struct profiled *p, int cell, int n_cells, const char *what, struct fw_err *err)
{
	if (cell < 0 || cell >= n_cells || cell >= EVIDENCE_SUITE_MAX)
		return err_set(err, ERR_PROTOCOL, "%s names cell %d of %d", what, cell, n_cells);
	if (profiled_end(p, cell))
		return err_set(err, ERR_PROTOCOL, "%s names cell %d, whose profile has ended", what, cell);
	return 0;
}

static int add_kernel(struct profiled *p, struct msg_kernel *k, bool is_suite, struct fw_err *err)
{
	int kernels_max = is_suite ? PROFILED_SUITE_KERNELS_MAX : PROFILED_KERNELS_MAX,
	    values_max = is_suite ? PROFILED_SUITE_VALUES_MAX : PROFILED_VALUES_MAX;
	for (int i = p->n_kernels - 1; i >= 0; i--) {
		const struct msg_kernel *o = &p->kernel[i];
		if (o->cell == k->cell && o->role == k->role && o->repeat == k->repeat && o->n == k->n)
			return err_set(err, ERR_PROTOCOL, "kernel %d of process %d of %s was sent twice for cell %d", k->n,
				k->repeat, role_name(k->role), k->cell);
	}
	if (p->n_kernels == kernels_max || p->n_values + k->n_values > values_max)
		return err_set(err, ERR_FULL, "the worker sent more than %d kernels or %d values", kernels_max, values_max);
	struct msg_kernel *mine = grow((void **)&p->kernel, p->n_kernels, sizeof *mine);
	*mine = *k;
	p->n_kernels++;
	p->n_values += k->n_values;
	k->value = NULL;
	k->n_values = 0;
	return 0;
}

static int add_code(struct profiled *p, struct msg *m, bool is_suite, struct fw_err *err)
{
	int codes_max = is_suite ? PROFILED_SUITE_CODES_MAX : PROFILED_CODES_MAX;
	if (p->n_codes == codes_max)
		return err_set(err, ERR_FULL, "the worker sent more than %d functions", codes_max);
	struct msg_code **mine = grow((void **)&p->code, p->n_codes, sizeof *mine);
	*mine = m->u.code;
	p->n_codes++;
	m->u.code = NULL;
	return 0;
}

static int add_with(struct profiled *p, const struct msg_counterfactual *w, struct fw_err *err)
{
	if (profiled_with(p, w->cell))
		return err_set(err, ERR_PROTOCOL, "counterfactual was sent twice for cell %d", w->cell);
	struct msg_counterfactual *mine = grow((void **)&p->with, p->n_with, sizeof *mine);
	*mine = *w;
	p->n_with++;
	return 0;
}

static void add_end(struct profiled *p, struct msg_profile *m)
{
	struct msg_profile *mine = grow((void **)&p->end, p->n_ends, sizeof *mine);
	*mine = *m;
	m->base_tried = m->target_tried = (struct tried){ 0 };
	p->n_ends++;
}

int profiled_add(struct profiled *p, struct msg *m, int n_cells, struct fw_err *err)
{
	bool is_suite = n_cells > EVIDENCE_CELLS_MAX;
	switch (m->t) {
	case MSG_KERNEL:
		return check_cell(p, m->u.kernel.cell, n_cells, "kernel", err) ? -1 : add_kernel(p, &m->u.kernel, is_suite, err);
	case MSG_CODE:
		return check_cell(p, m->u.code->cell, n_cells, "code", err) ? -1 : add_code(p, m, is_suite, err);
	case MSG_COUNTERFACTUAL:
		return check_cell(p, m->u.counterfactual.cell, n_cells, "counterfactual", err)
			       ? -1
			       : add_with(p, &m->u.counterfactual, err);
	case MSG_PROFILE:
		if (check_cell(p, m->u.profile.cell, n_cells, "profile", err) != 0)
			return -1;
		add_end(p, &m->u.profile);
		return 0;
	default:
		return 0;
	}
}

void profiled_fini(struct profiled *p)
{
	for (int i = 0; i < p->n_kernels; i++)
		free(p->kernel[i].value);
	for (int i = 0; i < p->n_codes; i++)
		free(p->code[i]);
	for (int i = 0; i < p->n_ends; i++) {
		tried_fini(&p->end[i].base_tried);
		tried_fini(&p->end[i].target_tried);
	}
	free(p->kernel);
	free(p->code);
	free(p->with);
	free(p->end);
	memset(p, 0, sizeof *p);
}
