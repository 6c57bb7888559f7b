/* notify.c - the outbox, row by row. */
#include "notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "capture.h"
#include "db/store_outbox.h"

enum { ATTEMPTS_MAX = 10, MINUTE_MS = 60000, MOST_MS = 6 * 60 * MINUTE_MS, SEND_DEADLINE_MS = 30000, PAYLOAD_MAX = 1 << 20 };

struct notify {
	struct loop *loop;
	const struct config *config;
	struct ledger *ledger;
	struct loop_source *timer;
	struct capture *sending;
	int64_t row; /* being sent */
	int attempts;
	char target[64];
};

static void look(void *arg);

int64_t notify_pause_ms(int attempts, double luck)
{
	int64_t pause = MINUTE_MS;
	if (attempts >= ATTEMPTS_MAX)
		return 0;
	for (int i = 1; i < attempts && pause < MOST_MS; i++)
		pause *= 4;
	if (pause > MOST_MS)
		pause = MOST_MS;
	return pause - (int64_t)(luck * 0.25 * (double)pause);
}

static void look_in(struct notify *n, int64_t delay_ms)
{
	struct fw_err err = { 0 };
	loop_remove(n->loop, n->timer);
	n->timer = NULL;
	if (loop_after(n->loop, delay_ms > 0 ? delay_ms : 0, look, n, &n->timer, &err) != 0)
		log_error("notify.timer", "err=%s", log_quote(err.text));
}

void notify_wake(struct notify *n)
{
	if (!n->sending)
		look_in(n, 0);
}

static double luck(void)
{
	uint32_t random = 0;
	return getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random ? (double)random / 4294967296.0 : 0.0;
}

static void settle(struct notify *n, const struct fw_err *failed, bool again)
{
	struct fw_err err = { 0 };
	int attempts = n->attempts + 1;
	int64_t pause = again ? notify_pause_ms(attempts, luck()) : 0;
	int64_t next_at = failed && pause ? clock_utc_ms() + pause : 0;
	if (failed)
		log_warning("notify.failed", "to=%s delivery=%lld attempt=%d again_s=%lld err=%s", log_quote(n->target),
			(long long)n->row, attempts, (long long)(pause / 1000), log_quote(failed->text));
	else
		log_info("notify.sent", "to=%s delivery=%lld attempt=%d", log_quote(n->target), (long long)n->row, attempts);
	int result = ledger_begin(n->ledger, &err);
	if (result == 0)
		result = ledger_end(n->ledger,
			store_outbox_result(n->ledger->db, n->row, !failed, failed ? failed->text : NULL, next_at, &err), &err);
	look_in(n, result == 0 ? 0 : MINUTE_MS); /* not written: it is sent once more, with the same id */
}

static void is_sent(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct notify *n = arg;
	(void)out;
	n->sending = NULL;
	settle(n, failed, true);
}

static void write_delivery(struct buf *out, const struct notify *n, const struct config_webhook *to, const struct buf *payload)
{
	struct jsonw j;
	char id[32];
	snprintf(id, sizeof id, "%lld", (long long)n->row);
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "url", to->url);
	jsonw_key(&j, "headers");
	jsonw_object(&j);
	jsonw_kv_string(&j, "Content-Type", "application/json");
	jsonw_kv_string(&j, "X-Flopwatch-Delivery", id);
	jsonw_object_end(&j);
	jsonw_kv_string(&j, "body", payload->data);
	jsonw_kv_bool(&j, "allow_internal", to->allow_internal);
	jsonw_object_end(&j);
}

static void send_row(struct notify *n, const struct buf *payload)
{
	static const char *const no_args[] = { NULL };
	struct fw_err err = { 0 };
	struct buf in;
	int at = config_webhook_find(n->config, n->target);
	if (at < 0) {
		err_set(&err, ERR_NOT_FOUND, "webhook %s is not configured any more", n->target);
		settle(n, &err, false);
		return;
	}
	buf_init(&in, 4 * PAYLOAD_MAX);
	write_delivery(&in, n, &n->config->webhook[at], payload);
	struct capture_spec spec = {
		.program = "flopwatch-send",
		.args = no_args,
		.in = &in,
		.out_fd = -1,
		.out_max = 4096,
		.deadline_ms = SEND_DEADLINE_MS,
	};
	if (capture_start(n->loop, &spec, is_sent, n, &n->sending, &err) != 0)
		settle(n, &err, true);
	buf_fini(&in);
}

/* Send the next row that is due, else sleep until one is. */
static void look(void *arg)
{
	struct notify *n = arg;
	struct fw_err err = { 0 };
	struct buf payload;
	char kind[32];
	int64_t now = clock_utc_ms(), next_at = 0;
	n->timer = NULL;
	buf_init(&payload, PAYLOAD_MAX);
	int got = store_outbox_due(
		n->ledger->db, now, &n->row, kind, sizeof kind, n->target, sizeof n->target, &payload, &n->attempts, &err);
	if (got == 1)
		send_row(n, &payload);
	else if (got < 0 || store_outbox_next_at(n->ledger->db, &next_at, &err) != 0)
		look_in(n, MINUTE_MS); /* the ledger says what is wrong with the database */
	else if (next_at)
		look_in(n, next_at - now);
	buf_fini(&payload);
}

int notify_start(struct loop *l, const struct config *c, struct ledger *g, struct notify **out, struct fw_err *err)
{
	struct notify *n = calloc(1, sizeof *n);
	if (!n)
		return err_set(err, ERR_INTERNAL, "out of memory for deliveries");
	*n = (struct notify){ .loop = l, .config = c, .ledger = g };
	look_in(n, 0);
	*out = n;
	return 0;
}

void notify_stop(struct notify *n)
{
	if (!n)
		return;
	loop_remove(n->loop, n->timer);
	capture_cancel(n->sending);
	free(n);
}
