/** site_run.h - the whole site over a real database, with requests through raw sockets from the same thread; and its calls of the
 * daemon. */
#ifndef TESTS_SITE_RUN_H
#define TESTS_SITE_RUN_H

#include "fixture_db.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"
#include "web/page/page.h"
#include "web/web.h"

/** The daemon in these tests: the site's calls, and the answers to them. */
struct control {
	char what[2048];      /* one line per call */
	struct fw_err refuse; /* code set: every call fails like this */
	const char *secret;   /* of the repository "kernels" */
	struct db *db;        /* where steps with alerts are written, as the daemon does */
	char backup[160];     /* where a backup is when backup_is_whole */
	bool backup_is_whole;
};

struct run {
	struct fixture *f;
	struct control requested;
	struct site site;
	struct http *http;
};

static inline int note(struct control *a, struct fw_err *e, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline int note(struct control *a, struct fw_err *e, const char *format, ...)
{
	va_list args;
	size_t len = strlen(a->what);
	va_start(args, format);
	vsnprintf(a->what + len, sizeof a->what - len, format, args);
	va_end(args);
	return a->refuse.code ? err_set(e, a->refuse.code, "%s", a->refuse.text) : 0;
}

#define or_dash(text) ((text) && *(text) ? (text) : "-")
static inline int act_enqueue(struct control *a, const struct job_request *q, int64_t *job, struct fw_err *e)
{
	*job = 4711;
	return note(a, e, "enqueue %s %s %s %s %s %s %d\n", or_dash(q->repo), or_dash(q->base), or_dash(q->target),
		or_dash(q->suite), or_dash(q->device_kind), or_dash(q->cells_glob), q->quick);
}
static inline int act_cancel(struct control *a, int64_t job, const char *who, struct fw_err *e)
{
	return note(a, e, "cancel %lld %s\n", (long long)job, who);
}
static inline int act_retry(struct control *a, int64_t job, int64_t *new_job, struct fw_err *e)
{
	*new_job = job + 1000;
	return note(a, e, "retry %lld\n", (long long)job);
}
static inline int act_pause(struct control *a, const char *uuid, bool paused, const char *who, struct fw_err *e)
{
	return note(a, e, "%s %s %s\n", paused ? "pause" : "resume", uuid, who);
}
static inline int act_trigger(struct control *a, const char *repo, int64_t *fetch, struct fw_err *e)
{
	if (fetch)
		*fetch = 7;
	return note(a, e, "poke %s\n", repo);
}
static inline int act_secret(struct control *a, const char *repo, const char **secret, struct fw_err *e)
{
	if (strcmp(repo, "kernels") != 0 || !a->secret)
		return err_set(e, ERR_NOT_FOUND, "there is no webhook for %s", repo);
	*secret = a->secret;
	return 0;
}
static inline int act_health(struct control *a, struct fw_err *e)
{
	return a->refuse.code ? err_set(e, a->refuse.code, "%s", a->refuse.text) : 0;
}

static inline int act_bisect(struct control *a, const struct job_request *r, int64_t *id, struct fw_err *e)
{
	*id = 5;
	return note(a, e, "bisect %s %s..%s suite=%s cells=%s by %s\n", r->repo, r->base, r->target, r->suite ? r->suite : "",
		r->cells_glob ? r->cells_glob : "", r->who ? r->who : "nobody");
}
static inline int act_profile(struct control *a, const struct job_request *r, int64_t *id, struct fw_err *e)
{
	*id = 6;
	return note(a, e, "profile %s %s..%s alert=%d comparison=%d cells=%s\n", or_dash(r->repo), or_dash(r->base),
		or_dash(r->target), r->alert, r->comparison, r->cells_glob ? r->cells_glob : "");
}
static inline int act_import(
	struct control *a, const struct foreign_results *figures, int64_t *comparison, bool *is_new, struct fw_err *e)
{
	*comparison = 77;
	*is_new = figures->n != 2;
	return note(a, e, "import %s %s %s %s %s %d %s %g %g\n", or_dash(figures->repo), or_dash(figures->branch),
		or_dash(figures->commit), or_dash(figures->base), or_dash(figures->name), figures->n, figures->row[0].cell,
		figures->row[0].base_ms, figures->row[0].target_ms);
}
static inline int act_cancel_bisect(struct control *a, int64_t id, const char *who, struct fw_err *e)
{
	return note(a, e, "cancel bisect %lld %s\n", (long long)id, who);
}

static inline int act_alert(
	struct control *a, int64_t id, enum alertstate state, const char *who, const char *reason, struct fw_err *e)
{
	if (db_begin(a->db, e) != 0)
		return -1;
	if (store_alert_change(a->db, id, state, who, reason, 9000, e) == 0)
		return db_commit(a->db, e);
	db_rollback(a->db);
	return -1;
}

static inline int act_backup(struct control *a, struct fw_err *e)
{
	return note(a, e, "backup\n");
}
static inline int act_backup_take(struct control *a, char *path, size_t size, struct fw_err *e)
{
	if (!a->backup_is_whole)
		return a->refuse.code ? err_set(e, a->refuse.code, "%s", a->refuse.text) : 1;
	snprintf(path, size, "%s", a->backup);
	return 0;
}
static inline void act_backup_over(struct control *a)
{
	unlink(a->backup);
	note(a, NULL, "backup over\n");
}

static const struct site_actions actions = {
	.enqueue = act_enqueue,
	.cancel = act_cancel,
	.retry = act_retry,
	.pause = act_pause,
	.trigger = act_trigger,
	.secret = act_secret,
	.health = act_health,
	.bisect = act_bisect,
	.import = act_import,
	.profile = act_profile,
	.cancel_bisect = act_cancel_bisect,
	.alert = act_alert,
	.backup = act_backup,
	.backup_take = act_backup_take,
	.backup_discard = act_backup_over,
};

static inline int run_setup(void **state)
{
	struct run *run = calloc(1, sizeof *run);
	void *f;
	if (!run || fixture_setup(&f) != 0)
		return -1;
	run->f = f;
	fixture_ground(run->f);
	run->site.db = run->requested.db = run->f->db;
	snprintf(run->requested.backup, sizeof run->requested.backup, "%s/backup.download", run->f->folder);
	run->site.control = &run->requested;
	run->site.act = &actions;
	run->site.pages = page_cache_new();
	ok(site_start(&run->site, "127.0.0.1", 0, &run->http, &err));
	*state = run;
	return 0;
}

static inline int run_teardown(void **state)
{
	struct run *run = *state;
	void *f = run->f;
	http_stop(run->http);
	page_cache_free(run->site.pages);
	fixture_teardown(&f);
	free(run);
	return 0;
}

struct answer {
	int status;
	char *head, *body; /* point into `text` */
	size_t body_len;
	char *text;
};

/** A non-blocking connection. Own: the caller closes it. */
static inline int dial(struct run *run)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)http_port(run->http)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

/** Send bytes unchanged; returns the response until the daemon closes. Closes `fd`. Own: answer_free. */
static inline struct answer request_on(struct run *run, int fd, const char *request, size_t len)
{
	struct answer a = { 0 };
	struct buf in;
	char piece[65536];
	buf_init(&in, 64 << 20);
	size_t sent = 0;
	for (int64_t end_ns = clock_mono_ns() + INT64_C(120000000000);;) {
		ssize_t n = sent < len ? send(fd, request + sent, len - sent, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		http_run(run->http);
		n = recv(fd, piece, sizeof piece, 0);
		if (n == 0)
			break;
		if (n > 0)
			buf_append(&in, piece, (size_t)n);
		else
			poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 1);
		if (clock_mono_ns() > end_ns)
			fail_msg("no whole answer to: %.200s", request);
	}
	close(fd);
	assert_false(in.failed);
	char *gap = strstr(in.data, "\r\n\r\n");
	if (!gap || sscanf(in.data, "HTTP/1.1 %d", &a.status) != 1)
		fail_msg("no answer to: %.200s", request);
	*gap = '\0';
	a.text = a.head = in.data;
	a.body = gap + 4;
	a.body_len = in.len - (size_t)(a.body - in.data);
	return a;
}

static inline struct answer request_raw(struct run *run, const char *request, size_t len)
{
	return request_on(run, dial(run), request, len);
}

/** `headers` are lines that end in CRLF; `body` NULL sends none. */
static inline struct answer request_with(
	struct run *run, const char *method, const char *target, const char *headers, const char *body, size_t len)
{
	struct buf request;
	buf_init(&request, 4 << 20);
	buf_printf(&request, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s", method, target,
		http_port(run->http), headers);
	if (body)
		buf_printf(&request, "Content-Length: %zu\r\n", len);
	buf_puts(&request, "\r\n");
	if (body)
		buf_append(&request, body, len);
	struct answer a = request_raw(run, request.data, request.len);
	buf_fini(&request);
	return a;
}

static inline struct answer get(struct run *run, const char *target)
{
	return request_with(run, "GET", target, "", NULL, 0);
}

static inline struct answer post(struct run *run, const char *target, const char *body)
{
	return request_with(run, "POST", target, "Content-Type: application/json\r\n", body, strlen(body));
}

/** Number of occurrences of `what` in `text`. */
static inline int count(const char *text, const char *what)
{
	int n = 0;
	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static inline void answer_free(struct answer *a)
{
	free(a->text);
	memset(a, 0, sizeof *a);
}

/** Value of a header, "" if absent. Own: a static buffer. */
static inline const char *header_of(const struct answer *a, const char *name)
{
	static char value[512];
	for (const char *line = strstr(a->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
		size_t n = strlen(name);
		if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':') {
			const char *from = line + 3 + n + strspn(line + 3 + n, " ");
			snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r"), from);
			return value;
		}
	}
	return "";
}

/** The body as JSON (strict: valid UTF-8, no duplicate keys); frees the answer. Own: the caller's reference. */
static inline json_t *json_of(struct answer *a)
{
	json_error_t where;
	json_t *root = json_loadb(a->body, a->body_len, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		fail_msg("%s at %d in: %.2000s", where.text, where.position, a->body);
	answer_free(a);
	return root;
}

/** The answer is a problem document of `status` whose detail contains `says`. Frees the answer. */
static inline void assert_problem(struct answer a, int status, const char *says)
{
	if (a.status != status)
		fail_msg("%d instead of %d: %.500s", a.status, status, a.body);
	assert_string_equal(header_of(&a, "Content-Type"), "application/problem+json; charset=utf-8");
	json_t *root = json_of(&a);
	assert_int_equal(json_integer_value(json_object_get(root, "status")), status);
	assert_true(json_is_string(json_object_get(root, "type")));
	assert_true(json_string_length(json_object_get(root, "title")) > 0);
	const char *detail = json_string_value(json_object_get(root, "detail"));
	if (!detail || !strstr(detail, says))
		fail_msg("%s does not say %s", detail ? detail : "(no detail)", says);
	json_decref(root);
}

static inline json_t *get_json(struct run *run, const char *target)
{
	struct answer a = get(run, target);
	if (a.status != 200)
		fail_msg("%s: %d: %.500s", target, a.status, a.body);
	return json_of(&a);
}

#define text_at(o, key) json_string_value(json_object_get(o, key))
#define int_at(o, key)  json_integer_value(json_object_get(o, key))

#endif
