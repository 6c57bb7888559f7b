#include "flopwatchd/notify/notify.h"

#include <math.h>

enum { TEXT_MAX = 48 << 10, PAYLOAD_MAX = 128 << 10, CELLS_MAX = 200 };

static void write_cell(void *arg, const struct store_cell *c)
{
	struct buf *text = arg;
	char words[EXPLAIN_SIZE];
	buf_printf(text, "  %s: %s", c->key, verdict_name(c->verdict));
	if (c->failure[0])
		buf_printf(text, " (%s)", c->failure);
	switch (c->decider) {
	case DECIDER_SUSTAINED_RUNS:
		buf_printf(text, " %+.2f %% sustained, in pairs", c->decided_pct);
		break;
	case DECIDER_MEAN:
		explain_slow_calls(c->mean.share, c->mean.longer, words);
		buf_printf(text, " %+.2f %% on average (%s), in pairs", c->decided_pct, words);
		break;
	case DECIDER_PAIRS:
		break;
	}
	if (isfinite(c->change_pct))
		buf_printf(text, " %+.2f %%", c->change_pct);
	if (isfinite(c->ci_low_pct) && isfinite(c->ci_high_pct))
		buf_printf(text, " (%+.2f .. %+.2f)", c->ci_low_pct, c->ci_high_pct);
	buf_putc(text, '\n');
}

/** Write the summary of several suites: "verdict: regression, 1 of 3 suites still open". */
static int write_summary(struct db *db, const struct store_comparison *c, struct buf *text, struct fw_err *err)
{
	struct commit_verdict v;
	int result = store_commit_verdict(db, c->repo, c->target_sha, NULL, &v, err);
	if (result == 0 && v.n > 1) {
		buf_printf(text, "verdict: %s", v.verdict == VERDICT_NONE ? "not known yet" : verdict_name(v.verdict));
		if (v.n_open)
			buf_printf(text, ", %d of %d suites still open", v.n_open, v.n);
		for (int i = 0; i < v.n; i++)
			if (commit_verdict_is_unmeasured(&v.suite[i]))
				buf_printf(text, ", %s not measured", v.suite[i].job.suite);
		buf_putc(text, '\n');
	}
	commit_verdict_fini(&v);
	return result;
}

static int write_text(
	struct db *db, const struct config *config, const struct store_comparison *c, struct buf *text, struct fw_err *err)
{
	struct find_notification_suite judged[MANIFEST_SUITES_MAX];
	int n;
	if (write_summary(db, c, text, err) != 0)
		return -1;
	if (find_notification_suites(db, c->repo, c->target_sha, judged, MANIFEST_SUITES_MAX, &n, err) != 0)
		return -1;
	for (int i = 0; i < n; i++) {
		const struct find_notification_suite *j = &judged[i];
		bool self = j->kind == JOBKIND_SELFCHECK;
		struct store_accepted accepted = { .verdict = j->verdict };
		if (j->verdict == VERDICT_REGRESSION && store_accepted_of(db, j->comparison, &accepted, err) != 0)
			return -1;
		buf_printf(text, "%s: %s%s%.12s, C%lld\n", j->suite, verdict_name(accepted.verdict),
			self ? ", measured alone " : " against ", self ? "" : j->base_sha, (long long)j->comparison);
		if (accepted.covered)
			buf_printf(text, "  %d of %d slowdowns accepted by %s in A%lld\n", accepted.covered,
				accepted.covered + accepted.lost, accepted.who, (long long)accepted.alert);
		if (config->public_url[0])
			buf_printf(text, "  %s/comparisons/%lld\n", config->public_url, (long long)j->comparison);
		if (find_notification_each(db, j->comparison, CELLS_MAX, write_cell, text, err) != 0)
			return -1;
	}
	buf_require_memory(text);
	if (text->failed) /* thousands of cells: only the verdicts fit */
		buf_clear(text), buf_printf(text, "C%lld: %s\n", (long long)c->id, verdict_name(c->verdict));
	return 0;
}

int gitnote_enqueue(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	int at = config ? config_repo_find(config, job->repo_name) : -1;
	struct buf text, payload;
	struct jsonw j;
	if (at < 0 || !strcmp(config->repo[at].notes, "none") || !config->repo[at].notes[0] || !status_is_reported(job))
		return 0;
	buf_init(&text, TEXT_MAX);
	buf_init(&payload, PAYLOAD_MAX);
	int result = write_text(db, config, c, &text, err);
	jsonw_init(&j, &payload);
	jsonw_format(&j, "{ sha=%s text=%s }", c->target_sha, text.data);
	if (result == 0)
		result = payload.failed
				 ? err_set(err, ERR_FULL, "the note of commit %.12s does not fit", c->target_sha)
				 : store_outbox_replace(db, "note", job->repo_name, c->target_sha, payload.data, now_ms, err);
	buf_fini(&text);
	buf_fini(&payload);
	return result;
}
