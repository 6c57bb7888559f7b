#include "flopwatchd/plan/internal.h"

#include "flopwatchd/history/history.h"

enum { NAMES_BYTES = 1 << 16, WHY_SIZE = 256 };
static const int64_t month_ms = INT64_C(30) * 24 * 3600 * 1000;

static int send_event(
	struct db *db, const char *uuid, enum devicestate state, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "device.state");
	jsonw_format(j, "device=%s state=%s why=%s who=%s", uuid, devicestate_name(state), why, "flopwatchd");
	log_info("device.state", "device=%s state=%s why=%s", log_quote(uuid), devicestate_name(state), log_quote(why));
	return store_event_end(&event, db, now_ms, err);
}

/* Cancel the daemon's own jobs; those of users wait, until a user cancels them. */
static int drop_jobs(struct txn *txn, const char *uuid, int64_t now_ms, struct fw_err *err)
{
	char why[WHY_SIZE];
	struct store_job job;
	int64_t id = 0;
	int got;
	snprintf(why, sizeof why, "device %s is absent", uuid);
	while ((got = find_absent_job(txn->db, uuid, id, &id, err)) == 1)
		if (store_job_get(txn->db, id, &job, err) != 0 || job_move(txn, &job, JOBSTATE_CANCELLED, why, now_ms, err) != 0)
			return -1;
	return got < 0 ? -1 : environment_cancel_jobs(txn->db, uuid, why, now_ms, err);
}

/* The remaining devices form a class without it. Own: takes `gone`. */
static int mark_absent(struct txn *txn, struct find_absent *gone, int n, const char *why, int64_t now_ms, struct fw_err *err)
{
	int result = n < 0 ? -1 : 0;
	for (int i = 0; i < n && result == 0; i++)
		if (send_event(txn->db, gone[i].uuid, DEVICESTATE_ABSENT, why, now_ms, err) != 0 ||
			drop_jobs(txn, gone[i].uuid, now_ms, err) != 0 ||
			device_offset_check(txn->db, gone[i].class, now_ms, err) != 0)
			result = -1;
	free(gone);
	return result;
}

static int mark_missing(struct txn *txn, const struct config_worker *w, const struct msg_hello *hello, const char *named,
	int64_t now_ms, struct fw_err *err)
{
	struct find_absent *gone;
	char why[WHY_SIZE];
	const struct find_inventory has = { w->name, hello->location.host, named, now_ms - month_ms };
	if (config_worker_is_on_call(w))
		snprintf(why, sizeof why, "in a month worker %s got only other devices of %s", w->name, hello->location.host);
	else
		snprintf(why, sizeof why, "worker %s no longer has the device", w->name);
	int n = find_absent_mark(txn->db, &has, why, now_ms, &gone, err);
	return mark_absent(txn, gone, n, why, now_ms, err);
}

int devices_mark_unconfigured(struct txn *txn, int64_t now_ms, struct fw_err *err)
{
	static const char why[] = "its worker is no longer configured";
	struct find_absent *gone;
	struct buf names;
	struct jsonw j;
	int result = -1;
	buf_init(&names, NAMES_BYTES);
	jsonw_init(&j, &names);
	jsonw_array(&j);
	for (int i = 0; i < txn->config->n_workers; i++)
		jsonw_string(&j, txn->config->worker[i].name);
	jsonw_array_end(&j);
	if (names.failed)
		err_set(err, ERR_FULL, "too many workers");
	else if (txn_begin(txn, err) == 0) {
		int n = find_absent_mark_unconfigured(txn->db, names.data, why, now_ms, &gone, err);
		result = txn_end(txn, mark_absent(txn, gone, n, why, now_ms, err), err);
	}
	buf_fini(&names);
	return result;
}

static int store_one(struct txn *txn, const struct config_worker *w, const struct msg_hello *hello, const struct msg_device *d,
	int64_t now_ms, bool *is_new, struct fw_err *err)
{
	struct fw_err unknown = { 0 };
	enum devicestate state = DEVICESTATE_N;
	int64_t id;
	bool on_call = config_worker_is_on_call(w), is_known = store_device_get(txn->db, d->uuid, &id, &state, &unknown) == 0;
	/* an allocation shows one of many devices, so a new one replaces none */
	*is_new = !on_call && !is_known;
	if (store_device_put(txn->db, d, now_ms, &id, err) != 0 ||
		store_device_through(txn->db, id, w->name, hello->location.host, on_call, err) != 0)
		return -1;
	if (is_known && state == DEVICESTATE_ABSENT &&
		send_event(txn->db, d->uuid, DEVICESTATE_OK, "the device is back", now_ms, err) != 0)
		return -1;
	return hello->location.modules[0] ? store_device_location(txn->db, id, &hello->location, err) : 0;
}

static int store_devices(
	struct txn *txn, const struct config_worker *w, const struct msg_hello *hello, int64_t now_ms, int *n, struct fw_err *err)
{
	bool is_new[PROTOCOL_DEVICES_MAX] = { false };
	struct buf names;
	struct jsonw named;
	int result = 0, n_its = 0;
	buf_init(&names, NAMES_BYTES);
	jsonw_init(&named, &names);
	jsonw_array(&named);
	for (int i = 0; i < hello->n_devices && result == 0; i++) {
		if (!claim_wants(w, &hello->device[i]))
			continue;
		n_its++;
		jsonw_string(&named, hello->device[i].uuid);
		result = store_one(txn, w, hello, &hello->device[i], now_ms, &is_new[i], err);
	}
	jsonw_array_end(&named);
	for (int i = 0; i < hello->n_devices && result == 0; i++)
		if (claim_wants(w, &hello->device[i]))
			result = environment_update(txn->db, txn->config, w->name, &hello->device[i], is_new[i], now_ms, n, err);
	if (result == 0 && names.failed)
		result = err_set(err, ERR_FULL, "too many devices");
	if (result == 0 && n_its > 0)
		result = mark_missing(txn, w, hello, names.data, now_ms, err);
	buf_fini(&names);
	return result;
}

int devices_update(
	struct txn *txn, const struct config_worker *w, const struct msg_hello *hello, int64_t now_ms, int *n, struct fw_err *err)
{
	*n = 0;
	if (txn_begin(txn, err) != 0)
		return -1;
	return txn_end(txn, store_devices(txn, w, hello, now_ms, n, err), err);
}
