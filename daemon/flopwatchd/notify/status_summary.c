#include "flopwatchd/notify/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"
#include "lib/lib.h"

enum { DESCRIPTION_MAX = 4096 };

/* Write "gemm regression -9.02 %", "second not measured: cancelled by ada", "third waits". */
static void write_suite(struct buf *out, const struct commit_suite *s)
{
	const struct commit_job *word = &s->word;
	const char *why = s->job.why;
	bool is_timed = word->end == COMMIT_JUDGED && isfinite(word->worst_pct);
	if (s->job.suite[0])
		buf_printf(out, "%s ", s->job.suite);
	if (commit_verdict_is_open(s)) {
		buf_puts(out, s->job.state == JOBSTATE_QUEUED ? "waits" : "is being measured");
	} else if (word->id && word->end == COMMIT_JUDGED) {
		buf_puts(out, verdict_name(commit_verdict_of(s)));
		if (word->accepted && word->verdict == VERDICT_ACCEPTED)
			buf_printf(out, " by %s", word->accepted_by);
		if (is_timed && word->regressions)
			buf_printf(out, " %+.2f %%", word->worst_pct);
		else if (isfinite(word->best_pct))
			buf_printf(out, " %+.2f %%", word->best_pct);
	} else {
		buf_printf(out, "not measured%s%s", why[0] ? ": " : "", why);
	}
}

/* Worst first: a forge shows the start of the text. */
static int compare_severity(const void *a, const void *b)
{
	const struct commit_suite *x = *(const struct commit_suite *const *)a, *y = *(const struct commit_suite *const *)b;
	int v = (int)commit_verdict_of(x), w = (int)commit_verdict_of(y);
	return v != w ? (v > w) - (v < w) : (x->first > y->first) - (x->first < y->first);
}

static int write_description(const struct commit_verdict *v, struct buf *out, struct fw_err *err)
{
	const struct commit_suite **order = calloc((size_t)v->n, sizeof *order);
	if (!order)
		return err_set(err, ERR_FULL, "out of memory for a status");
	for (int i = 0; i < v->n; i++)
		order[i] = &v->suite[i];
	qsort(order, (size_t)v->n, sizeof *order, compare_severity);
	if (v->n > 1 && v->n_open)
		buf_printf(out, "%d of %d suites ended: ", v->n - v->n_open, v->n);
	else if (v->n > 1 && v->verdict != VERDICT_NONE)
		buf_printf(out, "%s: ", verdict_name(v->verdict));
	for (int i = 0; i < v->n; i++) {
		buf_puts(out, i ? ", " : "");
		write_suite(out, order[i]);
	}
	free(order);
	return out->failed ? err_set(err, ERR_FULL, "the description of a status does not fit") : 0;
}

static const char *get_state(const struct commit_verdict *v)
{
	const struct commit_suite *decides = v->decides < 0 ? NULL : &v->suite[v->decides];
	if (v->n_open)
		return "pending";
	if (v->verdict == VERDICT_NONE && v->n_unmeasured)
		return "cancelled";
	if (decides && decides->word.id && decides->word.end == COMMIT_FAILED)
		return "error"; /* flopwatch or the plan failed, not the commit */
	return status_update_of(v->verdict);
}

static void find_page(const struct commit_verdict *v, const char *sha, char *page, size_t size)
{
	if (v->n > 1)
		snprintf(page, size, "/commits/%.64s", sha);
	else if (v->suite[0].word.comparison && !v->n_open)
		snprintf(page, size, "/comparisons/%lld", (long long)v->suite[0].word.comparison);
	else
		snprintf(page, size, "/jobs/%lld", (long long)v->suite[0].job.id);
}

static bool is_planned(const struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].job.suite[0] || v->suite[i].word.id)
			return true;
	return false;
}

int status_summary_enqueue(
	struct db *db, int64_t repo, const char *repo_name, const char *sha, int64_t now_ms, struct fw_err *err)
{
	struct commit_verdict v;
	struct buf text;
	char page[80];
	buf_init(&text, DESCRIPTION_MAX);
	int result = store_commit_verdict(db, repo, sha, NULL, &v, err);
	if (result == 0 && is_planned(&v)) {
		result = write_description(&v, &text, err);
		find_page(&v, sha, page, sizeof page);
		struct status_update word = { sha, "", get_state(&v), text.data, page };
		if (result == 0)
			result = status_update_enqueue(db, repo_name, &word, now_ms, err);
	}
	commit_verdict_fini(&v);
	buf_fini(&text);
	return result;
}
