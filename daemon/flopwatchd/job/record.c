/* record.c - writes about jobs. */
#include "flopwatchd/job/record.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "flopwatchd/delivery/commit_status.h"

enum { EVENT_BYTES_MAX = 64 << 10 };

int job_tell(struct txn *g, const struct store_job *job, const char *kind, const char *state, const char *why, int64_t now_ms,
	struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, EVENT_BYTES_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_int(&j, "job", job->id);
	jsonw_kv_string(&j, "repo", job->repo_name);
	jsonw_kv_string(&j, "branch", job->branch);
	jsonw_kv_string(&j, "commit", job->target_sha);
	if (state)
		jsonw_kv_string(&j, "state", state);
	if (why)
		jsonw_kv_string(&j, "why", why);
	jsonw_object_end(&j);
	int result = text.failed ? err_set(err, ERR_INTERNAL, "the event %s does not fit", kind)
				 : store_event(g->db, now_ms, kind, text.data, NULL, err);
	buf_fini(&text);
	return result;
}

static int tell_state(
	struct txn *g, const struct store_job *job, const char *state, const char *why, int64_t now_ms, struct fw_err *err)
{
	char line[1200];
	snprintf(line, sizeof line, "%s: %s", state, why);
	if (why[0] && store_job_log(g->db, job->id, now_ms, line, err) != 0)
		return -1;
	return job_tell(g, job, "job.state", state, why[0] ? why : NULL, now_ms, err);
}

int job_move(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (store_job_state(g->db, job->id, jobstate_name(to), why, now_ms, err) != 0)
		return -1;
	log_info("job.state", "job=%lld repo=%s branch=%s state=%s why=%s", (long long)job->id, log_quote(job->repo_name),
		log_quote(job->branch), jobstate_name(to), log_quote(why));
	if (status_job(g->db, g->config, job, NULL, jobstate_name(to), why, now_ms, err) != 0)
		return -1;
	return tell_state(g, job, jobstate_name(to), why, now_ms, err);
}

int job_release(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (store_job_release(g->db, job->id, why, err) != 0)
		return -1;
	return tell_state(g, job, "queued", why, now_ms, err);
}

int job_wait(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (!strcmp(job->state_why, why))
		return 0;
	log_warning("job.wait", "job=%lld repo=%s err=%s", (long long)job->id, log_quote(job->repo_name), log_quote(why));
	return store_job_state(g->db, job->id, "queued", why, now_ms, err) != 0 ||
			       tell_state(g, job, "queued", why, now_ms, err) != 0
		       ? -1
		       : 0;
}

int job_move_now(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err)
{
	if (txn_begin(g, err) != 0)
		return -1;
	return txn_end(g, job_move(g, job, to, why, clock_utc_ms(), err), err);
}
