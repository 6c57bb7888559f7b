/* job.c - jobs: the queue, a single job with its log, request, cancel and retry. */

#include "web/api/internal.h"

/* ---- reading ------------------------------------------------------------------------------------------------------- */

struct job_list {
	struct answer_list list;
	struct unschedulable unschedulable;
	struct forecast *forecast; /* NULL: not needed yet */
	int result;                /* -1: it failed */
	struct fw_err *err;
};

static void write_progress(struct jsonw *j, const char *progress)
{
	jsonw_key(j, "progress");
	if (*progress)
		jsonw_raw(j, progress, strlen(progress));
	else
		jsonw_null(j);
}

/* Write the jobs before a queued job; the forecast is made for the first one. */
static void write_behind(struct jsonw *j, struct job_list *jobs, const struct view_job *row)
{
	struct forecast_behind behind;
	if (row->state == JOBSTATE_QUEUED && !jobs->forecast && jobs->result == 0) {
		jobs->forecast = forecast_new(&jobs->unschedulable, clock_utc_ms(), jobs->err);
		jobs->result = jobs->forecast ? 0 : -1;
	}
	jsonw_key(j, "behind");
	if (row->state == JOBSTATE_QUEUED && jobs->forecast && forecast_behind(jobs->forecast, row->id, &behind))
		jsonw_format(j, "{ job?=%lld kind?=%s queued=%d }", (long long)behind.job,
			behind.job ? jobkind_name(behind.kind) : "", behind.queued);
	else
		jsonw_null(j);
}

static void write_job(struct jsonw *j, struct job_list *jobs, const struct view_job *row)
{
	struct unschedulable *unschedulable = &jobs->unschedulable;
	jsonw_object(j);
	jsonw_format(j,
		"id=%lld repo=%s branch=%s{branch} base?=%s base_how?=%s target=%s subject?=%s kind=%s suite?=%s cells?=%s base_provider?=%s target_provider?=%s base_config?=%s target_config?=%s base_toolchain?=%s target_toolchain?=%s base_flags?=%s target_flags?=%s quick=%i device_kind?=%s origin=%s state=%s state_why?=%s",
		(long long)row->id, row->repo, row->branch, row->base, row->base_how, row->target, row->subject,
		jobkind_name(row->kind), row->suite, row->cells_glob, row->base_provider, row->target_provider, row->base_config,
		row->target_config, row->base_toolchain, row->target_toolchain, row->base_flags, row->target_flags, row->quick,
		row->device_kind, row->origin, jobstate_name(row->state),
		*row->state_why || row->state != JOBSTATE_QUEUED ? row->state_why : unschedulable_hold(unschedulable));
	write_progress(j, row->progress);
	jsonw_format(j,
		"attempt=%d device?=%s comparison?=%lld verdict?=%s queued_at=%lld{time} started_at=%lld{time} ended_at=%lld{time} again_at=%lld{time} again_of?=%lld no_device?=%s",
		row->attempt, row->device, (long long)row->comparison, row->comparison ? verdict_name(row->verdict) : "",
		(long long)row->queued_at, (long long)row->started_at, (long long)row->ended_at, (long long)row->again_at,
		(long long)row->again_of, row->state == JOBSTATE_QUEUED ? unschedulable_of(unschedulable, row->id) : "");
	write_behind(j, jobs, row);
	jsonw_object_end(j);
}

static int end_list(struct job_list *jobs, int result)
{
	forecast_free(jobs->forecast);
	unschedulable_fini(&jobs->unschedulable);
	return result == 0 ? jobs->result : result;
}

static void list_row(void *arg, const struct view_job *row)
{
	struct job_list *jobs = arg;
	if (answer_list_take(&jobs->list, row->id, row->queued_at, row->repo))
		write_job(&jobs->list.j, jobs, row);
}

int api_jobs(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_list jobs = { .unschedulable = { .site = site }, .err = err };
	struct answer_list *list = &jobs.list;
	const char *state;
	int64_t before;
	int result;
	if (answer_choice(r, "state", answer_job_states(), &state, err) != 0 ||
		answer_list_begin(site->db, r, response, list, &before, err) != 0 ||
		answer_list_seek(site->db, list, VIEW_LIST_JOBS, &before, err) != 0)
		return -1;
	do
		result = view_jobs(site->db, state, before, list->rows, list_row, &jobs, err);
	while (result == 0 && answer_list_more(list, &before));
	return answer_list_end(r, response, list, end_list(&jobs, result));
}

static void only_row(void *arg, const struct view_job *row)
{
	struct job_list *jobs = arg;
	write_job(&jobs->list.j, jobs, row);
}

int api_job(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "job", err);
	struct job_list one = { .unschedulable = { .site = site }, .err = err };
	if (id < 0)
		return -1;
	answer_json(response, &one.list.j);
	return end_list(&one, view_job(site->db, id, only_row, &one, err));
}

/* ---- log ----------------------------------------------------------------------------------------------------------- */

static void log_row(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)id;
	struct buf *out = arg;
	char text[32];
	clock_format(at, text);
	buf_printf(out, "%s  %s\n", text, line);
}

struct build_reading {
	struct buf *out;
	const char *side;
};

static void build_log(void *arg, const struct view_build *row)
{
	struct build_reading *b = arg;
	buf_printf(b->out, "\n%s build %s, %s, %lld ms", b->side, row->state, row->toolchain, (long long)row->duration_ms);
	if (*row->detail)
		buf_printf(b->out, ": %s", row->detail);
	buf_putc(b->out, '\n');
	buf_append(b->out, row->log, row->log_len);
	if (row->log_len && ((const char *)row->log)[row->log_len - 1] != '\n')
		buf_putc(b->out, '\n');
}

static void remember_comparison(void *arg, const struct view_job *row)
{
	*(int64_t *)arg = row->comparison;
}

int api_job_log(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	static const char *const sides[] = { "base", "target" };
	int64_t comparison = 0, id = answer_path_id(r, "job", err);
	if (id < 0)
		return -1;
	/* unescaped bytes of the build: browsers do not interpret plain text */
	response->type = "text/plain; charset=utf-8";
	int result = view_job(site->db, id, remember_comparison, &comparison, err) ||
				     view_log(site->db, id, 0, VIEW_HISTORY_MAX, log_row, &response->body, err)
			     ? -1
			     : 0;
	for (int i = 0; result == 0 && comparison && i < 2; i++) {
		struct build_reading b = { .out = &response->body, .side = sides[i] };
		result = view_build(site->db, comparison, sides[i], build_log, &b, err);
		if (result != 0 && err->code == ERR_NOT_FOUND) { /* this side has no build */
			err_clear(err);
			result = 0;
		}
	}
	return result;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static int job_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	int64_t id;
	char page[48];
	json_t *root = write_take_request(r, response, WRITE_SIDES " quick", NULL, &request);
	if (!root)
		return -1;
	int result = !request.repo || !request.target ? err_set(err, ERR_INVALID, "repo and target are required")
						      : site->act->enqueue(site->control, &request, &id, err);
	json_decref(root);
	if (result != 0)
		return -1;
	snprintf(page, sizeof page, "/jobs/%lld", (long long)id);
	if (!write_back_to(r, response, page))
		answer_new(response, "jobs", id, jobstate_name(JOBSTATE_QUEUED));
	return 0;
}

int api_job_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, job_post, err);
}

int api_job_cancel(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "job", err);
	if (id < 0 || site->act->cancel(site->control, id, http_who(r), err) != 0)
		return -1;
	if (!write_back_to(r, response, "/jobs"))
		answer_state(response, id, jobstate_name(JOBSTATE_CANCELLED));
	return 0;
}

static int job_retry(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t new_id, id = answer_path_id(r, "job", err);
	if (id < 0 || site->act->retry(site->control, id, &new_id, err) != 0)
		return -1;
	if (!write_back_to(r, response, "/jobs"))
		answer_new(response, "jobs", new_id, jobstate_name(JOBSTATE_QUEUED));
	return 0;
}

int api_job_retry(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, job_retry, err);
}
