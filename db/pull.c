/** pull.c - pull and merge requests: their heads, and who approved which. */
#include "db/db.h"

/** The commit that measures the head of request `p`: the tip of its branch, unless that is still of another head. */
#define MEASURED                                                                                                                 \
	"(SELECT t.commit_sha FROM branch_tip t JOIN pull_commit c ON c.repo = t.repo AND c.sha = t.commit_sha AND c.pull = "    \
	"p.id AND c.head_sha = p.head_sha WHERE t.repo = p.repo AND t.name = '" PULL_BRANCH "' || p.number AND t.gone = 0)"
/** Of request `p`: its head is that of an own branch; the newest approval of its head. */
#define PULL_COLUMNS                                                                                                             \
	"p.id, r.name, p.number, p.head_sha, p.problem, coalesce((SELECT max(c.own) FROM pull_commit c WHERE c.repo = p.repo "   \
	"AND c.sha = p.head_sha), 0), a.who IS NOT NULL, coalesce(a.who, ''), p.seen_at, coalesce(a.at, 0), coalesce(" MEASURED  \
	", '') FROM pull p JOIN repo r ON r.id = p.repo LEFT JOIN pull_approval a ON a.pull = p.id AND a.head_sha = "            \
	"p.head_sha WHERE p.repo = :repo "
#define IS_OWN "EXISTS (SELECT 1 FROM pull_commit c WHERE c.repo = p.repo AND c.sha = p.head_sha AND c.own)"

static int pass_rows(struct stmt *s, store_pull_fn *each, void *arg, struct fw_err *err)
{
	struct store_pull row;
	return stmt_each(s, err, each(arg, &row), row.id, row.repo, row.number, row.head, row.problem, row.own, row.approved,
		row.who, row.seen_at, row.approved_at, row.commit);
}

int store_pull_each(struct db *db, int64_t repo, bool all, int limit, store_pull_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT " PULL_COLUMNS "AND (:all OR (a.who IS NULL AND NOT " IS_OWN ")) ORDER BY p.number DESC LIMIT :limit",
		"repo=%ld all=%d limit=%d", repo, all, limit);
	return pass_rows(s, each, arg, err);
}

int store_pull_ready(struct db *db, int64_t repo, int limit, store_pull_fn *each, void *arg, struct fw_err *err)
{
	/* Those with a problem last and in any order: each gets its turn, and none delays the others. */
	struct stmt *s = db_query(db, err,
		"SELECT " PULL_COLUMNS "AND (a.who IS NOT NULL OR " IS_OWN ") AND " MEASURED " IS NULL ORDER BY p.problem <> '', "
		"iif(p.problem = '', -coalesce(a.at, p.seen_at), random()), p.number LIMIT :limit",
		"repo=%ld limit=%d", repo, limit);
	return pass_rows(s, each, arg, err);
}

int store_pull_head(struct db *db, int64_t repo, int number, const char *head, bool own, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err,
		    "INSERT INTO pull (repo, number, head_sha, seen_at) VALUES (:repo, :number, :head, :now) ON CONFLICT (repo, "
		    "number) DO UPDATE SET seen_at = iif(head_sha = excluded.head_sha, seen_at, excluded.seen_at), problem = "
		    "iif(head_sha = excluded.head_sha, problem, ''), head_sha = excluded.head_sha",
		    "repo=%ld number=%d head=%s now=%ld", repo, number, head, now_ms) != 0)
		return -1;
	if (db_exec(db, err,
		    "INSERT INTO pull_commit (repo, sha, pull, head_sha, own, seen_at) SELECT repo, head_sha, id, head_sha, :own, "
		    ":now FROM pull WHERE repo = :repo AND number = :number ON CONFLICT DO UPDATE SET own = max(own, "
		    "excluded.own), head_sha = excluded.head_sha",
		    "repo=%ld number=%d own=%d now=%ld", repo, number, own, now_ms) != 0)
		return -1;
	return stmt_any(
		db_query(db, err,
			"SELECT 1 FROM pull p LEFT JOIN pull_approval a ON a.pull = p.id AND a.head_sha = p.head_sha WHERE "
			"p.repo = :repo AND p.number = :number AND (a.who IS NOT NULL OR " IS_OWN ")",
			"repo=%ld number=%d", repo, number),
		err);
}

int store_pull_commit(struct db *db, int64_t repo, int number, const char *head, const char *sha, const char *problem,
	int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err,
		    "UPDATE pull SET problem = :problem WHERE repo = :repo AND number = :number AND head_sha = :head AND problem <> "
		    ":problem",
		    "repo=%ld number=%d head=%s problem=%s", repo, number, head, problem) != 0)
		return -1;
	return *sha ? db_exec(db, err,
			      "INSERT INTO pull_commit (repo, sha, pull, head_sha, own, seen_at) SELECT c.repo, :sha, c.pull, "
			      "c.sha, c.own, :now FROM pull p JOIN pull_commit c ON c.repo = p.repo AND c.sha = :head AND c.pull "
			      "= p.id WHERE p.repo = :repo AND p.number = :number ON CONFLICT DO UPDATE SET own = max(own, "
			      "excluded.own)",
			      "repo=%ld number=%d head=%s sha=%s now=%ld", repo, number, head, sha, now_ms)
		    : 0;
}

int store_pull_mark_own(struct db *db, int64_t repo, const char *sha, struct fw_err *err)
{
	if (db_exec(db, err, "UPDATE pull_commit SET own = 1 WHERE repo = :repo AND sha = :sha AND own = 0", "repo=%ld sha=%s",
		    repo, sha) != 0)
		return -1;
	return (int)db_changes(db);
}

int store_pull_approve(
	struct db *db, int64_t repo, int number, const char *head, const char *who, int64_t now_ms, struct fw_err *err)
{
	char newest[65];
	int found = db_first_text(db, newest, sizeof newest, err,
		"SELECT head_sha FROM pull WHERE repo = :repo AND number = :number", "repo=%ld number=%d", repo, number);
	if (found < 0)
		return -1;
	if (found == 0)
		return err_set(err, ERR_NOT_FOUND, "the daemon has not seen request %d of this repository", number);
	if (db_exec(db, err,
		    "INSERT INTO pull_approval (pull, head_sha, who, at) SELECT p.id, c.sha, :who, :now FROM pull p JOIN pull_commit "
		    "c ON c.repo = p.repo AND c.pull = p.id AND c.sha = :head AND c.head_sha = c.sha WHERE p.repo = :repo AND "
		    "p.number = :number AND p.head_sha = :head ON CONFLICT DO UPDATE SET who = excluded.who, at = excluded.at",
		    "repo=%ld number=%d head=%s who=%s now=%ld", repo, number, head, who, now_ms) != 0)
		return -1;
	if (db_changes(db) == 1)
		return 0;
	int was_head = stmt_any(
		db_query(db, err,
			"SELECT 1 FROM pull_commit c JOIN pull p ON p.id = c.pull WHERE c.repo = :repo AND c.sha = :head AND "
			"c.head_sha = c.sha AND p.number = :number",
			"repo=%ld head=%s number=%d", repo, head, number),
		err);
	if (was_head < 0)
		return -1;
	return was_head ? err_set(err, ERR_CONFLICT, "%.12s is not the newest head of request %d; that is %s", head, number,
				  newest)
			: err_set(err, ERR_NOT_FOUND,
				  "%.12s is not a head of request %d that the daemon has seen; its newest one is %s", head,
				  number, newest);
}

int store_pull_fork(struct db *db, int64_t repo, const char *sha, struct store_fork *out, struct fw_err *err)
{
	/* A user who can push to a branch of the repository can have any commit measured, so one own request is enough. */
	struct stmt *s = db_query(db, err,
		"SELECT p.number, c.head_sha, a.who IS NOT NULL AS approved FROM pull_commit c JOIN pull p ON p.id = c.pull LEFT "
		"JOIN pull_approval a ON a.pull = c.pull AND a.head_sha = c.head_sha WHERE c.repo = :repo AND c.sha = :sha AND NOT "
		"EXISTS (SELECT 1 FROM pull_commit o WHERE o.repo = c.repo AND o.sha = c.sha AND o.own) AND NOT EXISTS (SELECT 1 "
		"FROM mainline m WHERE m.repo = c.repo AND m.sha = c.sha AND m.dropped = 0) ORDER BY approved DESC, p.number LIMIT "
		"1",
		"repo=%ld sha=%s", repo, sha);
	return stmt_first(s, err, out->number, out->head, out->approved);
}

int store_pull_is_own(struct db *db, int64_t repo, const char *sha, struct fw_err *err)
{
	return stmt_any(
		db_query(db, err,
			"SELECT 1 FROM pull_commit WHERE repo = :repo AND sha = :sha AND own UNION ALL SELECT 1 FROM mainline "
			"WHERE repo = :repo AND sha = :sha AND dropped = 0",
			"repo=%ld sha=%s", repo, sha),
		err);
}

int store_pull_head_of(struct db *db, int64_t repo, const char *sha, char head[65], int *number, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT c.head_sha, p.number FROM pull_commit c JOIN pull p ON p.id = c.pull WHERE c.repo = :repo AND c.sha = :sha "
		"AND c.head_sha <> c.sha ORDER BY p.number LIMIT 1",
		"repo=%ld sha=%s", repo, sha);
	char found[65];
	int result = stmt_first(s, err, found, *number);
	if (result != 1)
		*number = 0;
	snprintf(head, 65, "%.64s", result == 1 ? found : sha);
	return stmt_optional(result);
}

int store_pull_of(struct db *db, int64_t repo, const char *sha, int *number, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT p.number FROM pull_commit m JOIN pull p ON p.id = m.pull AND p.head_sha = m.head_sha WHERE m.repo = :repo AND "
		"m.sha = :sha AND m.sha = " MEASURED " ORDER BY p.number DESC LIMIT 1",
		"repo=%ld sha=%s", repo, sha);
	int64_t found = 0;
	int result = stmt_first_int(s, &found, err);
	*number = (int)found;
	return result;
}

int store_pull_measured(struct db *db, int64_t repo, const char *head, char sha[65], struct fw_err *err)
{
	sha[0] = '\0';
	return db_first_text(db, sha, 65, err,
		"SELECT coalesce(" MEASURED
		", '') AS measured FROM pull p WHERE p.repo = :repo AND p.head_sha = :head AND (" IS_OWN " OR EXISTS "
		"(SELECT 1 FROM pull_approval a WHERE a.pull = p.id AND a.head_sha = p.head_sha)) AND (measured <> '' OR p.problem = '') "
		"ORDER BY measured = '', p.number LIMIT 1",
		"repo=%ld head=%s", repo, head);
}

int store_pull_device_s(struct db *db, const struct store_pull_use *use, double *device_s, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"WITH used AS (SELECT j.state, j.attempt, c.gpu_s, max(coalesce(j.ended_at, :now) - j.started_at, 0) / 1000.0 AS "
		"held_s FROM job j LEFT JOIN comparison c ON c.job = j.id WHERE j.repo = :repo AND j.id <> :except AND j.device IS "
		"NOT NULL AND j.started_at IS NOT NULL AND (j.state IN ('assigned', 'building', 'checking', 'measuring') OR "
		"j.ended_at >= :since) AND EXISTS (SELECT 1 FROM pull_commit p WHERE p.repo = j.repo AND p.sha = j.target_sha AND "
		"p.own = 0)) SELECT coalesce(sum(CASE WHEN gpu_s IS NOT NULL THEN gpu_s WHEN state IN ('assigned', 'building', "
		"'checking', 'measuring') THEN max(held_s, :job_s) ELSE held_s END + max(attempt - 1, 0) * :job_s), 0.0) FROM used",
		"repo=%ld since=%ld except=%ld now=%ld job_s=%f", use->repo, use->since, use->except, use->now_ms, use->job_s);
	return stmt_first(s, err, *device_s) == 1 ? 0 : -1;
}
