/** judge_news.h - who hears of a verdict: alert, recovery, events for readers, outbox rows for webhooks. */
#ifndef DAEMON_JUDGE_NEWS_H
#define DAEMON_JUDGE_NEWS_H

#include "base/jsonw.h"
#include "config.h"
#include "db/store_job.h"
#include "db/store_result.h"
#include "judge.h"

/** Regressions seen so far, as the JSON that an alert holds. */
struct judge_news {
	struct buf cells;
	struct jsonw j;
	int regressions;
	double worst_pct;
};

void judge_news_init(struct judge_news *n);
void judge_news_fini(struct judge_news *n);
/** Note a judged cell. */
void judge_news_cell(struct judge_news *n, const struct store_cell *c);

/**
 * After all cells: with `whole`, open the alert or resolve those that are over; then events job.done, alert.opened and
 * alert.resolved, and one outbox row for every webhook and alert. Fills the rest of `out`.
 */
int judge_news_publish(struct db *db, const struct config *config, struct judge_news *n, const struct store_job *job,
	const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out, struct fw_err *err);

/** A device was seen in an environment that no comparison had yet: an event, never an alert. */
int judge_news_epoch(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err);

#endif
