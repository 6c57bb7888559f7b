/* device_alert.c - periodic checks for offline and quarantined devices. */
#include "flopwatchd/alert/alert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CHECKS = 4, /* number of checks in the time after which a device is offline */
	PAUSE_MIN_MS = 250,
	PAUSE_MAX_MS = 60000,
	QUARANTINE_CHECK_MS = 5000, /* period of the check for quarantined devices */
	GAP_MAX_MS = 60000,
	AT_ONCE_MAX = 16,
};

struct device_alert_watch {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	struct loop_source *timer;
	int64_t awake_ms, checked_ms;
	int64_t due_ms; /* time of the next check of all devices; quarantined ones are checked more often */
};

struct found {
	int64_t id; /* of the device, or of the alert to resolve */
	char title[768];
};

/** Shape: out[AT_ONCE_MAX]; the next check handles the rest. */
static int find_offline(struct db *db, int64_t since, int64_t now_ms, struct found *out, int *n, struct fw_err *err)
{
	struct find_waiting waiting[AT_ONCE_MAX];
	if (find_offline_devices(db, since, waiting, AT_ONCE_MAX, n, err) != 0)
		return -1;
	for (int i = 0; i < *n; i++) {
		out[i].id = waiting[i].device;
		snprintf(out[i].title, sizeof out[i].title,
			waiting[i].jobs == 1 ? "device %s sent nothing for %lld s while %lld job waits"
					     : "device %s sent nothing for %lld s while %lld jobs wait",
			waiting[i].uuid, (long long)((now_ms - waiting[i].seen_at) / 1000), (long long)waiting[i].jobs);
	}
	return 0;
}

/** Accepted alerts end too, so that the device may go offline again. */
static int find_online_again(struct db *db, struct found *out, int *n, struct fw_err *err)
{
	struct find_offline_alert over[AT_ONCE_MAX];
	if (find_offline_ended(db, over, AT_ONCE_MAX, n, err) != 0)
		return -1;
	for (int i = 0; i < *n; i++) {
		out[i].id = over[i].alert;
		snprintf(out[i].title, sizeof out[i].title, "the device sends messages again, or is not in use");
	}
	return 0;
}

/** Shape: out[AT_ONCE_MAX]. */
static int find_quarantined(struct db *db, int64_t since, struct found *out, int *n, struct fw_err *err)
{
	struct find_waiting waiting[AT_ONCE_MAX];
	if (find_quarantined_devices(db, since, waiting, AT_ONCE_MAX, n, err) != 0)
		return -1;
	for (int i = 0; i < *n; i++) {
		out[i].id = waiting[i].device;
		snprintf(out[i].title, sizeof out[i].title, "device %s is quarantined: %s; %lld job%s", waiting[i].uuid,
			waiting[i].why, (long long)waiting[i].jobs, waiting[i].jobs == 1 ? " waits" : "s wait");
	}
	return 0;
}

static int find_quarantine_over(struct db *db, struct found *out, int *n, struct fw_err *err)
{
	struct find_offline_alert over[AT_ONCE_MAX];
	if (find_offline_quarantine_ended(db, over, AT_ONCE_MAX, n, err) != 0)
		return -1;
	for (int i = 0; i < *n; i++) {
		enum devicestate state = over[i].state;
		out[i].id = over[i].alert;
		if (state == DEVICESTATE_QUARANTINED)
			snprintf(out[i].title, sizeof out[i].title, "no job waits for the device");
		else
			snprintf(out[i].title, sizeof out[i].title, "the device is %s",
				state == DEVICESTATE_OK ? "back" : devicestate_name(state));
	}
	return 0;
}

static int open_all(struct db *db, const struct config *config, enum alertkind kind, const struct found *found, int n,
	int64_t now_ms, struct fw_err *err)
{
	for (int i = 0; i < n; i++) {
		bool is_new;
		struct store_alert a = {
			.device = found[i].id, .kind = kind, .title = found[i].title, .cells_json = "[]", .worst_pct = NAN
		};
		if (alert_open(db, config, &a, now_ms, &is_new, err) != 0)
			return -1;
		log_warning("device.alert", "alert=%lld kind=%s what=%s", (long long)a.id, alertkind_name(kind),
			log_quote(found[i].title));
	}
	return 0;
}

/** Each alert's title is the reason. */
static int resolve_all(
	struct db *db, const struct config *config, const struct found *found, int n, int64_t now_ms, struct fw_err *err)
{
	for (int i = 0; i < n; i++)
		if (alert_resolve(db, config, found[i].id, 0, found[i].title, now_ms, err) != 0)
			return -1;
	return 0;
}

int device_alert_check(
	struct db *db, const struct config *config, int64_t awake_ms, int64_t now_ms, int *changed, struct fw_err *err)
{
	struct found found[AT_ONCE_MAX];
	int64_t since = now_ms - config->offline_after_ms;
	int received, back, silent = 0, quarantined;
	*changed = 0;
	if (find_online_again(db, found, &received, err) != 0 || resolve_all(db, config, found, received, now_ms, err) != 0 ||
		find_quarantine_over(db, found, &back, err) != 0 || resolve_all(db, config, found, back, now_ms, err) != 0 ||
		(awake_ms <= since && find_offline(db, since, now_ms, found, &silent, err) != 0) ||
		open_all(db, config, ALERTKIND_DEVICE_OFFLINE, found, silent, now_ms, err) != 0 ||
		find_quarantined(db, since, found, &quarantined, err) != 0 ||
		open_all(db, config, ALERTKIND_QUARANTINED, found, quarantined, now_ms, err) != 0)
		return -1;
	*changed = received + back + silent + quarantined;
	return 0;
}

static int64_t check_interval_ms(const struct device_alert_watch *s)
{
	int64_t pause = s->config->offline_after_ms / CHECKS;
	return pause < PAUSE_MIN_MS ? PAUSE_MIN_MS : pause > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause;
}

/** Only reads: an empty write transaction would count as evidence that the disk works. */
static bool is_quarantine_alert_due(const struct device_alert_watch *s, int64_t now_ms)
{
	struct found found[AT_ONCE_MAX];
	struct fw_err err = { 0 };
	int due = 0, over = 0;
	int rc = find_quarantined(s->txn->db, now_ms - s->config->offline_after_ms, found, &due, &err) ||
		 find_quarantine_over(s->txn->db, found, &over, &err);
	err_clear(&err);
	return rc == 0 && due + over > 0;
}

/* Time between two checks after which the daemon or the machine must have slept. */
static int64_t gap_ms(const struct device_alert_watch *s)
{
	int64_t gap = s->config->offline_after_ms / 2 + QUARANTINE_CHECK_MS;
	return gap < GAP_MAX_MS ? gap : GAP_MAX_MS;
}

static void check_devices(void *arg)
{
	struct device_alert_watch *s = arg;
	struct fw_err err = { 0 };
	int changed;
	s->timer = NULL;
	int64_t now_ms = clock_utc_ms(), pause_ms = check_interval_ms(s);
	if (now_ms < s->checked_ms || now_ms - s->checked_ms > gap_ms(s)) /* nothing could be received meanwhile */
		s->awake_ms = now_ms;
	s->checked_ms = now_ms;
	if (now_ms >= s->due_ms || s->due_ms > now_ms + pause_ms || is_quarantine_alert_due(s, now_ms)) {
		s->due_ms = now_ms + pause_ms;
		if (txn_begin(s->txn, &err) != 0 ||
			txn_end(s->txn, device_alert_check(s->txn->db, s->config, s->awake_ms, now_ms, &changed, &err), &err) !=
				0)
			log_warning("device.silence", "err=%s", log_quote(err.text));
	}
	loop_after(s->loop, pause_ms < QUARANTINE_CHECK_MS ? pause_ms : QUARANTINE_CHECK_MS, check_devices, s, &s->timer);
}

struct device_alert_watch *device_alert_start(struct loop *l, const struct config *c, struct txn *txn)
{
	struct device_alert_watch *s = mem_alloc_zero(1, sizeof *s);
	*s = (struct device_alert_watch){ .loop = l, .config = c, .txn = txn, .due_ms = clock_utc_ms() };
	loop_after(l, check_interval_ms(s) < QUARANTINE_CHECK_MS ? check_interval_ms(s) : QUARANTINE_CHECK_MS, check_devices, s,
		&s->timer);
	return s;
}

void device_alert_stop(struct device_alert_watch *s)
{
	if (!s)
		return;
	loop_remove(s->loop, s->timer);
	free(s);
}
