/* control_profile.c - requests for a profile of an alert, a comparison or two commits. */
#include "flopwatchd/internal.h"

#include <math.h>

#include "flopwatchd/alert/alert.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/schedule/schedule.h"

enum { CELLS_JSON_MAX = 1 << 21 };

static int choose_cells(struct control *c, int64_t comparison, const char *globs, struct profile_cells *out, struct fw_err *err)
{
	struct profile_cells slower = { .n = 0 }, all = { .n = 0 };
	struct store_cell cell = { .n = -1 };
	int result;
	while ((result = store_cell_next(c->db, comparison, cell.n, &cell, err)) == 1) {
		double slowdown = isfinite(cell.decided_m) ? cell.decided_m : cell.m;
		if (!isfinite(cell.target_median_ms) || (globs[0] && !suite_matches(cell.key, globs)))
			continue;
		profile_cells_add(&all, cell.key, cell.group, cell.direction, slowdown);
		if (cell.verdict == VERDICT_REGRESSION)
			profile_cells_add(&slower, cell.key, cell.group, cell.direction, slowdown);
	}
	*out = slower.n ? slower : all;
	profile_cells_choose(out, EVIDENCE_CELLS_MAX);
	if (result == 0 && out->n == 0)
		return err_set(err, ERR_INVALID, "C%lld timed no cell%s%.200s", (long long)comparison,
			globs[0] ? " that matches " : "", globs);
	return result;
}

static int read_comparison(struct control *c, int64_t comparison, const char *globs, struct store_job *job,
	struct store_profile *p, struct fw_err *err)
{
	struct store_profile_of of;
	struct profile_cells cells;
	if (store_profile_read_comparison(c->db, comparison, &of, err) != 0)
		return -1;
	if (!job->every_cell && choose_cells(c, comparison, globs, &cells, err) != 0)
		return -1;
	if (config_repo_find(c->config, of.repo_name) < 0)
		return err_set(err, ERR_CONFLICT, "repository %s is no longer configured", of.repo_name);
	profile_request_like(&of, job);
	if (job->every_cell)
		snprintf(job->cells_glob, sizeof job->cells_glob, "%s", globs);
	else
		profile_cells_text(&cells, job->cells_glob, sizeof job->cells_glob);
	p->comparison = comparison;
	return 0;
}

struct alert_source {
	int64_t comparison;
	struct buf cells;
};

static void copy_alert(void *arg, const struct view_alert *row)
{
	struct alert_source *a = arg;
	a->comparison = row->comparison;
	buf_puts(&a->cells, row->cells_json);
}

static int read_alert(struct control *c, int64_t alert, struct store_job *job, struct store_profile *p, struct fw_err *err)
{
	struct alert_source a = { .comparison = 0 };
	struct profile_cells cells;
	buf_init(&a.cells, CELLS_JSON_MAX);
	int result = view_alert(c->db, alert, copy_alert, &a, err);
	if (result == 0 && !a.comparison)
		result = err_set(err, ERR_INVALID, "A%lld has no comparison, so there are no times to explain", (long long)alert);
	if (result == 0)
		result = alert_profile_choose(c->db, a.comparison, a.cells.data, EVIDENCE_CELLS_MAX, &cells, err);
	buf_fini(&a.cells);
	if (result == 0 && cells.n == 0)
		result = err_set(
			err, ERR_INVALID, "A%lld holds no cell that was timed, so there is nothing to explain", (long long)alert);
	if (result != 0 || read_comparison(c, a.comparison, "", job, p, err) != 0)
		return -1;
	profile_cells_text(&cells, job->cells_glob, sizeof job->cells_glob);
	p->alert = alert;
	return 0;
}

static struct store_profile_of get_sides(const struct store_job *job)
{
	struct store_profile_of of = { .repo = job->repo };
	snprintf(of.base_sha, sizeof of.base_sha, "%s", job->base_sha);
	snprintf(of.target_sha, sizeof of.target_sha, "%s", job->target_sha);
	snprintf(of.suite, sizeof of.suite, "%s", job->suite);
	snprintf(of.base_provider, sizeof of.base_provider, "%s", job->base_provider);
	snprintf(of.target_provider, sizeof of.target_provider, "%s", job->target_provider);
	of.base_tools = job->base_tools;
	of.target_tools = job->target_tools;
	snprintf(of.base_config, sizeof of.base_config, "%s", job->base_config);
	snprintf(of.target_config, sizeof of.target_config, "%s", job->target_config);
	return of;
}

/* Commits compared with these options give cells and device; else the largest cells of the suite count. */
static int read_sides(
	struct control *c, const struct job_request *r, struct store_job *job, struct store_profile *p, struct fw_err *err)
{
	struct job_request sides = *r;
	struct store_job like = { .origin = "api", .every_cell = job->every_cell };
	int64_t comparison;
	if (!r->base || !r->base[0])
		return err_set(
			err, ERR_INVALID, "a profile needs a base and a target, or the number of an alert or a comparison");
	sides.device_kind = NULL; /* may be one device, which a request rejects */
	if (control_read_request(c, &sides, job, err) != 0 || control_read_device(c, r->device_kind, job, err) != 0)
		return -1;
	struct store_profile_of of = get_sides(job);
	int found = store_profile_comparison(c->db, &of, &comparison, err);
	if (found != 1)
		return found;
	struct fw_err none = { 0 };
	if (read_comparison(c, comparison, job->cells_glob, &like, p, &none) != 0)
		return none.code == ERR_INVALID ? 0 : err_set(err, none.code, "%s", none.text);
	snprintf(job->suite, sizeof job->suite, "%s", like.suite);
	snprintf(job->cells_glob, sizeof job->cells_glob, "%s", like.cells_glob);
	if (!job->device_uuid[0] && job->device_kind == DEVICE_ANY)
		snprintf(job->device_uuid, sizeof job->device_uuid, "%s", like.device_uuid);
	return 0;
}

static int queue_profile(struct control *c, struct store_job *job, struct store_profile *p, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = control_check_queue(c, 1, err);
	if (result == 0)
		result = profile_request(c->db, job, p, "queued: requested by a user", clock_utc_ms(), err);
	if (txn_end(txn, result, err) != 0)
		return -1;
	log_info("job.queued", "job=%lld repo=%s commit=%s profile=%lld", (long long)job->id, log_quote(job->repo_name),
		job->target_sha, (long long)p->id);
	queue_wake(c->queue);
	return 0;
}

int control_profile(struct control *c, const struct job_request *request, int64_t *profile, struct fw_err *err)
{
	struct store_job job = { .origin = "api", .every_cell = request->every_cell };
	struct store_profile p = { .id = 0 };
	char globs[STORE_JOB_CELLS_SIZE];
	snprintf(globs, sizeof globs, "%s", request->cells_glob ? request->cells_glob : "");
	int result = request->alert        ? read_alert(c, request->alert, &job, &p, err)
		     : request->comparison ? read_comparison(c, request->comparison, globs, &job, &p, err)
					   : read_sides(c, request, &job, &p, err);
	if (result != 0 || queue_profile(c, &job, &p, err) != 0)
		return -1;
	*profile = p.id;
	return 0;
}

int control_profile_again(struct control *c, struct store_job *row, int64_t *new_job, struct fw_err *err)
{
	struct store_profile p;
	int found = store_profile_of_job(c->db, row->id, &p, err);
	if (found == 0)
		err_set(err, ERR_INTERNAL, "profile J%lld has no profile row", (long long)row->id);
	if (found != 1 || queue_profile(c, row, &p, err) != 0)
		return -1;
	*new_job = row->id;
	return 0;
}
