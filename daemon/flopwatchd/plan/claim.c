#include "flopwatchd/plan/plan.h"

#include <stdio.h>
#include <sys/random.h>

enum device_kind claim_kind(const struct config_worker *w, const struct msg_hello *hello)
{
	return w->device != DEVICE_ANY || !hello->n_devices ? w->device : hello->device[0].kind;
}

bool claim_wants(const struct config_worker *w, const struct msg_device *d)
{
	return config_worker_wants(w, d->kind, d->index, d->uuid);
}

const char *claim_cache(const struct config_worker *w)
{
	return w->builds_separate ? w->name : "";
}

/* True if the device is free and in the wanted state; `kind` DEVICE_ANY: of any kind. Returns 1, 0, -1. */
static int has_state(const struct claim *c, const struct msg_device *d, enum device_kind kind, enum devicestate wanted,
	int64_t *id, struct fw_err *err)
{
	enum devicestate state;
	if ((kind != DEVICE_ANY && d->kind != kind) || !claim_wants(c->worker, d) || c->is_taken(c->arg, d->uuid))
		return 0;
	if (store_device_get(c->db, d->uuid, id, &state, err) != 0)
		return -1;
	return state == wanted;
}

int claim_health_check(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err)
{
	for (int i = 0; i < c->hello->n_devices; i++) {
		int fits = has_state(c, &c->hello->device[i], DEVICE_ANY, DEVICESTATE_HEALTH_CHECK, id, err);
		if (fits == 1)
			*out = c->hello->device[i];
		if (fits != 0)
			return fits;
	}
	return 0;
}

int claim_job_on(
	const struct claim *c, const char *uuid, struct msg_device *out, int64_t *id, struct store_job *job, struct fw_err *err)
{
	enum device_kind kind = claim_kind(c->worker, c->hello);
	for (int i = 0; i < c->hello->n_devices; i++) {
		const struct msg_device *d = &c->hello->device[i];
		int fits = *uuid && strcmp(d->uuid, uuid) != 0 ? 0 : has_state(c, d, kind, DEVICESTATE_OK, id, err);
		if (fits == 1)
			fits = store_job_next_cached(c->db, d->kind, d->uuid, c->held, claim_cache(c->worker), job, err);
		if (fits == 1)
			*out = *d;
		if (fits != 0)
			return fits;
	}
	return 0;
}

int claim_free_device(const struct claim *c, int from, int64_t *id, struct fw_err *err)
{
	enum device_kind kind = claim_kind(c->worker, c->hello);
	for (int i = from; i < c->hello->n_devices; i++) {
		int fits = has_state(c, &c->hello->device[i], kind, DEVICESTATE_OK, id, err);
		if (fits != 0)
			return fits < 0 ? -1 : i + 1;
	}
	return 0;
}

int claim_other_device(const struct claim *c, int64_t job, struct msg_device *out, int64_t *id, struct fw_err *err)
{
	enum device_kind kind = claim_kind(c->worker, c->hello);
	for (int i = 0; i < c->hello->n_devices; i++) {
		const struct msg_device *d = &c->hello->device[i];
		int fits = has_state(c, d, kind, DEVICESTATE_OK, id, err);
		if (fits == 1)
			fits = store_job_fits(c->db, job, d->kind, d->uuid, err);
		if (fits == 1)
			*out = *d;
		if (fits != 0)
			return fits;
	}
	return 0;
}

int claim_mark_bound(struct txn *txn, const char *worker, const struct msg_device *device, int64_t device_id,
	struct store_job *job, struct fw_err *err)
{
	char line[256];
	int64_t now = clock_utc_ms();
	if (txn_begin(txn, err) != 0)
		return -1;
	snprintf(line, sizeof line, "worker %s has another device now: %s", worker, device->uuid);
	int result = store_job_bind(txn->db, job->id, device_id, err);
	if (result == 0)
		result = store_job_log(txn->db, job->id, now, line, err);
	return txn_end(txn, result, err);
}

static void draw_nonce(char nonce[33])
{
	unsigned char random[16];
	if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
		memset(random, 0, sizeof random);
	hash_to_hex(random, sizeof random, nonce);
}

static int report_sent(struct db *db, struct store_job *job, const char *line, int64_t now_ms, struct fw_err *err)
{
	int result = store_job_log(db, job->id, now_ms, line, err);
	if (result == 0)
		result = store_job_report(db, job, "job.state", JOBSTATE_ASSIGNED, NULL, now_ms, err);
	return result == 0 ? store_job_get(db, job->id, job, err) : result;
}

int claim_build(struct txn *txn, const struct store_cached_build_request *request, struct store_job *job, struct fw_err *err)
{
	char nonce[33], line[256];
	int64_t now = clock_utc_ms();
	struct store_job_position first;
	int n;
	if (store_job_positions(txn->db, request, 1, &first, &n, err) != 0)
		return -1;
	if (n == 0)
		return 0;
	if (store_job_get(txn->db, first.id, job, err) != 0 || txn_begin(txn, err) != 0)
		return -1;
	draw_nonce(nonce);
	snprintf(line, sizeof line, "sent to worker %s, to be built", request->worker);
	int result = store_cached_build_send(txn->db, job->id, nonce, now, err);
	if (result == 0)
		result = report_sent(txn->db, job, line, now, err);
	return txn_end(txn, result, err) == 0 ? 1 : -1;
}

int claim_mark_sent(struct txn *txn, const char *worker, const struct msg_device *device, int64_t device_id,
	struct store_job *job, struct fw_err *err)
{
	char nonce[33], line[256];
	int64_t now = clock_utc_ms();
	draw_nonce(nonce);
	if (txn_begin(txn, err) != 0)
		return -1;
	snprintf(line, sizeof line, "sent to worker %s, device %s", worker, device->uuid);
	int result = store_job_send(txn->db, job->id, device_id, nonce, now, err);
	if (result == 0)
		result = report_sent(txn->db, job, line, now, err);
	return txn_end(txn, result, err);
}
