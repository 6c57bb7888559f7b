/* bisect.c - one step of each open bisect at a time, each in one transaction. */
#include "flopwatchd/bisect/internal.h"

#include "flopwatchd/alert/alert.h"

/* ---- load: Conversion of stored comparisons to a bisect_search. ---- */

/* Append `key` to a list of cells. Returns false if it does not fit. Shape: cells[STORE_JOB_CELLS_SIZE]. */
static bool bisect_add_cell(char *cells, const char *key)
{
	size_t at = strlen(cells), len = strlen(key);
	if (at + len + 2 > STORE_JOB_CELLS_SIZE)
		return false;
	snprintf(cells + at, STORE_JOB_CELLS_SIZE - at, "%s%s", at ? " " : "", key);
	return true;
}

/** `cells`: keys separated by spaces. */
static bool has_cell(const char *cells, const char *key)
{
	size_t len = strlen(key);
	for (const char *at = strstr(cells, key); at; at = strstr(at + 1, key))
		if ((at == cells || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static struct bisect_track *find_track(struct bisect_search *s, const char *key)
{
	for (int k = 0; k < s->n_tracks; k++)
		if (strcmp(s->track[k].key, key) == 0)
			return &s->track[k];
	return NULL;
}

static void make_tracks(struct bisect_search *s, const char *cells)
{
	while (*cells && s->n_tracks < BISECT_CELLS_MAX) {
		size_t len = strcspn(cells, " ");
		struct bisect_track *t = &s->track[s->n_tracks++];
		snprintf(t->key, sizeof t->key, "%.*s", (int)len, cells);
		t->point[0].state = BISECT_KNOWN;
		t->threshold = 1;
		cells += len + strspn(cells + len, " ");
	}
}

static void add_point(void *arg, const struct store_bisect_point *p)
{
	struct bisect_search *s = arg;
	struct bisect_track *t = find_track(s, p->key);
	if (!t || p->target_n > s->n)
		return;
	if (!s->certain)
		t->threshold = stats_theta(p->threshold_pct);
	bisect_direct_put(t, p->base_n, p->target_n, p->verdict, p->m, p->se, p->comparison);
	if (p->base_n)
		return;
	struct bisect_point *point = &t->point[p->target_n];
	if (s->certain)
		*point = bisect_failed_point(p->verdict);
	/* A single failure, caused by heat for instance, is worth another job of the bisect; note_ended_job decides the point. */
	else if (!bisect_timed_point(point, p->verdict, p->m, p->se) && point->state == BISECT_UNKNOWN &&
		 p->verdict != VERDICT_REJECTED)
		point->state = BISECT_SKIPPED;
}

static void note_ended_job(void *arg, int base_n, int target_n, const char *cells)
{
	struct bisect_search *s = arg;
	for (int k = 0; k < s->n_tracks; k++)
		if (has_cell(cells, s->track[k].key) && target_n <= s->n)
			bisect_job_ended(&s->track[k], base_n, target_n);
}

/* Load cells, points and direct measurements of a bisect whose goal is known. Own: free(*out). */
static int bisect_load(struct db *db, const struct store_bisect *b, struct bisect_search **out, struct fw_err *err)
{
	struct bisect_search *s = mem_alloc_zero(1, sizeof *s);
	s->certain = strcmp(b->goal, "failing") == 0;
	make_tracks(s, b->cells);
	if (store_bisect_last(db, b->id, &s->n, err) || store_bisect_points(db, b, add_point, s, err) ||
		store_bisect_ended_jobs(db, b->id, note_ended_job, s, err)) {
		free(s);
		return -1;
	}
	*out = s;
	return 0;
}

struct goal {
	enum verdict wanted, worst;
	int n;
	char *cells;
};

static void note_goal_cell(void *arg, const struct store_bisect_point *p)
{
	struct goal *g = arg;
	g->worst = verdict_worse(g->worst, p->verdict);
	if (p->verdict == g->wanted && g->n < BISECT_CELLS_MAX && bisect_add_cell(g->cells, p->key))
		g->n++;
}

/*
 * Set b->goal, b->cells and b->verdict from the comparison of both ends. Goal "" if no cell regressed. Regressed cells precede
 * failed ones; cells beyond the limit of a bisect are omitted.
 */
static int bisect_load_goal(struct db *db, struct store_bisect *b, struct fw_err *err)
{
	static const struct {
		enum verdict verdict;
		enum alertkind goal;
	} goals[] = { { VERDICT_REGRESSION, ALERTKIND_REGRESSION }, { VERDICT_FAILED, ALERTKIND_FAILING } };
	b->goal[0] = 0;
	for (int i = 0; i < 2 && !b->goal[0]; i++) {
		struct goal g = { .wanted = goals[i].verdict, .worst = VERDICT_NONE, .cells = b->cells };
		b->cells[0] = 0;
		if (store_bisect_cells(db, b->comparison, note_goal_cell, &g, err))
			return -1;
		snprintf(b->verdict, sizeof b->verdict, "%s", verdict_name(g.worst));
		if (g.n)
			snprintf(b->goal, sizeof b->goal, "%s", alertkind_name(goals[i].goal));
	}
	return 0;
}

/* ---- bisect ---- */

enum { LOG_BYTES_MAX = 4 << 20, LOG_DEADLINE_MS = 60000, CULPRITS_BYTES_MAX = 1 << 20, AGAIN_MS = 5000 };

struct bisects {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	void (*on_job)(void *arg);
	void *arg;
	struct loop_source *step_timer, *retry_timer;
	struct child *git_task; /* lists the commits of `list` */
	struct store_bisect list;
};

static int end_bisect(
	struct bisects *b, const struct store_bisect *row, const char *state, const char *why, int64_t now, struct fw_err *err)
{
	struct store_event event;
	if (store_bisect_state(b->txn->db, row->id, state, why, now, err) != 0)
		return -1;
	struct jsonw *j = alert_message(&event, "bisect.ended");
	jsonw_format(j, "bisect=%ld repo=%s state=%s why=%s", row->id, row->repo_name, state, why);
	int result = alert_deliver(b->txn->db, NULL, &event, now, err);
	log_info("bisect.ended", "bisect=%lld repo=%s state=%s why=%s", (long long)row->id, log_quote(row->repo_name), state,
		log_quote(why));
	return result;
}

static int conclude_bisect(
	struct bisects *b, const struct store_bisect *row, const struct bisect_search *s, int64_t now, struct fw_err *err)
{
	struct bisect_finding *found = mem_alloc_zero(BISECT_FINDINGS_MAX, sizeof *found);
	struct buf json;
	char line[512];
	int n = bisect_findings(s, found);
	buf_init(&json, CULPRITS_BYTES_MAX);
	int result = bisect_report_json(b->txn->db, row, s, found, n, &json, err);
	if (result == 0)
		result = bisect_report_line(b->txn->db, row, s, found, n, line, sizeof line, err);
	if (result == 0)
		result = store_bisect_culprits(b->txn->db, row->id, json.data, err);
	if (result == 0 && row->alert && n)
		result = alert_name(b->txn->db, b->config, row->alert, json.data, line, now, err);
	if (result == 0)
		result = end_bisect(b, row, "done", line, now, err);
	buf_fini(&json);
	free(found);
	return result;
}

static int queue_job(struct bisects *b, const struct store_bisect *row, int base, int target, const char *cells, int64_t now,
	struct fw_err *err)
{
	struct db *db = b->txn->db;
	struct store_job job = {
		.repo = row->repo, .kind = JOBKIND_BISECT, .origin = "bisect", .base_how = "given", .priority = BISECT_PRIORITY
	};
	char line[128];
	snprintf(job.suite, sizeof job.suite, "%s", row->suite);
	job.device_kind = row->device_kind;
	snprintf(job.cells_glob, sizeof job.cells_glob, "%s", cells);
	snprintf(line, sizeof line, "queued: bisect %lld compares commits %d and %d of its range", (long long)row->id, base,
		target);
	if (store_bisect_sha(db, row->id, base, job.base_sha, err) != 0 ||
		store_bisect_sha(db, row->id, target, job.target_sha, err) != 0 || store_job_insert(db, &job, now, err) != 0 ||
		store_job_log(db, job.id, now, line, err) != 0 || store_bisect_wait(db, row->id, job.id, base, target, err) != 0)
		return -1;
	return store_job_report(b->txn->db, &job, "job.queued", JOBSTATE_QUEUED, NULL, now, err);
}

static int queue_next_job(struct bisects *b, const struct store_bisect *row, const struct bisect_search *s, int base, int target,
	int64_t now, struct fw_err *err)
{
	char cells[STORE_JOB_CELLS_SIZE] = "";
	for (int k = 0; k < s->n_tracks; k++)
		if (bisect_wants(&s->track[k], s->n, base, target))
			(void)bisect_add_cell(cells, s->track[k].key); /* cannot fail: the cells come from a list that fits */
	return queue_job(b, row, base, target, cells, now, err);
}

/** Compare the two ends. Returns 1 the result is known, 0 waiting or ended, -1. */
static int step_ends(struct bisects *b, struct store_bisect *row, int64_t now, struct fw_err *err)
{
	struct db *db = b->txn->db;
	struct store_job job;
	int last;
	if (!row->job) {
		if (store_bisect_last(db, row->id, &last, err) != 0)
			return -1;
		return queue_job(b, row, 0, last, row->cells, now, err);
	}
	if (store_job_get(db, row->job, &job, err) != 0)
		return -1;
	if (!job.comparison)
		return end_bisect(b, row, "failed", job.state_why, now, err);
	row->comparison = job.comparison;
	snprintf(row->suite, sizeof row->suite, "%s", job.suite);
	if (bisect_load_goal(db, row, err) != 0 || store_bisect_goal(db, row, err) != 0)
		return -1;
	if (row->goal[0])
		return 1;
	char why[128];
	snprintf(why, sizeof why, "nothing to bisect: the bad end is %s against the good end", row->verdict);
	return end_bisect(b, row, "done", why, now, err);
}

static int step_bisect(struct bisects *b, const struct store_bisect *row, int64_t now, struct fw_err *err)
{
	struct bisect_search *s = NULL;
	int base, target;
	if (bisect_load(b->txn->db, row, &s, err) != 0)
		return -1;
	int rc = row->n_jobs < BISECT_JOBS_MAX && bisect_next(s, &base, &target)
			 ? queue_next_job(b, row, s, base, target, now, err)
			 : conclude_bisect(b, row, s, now, err);
	free(s);
	return rc;
}

static int step(struct bisects *b, struct store_bisect *row, int64_t now, struct fw_err *err)
{
	int result = store_alert_is_invalid(b->txn->db, row->alert, err);
	if (result != 0)
		return result < 0 ? -1 : end_bisect(b, row, "cancelled", "a user marked its alert as invalid", now, err);
	result = row->comparison ? 1 : step_ends(b, row, now, err);
	return result == 1 ? step_bisect(b, row, now, err) : result;
}

struct listing {
	struct bisects *b;
	int n;
	bool complete;
	struct store_commit *commit; /* commit[BISECT_COMMITS_MAX], the bad end first */
};

static int list_commit(void *arg, const struct store_commit *c, struct fw_err *err)
{
	struct listing *l = arg;
	(void)err;
	l->commit[l->n++] = *c;
	l->complete = strcmp(c->sha, l->b->list.good_sha) == 0;
	return l->complete || l->n == BISECT_COMMITS_MAX;
}

static int write_listing(struct listing *l, int64_t now, struct fw_err *err)
{
	struct bisects *b = l->b;
	struct db *db = b->txn->db;
	char why[256];
	if (!l->complete) {
		if (l->n == BISECT_COMMITS_MAX)
			snprintf(why, sizeof why,
				"the good end %.12s is not among the %d commits before the bad end %.12s: choose a later one",
				b->list.good_sha, l->n - 1, b->list.bad_sha);
		else
			snprintf(why, sizeof why,
				"the good end %.12s is not an ancestor of the bad end %.12s by first parents: perhaps they are swapped",
				b->list.good_sha, b->list.bad_sha);
		return end_bisect(b, &b->list, "failed", why, now, err);
	}
	for (int i = 0; i < l->n; i++)
		if (store_commit_put(db, b->list.repo, &l->commit[i], err) != 0 ||
			store_bisect_commit(db, b->list.id, l->n - 1 - i, l->commit[i].sha, err) != 0)
			return -1;
	return store_bisect_state(db, b->list.id, "measuring", "", now, err);
}

static void on_retry(void *arg)
{
	struct bisects *b = arg;
	b->retry_timer = NULL;
	bisects_wake(b);
}

static void schedule_retry(struct bisects *b)
{
	if (!b->retry_timer)
		loop_after(b->loop, AGAIN_MS, on_retry, b, &b->retry_timer);
}

/** End the transaction of a step; retries after a failure of disk or database. */
static void end_step(struct bisects *b, int result, struct fw_err *err)
{
	if (txn_end(b->txn, result, err) == 0)
		return;
	log_warning("bisect.step", "err=%s", log_quote(err->text));
	schedule_retry(b);
}

static void on_log(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct bisects *b = arg;
	struct fw_err err = { 0 };
	struct listing l = { .b = b, .commit = mem_alloc_zero(BISECT_COMMITS_MAX, sizeof *l.commit) };
	b->git_task = NULL;
	/* the failure is not due to the commits */
	bool wait = failed && failed->code != ERR_NOT_FOUND && failed->code != ERR_INVALID;
	int read = wait ? err_set(&err, failed->code, "%s", failed->text) : failed ? 0 : gitread_log(out, list_commit, &l, &err);
	if (read != 0) {
		log_warning("bisect.list", "bisect=%lld err=%s", (long long)b->list.id, log_quote(err.text));
		schedule_retry(b);
	} else if (txn_begin(b->txn, &err) == 0) {
		int64_t now = clock_utc_ms();
		end_step(b, failed ? end_bisect(b, &b->list, "failed", failed->text, now, &err) : write_listing(&l, now, &err),
			&err);
		bisects_wake(b);
	}
	free(l.commit);
}

static void list_commits(struct bisects *b, const struct store_bisect *row)
{
	struct fw_err err = { 0 };
	char path[4096], count[16];
	int at = config_repo_find(b->config, row->repo_name);
	snprintf(count, sizeof count, "%d", BISECT_COMMITS_MAX);
	const char *args[] = { "log", "--repo", path, "--from", row->bad_sha, "--count", count, "--first-parent", NULL };
	struct child_spec spec = {
		.program = "flopwatch-git", .args = args, .out_fd = -1, .out_max = LOG_BYTES_MAX, .deadline_ms = LOG_DEADLINE_MS
	};
	b->list = *row;
	if (at < 0) { /* no longer configured; a reload may add it again */
		schedule_retry(b);
		return;
	}
	if (config_repo_path(b->config, &b->config->repo[at], path, sizeof path, &err) != 0 ||
		child_start(b->loop, &spec, on_log, b, &b->git_task, &err) != 0) {
		log_warning("bisect.list", "bisect=%lld err=%s", (long long)row->id, log_quote(err.text));
		schedule_retry(b);
	}
}

static bool is_waiting(struct bisects *b, const struct store_bisect *row)
{
	struct fw_err err = { 0 };
	struct store_job job;
	return row->job && store_job_get(b->txn->db, row->job, &job, &err) == 0 && !jobstate_is_final(job.state);
}

static void run_steps(void *arg)
{
	struct bisects *b = arg;
	struct fw_err err = { 0 };
	struct store_bisect *row = mem_alloc(sizeof *row);
	bool requested = false;
	int got = 1;
	b->step_timer = NULL;
	for (int64_t after = 0; got == 1; after = row->id) {
		got = store_bisect_next_open(b->txn->db, after, row, &err);
		if (got != 1)
			break;
		if (strcmp(row->state, "listing") == 0) {
			if (!b->git_task)
				list_commits(b, row);
		} else if (!is_waiting(b, row)) {
			if (txn_begin(b->txn, &err) != 0)
				break;
			end_step(b, step(b, row, clock_utc_ms(), &err), &err);
			requested = true;
		}
	}
	if (got < 0)
		log_error("bisect.read", "err=%s", log_quote(err.text));
	free(row);
	if (requested)
		b->on_job(b->arg);
}

void bisects_wake(struct bisects *b)
{
	if (!b->step_timer)
		loop_after(b->loop, 0, run_steps, b, &b->step_timer);
}

struct bisects *bisects_start(struct loop *l, const struct config *c, struct txn *txn, void (*on_job)(void *arg), void *arg)
{
	struct bisects *b = mem_alloc_zero(1, sizeof *b);
	*b = (struct bisects){ .loop = l, .config = c, .txn = txn, .on_job = on_job, .arg = arg };
	bisects_wake(b);
	return b;
}

void bisects_stop(struct bisects *b)
{
	if (!b)
		return;
	child_cancel(b->git_task);
	loop_remove(b->loop, b->step_timer);
	loop_remove(b->loop, b->retry_timer);
	free(b);
}

int bisect_begin(struct db *db, const struct store_alert *a, const struct store_comparison *c, const struct result *r,
	int64_t now_ms, struct fw_err *err)
{
	struct store_bisect b = { .repo = a->repo, .alert = a->id, .comparison = c->id, .origin = "alert" };
	struct store_fork fork;
	int is_fork = store_pull_fork(db, a->repo, c->target_sha, &fork, err);
	if (is_fork) /* its other commits are not approved */
		return is_fork < 0 ? -1 : 0;
	size_t i;
	json_t *cell, *cells = json_loads(a->cells_json, 0, NULL);
	snprintf(b.goal, sizeof b.goal, "%s", alertkind_name(a->kind));
	snprintf(b.good_sha, sizeof b.good_sha, "%s", c->base_sha);
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", c->target_sha);
	snprintf(b.suite, sizeof b.suite, "%s", r->plan.suite_name);
	b.device_kind = r->device.kind;
	snprintf(b.verdict, sizeof b.verdict, "%s",
		verdict_name(a->kind == ALERTKIND_FAILING ? VERDICT_FAILED : VERDICT_REGRESSION));
	json_array_foreach(cells, i, cell)
	{
		const char *key = json_string_value(json_object_get(cell, "cell"));
		if (i < BISECT_CELLS_MAX && key)
			(void)bisect_add_cell(b.cells, key); /* a full list still finds the culprit of the remaining cells */
	}
	json_decref(cells);
	return store_bisect_insert(db, &b, now_ms, err);
}
