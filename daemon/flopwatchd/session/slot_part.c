/* slot_part.c - a slot's part of a split job, its own or that of another slot. */
#include "flopwatchd/session/session.h"
#include "lib/lib.h"

int slot_open_helper(struct slot *s, struct fw_err *err)
{
	s->phase = PHASE_OPENING;
	if (slot_open_session(s, "", err) == 0)
		return 0;
	s->is_suspect = true;
	return -1;
}

void slot_let_go(struct slot *s)
{
	loop_remove(s->host->loop, s->job_timer);
	s->job_timer = NULL;
	if (!s->session) {
		slot_go_free(s);
		return;
	}
	session_cancel(s->session);
	s->phase = PHASE_LEAVING;
}

void slot_take_part(struct slot *s, struct result *part)
{
	struct fw_err err = { 0 };
	struct slot *leader = split_group_leader(s);
	struct result *whole = NULL;
	int result = split_group_take(s, part, &err);
	loop_remove(s->host->loop, s->job_timer);
	s->job_timer = NULL;
	s->n_full = 0;
	if (s == leader)
		s->phase = PHASE_JOINING;
	else
		slot_go_free(s);
	if (result != 0) {
		slot_finish_job(leader, PENDING_WRITE_MOVE, JOBSTATE_ON_FAIL, err.text);
	} else if (split_group_go_on(leader, &whole, &err) != 0) {
		slot_finish_job(leader, PENDING_WRITE_RELEASE, JOBSTATE_ON_WORKER_LOST, err.text);
	} else if (whole) {
		split_group_dismiss(leader);
		leader->result = whole;
		slot_set_pending(leader, PENDING_WRITE_RESULT, JOBSTATE_DONE, "");
		slot_settle(leader);
	}
}
