/** judge_news.h - who hears of a verdict: alerts and their end, events for readers, outbox rows for webhooks. */
#ifndef FLOPWATCHD_VERDICT_JUDGE_NEWS_H
#define FLOPWATCHD_VERDICT_JUDGE_NEWS_H

#include "flopwatchd/alert/alert_cells.h"
#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "flopwatchd/verdict/judge.h"

/** What a comparison's cells have brought so far. */
struct judge_news {
	int regressions; /* all, those too that were accepted */
	int failures;    /* newly broken cells that failed; others are not believed, and no search can tell where that began */
	struct alert_cells lost, broken, better;
};

void judge_news_init(struct judge_news *n);
void judge_news_fini(struct judge_news *n);
/** Note cell `i` of `r`, judged as `cell`. A loss that a person has accepted is no news. */
int judge_news_cell(struct judge_news *n, struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, struct fw_err *err);

/**
 * After all cells: with `whole`, open alerts and resolve those that are over; then the event job.done. Alerts of kind broken
 * and vanished are for the upstream branch alone: on another branch a failure is its author's affair. Fills the rest of `out`.
 */
int judge_news_publish(struct db *db, const struct config *config, struct judge_news *n, const struct result *r,
	const struct store_job *job, const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** A device was seen in an environment that no comparison had yet: an event, never an alert. */
int judge_news_baseline_period(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err);

#endif
