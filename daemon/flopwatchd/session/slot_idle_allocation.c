/*
 * slot_idle_allocation.c - an allocation whose devices fit no queued job. A scheduler would grant the same idle devices again. So
 * the slot retains the allocation while it requests another one, and releases it when that was granted, or was not granted in
 * time.
 */
#include <stdio.h>

#include "flopwatchd/session/session.h"

enum { IDLE_ALLOCATION_MS = 30000, CHECK_INTERVAL_MS = 1000, BACKOFF_FIRST_MS = 5000, BACKOFF_DOUBLED_MAX = 7 };

struct backoff *slot_backoff(const struct slot *s)
{
	return &s->host->backoff[s->worker - s->host->config->worker];
}

int64_t slot_backoff_ms(int n)
{
	return (int64_t)BACKOFF_FIRST_MS << (n <= BACKOFF_DOUBLED_MAX ? n - 1 : BACKOFF_DOUBLED_MAX);
}

static void write_devices(const struct slot *s, struct buf *out)
{
	for (int i = 0; i < s->hello.n_devices; i++) {
		const struct msg_device *d = &s->hello.device[i];
		struct fw_err err = { 0 };
		enum devicestate state = DEVICESTATE_OK;
		int64_t id;
		buf_printf(out, "%s%s", i ? ", " : "", d->uuid);
		if (!claim_wants(s->worker, d))
			buf_puts(out, " (not of `devices`)");
		else if (store_device_get(s->host->txn->db, d->uuid, &id, &state, &err) == 0 && state != DEVICESTATE_OK)
			buf_printf(out, " (%s)", devicestate_name(state));
	}
}

static void report_wait(struct slot *s, const char *before, const char *after)
{
	struct fw_err err = { 0 };
	struct buf devices;
	buf_init(&devices, sizeof s->wait_why);
	write_devices(s, &devices);
	snprintf(s->wait_why, sizeof s->wait_why, "%s%.150s, which fits no queued job: %s", before,
		devices.len ? devices.data : "no device", after);
	buf_fini(&devices);
	s->wait_position = 0;
	if (slot_write_pending(s, &err) != 0 && !s->host->txn->is_broken)
		log_error("worker.pending", "worker=%s err=%s", s->worker->name, log_quote(err.text));
}

static void on_timer(void *arg)
{
	struct slot *s = arg;
	s->timer = NULL;
	s->host->changed(s->host->arg);
}

void slot_keep_idle_allocation(struct slot *s)
{
	s->phase = PHASE_IDLE_ALLOCATION;
	s->idle_allocation_ns = clock_mono_ns();
	report_wait(s, "the allocation has ", "held while another is requested");
	slot_restart_idle_allocation(s);
	s->host->changed(s->host->arg);
}

void slot_restart_idle_allocation(struct slot *s)
{
	int64_t left_ms = IDLE_ALLOCATION_MS - (clock_mono_ns() - s->idle_allocation_ns) / 1000000;
	slot_set_timer(s, left_ms > CHECK_INTERVAL_MS ? left_ms : CHECK_INTERVAL_MS, on_timer);
}

bool slot_idle_allocation_is_old(const struct slot *s)
{
	return s->phase == PHASE_IDLE_ALLOCATION &&
	       clock_mono_ns() - s->idle_allocation_ns >= IDLE_ALLOCATION_MS * INT64_C(1000000);
}

void slot_stop_idle_allocation(struct slot *s)
{
	loop_remove(s->host->loop, s->timer);
	s->timer = NULL;
}

void slot_give_back(struct slot *s, bool in_backoff)
{
	slot_stop_idle_allocation(s);
	s->n_backoff = in_backoff ? slot_backoff(s)->n : 0;
	s->wait_why[0] = 0;
	if (in_backoff)
		report_wait(s, "the last allocation had ", "the next request follows in a while");
	s->phase = PHASE_LEAVING;
	session_cancel(s->session);
}
