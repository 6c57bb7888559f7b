/* control.c - the control run and its outcome. */
#include "worker/internal.h"

#include <unistd.h>

#include "model/model.h"
#include "worker/sandbox/sandbox.h"

struct control {
	const struct bench *bench;
	bool timed, failed;
	char *failure, *detail;
};

static void note_failure(struct control *c, const char *failure, const char *detail)
{
	if (!c->failed)
		snprintf(c->failure, 16, "%s", failure);
	if (!c->failed)
		snprintf(c->detail, 512, "%s", detail);
	c->failed = true;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct control *c = arg;

	(void)err;
	if (m->t == MSG_CELL)
		c->timed = c->timed || bench_decides(c->bench, m->u.cell);
	else if (m->t == MSG_FAULT)
		note_failure(c, m->u.fault.failure, m->u.fault.detail);
	return 0;
}

int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err)
{
	struct control c = { .bench = b, .failure = failure, .detail = detail };
	char sha256[HASH_HEX];
	int copy = sealed_copy(b->subject[b->base].fd, "base", sha256, err);
	struct runner_task task = { .mode = RUN_TIME,
		.set = 1,
		.seed = inputs_mix(b->seed ^ inputs_mix((uint64_t)b->runs + 0xc0de)),
		.n_subjects = 2,
		.subject = { b->base, b->base },
		.copy_fd = copy,
		.n_cells = 1,
		.cell = &cell,
		.deadline_s = b->limits.run_s,
		.record = take_record,
		.arg = &c };
	struct runner_end end;
	int status;

	failure[0] = detail[0] = '\0';
	if (copy < 0)
		return -1;
	status = runner_child_run(b, &task, &end, err);
	close(copy);
	if (status != 0)
		return -1;
	if (!c.timed)
		runner_end_early(&end);
	if (end.failure[0])
		note_failure(&c, end.failure, end.detail);
	return !c.failed;
}
