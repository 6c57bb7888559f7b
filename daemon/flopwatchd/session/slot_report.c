/* slot_report.c - status queries of slot.c; none changes a slot. */

#include "flopwatchd/session/session.h"

int slot_devices(const struct slot *s)
{
	int n = 0;
	enum device_kind kind = claim_kind(s->worker, &s->hello);
	if (config_worker_is_on_call(s->worker))
		return s->worker->max_jobs;
	for (int i = 0; s->has_hello && i < s->hello.n_devices; i++)
		n += s->hello.device[i].kind == kind && claim_wants(s->worker, &s->hello.device[i]);
	return s->worker->max_jobs && n > s->worker->max_jobs ? s->worker->max_jobs : n;
}

const struct config_worker *slot_worker(const struct slot *s)
{
	return s->worker;
}

enum slot_wait slot_waits(const struct slot *s)
{
	if (!config_worker_is_on_call(s->worker))
		return SLOT_WAITS_NEVER;
	return s->phase == PHASE_FREE              ? SLOT_WAITS_NOT
	       : s->phase == PHASE_IDLE_ALLOCATION ? SLOT_HAS_IDLE_ALLOCATION
	       : s->phase != PHASE_WAITING         ? SLOT_WAITS_NEVER
	       : s->request.job                    ? SLOT_WAITS_JOB
						   : SLOT_WAITS_HEALTH_CHECK;
}

bool slot_is_stuck(const struct slot *s)
{
	return s->phase == PHASE_WAITING && s->wait_why[0];
}

int64_t slot_job(const struct slot *s)
{
	return s->job.id;
}

bool slot_is_down(const struct slot *s)
{
	return (s->phase == PHASE_DOWN || s->phase == PHASE_QUERYING) && s->failures > 0;
}

const char *slot_purpose(const struct slot *s)
{
	return s->worker->builds ? "build" : s->worker->builds_separate ? "measure" : "";
}

const char *slot_device(const struct slot *s)
{
	if (s->worker->builds)
		return "";
	return s->job.id || s->phase == PHASE_HEALTH_CHECK ? s->device.uuid : "";
}

void slot_report(const struct slot *s, struct worker_status *out)
{
	bool is_querying = s->phase == PHASE_DOWN || s->phase == PHASE_QUERYING, down = slot_is_down(s);
	bool on_call = config_worker_is_on_call(s->worker), backs_off = on_call && s->n_backoff && s->wait_why[0];
	bool pending = s->phase == PHASE_WAITING || s->phase == PHASE_IDLE_ALLOCATION || backs_off;
	*out = (struct worker_status){
		.name = s->worker->name,
		.slot = s->index,
		.state = down                      ? "down"
			 : pending                 ? "pending"
			 : is_querying && !on_call ? "starting"
			 : is_querying             ? "free"
			 : s->phase == PHASE_FREE  ? "free"
						   : "busy",
		.aim = slot_purpose(s),
		.why = down      ? s->why
		       : pending ? s->wait_why
				 : "",
		.allocation = pending && !backs_off ? s->wait_id : "",
		.position = s->phase == PHASE_WAITING ? s->wait_position : 0,
		.version = s->has_hello ? s->hello.version : "",
		.device = slot_device(s),
		.job = s->job.id,
		.n_read_only = s->has_hello ? s->hello.n_read_only : 0,
		.read_only = s->hello.read_only,
	};
}

bool slot_measures(const struct slot *s, enum device_kind kind)
{
	if (s->worker->device != DEVICE_ANY)
		return s->worker->device == kind;
	return !s->has_hello || claim_kind(s->worker, &s->hello) == kind;
}

bool slot_is_busy(const struct slot *s)
{
	return s->session || s->resolve || s->pending_write != PENDING_WRITE_NONE;
}

bool slot_is_leaving(const struct slot *s)
{
	return s->phase == PHASE_LEAVING;
}
