#include "db/db.h"

/* Suite of cell `w` of alert `a`; of cells without one the suite of the alert's comparison. */
#define SUITE_OF_CELL                                                                                                            \
	"coalesce(w.value ->> 'suite', (SELECT t.name FROM comparison o JOIN suite t ON t.id = o.suite WHERE o.id = "            \
	"a.comparison)) "

/* The comparison that measured cell `w` of alert `a`. */
#define COMPARISON_OF_CELL "coalesce(w.value ->> 'comparison', a.comparison) "

/* The target of comparison `x` contains commit `sha`, and its base does not. */
#define CONTAINS(sha)                                                                                                            \
	"EXISTS (SELECT 1 FROM commit_range g WHERE g.repo = x.repo AND g.base_sha = x.base_sha AND g.target_sha = "             \
	"x.target_sha AND g.sha = " sha ") "
/* A bisect found a single culprit for cell `w` of alert `a`, and `condition` holds for it. */
#define CULPRIT(condition)                                                                                                       \
	"EXISTS (SELECT 1 FROM json_each(a.culprits) d, json_each(d.value, '$.cells') e WHERE d.value ->> 'commits' = "          \
	"1 AND e.value = w.value ->> 'cell' AND " condition ") "

/* Comparison `x` compares two commits with default providers and configurations. */
#define IS_CHANGE "x.kind = 'compare' AND (SELECT j.base_provider || j.target_provider FROM job j WHERE j.id = x.job) = '' "

/* Builds `p` and `q` have the same inputs or the same module, or files of a program, and the same toolchain; false if unknown. */
#define VALUE_OF_BUILD(value, id) "(SELECT " value " || ' ' || b.toolchain FROM build b WHERE b.id = " id ") "
#define IS_SAME_BUILD(p, q)                                                                                                      \
	"(" VALUE_OF_BUILD("b.inputs_hash", p) "= " VALUE_OF_BUILD("b.inputs_hash", q) "OR " VALUE_OF_BUILD(                     \
		"nullif(b.module_sha, '')", p) "= " VALUE_OF_BUILD("nullif(b.module_sha, '')", q) ") "

/* Comparison `o` has the same commits as `x`, or the same builds, as after a squash or rebase. */
#define HAS_SAME_SIDES                                                                                                           \
	"((o.base_sha = x.base_sha AND o.target_sha = x.target_sha) OR (o.kind = 'compare' AND " IS_SAME_BUILD(                  \
		"o.base_build", "x.base_build") "AND " IS_SAME_BUILD("o.target_build", "x.target_build") "))"

/*
 * Accepted cell `w` of alert `a` applies to comparison `x` with suite `u`: it contains the commit, or equals the alert's
 * comparison.
 */
#define APPLIES                                                                                                                  \
	"a.repo = x.repo AND a.state = 'accepted' AND a.kind = 'regression' AND " IS_CHANGE "AND " SUITE_OF_CELL                 \
	"= u.name AND (EXISTS (SELECT 1 FROM comparison o WHERE o.id = " COMPARISON_OF_CELL "AND " HAS_SAME_SIDES                \
	") OR " CULPRIT(CONTAINS("(d.value ->> 'to')")) "OR (NOT " CULPRIT("1 ") "AND " CONTAINS("a.target_sha") ")) "
/* Accepted alert `a` covers cell `k` of comparison `x`, as cell `w`. */
#define COVERS APPLIES "AND w.value ->> 'cell' = k.key "

/*
 * Comparison `x` measures the sides of cell `w` again on a device of the same class: users accepted the slowdown between these
 * two, whatever a noisy measurement of it is.
 */
#define IS_REPEATED                                                                                                              \
	"EXISTS (SELECT 1 FROM comparison o WHERE o.id = " COMPARISON_OF_CELL "AND (SELECT v.class FROM environment v WHERE "    \
	"v.id = o.environment) IS (SELECT v.class FROM environment v WHERE v.id = x.environment) AND " HAS_SAME_SIDES ") "

/* Log time ratio of cell `w` of an alert, negative as throughput; -infinity: any slowdown is expected. */
#define EXPECTED_M "iif(" IS_REPEATED ", -9e999, ln(1 + (w.value ->> 'change_pct') / 100.0)) "

/*
 * Regressions of comparison :comparison, each with the alert that covers it, NULL: none. Of several alerts the newest counts, but
 * first one of the same sides. Alerts are read once for all cells; the other columns are those of the row that max() selects.
 */
#define REGRESSIONS                                                                                                              \
	"WITH expected AS MATERIALIZED (SELECT w.value ->> 'cell' AS key, max(a.id + iif(" IS_REPEATED                           \
	", 1 << 62, 0)), a.id AS alert, " EXPECTED_M                                                                             \
	"AS m FROM comparison x CROSS JOIN suite u ON u.id = x.suite CROSS JOIN alert a CROSS JOIN json_each(a.cells) "          \
	"w WHERE x.id = :comparison AND " APPLIES "GROUP BY 1), slowdown AS (SELECT k.key, iif(k.decided_m + f.m <= -ln(1 "      \
	"- k.threshold_pct / 100.0) + 2 * coalesce(k.decided_se, 0), f.alert, NULL) AS alert FROM cell k LEFT JOIN "             \
	"expected f ON f.key = k.key WHERE k.comparison = :comparison AND k.verdict = 'regression') "

int store_range_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char (*shas)[65], int n, struct fw_err *err)
{
	for (int i = 0; i < n; i++)
		if (db_exec(db, err,
			    "INSERT INTO commit_range (repo, base_sha, target_sha, sha) VALUES (:repo, :base, :target, :sha) ON "
			    "CONFLICT DO NOTHING",
			    "repo=%ld base=%s target=%s sha=%s", repo, base, target, shas[i]))
			return -1;
	return 0;
}

int store_range_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM commit_range WHERE repo = :repo AND base_sha = :base AND target_sha = :target LIMIT 1",
		"repo=%ld base=%s target=%s", repo, base, target);
}

int store_accepted_cell(struct db *db, int64_t comparison, const char *key, struct fw_err *err)
{
	return db_any(db, err, REGRESSIONS "SELECT 1 FROM slowdown WHERE key = :key AND alert", "comparison=%ld key=%s",
		comparison, key);
}

int store_accepted_step(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, const char *key,
	int64_t *alert, struct fw_err *err)
{
	int64_t comparison = 0;
	*alert = 0;
	struct stmt *s = db_query(db, err,
		"SELECT max(c.id) FROM comparison c JOIN suite t ON t.id = c.suite WHERE c.repo = :repo AND c.target_sha = :sha "
		"AND c.branch = :branch AND c.kind = 'compare' AND c.verdict = 'regression' AND t.name = :suite",
		"repo=%ld sha=%s branch=%s suite=%s", repo, sha, branch, suite);
	if (stmt_first(s, err, comparison) < 0)
		return -1;
	if (!comparison)
		return 0;
	s = db_query(db, err, REGRESSIONS "SELECT alert FROM slowdown WHERE key = :key AND alert", "comparison=%ld key=%s",
		comparison, key);
	return stmt_first(s, err, *alert) < 0 ? -1 : 0;
}

/* The worst verdict of the other cells. */
static int find_worst_other(struct db *db, int64_t comparison, enum verdict *out, struct fw_err *err)
{
	*out = VERDICT_ACCEPTED;
	struct stmt *s =
		db_query(db, err, "SELECT DISTINCT verdict FROM cell WHERE comparison = :comparison AND verdict <> 'regression'",
			"comparison=%ld", comparison);
	enum verdict other;
	return stmt_each(s, err, *out = verdict_worse(*out, other), COLUMN_NAMED(other, verdict_from_name));
}

int store_accepted_of(struct db *db, int64_t comparison, struct store_accepted *out, struct fw_err *err)
{
	*out = (struct store_accepted){ .verdict = VERDICT_REGRESSION };
	/* mostly none, and each page of a regression needs it: search one index instead of running the query below */
	int has_accepted = db_any(db, err,
		"SELECT 1 FROM comparison x JOIN alert a ON a.repo = x.repo AND a.kind = 'regression' AND a.state = 'accepted' "
		"WHERE x.id = :comparison LIMIT 1",
		"comparison=%ld", comparison);
	if (has_accepted < 1)
		return has_accepted;
	struct stmt *s = db_query(db, err,
		REGRESSIONS
		"SELECT count(alert), count(*) - count(alert), max(alert), (SELECT who FROM alert_event e WHERE e.alert = "
		"(SELECT max(alert) FROM slowdown) AND e.state = 'accepted' ORDER BY e.id DESC LIMIT 1), (SELECT reason FROM "
		"alert_event e WHERE e.alert = (SELECT max(alert) FROM slowdown) AND e.state = 'accepted' ORDER BY e.id DESC LIMIT "
		"1) FROM slowdown",
		"comparison=%ld", comparison);
	if (stmt_first(s, err, out->covered, out->lost, out->alert, out->who, out->why) < 0)
		return -1;
	return out->covered && !out->lost ? find_worst_other(db, comparison, &out->verdict, err) : 0;
}

int store_accepted_comparisons(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err)
{
	return db_ids(db, ids, max, err,
		"SELECT id FROM (SELECT DISTINCT x.id FROM alert a, json_each(a.cells) w JOIN comparison x ON x.repo = a.repo "
		"AND x.verdict = 'regression' AND x.kind = 'compare' AND x.branch <> '' JOIN suite u ON u.id = x.suite JOIN cell "
		"k ON k.comparison = x.id AND k.verdict = 'regression' WHERE a.id = :alert AND " COVERS "AND NOT EXISTS (SELECT "
		"1 FROM comparison n JOIN suite z ON z.id = n.suite WHERE n.repo = x.repo AND n.target_sha = x.target_sha AND "
		"n.kind = 'compare' AND n.branch <> '' AND z.name = u.name AND n.id > x.id) ORDER BY x.id DESC LIMIT :max) ORDER "
		"BY id",
		"alert=%ld max=%d", alert, max);
}

int store_accepted_alerts(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err)
{
	return db_ids(db, ids, max, err,
		"SELECT b.id FROM alert b JOIN comparison x ON x.id = b.comparison WHERE b.repo = (SELECT repo FROM alert WHERE "
		"id = :alert) AND b.kind = 'regression' AND b.state IN ('open', 'acknowledged') AND NOT EXISTS (SELECT 1 FROM "
		"json_each(b.cells) v WHERE NOT EXISTS (SELECT 1 FROM suite u JOIN cell k ON k.comparison = x.id AND k.key = "
		"v.value ->> 'cell' AND k.verdict = 'regression' JOIN alert a, json_each(a.cells) w WHERE u.id = x.suite AND "
		"u.name = coalesce(v.value ->> 'suite', u.name) AND a.id = :alert AND " COVERS "AND k.decided_m + " EXPECTED_M
		"<= -ln(1 - k.threshold_pct / 100.0) + 2 * coalesce(k.decided_se, 0))) ORDER BY b.id LIMIT :max",
		"alert=%ld max=%d", alert, max);
}
