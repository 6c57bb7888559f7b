/* peer.c - comparisons of kind peer are few, so the queries read the index of these and join the rest. */
#include "db/db.h"

#include <math.h>

enum { NEWEST_OF_BRANCH = 32 };

/* Conditions for a comparison that counts. `j` is the job. */
#define IS_WHOLE           "NOT j.quick AND NOT j.some_cells "
#define IS_PEER_COMPARISON "j.target_provider = '' AND j.base_provider <> '' AND " IS_WHOLE

/* ---- pending comparisons ----------------------------------------------------------------------------------------------- */

int store_peer_targets(struct db *db, int64_t repo, const char *branch, store_peer_target_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, environment, target_sha, module_sha, suite, class, kind, peers FROM (SELECT c.id, c.environment, "
		"c.target_sha, b.module_sha, b.state, j.suite, e.class, k.kind, " STORE_JOB_PEERS " AS peers, row_number() OVER "
		"(PARTITION BY j.suite, e.class ORDER BY c.id DESC) AS age FROM (SELECT id FROM comparison WHERE repo = :repo "
		"AND branch = :branch ORDER BY id DESC LIMIT :newest) n JOIN comparison c ON c.id = n.id AND c.kind IN "
		"('compare', 'selfcheck') JOIN job j ON j.id = c.job AND " IS_WHOLE "JOIN environment e ON e.id = c.environment "
		"JOIN device_class k ON k.id = e.class LEFT JOIN build b ON b.id = c.target_build) t WHERE age = 1 AND EXISTS "
		"(SELECT 1 FROM device d WHERE d.class = t.class AND d.state = 'ok') AND state = 'ok' AND module_sha <> '' AND "
		"NOT EXISTS (SELECT 1 FROM cell k WHERE k.comparison = t.id AND k.series = 'process')",
		"repo=%ld branch=%s newest=%d", repo, branch, NEWEST_OF_BRANCH);
	struct store_peer_target row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.comparison, row.environment, row.target_sha, row.module_sha, row.suite,
		row.device_class, row.device_kind, row.peers);
}

int store_peer_is_requested(
	struct db *db, int64_t repo, const struct store_peer_target *target, const char *provider, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT EXISTS (SELECT 1 FROM job j WHERE j.repo = :repo AND j.target_sha = :target AND j.kind = 'peer' AND "
		"j.base_provider = :provider AND j.suite = :suite AND j.device_class = :class AND " IS_PEER_COMPARISON
		") OR EXISTS (SELECT 1 FROM comparison c JOIN job j ON j.id = c.job AND " IS_PEER_COMPARISON
		"JOIN build b ON b.id = c.target_build WHERE c.kind = 'peer' AND c.repo = :repo AND c.environment = :environment "
		"AND j.base_provider = :provider AND b.module_sha = :module)",
		"repo=%ld target=%s provider=%s suite=%s class=%ld environment=%ld module=%s", repo, target->target_sha, provider,
		target->suite, target->device_class, target->environment, target->module_sha);
	int64_t known;
	return stmt_first_int(s, &known, err) == 1 ? known != 0 : -1;
}

int store_peer_names(struct db *db, int64_t job, const char *peers, struct fw_err *err)
{
	if (db_exec(db, err, "DELETE FROM job_peer WHERE job = :id", "id=%ld", job))
		return -1;
	return list_put(db_stmt(db, "INSERT INTO job_peer (job, n, word) VALUES (:owner, :n, :word)", err), job, peers, err);
}

/* ---- measured comparisons ----------------------------------------------------------------------------------------------- */

static bool is_before(const struct store_peer_source *a, const struct store_peer_source *b)
{
	int order = strcmp(a->provider, b->provider);
	return order ? order < 0 : a->basis < b->basis;
}

/* Insert in order, unless a newer source of the same provider and basis is there. */
static int insert_source(struct store_peer_source *out, int n, const struct store_peer_source *source)
{
	int at = n;
	for (int i = 0; i < n; i++)
		if (out[i].basis == source->basis && strcmp(out[i].provider, source->provider) == 0)
			return n;
	if (n == STORE_PEER_SOURCES_MAX)
		return n;
	for (; at > 0 && is_before(source, &out[at - 1]); at--)
		out[at] = out[at - 1];
	out[at] = *source;
	return n + 1;
}

int store_peer_sources(struct db *db, int64_t comparison, struct store_peer_source *out, struct fw_err *err)
{
	int result, n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT p.id, j.base_provider, p.target_sha, m.module_sha, coalesce(t.module_sha, ''), coalesce(b.module_sha, "
		"'') FROM comparison c JOIN comparison p ON p.kind = 'peer' AND p.repo = c.repo AND p.environment = "
		"c.environment JOIN job j ON j.id = p.job AND " IS_PEER_COMPARISON "JOIN build m ON m.id = p.target_build LEFT "
		"JOIN build t ON t.id = c.target_build LEFT JOIN build b ON b.id = c.base_build WHERE c.id = :id AND "
		"m.module_sha <> '' AND (c.kind NOT IN ('peer', 'config', 'environment') OR p.id = c.id) ORDER BY p.id DESC "
		"LIMIT 200",
		"id=%ld", comparison);
	struct store_peer_source source;
	const char *peer, *target, *base;
	while ((result = stmt_next(s, err, source.comparison, source.provider, source.target_sha, peer, target, base)) == 1) {
		source.basis = strcmp(peer, target) == 0 ? STORE_PEER_PAIRED
			       : strcmp(peer, base) == 0 ? STORE_PEER_CHAINED
							 : STORE_PEER_SCALED;
		n = insert_source(out, n, &source);
	}
	return result < 0 ? -1 : n;
}

int store_peer_cell(struct db *db, int64_t comparison, const char *key, struct store_peer_cell *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT x.m, x.ci_low_pct, x.ci_high_pct, x.base_median_ms, coalesce(x.beta, 0), (SELECT f.value FROM "
		"metric_name m JOIN metric f ON f.cell = x.id AND f.name = m.id WHERE m.name = 'clock.base_mhz'), e.held_mhz "
		"FROM cell x JOIN comparison c ON c.id = x.comparison LEFT JOIN baseline_period e ON e.repo = c.repo AND "
		"e.environment = c.environment WHERE x.comparison = :id AND x.key = :key AND x.m IS NOT NULL AND "
		"x.base_median_ms > 0",
		"id=%ld key=%s", comparison, key);
	double beta, base_mhz, held_mhz;
	int result = stmt_first(s, err, out->m, out->ci_low_pct, out->ci_high_pct, out->base_ms, beta, base_mhz, held_mhz);
	if (result == 1)
		out->held_base_ms = peer_ratio_at_clock(out->base_ms, beta, base_mhz, held_mhz);
	return result;
}

int store_peer_held_ms(struct db *db, int64_t cell, double *ms, struct fw_err *err)
{
	*ms = NAN;
	return stmt_optional(db_first(db, err, (*ms), "SELECT held_ms FROM cell WHERE id = :id", "id=%ld", cell));
}

int store_peer_readers(struct db *db, int64_t peer, int64_t *ids, struct fw_err *err)
{
	return db_ids(db, ids, STORE_PEER_READERS_MAX, err,
		"SELECT c.id FROM comparison p JOIN job j ON j.id = p.job AND " IS_PEER_COMPARISON "JOIN build m ON m.id = "
		"p.target_build JOIN (SELECT id FROM comparison WHERE repo = (SELECT repo FROM comparison WHERE id = :id) ORDER "
		"BY id DESC LIMIT 200) n JOIN comparison c ON c.id = n.id AND c.environment = p.environment AND c.kind NOT IN "
		"('peer', 'config', 'environment') LEFT JOIN build t ON t.id = c.target_build LEFT JOIN build b ON b.id = "
		"c.base_build WHERE p.id = :id AND p.kind = 'peer' AND m.module_sha <> '' AND m.module_sha IN (t.module_sha, "
		"b.module_sha) ORDER BY c.id DESC LIMIT :limit",
		"id=%ld limit=%d", peer, STORE_PEER_READERS_MAX);
}

/* ---- views --------------------------------------------------------------------------------------------------------------- */

int view_peers(struct db *db, const char *repo, const char *device, int limit, view_peer_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT c.id, c.job, c.finished_at, r.name, j.suite, j.base_provider, c.target_sha, coalesce(m.subject, ''), "
		"d.uuid, d.kind, d.name, c.verdict, c.n_cells, row_number() OVER (PARTITION BY c.repo, j.suite, d.id, "
		"j.base_provider ORDER BY c.id DESC) = 1, (SELECT count(*) FROM cell x WHERE x.comparison = c.id AND x.m IS NOT "
		"NULL), (SELECT avg(x.m) FROM cell x WHERE x.comparison = c.id) FROM comparison c JOIN repo r ON r.id = c.repo "
		"JOIN job j ON j.id = c.job AND " IS_PEER_COMPARISON "JOIN device d ON d.id = c.device LEFT JOIN git_commit m ON "
		"m.repo = c.repo AND m.sha = c.target_sha WHERE c.kind = 'peer' AND (:repo = '' OR r.name = :repo) AND (:device "
		"= '' OR d.uuid = :device) ORDER BY 14 DESC, c.id DESC LIMIT :limit",
		"repo=%s device=%s limit=%d", repo ? repo : "", device ? device : "", store_page_size(limit, VIEW_ROWS_MAX));
	int result;
	struct view_peer row;
	double mean_m;
	while ((result = stmt_next(s, err, row.comparison, row.job, row.finished_at, row.repo, row.suite, row.provider,
			row.commit, row.subject, row.device, row.device_kind, row.device_name,
			COLUMN_NAMED(row.verdict, verdict_from_name), row.cells, row.current, row.timed, mean_m)) == 1) {
		row.geomean_pct = 100 * exp(-mean_m);
		each(arg, &row);
	}
	return result;
}

int store_peer_named(struct db *db, int64_t repo, const char *branch, char *peers, size_t size, struct fw_err *err)
{
	return db_first_text(db, peers, size, err,
		"SELECT " STORE_JOB_PEERS " FROM job j WHERE j.repo = :repo AND j.branch = :branch AND j.state = 'done' ORDER BY "
		"j.id DESC LIMIT 1",
		"repo=%ld branch=%s", repo, branch);
}
