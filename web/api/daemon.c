/* daemon.c - the list of routes, the stream of events, health, a backup of the database. */

#include "web/api/internal.h"

int api_index(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)site, (void)r, (void)err;
	static const struct {
		const char *name, *path;
	} links[] = {
		{ "openapi", "/api/v1/openapi.json" },
		{ "repos", "/api/v1/repos" },
		{ "branches", "/api/v1/branches?repo=&branch=&watched=" },
		{ "fetch", "/api/v1/repos/{repo}/fetches/{id}" },
		{ "pulls", "/api/v1/repos/{repo}/pulls?all=" },
		{ "commit", "/api/v1/commits/{sha}" },
		{ "commit_verdict", "/api/v1/commits/{sha}/verdict?repo=&branch=" },
		{ "comparisons", "/api/v1/comparisons?repo=&branch=&verdict=&since=&until=" },
		{ "comparison", "/api/v1/comparisons/{id}" },
		{ "comparison_reproduce", "/api/v1/comparisons/{id}/reproduce" },
		{ "comparison_csv", "/api/v1/comparisons/{id}.csv" },
		{ "comparison_ffa", "/api/v1/comparisons/{id}/ffa/{file}.csv" },
		{ "comparison_md", "/api/v1/comparisons/{id}.md" },
		{ "comparison_svg", "/api/v1/comparisons/{id}.svg" },
		{ "report", "/api/v1/report?repo=&branch=&verdict=&since=&until=&format=" },
		{ "badge", "/api/v1/badge.svg?repo=&branch=" },
		{ "compare", "/api/v1/compare?repo=&base=&target=" },
		{ "cells", "/api/v1/cells?repo=" },
		{ "history", "/api/v1/history?repo=&branch=&cell=&device=&since=&until=" },
		{ "history_svg", "/api/v1/history.svg?repo=&branch=&cell=&device=" },
		{ "alerts", "/api/v1/alerts?state=&repo=&since=&until=" },
		{ "alert", "/api/v1/alerts/{id}" },
		{ "bisects", "/api/v1/bisects?repo=&since=&until=" },
		{ "bisect", "/api/v1/bisects/{id}" },
		{ "profiles", "/api/v1/profiles?repo=&alert=&comparison=" },
		{ "profile", "/api/v1/profiles/{id}" },
		{ "profile_csv", "/api/v1/profiles/{id}.csv" },
		{ "profile_md", "/api/v1/profiles/{id}.md" },
		{ "profile_configurations_csv", "/api/v1/profiles/{id}/configurations.csv" },
		{ "profile_configurations_md", "/api/v1/profiles/{id}/configurations.md" },
		{ "jobs", "/api/v1/jobs?state=&repo=&since=&until=" },
		{ "job", "/api/v1/jobs/{id}" },
		{ "job_log", "/api/v1/jobs/{id}/log" },
		{ "job_verdict", "/api/v1/jobs/{id}/verdict" },
		{ "devices", "/api/v1/devices" },
		{ "workers", "/api/v1/workers" },
		{ "calibration", "/api/v1/calibration?repo=&device=" },
		{ "peers", "/api/v1/peers?repo=" },
		{ "samples", "/api/v1/samples" },
		{ "samples_month", "/api/v1/samples/{month}.zst" },
		{ "notifications", "/api/v1/notifications?state=&since=&until=" },
		{ "tokens", "/api/v1/tokens" },
		{ "audit", "/api/v1/audit?since=&until=" },
		{ "events", "/api/v1/events" },
		{ "metrics", "/metrics" },
	};
	struct jsonw j;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "version", FW_VERSION);
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		jsonw_kv_string(&j, links[i].name, links[i].path);
	jsonw_object_end(&j);
	return 0;
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

enum { EVENTS_AT_ONCE = 200 };

struct event_reading {
	struct buf *out;
	int64_t last;
};

static void event_row(void *arg, int64_t id, int64_t at, const char *kind, const char *payload)
{
	(void)at;
	struct event_reading *reading = arg;
	reading->last = id;
	buf_printf(reading->out, "id: %lld\nevent: %s\ndata: %s\n\n", (long long)id, kind, payload);
}

static void more_events(struct site *site, int64_t *cursor, struct buf *out)
{
	struct fw_err err = { 0 };
	struct event_reading reading = { .out = out, .last = *cursor };
	if (view_events(site->db, *cursor, EVENTS_AT_ONCE, event_row, &reading, &err) != 0)
		out->failed = true;
	*cursor = reading.last;
}

int api_events(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	response->type = "text/event-stream; charset=utf-8";
	response->stream = more_events;
	int64_t first, last, seen = answer_number(http_header(r, "Last-Event-ID"));
	if (view_event_ends(site->db, &first, &last, err) != 0)
		return -1;
	response->cursor = seen >= 0 ? seen : last;
	/* missed events are no longer stored, or the id is of another database: the client must read everything again */
	if (seen >= 0 && (seen + 1 < first || seen > last)) {
		response->cursor = last;
		buf_printf(&response->body, "id: %lld\nevent: resync\ndata: {}\n\n", (long long)last);
	}
	return 0;
}

/* ---- health -------------------------------------------------------------------------------------------------------- */

/* Warn of an expiring certificate; its end is public, so every client may read this. */
static void warn_of_certificate(const struct site *site, struct buf *out)
{
	const int64_t left_ms = site->certificate.expires_at - clock_utc_ms(), day_ms = 24 * 3600 * 1000;
	if (site->certificate.is_rejected)
		buf_puts(out,
			"warning: the new certificate of HTTPS cannot be used, so the previous one stays; see the daemon's log\n");
	if (!site->certificate.expires_at || left_ms >= SITE_CERTIFICATE_WARN_MS)
		return;
	if (left_ms <= 0)
		buf_puts(out, "warning: the certificate of HTTPS has expired\n");
	else
		buf_printf(out, "warning: the certificate of HTTPS expires in less than %lld days\n",
			(long long)(left_ms / day_ms + 1));
}

int api_healthz(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	if (site->act->health(site->control, err) != 0)
		return answer_problem(r, response, 503, err->text);
	int64_t stuck = 0;
	if (view_outbox_stuck(site->db, &stuck, err) != 0)
		return answer_problem(r, response, 503, err->text);
	response->type = "text/plain; charset=utf-8";
	buf_puts(&response->body, "ok\n");
	if (stuck) /* without details: every client may read this */
		buf_printf(&response->body, "warning: %lld notifications failed %d times or more; see /notifications\n",
			(long long)stuck, STORE_OUTBOX_STUCK);
	warn_of_certificate(site, &response->body);
	return 0;
}

/* ---- backup -------------------------------------------------------------------------------------------------------- */

static int backup_later(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	if (!response) {
		site->act->backup_discard(site->control);
		return 0;
	}
	int state = site->act->backup_take(site->control, response->file, sizeof response->file, err);
	if (state < 0)
		return -1;
	if (state > 0)
		response->later = backup_later;
	else
		response->type = "application/vnd.sqlite3";
	return 0;
}

int api_backup(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	if (site->act->backup(site->control, err) != 0)
		return -1;
	response->later = backup_later;
	return 0;
}
