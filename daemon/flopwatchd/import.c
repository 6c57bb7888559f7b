#include "flopwatchd/internal.h"

#include <math.h>

#include "flopwatchd/job/job.h"

#define THRESHOLD_PCT 1.5

static void add_text(struct hash_state *h, const char *text)
{
	hash_update(h, text ? text : "", strlen(text ? text : "") + 1);
}

/* Derive a nonce from exactly these results. Shape: nonce[33]. */
static void hash_results(int64_t repo, const struct foreign_results *f, char nonce[33])
{
	struct hash_state h;
	char hex[HASH_HEX];
	hash_begin(&h);
	hash_update(&h, &repo, sizeof repo);
	add_text(&h, f->branch);
	add_text(&h, f->commit);
	add_text(&h, f->base);
	add_text(&h, f->name);
	for (int i = 0; i < f->n; i++) {
		const double value[] = { f->row[i].base_ms, f->row[i].target_ms, f->row[i].base_tflops, f->row[i].target_tflops };
		add_text(&h, f->row[i].cell);
		if (f->row[i].failure)
			add_text(&h, f->row[i].failure);
		hash_update(&h, value, sizeof value);
	}
	hash_end(&h, hex);
	snprintf(nonce, 33, "%.32s", hex);
}

static int put_job(struct db *db, int64_t repo, const struct foreign_results *f, const char *nonce, int64_t now,
	struct store_job *job, struct fw_err *err)
{
	*job = (struct store_job){ .repo = repo, .kind = JOBKIND_IMPORT, .origin = "import", .base_how = "given" };
	snprintf(job->branch, sizeof job->branch, "%s", f->branch ? f->branch : "");
	snprintf(job->target_sha, sizeof job->target_sha, "%s", f->commit);
	snprintf(job->base_sha, sizeof job->base_sha, "%s", f->base && f->base[0] ? f->base : f->commit);
	snprintf(job->suite, sizeof job->suite, "%s", f->name);
	if (store_job_insert(db, job, now, err) != 0)
		return -1;
	return store_job_nonce(db, job->id, nonce, err);
}

static int put_suite(struct db *db, const struct foreign_results *f, int64_t *id, struct fw_err *err)
{
	char sha[HASH_HEX];
	struct buf keys;
	buf_init(&keys, 1 << 20);
	buf_printf(&keys, "imported: %s\n", f->name);
	for (int i = 0; i < f->n; i++)
		buf_printf(&keys, "%s\n", f->row[i].cell);
	hash_hex(keys.data, keys.len, sha);
	int result = store_suite_put(db, sha, f->name, keys.data, keys.len, "imported", id, err);
	buf_fini(&keys);
	return result;
}

static double nan_if_zero(double v)
{
	return v > 0 ? v : NAN;
}

static int put_cell(struct db *db, const struct foreign_row *row, int64_t comparison, int n, const char *name, struct fw_err *err)
{
	struct store_cell c = { .comparison = comparison, .n = n, .threshold_pct = THRESHOLD_PCT, .verdict = VERDICT_UNDECIDED };
	bool both = row->base_ms > 0 && row->target_ms > 0;
	/* FLOPs of a call follow from either side's rate */
	double flops = row->target_tflops > 0 ? row->target_tflops * row->target_ms : row->base_tflops * row->base_ms;
	c.m = c.m_raw = c.se = c.beta = c.m_code = c.se_clock = c.decided_m = c.decided_se = c.ci_low_pct = c.ci_high_pct =
		c.mde_pct = NAN;
	snprintf(c.key, sizeof c.key, "%s", row->cell);
	snprintf(c.group, sizeof c.group, "%.15s", name);
	c.flops = nan_if_zero(flops * 1e9);
	c.base_median_ms = nan_if_zero(row->base_ms);
	c.target_median_ms = nan_if_zero(row->target_ms);
	c.change_pct = c.decided_pct = both ? 100 * (row->base_ms / row->target_ms - 1) : NAN;
	if (row->failure) {
		c.verdict = VERDICT_FAILED;
		snprintf(c.failure, sizeof c.failure, "reported");
	}
	snprintf(c.reason, sizeof c.reason, "%s",
		row->failure          ? row->failure
		: both                ? "imported: two values without noise cannot show a change of 1.5 %"
		: row->target_ms == 0 ? "imported: the target has no such row"
				      : "imported: there is no base value to compare with");
	return store_cell_insert(db, &c, err);
}

static int put_all(
	struct db *db, int64_t repo, const struct foreign_results *f, const char *nonce, int64_t *comparison, struct fw_err *err)
{
	int64_t now = clock_utc_ms();
	struct store_job job;
	struct store_comparison c = { .repo = repo, .kind = JOBKIND_IMPORT, .verdict = VERDICT_UNDECIDED, .finished_at = now };
	struct rule rule;
	struct buf text;
	if (put_job(db, repo, f, nonce, now, &job, err) != 0 || put_suite(db, f, &c.suite, err) != 0)
		return -1;
	c.job = job.id;
	snprintf(c.branch, sizeof c.branch, "%s", job.branch);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", job.base_sha);
	snprintf(c.base_how, sizeof c.base_how, "%s", job.base_how);
	snprintf(c.target_sha, sizeof c.target_sha, "%s", job.target_sha);
	rule_default(&rule, f->n);
	buf_init(&text, 1 << 16);
	protocol_write_rule(&text, &rule);
	c.rule_json = text.data;
	int result = store_comparison_insert(db, &c, err);
	buf_fini(&text);
	for (int i = 0; i < f->n && result == 0; i++)
		result = put_cell(db, &f->row[i], c.id, i, f->name, err);
	if (result != 0 || store_comparison_verdict(db, c.id, VERDICT_UNDECIDED, err) != 0 ||
		store_job_done(db, job.id, now, err) != 0)
		return -1;
	*comparison = c.id;
	return body_store(db, c.id, err);
}

int import_store(struct txn *txn, int64_t repo, const struct foreign_results *results, int64_t *comparison, bool *is_new,
	struct fw_err *err)
{
	char nonce[33];
	hash_results(repo, results, nonce);
	int found = store_job_imported(txn->db, repo, results->commit, nonce, comparison, err);
	*is_new = found == 0;
	if (found != 0)
		return found > 0 ? 0 : -1;
	if (txn_begin(txn, err) != 0)
		return -1;
	return txn_end(txn, put_all(txn->db, repo, results, nonce, comparison, err), err);
}
