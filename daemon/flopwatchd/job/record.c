/* record.c - writes about jobs, and the memory of whether writing works. */
#include "flopwatchd/job/record.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "flopwatchd/delivery/commit_status.h"

enum { EVENT_BYTES_MAX = 64 << 10, AGAIN_NS = 1000000000 };

bool ledger_is_outage(const struct fw_err *err)
{
	return err->code == ERR_IO || err->code == ERR_FULL || err->code == ERR_BUSY;
}

static void note_failure(struct ledger *g, const struct fw_err *err)
{
	if (!ledger_is_outage(err))
		return;
	if (!g->is_broken)
		log_error("db.down", "err=%s", log_quote(err->text));
	g->is_broken = true;
	g->why = *err;
}

static void note_success(struct ledger *g)
{
	if (g->is_broken)
		log_info("db.up", "was=%s", log_quote(g->why.text));
	g->is_broken = false;
}

bool ledger_is_well(struct ledger *g)
{
	struct fw_err err = { 0 };
	int64_t now = clock_mono_ns();
	if (!g->is_broken || now - g->tried_ns < AGAIN_NS)
		return !g->is_broken;
	g->tried_ns = now;
	if (db_try_write(g->db, &err) == 0)
		note_success(g);
	else
		note_failure(g, &err);
	return !g->is_broken;
}

int ledger_begin(struct ledger *g, struct fw_err *err)
{
	g->written = db_written(g->db);
	if (db_begin(g->db, err) == 0)
		return 0;
	note_failure(g, err);
	return -1;
}

int ledger_end(struct ledger *g, int result, struct fw_err *err)
{
	if (result != 0)
		db_rollback(g->db);
	else
		result = db_commit(g->db, err);
	if (result != 0) {
		note_failure(g, err);
		return -1;
	}
	if (db_written(g->db) != g->written && !db_in_outer(g->db)) /* else it is not stored yet */
		note_success(g);
	if (g->on_event)
		g->on_event(g->arg);
	return 0;
}

int ledger_tell(struct ledger *g, const struct store_job *job, const char *kind, const char *state, const char *why,
	int64_t now_ms, struct fw_err *err)
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
	struct ledger *g, const struct store_job *job, const char *state, const char *why, int64_t now_ms, struct fw_err *err)
{
	char line[1200];
	snprintf(line, sizeof line, "%s: %s", state, why);
	if (why[0] && store_job_log(g->db, job->id, now_ms, line, err) != 0)
		return -1;
	return ledger_tell(g, job, "job.state", state, why[0] ? why : NULL, now_ms, err);
}

int ledger_move(
	struct ledger *g, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (store_job_state(g->db, job->id, jobstate_name(to), why, now_ms, err) != 0)
		return -1;
	log_info("job.state", "job=%lld repo=%s branch=%s state=%s why=%s", (long long)job->id, log_quote(job->repo_name),
		log_quote(job->branch), jobstate_name(to), log_quote(why));
	if (status_job(g->db, g->config, job, NULL, jobstate_name(to), why, now_ms, err) != 0)
		return -1;
	return tell_state(g, job, jobstate_name(to), why, now_ms, err);
}

int ledger_release(struct ledger *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(g->db,
		"UPDATE job SET state = 'queued', state_why = :why, progress = '', attempt = max(attempt - 1, 0), started_at = "
		"NULL "
		"WHERE id = :id AND state IN ('sent', 'building', 'checking', 'measuring')",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":id", job->id);
	stmt_text(s, ":why", why);
	if (stmt_run(s, err) != 0)
		return -1;
	if (db_changes(g->db) != 1)
		return err_set(err, ERR_CONFLICT, "job %lld has ended already", (long long)job->id);
	return tell_state(g, job, "queued", why, now_ms, err);
}

int ledger_wait(struct ledger *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (!strcmp(job->state_why, why))
		return 0;
	log_warning("job.wait", "job=%lld repo=%s err=%s", (long long)job->id, log_quote(job->repo_name), log_quote(why));
	return store_job_state(g->db, job->id, "queued", why, now_ms, err) != 0 ||
			       tell_state(g, job, "queued", why, now_ms, err) != 0
		       ? -1
		       : 0;
}

int ledger_move_now(struct ledger *g, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err)
{
	if (ledger_begin(g, err) != 0)
		return -1;
	return ledger_end(g, ledger_move(g, job, to, why, clock_utc_ms(), err), err);
}
