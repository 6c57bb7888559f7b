/* judge_news.c - alerts and the messages about them, all in the verdict's own transaction, so that none is lost or doubled. */
#include "judge_news.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "db/store_live.h"
#include "db/store_outbox.h"

enum { NEWS_MAX = 1 << 20 };

void judge_news_init(struct judge_news *n)
{
	*n = (struct judge_news){ .worst_pct = 0 };
	buf_init(&n->cells, NEWS_MAX);
	jsonw_init(&n->j, &n->cells);
	jsonw_array(&n->j);
}

void judge_news_fini(struct judge_news *n)
{
	buf_fini(&n->cells);
}

void judge_news_cell(struct judge_news *n, const struct store_cell *c)
{
	if (c->verdict != VERDICT_REGRESSION)
		return;
	n->regressions++;
	n->worst_pct = fmin(n->worst_pct, c->change_pct);
	jsonw_object(&n->j);
	jsonw_kv_string(&n->j, "cell", c->key);
	jsonw_kv_double(&n->j, "change_pct", c->change_pct);
	jsonw_kv_bool(&n->j, "borderline", c->borderline);
	jsonw_object_end(&n->j);
}

/* ---- messages -------------------------------------------------------------------------------------------------------- */

/** Store `text` as an event, and with a config as one outbox row a webhook. */
static int deliver(
	struct db *db, const struct config *config, const char *kind, const struct buf *text, int64_t now_ms, struct fw_err *err)
{
	if (text->failed)
		return err_set(err, ERR_FULL, "the message %s does not fit", kind);
	if (store_event(db, now_ms, kind, text->data, NULL, err))
		return -1;
	for (int i = 0; config && i < config->n_webhooks; i++)
		if (store_outbox_insert(db, "webhook", config->webhook[i].name, text->data, now_ms, err))
			return -1;
	return 0;
}

static int tell_job(struct db *db, const struct store_job *job, const struct store_comparison *c, const struct judge_news *n,
	int64_t now_ms, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, NEWS_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "event", "job.done");
	jsonw_kv_int(&j, "job", job->id);
	jsonw_kv_string(&j, "state", "done");
	jsonw_kv_int(&j, "comparison", c->id);
	jsonw_kv_string(&j, "verdict", verdict_name(c->verdict));
	jsonw_kv_int(&j, "regressions", n->regressions);
	jsonw_kv_string(&j, "repo", job->repo_name);
	jsonw_kv_string(&j, "branch", c->branch);
	jsonw_kv_string(&j, "target", c->target_sha);
	jsonw_object_end(&j);
	int rc = deliver(db, NULL, "job.done", &text, now_ms, err);
	buf_fini(&text);
	return rc;
}

/** An alert as its receivers read it. */
struct alert_text {
	struct jsonw j;
	const struct store_comparison *by; /* comparison that opened or resolved it */
	const char *event;
	int64_t now_ms;
};

static void write_alert(void *arg, const struct view_alert *a)
{
	struct alert_text *t = arg;
	struct jsonw *j = &t->j;
	char at[32];
	clock_format(t->now_ms, at);
	jsonw_object(j);
	jsonw_kv_string(j, "event", t->event);
	jsonw_kv_string(j, "at", at);
	jsonw_kv_int(j, "alert", a->id);
	jsonw_kv_string(j, "state", a->state);
	jsonw_kv_string(j, "repo", a->repo);
	jsonw_kv_string(j, "branch", a->branch);
	jsonw_kv_string(j, "target", a->target);
	jsonw_kv_string(j, "subject", a->subject);
	jsonw_kv_string(j, "base", t->by->base_sha);
	jsonw_kv_int(j, "comparison", t->by->id);
	jsonw_kv_string(j, "verdict", verdict_name(t->by->verdict));
	jsonw_kv_double(j, "worst_pct", a->worst_pct);
	jsonw_key(j, "cells");
	jsonw_raw(j, a->cells_json, strlen(a->cells_json));
	jsonw_object_end(j);
}

static int tell_alert(struct db *db, const struct config *config, int64_t alert, const char *event,
	const struct store_comparison *c, int64_t now_ms, struct fw_err *err)
{
	struct alert_text t = { .by = c, .event = event, .now_ms = now_ms };
	struct buf text;
	buf_init(&text, NEWS_MAX);
	jsonw_init(&t.j, &text);
	int rc = view_alert(db, alert, write_alert, &t, err);
	if (rc == 0)
		rc = deliver(db, config, event, &text, now_ms, err);
	buf_fini(&text);
	return rc;
}

/* ---- alerts ---------------------------------------------------------------------------------------------------------- */

static int open_alert(struct db *db, const struct config *config, struct judge_news *n, const struct store_comparison *c,
	int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	struct store_alert a = { .repo = c->repo, .comparison = c->id, .worst_pct = n->worst_pct };
	jsonw_array_end(&n->j);
	if (n->cells.failed)
		return err_set(err, ERR_FULL, "the alert's cells do not fit");
	a.cells_json = n->cells.data;
	snprintf(a.branch, sizeof(a.branch), "%s", c->branch);
	snprintf(a.target_sha, sizeof(a.target_sha), "%s", c->target_sha);
	if (store_alert_open(db, &a, now_ms, &out->alert_is_new, err))
		return -1;
	out->alert = a.id;
	return out->alert_is_new ? tell_alert(db, config, a.id, "alert.opened", c, now_ms, err) : 0;
}

int judge_news_publish(struct db *db, const struct config *config, struct judge_news *n, const struct store_job *job,
	const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	if (tell_job(db, job, c, n, now_ms, err))
		return -1;
	if (!whole)
		return 0;
	if (n->regressions && open_alert(db, config, n, c, now_ms, out, err))
		return -1;
	if (store_alert_recover(db, c->id, now_ms, out->recovered, &out->n_recovered, err))
		return -1;
	for (int i = 0; i < out->n_recovered; i++)
		if (tell_alert(db, config, out->recovered[i], "alert.resolved", c, now_ms, err))
			return -1;
	return 0;
}

int judge_news_epoch(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, NEWS_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "event", "epoch.started");
	jsonw_kv_int(&j, "environment", environment);
	jsonw_kv_string(&j, "device", r->device.uuid);
	jsonw_kv_string(&j, "name", r->device.name);
	jsonw_kv_string(&j, "driver", r->device.driver);
	jsonw_kv_string(&j, "toolkit", r->device.toolkit);
	jsonw_kv_string(&j, "suite", r->plan.suite_name);
	jsonw_object_end(&j);
	int rc = deliver(db, NULL, "epoch.started", &text, now_ms, err);
	buf_fini(&text);
	return rc;
}
