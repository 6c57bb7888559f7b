#include "db/db.h"

static int insert(struct db *db, const char *kind, const char *target, const char *subject, const char *payload, int64_t now_ms,
	struct fw_err *err)
{
	return db_exec(db, err,
		"WITH message AS (SELECT coalesce(:payload ->> '$.alert', 0) AS alert, :payload ->> '$.repo' AS repo, "
		"iif(json_array_length(:payload, '$.culprits') = 1 AND :payload ->> '$.culprits[0].commits' = 1, "
		":payload ->> '$.culprits[0].to', :payload ->> '$.target') AS commit_sha) "
		"INSERT INTO outbox (message_id, kind, target, subject, payload, next_at, created_at, alert, thread) SELECT 'msg_' || "
		"lower(hex(randomblob(16))), :kind, :target, :subject, :payload, :now, :now, alert, iif(alert = 0, '', "
		"coalesce((SELECT thread FROM outbox o WHERE o.target = :target AND o.alert = message.alert AND o.alert <> 0 ORDER BY "
		"o.id LIMIT 1), repo || ' ' || commit_sha, 'alert ' || alert)) FROM message",
		"kind=%s target=%s subject=%s payload=%s now=%ld", kind, target, subject, payload, now_ms);
}

int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err)
{
	return insert(db, kind, target, "", payload, now_ms, err);
}

/** Whether the newest notification about the subject has this payload. 1, 0, -1. */
static int is_newest_payload(
	struct db *db, const char *kind, const char *target, const char *subject, const char *payload, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT payload = :payload FROM outbox WHERE kind = :kind AND target = :target AND subject = :subject AND "
		"subject <> '' ORDER BY id DESC LIMIT 1",
		"kind=%s target=%s subject=%s payload=%s", kind, target, subject, payload);
	int64_t is_this = 0;
	return stmt_first_int(s, &is_this, err) < 0 ? -1 : is_this != 0;
}

int store_outbox_replace(struct db *db, const char *kind, const char *target, const char *subject, const char *payload,
	int64_t now_ms, struct fw_err *err)
{
	int found = is_newest_payload(db, kind, target, subject, payload, err);
	if (found)
		return found < 0 ? -1 : 0;
	if (db_exec(db, err,
		    "UPDATE outbox SET state = 'superseded' WHERE kind = :kind AND target = :target AND subject = :subject AND "
		    "subject <> '' AND state = 'waiting'",
		    "kind=%s target=%s subject=%s", kind, target, subject))
		return -1;
	return insert(db, kind, target, subject, payload, now_ms, err);
}

int store_outbox_newest(struct db *db, const char *kind, const char *target, const char *subject, int64_t *id, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id FROM outbox WHERE kind = :kind AND target = :target AND subject = :subject AND subject <> '' ORDER BY id DESC "
		"LIMIT 1",
		"kind=%s target=%s subject=%s", kind, target, subject);
	return stmt_require(stmt_first_int(s, id, err), err, "there is no such notification to %s", target);
}

int store_outbox_mark(struct db *db, const char *kind, const char *target, const char *subject, char *mark, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT message_id FROM outbox WHERE kind = :kind AND target = :target AND subject = :subject AND subject <> '' AND id >= "
		"coalesce((SELECT a.outbox FROM outbox o JOIN outbox_attempt a ON a.outbox = o.id WHERE o.kind = :kind AND o.target = "
		":target AND o.subject = :subject AND a.status = 404 ORDER BY a.id DESC LIMIT 1), 0) ORDER BY id LIMIT 1",
		"kind=%s target=%s subject=%s", kind, target, subject);
	const char *found;
	int result = stmt_next(s, err, found);
	snprintf(mark, 64, "%s", result == 1 ? found : "");
	stmt_reset(s);
	return result;
}

int store_outbox_waiting(struct db *db, const char *kind, const char *target, const char *prefix, int64_t *n, struct fw_err *err)
{
	return stmt_optional(db_first_int(db, n, err,
		"SELECT count(*) FROM outbox WHERE state = 'waiting' AND kind = :kind AND target = :target AND substr(subject, 1, "
		"length(:prefix)) = :prefix",
		"kind=%s target=%s prefix=%s", kind, target, prefix));
}

/* True: a hold of :held delays the row of `outbox` at :now. */
#define HELD                                                                                                                     \
	"EXISTS (SELECT 1 FROM json_each(:held) AS h WHERE kind = 'webhook' AND subject = '' AND h.value ->> 0 = target AND "    \
	"(h.value ->> 1 > :now OR (alert <> 0 AND attempts = 0 AND created_at <= :now AND created_at + (h.value ->> 2) > :now)))"

/* Append the holds as JSON, [["chat", until, group], ...]. */
static void write_holds(const struct store_outbox_hold *hold, int n_hold, struct buf *out)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_array(&j);
	for (int i = 0; i < n_hold; i++)
		jsonw_format(&j, "[ %s %ld %ld ]", hold[i].target, hold[i].until, hold[i].group_ms);
	jsonw_array_end(&j);
}

int store_outbox_due(struct db *db, int64_t now_ms, const char (*busy)[160], int n_busy, const struct store_outbox_hold *hold,
	int n_hold, struct store_outbox *out, struct buf *payload, struct fw_err *err)
{
	_Static_assert(STORE_OUTBOX_BUSY_MAX == 4, "the statement has a parameter for each");
	struct buf held;
	buf_init(&held, 1 << 16);
	write_holds(hold, n_hold, &held);
	struct stmt *s = db_query(db, err,
		"SELECT id, message_id, kind, target, subject, thread, payload, attempts, (SELECT count(*) FROM outbox_attempt a WHERE a.outbox = "
		"outbox.id AND a.error = '') FROM outbox WHERE state = 'waiting' AND (next_at <= :now OR attempts = 0 OR next_at > :now + "
		":longest) AND kind || ' ' || target NOT IN (:b0, :b1, :b2, :b3) AND NOT " HELD " ORDER BY next_at, id LIMIT 1",
		/* a time beyond the longest pause: the clock was set back */
		"now=%ld longest=%d held=%s b0=%s b1=%s b2=%s b3=%s", now_ms, STORE_OUTBOX_PAUSE_MAX_MS, held.data,
		n_busy > 0 ? busy[0] : "", n_busy > 1 ? busy[1] : "", n_busy > 2 ? busy[2] : "", n_busy > 3 ? busy[3] : "");
	const char *text;
	int result = stmt_next(s, err, out->id, out->message_id, out->kind, out->target, out->subject, out->thread, text,
		out->attempts, out->n_sent);
	if (result == 1)
		buf_puts(payload, text);
	stmt_reset(s);
	buf_fini(&held);
	return result;
}

/* As below, with holds: they delay rows beyond their own times. */
static int next_held_at(
	struct db *db, int64_t after, const struct store_outbox_hold *hold, int n_hold, int64_t *at, struct fw_err *err)
{
	struct buf held;
	buf_init(&held, 1 << 16);
	write_holds(hold, n_hold, &held);
	int result = db_first_int(db, at, err,
		"SELECT coalesce(min(due), 0) FROM (SELECT max(next_at, coalesce((SELECT max(h.value ->> 1, iif(alert <> 0 AND attempts = "
		"0, created_at + (h.value ->> 2), 0)) FROM json_each(:held) AS h WHERE kind = 'webhook' AND subject = '' AND h.value ->> 0 "
		"= target), 0)) AS due FROM outbox WHERE state = 'waiting') WHERE due > :after",
		"after=%ld held=%s", after, held.data);
	buf_fini(&held);
	return stmt_optional(result);
}

int store_outbox_next_at(
	struct db *db, int64_t after, const struct store_outbox_hold *hold, int n_hold, int64_t *at, struct fw_err *err)
{
	if (n_hold)
		return next_held_at(db, after, hold, n_hold, at, err);
	return stmt_optional(db_first_int(db, at, err,
		"SELECT coalesce(min(next_at), 0) FROM outbox WHERE state = 'waiting' AND next_at > :after", "after=%ld", after));
}

int store_outbox_group(
	struct db *db, const struct store_outbox *leader, int64_t *ids, int max, int *n, struct buf *payloads, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT o.id, o.payload FROM outbox o JOIN outbox l ON l.id = :leader WHERE o.target = l.target AND o.thread = l.thread "
		"AND o.thread <> '' AND o.kind = l.kind AND o.state = 'waiting' AND o.attempts = l.attempts AND (o.attempts = 0 OR "
		"o.next_at = l.next_at) AND o.id >= l.id ORDER BY o.id LIMIT :max",
		"leader=%ld max=%d", leader->id, max);
	const char *text;
	int result;
	*n = 0;
	buf_putc(payloads, '[');
	while ((result = stmt_next(s, err, ids[*n], text)) == 1) {
		buf_puts(payloads, *n ? "," : "");
		buf_puts(payloads, text);
		(*n)++;
	}
	buf_putc(payloads, ']');
	return result;
}

int store_outbox_first(
	struct db *db, const struct store_outbox *row, struct store_outbox_first *out, struct buf *payload, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.at, a.answer, o.payload FROM outbox o JOIN outbox_attempt a ON a.outbox = o.id WHERE o.target = :target AND "
		"o.thread = :thread AND o.thread <> '' AND o.state = 'sent' AND o.id < :id AND a.error = '' AND "
		"(a.answer = '' OR a.id > (SELECT coalesce(max(r.id), 0) FROM outbox p JOIN outbox_attempt r ON r.outbox = p.id WHERE "
		"p.target = :target AND p.thread = :thread AND p.thread <> '' AND r.status IN (400, 404) AND r.error <> '')) "
		"ORDER BY o.id, a.id LIMIT 1",
		"target=%s thread=%s id=%ld", row->target, row->thread, row->id);
	const char *text;
	int result = stmt_next(s, err, out->at, out->answer, text);
	if (result == 1)
		buf_puts(payload, text);
	stmt_reset(s);
	return result;
}

int store_outbox_sent(
	struct db *db, const char *kind, const char *target, const char *subject, char *answer, char *state, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"WITH about AS (SELECT a.id, a.status, a.error, a.answer, coalesce(o.payload ->> '$.state', '') AS state FROM outbox o "
		"JOIN outbox_attempt a ON a.outbox = o.id WHERE o.kind = :kind AND o.target = :target AND o.subject = :subject AND "
		"o.subject <> '') SELECT answer, substr(state, 1, 15) FROM about WHERE error = '' AND answer <> '' AND length(answer) < "
		"256 AND id > (SELECT coalesce(max(id), 0) FROM about WHERE status = 404) ORDER BY id DESC LIMIT 1",
		"kind=%s target=%s subject=%s", kind, target, subject);
	const char *found, *was;
	int result = stmt_next(s, err, found, was);
	snprintf(answer, 256, "%s", result == 1 ? found : "");
	snprintf(state, 16, "%s", result == 1 ? was : "");
	stmt_reset(s);
	return result;
}

int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err)
{
	const char *error = attempt->error ? attempt->error : "";
	if (db_exec(db, err,
		    "UPDATE outbox SET attempts = attempts + 1, last_error = :error, next_at = :next, state = CASE WHEN :sent THEN "
		    "'sent' WHEN state = 'superseded' THEN state WHEN :next = 0 THEN 'failed' ELSE 'waiting' END WHERE id = :id",
		    "id=%ld sent=%d error=%s next=%ld", id, !attempt->error, error, attempt->error ? next_at : 0))
		return -1;
	return db_exec(db, err,
		"INSERT INTO outbox_attempt (outbox, at, duration_ms, status, error, answer) VALUES (:id, :at, :duration, :status, "
		":error, :answer)",
		"id=%ld at=%ld duration=%ld status=%d error=%s answer=%s", id, attempt->at, attempt->duration_ms, attempt->status,
		error, attempt->answer ? attempt->answer : "");
}

int store_outbox_again(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err, "UPDATE outbox SET state = 'waiting', attempts = 0, next_at = :now WHERE id = :id", "id=%ld now=%ld",
		    id, now_ms))
		return -1;
	return store_page_require_row(db_changes(db), "notification", id, err);
}

int store_outbox_prune(struct db *db, int64_t before, int limit, int *n, struct fw_err *err)
{
	/* ids increase with time, so only the oldest rows are read, and the comments among them that are not deleted yet */
	return db_run_count(db, n, err,
		"DELETE FROM outbox WHERE id IN (SELECT id FROM (SELECT id, state, created_at FROM outbox o WHERE NOT (kind = 'comment' "
		"AND state = 'sent' AND created_at >= :before - :longer AND NOT EXISTS (SELECT 1 FROM outbox l WHERE l.kind = o.kind AND "
		"l.target = o.target AND l.subject = o.subject AND l.state = 'sent' AND l.id > o.id)) ORDER BY id LIMIT :limit) WHERE "
		"state <> 'waiting' AND created_at < :before)",
		"before=%ld longer=%ld limit=%d", before, STORE_OUTBOX_COMMENT_MS, limit);
}

#define NOTIFICATIONS                                                                                                            \
	"SELECT id, message_id, kind, target, payload, state, last_error, attempts, next_at, created_at FROM outbox "

/* Sent rows are found near the end; of other states there may be none, and their index avoids reading all rows. */
static struct stmt *notifications_in(struct db *db, const char *state, struct fw_err *err)
{
	struct stmt *s =
		strcmp(state, "sent") == 0
			? db_stmt(db, NOTIFICATIONS "WHERE id < :before AND +state = :state ORDER BY id DESC LIMIT :n", err)
			: db_stmt(db,
				  NOTIFICATIONS
				  "WHERE id IN (SELECT id FROM outbox INDEXED BY outbox_due WHERE state = :state AND "
				  "id < :before ORDER BY id DESC LIMIT :n) ORDER BY id DESC",
				  err);
	return stmt_bind(s, err, "state=%s", state);
}

static int each_notification(struct stmt *s, view_notification_fn *each, void *arg, struct fw_err *err)
{
	struct view_notification row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.id, row.message_id, row.kind, row.target, row.payload, row.state,
		row.last_error, row.attempts, row.next_at, row.created_at);
}

int view_notifications(
	struct db *db, const char *state, int64_t before, int limit, view_notification_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = store_page_given(state) ? notifications_in(db, state, err)
						 : db_stmt(db, NOTIFICATIONS "WHERE id < :before ORDER BY id DESC LIMIT :n", err);
	s = stmt_bind(s, err, "before=%ld n=%d", store_page_before(before), store_page_size(limit, VIEW_ROWS_MAX));
	return each_notification(s, each, arg, err);
}

int view_notification_last(
	struct db *db, const char *kind, const char *target, view_notification_fn *each, void *arg, struct fw_err *err)
{
	enum { NEWEST = 5000 }; /* a receiver without notifications would cost a scan of all */
	struct stmt *s = db_query(db, err,
		NOTIFICATIONS
		"WHERE id > (SELECT max(id) FROM outbox) - :newest AND kind = :kind AND target = :target ORDER BY id DESC LIMIT 1",
		"newest=%d kind=%s target=%s", (int)NEWEST, kind, target);
	return each_notification(s, each, arg, err);
}

int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT at, duration_ms, status, error FROM outbox_attempt WHERE outbox = :id ORDER BY id",
			"id=%ld", notification);
	struct store_attempt row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.at, row.duration_ms, row.status, row.error);
}

int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err)
{
	return stmt_optional(db_first_int(db, n, err,
		"SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts >= :stuck", "stuck=%d", STORE_OUTBOX_STUCK));
}
