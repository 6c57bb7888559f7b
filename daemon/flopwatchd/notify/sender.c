/* sender.c - the outbox, row by row. */
#include "flopwatchd/notify/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define MINUTE_MS INT64_C(60000)

enum { AT_ONCE = STORE_OUTBOX_BUSY_MAX, SEND_DEADLINE_MS = 30000, NOTE_DEADLINE_MS = 120000 };
enum { PAYLOAD_MAX = 1 << 20, ANSWER_MAX = 4096, RETRY_AFTER_MAX_S = STORE_OUTBOX_PAUSE_MAX_MS / 1000 };

struct delivery {
	struct sender *sender;
	struct child *sending; /* NULL: free */
	struct store_outbox row;
	int64_t began_at, began_ns; /* the clock may be set: durations come from the monotonic one */
};

struct sender {
	struct loop *loop;
	const struct config *config;
	struct txn *txn;
	struct loop_source *timer;
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

/* Store the result of an attempt. A row whose result cannot be stored is sent again, with the same id. */
static void store_attempt(
	struct sender *n, const struct store_outbox *row, const struct store_attempt *attempt, int retry_after_s, bool again)
{
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
	if (result == 0)
		result = txn_end(n->txn, store_outbox_result(n->txn->db, row->id, attempt, next_at, &err), &err);
	schedule(n, result == 0 ? 0 : MINUTE_MS);
}

/* flopwatch-send prints its result; flopwatch-git prints nothing. */
static void read_answer(const struct buf *out, struct store_attempt *attempt, int *retry_after_s)
{
	json_t *answer = json_loadb(out->data, out->len, JSON_DISABLE_EOF_CHECK, NULL);
	json_int_t wait_s = json_integer_value(json_object_get(answer, "retry_after_s"));
	attempt->status = (int)json_integer_value(json_object_get(answer, "status"));
	*retry_after_s = wait_s < 0 ? 0 : wait_s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : (int)wait_s;
	json_decref(answer);
}

static void on_sent(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct delivery *e = arg;
	struct store_outbox row = e->row;
	struct store_attempt attempt = { .at = e->began_at, .error = failed ? failed->text : NULL };
	int retry_after_s = 0;
	attempt.duration_ms = (clock_mono_ns() - e->began_ns) / 1000000;
	read_answer(out, &attempt, &retry_after_s);
	e->sending = NULL;
	/* 410: the receiver no longer accepts notifications */
	store_attempt(e->sender, &row, &attempt, retry_after_s, attempt.status != 410);
}

static void send_row(struct delivery *e, const struct buf *payload)
{
	struct sender *n = e->sender;
	struct fw_err err = { 0 };
	struct deliver what;
	e->began_at = clock_utc_ms();
	e->began_ns = clock_mono_ns();
	struct store_attempt failed = { .at = e->began_at };
	if (deliver_prepare(n->config, &e->row, payload, e->began_at, &what, &err) != 0) {
		failed.error = err.text;
		store_attempt(n, &e->row, &failed, 0, false);
	} else {
		struct child_spec spec = {
			.program = what.program,
			.args = what.args,
			.in = &what.in,
			.out_fd = -1,
			/* the limit on output applies to all files, and git writes objects */
			.is_careful = strcmp(what.program, "flopwatch-git") == 0,
			.out_max = strcmp(what.program, "flopwatch-git") == 0 ? (size_t)1 << 30 : ANSWER_MAX,
			.deadline_ms = strcmp(what.program, "flopwatch-git") == 0 ? NOTE_DEADLINE_MS : SEND_DEADLINE_MS,
		};
		if (child_start(n->loop, &spec, on_sent, e, &e->sending, &err) != 0) {
			failed.error = err.text;
			store_attempt(n, &e->row, &failed, 0, true);
		}
	}
	deliver_fini(&what);
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
	int n_busy, got = 1;
	int64_t now = clock_utc_ms(), next_at = 0;
	n->timer = NULL;
	buf_init(&payload, PAYLOAD_MAX);
	while (got == 1 && !n->timer && (e = find_free(n, busy, &n_busy))) {
		buf_clear(&payload);
		got = store_outbox_due(n->txn->db, now, (const char(*)[160])busy, n_busy, &e->row, &payload, &err);
		if (got == 1)
			send_row(e, &payload); /* a delivery that ends at once sets the timer */
	}
	if (got < 0 || (!n->timer && store_outbox_next_at(n->txn->db, now, &next_at, &err) != 0))
		schedule(n, MINUTE_MS); /* txn logs the database failure */
	else if (!n->timer && next_at)
		schedule(n, next_at - now);
	buf_fini(&payload);
}

struct sender *sender_start(struct loop *l, const struct config *c, struct txn *g)
{
	struct sender *n = mem_alloc_zero(1, sizeof *n);
	*n = (struct sender){ .loop = l, .config = c, .txn = g };
	for (int i = 0; i < AT_ONCE; i++)
		n->delivery[i].sender = n;
	schedule(n, 0);
	return n;
}

void sender_stop(struct sender *n)
{
	if (!n)
		return;
	loop_remove(n->loop, n->timer);
	for (int i = 0; i < AT_ONCE; i++)
		child_cancel(n->delivery[i].sending);
	free(n);
}
