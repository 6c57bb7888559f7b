/* judge.c - storage of a finished job in one transaction: facts, verdicts, then alerts and notifications. */
#include "flopwatchd/record/internal.h"

#include <math.h>

#include "flopwatchd/history/history.h"
#include "flopwatchd/notify/notify.h"

/* Method of timing, stored in every baseline period: another method starts another period. */
#define TIMING_CONTRACT  "1: interleaved pairs, cold cache, device marks"
#define PROCESS_CONTRACT "1: processes A B B A, medians as the program tells them"

/* A comparison that does not fit into a frame would block the archive. A stored row takes less space than its message. */
_Static_assert(ARCHIVE_FRAME_MAX_BYTES > RESULT_BYTES_MAX, "every comparison fits into one frame of the archive");

static int put_environment(struct db *db, const struct result *r, int64_t now_ms, struct store_comparison *c, struct fw_err *err)
{
	bool is_new = false;
	if (!r->device.uuid[0])
		return 0;
	c->device = r->device_id;
	if (!c->device && store_device_put(db, &r->device, now_ms, &c->device, err))
		return -1;
	if (store_environment_put(db, &r->device, r->plan.suite_sha,
		    plan_is_benchmark(&r->plan) ? PROCESS_CONTRACT : TIMING_CONTRACT, r->isolation, now_ms, &c->environment,
		    &is_new, err))
		return -1;
	return is_new ? alert_update_baseline_period(db, r, c->environment, now_ms, err) : 0;
}

static int put_build(struct db *db, const struct result *r, enum role role, int64_t now_ms, int64_t *id, struct fw_err *err)
{
	int side = result_side(r, role);
	const struct msg_build *b = side >= 0 ? &r->build[side] : NULL;
	char inputs[65];
	*id = 0;
	if (!b || b->role == ROLE_NONE || strcmp(b->state, "start") == 0)
		return 0;
	/* `sim` runs modules built for the CPU */
	enum device_kind kind = r->device.kind == DEVICE_CUDA ? DEVICE_CUDA : DEVICE_CPU;
	plan_inputs_hash(&r->plan.request.side[side], kind, inputs);
	return store_build_put(db, inputs, kind, b, now_ms, id, err);
}

static const char *get_commit(const struct result *r, enum role role)
{
	int side = result_side(r, role);
	return side >= 0 ? r->plan.request.side[side].commit : "";
}

static int put_comparison(struct db *db, const struct result *r, const struct store_job *job, int64_t now_ms,
	struct store_comparison *c, struct fw_err *err)
{
	const struct plan *p = &r->plan;
	struct buf rule;
	*c = (struct store_comparison){ .job = job->id,
		.repo = job->repo,
		.verdict = VERDICT_NONE,
		.gpu_s = r->done.gpu_s,
		.wall_s = r->done.wall_s,
		.finished_at = now_ms };
	snprintf(c->branch, sizeof c->branch, "%s", job->branch);
	c->kind = p->request.kind;
	snprintf(c->base_sha, sizeof c->base_sha, "%s", get_commit(r, ROLE_BASE));
	snprintf(c->base_how, sizeof c->base_how, "%s", p->base_how);
	snprintf(c->target_sha, sizeof c->target_sha, "%s", get_commit(r, ROLE_TARGET));
	snprintf(c->identical_by, sizeof c->identical_by, "%s", r->identical_by);
	c->rows_unknown = result_rows_unknown(r);
	if (store_suite_put(db, p->suite_sha, p->suite_name, p->suite_text.data ? p->suite_text.data : "", p->suite_text.len,
		    p->suite_origin, &c->suite, err) ||
		(p->size.shards > 1 && store_suite_size(db, c->suite, &p->size, err)) || put_environment(db, r, now_ms, c, err) ||
		put_build(db, r, ROLE_BASE, now_ms, &c->base_build, err) ||
		put_build(db, r, ROLE_TARGET, now_ms, &c->target_build, err))
		return -1;
	buf_init(&rule, 1 << 16);
	protocol_write_rule(&rule, &p->request.rule);
	c->rule_json = rule.data;
	int result = rule.failed ? err_set(err, ERR_INTERNAL, "the rule does not fit") : store_comparison_insert(db, c, err);
	buf_fini(&rule);
	c->rule_json = NULL;
	return result;
}

/** Store rows of all runs. Shape: ids[r->n_runs]. */
static int put_runs(struct db *db, const struct result *r, int64_t comparison, int64_t *ids, struct fw_err *err)
{
	for (int i = 0; i < r->n_runs; i++)
		if (store_run_insert(db, comparison, r->run[i]->run, r->run[i]->set, r->run[i]->seed, &ids[i], err))
			return -1;
	return 0;
}

static int64_t run_row(const struct result *r, const int64_t *ids, int run)
{
	for (int i = 0; i < r->n_runs; i++)
		if (r->run[i]->run == run)
			return ids[i];
	return 0;
}

/** Find the estimate of a record, NULL none. */
static const struct run_estimate *find_estimate(const struct judge_timed *t, const struct msg_cell *m)
{
	const struct judge_runs *const all[] = { &t->decides, &t->sustained_runs, &t->call };
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < all[k]->n; i++)
			if (all[k]->message[i] == m && all[k]->estimate[i].n > 0)
				return &all[k]->estimate[i];
	return NULL;
}

static int put_samples(struct db *db, const struct result *r, int cell, int64_t cell_row, const int64_t *runs,
	const struct judge_timed *t, struct fw_err *err)
{
	for (int i = 0; i < r->n_cells; i++) {
		const struct msg_cell *m = r->cell[i];
		if (m->cell == cell && store_samples_insert(db, run_row(r, runs, m->run), cell_row, m, find_estimate(t, m), err))
			return -1;
	}
	return 0;
}

/** Store the cell's position in the history: a point of the series. */
static int put_ratio(struct db *db, const struct store_comparison *c, const struct baseline_period *e,
	const struct store_cell *cell, double x, double se, struct fw_err *err)
{
	struct store_ratio ratio = {
		.baseline_period = e->row.id, .comparison = c->id, .key = cell->key, .target_sha = c->target_sha, .x = x, .se = se
	};
	return isfinite(x) ? store_ratio_insert(db, &ratio, err) : 0;
}

static int put_cells(struct db *db, const struct result *r, const struct store_comparison *c, const int64_t *runs,
	const struct baseline_period *e, struct alert_update *alert_update, enum verdict *verdict, struct fw_err *err)
{
	struct judge_groups groups;
	judge_groups_of_result(r, &groups);
	*verdict = VERDICT_NONE;
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		struct judge_timed t;
		struct store_cell cell;
		double x, se;
		judge_cell(r, i, &t, &cell);
		judge_groups_mean(&groups, &r->plan.request.rule, &t, &cell);
		cell.comparison = c->id;
		if (baseline_period_cell(db, e, r, i, &cell, &x, &se, err) || calibrate_learn(db, r, c, &t.decides, &cell, err))
			return -1;
		if (put_ratio(db, c, e, &cell, x, se, err) || store_cell_insert(db, &cell, err) ||
			put_samples(db, r, i, cell.id, runs, &t, err) || judge_facts(db, r, i, cell.id, err) ||
			judge_facts_timed(db, cell.id, &t, err) ||
			(isfinite(x) &&
				baseline_period_reference_time(db, e, r, i, &cell, cell.device ? cell.device : c->device, err)) ||
			alert_update_cell(alert_update, db, r, i, c, &cell, err))
			return -1;
		*verdict = verdict_worse(*verdict, cell.verdict);
	}
	return 0;
}

/** Store the notes of the worker: [{"cell","role","text"}]. */
static int put_notes(struct db *db, const struct result *r, int64_t comparison, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	if (r->n_notes == 0)
		return 0;
	buf_init(&text, 1 << 17);
	jsonw_init(&j, &text);
	jsonw_array(&j);
	for (int i = 0; i < r->n_notes; i++) {
		const struct msg_note *n = &r->note[i];
		jsonw_format(&j, "{ cell=%s role=%s text=%s }", n->cell >= 0 ? r->plan.request.cell[n->cell].key : NULL,
			role_name(n->role), n->text);
	}
	jsonw_array_end(&j);
	int result = text.failed ? err_set(err, ERR_FULL, "the notes of a comparison do not fit")
				 : store_artifact(db, "comparison", comparison, "notes", text.data, text.len, err);
	buf_fini(&text);
	return result;
}

/* Store the device time by step: for the comparison's JSON, and as sums of the device. */
static int put_steps(struct db *db, const struct result *r, const struct store_comparison *c, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	int result = 0;
	buf_init(&text, 1 << 12);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	for (int i = 0; i < DEVICE_STEPS && result == 0; i++) {
		if (r->done.step_s[i] <= 0)
			continue;
		jsonw_kv_double(&j, device_step_names[i], r->done.step_s[i]);
		result = c->device ? store_device_step_add(db, c->device, (enum device_step)i, r->done.step_s[i], err) : 0;
	}
	jsonw_object_end(&j);
	if (result == 0 && text.len > 2)
		result = text.failed ? err_set(err, ERR_FULL, "the steps of a comparison do not fit")
				     : store_artifact(db, "comparison", c->id, "steps", text.data, text.len, err);
	buf_fini(&text);
	return result;
}

/* A measurement may show that its device no longer fits its class, or fits again. */
static int check_class(struct db *db, const struct store_comparison *c, int64_t now_ms, struct fw_err *err)
{
	int64_t class;
	if (!c->environment)
		return 0;
	return store_class_of_environment(db, c->environment, &class, err) || device_offset_check(db, class, now_ms, err) ? -1
															  : 0;
}

static int finish(struct db *db, const struct config *config, const struct result *r, const struct store_job *job,
	struct alert_update *alert_update, int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	struct store_comparison c;
	struct baseline_period baseline_period;
	int64_t *runs = mem_alloc_zero((size_t)r->n_runs + 1, sizeof *runs);
	int result = put_comparison(db, r, job, now_ms, &c, err);
	if (result == 0)
		result = baseline_period_enter(db, r, job, c.environment, now_ms, &baseline_period, err) ||
					 put_runs(db, r, c.id, runs, err) ||
					 put_cells(db, r, &c, runs, &baseline_period, alert_update, &c.verdict, err) ||
					 judge_throttle(db, r, c.device, err)
				 ? -1
				 : 0;
	free(runs);
	if (result == 0)
		result = put_notes(db, r, c.id, err) || put_steps(db, r, &c, err) ? -1 : 0;
	if (result || store_comparison_verdict(db, c.id, c.verdict, err) || store_job_done(db, job->id, now_ms, err))
		return -1;
	out->comparison = c.id;
	out->verdict = c.verdict;
	int64_t environment_alert;
	/* A partial comparison neither attributes a regression to a commit nor clears a commit. */
	bool whole = c.kind == JOBKIND_COMPARE && !r->plan.request.quick && !job->cells_glob[0] && c.branch[0];
	if (alert_update_publish(db, config, alert_update, r, job, &c, whole, now_ms, out, err) ||
		environment_follow(db, config, r, &c, &alert_update->lost, now_ms, &environment_alert, err) ||
		(whole && !job->shard && retry_schedule(db, config, job, &c, now_ms, err)) || check_class(db, &c, now_ms, err) ||
		trend_follow(db, config, job, &c, &baseline_period, now_ms, err) ||
		status_verdict(db, config, job, &c, now_ms, err) || gitnote_enqueue(db, config, job, &c, now_ms, err))
		return -1;
	if (environment_alert)
		out->alert = environment_alert;
	return body_store(db, c.id, err) || peerjobs_report(db, c.id, err) ? -1 : 0;
}

int judge_finish(struct db *db, const struct config *config, const struct result *r, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err)
{
	struct store_job job;
	struct alert_update alert_update;
	*out = (struct judge_outcome){ .verdict = VERDICT_NONE };
	if (store_job_get(db, r->plan.request.job, &job, err))
		return -1;
	alert_update_init(&alert_update);
	int result = finish(db, config, r, &job, &alert_update, now_ms, out, err);
	alert_update_fini(&alert_update);
	return result ? err_context(err, "J%lld", (long long)job.id) : 0;
}

int judge_unrun(struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err)
{
	struct result *r = result_new(plan);
	r->started_at = r->ended_at = now_ms;
	int result = result_unrun(r, err) ? -1 : judge_finish(db, config, r, now_ms, out, err);
	result_free(r);
	return result;
}

static bool was_timed(const struct store_cell *c)
{
	return c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_UNDECIDED || c->verdict == VERDICT_IMPROVEMENT ||
	       c->verdict == VERDICT_UNCHANGED;
}

/** Copy stored runs of one series. Own: `l` points into `stored`. */
static void copy_stored(const struct store_runs *stored, struct judge_runs *l)
{
	l->n = stored->n;
	memcpy(l->pairs, stored->pairs, sizeof l->pairs);
	memcpy(l->estimate, stored->estimate, sizeof l->estimate);
	memcpy(l->device_check, stored->device_check, sizeof l->device_check);
}

static int put_estimates(struct db *db, int64_t cell, enum series series, const struct store_runs *stored,
	const struct judge_runs *l, struct fw_err *err)
{
	for (int i = 0; i < l->n; i++)
		if (isfinite(l->estimate[i].d) && store_sample_estimate(db, cell, stored->run[i], series, &l->estimate[i], err))
			return -1;
	return 0;
}

struct again {
	int n_series;
	struct store_runs stored[3];
	struct judge_timed timed;
};

static void free_again(struct again *a)
{
	for (int k = 0; k < a->n_series; k++)
		buf_fini(&a->stored[k].values);
}

static struct judge_runs *get_series_runs(struct again *a, int k)
{
	return k == 0 ? &a->timed.decides : k == 1 ? &a->timed.sustained_runs : &a->timed.call;
}

static enum series get_series(const struct store_cell *c, int k)
{
	return k == 2 ? SERIES_CALL : k == 1 ? SERIES_SUSTAINED : c->series;
}

/** Read and judge. Own: free_again, also after an error. */
static int read_again(struct db *db, const struct rule *rule, struct store_cell *c, struct again *a, struct fw_err *err)
{
	bool by_call = c->series == SERIES_CALL;
	struct judge_timed *t = &a->timed;
	memset(a, 0, sizeof *a);
	judge_timed_init(t);
	while (a->n_series < (by_call ? 2 : 3)) {
		int k = a->n_series++;
		if (store_cell_runs(db, c->id, get_series(c, k), &a->stored[k], err) != 0)
			return -1;
		copy_stored(&a->stored[k], get_series_runs(a, k));
	}
	if (t->decides.n == 0)
		return 0;
	if (store_slow_calls_get(db, c->id, t->found.tail, err))
		return -1;
	if (!by_call && c->series != SERIES_PROCESS) { /* which runs of a program were forked is not stored: its flag remains */
		t->host.n = a->stored[0].n;
		memcpy(t->host.pairs, a->stored[0].host, sizeof t->host.pairs);
		memcpy(t->host.device_check, a->stored[0].device_check, sizeof t->host.device_check);
	}
	char given_reason[sizeof c->reason];
	memcpy(given_reason, c->reason, sizeof given_reason);
	t->is_base_alone = strstr(given_reason, VERDICT_BASE_WHOLE) != NULL;
	judge_timings(rule, family_group_is_irregular(c->group), t, c);
	if (strncmp(given_reason, c->reason, strlen(c->reason)) == 0)
		memcpy(c->reason, given_reason, sizeof given_reason); /* including the end of its budget, which is not stored */
	return 0;
}

static int rejudge_cell(
	struct db *db, const struct rule *rule, const struct judge_groups *groups, struct store_cell *c, struct fw_err *err)
{
	struct again a;
	int result = read_again(db, rule, c, &a, err);
	if (result == 0 && a.timed.decides.n > 0) {
		judge_groups_mean(groups, rule, &a.timed, c);
		for (int k = 0; k < a.n_series && result == 0; k++)
			result = put_estimates(db, c->id, get_series(c, k), &a.stored[k], get_series_runs(&a, k), err);
		if (result == 0)
			result = store_cell_verdict(db, c, err) || judge_facts_timed(db, c->id, &a.timed, err) ? -1 : 0;
	}
	free_again(&a);
	return result;
}

static int rejudge_groups(
	struct db *db, int64_t comparison, const struct rule *rule, struct judge_groups *groups, struct fw_err *err)
{
	struct store_cell c = { .n = -1 };
	int result;
	groups->n = 0;
	while ((result = store_cell_next(db, comparison, c.n, &c, err)) == 1) {
		struct again a;
		int rc = was_timed(&c) ? read_again(db, rule, &c, &a, err) : 1;
		if (rc == 0)
			judge_groups_add(groups, &c, &a.timed);
		if (rc <= 0)
			free_again(&a);
		if (rc < 0)
			return -1;
	}
	return result;
}

static int rejudge_all(
	struct db *db, int64_t comparison, const struct rule *rule, enum verdict *verdict, bool *changed, struct fw_err *err)
{
	struct store_cell c = { .n = -1 };
	struct judge_groups groups;
	int result;
	*verdict = VERDICT_NONE;
	if (rejudge_groups(db, comparison, rule, &groups, err) != 0)
		return -1;
	while ((result = store_cell_next(db, comparison, c.n, &c, err)) == 1) {
		enum verdict before = c.verdict;
		if (was_timed(&c) && rejudge_cell(db, rule, &groups, &c, err))
			return -1;
		*changed = *changed || c.verdict != before;
		*verdict = verdict_worse(*verdict, c.verdict);
	}
	return result;
}

static int rejudge_comparison(struct db *db, int64_t comparison, bool *changed, struct fw_err *err)
{
	struct store_comparison c;
	struct rule rule;
	struct buf text;
	enum verdict verdict;
	*changed = false;
	buf_init(&text, 1 << 16);
	int result = store_comparison_get(db, comparison, &c, &text, err);
	if (result == 0)
		result = protocol_parse_rule(c.rule_json, strlen(c.rule_json), &rule, err);
	buf_fini(&text);
	if (result || rejudge_all(db, comparison, &rule, &verdict, changed, err) ||
		store_comparison_verdict(db, comparison, verdict, err))
		return -1;
	return body_store(db, comparison, err) || peerjobs_report(db, comparison, err) ? -1 : 0;
}

int judge_again(struct db *db, int64_t comparison, bool *changed, struct fw_err *err)
{
	archived_read_begin(db);
	int result = rejudge_comparison(db, comparison, changed, err);
	archived_read_end(db);
	return result;
}
