#include "flopwatchd/record/internal.h"

#include <math.h>

/* ---- profile_times ---- */

#define HALF_WIDTH 1.96 /* of an interval, in standard errors */

/* A side's kernels: ms of a call, and the difference between two processes. */
struct kernel_times {
	double ms, separate_ms; /* 0 0: a kernel has no time */
};

/* Take the deciding values of sustained runs or slow calls, else the pairs, and the clock's share of them. */
static void use_verdict(struct cause_evidence *e, const struct store_cell *c)
{
	double m = isfinite(c->m) ? c->m : log(c->target_median_ms / c->base_median_ms), se = c->se;
	e->base_ms = c->base_median_ms;
	if (c->decider == DECIDER_SUSTAINED_RUNS && isfinite(c->decided_m)) {
		e->clock_ms = e->base_ms * (exp(c->decided_m) - exp(m));
		m = c->decided_m;
		se = c->decided_se;
	} else if ((c->flags & FLAG_CLOCK) && isfinite(c->m_code)) {
		e->clock_ms = e->base_ms * (exp(m) - exp(c->m_code));
	}
	e->target_ms = e->base_ms * exp(m);
	e->noise_ms = isfinite(se) ? HALF_WIDTH * se * e->base_ms : 0;
}

static struct kernel_times kernel_times(const struct cause_evidence *e, bool of_target)
{
	double sum[CAUSE_REPEATS] = { 0 };
	bool seen[CAUSE_REPEATS] = { false };
	for (size_t i = 0; i < e->n_kernels; i++) {
		const struct cause_kernel *k = &e->kernel[i];
		if (k->of_target != of_target)
			continue;
		if (k->ms < 0)
			return (struct kernel_times){ 0 };
		sum[k->repeat] += k->ms;
		seen[k->repeat] = true;
	}
	int processes = seen[0] + seen[1];
	return (struct kernel_times){ .ms = processes ? (sum[0] + sum[1]) / processes : 0,
		.separate_ms = processes == 2 ? fabs(sum[0] - sum[1]) : 0 };
}

static bool is_timed(const struct store_cell *c)
{
	return c && isfinite(c->base_median_ms) && isfinite(c->target_median_ms) && c->base_median_ms > 0 &&
	       c->target_median_ms > 0;
}

void profile_times(const struct store_cell *timed, struct cause_evidence *e)
{
	struct kernel_times base = kernel_times(e, false), target = kernel_times(e, true);
	if (!is_timed(timed)) {
		e->base_ms = base.ms;
		e->target_ms = target.ms;
		return;
	}
	use_verdict(e, timed);
	if (timed->series != SERIES_CALL || !(base.ms > 0) || !(target.ms > 0))
		return;
	double host_ms = e->target_ms - e->base_ms - (target.ms - base.ms);
	e->host_ms = fabs(host_ms) > base.separate_ms + target.separate_ms ? host_ms : 0;
}

/* ---- profile_causes ---- */

struct evidence_buffers {
	struct cause_kernel *kernel;
	struct cause_value *value;
	struct cause_code *code;
	struct cause_opcode *opcode;
	struct cause_diagnostic diagnostic[DIAGNOSTICS_MAX];
};

static void free_buffers(struct evidence_buffers *g)
{
	free(g->kernel);
	free(g->value);
	free(g->code);
	free(g->opcode);
}

static struct cause_takes make_takes(const struct evidence_takes *t)
{
	return (struct cause_takes){ .registers = t->registers,
		.local_bytes = t->local_bytes,
		.shared_bytes = t->shared_bytes,
		.ctas_per_sm = t->ctas_per_sm };
}

static void add_kernel(struct cause_evidence *e, struct evidence_buffers *g, size_t *n_values, const struct msg_kernel *k)
{
	struct cause_kernel *to = &g->kernel[e->n_kernels++];
	*to = (struct cause_kernel){ .of_target = k->role == ROLE_TARGET,
		.repeat = k->repeat,
		.n = k->n,
		.phase = k->phase,
		.name = k->kernel,
		.code = k->code_sha256,
		.ms = k->ms,
		.registers = k->registers,
		.local_bytes = k->local_bytes,
		.shared_bytes = k->shared_bytes,
		.ctas_per_sm = k->ctas_per_sm,
		.n_values = (size_t)k->n_values,
		.value = &g->value[*n_values] };
	memcpy(to->grid, k->grid, sizeof to->grid);
	memcpy(to->block, k->block, sizeof to->block);
	for (int i = 0; i < k->n_values; i++)
		g->value[(*n_values)++] = (struct cause_value){ .metric = k->value[i].metric, .value = k->value[i].value };
}

static void add_code(struct cause_evidence *e, struct evidence_buffers *g, const struct msg_code *c)
{
	struct cause_opcode *opcode = &g->opcode[e->n_codes * EVIDENCE_OPCODES_MAX];
	for (int i = 0; i < c->n_opcodes; i++)
		opcode[i] = (struct cause_opcode){
			.opcode = c->opcode[i].opcode, .base = c->opcode[i].base, .target = c->opcode[i].target
		};
	g->code[e->n_codes++] = (struct cause_code){ .base = c->base,
		.target = c->target,
		.what = evidence_code_names[c->what],
		.n_opcodes = (size_t)c->n_opcodes,
		.opcode = opcode,
		.base_takes = make_takes(&c->base_takes),
		.target_takes = make_takes(&c->target_takes) };
}

/** Own: free_buffers. */
static void collect_evidence(const struct profiled *p, int cell, struct cause_evidence *e, struct evidence_buffers *g)
{
	size_t n_values = 0;
	g->kernel = mem_alloc_zero((size_t)p->n_kernels + 1, sizeof *g->kernel);
	g->value = mem_alloc_zero((size_t)p->n_values + 1, sizeof *g->value);
	g->code = mem_alloc_zero((size_t)p->n_codes + 1, sizeof *g->code);
	g->opcode = mem_alloc_zero((size_t)(p->n_codes + 1) * EVIDENCE_OPCODES_MAX, sizeof *g->opcode);
	for (int i = 0; i < p->n_kernels; i++)
		if (p->kernel[i].cell == cell)
			add_kernel(e, g, &n_values, &p->kernel[i]);
	for (int i = 0; i < p->n_codes; i++)
		if (p->code[i]->cell == cell)
			add_code(e, g, p->code[i]);
	e->kernel = g->kernel;
	e->code = g->code;
}

static void add_diagnostics(struct cause_evidence *e, struct evidence_buffers *g, const struct diagnostics *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct ptxas_change *c = &changes->change[i];
		g->diagnostic[e->n_diagnostics++] =
			(struct cause_diagnostic){ .is_worse = c->how == PTXAS_NEW || c->how == PTXAS_MORE,
				.is_serial = c->kind == PTXAS_SERIAL,
				.is_spill = c->kind == PTXAS_SPILLS,
				.code = c->code,
				.kernel = c->kernel,
				.what = c->what };
	}
	e->diagnostic = g->diagnostic;
}

static int put_cause(struct db *db, const struct cause *cause, int rank, int64_t row, struct fw_err *err)
{
	const struct store_profile_cause c = { .rank = rank,
		.code = cause_kind_names[cause->kind],
		.kernel = cause->kernel,
		.confidence = cause_confidence_names[cause->confidence],
		.sentence = cause->sentence,
		.explained_ms = cause->explained_ms,
		.of_ms = cause->of_ms };
	return store_profile_cause_put(db, row, &c, err);
}

int profile_causes(struct db *db, const struct result *r, int i, const struct store_cell *timed,
	const struct diagnostics *changes, int64_t row, struct fw_err *err)
{
	const struct msg_profile *end = profiled_end(&r->profiled, i);
	const struct msg_counterfactual *with = profiled_with(&r->profiled, i);
	struct evidence_buffers g = { .kernel = NULL };
	struct cause causes[CAUSE_MAX];
	struct cause_evidence e = { .is_counted = end->path == EVIDENCE_RANGE || end->path == EVIDENCE_NCU,
		.base_config = end->base_config,
		.target_config = end->target_config,
		.device = { .sms = r->device.cores, .mhz = r->device.clock_max_mhz, .dram_gb_s = r->device.peak_gb_s } };
	collect_evidence(&r->profiled, i, &e, &g);
	add_diagnostics(&e, &g, changes);
	if (with) {
		e.with_base_ms = with->base_ms;
		e.with_target_ms = with->target_ms;
		e.with_ms = with->with_ms;
	}
	profile_times(timed, &e);
	int result = 0;
	size_t n = e.base_ms > 0 && e.target_ms > 0 ? cause_rank(&e, causes, CAUSE_MAX) : 0;
	for (size_t k = 0; k < n && result == 0; k++)
		result = put_cause(db, &causes[k], (int)k, row, err);
	free_buffers(&g);
	return result;
}
