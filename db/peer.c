/* peer.c - comparisons of kind peer are few, so the queries read the index of these and join the rest. */
#include "db/db.h"

#include "verdict/verdict.h"

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
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct store_peer_target){ .comparison = row_int(s, 0),
				  .environment = row_int(s, 1),
				  .target_sha = row_text(s, 2),
				  .module_sha = row_text(s, 3),
				  .suite = row_text(s, 4),
				  .device_class = row_int(s, 5),
				  .device_kind = row_text(s, 6),
				  .peers = row_text(s, 7) });
	return result;
}

int store_peer_known(
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
	return words_put(db_stmt(db, "INSERT INTO job_peer (job, n, word) VALUES (:owner, :n, :word)", err), job, peers, err);
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
	while ((result = stmt_step(s, err)) == 1) {
		struct store_peer_source source = { .comparison = row_int(s, 0), .basis = STORE_PEER_SCALED };
		row_copy(s, 1, source.provider, sizeof source.provider);
		row_copy(s, 2, source.target_sha, sizeof source.target_sha);
		if (strcmp(row_text(s, 3), row_text(s, 4)) == 0)
			source.basis = STORE_PEER_PAIRED;
		else if (strcmp(row_text(s, 3), row_text(s, 5)) == 0)
			source.basis = STORE_PEER_CHAINED;
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
	int result = stmt_step(s, err);
	if (result == 1) {
		*out = (struct store_peer_cell){ .m = row_double(s, 0),
			.ci_low_pct = row_double(s, 1),
			.ci_high_pct = row_double(s, 2),
			.base_ms = row_double(s, 3) };
		out->held_base_ms = peer_ratio_at_clock(out->base_ms, row_double(s, 4), row_double(s, 5), row_double(s, 6));
		stmt_reset(s);
	}
	return result;
}

int store_peer_held_ms(struct db *db, int64_t cell, double *ms, struct fw_err *err)
{
	*ms = NAN;
	struct stmt *s = db_query(db, err, "SELECT held_ms FROM cell WHERE id = :id", "id=%ld", cell);
	int result = stmt_step(s, err);
	if (result == 1)
		*ms = row_double(s, 0);
	stmt_reset(s);
	return result < 0 ? -1 : 0;
}

int store_peer_readers(struct db *db, int64_t peer, int64_t *ids, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT c.id FROM comparison p JOIN job j ON j.id = p.job AND " IS_PEER_COMPARISON "JOIN build m ON m.id = "
		"p.target_build JOIN (SELECT id FROM comparison WHERE repo = (SELECT repo FROM comparison WHERE id = :id) ORDER "
		"BY id DESC LIMIT 200) n JOIN comparison c ON c.id = n.id AND c.environment = p.environment AND c.kind NOT IN "
		"('peer', 'config', 'environment') LEFT JOIN build t ON t.id = c.target_build LEFT JOIN build b ON b.id = "
		"c.base_build WHERE p.id = :id AND p.kind = 'peer' AND m.module_sha <> '' AND m.module_sha IN (t.module_sha, "
		"b.module_sha) ORDER BY c.id DESC LIMIT :limit",
		"id=%ld limit=%d", peer, STORE_PEER_READERS_MAX);
	return stmt_ids(s, ids, STORE_PEER_READERS_MAX, err);
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
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_peer){ .comparison = row_int(s, 0),
				  .job = row_int(s, 1),
				  .finished_at = row_int(s, 2),
				  .repo = row_text(s, 3),
				  .suite = row_text(s, 4),
				  .provider = row_text(s, 5),
				  .commit = row_text(s, 6),
				  .subject = row_text(s, 7),
				  .device = row_text(s, 8),
				  .device_kind = row_text(s, 9),
				  .device_name = row_text(s, 10),
				  .verdict = verdict_from_name(row_text(s, 11)),
				  .cells = (int)row_int(s, 12),
				  .current = row_int(s, 13) != 0,
				  .timed = (int)row_int(s, 14),
				  .geomean_pct = 100 * exp(-row_double(s, 15)) });
	return result;
}

int store_peer_named(struct db *db, int64_t repo, const char *branch, char *peers, size_t size, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT " STORE_JOB_PEERS " FROM job j WHERE j.repo = :repo AND j.branch = :branch AND j.state = 'done' ORDER BY "
		"j.id DESC LIMIT 1",
		"repo=%ld branch=%s", repo, branch);
	return stmt_first_text(s, peers, size, err);
}
