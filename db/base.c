/** base.c - whether comparisons make a commit a complete base. */
#include "db/db.h"

/* Whether the last verdicts of cell k of comparison c are all undecided with times. Reads the index cell_history only. */
#define STAYS_UNDECIDED                                                                                                          \
	"(SELECT count(*) FROM (SELECT h.verdict, h.target_median_ms FROM cell h WHERE h.key = k.key AND h.repo = "              \
	"c.repo AND h.branch = c.branch AND h.comparison <= c.id AND EXISTS (SELECT 1 FROM comparison o JOIN job g ON "          \
	"g.id = o.job WHERE o.id = h.comparison AND g.quick = 0) ORDER BY h.comparison DESC LIMIT :tries) AS w WHERE "           \
	"w.verdict = 'undecided' AND w.target_median_ms IS NOT NULL) = :tries"

/* The automatic retry of comparison c by job j is still due or unfinished. */
#define IS_RETRY_DUE                                                                                                             \
	"(j.again_at IS NOT NULL OR EXISTS (SELECT 1 FROM job g WHERE g.again_of = j.id AND g.state NOT IN ('done', 'failed', "  \
	"'cancelled', 'superseded', 'target_missing'))) "

/* Undecided cell k probably changed: its interval does not contain 0, or is unknown. */
#define IS_PROBABLY_CHANGED                                                                                                      \
	"(coalesce(k.ci_high_pct < 0 OR k.ci_low_pct > 0, 1) OR coalesce(abs(k.decided_m) > 2 * k.decided_se, 1)) "
#define IS_PROBABLY_SLOWER "(k.ci_high_pct < 0 OR k.decided_m > 2 * k.decided_se) "

#define IS_TIMED_UNDECIDED "k.verdict = 'undecided' AND k.target_median_ms IS NOT NULL "
/* Cells of comparison c that are undecided, and of these those that are probably slower; 0 of one with itself. */
#define COUNT_UNDECIDED "(SELECT count(*) FROM cell k WHERE k.comparison = c.id AND c.kind = 'compare' AND " IS_TIMED_UNDECIDED
#define COUNTS          COUNT_UNDECIDED "), " COUNT_UNDECIDED "AND " IS_PROBABLY_SLOWER ") "

/* The module reports cell k of comparison c as unsupported, and a user accepted that for the branch. */
#define IS_ACCEPTED_UNSUPPORTED                                                                                                  \
	"k.failure = 'unsupported' AND EXISTS (SELECT 1 FROM alert a JOIN json_each(a.cells) w WHERE a.repo = c.repo "           \
	"AND a.branch = c.branch AND a.kind = 'failing' AND a.state = 'accepted' AND a.comparison <= c.id AND w.value "          \
	"->> 'cell' = k.key AND w.value ->> 'suite' = t.name)"

static const char sql_state[] =
	"SELECT c.base_sha, c.verdict <> 'none' AND (c.verdict <> 'failed' OR EXISTS (SELECT 1 FROM cell k WHERE k.comparison = "
	"c.id AND k.verdict = 'failed')) AND NOT EXISTS (SELECT 1 FROM cell k WHERE k.comparison = c.id "
	"AND k.verdict NOT IN ('regression', 'not_comparable', 'improvement', 'unchanged', 'identical', 'removed', 'added', "
	"'unsupported') "
	"AND NOT (c.kind = 'selfcheck' AND k.verdict <> 'failed' AND k.failure IN ('', 'device')) "
	"AND NOT (" IS_ACCEPTED_UNSUPPORTED ") AND NOT (" IS_TIMED_UNDECIDED "AND (k.failure = '' AND NOT " IS_RETRY_DUE
	"AND NOT " IS_PROBABLY_CHANGED "OR " STAYS_UNDECIDED "))) AS is_complete, " COUNTS
	"FROM comparison c JOIN job j ON j.id = c.job JOIN suite t ON t.id = c.suite WHERE c.repo = :repo AND "
	"c.target_sha = :sha AND c.branch = :branch AND c.kind IN ('compare', 'selfcheck') AND c.base_how <> 'given' AND "
	"j.quick = 0 AND NOT j.some_cells AND (:suite = '' OR t.name = :suite) ORDER BY is_complete DESC, c.id DESC LIMIT 1";

int store_base_get(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, struct store_base *out,
	struct fw_err *err)
{
	*out = (struct store_base){ .state = STORE_BASE_UNKNOWN };
	struct stmt *s = db_query(
		db, err, sql_state, "repo=%ld branch=%s sha=%s suite=%s tries=%d", repo, branch, sha, suite, STORE_BASE_TRIES);
	bool is_complete;
	int result = stmt_first(s, err, out->base_sha, is_complete, out->undecided, out->slower);
	if (result == 1)
		out->state = is_complete ? STORE_BASE_COMPLETE : STORE_BASE_OPEN;
	return result < 0 ? -1 : 0;
}

int store_base_last(struct db *db, int64_t repo, const char *branch, const char *but, char *sha, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT target_sha FROM comparison WHERE repo = :repo AND branch = :branch AND verdict <> 'failed' AND "
		"target_sha <> :but ORDER BY id DESC LIMIT 1",
		"repo=%ld branch=%s but=%s", repo, branch, but);
	sha[0] = 0;
	return stmt_first_text(s, sha, 65, err) < 0 ? -1 : 0;
}

int store_base_reported(struct db *db, int64_t comparison, const char *key, struct store_base_reported *out, struct fw_err *err)
{
	*out = (struct store_base_reported){ .m = 0 };
	return stmt_optional(db_first(db, err, (out->m, out->decided_m, out->sha),
		"SELECT iif(k.verdict IN ('regression', 'improvement') AND k.decided_by = '', k.m, 0.0), iif(k.verdict IN "
		"('regression', 'improvement'), k.decided_m, 0.0), p.target_sha FROM comparison c JOIN (SELECT w.id FROM comparison "
		"x JOIN comparison w ON w.repo = x.repo AND w.branch = x.branch AND w.id < x.id AND w.kind = 'compare' JOIN job j "
		"ON j.id = w.job AND j.quick = 0 AND NOT j.some_cells JOIN suite u ON u.id = x.suite JOIN suite t ON t.id = w.suite "
		"AND t.name = u.name WHERE x.id = :comparison AND x.branch <> '' ORDER BY w.id "
		"DESC LIMIT :newest) n CROSS JOIN comparison p ON p.id = n.id AND p.base_sha = c.base_sha AND p.target_sha <> "
		"c.target_sha JOIN cell k ON k.comparison = p.id AND (k.key = :key OR p.rows_unknown) AND k.verdict IN ('regression', 'improvement', "
		"'unchanged', 'identical') WHERE c.id = :comparison ORDER BY p.id DESC LIMIT 1",
		"comparison=%ld key=%s newest=%d", comparison, key, (int)STORE_BASE_COMPARISONS_MAX));
}
