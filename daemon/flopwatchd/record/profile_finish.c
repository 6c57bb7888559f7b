#include "flopwatchd/record/internal.h"

#include <math.h>

#include "flopwatchd/notify/notify.h"

/* ---- diagnostics ---- */

enum { LOG_MAX = 1 << 20 };

/* Returns 1, 0 that side's log is unknown, -1. */
static int read_log(struct db *db, const struct result *r, enum role role, struct buf *log, struct fw_err *err)
{
	int side = result_side(r, role);
	const struct msg_build *b = side >= 0 ? &r->build[side] : NULL;
	enum device_kind kind = r->device.kind == DEVICE_CUDA ? DEVICE_CUDA : DEVICE_CPU;
	char inputs[65];
	if (!b || b->role == ROLE_NONE || !b->module_sha256[0])
		return 0;
	if (b->log.len > 0) {
		buf_append(log, b->log.data, b->log.len);
		return log->failed ? err_set(err, ERR_FULL, "a build's log does not fit") : 1;
	}
	plan_inputs_hash(&r->plan.request.side[side], kind, inputs);
	return store_build_log(db, inputs, kind, b, log, err);
}

/* A module may contain code for devices on which it did not run. */
static bool is_of_other_device(const struct result *r, const struct ptxas_change *c)
{
	bool is_known = false;
	for (int i = 0; i < r->profiled.n_kernels; i++) {
		int sm = r->profiled.kernel[i].sm;
		if (sm > 0 && sm == c->architecture)
			return false;
		is_known = is_known || sm > 0;
	}
	return is_known && c->architecture > 0;
}

static int compare_logs(const struct result *r, const struct buf text[2], struct diagnostics *out, struct fw_err *err)
{
	struct ptxaslog log[2] = { { .is_whole = false } };
	int result = ptxaslog_read(&log[0], text[0].data, text[0].len, err);
	if (result == 0)
		result = ptxaslog_read(&log[1], text[1].data, text[1].len, err);
	out->change = mem_alloc_zero(PTXASDELTA_MAX, sizeof *out->change);
	size_t n = result == 0 ? ptxasdelta(&log[0], &log[1], out->change, PTXASDELTA_MAX) : 0;
	for (size_t i = 0; i < n && out->n < DIAGNOSTICS_MAX; i++)
		if (!is_of_other_device(r, &out->change[i]))
			out->change[out->n++] = out->change[i];
	ptxaslog_fini(&log[0]);
	ptxaslog_fini(&log[1]);
	return result;
}

/*
 * Compare the logs of both builds: the worker's, or for a cached build that of an equal stored build. No result if a side has
 * neither. Ignores architectures without a kernel of the profile. Own: diagnostics_fini, also after -1.
 */
static int diagnostics_read(struct db *db, const struct result *r, struct diagnostics *out, struct fw_err *err)
{
	struct buf text[2];
	*out = (struct diagnostics){ 0 };
	buf_init(&text[0], LOG_MAX);
	buf_init(&text[1], LOG_MAX);
	int result = read_log(db, r, ROLE_BASE, &text[0], err);
	if (result == 1)
		result = read_log(db, r, ROLE_TARGET, &text[1], err);
	if (result == 1)
		result = compare_logs(r, text, out, err);
	buf_fini(&text[0]);
	buf_fini(&text[1]);
	return result < 0 ? -1 : 0;
}

static void diagnostics_fini(struct diagnostics *c)
{
	free(c->change);
	*c = (struct diagnostics){ 0 };
}

static int diagnostics_put(struct db *db, int64_t profile, const struct diagnostics *c, struct fw_err *err)
{
	int result = 0;
	for (size_t i = 0; i < c->n && result == 0; i++)
		result = store_profile_diagnostic_put(db, profile,
			&(struct profile_diagnostic){ .n = (int)i,
				.change = ptxas_change_names[c->change[i].how],
				.kind = ptxas_kind_names[c->change[i].kind],
				.code = c->change[i].code,
				.kernel = c->change[i].kernel,
				.what = c->change[i].what },
			err);
	return result;
}

/* ---- profile_finish ---- */

enum { WHY_SIZE = 700 };

static const char *describe_failed_build(const struct result *r, char text[WHY_SIZE])
{
	for (int i = 0; i < r->plan.request.n_sides; i++)
		if (strcmp(r->build[i].state, "failed") == 0) {
			snprintf(text, WHY_SIZE, "the build of %s failed: %.255s", role_name(r->plan.request.side[i].role),
				r->build[i].detail);
			return text;
		}
	return NULL;
}

static bool is_refused(const struct result *r, int cell, char text[WHY_SIZE])
{
	for (int i = 0; i < r->n_checks; i++)
		if (r->check[i].cell == cell && strcmp(r->check[i].failure, "unsupported") == 0) {
			snprintf(text, WHY_SIZE, "%s does not support it: %.500s", role_name(r->check[i].role),
				r->check[i].detail);
			return true;
		}
	for (int i = 0; i < r->n_faults; i++)
		if (r->fault[i].cell == cell && strcmp(r->fault[i].failure, "unsupported") == 0) {
			snprintf(text, WHY_SIZE, "%s does not support it: %.500s", role_name(r->fault[i].role),
				r->fault[i].detail);
			return true;
		}
	return false;
}

static enum store_profile_state get_state(const struct result *r, int cell, char why[WHY_SIZE])
{
	const struct msg_profile *end = profiled_end(&r->profiled, cell);
	why[0] = 0;
	if (plan_is_benchmark(&r->plan)) {
		snprintf(why, WHY_SIZE, "A program shows only its times, and profiles need a module%s",
			r->device.kind == DEVICE_CUDA ? ": in a checkout, flopwatch profile --suite NAME counts its "
							"memory traffic under ncu"
						      : "");
		return STORE_PROFILE_UNSUPPORTED;
	}
	if (r->plan.identical || (!end && r->identical_by[0])) {
		snprintf(why, WHY_SIZE, "both sides are built from the same files, or to the same module");
		return STORE_PROFILE_IDENTICAL;
	}
	if (end) {
		snprintf(why, WHY_SIZE, "%s", end->why);
		return STORE_PROFILE_DONE;
	}
	if (is_refused(r, cell, why))
		return STORE_PROFILE_UNSUPPORTED;
	if (describe_failed_build(r, why))
		return STORE_PROFILE_FAILED;
	for (int i = 0; i < r->n_faults; i++)
		if (r->fault[i].cell == cell || r->fault[i].cell < 0) {
			snprintf(why, WHY_SIZE, "%s: %s: %.500s", role_name(r->fault[i].role), r->fault[i].failure,
				r->fault[i].detail);
			return STORE_PROFILE_FAILED;
		}
	snprintf(why, WHY_SIZE, "the worker sent no profile of the cell");
	return STORE_PROFILE_FAILED;
}

/** Find the cell in the explained comparison. Returns 1, 0 there is none, -1. */
static int find_timed(struct db *db, int64_t comparison, const char *key, struct store_cell *out, struct fw_err *err)
{
	int result = 0;
	out->n = -1;
	while (comparison && (result = store_cell_next(db, comparison, out->n, out, err)) == 1)
		if (strcmp(out->key, key) == 0)
			return 1;
	return result;
}

static int put_evidence(struct db *db, const struct profiled *p, int cell, int64_t row, struct fw_err *err)
{
	for (int i = 0; i < p->n_kernels; i++)
		if (p->kernel[i].cell == cell && store_profile_kernel_put(db, row, &p->kernel[i], err) != 0)
			return -1;
	for (int i = 0; i < p->n_codes; i++)
		if (p->code[i]->cell == cell && store_profile_code_put(db, row, p->code[i], err) != 0)
			return -1;
	return 0;
}

static int put_cell(struct db *db, const struct result *r, const struct store_profile *p, const struct diagnostics *changes,
	int i, struct fw_err *err)
{
	char why[WHY_SIZE];
	struct store_cell timed;
	struct store_profile_cell c = { .profile = p->id,
		.n = i,
		.key = r->plan.request.cell[i].key,
		.state = get_state(r, i, why),
		.why = why,
		.end = profiled_end(&r->profiled, i),
		.with = profiled_with(&r->profiled, i) };
	int found = find_timed(db, p->comparison, c.key, &timed, err);
	if (found < 0)
		return -1;
	c.base_ms = found ? timed.base_median_ms : NAN;
	c.target_ms = found ? timed.target_median_ms : NAN;
	if (store_profile_cell_put(db, &c, err) != 0)
		return -1;
	if (!c.end)
		return 0;
	if (put_evidence(db, &r->profiled, i, c.id, err) != 0)
		return -1;
	return profile_causes(db, r, i, found ? &timed : NULL, changes, c.id, err);
}

static int put_cells(struct db *db, const struct result *r, const struct store_profile *p, struct fw_err *err)
{
	struct diagnostics changes;
	int result = diagnostics_read(db, r, &changes, err);
	if (result == 0)
		result = diagnostics_put(db, p->id, &changes, err);
	for (int i = 0; i < r->plan.request.n_cells && result == 0; i++)
		result = put_cell(db, r, p, &changes, i, err);
	diagnostics_fini(&changes);
	return result;
}

static int send_event(
	struct db *db, const struct store_job *job, const struct store_profile *p, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "profile.done");
	jsonw_format(j, "profile=%ld job=%ld comparison~=%ld alert~=%ld repo=%s target=%s", p->id, job->id, p->comparison,
		p->alert, job->repo_name, job->target_sha);
	return store_event_end(&event, db, now_ms, err);
}

int profile_finish(
	struct db *db, const struct config *config, const struct result *r, int64_t now_ms, int64_t *profile, struct fw_err *err)
{
	struct store_job job;
	struct store_profile p;
	if (store_job_get(db, r->plan.request.job, &job, err) != 0)
		return -1;
	int found = store_profile_of_job(db, job.id, &p, err);
	if (found == 0)
		err_set(err, ERR_INTERNAL, "profile J%lld has no profile row", (long long)job.id);
	if (found != 1)
		return -1;
	if (put_cells(db, r, &p, err) != 0)
		return err_context(err, "profile %lld", (long long)p.id);
	*profile = p.id;
	if (store_job_done(db, job.id, now_ms, err) != 0 ||
		store_job_report_state(db, &job, JOBSTATE_DONE, "", now_ms, err) != 0 ||
		send_event(db, &job, &p, now_ms, err) != 0 ||
		(p.comparison && status_cause(db, config, job.repo_name, job.repo, job.target_sha, now_ms, err) != 0))
		return -1;
	return p.alert ? alert_explain(db, config, p.alert, now_ms, err) : 0;
}

int profile_unrun(
	struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, int64_t *profile, struct fw_err *err)
{
	struct result *r = result_new(plan);
	int result = result_unrun(r, err) != 0 ? -1 : profile_finish(db, config, r, now_ms, profile, err);
	result_free(r);
	return result;
}
