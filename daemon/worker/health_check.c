/* health_check.c - small runner processes without branch code, and interpretation of their answers. */
#include "worker/internal.h"

enum { TRIES = 3, AGAIN_MS = 1000, POLL_MS = 1000, PAUSE_SIM_MS = 20, REPORT_S = 60, QUESTION_S = 60 };

static int take_state(void *arg, struct msg *m, struct fw_err *err)
{
	struct msg_state *state = arg;

	if (m->t != MSG_STATE)
		return err_set(err, ERR_PROTOCOL, "the runner did not report the device's state");
	*state = m->u.state;
	return 0;
}

/* Run one process. Returns 1; 0 if it ends without an answer, and `state` describes the end; -1 on error. */
static int run_probe(struct bench *b, enum task_mode what, int number, int pass, struct msg_state *state, struct fw_err *err)
{
	struct runner_task task = { .mode = what,
		.run = number,
		.pass = pass,
		.seed = b->seed,
		.deadline_s = QUESTION_S,
		.record = take_state,
		.arg = state };
	struct runner_end end;

	*state = (struct msg_state){ .ok = false };
	if (runner_child_run(b, &task, &end, err) != 0)
		return -1;
	bool is_read = state->what == what;
	if (!is_read) {
		device_check_unknown(&state->device_check);
		snprintf(state->detail, sizeof state->detail, "no answer: %.380s",
			end.failure[0] ? end.detail : "the process ended too early");
	}
	state->what = what;
	return is_read;
}

/* Wait between two probes; a simulated device does not change with time. */
static int pause_ms(const struct bench *b, int ms)
{
	return b->device.kind == DEVICE_SIM ? PAUSE_SIM_MS : ms;
}

int health_check_run(struct bench *b, struct msg_state *state, struct fw_err *err)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if ((i > 0 && pump_sleep(b->peer, pause_ms(b, AGAIN_MS), err) != 0) ||
			run_probe(b, TASK_HEALTH_CHECK, i + 1, 0, state, err) < 0)
			return -1;
		log_info(
			"health_check", "device=%s ok=%d err=%s", log_quote(b->device.uuid), state->ok, log_quote(state->detail));
		if (state->ok)
			return 1;
	}
	return 0;
}

int health_check_after(struct bench *b, const struct runner_end *end, struct fw_err *err)
{
	bool gpu = b->device.kind == DEVICE_CUDA;
	bool abnormal = strcmp(end->failure, "crash") == 0 || strcmp(end->failure, "timeout") == 0;
	struct msg_state state;
	int passed;

	if (b->lost || !(end->lost || (gpu && abnormal)))
		return 0;
	passed = health_check_run(b, &state, err);
	if (passed != 0)
		return passed < 0 ? -1 : 0;
	b->lost = true;
	return bench_fault(b, -1, ROLE_DEVICE, "lost", err, "after %.200s the device fails its health check: %.200s",
		end->failure[0] ? end->detail : "its context was lost", state.detail);
}

/* Only a GPU has a driver to read; tests inject readings for other devices. */
bool health_check_can_report(const struct bench *b)
{
	return b->device.kind == DEVICE_CUDA || getenv("FLOPWATCH_SIM_DEVICE_CHECK");
}

int health_check_new_errors(struct bench *b, int errors, bool is_read)
{
	int n_new = is_read && b->is_ecc_known && errors > b->ecc ? errors - b->ecc : 0;

	if (is_read) {
		b->ecc = errors;
		b->is_ecc_known = true;
	}
	return n_new;
}

int health_check_device_check(struct bench *b, int pass, struct msg_device_check *out, struct fw_err *err)
{
	struct msg_state state;
	int i, is_read = 0;

	device_check_unknown(out);
	if (!health_check_can_report(b))
		return 0;
	for (i = 0; i < TRIES; i++) {
		if (i > 0 && pump_sleep(b->peer, pause_ms(b, AGAIN_MS), err) != 0)
			return -1;
		is_read = run_probe(b, TASK_DEVICE_CHECK, b->runs, pass, &state, err);
		if (is_read < 0)
			return -1;
		if (state.device_check.foreign <= 0)
			break; /* a process that just ended may still be listed */
	}
	*out = state.device_check;
	if (b->device.kind == DEVICE_CUDA)
		out->ecc = health_check_new_errors(b, out->ecc, is_read);
	return 0;
}

int health_check_xid(struct bench *b, int xid, struct fw_err *err)
{
	if (b->lost || !device_check_xid_breaks(xid))
		return 0;
	b->lost = true;
	return bench_fault(b, -1, ROLE_DEVICE, "lost", err, "the driver reported XID %d", xid);
}

static int note_waiting(struct bench *b, const struct msg_state *state, double waited_s, struct fw_err *err)
{
	return bench_send_note(b, -1, ROLE_DEVICE, err,
		"waiting for %d other process%s on %.60s%s%.200s%s; %.0f of at most %.0f s", state->device_check.foreign,
		state->device_check.foreign == 1 ? "" : "es", b->device.uuid, state->detail[0] ? " (" : "", state->detail,
		state->detail[0] ? ")" : "", waited_s, b->limits.wait_s);
}

int health_check_wait_idle(struct bench *b, struct fw_err *err)
{
	double began_s = (double)clock_mono_ns() * 1e-9, reported_s = -REPORT_S, waited_s = 0;
	struct msg_state state;

	if (!health_check_can_report(b))
		return 1;
	for (;;) {
		if (run_probe(b, TASK_IDLE, ++b->idle_checks, 0, &state, err) < 0)
			return -1;
		if (state.ok || state.device_check.foreign <= 0) /* no other process, or the driver reports none */
			return 1;
		waited_s = (double)clock_mono_ns() * 1e-9 - began_s;
		if (waited_s >= b->limits.wait_s)
			break;
		if (waited_s - reported_s >= REPORT_S) {
			if (note_waiting(b, &state, waited_s, err) < 0)
				return -1;
			reported_s = waited_s;
		}
		if (pump_sleep(b->peer, pause_ms(b, POLL_MS), err) != 0)
			return -1;
	}
	return bench_fault(b, -1, ROLE_DEVICE, "device", err,
		"not measured: %d other process%s still used the device after %.0f s (see doc/troubleshooting.md#device-in-use)",
		state.device_check.foreign, state.device_check.foreign == 1 ? "" : "es", waited_s);
}
