#include "flopwatchd/job/job.h"

#include <stdlib.h>

/* Make space for one more item; NULL with err. */
static void *grow(void **list, int n, size_t size, struct fw_err *err)
{
	if ((n & (n - 1)) == 0) { /* full at every power of two */
		void *bigger = realloc(*list, (n ? (size_t)n * 2 : 1) * size);
		if (!bigger) {
			err_set(err, ERR_INTERNAL, "out of memory for a profile");
			return NULL;
		}
		*list = bigger;
	}
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
	struct msg_kernel *mine = grow((void **)&p->kernel, p->n_kernels, sizeof *mine, err);
	if (!mine)
		return -1;
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
	struct msg_code **mine = grow((void **)&p->code, p->n_codes, sizeof *mine, err);
	if (!mine)
		return -1;
	*mine = m->u.code;
	p->n_codes++;
	m->u.code = NULL;
	return 0;
}

static int add_with(struct profiled *p, const struct msg_counterfactual *w, struct fw_err *err)
{
	if (profiled_with(p, w->cell))
		return err_set(err, ERR_PROTOCOL, "counterfactual was sent twice for cell %d", w->cell);
	struct msg_counterfactual *mine = grow((void **)&p->with, p->n_with, sizeof *mine, err);
	if (!mine)
		return -1;
	*mine = *w;
	p->n_with++;
	return 0;
}

static int add_end(struct profiled *p, struct msg_profile *m, struct fw_err *err)
{
	struct msg_profile *mine = grow((void **)&p->end, p->n_ends, sizeof *mine, err);
	if (!mine)
		return -1;
	*mine = *m;
	m->base_tried = m->target_tried = (struct tried){ 0 };
	p->n_ends++;
	return 0;
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
		return check_cell(p, m->u.profile.cell, n_cells, "profile", err) ? -1 : add_end(p, &m->u.profile, err);
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
