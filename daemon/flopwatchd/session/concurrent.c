#include "flopwatchd/session/internal.h"

#include <stdio.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/plan/plan.h"

static bool shares_machine(const struct slot *s, const struct slot *other)
{
	return other->has_hello && !other->worker->builds && !config_worker_is_slurm(other->worker) &&
	       (other->worker == s->worker ||
		       (s->hello.location.host[0] && strcmp(s->hello.location.host, other->hello.location.host) == 0));
}

static void add_device(struct msg_job *request, const char *uuid)
{
	for (int i = 0; i < request->n_beside; i++)
		if (strcmp(request->beside[i], uuid) == 0)
			return;
	if (request->n_beside < PROTOCOL_DEVICES_MAX)
		snprintf(request->beside[request->n_beside++], sizeof request->beside[0], "%s", uuid);
}

void concurrent_find(const struct slot *s, struct msg_job *request)
{
	const struct slot *other;
	bool is_alone = s->worker->max_jobs == 1;
	request->n_beside = 0;
	if (config_worker_is_slurm(s->worker))
		return;
	for (int i = 0; (other = s->host->nth_slot(s->host->arg, i)); i++)
		is_alone = is_alone && (other->worker == s->worker || !shares_machine(s, other));
	add_device(request, s->device.uuid);
	for (int i = 0; !is_alone && (other = s->host->nth_slot(s->host->arg, i)); i++) {
		enum device_kind kind = claim_kind(other->worker, &other->hello);
		for (int k = 0; shares_machine(s, other) && k < other->hello.n_devices; k++)
			if (other->hello.device[k].kind == kind && claim_wants(other->worker, &other->hello.device[k]))
				add_device(request, other->hello.device[k].uuid);
	}
}
