#include "flopwatchd/job/job.h"

#include "flopwatchd/notify/notify.h"

int job_move(struct txn *txn, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (store_job_state(txn->db, job->id, to, why, now_ms, err) != 0)
		return -1;
	log_info("job.state", "job=%lld repo=%s branch=%s state=%s why=%s", (long long)job->id, log_quote(job->repo_name),
		log_quote(job->branch), jobstate_name(to), log_quote(why));
	if (status_job(txn->db, txn->config, job, NULL, to, why, now_ms, err) != 0)
		return -1;
	return store_job_report_state(txn->db, job, to, why, now_ms, err);
}

int job_release(struct txn *txn, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (store_job_release(txn->db, job->id, why, err) != 0)
		return -1;
	return store_job_report_state(txn->db, job, JOBSTATE_QUEUED, why, now_ms, err);
}

int job_wait(struct txn *txn, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (!strcmp(job->state_why, why))
		return 0;
	log_warning("job.wait", "job=%lld repo=%s err=%s", (long long)job->id, log_quote(job->repo_name), log_quote(why));
	return store_job_state(txn->db, job->id, JOBSTATE_QUEUED, why, now_ms, err) != 0 ||
			       store_job_report_state(txn->db, job, JOBSTATE_QUEUED, why, now_ms, err) != 0
		       ? -1
		       : 0;
}

int job_move_now(struct txn *txn, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err)
{
	if (txn_begin(txn, err) != 0)
		return -1;
	return txn_end(txn, job_move(txn, job, to, why, clock_utc_ms(), err), err);
}
