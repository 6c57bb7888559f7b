/* audit.c - audit runs: go and done messages of the runner, and the faults that follow. */
#include "worker/internal.h"

#include <math.h>
#include <sys/socket.h>

/* ---- audit_confirms: Medians of slopes and their standard errors. ---- */

enum { SLOPES_MAX = AUDIT_TRIES * AUDIT_PAIRS };

struct middle {
	double at, se;
};

static double median(const double *v, int n)
{
	float f[SLOPES_MAX] = { 0 };
	int i;

	for (i = 0; i < n; i++)
		f[i] = (float)v[i];
	return (double)stats_median(f, n);
}

/*
 * The standard error of a median is 1.25 times that of the mean; the standard deviation is 1.48 median absolute deviations.
 * Both hold for normal slopes.
 */
static struct middle middle_of(const double *v, int n)
{
	struct middle m = { .at = median(v, n) };
	double separate[SLOPES_MAX];
	int i;

	for (i = 0; i < n; i++)
		separate[i] = fabs(v[i] - m.at);
	m.se = 1.2533 * 1.4826 * median(separate, n) / sqrt(n);
	return m;
}

/* Return why an audit is unusable; NULL: it is complete. */
static const char *flaw(const struct audit *a)
{
	int side, i;

	for (side = 0; side < 2; side++) {
		if (a->n[side] != 2 * AUDIT_PAIRS)
			return "the supervisor's clock could not measure it again";
		for (i = 0; i < AUDIT_PAIRS; i++)
			if (a->batch[side][i][0].calls == a->batch[side][i][1].calls)
				return "all of its batches for the supervisor's clock had one size";
	}
	return NULL;
}

void audit_pool_add(struct audit_pool *pool, const struct audit *a)
{
	int side, i;

	if (flaw(a) || pool->n + AUDIT_PAIRS > SLOPES_MAX)
		return;
	for (side = 0; side < 2; side++) {
		for (i = 0; i < AUDIT_PAIRS; i++) {
			const struct audit_batch *one = &a->batch[side][i][0], *other = &a->batch[side][i][1];
			int calls = other->calls - one->calls;

			pool->wall[side][pool->n + i] = (other->wall_ms - one->wall_ms) / calls;
			pool->device[side][pool->n + i] = (other->device_ms - one->device_ms) / calls;
		}
	}
	pool->n += AUDIT_PAIRS;
}

static double host_overhead(double base_wall_ms, const struct audit_claim *claim)
{
	return fmin(fmax(base_wall_ms - claim->base_ms, 0), AUDIT_OVERHEAD_MS);
}

/* Return the gain by the supervisor's clock if a call of the target may take up to `slack_ms` less. */
static double get_gain(const double wall_ms[2], double slack_ms, const struct audit_claim *claim)
{
	double extra = host_overhead(wall_ms[0], claim), target = wall_ms[1] - extra - slack_ms;

	return target > 0 ? log((wall_ms[0] - extra) / target) : INFINITY;
}

bool audit_confirms(const struct audit *a, const struct audit_claim *claim, char *why, size_t size)
{
	struct audit_pool slopes = { .n = 0 };
	const char *none = flaw(a);
	double wall[2], device;
	int side;

	if (none) {
		snprintf(why, size, "%s", none);
		return false;
	}
	audit_pool_add(&slopes, a);
	for (side = 0; side < 2; side++) {
		wall[side] = median(slopes.wall[side], slopes.n);
		device = median(slopes.device[side], slopes.n);
		if (wall[side] > 0 && device >= AUDIT_CLOCK_SHARE * wall[side] - AUDIT_SLACK_MS)
			continue;
		snprintf(why, size,
			"the runner's clock counted %.4g ms for a call of the %s that took %.4g ms by the supervisor's clock",
			device, side ? "target" : "base", wall[side]);
		return false;
	}
	double seen = get_gain(wall, 0, claim);
	if (seen >= AUDIT_GAIN_SHARE * claim->gain)
		return true;
	snprintf(why, size, "the runner reported %.3g times the base's speed; the supervisor's clock measured %.3g times",
		exp(claim->gain), exp(seen));
	return false;
}

/* Return whether the device's clock counts less than its required share of the worker's time. */
static bool is_slow_clock(const double *wall, const double *device, int n)
{
	double missing[SLOPES_MAX];
	struct middle m;
	int i;

	for (i = 0; i < n; i++)
		missing[i] = AUDIT_CLOCK_SHARE * wall[i] - AUDIT_SLACK_MS - device[i];
	m = middle_of(missing, n);
	return m.at > AUDIT_ERRORS * m.se;
}

bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim)
{
	struct middle wall[2];
	double ms[2];
	int side;

	if (pool->n == 0)
		return true;
	for (side = 0; side < 2; side++) {
		if (is_slow_clock(pool->wall[side], pool->device[side], pool->n))
			return true;
		wall[side] = middle_of(pool->wall[side], pool->n);
		if (!(wall[side].at > 0))
			return false;
		ms[side] = wall[side].at;
	}
	double extra = host_overhead(ms[0], claim);
	double error = hypot(wall[0].se / (ms[0] - extra), wall[1].se / fmax(ms[1] - extra, AUDIT_SLACK_MS));

	return get_gain(ms, AUDIT_SLACK_MS, claim) + AUDIT_ERRORS * error < AUDIT_GAIN_SHARE * claim->gain;
}

/* ---- audit ---- */

struct auditor {
	struct bench *bench;
	struct audit *audit; /* batches of this process. Shape: audit[n_cells of the bench], pool and suspicion as well */
	struct audit_pool *pool;
	struct msg_fault *suspicion; /* failures of unknown cause. Shape: suspicion[n_cells]; failure "": none */
	int go;                      /* descriptor of the go messages */
	int64_t went_ns;             /* start of the current batch; 0: none */
};

static int send_go(struct auditor *x, struct fw_err *err)
{
	x->went_ns = clock_mono_ns();
	return write(x->go, "g", 1) == 1 ? 0 : err_sys(err, "the runner's go");
}

static int take_batch(struct auditor *x, const struct msg_audit *m, struct fw_err *err)
{
	int64_t now = clock_mono_ns();
	struct audit *a = &x->audit[m->cell];
	int side = m->role == ROLE_TARGET, at = a->n[side];

	if (m->done != (x->went_ns != 0) || at >= 2 * AUDIT_PAIRS)
		return err_set(err, ERR_PROTOCOL, "the runner sent an unexpected batch");
	if (!m->done)
		return send_go(x, err);
	a->batch[side][at / 2][at % 2] =
		(struct audit_batch){ .calls = m->calls, .wall_ms = (double)(now - x->went_ns) * 1e-6, .device_ms = m->ms };
	a->n[side]++;
	x->went_ns = 0;
	return 0;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct auditor *x = arg;

	if (m->t == MSG_AUDIT)
		return take_batch(x, &m->u.audit, err);
	if (m->t == MSG_FAULT && m->u.fault.cell >= 0 && run_suspects(&m->u.fault)) {
		x->suspicion[m->u.fault.cell] = m->u.fault; /* sent later, with the side that caused it */
		return 0;
	}
	if (m->t == MSG_FAULT)
		bench_note(x->bench, m->u.fault.cell, m->u.fault.role, m->u.fault.failure, m->u.fault.detail);
	if (m->t == MSG_NOTE)
		return 0; /* earlier runs sent these records */
	return m->t == MSG_FAULT || m->t == MSG_AT ? bench_send(x->bench, m, err)
						   : err_set(err, ERR_PROTOCOL, "the runner sent timings in an audit");
}

/* Audit the listed cells in one process. `how` receives its end. */
static int try_cells(struct auditor *x, const int *list, int n, int attempt, struct runner_end *how, struct fw_err *err)
{
	struct bench *b = x->bench;
	struct runner_task task = { .mode = TASK_AUDIT,
		.seed = inputs_mix(b->seed ^ inputs_mix((uint64_t)attempt + 1)),
		.n_sides = 2,
		.side = { b->base, b->target },
		.n_cells = n,
		.cell = list,
		.deadline_s = b->limits.run_s,
		.takes_kills = true,
		.record = take_record,
		.arg = x };
	int ends[2], result, i;

	for (i = 0; i < n; i++) {
		x->audit[list[i]] = (struct audit){ 0 };
		x->suspicion[list[i]] = (struct msg_fault){ 0 };
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) <
		0) /* a socket: branch code cannot open it by name to send go */
		return err_sys(err, "socketpair");
	task.go_fd = ends[0];
	x->go = ends[1];
	x->went_ns = 0;
	result = runner_child_run(b, &task, how, err);
	close(ends[0]);
	close(ends[1]);
	return result;
}

/* Find the side that caused each failure of the ended process. 0, -1. */
static int blame_suspicions(struct auditor *x, const int *list, int n, struct fw_err *err)
{
	for (int i = 0; i < n; i++) {
		const struct msg_fault *f = &x->suspicion[list[i]];

		if (f->failure[0] && !x->bench->lost && run_blame(x->bench, f, false, err) != 0)
			return -1;
	}
	return 0;
}

/* Handle a process that ended in the base's call, also by exit, or was killed outside any call. 0, -1. */
static int blame_end(struct auditor *x, struct runner_end *end, struct fw_err *err)
{
	struct bench *b = x->bench;
	bool accuses = end->role == ROLE_BASE || (end->killed && end->role != ROLE_TARGET);

	if (!accuses || end->cell < 0 || !bench_is_timed(b, end->cell) || b->lost || x->suspicion[end->cell].failure[0])
		return 0;
	if (!end->failure[0] && x->audit[end->cell].n[0] + x->audit[end->cell].n[1] == 4 * AUDIT_PAIRS)
		return 0;
	runner_end_early(end);
	return run_blame_end(b, end->cell, end, err);
}

static bool is_suspicious(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return bench_is_timed(b, cell) && c->judged && c->found.typical.verdict == VERDICT_IMPROVEMENT &&
	       stats_change_pct(c->found.typical.all.m) >= AUDIT_CHANGE_PCT;
}

static struct audit_claim claim(const struct bench *b, int cell)
{
	return (struct audit_claim){ .gain = -b->cell[cell].found.typical.all.m, .base_ms = bench_median_ms(b, cell, false) };
}

/* Reduce the list to the cells with an unconfirmed gain; `why` [n] receives the reasons. Returns their number. */
static int select_doubtful(struct auditor *x, int *list, int n, char (*why)[256])
{
	struct bench *b = x->bench;
	int left = 0, i;

	for (i = 0; i < n; i++) {
		int cell = list[i];

		struct audit_claim claimed = claim(b, cell);

		audit_pool_add(&x->pool[cell], &x->audit[cell]);
		if (is_suspicious(b, cell) && !audit_confirms(&x->audit[cell], &claimed, why[left], sizeof why[left]))
			list[left++] = cell;
	}
	return left;
}

/* Run the listed cells again: if the machine's state has changed, the gain shrinks in these runs. Returns -1 on error. */
static int run_again(struct bench *b, const int *list, int n, struct fw_err *err)
{
	struct run_order o = { .n = n, .set = b->set_begun[2] ? 2 : 1, .cell = list };
	char why[512];
	int i;

	for (i = 0; i < n; i++)
		if (b->cell[list[i]].n_runs == STATS_RUNS_MAX)
			return 0;
	return measure_one_run(b, &o, why, sizeof why, err) < 0 ? -1 : 0;
}

/* Return whether the last run has no such gain, or one that the audit confirms: then the machine's state has changed. */
static bool has_changed(const struct auditor *x, int cell)
{
	const struct bench_cell *c = &x->bench->cell[cell];
	const struct bench_run *last = &c->run[c->n_runs - 1];
	double base_ms = (double)stats_median(last->values, last->n);
	struct audit_claim claimed = { .gain = log(base_ms / (double)stats_median(last->values + last->n, last->n)),
		.base_ms = base_ms };
	char why[256];

	return stats_change_pct(-claimed.gain) < AUDIT_CHANGE_PCT || audit_confirms(&x->audit[cell], &claimed, why, sizeof why);
}

/* Report an unconfirmed gain as the target's fault unless another cause is possible. 0, -1. */
static int report_doubt(const struct auditor *x, int cell, const char *doubt, struct fw_err *err)
{
	struct audit_claim claimed = claim(x->bench, cell);
	const char *failure = "unsure", *excuse;

	if (x->bench->lost) {
		failure = "device";
		excuse = "the device failed before the audits were complete";
	} else if (has_changed(x, cell)) {
		excuse = "the last run agrees with that clock: the state of the machine has changed";
	} else if (!audit_contradicts(&x->pool[cell], &claimed)) {
		excuse = "all audits together do not prove this: the machine is too busy, or the call too short";
	} else {
		return bench_fault(x->bench, cell, ROLE_TARGET, "clock", err, "%.400s", doubt);
	}
	return bench_fault(x->bench, cell, ROLE_DEVICE, failure, err, "%.400s; %s", doubt, excuse);
}

static int audit_cells(struct auditor *x, int *list, int n, char (*why)[256], struct fw_err *err)
{
	struct runner_end how = { .cell = -1 };
	char text[512];
	int attempt, i;

	for (attempt = 0; attempt < AUDIT_TRIES && n > 0 && !x->bench->lost; attempt++) {
		if (attempt > 0 && run_again(x->bench, list, n, err) != 0)
			return -1;
		if (x->bench->lost)
			break;
		if (try_cells(x, list, n, attempt, &how, err) != 0 || blame_suspicions(x, list, n, err) != 0 ||
			blame_end(x, &how, err) != 0)
			return -1;
		n = select_doubtful(x, list, n, why);
	}
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s%s%.200s", why[i], how.failure[0] ? ": " : "", how.failure[0] ? how.detail : "");
		if (report_doubt(x, list[i], text, err) != 0)
			return -1;
	}
	return 0;
}

int audit_run(struct bench *b, struct fw_err *err)
{
	struct auditor x = { .bench = b };
	int *list = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *list), n = 0, result = 0, i;
	char(*why)[256] = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *why);

	x.audit = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *x.audit);
	x.pool = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *x.pool);
	x.suspicion = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *x.suspicion);
	if (b->device.kind != DEVICE_SIM) {
		for (i = 0; i < b->n_cells; i++)
			if (is_suspicious(b, i))
				list[n++] = i;
		result = audit_cells(&x, list, n, why, err);
	}
	free(x.audit);
	free(x.pool);
	free(x.suspicion);
	free(why);
	free(list);
	return result;
}
