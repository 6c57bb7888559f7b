/* alert.c - an alert's row and its notifications, always written together. */
#include "flopwatchd/alert/alert.h"

#include <stdio.h>

enum { MESSAGE_MAX = 1 << 20 };

struct jsonw *alert_message(struct store_event *e, const char *kind)
{
	struct jsonw *j = store_event_begin(e, kind);
	jsonw_kv_string(j, "event", kind);
	return j;
}

int alert_deliver(struct db *db, const struct config *config, struct store_event *e, int64_t now_ms, struct fw_err *err)
{
	bool is_alert = strncmp(e->kind, "alert.", 6) == 0;
	int result = store_event_write(e, db, now_ms, err);
	for (int i = 0; config && i < config->n_webhooks && result == 0; i++)
		if (is_alert || config->webhook[i].comparisons)
			result = store_outbox_insert(db, "webhook", config->webhook[i].name, e->text.data, now_ms, err);
	store_event_fini(e);
	return result;
}

struct message {
	const char *kind;
	struct jsonw *j;
	struct db *db;
	const struct config *config;
	int64_t comparison;       /* the comparison that the message is about; 0: the comparison that opened the alert */
	const char *who, *reason; /* the user who changed its state; NULL: the daemon */
	int64_t now_ms;
	int failed;
	struct fw_err *err;
};

static void write_json(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	jsonw_raw(j, text, strlen(text));
}

/** Writes nothing if no comparison shows the alert. */
static void write_comparison(struct message *m, int64_t id)
{
	struct store_comparison c;
	struct buf rule;
	if (!id)
		return;
	buf_init(&rule, 1 << 16);
	m->failed = store_comparison_get(m->db, id, &c, &rule, m->err);
	buf_fini(&rule);
	if (m->failed)
		return;
	jsonw_format(m->j, "base=%s comparison=%ld verdict=%s", c.base_sha, id, verdict_name(c.verdict));
}

static void write_url(struct message *m, int64_t alert)
{
	char url[640];
	snprintf(url, sizeof url, "%s/alerts/%lld", m->config->public_url, (long long)alert);
	jsonw_kv_string(m->j, "url", url);
}

static void write_alert(void *arg, const struct view_alert *a)
{
	struct message *m = arg;
	struct jsonw *j = m->j;
	char at[32];
	clock_format(m->now_ms, at);
	jsonw_format(j, "at=%s alert=%ld kind=%s state=%s", at, a->id, alertkind_name(a->kind), alertstate_name(a->state));
	if (m->who) {
		jsonw_format(j, "by=%s reason=%s", m->who, m->reason);
	}
	jsonw_format(j, "title=%s device~=%s", a->title, a->device);
	if (a->repo[0]) {
		jsonw_format(j, "repo=%s branch=%s target=%s subject=%s", a->repo, a->branch, a->target, a->subject);
	}
	write_comparison(m, m->comparison ? m->comparison : a->comparison);
	if (m->config && m->config->public_url[0])
		write_url(m, a->id);
	jsonw_kv_figure(j, "worst_pct", a->worst_pct);
	write_json(j, "cells", a->cells_json);
	write_json(j, "groups", a->groups_json);
	write_json(j, "culprits", a->culprits_json);
	jsonw_key(j, "why");
	m->failed = m->failed ? m->failed : view_profile_why(m->db, a->id, 0, j, m->err);
}

static int send_message(struct message *m, int64_t alert)
{
	struct store_event event;
	m->j = alert_message(&event, m->kind);
	if (view_alert(m->db, alert, write_alert, m, m->err) == 0 && !m->failed)
		return alert_deliver(m->db, m->config, &event, m->now_ms, m->err);
	store_event_fini(&event);
	return -1;
}

/**
 * Derive title, groups and worst slowdown from all comparisons of the alert. Leaves the title unchanged if the cells give none.
 */
static int update_summary(struct db *db, int64_t id, enum alertkind kind, struct fw_err *err)
{
	struct alert_cells cells;
	struct buf text;
	char title[600] = "";
	const char *own, *groups;
	buf_init(&text, MESSAGE_MAX);
	alert_cells_init(&cells);
	int result = store_alert_cells(db, id, &text, err);
	if (result == 0) {
		alert_cells_count(&cells, text.data);
		if (cells.n_groups && kind != ALERTKIND_ENVIRONMENT) /* its title names the environment change */
			alert_cells_title(&cells, title, sizeof title);
		result = alert_cells_end(&cells, &own, &groups, err);
	}
	if (result == 0)
		result = store_alert_describe(db, id, title, groups, cells.worst_pct, err);
	alert_cells_fini(&cells);
	buf_fini(&text);
	return result;
}

int alert_open(
	struct db *db, const struct config *config, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err)
{
	if (store_alert_open(db, a, now_ms, is_new, err) || (a->n_old_cells && update_summary(db, a->id, a->kind, err)))
		return -1;
	struct message m = { .db = db,
		.config = config,
		.kind = *is_new ? "alert.opened" : "alert.extended",
		.comparison = a->comparison,
		.now_ms = now_ms,
		.err = err };
	if (!*is_new && !a->n_new_cells)
		return 0;
	return send_message(&m, a->id) != 0 || alert_profile(db, config, a, now_ms, err) != 0 ? -1 : 0;
}

int alert_resolve(struct db *db, const struct config *config, int64_t id, int64_t comparison, const char *reason, int64_t now_ms,
	struct fw_err *err)
{
	struct message m = { .db = db,
		.config = config,
		.kind = "alert.resolved",
		.comparison = comparison,
		.who = "flopwatch",
		.reason = reason,
		.now_ms = now_ms,
		.err = err };
	return store_alert_change(db, id, ALERTSTATE_RESOLVED, m.who, reason, now_ms, err) ? -1 : send_message(&m, id);
}

int alert_change(struct db *db, const struct config *config, int64_t id, enum alertstate state, const char *who,
	const char *reason, int64_t now_ms, struct fw_err *err)
{
	char kind[32];
	struct message m = {
		.db = db, .config = config, .kind = kind, .who = who, .reason = reason, .now_ms = now_ms, .err = err
	};
	snprintf(kind, sizeof kind, "alert.%s", alertstate_name(state));
	return store_alert_change(db, id, state, who, reason, now_ms, err) ? -1 : send_message(&m, id);
}

int alert_name(struct db *db, const struct config *config, int64_t id, const char *culprits_json, const char *reason,
	int64_t now_ms, struct fw_err *err)
{
	if (store_alert_culprits(db, id, culprits_json, reason, now_ms, err))
		return -1;
	struct message m = { .db = db, .config = config, .kind = "alert.named", .now_ms = now_ms, .err = err };
	return send_message(&m, id);
}

int alert_explain(struct db *db, const struct config *config, int64_t id, int64_t now_ms, struct fw_err *err)
{
	int explained = view_profile_explains(db, id, err);
	if (explained != 1)
		return explained;
	struct message m = { .db = db, .config = config, .kind = "alert.explained", .now_ms = now_ms, .err = err };
	return send_message(&m, id);
}
