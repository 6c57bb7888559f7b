/* slot_canary.c - a device that was quarantined is tried, and its state is what comes of that. */
#include <stdio.h>

#include "flopwatchd/dispatch/slot_inside.h"
#include "flopwatchd/job/devicestate.h"

void slot_send_canary(struct slot *s, const struct msg_hello *hello)
{
	struct fw_err err = { 0 };
	if (!slot_find_device(hello, s->device.uuid))
		err_set(&err, ERR_NOT_FOUND, "worker %s does not have it any more", s->worker->name);
	else if (session_canary(s->session, s->device.uuid, &err) == 0)
		return;
	snprintf(s->canary_why, sizeof s->canary_why, "%.300s", err.text);
	session_cancel(s->session);
}

void slot_hear_canary(struct slot *s, const struct msg_state *state)
{
	s->canary_ok = state->ok;
	snprintf(s->canary_why, sizeof s->canary_why, "%s", state->detail);
}

/* Its answer, or the lack of one, is the device's new state. */
void slot_end_canary(struct slot *s, const char *why)
{
	char text[700];
	if (s->canary_ok)
		snprintf(text, sizeof text, "its canary passed");
	else
		snprintf(text, sizeof text, "its canary failed: %.600s", s->canary_why[0] ? s->canary_why : why);
	devicestate_tell(s->host->txn, s->device.uuid, s->canary_ok ? DEVICESTATE_OK : DEVICESTATE_QUARANTINED, text);
	slot_go_free(s);
}

void slot_begin_canary(struct slot *s)
{
	struct fw_err err = { 0 };
	s->canary_ok = false;
	s->canary_why[0] = 0;
	s->phase = PHASE_CANARY;
	if (s->session) {
		slot_send_canary(s, &s->hello);
	} else if (slot_open_session(s, "", &err) != 0) {
		s->is_suspect = true;
		slot_end_canary(s, err.text);
	}
}
