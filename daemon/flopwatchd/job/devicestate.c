/* devicestate.c - one row and one event. */
#include "flopwatchd/job/job.h"

static int send_event(
	struct txn *txn, const char *uuid, enum devicestate state, const char *why, const char *who, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "device.state");
	jsonw_format(j, "device=%s state=%s why=%s who=%s", uuid, devicestate_name(state), why, who);
	return store_event_end(&event, txn->db, clock_utc_ms(), err);
}

int devicestate_set(
	struct txn *txn, const char *uuid, enum devicestate state, const char *why, const char *who, struct fw_err *err)
{
	enum devicestate before;
	int64_t id;
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = store_device_get(txn->db, uuid, &id, &before, err);
	if (result == 0)
		result = store_device_state(txn->db, id, state, why, clock_utc_ms(), err);
	if (result == 0)
		result = send_event(txn, uuid, state, why, who, err);
	if (txn_end(txn, result, err) != 0)
		return -1;
	log_info("device.state", "device=%s state=%s why=%s", log_quote(uuid), devicestate_name(state), log_quote(why));
	return 0;
}

void devicestate_report(struct txn *txn, const char *uuid, enum devicestate state, const char *why)
{
	struct fw_err err = { 0 };
	if (devicestate_set(txn, uuid, state, why, "flopwatchd", &err) != 0)
		log_error("device.state", "device=%s state=%s err=%s", log_quote(uuid), devicestate_name(state),
			log_quote(err.text));
}
