/* audit.c - audit runs: go and done messages of the runner, and the faults that follow. */
#include "worker/internal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/lib.h"
#include "model/model.h"

struct auditor {
	struct bench *bench;
	struct audit *audit; /* batches of this process. Shape: audit[n_cells of the bench], pool and suspicion as well */
	struct audit_pool *pool;
	struct msg_fault *suspicion; /* failures whose cause is still to be found. Shape: suspicion[n_cells]; failure "": none */
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
		return err_set(err, ERR_PROTOCOL, "the runner sent a batch out of turn");
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
		x->suspicion[m->u.fault.cell] = m->u.fault; /* sent once the side that caused it is known */
		return 0;
	}
	if (m->t == MSG_FAULT)
		bench_note(x->bench, m->u.fault.cell, m->u.fault.role, m->u.fault.failure, m->u.fault.detail);
	if (m->t == MSG_NOTE)
		return 0; /* runs sent these records */
	return m->t == MSG_FAULT || m->t == MSG_AT ? bench_send(x->bench, m, err)
						   : err_set(err, ERR_PROTOCOL, "the runner sent timings in an audit");
}

/* Audit the listed cells in one process. `how` receives its end. */
static int try_cells(struct auditor *x, const int *list, int n, int attempt, struct runner_end *how, struct fw_err *err)
{
	struct bench *b = x->bench;
	struct runner_task task = { .mode = RUN_AUDIT,
		.seed = inputs_mix(b->seed ^ inputs_mix((uint64_t)attempt + 1)),
		.n_subjects = 2,
		.subject = { b->base, b->target },
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
		0) /* a socket: branch code cannot open it by name and send go */
		return err_sys(err, "socketpair");
	task.go_fd = ends[0];
	x->go = ends[1];
	x->went_ns = 0;
	result = runner_child_run(b, &task, how, err);
	close(ends[0]);
	close(ends[1]);
	return result;
}

/* Find the side behind each failure of the process that ended. Returns 0, or -1 on error. */
static int blame_suspicions(struct auditor *x, const int *list, int n, struct fw_err *err)
{
	for (int i = 0; i < n; i++) {
		const struct msg_fault *f = &x->suspicion[list[i]];

		if (f->failure[0] && !x->bench->lost && run_blame(x->bench, f, false, err) != 0)
			return -1;
	}
	return 0;
}

/* A process that ended in the base's call, by exit too, or was killed outside any call. Returns 0, or -1 on error. */
static int blame_end(struct auditor *x, struct runner_end *end, struct fw_err *err)
{
	struct bench *b = x->bench;
	bool accuses = end->role == ROLE_BASE || (end->killed && end->role != ROLE_TARGET);

	if (!accuses || end->cell < 0 || !b->cell[end->cell].open || b->lost || x->suspicion[end->cell].failure[0])
		return 0;
	if (!end->failure[0] && x->audit[end->cell].n[0] + x->audit[end->cell].n[1] == 4 * AUDIT_PAIRS)
		return 0;
	runner_end_early(end);
	return run_blame_end(b, end->cell, end, err);
}

static bool too_good(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return c->open && c->judged && c->found.typical.verdict == VERDICT_IMPROVEMENT &&
	       stats_change_pct(c->found.typical.all.m) >= AUDIT_CHANGE_PCT;
}

static struct audit_claim claim(const struct bench *b, int cell)
{
	return (struct audit_claim){ .gain = -b->cell[cell].found.typical.all.m, .base_ms = bench_median_ms(b, cell, false) };
}

/* Reduce the list to the cells that are still in doubt, with the reason in `why` [n]. */
static int keep_doubtful(struct auditor *x, int *list, int n, char (*why)[256])
{
	struct bench *b = x->bench;
	int left = 0, i;

	for (i = 0; i < n; i++) {
		int cell = list[i];

		struct audit_claim claimed = claim(b, cell);

		audit_pool_add(&x->pool[cell], &x->audit[cell]);
		if (too_good(b, cell) && !audit_believes(&x->audit[cell], &claimed, why[left], sizeof why[left]))
			list[left++] = cell;
	}
	return left;
}

/* Run the listed cells again: a machine that changed shows in these runs, and the gain shrinks. Returns -1 on error. */
static int run_again(struct bench *b, const int *list, int n, struct fw_err *err)
{
	struct run_order o = { .n = n, .set = b->set_begun[2] ? 2 : 1, .cell = list };
	char why[512];
	int i;

	for (i = 0; i < n; i++)
		if (b->cell[list[i]].n_runs == STATS_RUNS_MAX)
			return 0;
	return measure_process_run(b, &o, why, sizeof why, err) < 0 ? -1 : 0;
}

/* Whether the last run reports no such gain, or one that the audit confirms: earlier runs measured another machine state. */
static bool has_changed(const struct auditor *x, int cell)
{
	const struct bench_cell *c = &x->bench->cell[cell];
	const struct bench_run *last = &c->process_run[c->n_runs - 1];
	double base_ms = (double)stats_median(last->values, last->n);
	struct audit_claim claimed = { .gain = log(base_ms / (double)stats_median(last->values + last->n, last->n)),
		.base_ms = base_ms };
	char why[256];

	return stats_change_pct(-claimed.gain) < AUDIT_CHANGE_PCT || audit_believes(&x->audit[cell], &claimed, why, sizeof why);
}

/* Report the remaining doubt as the target's fault unless another cause is possible. Returns 0, or -1 on error. */
static int report_doubt(const struct auditor *x, int cell, const char *doubt, struct fw_err *err)
{
	enum role role = ROLE_TARGET;
	struct audit_claim claimed = claim(x->bench, cell);
	const char *failure = "clock", *excuse = "";
	char text[512];

	if (x->bench->lost) {
		role = ROLE_DEVICE;
		failure = "device";
		excuse = "; the device was lost before that was sure";
	} else if (has_changed(x, cell)) {
		role = ROLE_DEVICE;
		failure = "unsure";
		excuse = "; its last run agrees with that clock: the machine is not what it was";
	} else if (!audit_contradicts(&x->pool[cell], &claimed)) {
		role = ROLE_DEVICE;
		failure = "unsure";
		excuse = "; by all audits together that is not sure: the machine is too busy, or the call too short";
	}
	snprintf(text, sizeof text, "%.400s%s", doubt, excuse);
	return bench_fault(x->bench, cell, role, failure, text, err) < 0 ? -1 : 0;
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
		n = keep_doubtful(x, list, n, why);
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
	int *list = calloc((size_t)b->n_cells + 1, sizeof *list), n = 0, result = 0, i;
	char(*why)[256] = calloc((size_t)b->n_cells + 1, sizeof *why);

	x.audit = calloc((size_t)b->n_cells + 1, sizeof *x.audit);
	x.pool = calloc((size_t)b->n_cells + 1, sizeof *x.pool);
	x.suspicion = calloc((size_t)b->n_cells + 1, sizeof *x.suspicion);
	if (!list || !why || !x.audit || !x.pool || !x.suspicion) {
		result = err_set(err, ERR_INTERNAL, "out of memory");
	} else if (b->device.kind != DEVICE_SIM) {
		for (i = 0; i < b->n_cells; i++)
			if (too_good(b, i))
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
