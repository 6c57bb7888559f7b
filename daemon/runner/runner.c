/* runner.c - start and end of one runner process. */
#include "runner/internal.h"

#include <sys/random.h>

uint32_t runner_random(struct runner *r, uint32_t n)
{
	r->random += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(((inputs_mix(r->random) >> 32) * n) >> 32);
}

uint64_t runner_secret(const struct runner *r)
{
	uint64_t fresh;
	if (r->ops->work || getrandom(&fresh, sizeof fresh, 0) != sizeof fresh)
		return r->task->seed;
	return fresh;
}

void runner_shuffle(struct runner *r, int *order, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)runner_random(r, (uint32_t)i + 1), other = order[j];
		order[j] = order[i];
		order[i] = other;
	}
}

static int job_cell(const struct runner *r, int i)
{
	return i < 0 ? -1 : r->task->index[i];
}

void runner_pin(const struct runner *r, int i, struct side *side)
{
	side->pin = NULL;
	side->is_request = false;
	for (int k = 0; k < r->task->n_pins; k++)
		if (r->task->pin[k].cell == r->task->index[i] && side == &r->side[r->task->pin[k].side]) {
			side->pin = r->task->pin[k].config;
			side->is_request = r->task->pin[k].is_request;
			return;
		}
}

void runner_at(struct runner *r, int i, const struct side *side, const char *step)
{
	r->at_cell = job_cell(r, i);
	r->at_role = side ? side->role : ROLE_NONE;
	if (side)
		own_code_ran(side->role);
	record_at(r->records, r->at_cell, r->at_role, step);
}

void runner_device_check(struct runner *r, int i, int pass, struct msg_device_check *out)
{
	struct device_check_moment now = {
		.at = DEVICE_CHECK_AT_TIME, .run = r->task->run, .cell = job_cell(r, i), .pass = pass
	};
	device_check_unknown(out);
	r->ops->device_check(r->dev, out);
	if (r->task->device_check_script[0] && r->ops->kind != DEVICE_CUDA &&
		device_check_script_apply(r->task->device_check_script, &now, out))
		r->lost = true;
}

void runner_fault(struct runner *r, int i, const struct side *side, const struct failure *f)
{
	enum role by = f->by != ROLE_NONE ? f->by : side ? side->role : ROLE_DEVICE;
	record_fault(r->records, job_cell(r, i), by, f->name, f->detail);
	r->lost = r->lost || f->lost;
}

void runner_error(struct runner *r, int i, const struct fw_err *err)
{
	struct fw_err broken = { 0 };
	record_fault(r->records, job_cell(r, i), ROLE_DEVICE, "device", err->text);
	r->lost = r->lost || r->ops->wait(r->dev, &broken) != 0;
}

int runner_open(struct runner *r, const struct msg_task *task, struct records *records, struct fw_err *err)
{
	int index, order[PROTOCOL_SIDES_MAX];

	memset(r, 0, sizeof *r);
	r->task = task;
	r->records = records;
	r->n_sides = task->n_sides;
	r->at_cell = -1;
	hoststate_adopt();
	runner_at(r, -1, NULL, "context");
	if (device_find(task->device, &r->ops, &index, err) != 0)
		return -1;
	if (r->ops->open(index, task->seed, &r->dev, err) != 0)
		return err_context(err, "device %s", task->device);
	r->random = inputs_mix(runner_secret(r));
	crash_watch();
	hoststate_take(&r->host);
	own_code_take();
	record_request_inspection(records, -1, ROLE_NONE);
	runner_shuffle(r, order, task->n_sides);
	for (int k = 0; k < task->n_sides; k++) {
		struct failure f = { 0 };
		struct side *u = &r->side[order[k]];
		u->role = task->side[order[k]].role;
		runner_at(r, -1, u, "load");
		leaked_state_enter(r);
		(void)side_load(u, task->side[order[k]].role, task->side[order[k]].module, task->side[order[k]].provider, &f);
		if (leaked_state_leave(r, -1, u, false, &f) != 0 || !u->loaded) {
			runner_fault(r, -1, u, &f);
			u->loaded = false;
		}
	}
	return 0;
}

void runner_close(struct runner *r)
{
	/* A failed context fails every further call, and the end of the process frees all resources. */
	if (r->lost)
		return;
	for (int i = 0; i < r->n_sides; i++)
		side_unload(&r->side[i]);
	if (r->ops)
		r->ops->close(r->dev);
	memset(r, 0, sizeof *r);
}
