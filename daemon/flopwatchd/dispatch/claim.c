/* claim.c - see claim.h. */
#include "flopwatchd/dispatch/claim.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hash.h"
#include "db/store/repo.h"

int claim_canary(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err)
{
	for (int i = 0; i < c->hello->n_devices; i++) {
		enum devicestate state;
		if (c->is_taken(c->arg, c->hello->device[i].uuid))
			continue;
		if (store_device_get(c->db, c->hello->device[i].uuid, id, &state, err) != 0)
			return -1;
		if (state == DEVICESTATE_CANARY) {
			*out = c->hello->device[i];
			return 1;
		}
	}
	return 0;
}

int claim_device(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err)
{
	if (!c->hello->n_devices)
		return 0;
	enum device_kind kind = c->kind != DEVICE_ANY ? c->kind : c->hello->device[0].kind;
	for (int i = 0; i < c->hello->n_devices; i++) {
		const struct msg_device *d = &c->hello->device[i];
		enum devicestate state;
		if (d->kind != kind || c->is_taken(c->arg, d->uuid))
			continue;
		if (store_device_get(c->db, d->uuid, id, &state, err) != 0)
			return -1;
		if (state == DEVICESTATE_OK) {
			*out = *d;
			return 1;
		}
	}
	return 0;
}

int claim_mark_sent(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err)
{
	unsigned char random[16];
	char nonce[33], line[256];
	int64_t now = clock_utc_ms();
	if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
		memset(random, 0, sizeof random);
	hash_to_hex(random, sizeof random, nonce);
	if (txn_begin(g, err) != 0)
		return -1;
	snprintf(line, sizeof line, "sent to worker %s, device %s", worker, device->uuid);
	int result = store_job_send(g->db, job->id, device_id, nonce, now, err);
	if (result == 0)
		result = store_job_log(g->db, job->id, now, line, err);
	if (result == 0)
		result = store_job_tell(g->db, job, "job.state", JOBSTATE_SENT, NULL, now, err);
	if (result == 0)
		result = store_job_get(g->db, job->id, job, err);
	return txn_end(g, result, err);
}
