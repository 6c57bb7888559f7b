/*
 * slot_health_check.c - the health check of a quarantined device, whose result sets the device's state; a check that did not
 * run changes nothing.
 */
#include <stdio.h>

#include "flopwatchd/job/job.h"
#include "flopwatchd/session/session.h"
#include "lib/lib.h"

enum { SILENT_MAX = 3 };

void slot_send_health_check(struct slot *s, const struct msg_hello *hello)
{
	struct fw_err err = { 0 };
	if (!slot_find_device(hello, s->device.uuid))
		err_set(&err, ERR_NOT_FOUND, "worker %s no longer has the device", s->worker->name);
	else if (session_health_check(s->session, s->device.uuid, &err) == 0)
		s->health_check = HEALTH_CHECK_SENT;
	if (s->health_check == HEALTH_CHECK_SENT)
		return;
	log_warning("device.health_check", "device=%s err=%s", log_quote(s->device.uuid), log_quote(err.text));
	session_cancel(s->session);
}

void slot_receive_health_check(struct slot *s, const struct msg_state *state)
{
	s->health_check = HEALTH_CHECK_SAID;
	s->health_check_ok = state->ok;
	snprintf(s->health_check_why, sizeof s->health_check_why, "%s", state->detail);
}

/* A cancelled or lost check proves nothing, but SILENT_MAX lost ones in a row fail the device. */
static bool has_result(struct slot *s, enum session_end how, const char *why)
{
	if (s->health_check == HEALTH_CHECK_SAID)
		return true;
	s->n_silent += s->health_check == HEALTH_CHECK_SENT && how == SESSION_LOST;
	if (s->n_silent < SILENT_MAX)
		return false;
	snprintf(s->health_check_why, sizeof s->health_check_why, "%d times without an answer, last: %.300s", SILENT_MAX, why);
	return true;
}

void slot_end_health_check(struct slot *s, enum session_end how, const char *why)
{
	char text[700];
	if (!has_result(s, how, why)) {
		log_warning("device.health_check", "device=%s err=%s", log_quote(s->device.uuid), log_quote(why));
		s->is_suspect = how == SESSION_LOST; /* otherwise the check was cancelled, or the worker is gone */
		slot_go_free(s);
		return;
	}
	s->n_silent = 0;
	if (s->health_check_ok)
		snprintf(text, sizeof text, "its health check passed");
	else
		snprintf(text, sizeof text, "its health check failed: %.600s", s->health_check_why);
	devicestate_report(s->host->txn, s->device.uuid, s->health_check_ok ? DEVICESTATE_OK : DEVICESTATE_QUARANTINED, text);
	slot_go_free(s);
}

void slot_begin_health_check(struct slot *s)
{
	struct fw_err err = { 0 };
	s->health_check = HEALTH_CHECK_NOT_SENT;
	s->health_check_ok = false;
	s->health_check_why[0] = 0;
	s->phase = PHASE_HEALTH_CHECK;
	if (s->session) {
		slot_send_health_check(s, &s->hello);
	} else if (slot_open_session(s, "", &err) != 0) {
		slot_end_health_check(s, SESSION_LOST, err.text);
	}
}
