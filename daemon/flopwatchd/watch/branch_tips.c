/* branch_tips.c - jobs from branch tips; documented in internal.h. */
#include "flopwatchd/watch/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "flopwatchd/notify/notify.h"

enum { NAME_SIZE = BRANCH_NAME_SIZE, DISPLAY_SIZE = 2048, SHORT_SHA = 12, HELD_MAX_BYTES = 64 << 20 };

struct tip {
	char *name, *display; /* percent-encoded; readable */
	char sha[65];
	char before[65]; /* stored; "": never seen */
	bool known, watched, is_upstream;
};

struct branch_tips {
	struct tip *tip;
	int n, cap;
};

struct apply {
	struct db *db;
	const struct config_repo *conf;
	int64_t repo, now_ms, waiting;
	int queue_max;
	bool first_sight;
	struct branch_tips now, stored; /* sorted by name */
	struct branch_tips_result *result;
	struct fw_err *err;
};

static void add_tip(struct branch_tips *t, const char *name, const char *display, const char *sha)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->tip = mem_grow(t->tip, (size_t)t->cap, sizeof *t->tip);
	}
	t->tip[t->n] = (struct tip){ .name = mem_copy_text(name), .display = mem_copy_text(display) };
	snprintf(t->tip[t->n++].sha, 65, "%s", sha);
}

static void free_tips(struct branch_tips *t)
{
	int i;

	for (i = 0; i < t->n; i++) {
		free(t->tip[i].name);
		free(t->tip[i].display);
	}
	free(t->tip);
}

static void note_problem(struct apply *a, const char *branch, const char *what)
{
	if (!a->result->problem[0])
		snprintf(a->result->problem, sizeof a->result->problem, "branch %.200s: %.200s", branch, what);
}

static void note_held(struct apply *a, const char *name)
{
	buf_puts(&a->result->held, name);
	buf_puts(&a->result->held, "\n");
}

static int read_line(struct apply *a, const char *line, size_t len)
{
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const char *name = json_string_value(json_object_get(root, "name"));
	const char *display = json_string_value(json_object_get(root, "display"));
	const char *sha = json_string_value(json_object_get(root, "commit"));
	const char *problem = json_string_value(json_object_get(root, "problem"));
	int result = 0;

	if (!name || !*name || !display || !sha || (*sha && !oid_is_whole(sha)) || (!*sha && !problem)) {
		result = err_set(a->err, ERR_PROTOCOL, "flopwatch-git printed `%.100s`, which is not a branch", line);
	} else if (strlen(name) >= NAME_SIZE) {
		note_problem(a, display, "its name is too long to watch");
	} else {
		if (!*sha) {
			note_problem(a, display, problem);
			note_held(a, name);
		}
		add_tip(&a->now, name, display, sha);
	}
	json_decref(root);
	return result;
}

static int read_lines(struct apply *a, const struct buf *lines)
{
	const char *at = lines->data;

	while (*at) {
		size_t len = strcspn(at, "\n");

		if (len && read_line(a, at, len) != 0)
			return -1;
		at += len + (at[len] == '\n');
	}
	return 0;
}

static void add_stored(void *arg, const char *name, const char *sha)
{
	struct apply *a = arg;

	add_tip(&a->stored, name, "", sha);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct tip *)a)->name, ((const struct tip *)b)->name);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct tip *one = a, *two = b;

	if (one->is_upstream != two->is_upstream)
		return one->is_upstream ? -1 : 1;
	return strcmp(one->name, two->name);
}

static bool is_upstream(const struct config_repo *conf, const char *name)
{
	char raw[NAME_SIZE];

	if (strlen(name) >= sizeof raw)
		return false;
	percent_decode(name, raw);
	return strcmp(raw, conf->upstream) == 0;
}

static int write_event(struct apply *a, const char *kind, const struct tip *t, int64_t job)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, kind);

	jsonw_format(j, "repo=%s branch=%s display=%s commit?=%s before?=%s job~=%ld", a->conf->name, t->name, t->display, t->sha,
		t->before, job);
	return store_event_end(&event, a->db, a->now_ms, a->err);
}

static int write_job(struct apply *a, const struct tip *t)
{
	struct store_job job = { .repo = a->repo, .kind = JOBKIND_COMPARE, .origin = "push" };
	char line[512];
	int superseded = 0;

	snprintf(job.branch, sizeof job.branch, "%s", t->name);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", t->sha);
	if (store_job_insert(a->db, &job, a->now_ms, a->err) != 0 ||
		store_job_supersede(a->db, job.id, a->now_ms, &superseded, a->err) < 0 ||
		status_ended(a->db, NULL, a->conf, a->now_ms, a->err) < 0)
		return -1;
	if (*t->before)
		snprintf(line, sizeof line, "queued: branch %.300s moved from %.*s to %.*s", t->display, SHORT_SHA, t->before,
			SHORT_SHA, t->sha);
	else
		snprintf(line, sizeof line, "queued: branch %.300s is new at %.*s", t->display, SHORT_SHA, t->sha);
	if (store_job_log(a->db, job.id, a->now_ms, line, a->err) < 0)
		return -1;
	if (superseded) {
		snprintf(line, sizeof line, "%d older queued job%s of this branch superseded", superseded,
			superseded == 1 ? "" : "s");
		if (store_job_log(a->db, job.id, a->now_ms, line, a->err) < 0)
			return -1;
	}
	a->result->jobs++;
	a->result->superseded += superseded;
	a->waiting += 1 - superseded;
	return write_event(a, "job.queued", t, job.id);
}

/* A new branch at a commit that already has its job or result adds nothing to measure. */
static int wants_job(struct apply *a, const struct tip *t)
{
	int exists;

	if (t->is_upstream)
		return t->watched || a->first_sight;
	if (!t->watched)
		return 0;
	exists = store_job_planned(a->db, a->repo, t->sha, a->err);
	return exists < 0 ? -1 : !exists;
}

static int apply_moved(struct apply *a, const struct tip *t)
{
	int wants = wants_job(a, t), dropped;

	if (wants < 0)
		return -1;
	if (wants && a->waiting >= a->queue_max) {
		note_problem(a, t->display, "the queue is full; its job follows when others have ended");
		note_held(a, t->name);
		return 0;
	}
	if (store_tip_put(a->db, a->repo, t->name, t->display, t->sha, t->watched, a->now_ms, a->err) < 0)
		return -1;
	a->result->moved++;
	if (write_event(a, "branch.moved", t, 0) != 0)
		return -1;
	if (wants)
		return write_job(a, t);
	/* The new tip needs no measurement, and queued jobs of older tips are obsolete. */
	if (!t->known)
		return 0;
	if (store_job_drop(a->db, a->repo, t->name, JOBSTATE_SUPERSEDED, "the branch moved on", a->now_ms, &dropped, a->err) < 0)
		return -1;
	return status_ended(a->db, NULL, a->conf, a->now_ms, a->err);
}

static int apply_gone(struct apply *a, struct tip *t)
{
	int dropped = 0;

	if (store_tip_gone(a->db, a->repo, t->name, a->err) < 0 ||
		store_job_drop(a->db, a->repo, t->name, JOBSTATE_TARGET_MISSING, "the branch was deleted", a->now_ms, &dropped,
			a->err) < 0 ||
		(dropped && status_ended(a->db, NULL, a->conf, a->now_ms, a->err) < 0))
		return -1;
	snprintf(t->before, sizeof t->before, "%s", t->sha);
	t->sha[0] = '\0';
	free(t->display);
	t->display = mem_copy_text(t->name);
	a->result->gone++;
	return write_event(a, "branch.gone", t, 0);
}

/* Without the upstream branch no branch has a base, and each would be measured against itself. */
static void check_upstream(struct apply *a)
{
	int i;

	for (i = 0; i < a->now.n; i++)
		if (a->now.tip[i].is_upstream)
			return;
	if (a->now.n && !a->result->problem[0])
		config_no_upstream(a->conf, a->result->problem, sizeof a->result->problem);
}

static int write_difference(struct apply *a)
{
	int i;

	a->first_sight = a->stored.n == 0;
	if (a->stored.n)
		qsort(a->stored.tip, (size_t)a->stored.n, sizeof *a->stored.tip, compare_names);
	for (i = 0; i < a->now.n; i++) {
		struct tip *t = &a->now.tip[i];
		struct tip *old = a->stored.n ? bsearch(t, a->stored.tip, (size_t)a->stored.n, sizeof *t, compare_names) : NULL;

		t->watched = branch_patterns_watch(a->conf, t->name, t->display);
		t->is_upstream = is_upstream(a->conf, t->name);
		if (old) {
			old->known = true;
			t->known = true;
			memcpy(t->before, old->sha, sizeof t->before);
		}
	}
	if (a->now.n)
		qsort(a->now.tip, (size_t)a->now.n, sizeof *a->now.tip, compare_ranks);
	for (i = 0; i < a->stored.n; i++)
		if (!a->stored.tip[i].known && apply_gone(a, &a->stored.tip[i]) != 0)
			return -1;
	for (i = 0; i < a->now.n; i++) {
		const struct tip *t = &a->now.tip[i];

		if (t->known && store_tip_watch(a->db, a->repo, t->name, t->watched, a->err) != 0)
			return -1;
		if (*t->sha && strcmp(t->sha, t->before) != 0 && apply_moved(a, t) < 0)
			return -1;
	}
	check_upstream(a);
	return 0;
}

/* A missing name would make its branch appear up to date. */
static int check_held(struct apply *a)
{
	return a->result->held.failed ? err_set(a->err, ERR_FULL, "out of memory for branches") : 0;
}

static int apply(struct apply *a, const struct buf *lines)
{
	if (read_lines(a, lines) != 0 || store_tip_each(a->db, a->repo, add_stored, a, a->err) < 0)
		return -1;
	if (db_begin(a->db, a->err) < 0)
		return -1;
	if (store_job_waiting(a->db, &a->waiting, a->err) != 0 || write_difference(a) != 0 || check_held(a) != 0) {
		db_rollback(a->db);
		return -1;
	}
	return db_commit(a->db, a->err);
}

int branch_tips_apply(struct db *db, const struct config_repo *conf, int64_t repo, int queue_max, const struct buf *lines,
	int64_t now_ms, struct branch_tips_result *result, struct fw_err *err)
{
	struct apply a = {
		.db = db, .conf = conf, .repo = repo, .now_ms = now_ms, .queue_max = queue_max, .result = result, .err = err
	};
	int status;

	memset(result, 0, sizeof *result);
	buf_init(&result->held, HELD_MAX_BYTES);
	status = apply(&a, lines);
	free_tips(&a.now);
	free_tips(&a.stored);
	if (status != 0)
		result->jobs = result->superseded = result->moved = result->gone = 0;
	return status;
}
