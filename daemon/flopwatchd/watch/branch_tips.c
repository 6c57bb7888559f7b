/* branch_tips.c - jobs from branch tips; documented in internal.h. */
#include "flopwatchd/watch/internal.h"

#include "flopwatchd/notify/notify.h"

enum { NAME_SIZE = BRANCH_NAME_SIZE, DISPLAY_SIZE = 2048, SHORT_SHA = 12, HELD_MAX_BYTES = 64 << 20 };

/* Moved and deleted tips of one transaction, 0.2 s of the daemon's thread, which answers no request meanwhile. */
enum { CHANGED_MAX = 1000 };

struct tip {
	char *name, *display; /* percent-encoded; readable */
	char sha[65];
	char before[65]; /* stored; "": never seen */
	bool known, watched, is_upstream, is_pull;
};

/* A request of the repository. */
struct pull_line {
	int number;
	char head[65], commit[65], problem[512]; /* commit "": not fetched */
	bool is_ready;                           /* stored: its head may be measured */
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
	struct pull_line *pull;         /* pull[n_pulls] */
	int n_pulls;
	bool omits_pulls; /* there are older requests than those */
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

static void add_pull_tip(struct apply *a, int number, const char *commit)
{
	char name[32], display[32];

	snprintf(name, sizeof name, "%s%d", PULL_BRANCH, number);
	snprintf(display, sizeof display, "%s%d", PULL_DISPLAY, number);
	add_tip(&a->now, name, display, commit);
	a->now.tip[a->now.n - 1].is_pull = true;
}

/* The line of a request; one with a commit is a tip, too. */
static int read_pull(struct apply *a, const json_t *root)
{
	const char *head = json_string_value(json_object_get(root, "head"));
	const char *commit = json_string_value(json_object_get(root, "commit"));
	const char *problem = json_string_value(json_object_get(root, "problem"));
	json_int_t number = json_integer_value(json_object_get(root, "pull"));

	if (number < 1 || number > INT32_MAX || !head || !oid_is_whole(head) || (commit && !oid_is_whole(commit)))
		return err_set(a->err, ERR_PROTOCOL, "flopwatch-git printed a line that is no pull request");
	a->pull = mem_grow_one(a->pull, (size_t)a->n_pulls, sizeof *a->pull);
	struct pull_line *p = &a->pull[a->n_pulls++];

	*p = (struct pull_line){ .number = (int)number };
	snprintf(p->head, sizeof p->head, "%s", head);
	snprintf(p->commit, sizeof p->commit, "%s", commit ? commit : "");
	snprintf(p->problem, sizeof p->problem, "%s", problem ? problem : "");
	if (commit)
		add_pull_tip(a, p->number, commit);
	return 0;
}

static int read_branch(struct apply *a, const char *line, const json_t *root)
{
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
	return result;
}

static int read_line(struct apply *a, const char *line, size_t len)
{
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	bool omits_pulls = json_is_integer(json_object_get(root, "pulls_omitted"));
	int result = 0;

	if (omits_pulls)
		a->omits_pulls = true;
	else
		result = json_object_get(root, "pull") ? read_pull(a, root) : read_branch(a, line, root);
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

static struct store_job job_of_tip(const struct apply *a, const struct tip *t)
{
	struct store_job job = { .repo = a->repo, .kind = JOBKIND_COMPARE, .origin = "push" };

	snprintf(job.branch, sizeof job.branch, "%s", t->name);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", t->sha);
	return job;
}

/* Queue the job of a tip, which supersedes the older ones of its branch. `why` is the first line of its log. */
static int write_job(struct apply *a, const struct tip *t, const char *why)
{
	struct store_job job = job_of_tip(a, t);
	char line[512];
	int superseded = 0;

	if (store_job_insert(a->db, &job, a->now_ms, a->err) != 0 ||
		store_job_supersede(a->db, job.id, a->now_ms, &superseded, a->err) < 0 ||
		status_ended(a->db, NULL, a->conf, a->now_ms, a->err) < 0 ||
		store_job_log(a->db, job.id, a->now_ms, why, a->err) < 0)
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

/*
 * The queued job of commit `sha` ended because its branch, `left`, was deleted. Queue it for another branch at this commit: that
 * branch had no separate job, and no other event would queue one.
 */
static int queue_elsewhere(struct apply *a, const char *sha, const struct tip *left)
{
	char line[512];
	int has = *sha ? store_job_planned(a->db, a->repo, sha, a->err) : 1;

	for (int i = 0; has == 0 && i < a->now.n; i++) {
		const struct tip *t = &a->now.tip[i];
		char stored[65];
		bool gone;
		struct fw_err why = { 0 };

		if (!t->watched || t->is_pull || t->is_upstream || strcmp(t->sha, sha) != 0 || !strcmp(t->name, left->name))
			continue;
		if (store_tip_get(a->db, a->repo, t->name, stored, &gone, &why) != 0 || gone || strcmp(stored, sha) != 0)
			continue; /* not applied yet: it gets its own job then */
		struct store_job job = job_of_tip(a, t);

		has = store_job_covers(a->db, &job, "", a->err);
		if (has != 0)
			break;
		snprintf(line, sizeof line, "queued: branch %.200s is at %.*s, whose job ended with branch %.200s", t->display,
			SHORT_SHA, sha, left->display);
		return write_job(a, t, line);
	}
	return has < 0 ? -1 : 0;
}

static int write_push(struct apply *a, const struct tip *t)
{
	char line[512];

	if (*t->before)
		snprintf(line, sizeof line, "queued: branch %.300s moved from %.*s to %.*s", t->display, SHORT_SHA, t->before,
			SHORT_SHA, t->sha);
	else
		snprintf(line, sizeof line, "queued: branch %.300s is new at %.*s", t->display, SHORT_SHA, t->sha);
	return write_job(a, t, line);
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
	if (!t->is_pull && store_pull_mark_own(a->db, a->repo, t->sha, a->err) < 0)
		return -1;
	if (write_event(a, "branch.moved", t, 0) != 0)
		return -1;
	if (wants) {
		int superseded = a->result->superseded;
		if (write_push(a, t) != 0)
			return -1;
		return a->result->superseded > superseded ? queue_elsewhere(a, t->before, t) : 0;
	}
	/* The new tip needs no measurement, and queued jobs of older tips are obsolete. */
	if (!t->known)
		return 0;
	if (store_job_drop(a->db, a->repo, t->name, JOBSTATE_SUPERSEDED, "the branch moved on", a->now_ms, &dropped, a->err) <
			0 ||
		(dropped && queue_elsewhere(a, t->before, t) != 0))
		return -1;
	return status_ended(a->db, NULL, a->conf, a->now_ms, a->err);
}

/* Why a request has no commit to measure any more. */
static void explain_pull_gone(const struct apply *a, int number, char *why, size_t size)
{
	const struct pull_line *found = NULL;

	for (int i = 0; i < a->n_pulls && !found; i++)
		if (a->pull[i].number == number)
			found = &a->pull[i];
	if (!a->conf->pulls.refs[0])
		snprintf(why, size, "the daemon does not watch requests any more (pull_requests)");
	else if (!found)
		snprintf(why, size, "the request was deleted");
	else if (found->problem[0])
		snprintf(why, size, "%s", found->problem);
	else
		snprintf(why, size, "the request has another head, %.*s", SHORT_SHA, found->head);
}

static int apply_gone(struct apply *a, struct tip *t)
{
	int dropped = 0;
	bool is_pull = strncmp(t->name, PULL_BRANCH, sizeof PULL_BRANCH - 1) == 0;
	char pull_why[640];
	const char *why = is_pull ? pull_why : "the branch was deleted";

	if (is_pull)
		explain_pull_gone(a, atoi(t->name + sizeof PULL_BRANCH - 1), pull_why, sizeof pull_why);

	if (store_tip_gone(a->db, a->repo, t->name, a->err) < 0 ||
		store_job_drop(a->db, a->repo, t->name, JOBSTATE_TARGET_MISSING, why, a->now_ms, &dropped, a->err) < 0 ||
		(dropped && (status_ended(a->db, NULL, a->conf, a->now_ms, a->err) < 0 || queue_elsewhere(a, t->sha, t) != 0)))
		return -1;
	snprintf(t->before, sizeof t->before, "%s", t->sha);
	t->sha[0] = '\0';
	free(t->display);
	t->display = mem_copy_text(t->name);
	a->result->gone++;
	return write_event(a, "branch.gone", t, 0);
}

/* ---- requests ---- */

static int compare_shas(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort the tips of branches by commit. Own: free. */
static const char **sort_shas(const struct apply *a, size_t *n)
{
	const char **sha = mem_alloc_zero((size_t)a->now.n + 1, sizeof *sha);

	*n = 0;
	for (int i = 0; i < a->now.n; i++)
		if (!a->now.tip[i].is_pull && a->now.tip[i].sha[0])
			sha[(*n)++] = a->now.tip[i].sha;
	qsort(sha, *n, sizeof *sha, compare_shas);
	return sha;
}

struct stored_heads {
	struct pull_line *pull; /* sorted by number, the highest first */
	int n;
};

static void add_head(void *arg, const struct store_pull *row)
{
	struct stored_heads *heads = arg;

	heads->pull = mem_grow_one(heads->pull, (size_t)heads->n, sizeof *heads->pull);
	struct pull_line *p = &heads->pull[heads->n++];

	*p = (struct pull_line){ .number = row->number };
	snprintf(p->head, sizeof p->head, "%s", row->head);
	snprintf(p->problem, sizeof p->problem, "%.511s", row->problem);
	snprintf(p->commit, sizeof p->commit, "%s", row->commit);
	p->is_ready = row->own || row->approved;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct pull_line *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

/*
 * Store a head that changed. The tip of an own branch needs no approval: its author may push to the repository. Push permission
 * decides, never a text of the forge. `old`: as stored, NULL: a new request.
 */
static int store_pull_line(struct apply *a, const struct pull_line *p, const struct pull_line *old, bool is_own)
{
	bool is_new = !old || strcmp(old->head, p->head) != 0;
	bool was_ready = old && !is_new && old->is_ready;
	const char *problem = old && !is_new ? old->problem : "";

	if (is_new || (is_own && !was_ready)) {
		int is_ready = store_pull_head(a->db, a->repo, p->number, p->head, is_own, a->now_ms, a->err);

		if (is_ready < 0)
			return -1;
		a->result->again = a->result->again || (is_ready == 1 && !p->commit[0]);
	}
	/* a head is fetched once: neither another merge result of the forge nor a removed one changes what is measured */
	if (was_ready && old->commit[0] && !p->commit[0])
		add_pull_tip(a, p->number, old->commit);
	/* without commit and problem, this fetch did not include the request */
	if (p->commit[0] || (p->problem[0] && strcmp(problem, p->problem) != 0))
		return store_pull_commit(a->db, a->repo, p->number, p->head, p->commit, p->problem, a->now_ms, a->err);
	return 0;
}

/* The tips of requests beyond the listed ones are as stored. `heads` are sorted like the lines, the highest number first. */
static void keep_omitted(struct apply *a, const struct stored_heads *heads)
{
	int line = 0;

	for (int i = 0; a->omits_pulls && i < heads->n; i++) {
		while (line < a->n_pulls && a->pull[line].number > heads->pull[i].number)
			line++;
		bool is_listed = line < a->n_pulls && a->pull[line].number == heads->pull[i].number;

		if (!is_listed && heads->pull[i].is_ready && heads->pull[i].commit[0])
			add_pull_tip(a, heads->pull[i].number, heads->pull[i].commit);
	}
}

static int store_pulls(struct apply *a)
{
	struct stored_heads heads = { 0 };
	size_t n_shas;
	const char **sha = sort_shas(a, &n_shas);
	int result = a->n_pulls ? store_pull_each(a->db, a->repo, true, INT32_MAX, add_head, &heads, a->err) : 0;

	for (int i = 0; i < a->n_pulls && result == 0; i++) {
		const struct pull_line *p = &a->pull[i];
		const char *head = p->head;
		const struct pull_line *old =
			heads.n ? bsearch(p, heads.pull, (size_t)heads.n, sizeof *p, compare_numbers) : NULL;
		bool is_own = bsearch(&head, sha, n_shas, sizeof *sha, compare_shas) != NULL;

		result = store_pull_line(a, p, old, is_own);
	}
	keep_omitted(a, &heads);
	free(sha);
	free(heads.pull);
	return result;
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

		t->watched = t->is_pull || branch_patterns_watch(a->conf, t->name, t->display);
		t->is_upstream = is_upstream(a->conf, t->name);
		if (old) {
			old->known = true;
			t->known = true;
			memcpy(t->before, old->sha, sizeof t->before);
		}
	}
	if (a->now.n)
		qsort(a->now.tip, (size_t)a->now.n, sizeof *a->now.tip, compare_ranks);
	for (i = 0; i < a->stored.n; i++) {
		if (a->stored.tip[i].known)
			continue;
		if (a->result->gone == CHANGED_MAX)
			a->result->again = true;
		else if (apply_gone(a, &a->stored.tip[i]) != 0)
			return -1;
	}
	for (i = 0; i < a->now.n; i++) {
		const struct tip *t = &a->now.tip[i];

		if (t->known && store_tip_watch(a->db, a->repo, t->name, t->watched, a->err) != 0)
			return -1;
		if (!*t->sha || strcmp(t->sha, t->before) == 0)
			continue;
		if (a->result->moved == CHANGED_MAX) {
			note_held(a, t->name);
			a->result->again = true;
		} else if (apply_moved(a, t) < 0) {
			return -1;
		}
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
	if (store_job_waiting(a->db, &a->waiting, a->err) != 0 || store_pulls(a) != 0 || write_difference(a) != 0 ||
		check_held(a) != 0) {
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
	free(a.pull);
	if (status != 0)
		result->jobs = result->superseded = result->moved = result->gone = 0;
	return status;
}
