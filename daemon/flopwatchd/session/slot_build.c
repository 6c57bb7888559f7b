/*
 * slot_build.c - builds in separate allocations: a built job returns to the queue and waits there for a device. Also handles
 * modules that are missing from the measuring worker's cache.
 */
#include <limits.h>
#include <stdio.h>

#include "flopwatchd/session/session.h"

static void log_failure(const struct slot *s, const struct fw_err *err)
{
	if (!s->host->txn->is_broken)
		log_error("build.cached", "worker=%s err=%s", s->worker->name, log_quote(err->text));
}

int slot_claim_build(struct slot *s, struct fw_err *err)
{
	struct buf build_claims;
	int capacity = INT_MAX, got = 0;
	build_claims_begin(&build_claims);
	if (!config_worker_is_on_call(s->worker)) /* allocations were requested only for jobs within the limit */
		got = build_claims_capacity(s->host, s->worker, &capacity, err);
	if (got == 0)
		got = build_claims_for(s->host, s->worker, &build_claims, err);
	build_claims_end(&build_claims);
	const struct store_cached_build_request request = { s->worker->device, s->worker->name, s->host->held(s->host->arg),
		build_claims.data, STORE_CACHED_BUILD_MISSING, 0 };
	if (got == 0 && capacity > 0)
		got = claim_build(s->host->txn, &request, &s->job, err);
	buf_fini(&build_claims);
	return got;
}

void slot_clear_builds(struct slot *s)
{
	struct fw_err err = { 0 };
	char made_by[STORE_MADE_BY_SIZE];
	sources_made_by(&s->hello, &s->hello.device[0], made_by);
	if (txn_begin(s->host->txn, &err) != 0 ||
		txn_end(s->host->txn, store_cached_build_only(s->host->txn->db, s->worker->name, made_by, &err), &err) != 0)
		log_failure(s, &err);
}

/* True if a side did not build; the other sides may still be measured. */
static bool has_failed(const struct result *r)
{
	for (int i = 0; i < r->plan.request.n_sides; i++) {
		enum role role = r->plan.request.side[i].role;
		if ((role == ROLE_BASE || role == ROLE_TARGET) && !r->build[i].module_sha256[0])
			return true;
	}
	return false;
}

void slot_take_builds(struct slot *s, struct result *result)
{
	bool is_equal = result->identical_by[0] && s->job.kind != JOBKIND_PROFILE; /* identical builds need no device */
	s->n_full = 0;
	s->result = result;
	snprintf(result->isolation, sizeof result->isolation, "%s", s->hello.isolation);
	snprintf(result->worker_version, sizeof result->worker_version, "%s", s->hello.version);
	result->device.uuid[0] = 0; /* nothing was measured */
	result->device_id = 0;
	if (has_failed(result) || is_equal)
		slot_set_pending(s, PENDING_WRITE_RESULT, JOBSTATE_DONE, "");
	else
		slot_set_pending(s, PENDING_WRITE_RELEASE, JOBSTATE_QUEUED, "built; waits for a device");
	slot_flush(s);
}

int slot_write_cached(struct slot *s, int64_t now_ms, struct fw_err *err)
{
	struct db *db = s->host->txn->db;
	const struct plan *p = &s->result->plan;
	char made_by[STORE_MADE_BY_SIZE], source[PROTOCOL_SIDES_MAX][STORE_SOURCE_SIZE];
	int n = 0, result = 0;
	sources_made_by(&s->hello, &s->hello.device[0], made_by);
	for (int i = 0; i < p->request.n_sides && result == 0; i++) {
		/* a peer or reference commit that does not build must not cause endless builds of the job */
		if (!s->result->build[i].module_sha256[0] || !sources_name(p, i, source[n]))
			continue;
		result = store_cached_build_put(db, s->worker->name, source[n++], made_by, now_ms, err);
	}
	return result == 0 ? store_cached_build_plan(db, s->job.id, (const char(*)[STORE_SOURCE_SIZE])source, n, err) : -1;
}

/* Another compiler version, or another or cleared cache: the job continues, and its device waits for the build. */
static int write_missing(struct slot *s, enum role side, const char *source, const char *made_by, struct fw_err *err)
{
	struct db *db = s->host->txn->db;
	char here[STORE_MADE_BY_SIZE], line[2 * STORE_MADE_BY_SIZE + 300];
	const char *role = role_name(side);
	sources_made_by(&s->hello, &s->device, here);
	bool is_other = strcmp(here, made_by) != 0;
	if (is_other)
		snprintf(line, sizeof line,
			"the %s is rebuilt on the measuring worker: it was built by %s, the compiler there is %s (see "
			"doc/troubleshooting.md#built-apart)",
			role, made_by, here);
	else
		snprintf(line, sizeof line,
			"the %s is rebuilt on the measuring worker: its module is not in the cache there (see "
			"doc/troubleshooting.md#built-apart)",
			role);
	log_warning("build.missing", "worker=%s job=%lld err=%s", s->worker->name, (long long)s->job.id, log_quote(line));
	/* a cleared cache has no modules of other jobs either */
	return store_cached_build_forget(db, s->worker->name, is_other ? source : "", err) ||
			       store_job_log(db, s->job.id, clock_utc_ms(), line, err)
		       ? -1
		       : 0;
}

void slot_note_sources(struct slot *s)
{
	s->n_sources = 0;
	if (s->plan.request.side[0].tools.module[0]) /* a deliberate rebuild shows nothing about the cache */
		return;
	for (int i = 0; s->worker->builds_separate && i < s->plan.request.n_sides; i++)
		if (sources_name(&s->plan, i, s->source[s->n_sources].name))
			s->source[s->n_sources++].role = s->plan.request.side[i].role;
}

void slot_receive_build(struct slot *s, const struct msg_build *b)
{
	struct fw_err err = { 0 };
	char made_by[STORE_MADE_BY_SIZE];
	const char *source = NULL;
	for (int i = 0; i < s->n_sources; i++)
		if (s->source[i].role == b->role)
			source = s->source[i].name;
	if (!source || strcmp(b->state, "start") != 0)
		return;
	int cached = store_cached_build_get(s->host->txn->db, s->worker->name, source, made_by, &err);
	if (cached == 1 && txn_begin(s->host->txn, &err) == 0)
		cached = txn_end(s->host->txn, write_missing(s, b->role, source, made_by, &err), &err);
	if (cached < 0)
		log_failure(s, &err);
}
