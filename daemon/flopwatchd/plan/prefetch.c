#include "flopwatchd/plan/plan.h"

#include "db/db.h"
#include "lib/lib.h"

/* A failed plan is left to the builder, which plans again and reports the failure. */
static void store_sources(struct prefetch *f, const struct plan *p)
{
	struct fw_err err = { 0 };
	if (txn_begin(f->txn, &err) == 0) {
		int result = p ? sources_put(f->txn->db, f->job, p, &err) : store_cached_build_unknown(f->txn->db, f->job, &err);
		(void)txn_end(f->txn, result, &err);
	}
	if (err.code != ERR_NONE && !f->txn->is_broken)
		log_error("build.prefetch", "job=%lld err=%s", (long long)f->job, log_quote(err.text));
	f->job = 0;
	if (err.code == ERR_NONE) /* otherwise the queue wakes when the database is writable */
		f->found(f->arg);
}

static void on_plan(void *arg, struct resolve_answer *a)
{
	struct prefetch *f = arg;
	f->resolve = NULL;
	store_sources(f, a->state == JOBSTATE_N && !a->again ? &a->plan : NULL);
}

int prefetch_more(struct prefetch *f, struct fw_err *err)
{
	struct store_job job;
	struct fw_err unread = { 0 };
	if (f->job || !sources_matter(f->config))
		return 0;
	int got = store_cached_build_next_unknown(f->txn->db, 0, &f->job, err);
	if (got != 1 || store_job_get(f->txn->db, f->job, &job, err) != 0) {
		f->job = 0;
		return got == 0 ? 0 : -1;
	}
	if (resolve_start(f->loop, f->txn->db, f->config, &job, on_plan, f, &f->resolve, &unread) != 0)
		store_sources(f, NULL);
	return 0;
}

void prefetch_stop(struct prefetch *f)
{
	resolve_cancel(f->resolve);
	f->resolve = NULL;
	f->job = 0;
}
