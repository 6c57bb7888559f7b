/* bench.c - state of a comparison. */
#include "worker/internal.h"

#include <math.h>

int bench_init(struct bench *b, const struct cell *cells, int n_cells, struct fw_err *err)
{
	memset(b, 0, sizeof *b);
	b->base = b->target = -1;
	b->cells = cells;
	b->n_cells = n_cells;
	b->started_s = (double)clock_mono_ns() * 1e-9;
	b->cell = mem_alloc_zero((size_t)n_cells + 1, sizeof *b->cell);
	if (proc_sibling("flopwatch-runner", b->runner, sizeof b->runner, err) != 0 ||
		hash_file(b->runner, b->runner_sha, err) != 0) {
		bench_fini(b);
		return -1;
	}
	return 0;
}

void bench_fini(struct bench *b)
{
	int i, j;

	for (i = 0; i < b->n_sides; i++) {
		fd_close(&b->side[i].fd);
		kernelcode_free(b->side[i].code);
	}
	for (i = 0; b->cell && i < b->n_cells; i++)
		for (j = 0; j < STATS_RUNS_MAX; j++) {
			free(b->cell[i].run[j].values);
			free(b->cell[i].sustained_run[j].values);
		}
	free(b->cell);
	free(b->pin);
	memset(b, 0, sizeof *b);
}

int bench_add_side(
	struct bench *b, enum role role, const char *provider, const char *file, int fd, const char *sha256, struct fw_err *err)
{
	struct bench_side *s = &b->side[b->n_sides];

	if (b->n_sides == PROTOCOL_SIDES_MAX) {
		close(fd);
		return err_set(err, ERR_INVALID, "more than %d sides", PROTOCOL_SIDES_MAX);
	}
	*s = (struct bench_side){ .fd = fd };
	s->role = role;
	snprintf(s->provider, sizeof s->provider, "%s", provider);
	snprintf(s->sha256, sizeof s->sha256, "%s", sha256);
	snprintf(s->file, sizeof s->file, "%s", file);
	b->n_sides++;
	return 0;
}

static struct bench_pin *find_pin(const struct bench *b, int side, int cell)
{
	for (int i = 0; i < b->n_pins; i++)
		if (b->pin[i].side == side && b->pin[i].cell == cell)
			return &b->pin[i];
	return NULL;
}

static void set_pin(struct bench *b, int side, int cell, const char *config, bool is_request)
{
	struct bench_pin *p = find_pin(b, side, cell);

	if (!p) {
		b->pin = mem_grow(b->pin, (size_t)b->n_pins + 1, sizeof *b->pin);
		p = &b->pin[b->n_pins++];
	}
	*p = (struct bench_pin){ .side = side, .cell = cell, .is_request = is_request };
	snprintf(p->config, sizeof p->config, "%s", config);
}

void bench_request_config(struct bench *b, const char *config)
{
	struct bench_side *s = &b->side[b->n_sides - 1];

	snprintf(s->config, sizeof s->config, "%s", config);
	for (int i = 0; i < b->n_cells; i++) {
		const char *requested = s->config[0] ? s->config : b->cells[i].config;

		if (*requested)
			set_pin(b, b->n_sides - 1, i, requested, true);
	}
}

int bench_ready(struct bench *b, struct fw_err *err)
{
	int i;

	for (i = 0; i < b->n_sides; i++) {
		if (b->side[i].role == ROLE_BASE)
			b->base = i;
		else if (b->side[i].role == ROLE_TARGET)
			b->target = i;
	}
	if (b->base < 0 || b->target < 0)
		return err_set(err, ERR_INVALID, "a comparison needs a side \"base\" and a side \"target\"");
	for (i = 0; i < b->n_cells; i++) {
		b->cell[i].open = true;
		b->cell[i].found.typical.want_set = 1;
	}
	return 0;
}

bool bench_identical(const struct bench *b)
{
	const struct bench_side *base = &b->side[b->base], *target = &b->side[b->target];

	/* only a check shows whether the provider exists */
	return !b->selfcheck && strcmp(base->sha256, target->sha256) == 0 && !base->provider[0] && !target->provider[0] &&
	       !base->config[0] && !target->config[0];
}

void bench_pin(struct bench *b, int side, int cell, const char *config)
{
	set_pin(b, side, cell, config, false);
}

int bench_take_config(struct bench *b, int side, int cell, const char *config, bool is_searched, struct fw_err *err)
{
	struct bench_side *s = &b->side[side];
	const struct bench_pin *pin = find_pin(b, side, cell);
	bool is_request = pin && pin->is_request;
	char unfit[sizeof s->unfit] = "";

	if (is_request)
		config_unfit(pin->config, config, unfit, sizeof unfit);
	if (is_request || is_searched)
		bench_pin(b, side, cell, config);
	if (!unfit[0] || strcmp(unfit, s->unfit) == 0)
		return 0;
	snprintf(s->unfit, sizeof s->unfit, "%s", unfit);
	return bench_send_note(b, -1, s->role, err,
		"requested %.100s is ignored if the configuration has no such key, e.g. in %.120s, which runs %.100s", unfit,
		b->cells[cell].key, *config ? config : "without a configuration");
}

const char *bench_pinned(const struct bench *b, int side, int cell)
{
	const struct bench_pin *pin = find_pin(b, side, cell);

	return pin ? pin->config : "";
}

void bench_code(struct bench_side *s, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX])
{
	struct fw_err unread = { 0 };

	code_sha256[0] = '\0';
	if (symbol_sha256[0] && !s->code_read)
		(void)kernelcode_open(s->fd, &s->code, &unread); /* on failure the kernels' code is unknown */
	s->code_read = s->code_read || symbol_sha256[0];
	if (symbol_sha256[0] && s->code)
		(void)kernelcode_find(s->code, symbol_sha256, sm, code_sha256);
}

int bench_send(struct bench *b, const struct msg *m, struct fw_err *err)
{
	/* sustained runs of modules are a step of their own */
	if (m->t == MSG_CELL && (m->u.cell->series != SERIES_SUSTAINED || b->cells[m->u.cell->cell].decide == SERIES_PROCESS))
		b->calls_s += msg_cell_seconds(m->u.cell);
	return b->emit ? b->emit(b->emit_arg, m, err) : 0;
}

void bench_add_held_time(struct bench *b, enum device_step step, double seconds)
{
	b->gpu_s += seconds;
	b->step_s[step] += seconds;
}

void bench_steps(const struct bench *b, double *out)
{
	static const enum device_step timing[] = { DEVICE_STEP_BETWEEN, DEVICE_STEP_PROGRAM };

	memcpy(out, b->step_s, sizeof b->step_s);
	for (size_t i = 0; i < sizeof timing / sizeof *timing; i++) {
		double calls_s = fmin(b->calls_s - out[DEVICE_STEP_TIMED], out[timing[i]]);

		out[timing[i]] -= calls_s;
		out[DEVICE_STEP_TIMED] += calls_s;
	}
}

static int side_of(enum role role)
{
	if (role == ROLE_BASE)
		return BENCH_BASE;
	if (role == ROLE_TARGET)
		return BENCH_TARGET;
	return role == ROLE_DEVICE || role == ROLE_WORKER ? BENCH_OUTSIDE : -1;
}

void bench_note(struct bench *b, int cell, enum role role, const char *failure, const char *detail)
{
	int first = cell < 0 ? 0 : cell, last = cell < 0 ? b->n_cells - 1 : cell, side = side_of(role), i;

	/* the comparison continues without an additional side, whose missing cells do not affect other sides */
	for (i = 0; i < b->n_sides && side < 0; i++)
		if (b->side[i].role == role)
			b->side[i].dropped |= cell < 0 || strcmp(failure, "unsupported") != 0;
	for (i = first; i <= last && side >= 0; i++) {
		struct bench_failure *t = &b->cell[i].problem[side];

		b->cell[i].open = false;
		if (t->failure[0] || (cell < 0 && side == BENCH_OUTSIDE && b->cell[i].n_runs > 0))
			continue;
		t->role = role;
		snprintf(t->failure, sizeof t->failure, "%s", failure);
		snprintf(t->detail, sizeof t->detail, "%s", detail);
	}
}

int bench_fault(struct bench *b, int cell, enum role role, const char *failure, struct fw_err *err, const char *format, ...)
{
	struct msg m = { .t = MSG_FAULT, .u.fault = { .cell = cell, .role = role } };
	va_list args;

	va_start(args, format);
	vsnprintf(m.u.fault.detail, sizeof m.u.fault.detail, format, args);
	va_end(args);
	snprintf(m.u.fault.failure, sizeof m.u.fault.failure, "%s", failure);
	bench_note(b, cell, role, failure, m.u.fault.detail);
	return bench_send(b, &m, err);
}

int bench_send_note(struct bench *b, int cell, enum role role, struct fw_err *err, const char *format, ...)
{
	struct msg m = { .t = MSG_NOTE, .u.note = { .cell = cell, .role = role } };
	va_list args;

	va_start(args, format);
	vsnprintf(m.u.note.text, sizeof m.u.note.text, format, args);
	va_end(args);
	return bench_send(b, &m, err);
}

int bench_announce(struct bench *b, const int *list, int n, int set, uint64_t seed, struct fw_err *err)
{
	struct msg m = { .t = MSG_RUN, .u.run = mem_alloc(sizeof(struct msg_run)) };

	*m.u.run = (struct msg_run){ .run = b->runs, .set = set, .seed = seed, .n_cells = n };
	memcpy(m.u.run->cell, list, (size_t)n * sizeof *list);
	int result = bench_send(b, &m, err);

	msg_fini(&m);
	return result;
}

int bench_rotation(const struct bench *b)
{
	return 1 + (int)(inputs_mix(b->seed) / 64 % ORDER_ROTATIONS) + b->runs;
}

int bench_role(const struct msg_cell *m, enum role role)
{
	int i;

	for (i = 0; i < m->n_sides; i++)
		if (m->role[i] == role)
			return i;
	return -1;
}

bool bench_decides(const struct bench *b, const struct msg_cell *m)
{
	return m->series == b->cells[m->cell].decide;
}

int bench_store_run(struct bench_run *list, int *n_list, const struct msg_cell *m, struct fw_err *err)
{
	int base = bench_role(m, ROLE_BASE), target = bench_role(m, ROLE_TARGET);
	struct bench_run *l = *n_list ? &list[*n_list - 1] : NULL;
	size_t n = (size_t)(m->n < STATS_PAIRS_MAX ? m->n : STATS_PAIRS_MAX), bytes = n * sizeof(float);

	if (base < 0 || target < 0 || n == 0)
		return err_set(err, ERR_PROTOCOL, "the runner sent timings without both sides");
	if (!l || l->run != m->run) {
		if (*n_list == STATS_RUNS_MAX)
			return err_set(err, ERR_PROTOCOL, "more than %d runs of one cell", STATS_RUNS_MAX);
		l = &list[(*n_list)++];
	}
	free(l->values);
	*l = (struct bench_run){ .run = m->run, .set = m->set, .n = (int)n, .values = mem_alloc_zero(4 * n, sizeof(float)) };
	memcpy(l->values, m->ms[base], bytes);
	memcpy(l->values + n, m->ms[target], bytes);
	l->clocks = m->mhz[base] && m->mhz[target];
	if (l->clocks) {
		memcpy(l->values + 2 * n, m->mhz[base], bytes);
		memcpy(l->values + 3 * n, m->mhz[target], bytes);
	}
	return 0;
}

int bench_add(struct bench *b, const struct msg_cell *m, struct fw_err *err)
{
	struct bench_cell *c = &b->cell[m->cell];
	char why[DEVICE_CHECK_WHY_SIZE];

	if (bench_role(m, ROLE_BASE) < 0 || bench_role(m, ROLE_TARGET) < 0)
		return err_set(err, ERR_PROTOCOL, "the runner sent timings without both sides");
	if (device_check_discards(&m->device_check, why)) {
		c->discarded++;
		c->voided++;
		return 0;
	}
	return bench_store_run(c->run, &c->n_runs, m, err) != 0 ? -1 : 1;
}

static struct run_pairs pairs_of(const struct bench_run *l)
{
	const float *v = l->values;
	size_t n = (size_t)l->n;

	return (struct run_pairs){ .set = l->set,
		.n = l->n,
		.base_ms = v,
		.target_ms = v + n,
		.base_mhz = l->clocks ? v + 2 * n : NULL,
		.target_mhz = l->clocks ? v + 3 * n : NULL };
}

static void take_runs(const struct bench_run *list, int n, struct cell_runs *out)
{
	out->n = n;
	out->beta = 0;
	for (int i = 0; i < n; i++)
		out->pairs[i] = pairs_of(&list[i]);
}

void bench_judge(struct bench *b, int cell)
{
	const struct cell *of = &b->cells[cell];
	struct bench_cell *c = &b->cell[cell];
	struct cell_runs pairs, sustained_runs;
	struct verdict_options options = { .threshold_pct = of->threshold_pct,
		.tau0 = of->tau0,
		.nu0 = of->nu0,
		.underpowered_pct = of->underpowered_pct,
		.sparse = case_is_irregular(of),
		.is_over = b->over };

	take_runs(c->run, c->n_runs, &pairs);
	take_runs(c->sustained_run, c->n_sustained_runs, &sustained_runs);
	(void)cell_judge(&b->rule, &options, &pairs, &sustained_runs, &c->found); /* cannot fail, since all samples are present */
	c->judged = c->judged || c->n_runs > 0;
}

static void judge_all(struct bench *b, bool is_over)
{
	b->over = is_over;
	for (int i = 0; i < b->n_cells; i++)
		if (b->cell[i].judged)
			bench_judge(b, i);
}

void bench_end(struct bench *b)
{
	judge_all(b, true);
}

void bench_continue(struct bench *b)
{
	judge_all(b, false);
}

bool bench_is_timed(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];
	bool has_failed = false;

	for (int i = 0; i < BENCH_ORIGINS; i++)
		has_failed = has_failed || c->problem[i].failure[0];
	return c->open || (c->judged && !has_failed && c->discarded >= DEVICE_CHECK_DISCARDED_MAX);
}

bool bench_is_hopeless(const struct bench *b, int cell, double *se)
{
	const struct bench_cell *c = &b->cell[cell];
	struct cell_runs l;

	*se = 0;
	if (!c->open || c->found.typical.want_set != 1)
		return false;
	take_runs(c->run, c->n_runs, &l);
	(void)cell_estimate(&b->rule, &l);

	struct rule rule = memory_rule(&b->rule, b->cells[cell].tau0, b->cells[cell].nu0, l.estimate, l.n);

	return stats_is_hopeless(&rule, stats_theta(b->cells[cell].threshold_pct), l.estimate, l.n, se);
}

/* Return whether one side may do more work than the other: a row of a benchmark program, or a cell of two providers. */
static bool may_differ(const struct bench *b, int cell)
{
	return b->cells[cell].decide == SERIES_PROCESS || strcmp(b->side[b->base].provider, b->side[b->target].provider) != 0;
}

static enum verdict obstacle(const struct bench *b, int cell, enum cell_cause *cause)
{
	const struct bench_cell *c = &b->cell[cell];
	const char *base = c->check_inputs[BENCH_BASE], *target = c->check_inputs[BENCH_TARGET];
	struct cell_failure t = { .base = c->problem[BENCH_BASE].failure,
		.target = c->problem[BENCH_TARGET].failure,
		.outside = c->problem[BENCH_OUTSIDE].failure,
		.is_itself = b->selfcheck,
		.may_be_absent = may_differ(b, cell),
		.target_does = c->target_passed || b->cells[cell].decide == SERIES_PROCESS,
		.other_inputs = base[0] && target[0] && strcmp(base, target) != 0 };

	return cell_obstacle(&t, cause);
}

const struct bench_failure *bench_failure(const struct bench *b, int cell)
{
	const struct bench_failure *problem = b->cell[cell].problem;
	enum cell_cause cause;

	(void)obstacle(b, cell, &cause);
	if (cause == CELL_ABSENT)
		return &problem[problem[BENCH_BASE].failure[0] ? BENCH_BASE : BENCH_TARGET];
	if (cause == CELL_TARGET)
		return &problem[BENCH_TARGET];
	if (cause == CELL_BASE)
		return &problem[BENCH_BASE];
	return cause == CELL_OUTSIDE ? &problem[BENCH_OUTSIDE] : NULL;
}

enum verdict bench_verdict(const struct bench *b, int cell)
{
	enum cell_cause cause;
	enum verdict v = obstacle(b, cell, &cause);
	struct cell_verdict decision;

	if (bench_identical(b))
		return VERDICT_IDENTICAL;
	if (cause != CELL_CLEAR)
		return v;
	if (!b->cell[cell].judged)
		return cell_unmeasured(b->cell[cell].voided);
	bench_decide(b, cell, &decision);
	return decision.verdict;
}

static bool same_kernel(const struct cell *a, const struct cell *b)
{
	return a->direction == b->direction && strcmp(a->group, b->group) == 0;
}

void bench_decide(const struct bench *b, int cell, struct cell_verdict *out)
{
	const struct bench_cell *c = &b->cell[cell];
	struct tail group[MEAN_SETS] = { { .calls = 0 }, { .calls = 0 } };
	int i, k;

	for (i = 0; i < b->n_cells; i++)
		for (k = 0; k < MEAN_SETS && same_kernel(&b->cells[i], &b->cells[cell]); k++)
			tail_pool(&group[k], &b->cell[i].found.tail[k]);
	cell_decide(&b->rule, b->cells[cell].threshold_pct, &c->found, group, out);
}

double bench_median_ms(const struct bench *b, int cell, bool target)
{
	const struct bench_cell *c = &b->cell[cell];
	float all[STATS_RUNS_MAX * STATS_PAIRS_MAX];
	int n = 0, i, j;

	for (i = 0; i < c->n_runs; i++)
		for (j = 0; j < c->run[i].n; j++)
			all[n++] = c->run[i].values[j + (target ? c->run[i].n : 0)];
	return stats_median(all, n);
}
