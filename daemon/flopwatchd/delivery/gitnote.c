/* gitnote.c - see gitnote.h. */
#include "flopwatchd/delivery/gitnote.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "core/verdict/explain.h"
#include "core/verdict/verdict.h"
#include "db/store/commit.h"
#include "db/store/outbox.h"
#include "flopwatchd/delivery/commit_status.h"

enum { TEXT_MAX = 48 << 10, PAYLOAD_MAX = 128 << 10, SUITES_MAX = 16 };

struct judged {
	int64_t id;
	char suite[64], verdict[16], base[65], kind[16];
};

/** The newest comparison of each suite. Returns how many, -1. Shape: out[SUITES_MAX]. */
static int read_judged(struct db *db, const struct store_comparison *c, struct judged *out, struct fw_err *err)
{
	int n = 0, r;
	struct stmt *s = db_stmt(db,
		"SELECT max(c.id), t.name, c.verdict, c.base_sha, c.kind FROM comparison c JOIN suite t ON t.id = c.suite JOIN "
		"job "
		"j ON j.id = c.job WHERE c.repo = :repo AND c.target_sha = :sha AND c.kind IN ('change', 'selfcheck') AND NOT "
		"j.quick AND NOT j.some_cells GROUP BY t.name ORDER BY t.name LIMIT 16",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":sha", c->target_sha);
	while ((r = stmt_step(s, err)) == 1) {
		struct judged *j = &out[n++];
		j->id = row_int(s, 0);
		row_copy(s, 1, j->suite, sizeof j->suite);
		row_copy(s, 2, j->verdict, sizeof j->verdict);
		row_copy(s, 3, j->base, sizeof j->base);
		row_copy(s, 4, j->kind, sizeof j->kind);
	}
	return r < 0 ? -1 : n;
}

static int write_cells(struct db *db, int64_t comparison, struct buf *text, struct fw_err *err)
{
	int r;
	struct stmt *s = db_stmt(db,
		"SELECT key, verdict, failure, change_pct, ci_low_pct, ci_high_pct, decided_by, decided_pct, slow_base, "
		"slow_target, slow_longer FROM cell WHERE "
		"comparison = :id AND verdict "
		"NOT IN ('unchanged', 'identical', 'unsupported') ORDER BY n LIMIT 200",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":id", comparison);
	while ((r = stmt_step(s, err)) == 1) {
		double change = row_double(s, 3);
		buf_printf(text, "  %s: %s", row_text(s, 0), row_text(s, 1));
		if (row_text(s, 2)[0])
			buf_printf(text, " (%s)", row_text(s, 2));
		char words[EXPLAIN_SIZE];
		switch (decider_from_name(row_text(s, 6))) {
		case DECIDER_BURSTS:
			buf_printf(text, " %+.2f %% sustained, in pairs", row_double(s, 7));
			break;
		case DECIDER_MEAN:
			explain_slow_calls((const double[]){ row_double(s, 8), row_double(s, 9) }, row_double(s, 10), words);
			buf_printf(text, " %+.2f %% on average (%s), in pairs", row_double(s, 7), words);
			break;
		case DECIDER_PAIRS:
			break;
		}
		if (isfinite(change))
			buf_printf(text, " %+.2f %%", change);
		if (isfinite(row_double(s, 4)) && isfinite(row_double(s, 5)))
			buf_printf(text, " (%+.2f .. %+.2f)", row_double(s, 4), row_double(s, 5));
		buf_putc(text, '\n');
	}
	return r;
}

/** What several suites come to: "verdict: regression, 1 of 3 suites still open". */
static int write_sum(struct db *db, const struct store_comparison *c, struct buf *text, struct fw_err *err)
{
	struct commit_verdict v;
	int rc = store_commit_verdict(db, c->repo, c->target_sha, NULL, &v, err);
	if (rc == 0 && v.n > 1) {
		buf_printf(text, "verdict: %s", v.verdict == VERDICT_NONE ? "not known yet" : verdict_name(v.verdict));
		if (v.n_open)
			buf_printf(text, ", %d of %d suites still open", v.n_open, v.n);
		for (int i = 0; i < v.n; i++)
			if (commit_verdict_is_unmeasured(&v.suite[i]))
				buf_printf(text, ", %s not measured", v.suite[i].job.suite);
		buf_putc(text, '\n');
	}
	commit_verdict_fini(&v);
	return rc;
}

static int write_text(
	struct db *db, const struct config *config, const struct store_comparison *c, struct buf *text, struct fw_err *err)
{
	struct judged judged[SUITES_MAX];
	if (write_sum(db, c, text, err) != 0)
		return -1;
	int n = read_judged(db, c, judged, err);
	for (int i = 0; i < n; i++) {
		const struct judged *j = &judged[i];
		bool self = !strcmp(j->kind, "selfcheck");
		buf_printf(text, "%s: %s%s%.12s, comparison %lld\n", j->suite, j->verdict,
			self ? ", measured alone " : " against ", self ? "" : j->base, (long long)j->id);
		if (config->public_url[0])
			buf_printf(text, "  %s/comparisons/%lld\n", config->public_url, (long long)j->id);
		if (write_cells(db, j->id, text, err) != 0)
			return -1;
	}
	if (text->failed) /* thousands of cells: the verdicts alone */
		buf_clear(text), buf_printf(text, "comparison %lld: %s\n", (long long)c->id, verdict_name(c->verdict));
	return n < 0 ? -1 : 0;
}

int gitnote_owe(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	int at = config ? config_repo_find(config, job->repo_name) : -1;
	struct buf text, payload;
	struct jsonw j;
	if (at < 0 || !strcmp(config->repo[at].notes, "none") || !config->repo[at].notes[0] || !status_is_told(job))
		return 0;
	buf_init(&text, TEXT_MAX);
	buf_init(&payload, PAYLOAD_MAX);
	int rc = write_text(db, config, c, &text, err);
	jsonw_init(&j, &payload);
	jsonw_object(&j);
	jsonw_kv_string(&j, "sha", c->target_sha);
	jsonw_kv_string(&j, "text", text.data);
	jsonw_object_end(&j);
	if (rc == 0)
		rc = payload.failed ? err_set(err, ERR_FULL, "the note of commit %.12s does not fit", c->target_sha)
				    : store_outbox_replace(db, "note", job->repo_name, c->target_sha, payload.data, now_ms, err);
	buf_fini(&text);
	buf_fini(&payload);
	return rc;
}
