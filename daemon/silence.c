/* silence.c - a query for devices that should be heard, and one for those that are heard again. */
#include "silence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alert.h"
#include "base/clock.h"
#include "base/log.h"

enum { LOOKS = 4 /* in the time that counts as silence */, PAUSE_MIN_MS = 250, PAUSE_MAX_MS = 60000, AT_ONCE_MAX = 16 };

struct silence {
	struct loop *loop;
	const struct config *config;
	struct ledger *ledger;
	struct loop_source *timer;
};

struct found {
	int64_t id; /* of the device, or of the alert that is over */
	char title[256];
};

#define HAS_JOB "EXISTS (SELECT 1 FROM job j WHERE j.state IN ('sent', 'building', 'checking', 'measuring') AND j.device = d.id) "

/** Shape: out[AT_ONCE_MAX]; more wait for the next look. */
static int find_silent(struct db *db, int64_t since, int64_t now_ms, struct found *out, int *n, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT * FROM (SELECT d.id, d.uuid, d.seen_at, (SELECT count(*) FROM job j WHERE j.state = 'queued' AND "
		"j.queued_at < :since AND j.device_kind IN ('', d.kind) AND coalesce(j.device_uuid, '') IN ('', d.uuid)) AS "
		"waiting "
		"FROM device d WHERE d.state = 'ok' AND d.seen_at < :since AND NOT " HAS_JOB
		"AND NOT EXISTS (SELECT 1 FROM alert a WHERE a.device = d.id AND a.kind = 'silent' AND "
		"a.state IN ('open', 'acknowledged', 'accepted'))) WHERE waiting > 0 LIMIT :limit",
		err);
	int r;
	*n = 0;
	if (!s)
		return -1;
	stmt_int(s, ":since", since);
	stmt_int(s, ":limit", AT_ONCE_MAX);
	while ((r = stmt_step(s, err)) == 1) {
		struct found *f = &out[(*n)++];
		f->id = row_int(s, 0);
		snprintf(f->title, sizeof f->title, "device %.128s has said nothing for %lld s, and %lld jobs wait",
			row_text(s, 1), (long long)((now_ms - row_int(s, 2)) / 1000), (long long)row_int(s, 3));
	}
	return r;
}

/** Alerts about devices that were heard since, or that somebody has paused. What was accepted ends too: it may fall silent again. */
static int find_heard(struct db *db, struct found *out, int *n, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT a.id FROM alert a JOIN device d ON d.id = a.device WHERE a.kind = 'silent' AND a.state IN ('open', "
		"'acknowledged') AND (d.seen_at > a.opened_at OR d.state <> 'ok' OR " HAS_JOB ") ORDER BY a.id LIMIT :limit",
		err);
	int r;
	*n = 0;
	if (!s)
		return -1;
	stmt_int(s, ":limit", AT_ONCE_MAX);
	while ((r = stmt_step(s, err)) == 1)
		out[(*n)++].id = row_int(s, 0);
	return r;
}

int silence_look(struct db *db, const struct config *config, int64_t now_ms, int *changed, struct fw_err *err)
{
	struct found found[AT_ONCE_MAX];
	int n;
	bool is_new;
	*changed = 0;
	if (find_heard(db, found, &n, err) != 0)
		return -1;
	for (int i = 0; i < n; i++, (*changed)++)
		if (alert_resolve(db, config, found[i].id, 0, "the device is heard again, or was paused", now_ms, err) != 0)
			return -1;
	if (find_silent(db, now_ms - config->silence_ms, now_ms, found, &n, err) != 0)
		return -1;
	for (int i = 0; i < n; i++, (*changed)++) {
		struct store_alert a = {
			.device = found[i].id, .kind = "silent", .title = found[i].title, .cells_json = "[]", .worst_pct = NAN
		};
		if (alert_open(db, config, &a, now_ms, &is_new, err) != 0)
			return -1;
		log_warning("device.silent", "alert=%lld what=%s", (long long)a.id, log_quote(found[i].title));
	}
	return 0;
}

static int64_t pause_of(const struct silence *s)
{
	int64_t pause = s->config->silence_ms / LOOKS;
	return pause < PAUSE_MIN_MS ? PAUSE_MIN_MS : pause > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause;
}

static void look(void *arg)
{
	struct silence *s = arg;
	struct fw_err err = { 0 };
	int changed;
	s->timer = NULL;
	if (ledger_begin(s->ledger, &err) != 0 ||
		ledger_end(s->ledger, silence_look(s->ledger->db, s->config, clock_utc_ms(), &changed, &err), &err) != 0)
		log_warning("device.silence", "err=%s", log_quote(err.text));
	err_clear(&err);
	if (loop_after(s->loop, pause_of(s), look, s, &s->timer, &err) != 0)
		log_error("device.timer", "err=%s", log_quote(err.text));
}

int silence_start(struct loop *l, const struct config *c, struct ledger *g, struct silence **out, struct fw_err *err)
{
	struct silence *s = calloc(1, sizeof *s);
	if (!s)
		return err_set(err, ERR_INTERNAL, "out of memory");
	*s = (struct silence){ .loop = l, .config = c, .ledger = g };
	if (loop_after(l, pause_of(s), look, s, &s->timer, err) != 0) {
		free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void silence_stop(struct silence *s)
{
	if (!s)
		return;
	loop_remove(s->loop, s->timer);
	free(s);
}
