#include "db/db.h"

int store_retry_count_noisy(struct db *db, int64_t comparison, int64_t *n, struct fw_err *err)
{
	return stmt_optional(db_first_int(db, n, err,
		"SELECT count(*) FROM cell WHERE comparison = :comparison AND verdict = 'undecided' AND flags & :noisy",
		"comparison=%ld noisy=%d", comparison, FLAG_NOISY));
}

int store_retry_schedule(struct db *db, int64_t job, int64_t at, int *n, struct fw_err *err)
{
	return db_run_count(
		db, n, err, "UPDATE job SET again_at = :at WHERE id = :id AND again_of IS NULL", "at=%ld id=%ld", at, job);
}

int store_retry_due(struct db *db, int64_t now_ms, int64_t *job, struct fw_err *err)
{
	return db_first_int(db, job, err,
		"SELECT id FROM job INDEXED BY job_again WHERE again_at IS NOT NULL AND (again_at <= :now OR ended_at > :now) "
		"ORDER BY again_at, id LIMIT 1",
		"now=%ld", now_ms);
}

int store_retry_next(struct db *db, int64_t *job, struct fw_err *err)
{
	struct stmt *s = db_stmt(
		db, "SELECT id FROM job INDEXED BY job_again WHERE again_at IS NOT NULL ORDER BY again_at, id LIMIT 1", err);
	return stmt_first_int(s, job, err);
}

int store_retry_is_useful(struct db *db, int64_t job, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM job j JOIN comparison c ON c.job = j.id AND c.verdict = 'undecided' JOIN branch_tip b ON b.repo = "
		"j.repo AND b.name = j.branch AND b.commit_sha = j.target_sha AND b.watched AND NOT b.gone WHERE j.id = :id AND "
		"NOT EXISTS (SELECT 1 FROM job n WHERE n.repo = j.repo AND n.target_sha = j.target_sha AND n.id > j.id AND "
		"n.branch = j.branch AND n.suite = j.suite AND n.kind = 'compare' AND NOT n.quick AND NOT n.some_cells AND "
		"n.state NOT IN ('failed', 'cancelled', 'superseded', 'target_missing'))",
		"id=%ld", job);
}

int store_retry_clear(struct db *db, int64_t job, int64_t by, struct fw_err *err)
{
	if (db_exec(db, err, "UPDATE job SET again_at = NULL WHERE id = :id", "id=%ld", job))
		return -1;
	if (!by)
		return 0;
	return db_exec(db, err, "UPDATE job SET again_of = :id WHERE id = :by", "id=%ld by=%ld", job, by);
}
