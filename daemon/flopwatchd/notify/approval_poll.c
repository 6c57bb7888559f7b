/* approval_poll.c - comments of requests that wait for an approval, read at intervals; documented in notify.h. */
#include "flopwatchd/notify/internal.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MS    (1440 * MINUTE_MS)

enum { ROUND_MAX = 20 /* requests of a repository in an interval */, PAGES_MAX = 4, WAITING_MAX = 1000, TAGS_MAX = 128 };
enum { OUT_MAX = 1 << 18, DEADLINE_MS = 30000 };

/* A request whose head waits. */
struct waiting {
	int number;
	char head[65];
	int64_t seen_at;
};

/* State of a head between two polls. */
struct tag {
	char repo[128], head[65];
	char etag[256]; /* of the answer, if it had one page; else "" */
	int number;
	int page; /* the first one to read: more than one interval reads were there */
};

struct forge {
	char repo[128];
	int64_t next_ms; /* of clock_boot_ms */
	int before;      /* the next interval begins with older requests than this one; 0: with the newest */
};

struct approval_poll {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	struct sender *sender;
	struct loop_source *timer;
	struct child *child;
	char repo[128]; /* whose comments are read */
	int n, at;
	int page, pages_read; /* of the request at `at`, in this interval */
	struct waiting waiting[ROUND_MAX];
	struct tag tag[TAGS_MAX];
	int next_tag;
	bool is_stale; /* the configuration was read again during the request */
	struct forge forge[CONFIG_REPOS_MAX];
};

static void step(void *arg);

static void schedule(struct approval_poll *p, int64_t delay_ms)
{
	loop_remove(p->loop, p->timer);
	loop_after(p->loop, delay_ms, step, p, &p->timer);
}

/* The state of a repository, which the configuration may name no longer after a reload. NULL: no space. */
static struct forge *find_forge(struct approval_poll *p, const char *repo)
{
	struct forge *free_one = NULL;
	for (int i = 0; i < CONFIG_REPOS_MAX; i++) {
		struct forge *f = &p->forge[i];
		if (strcmp(f->repo, repo) == 0)
			return f;
		if (!free_one && (!f->repo[0] || config_repo_find(p->config, f->repo) < 0))
			free_one = f;
	}
	if (free_one) {
		*free_one = (struct forge){ .next_ms = 0 };
		snprintf(free_one->repo, sizeof free_one->repo, "%s", repo);
	}
	return free_one;
}

static struct tag *find_tag(struct approval_poll *p, const struct waiting *w)
{
	for (int i = 0; i < TAGS_MAX; i++)
		if (p->tag[i].number == w->number && strcmp(p->tag[i].head, w->head) == 0 && strcmp(p->tag[i].repo, p->repo) == 0)
			return &p->tag[i];
	return NULL;
}

static void store_tag(struct approval_poll *p, const struct waiting *w, const char *etag, int page)
{
	struct tag *t = find_tag(p, w);
	if (!*etag && page == 1) { /* a list without a tag needs no entry */
		if (t)
			*t = (struct tag){ .number = 0 };
		return;
	}
	if (!t) {
		t = &p->tag[p->next_tag];
		p->next_tag = (p->next_tag + 1) % TAGS_MAX;
	}
	*t = (struct tag){ .number = w->number, .page = page };
	snprintf(t->repo, sizeof t->repo, "%s", p->repo);
	snprintf(t->head, sizeof t->head, "%s", w->head);
	snprintf(t->etag, sizeof t->etag, "%s", strlen(etag) < sizeof t->etag ? etag : "");
}

static bool is_polled(const struct config_repo *repo)
{
	const struct config_approve_by *by = &repo->pulls.approve_by;
	return repo->pulls.refs[0] && repo->status.kind[0] && by->comment[0] && by->poll_ms > 0;
}

/* As the forge lists comments: the newest ones may be on pages that an interval does not reach. */
static bool is_oldest_first(const struct config_repo *repo)
{
	return repo && strcmp(repo->status.kind, "gitlab") != 0;
}

static const struct config_repo *find_repo(const struct approval_poll *p)
{
	int at = config_repo_find(p->config, p->repo);
	return at >= 0 && is_polled(&p->config->repo[at]) ? &p->config->repo[at] : NULL;
}

/* Begin with the comments on request `at` of this interval. */
static void begin_request(struct approval_poll *p, int at)
{
	p->at = at;
	const struct tag *tag = at < p->n ? find_tag(p, &p->waiting[at]) : NULL;
	p->page = tag ? tag->page : 1;
	p->pages_read = 0;
}

struct round {
	struct approval_poll *poll;
	int before;
};

static void add_waiting(void *arg, const struct store_pull *row)
{
	struct round *r = arg;
	struct approval_poll *p = r->poll;
	if (p->n == ROUND_MAX || (r->before && row->number >= r->before))
		return;
	struct waiting *w = &p->waiting[p->n++];
	*w = (struct waiting){ .number = row->number, .seen_at = row->seen_at };
	snprintf(w->head, sizeof w->head, "%s", row->head);
}

/* List the requests of this interval. */
static int list_waiting(struct approval_poll *p, struct forge *f, struct fw_err *err)
{
	struct round r = { p, f->before };
	int64_t id = 0;
	p->n = p->at = 0;
	int found = store_repo_find(p->txn->db, f->repo, &id, err);
	if (found != 1)
		return found;
	int result = store_pull_each(p->txn->db, id, false, WAITING_MAX, add_waiting, &r, err);
	f->before = p->n == ROUND_MAX ? p->waiting[p->n - 1].number : 0;
	begin_request(p, 0);
	return result;
}

/* Whether a comment is older than those that are read; GitLab lists all. */
static bool is_older(const json_t *comment, int64_t since_ms)
{
	const char *created = json_string_value(json_object_get(comment, "created_at"));
	struct fw_err ignored = { 0 };
	int64_t at_ms;
	return !created || clock_parse(created, &at_ms, &ignored) != 0 || at_ms < since_ms;
}

/* Queue an approval, unless an earlier interval did. Returns how many were queued, -1. *is_full: too many wait, and a later one does. */
static int queue_once(struct approval_poll *p, const struct config_repo *repo, const char *key, const struct forge_approval *one,
	bool *is_full, struct fw_err *err)
{
	int is_new = store_notification(p->txn->db, key, clock_utc_ms(), err);
	if (is_new != 1)
		return is_new;
	int dropped = approval_enqueue_one(p->txn->db, repo, one, clock_utc_ms(), err);
	if (dropped != 1)
		return dropped == 0 ? 1 : -1;
	*is_full = true;
	return store_notification_delete(p->txn->db, key, err);
}

/* Queue the approvals among the comments, each once. Returns their number, -1: nothing was stored. */
static int take_comments(
	struct approval_poll *p, const struct config_repo *repo, const json_t *comments, bool *is_full, struct fw_err *err)
{
	const struct waiting *w = &p->waiting[p->at];
	struct forge_approval one;
	const json_t *comment;
	char key[200];
	size_t i;
	int n = 0, result = 0;
	if (!json_array_size(comments))
		return 0;
	if (txn_begin(p->txn, err) != 0)
		return -1;
	json_array_foreach(comments, i, comment)
	{
		int64_t id;
		if (result != 0 || !forge_comment_read(repo, comment, w->number, w->head, &id, &one) ||
			is_older(comment, w->seen_at - DAY_MS))
			continue;
		snprintf(key, sizeof key, "%s/comment/%lld", repo->name, (long long)id);
		int queued = queue_once(p, repo, key, &one, is_full, err);
		n += queued > 0;
		result = queued < 0 ? -1 : 0;
	}
	return txn_end(p->txn, result, err) == 0 ? n : -1;
}

/* End the interval of this repository; `wait_s`: the forge permits no request before. */
static void end_round(struct approval_poll *p, int64_t wait_s)
{
	struct forge *f = find_forge(p, p->repo);
	int64_t at_ms = clock_boot_ms() + wait_s * 1000;
	if (f && f->next_ms < at_ms)
		f->next_ms = at_ms;
	p->n = p->at = 0;
}

/* Whether the forge would refuse or fail the requests for other comments as well; else only those of one request cannot be read. */
static bool fails_all(int64_t status)
{
	return status == 0 || status == 401 || status == 403 || status == 429 || status >= 500;
}

static void on_comments(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct approval_poll *p = arg;
	const struct config_repo *repo = find_repo(p);
	const struct waiting *w = &p->waiting[p->at];
	struct fw_err err = { 0 };
	json_t *answer = json_loadb(out->data, out->len, JSON_DISABLE_EOF_CHECK, NULL);
	const char *etag = json_string_value(json_object_get(answer, "etag"));
	int64_t wait_s = json_integer_value(json_object_get(answer, "retry_after_s"));
	bool has_next = json_is_true(json_object_get(answer, "has_next"));
	int64_t status = json_integer_value(json_object_get(answer, "status"));
	bool is_full = false;
	p->child = NULL;
	int n = failed || !repo ? 0 : take_comments(p, repo, json_object_get(answer, "comments"), &is_full, &err);
	if (failed || n < 0)
		log_warning("pull.poll_failed", "repo=%s pull=%d again_s=%lld err=%s", log_quote(p->repo), w->number,
			(long long)wait_s, log_quote(failed ? failed->text : err.text));
	if (n > 0)
		sender_wake(p->sender);
	bool is_read = !failed && n >= 0;
	p->pages_read++;
	bool is_cut = is_read && has_next && p->pages_read == PAGES_MAX;
	if (failed && p->page > 1) /* not to fail with the same page in each interval */
		store_tag(p, w, "", 1);
	if (is_read && !p->is_stale && status != 304 && (!has_next || is_cut)) {
		/* a new comment on a later page leaves the first page, and its tag, as they were */
		bool is_whole = p->page == 1 && !has_next && !is_full;
		store_tag(p, w, etag && is_whole ? etag : "", is_cut && is_oldest_first(repo) ? p->page + 1 : 1);
	}
	if (!repo || n < 0 || wait_s > 0 || (failed && fails_all(status)))
		end_round(p, wait_s);
	else if (is_read && has_next && !is_cut)
		p->page++;
	else
		begin_request(p, p->at + 1);
	json_decref(answer);
	schedule(p, 0);
}

static int start_request(struct approval_poll *p, const struct config_repo *repo, struct fw_err *err)
{
	const struct waiting *w = &p->waiting[p->at];
	const struct tag *tag = p->page == 1 ? find_tag(p, w) : NULL;
	struct deliver_poll poll = { w->number, p->page, w->head, w->seen_at - DAY_MS, tag ? tag->etag : "" };
	struct deliver what;
	int result = deliver_prepare_poll(repo, &poll, &what, err);
	if (result == 0) {
		struct child_spec spec = {
			.program = what.program,
			.args = what.args,
			.in = &what.in,
			.out_fd = -1,
			.out_max = OUT_MAX,
			.deadline_ms = DEADLINE_MS,
		};
		result = child_start(p->loop, &spec, on_comments, p, &p->child, err);
	}
	deliver_fini(&what);
	p->is_stale = false;
	return result;
}

/* Begin the interval of a repository that is due. Returns the delay until the next one is. */
static int64_t begin_round(struct approval_poll *p, struct fw_err *err)
{
	int64_t now_ms = clock_boot_ms(), delay_ms = MINUTE_MS; /* a reload may add a repository */
	for (int i = 0; i < p->config->n_repos && p->at == p->n; i++) {
		const struct config_repo *repo = &p->config->repo[i];
		struct forge *f = is_polled(repo) ? find_forge(p, repo->name) : NULL;
		if (!f)
			continue;
		if (f->next_ms <= now_ms) {
			f->next_ms = now_ms + repo->pulls.approve_by.poll_ms;
			snprintf(p->repo, sizeof p->repo, "%s", repo->name);
			if (list_waiting(p, f, err) != 0)
				end_round(p, 0);
		}
		if (f->next_ms - now_ms < delay_ms)
			delay_ms = f->next_ms - now_ms;
	}
	return delay_ms;
}

static void step(void *arg)
{
	struct approval_poll *p = arg;
	struct fw_err err = { 0 };
	p->timer = NULL;
	int64_t delay_ms = p->at == p->n ? begin_round(p, &err) : 0;
	const struct config_repo *repo = p->at < p->n ? find_repo(p) : NULL;
	if (repo && start_request(p, repo, &err) == 0)
		return; /* on_comments continues */
	if (err.code)
		log_warning("pull.poll_failed", "repo=%s err=%s", log_quote(p->repo), log_quote(err.text));
	if (p->at < p->n)
		end_round(p, 0);
	schedule(p, delay_ms < 1000 ? 1000 : delay_ms);
}

struct approval_poll *approval_poll_start(struct loop *l, const struct config *c, struct txn *txn, struct sender *sender)
{
	struct approval_poll *p = mem_alloc_zero(1, sizeof *p);
	p->loop = l;
	p->config = c;
	p->txn = txn;
	p->sender = sender;
	schedule(p, 0);
	return p;
}

void approval_poll_read_again(struct approval_poll *p)
{
	memset(p->tag, 0, sizeof p->tag);
	p->is_stale = true;
}

void approval_poll_stop(struct approval_poll *p)
{
	if (!p)
		return;
	loop_remove(p->loop, p->timer);
	child_cancel(p->child);
	free(p);
}
