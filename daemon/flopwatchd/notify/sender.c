/* sender.c - the outbox, row by row. */
#include "flopwatchd/notify/internal.h"

#include <sys/random.h>

#define MINUTE_MS INT64_C(60000)

enum { AT_ONCE = STORE_OUTBOX_BUSY_MAX, SEND_DEADLINE_MS = 30000, NOTE_DEADLINE_MS = 120000 };
enum { COMMENT_MAX = 60000 /* characters; GitHub accepts 65536 */, MARK_SIZE = 640 };
enum {
	PAYLOAD_MAX = 1 << 20,
	GROUP_MAX = 32,
	ANSWER_MAX = 1 << 16,
	PAGES_MAX = 40,
	RETRY_AFTER_MAX_S = STORE_OUTBOX_PAUSE_MAX_MS / 1000
};

struct delivery {
	struct sender *sender;
	struct child *sending; /* NULL: free */
	struct store_outbox row;
	bool may_be_400;                /* as in struct deliver */
	struct forge_approval approval; /* of a row of this kind */
	int n_ids;
	int64_t ids[GROUP_MAX];     /* rows of the message, row.id among them */
	char answer[256];           /* id of the message at the receiver if the program returns none */
	struct buf payload;         /* of a comment: it needs several requests until it is written */
	int page;                   /* of the list of comments that is read; 0: none */
	bool is_searched;           /* the list of comments was read */
	char found[64];             /* id of the daemon's own comment in the list; "": none */
	int64_t began_at, began_ns; /* the clock may be set: durations come from the monotonic one */
};

struct sender {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	struct loop_source *timer;
	const struct sender_hooks *hooks; /* NULL none */
	struct delivery delivery[AT_ONCE];
};

static void send_due(void *arg);

int64_t sender_pause_ms(int attempts, double luck)
{
	static const int64_t pause_ms[] = { 5000, MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 20 * MINUTE_MS, 25 * MINUTE_MS };
	if (attempts < 1 || attempts > (int)(sizeof pause_ms / sizeof pause_ms[0]))
		return 0;
	int64_t pause = pause_ms[attempts - 1];
	return pause - (int64_t)(luck * 0.25 * (double)pause);
}

static void schedule(struct sender *n, int64_t delay_ms)
{
	loop_remove(n->loop, n->timer);
	loop_after(n->loop, delay_ms, send_due, n, &n->timer);
}

void sender_wake(struct sender *n)
{
	schedule(n, 0);
}

static double draw_luck(void)
{
	uint32_t random = 0;
	return getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random ? (double)random / 4294967296.0 : 0.0;
}

/* Store the result of an attempt. Rows whose result cannot be stored are sent again, with the same id. */
static void store_attempt(struct delivery *e, const struct store_attempt *attempt, int retry_after_s, bool again)
{
	struct sender *n = e->sender;
	const struct store_outbox *row = &e->row;
	struct fw_err err = { 0 };
	int attempts = row->attempts + 1;
	int64_t pause = again ? sender_pause_ms(attempts, draw_luck()) : 0;
	if (pause && pause < (int64_t)retry_after_s * 1000)
		pause = (int64_t)retry_after_s * 1000;
	int64_t next_at = attempt->error && pause ? clock_utc_ms() + pause : 0;
	if (attempt->error)
		log_warning("notify.failed", "kind=%s to=%s notification=%lld attempt=%d status=%d again_s=%lld err=%s",
			row->kind, log_quote(row->target), (long long)row->id, attempts, attempt->status,
			(long long)(pause / 1000), log_quote(attempt->error));
	else
		log_info("notify.sent", "kind=%s to=%s notification=%lld attempt=%d", row->kind, log_quote(row->target),
			(long long)row->id, attempts);
	int result = txn_begin(n->txn, &err);
	if (result == 0) {
		for (int i = 0; i < e->n_ids && result == 0; i++)
			result = store_outbox_result(n->txn->db, e->ids[i], attempt, next_at, &err);
		result = txn_end(n->txn, result, &err);
	}
	schedule(n, result == 0 ? 0 : MINUTE_MS);
}

/* flopwatch-send prints its result; flopwatch-git prints nothing. Own: the caller frees the result, which has attempt->answer. */
static json_t *read_answer(const struct buf *out, struct store_attempt *attempt, int *retry_after_s)
{
	json_t *answer = json_loadb(out->data, out->len, JSON_DISABLE_EOF_CHECK, NULL);
	json_int_t wait_s = json_integer_value(json_object_get(answer, "retry_after_s"));
	attempt->status = (int)json_integer_value(json_object_get(answer, "status"));
	attempt->answer = json_string_value(json_object_get(answer, "answer"));
	*retry_after_s = wait_s < 0 ? 0 : wait_s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : (int)wait_s;
	return answer;
}

/* GitLab has this status already. It also answers 400 to a pipeline or a project that does not accept the status. */
static bool is_same_status(const struct delivery *e, const struct store_attempt *attempt)
{
	return e->may_be_400 && attempt->status == 400 && attempt->answer && strstr(attempt->answer, "Cannot transition status");
}

/* ---- approvals ---- */

static const struct config_repo *find_repo(const struct sender *n, const char *name)
{
	int at = config_repo_find(n->config, name);
	return at >= 0 ? &n->config->repo[at] : NULL;
}

/* Attempts after which the fetch that the event triggered should have ended. */
enum { FETCH_ATTEMPTS = 2 };

/* Store the approval of a user who may approve. Returns true if a later attempt may succeed: git was not read yet. */
static bool approve(struct delivery *e, const struct config_repo *repo, struct fw_err *err)
{
	struct sender *n = e->sender;
	const struct forge_approval *one = &e->approval;
	char who[160];
	int64_t id = 0;
	snprintf(who, sizeof who, "%s at %s", one->who, repo->status.kind);
	int found = store_repo_find(n->txn->db, repo->name, &id, err);
	if (found != 1)
		return found < 0 || (err_set(err, ERR_NOT_FOUND, "repository %s was not read yet", repo->name), true);
	if (txn_begin(n->txn, err) != 0)
		return true;
	/* its author may have pushed an older head again */
	if (txn_end(n->txn, store_pull_approve(n->txn->db, id, one->number, one->head, who, clock_utc_ms(), err), err) != 0)
		return err->code != ERR_CONFLICT || e->row.attempts < FETCH_ATTEMPTS;
	log_info("pull.approved", "repo=%s pull=%d commit=%s who=%s", log_quote(repo->name), one->number, one->head,
		log_quote(who));
	if (n->hooks)
		n->hooks->approved(n->hooks->arg, repo->name);
	return false;
}

/* End the row of an approval. `refusal`: why the user may not approve, "": may. */
static void end_approval(struct delivery *e, const struct store_attempt *attempt, const char *refusal)
{
	struct store_attempt result = *attempt;
	struct fw_err err = { 0 };
	const struct config_repo *repo = find_repo(e->sender, e->row.target);
	bool again = false;
	if (!repo || !repo->pulls.refs[0])
		err_set(&err, ERR_NOT_FOUND, "requests of %s are not watched any more", e->row.target);
	else if (*refusal)
		err_set(&err, ERR_INVALID, "%s may not approve requests of %s: %s", e->approval.who, repo->name, refusal);
	else
		again = approve(e, repo, &err);
	again = again && sender_pause_ms(e->row.attempts + 1, 0) > 0;
	if (err.code && !again) /* an approval that is only early is retried */
		log_warning("pull.refused", "repo=%s pull=%d commit=%s who=%s err=%s", log_quote(e->row.target),
			e->approval.number, e->approval.head, log_quote(e->approval.who), log_quote(err.text));
	result.error = err.code ? err.text : NULL;
	store_attempt(e, &result, 0, again);
}

/* The forge reported the user's permission; "none": it is no member. */
static void take_permission(struct delivery *e, const struct store_attempt *attempt, const char *permission)
{
	const struct config_repo *repo = find_repo(e->sender, e->row.target);
	char refusal[128] = "";
	if (!repo || !approval_is_enough(repo, permission))
		snprintf(refusal, sizeof refusal, "the forge reports the permission `%.40s`", permission);
	end_approval(e, attempt, refusal);
}

static void send_message(struct delivery *e, struct buf *payload);

/* Find the id of the daemon's own comment, which begins with its mark. */
static void take_own_comment(struct delivery *e, const json_t *answer)
{
	const json_t *one;
	size_t i;
	json_array_foreach(json_object_get(answer, "comments"), i, one)
	{
		const json_t *id = json_object_get(one, "id"), *line = json_object_get(one, "line");
		if (!e->found[0] && json_is_integer(id) && json_is_integer(line) && json_integer_value(line) == 0)
			snprintf(e->found, sizeof e->found, "%lld", (long long)json_integer_value(id));
	}
}

/* A page of the list of comments was read: read the next one, or write the comment. */
static void continue_search(struct delivery *e, const json_t *answer)
{
	take_own_comment(e, answer);
	e->is_searched = e->found[0] || !json_is_true(json_object_get(answer, "has_next")) || e->page == PAGES_MAX;
	e->page = e->is_searched ? 0 : e->page + 1;
	send_message(e, &e->payload);
}

static void on_sent(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct delivery *e = arg;
	struct store_attempt attempt = { .at = e->began_at };
	int retry_after_s = 0;
	attempt.duration_ms = (clock_mono_ns() - e->began_ns) / 1000000;
	json_t *answer = read_answer(out, &attempt, &retry_after_s);
	attempt.error = failed && !is_same_status(e, &attempt) ? failed->text : NULL;
	if (failed)
		attempt.answer = NULL;
	else if (!attempt.answer)
		attempt.answer = e->answer;
	e->sending = NULL;
	if (e->page && !failed) {
		continue_search(e, answer);
		json_decref(answer);
		return;
	}
	bool is_approval = strcmp(e->row.kind, "approval") == 0, is_404 = is_approval && failed && attempt.status == 404;
	const struct config_repo *repo = is_404 ? find_repo(e->sender, e->row.target) : NULL;
	bool is_no_member = repo && strcmp(repo->status.kind, "gitlab") == 0; /* the others report "none", or "read" */
	if (is_404 && !is_no_member)
		attempt.error = "404: there is no such user, or the token of `status` may not read the project's members";
	if (is_approval && (!failed || is_no_member))
		take_permission(e, &attempt, attempt.answer && !failed && *attempt.answer ? attempt.answer : "none");
	else /* 410: the receiver no longer accepts notifications */
		store_attempt(e, &attempt, retry_after_s, attempt.status != 410);
	json_decref(answer);
}

static void append_to_id(struct store_outbox *row, char separator, int n)
{
	size_t len = strlen(row->message_id);
	snprintf(row->message_id + len, sizeof row->message_id - len, "%c%d", separator, n);
}

/* Read the rows that go out with e->row, and the first message of its thread. 1: there is one, 0, -1. */
static int read_thread(
	struct delivery *e, struct buf *payload, struct store_outbox_first *first, struct buf *first_payload, struct fw_err *err)
{
	int at = strcmp(e->row.kind, "webhook") == 0 ? config_webhook_find(e->sender->config, e->row.target) : -1;
	struct db *db = e->sender->txn->db;
	e->n_ids = 1;
	e->ids[0] = e->row.id;
	if (at < 0 || e->sender->config->webhook[at].kind == RECEIVER_PROGRAM)
		return 0;
	if (e->row.n_sent) /* a receiver that knows the id shows no second message, but the user requested one */
		append_to_id(&e->row, '-', e->row.n_sent);
	if (!e->row.thread[0])
		return 0;
	buf_clear(payload);
	if (store_outbox_group(db, &e->row, e->ids, GROUP_MAX, &e->n_ids, payload, err) != 0) {
		e->n_ids = 1; /* the failed attempt is stored with the row, which would be due at once without it */
		e->ids[0] = e->row.id;
		return -1;
	}
	if (e->n_ids > 1) /* for the same reason it must not know an earlier, smaller group */
		append_to_id(&e->row, '.', e->n_ids);
	return store_outbox_first(db, &e->row, first, first_payload, err);
}

static void start_program(struct delivery *e, const struct deliver *what)
{
	struct fw_err err = { 0 };
	bool is_git = strcmp(what->program, "flopwatch-git") == 0;
	struct child_spec spec = {
		.program = what->program,
		.args = what->args,
		.in = &what->in,
		.out_fd = -1,
		/* the limit on output applies to all files, and git writes objects */
		.is_careful = is_git,
		.out_max = is_git ? (size_t)1 << 30 : ANSWER_MAX,
		.deadline_ms = is_git ? NOTE_DEADLINE_MS : SEND_DEADLINE_MS,
	};
	snprintf(e->answer, sizeof e->answer, "%s", what->answer);
	e->may_be_400 = what->may_be_400;
	if (child_start(e->sender->loop, &spec, on_sent, e, &e->sending, &err) != 0)
		store_attempt(e, &(struct store_attempt){ .at = e->began_at, .error = err.text }, 0, true);
}

/* The approval of a user whom the configuration names needs no request. 1: it ended, 0: the forge needs a request, -1. */
static int try_listed_approval(struct delivery *e, const struct buf *payload, struct fw_err *err)
{
	const struct config_repo *repo = find_repo(e->sender, e->row.target);
	if (approval_read(payload->data, &e->approval, err) != 0)
		return -1;
	const struct config_approve_by *by = repo ? &repo->pulls.approve_by : NULL;
	bool is_listed = by && approval_is_listed(by, e->approval.who);
	if (by && by->permission[0] && !is_listed)
		return 0;
	struct store_attempt attempt = { .at = e->began_at };
	end_approval(e, &attempt, is_listed ? "" : "pull_requests.approve_by does not name this user");
	return 1;
}

/* Append the text of a comment: the whole report on one comparison, and a line about the other suites. */
static int write_comment(struct delivery *e, const char *mark, const struct buf *payload, struct buf *text, struct fw_err *err)
{
	const struct sender_hooks *hooks = e->sender->hooks;
	json_t *m = json_loadb(payload->data, payload->len, 0, NULL);
	const char *words = json_string_value(json_object_get(m, "words"));
	int64_t comparison = json_integer_value(json_object_get(m, "comparison"));
	int result = 0;
	buf_printf(text, "%s\n", mark);
	if (comparison && !hooks)
		result = err_set(err, ERR_INTERNAL, "the daemon has no text for comments");
	else if (comparison)
		result = hooks->comment(hooks->arg, comparison, text, err);
	if (!comparison)
		buf_printf(text, "**flopwatch: not measured**\n");
	if (words && *words) {
		buf_puts(text, "\n");
		forge_put_code_line(text, words);
	}
	json_decref(m);
	return result == 0 && text->failed ? err_set(err, ERR_FULL, "the comment does not fit") : result;
}

/*
 * Write the first line of a comment, by which the daemon finds it where the answer to its first request was lost. Other users
 * cannot write it before the comment is there: it has a random id. Shape: mark[MARK_SIZE]. 0, -1.
 */
static int write_mark(struct delivery *e, char *mark, struct fw_err *err)
{
	char id[64];
	int found = store_outbox_mark(e->sender->txn->db, e->row.kind, e->row.target, e->row.subject, id, err);
	snprintf(mark, MARK_SIZE, "<!-- flopwatch %s %s %s -->", e->row.target, e->row.subject,
		found == 1 ? id : e->row.message_id);
	return found < 0 ? -1 : 0;
}

static void send_message(struct delivery *e, struct buf *payload)
{
	struct fw_err err = { 0 };
	struct store_outbox_first first;
	struct buf first_payload, text;
	struct deliver what = { .program = NULL };
	char sent_id[256] = "", sent_state[16] = "", mark[MARK_SIZE] = "";
	bool is_comment = strcmp(e->row.kind, "comment") == 0;
	int ended = strcmp(e->row.kind, "approval") == 0 ? try_listed_approval(e, payload, &err) : 0;
	if (ended == 0 && (is_comment || strcmp(e->row.kind, "status") == 0))
		ended = store_outbox_sent(
				e->sender->txn->db, e->row.kind, e->row.target, e->row.subject, sent_id, sent_state, &err) < 0
				? -1
				: 0;
	if (ended == 0 && is_comment)
		ended = write_mark(e, mark, &err);
	if (e->found[0])
		snprintf(sent_id, sizeof sent_id, "%s", e->found);
	if (is_comment && !sent_id[0] && !e->is_searched && !e->page)
		e->page = 1;
	if (ended < 0)
		store_attempt(e, &(struct store_attempt){ .at = e->began_at, .error = err.text }, 0, true);
	if (ended != 0)
		return;
	buf_init(&first_payload, PAYLOAD_MAX);
	buf_init(&text, COMMENT_MAX);
	int follows = read_thread(e, payload, &first, &first_payload, &err);
	if (follows < 0) {
		store_attempt(e, &(struct store_attempt){ .at = e->began_at, .error = err.text }, 0, true);
		buf_fini(&first_payload);
		buf_fini(&text);
		return;
	}
	struct deliver_content message = { .id = e->row.message_id,
		.payload = payload,
		.first = follows ? &first : NULL,
		.first_payload = follows ? &first_payload : NULL,
		.sent_id = sent_id,
		.sent_state = sent_state,
		.text = &text,
		.mark = e->page ? mark : NULL,
		.page = e->page };
	if ((is_comment && !e->page && write_comment(e, mark, payload, &text, &err) != 0) ||
		deliver_prepare(e->sender->config, &e->row, &message, e->began_at, &what, &err) != 0)
		store_attempt(e, &(struct store_attempt){ .at = e->began_at, .error = err.text }, 0, is_comment);
	else
		start_program(e, &what);
	deliver_fini(&what);
	buf_fini(&first_payload);
	buf_fini(&text);
}

static void send_row(struct delivery *e, struct buf *payload)
{
	e->began_at = clock_utc_ms();
	e->began_ns = clock_mono_ns();
	e->n_ids = 1;
	e->ids[0] = e->row.id;
	e->page = 0;
	e->is_searched = false;
	e->found[0] = '\0';
	buf_clear(&e->payload);
	if (strcmp(e->row.kind, "comment") == 0)
		buf_append(&e->payload, payload->data, payload->len);
	send_message(e, payload);
}

/* List the receivers that are quiet now, or whose alerts wait for others. Returns their number. */
static int list_holds(const struct config *c, int64_t now, struct store_outbox_hold hold[STORE_OUTBOX_HOLDS_MAX])
{
	_Static_assert((int)STORE_OUTBOX_HOLDS_MAX == (int)CONFIG_HOOKS_MAX, "one for each receiver");
	int n = 0;
	for (int i = 0; i < c->n_webhooks; i++) {
		const struct config_webhook *w = &c->webhook[i];
		int64_t until = config_quiet_until(w, now);
		if (!until && !w->group_ms)
			continue;
		hold[n].until = until;
		hold[n].group_ms = w->group_ms;
		snprintf(hold[n++].target, sizeof hold->target, "%s", w->name);
	}
	return n;
}

static struct delivery *find_free(struct sender *n, char (*busy)[160], int *n_busy)
{
	struct delivery *found = NULL;
	*n_busy = 0;
	for (int i = 0; i < AT_ONCE; i++) {
		struct delivery *e = &n->delivery[i];
		if (e->sending)
			snprintf(busy[(*n_busy)++], 160, "%s %s", e->row.kind, e->row.target);
		else
			found = e;
	}
	return found;
}

static void send_due(void *arg)
{
	struct sender *n = arg;
	struct fw_err err = { 0 };
	struct buf payload;
	struct delivery *e;
	char busy[AT_ONCE][160];
	struct store_outbox_hold hold[STORE_OUTBOX_HOLDS_MAX];
	int n_busy, got = 1;
	int64_t now = clock_utc_ms(), next_at = 0;
	n->timer = NULL;
	buf_init(&payload, (size_t)GROUP_MAX * PAYLOAD_MAX);
	int n_hold = list_holds(n->config, now, hold);
	while (got == 1 && !n->timer && (e = find_free(n, busy, &n_busy))) {
		buf_clear(&payload);
		got = store_outbox_due(n->txn->db, now, (const char(*)[160])busy, n_busy, hold, n_hold, &e->row, &payload, &err);
		if (got == 1)
			send_row(e, &payload); /* a delivery that ends at once sets the timer */
	}
	if (got < 0 || (!n->timer && store_outbox_next_at(n->txn->db, now, hold, n_hold, &next_at, &err) != 0))
		schedule(n, MINUTE_MS); /* txn logs the database failure */
	else if (!n->timer && next_at)
		schedule(n, next_at - now);
	buf_fini(&payload);
}

struct sender *sender_start(struct loop *l, const struct config *c, struct txn *txn)
{
	struct sender *n = mem_alloc_zero(1, sizeof *n);
	*n = (struct sender){ .loop = l, .config = c, .txn = txn };
	for (int i = 0; i < AT_ONCE; i++) {
		n->delivery[i].sender = n;
		buf_init(&n->delivery[i].payload, PAYLOAD_MAX);
	}
	schedule(n, 0);
	return n;
}

void sender_set_hooks(struct sender *n, const struct sender_hooks *hooks)
{
	n->hooks = hooks;
}

void sender_stop(struct sender *n)
{
	if (!n)
		return;
	loop_remove(n->loop, n->timer);
	for (int i = 0; i < AT_ONCE; i++) {
		child_cancel(n->delivery[i].sending);
		buf_fini(&n->delivery[i].payload);
	}
	free(n);
}
