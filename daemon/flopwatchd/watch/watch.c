/*
 * watch.c - the schedule of checks. Each repository has either a timer or a running child; a change reported while the child
 * runs causes another check.
 */
#include "flopwatchd/watch/internal.h"

#include <errno.h>
#include <sys/random.h>

enum {
	DEBOUNCE_MS = 20,        /* a push writes several refs */
	CHILDREN_MAX = 8,        /* concurrent checks */
	CROWDED_MS = 100,        /* delay of a check while CHILDREN_MAX run */
	BACKOFF_FIRST_MS = 2000, /* doubled at each failure ... */
	BACKOFF_MAX_MS = 300000, /* ... up to this */
	PULLS_AT_ONCE = 64,      /* requests that one check fetches */
	ARGS_MAX = 8 + CONFIG_ACCESS_ARGS + 2 * PULLS_AT_ONCE
};

/* limits of a child's output, and of the pack it may write */
static const size_t TIPS_MAX_BYTES = (size_t)64 << 20;
static const size_t FETCH_MAX_BYTES = (size_t)2 << 30;

struct pull_suspect {
	int number;
	char head[65], problem[512];
};

struct watched {
	struct watch *watch;
	const struct config_repo *conf;
	int64_t id; /* row */
	char path[1600];
	struct loop_source *timer;
	int64_t due_ns; /* deadline of the timer */
	struct child *child;
	struct ref_watch *refs;
	bool dirty; /* refs changed while the child runs */
	/* Checks are numbered from a random `first` on, so that the numbers of an earlier daemon are unknown. */
	int64_t first, begun, ended;
	char last_error[1024]; /* result of the last check; see watch_check_result */
	struct buf last_held;
	int failures;
	/*
	 * One bad request would fail the fetch of all. After a failure the next check fetches no request; if that one succeeds, the
	 * number that a check fetches grows again from one, so that each bad request fails alone, and its problem is stored.
	 */
	int pulls_max;               /* requests that the next check fetches */
	int n_pulls;                 /* that the newest check fetches */
	int moved;                   /* branches that it moved */
	struct pull_suspect suspect; /* the only request of the last check, which failed; number 0: none */
	char problem[1024];          /* as stored; "": none */
	char no_notice[256];         /* inotify failure that was logged */
};

struct watch {
	struct loop *loop;
	const struct config *conf;
	struct db *db;
	void (*on_new_job)(void *arg);
	void *arg;
	uint64_t random;
	int n_children;
	int n;
	struct watched repo[];
};

static void check_repo(struct watched *r);

/* Vary the delay: daemons that start together must not poll together. */
static int64_t add_jitter(struct watch *w, int64_t ms)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return ms - ms / 10 + (int64_t)(w->random % (uint64_t)(ms / 5 + 1));
}

static void on_timer(void *arg)
{
	struct watched *r = arg;

	r->timer = NULL;
	check_repo(r);
}

/* Check after `delay_ms`, or earlier if already scheduled. */
static void schedule_check(struct watched *r, int64_t delay_ms)
{
	int64_t due_ns = clock_mono_ns() + delay_ms * 1000000;

	if (r->timer && r->due_ns <= due_ns)
		return;
	loop_remove(r->watch->loop, r->timer);
	r->timer = NULL;
	r->due_ns = due_ns;
	loop_after(r->watch->loop, delay_ms, on_timer, r, &r->timer);
}

static void on_ref_change(void *arg)
{
	struct watched *r = arg;

	if (r->child)
		r->dirty = true;
	else
		schedule_check(r, DEBOUNCE_MS);
}

static void renew_ref_watch(struct watched *r)
{
	struct fw_err err = { 0 };

	if (!r->conf->is_local || (r->refs && !ref_watch_is_lost(r->refs)))
		return;
	ref_watch_stop(r->refs);
	r->refs = NULL;
	if (ref_watch_start(r->watch->loop, r->path, on_ref_change, r, &r->refs, &err) == 0) {
		r->no_notice[0] = '\0';
		return;
	}
	/* The check itself reports a missing repository; without inotify the poll does the work. */
	if (err.code != ERR_NOT_FOUND && strncmp(r->no_notice, err.text, sizeof r->no_notice - 1) != 0) {
		snprintf(r->no_notice, sizeof r->no_notice, "%.255s", err.text);
		log_warning("watch.no_inotify", "repo=%s err=%s", log_quote(r->conf->name), log_quote(err.text));
	}
}

/* Store the problem ("": none), and log it once. */
static void set_problem(struct watched *r, const char *problem)
{
	struct fw_err err = { 0 };

	if (strncmp(r->problem, problem, sizeof r->problem - 1) != 0) {
		if (*problem)
			log_warning("repo.error", "repo=%s err=%s", log_quote(r->conf->name), log_quote(problem));
		else
			log_info("repo.ok", "repo=%s", log_quote(r->conf->name));
	}
	snprintf(r->problem, sizeof r->problem, "%s", problem);
	if (store_repo_state(r->watch->db, r->id, *problem ? "error" : "ok", problem, &err) < 0 ||
		(*problem && store_repo_failed(r->watch->db, r->id, &err) < 0) ||
		(!*problem && store_repo_fetched(r->watch->db, r->id, clock_utc_ms(), &err) < 0))
		log_error("repo.state", "repo=%s err=%s", log_quote(r->conf->name), log_quote(err.text));
}

static void schedule_retry(struct watched *r)
{
	int64_t delay = BACKOFF_MAX_MS;

	if (r->failures < 8)
		delay = (int64_t)BACKOFF_FIRST_MS << r->failures;
	r->failures++;
	schedule_check(r, add_jitter(r->watch, delay < BACKOFF_MAX_MS ? delay : BACKOFF_MAX_MS));
}

/* Set the result of a check. `held` (NULL none) moves to `r`. */
static void set_result(struct watched *r, struct buf *held, const char *error)
{
	buf_fini(&r->last_held);
	r->last_held = held ? *held : (struct buf){ .data = NULL };
	snprintf(r->last_error, sizeof r->last_error, "%s", error);
}

static void store_suspect(struct watched *r)
{
	struct fw_err err = { 0 };
	const struct pull_suspect *one = &r->suspect;

	if (one->number &&
		store_pull_commit(r->watch->db, r->id, one->number, one->head, "", one->problem, clock_utc_ms(), &err) != 0)
		log_error("pull.problem", "repo=%s pull=%d err=%s", log_quote(r->conf->name), one->number, log_quote(err.text));
	r->suspect.number = 0;
}

/* After a check: how many requests the next one fetches. Returns true if it must follow now, to separate the bad requests. */
static bool limit_pulls(struct watched *r, const struct fw_err *err)
{
	if (err->code && r->n_pulls) {
		if (r->n_pulls == 1)
			snprintf(r->suspect.problem, sizeof r->suspect.problem, "%.511s", err->text);
		else
			r->suspect.number = 0;
		r->pulls_max = 0;
		return true;
	}
	if (err->code) { /* the repository itself cannot be read */
		r->suspect.number = 0;
		return false;
	}
	if (!r->n_pulls && r->pulls_max == 0)
		store_suspect(r);
	bool more = r->n_pulls && r->n_pulls == r->pulls_max;
	bool separates = r->pulls_max < PULLS_AT_ONCE;
	r->pulls_max = r->pulls_max ? 2 * r->pulls_max : 1;
	if (r->pulls_max > PULLS_AT_ONCE)
		r->pulls_max = PULLS_AT_ONCE;
	return more && (separates || r->moved);
}

static void on_tips(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct watched *r = arg;
	struct watch *w = r->watch;
	struct branch_tips_result result = { 0 };
	struct fw_err err = { 0 };
	bool dirty = r->dirty;

	r->child = NULL;
	bool is_fetch_of_pulls = failed && r->n_pulls; /* another check follows, whose result counts */

	r->dirty = false;
	if (!is_fetch_of_pulls)
		r->ended = r->begun;
	w->n_children--;
	if (failed)
		err = *failed;
	else
		branch_tips_apply(w->db, r->conf, r->id, w->conf->queue_max, out, clock_utc_ms(), &result, &err);
	r->moved = result.moved;
	bool at_once = failed || !err.code ? limit_pulls(r, &err) : false;
	renew_ref_watch(r);
	if (!is_fetch_of_pulls)
		set_result(r, &result.held, err.code ? err.text : "");
	if (is_fetch_of_pulls) {
		log_warning("pull.fetch", "repo=%s pulls=%d err=%s", log_quote(r->conf->name), r->n_pulls, log_quote(err.text));
	} else if (err.code) {
		set_problem(r, err.text);
		schedule_retry(r);
	} else {
		r->failures = 0;
		set_problem(r, result.problem[0] ? result.problem : out->len ? "" : "the repository has no branches; push one");
		schedule_check(r, add_jitter(w, r->conf->poll_ms));
	}
	if (dirty || result.again || at_once)
		schedule_check(r, DEBOUNCE_MS);
	if (result.moved || result.gone)
		log_info("branch.moved", "repo=%s moved=%d gone=%d jobs=%d superseded=%d", log_quote(r->conf->name), result.moved,
			result.gone, result.jobs, result.superseded);
	if (result.jobs)
		w->on_new_job(w->arg);
}

/* Options of flopwatch-git for requests: those whose head may be measured, each with that head. */
struct pull_args {
	char text[PULLS_AT_ONCE][80], what[32];
	int n;
	struct pull_suspect first;
};

static void add_pull(void *arg, const struct store_pull *row)
{
	struct pull_args *p = arg;

	if (p->n == 0) {
		p->first = (struct pull_suspect){ .number = row->number };
		snprintf(p->first.head, sizeof p->first.head, "%s", row->head);
	}
	if (p->n < PULLS_AT_ONCE)
		snprintf(p->text[p->n++], sizeof p->text[0], "%d=%s", row->number, row->head);
}

/* Returns the number of options, -1. */
static int add_pulls(struct watched *r, struct pull_args *p, const char **args, struct fw_err *err)
{
	const struct config_pulls *conf = &r->conf->pulls;
	int n = 0;

	p->n = r->n_pulls = 0;
	if (!conf->refs[0])
		return 0;
	if (r->pulls_max && store_pull_ready(r->watch->db, r->id, r->pulls_max, add_pull, p, err) != 0)
		return -1;
	r->n_pulls = p->n;
	if (p->n)
		r->suspect = p->first;
	snprintf(p->what, sizeof p->what, "%s:%s", conf->refs, conf->measure_merge ? "merge" : "head");
	args[n++] = "--pulls";
	args[n++] = p->what;
	for (int i = 0; i < p->n; i++) {
		args[n++] = "--pull";
		args[n++] = p->text[i];
	}
	return n;
}

static int start_child(struct watched *r, struct fw_err *err)
{
	struct pull_args pulls;
	const char *args[ARGS_MAX] = { 0 };
	struct child_spec spec = {
		.program = "flopwatch-git", .args = args, .out_fd = -1, .deadline_ms = r->conf->fetch_timeout_ms
	};
	int n = 0;

	if (r->conf->is_local) {
		args[n++] = "tips";
		args[n++] = "--repo";
		args[n++] = r->path;
		spec.out_max = TIPS_MAX_BYTES;
	} else {
		args[n++] = "fetch";
		args[n++] = "--url";
		args[n++] = r->conf->url;
		args[n++] = "--mirror";
		args[n++] = r->path;
		n += config_repo_access(r->conf, args + n);
		spec.out_max = FETCH_MAX_BYTES;
	}
	if (add_pulls(r, &pulls, args + n, err) < 0)
		return -1;
	return child_start(r->watch->loop, &spec, on_tips, r, &r->child, err);
}

static void check_repo(struct watched *r)
{
	struct fw_err err = { 0 };

	if (r->child) {
		r->dirty = true;
		return;
	}
	if (r->watch->n_children >= CHILDREN_MAX) {
		schedule_check(r, CROWDED_MS);
		return;
	}
	/* Watch before the check: a change after the child has read the refs then causes an event. */
	renew_ref_watch(r);
	r->begun++;
	if (start_child(r, &err) != 0) {
		r->ended = r->begun;
		set_result(r, NULL, err.text);
		set_problem(r, err.text);
		schedule_retry(r);
		return;
	}
	r->watch->n_children++;
}

static int store_repos(struct watch *w, struct fw_err *err)
{
	int64_t ids[CONFIG_REPOS_MAX];
	int i;

	for (i = 0; i < w->n; i++) {
		const struct config_repo *c = w->repo[i].conf;

		if (store_repo_put(w->db, c->name, c->url, c->is_local, c->upstream, &ids[i], err) < 0)
			return -1;
		w->repo[i].id = ids[i];
	}
	return store_repo_retire(w->db, ids, w->n, err);
}

static int make_mirrors_folder(const struct config *c, struct fw_err *err)
{
	char path[600];

	snprintf(path, sizeof path, "%s/mirrors", c->state_dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "cannot create %s", path);
	return 0;
}

/* Below 2^52, which every JSON reader represents exactly. */
static int64_t draw_first_number(void)
{
	uint32_t random;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (uint32_t)clock_mono_ns();
	return (int64_t)random << 20;
}

int watch_start(struct loop *l, const struct config *c, struct db *db, void (*on_new_job)(void *arg), void *arg,
	struct watch **out, struct fw_err *err)
{
	struct watch *w = mem_alloc_zero(1, sizeof *w + (size_t)c->n_repos * sizeof w->repo[0]);
	int i;

	*w = (struct watch){ .loop = l, .conf = c, .db = db, .on_new_job = on_new_job, .arg = arg, .n = c->n_repos };
	w->random = (uint64_t)clock_mono_ns() | 1;
	for (i = 0; i < w->n; i++) {
		w->repo[i].watch = w;
		w->repo[i].conf = &c->repo[i];
		w->repo[i].pulls_max = PULLS_AT_ONCE;
		w->repo[i].first = w->repo[i].begun = w->repo[i].ended = draw_first_number();
		if (config_repo_path(c, &c->repo[i], w->repo[i].path, sizeof w->repo[i].path, err) != 0)
			goto failed;
	}
	if (make_mirrors_folder(c, err) != 0 || db_begin(db, err) < 0)
		goto failed;
	if (store_repos(w, err) < 0) {
		db_rollback(db);
		goto failed;
	}
	if (db_commit(db, err) != 0)
		goto failed;
	for (i = 0; i < w->n; i++)
		schedule_check(&w->repo[i], 0);
	*out = w;
	return 0;
failed:
	free(w);
	return -1;
}

static struct watched *find_repo(struct watch *w, const char *repo_name)
{
	int i;

	for (i = 0; i < w->n; i++)
		if (strcmp(w->repo[i].conf->name, repo_name) == 0)
			return &w->repo[i];
	return NULL;
}

int64_t watch_trigger(struct watch *w, const char *repo_name)
{
	struct watched *r = find_repo(w, repo_name);

	if (!r)
		return 0;
	on_ref_change(r);
	return r->begun + 1;
}

enum watch_check_state watch_check_result(struct watch *w, const char *repo_name, int64_t number, struct watch_check_result *out)
{
	const struct watched *r = find_repo(w, repo_name);

	*out = (struct watch_check_result){ .error = "", .held = "" };
	if (!r || number <= r->first || number > r->begun + 1)
		return WATCH_CHECK_UNKNOWN;
	if (r->ended < number)
		return WATCH_CHECK_OPEN;
	*out = (struct watch_check_result){ .error = r->last_error, .held = r->last_held.len ? r->last_held.data : "" };
	return WATCH_CHECK_ENDED;
}

void watch_stop(struct watch *w)
{
	int i;

	if (!w)
		return;
	for (i = 0; i < w->n; i++) {
		loop_remove(w->loop, w->repo[i].timer);
		child_cancel(w->repo[i].child);
		ref_watch_stop(w->repo[i].refs);
		buf_fini(&w->repo[i].last_held);
	}
	free(w);
}
