/*
 * fuzz_request.c - a request with arbitrary bytes at the whole site: the server that reads it, the route, the arguments, cursor
 * and times of lists, the JSON or form of a write, and the page or JSON of the answer, over a database with rows.
 *
 * An input is "METHOD TARGET", then lines of headers, an empty line and the body; the fuzzer adds Host, the length and the
 * signature of a webhook, as a client does. An input that begins with '!' is sent as it is. An answer must be complete, no failure
 * of the daemon, and of the type that it states: JSON that parses, or text without NUL.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/request by default).
 *
 * Attacks: web db daemon/lib
 */
#include "site_fill.h"

#include "fuzz_replay.h"

enum { TURNS_MAX = 400, REQUESTS_MAX = 2000, ANSWER_MAX = 16 << 20 };

#define SECRET "It's a Secret to Everybody"

static struct run *run;

/* ---- the calls of the daemon that other tests of the site do not make ---- */

static int act_calibrate(struct control *c, const struct job_request *q, int runs, int64_t *jobs, struct fw_err *e)
{
	for (int i = 0; i < runs; i++)
		jobs[i] = i + 1;
	return note(c, e, "calibrate %s %d\n", or_dash(q->repo), runs);
}

static int act_forget(struct control *c, const struct job_request *q, const char *who, int *n, struct fw_err *e)
{
	*n = 1;
	return note(c, e, "forget %s %s\n", or_dash(q->repo), who);
}

static int act_approve(
	struct control *c, const char *repo, int number, const char *commit, const char *who, bool *is_allowed, struct fw_err *e)
{
	*is_allowed = number % 2;
	return note(c, e, "approve %s %d %s %s\n", repo, number, commit, who);
}

static int act_raise_commit(struct control *c, int64_t repo, const char *target_sha, struct fw_err *e)
{
	return note(c, e, "await %lld %s\n", (long long)repo, target_sha);
}

static int act_fetch_result(
	struct control *c, const char *repo, int64_t look, bool *ended, const char **held, const char **error, struct fw_err *e)
{
	*ended = look % 2;
	*held = "a\nb\n";
	*error = "";
	return note(c, e, "fetched %s\n", repo);
}

static int act_judge(struct control *c, int64_t comparison, bool *changed, struct fw_err *e)
{
	*changed = comparison % 2;
	return note(c, e, "judge %lld\n", (long long)comparison);
}

static int act_redeliver(struct control *c, int64_t notification, struct fw_err *e)
{
	return note(c, e, "redeliver %lld\n", (long long)notification);
}

static int act_test_receiver(struct control *c, const char *name, int64_t *notification, struct fw_err *e)
{
	*notification = 3;
	return note(c, e, "test %s\n", name);
}

static void act_workers(const struct control *c, worker_status_fn *each, void *to)
{
	(void)c, (void)each, (void)to;
}

static int act_peer(struct control *c, const struct job_request *q, int64_t *jobs, int *n, struct fw_err *e)
{
	jobs[0] = 9;
	*n = 1;
	return note(c, e, "peer %s %s\n", or_dash(q->repo), or_dash(q->base_provider));
}

static int act_compare_files(struct control *c, const struct site_files *files, const void *request, struct fw_err *e)
{
	(void)request;
	note(c, NULL, "compare %.40s\n", or_dash(files->format));
	return err_set(e, ERR_BUSY, "too many comparisons");
}

static void act_over(struct control *c, const void *request)
{
	(void)c, (void)request;
}

static int act_login_begin(struct control *c, const void *request, const char *client, struct fw_err *e)
{
	(void)c, (void)request, (void)client;
	return err_set(e, ERR_NOT_FOUND, "there is no provider");
}

static int act_login_code(struct control *c, const void *request, const struct site_code *code, struct fw_err *e)
{
	(void)c, (void)request, (void)code;
	return err_set(e, ERR_NOT_FOUND, "there is no provider");
}

static int act_forge_event(struct control *c, const char *repo, const char *body, size_t len, struct fw_err *e)
{
	return note(c, e, "event %s %.*s\n", repo, (int)(len < 20 ? len : 20), body);
}

static void close_site(void)
{
	void *state = run;

	if (run)
		run_teardown(&state);
	run = NULL;
}

static void open_site(void)
{
	static struct site_actions all;
	static int requests;
	void *state;

	if (run && ++requests < REQUESTS_MAX) /* writes add rows, so that the site begins again now and then */
		return;
	if (!run)
		must(atexit(close_site) == 0, "no memory");
	close_site();
	requests = 0;
	must(run_setup(&state) == 0, "no site");
	all = actions;
	all.calibrate = act_calibrate, all.forget = act_forget, all.approve = act_approve, all.raise_commit = act_raise_commit;
	all.fetch_result = act_fetch_result, all.judge = act_judge, all.redeliver = act_redeliver,
	all.test_receiver = act_test_receiver;
	all.workers = act_workers, all.peer = act_peer, all.compare_files = act_compare_files,
	all.compare_files_finish = act_over;
	all.login_begin = act_login_begin, all.login_code = act_login_code, all.login_finish = act_over;
	all.forge_event = act_forge_event;
	run = state;
	run->site.act = &all;
	run->requested.secret = SECRET;
	fill(run);
}

/* ---- a request ---- */

/* A client's request from an input. Shape: out empty. */
static void write_request(struct buf *out, const char *data, size_t size)
{
	const char *line_end = memchr(data, '\n', size), *gap = memmem(data, size, "\n\n", 2);
	size_t line = line_end ? (size_t)(line_end - data) : size;
	const char *body = gap ? gap + 2 : data + size;
	size_t len = (size_t)(data + size - body);

	buf_append(out, data, line);
	buf_printf(out, " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n", http_port(run->http));
	for (const char *at = data + line + 1; gap && at < gap; at++) {
		const char *end = memchr(at, '\n', (size_t)(gap - at));
		end = end ? end : gap;
		buf_append(out, at, (size_t)(end - at));
		buf_puts(out, "\r\n");
		at = end;
	}
	if (line > 4 && memcmp(data, "POST", 4) == 0)
		buf_printf(out, "Content-Length: %zu\r\n", len);
	if (memmem(data, line, "/hooks/", 7)) {
		unsigned char mac[32];
		char hex[65];
		hash_hmac(SECRET, strlen(SECRET), body, len, mac);
		hash_to_hex(mac, 32, hex);
		buf_printf(out, "X-Hub-Signature-256: sha256=%s\r\n", hex);
	}
	buf_puts(out, "\r\n");
	buf_append(out, body, len);
}

/* Send it and read the answer. False: the server did not end the connection, because the request is incomplete, or a stream. */
static bool exchange(const struct buf *request, struct buf *answer)
{
	static char piece[65536];
	size_t sent = 0;
	bool is_over = false;
	int fd = dial(run);

	for (int turn = 0; turn < TURNS_MAX && !is_over; turn++) {
		ssize_t n = sent < request->len ? send(fd, request->data + sent, request->len - sent, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		http_run(run->http);
		while ((n = recv(fd, piece, sizeof piece, 0)) > 0)
			buf_append(answer, piece, (size_t)n);
		is_over = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
		if (sent == request->len && turn > 20 && answer->len == 0)
			break;
	}
	close(fd);
	for (int turn = 0; turn < 3; turn++) /* so that the server has closed it, too */
		http_run(run->http);
	return is_over;
}

/* Whether the header's value contains the word. */
static bool has_value(const char *head, size_t len, const char *name, const char *word)
{
	char start[64];
	int n = snprintf(start, sizeof start, "\r\n%s: ", name);
	const char *at = memmem(head, len, start, (size_t)n), *head_end = head + len;

	if (!at)
		return false;
	at += n;
	const char *end = memmem(at, (size_t)(head_end - at), "\r\n", 2);
	return memmem(at, (size_t)((end ? end : head_end) - at), word, strlen(word)) != NULL;
}

static void check_answer(const char *data, size_t len)
{
	int status = 0;
	const char *gap = memmem(data, len, "\r\n\r\n", 4);

	must(gap && sscanf(data, "HTTP/1.1 %d", &status) == 1, "an answer without a head");
	must(status >= 100 && status < 600 && status != 500, "a request that the daemon fails on");
	const char *body = gap + 4;
	size_t body_len = len - (size_t)(body - data);
	size_t head_len = (size_t)(gap - data);
	bool is_json = has_value(data, head_len, "Content-Type", "json");
	bool is_coded = has_value(data, head_len, "Transfer-Encoding", "chunked") ||
			has_value(data, head_len, "Content-Encoding", "gzip");

	must(!memchr(data, 0, head_len), "a head with a NUL");
	if (is_coded || body_len == 0 || status == 304)
		return;
	if (is_json) {
		json_t *root = json_loadb(body, body_len, JSON_REJECT_DUPLICATES, NULL);
		must(root != NULL, "an answer of JSON that is none");
		json_decref(root);
	} else if (has_value(data, head_len, "Content-Type", "text/")) {
		must(!memchr(body, 0, body_len), "a text with a NUL");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf request, answer;

	open_site();
	buf_init(&request, 8 << 20);
	buf_init(&answer, ANSWER_MAX);
	if (size && data[0] == '!')
		buf_append(&request, data + 1, size - 1);
	else
		write_request(&request, (const char *)data, size);
	run->requested.what[0] = '\0';
	bool is_over = exchange(&request, &answer);
	must(!answer.failed, "an answer without an end");
	if (is_over && answer.len && data[0] != '!') /* several answers otherwise */
		check_answer(answer.data, answer.len);
	buf_fini(&answer);
	buf_fini(&request);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/request", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
