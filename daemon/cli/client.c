#include "cli/internal.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 << 20, MEMBERS_MAX = 64 << 10, CONNECT_TIMEOUT_MS = 3000, TIMEOUT_MS = 30000, BACKUP_TIMEOUT_MS = 600000 };
enum { REPEATS_MAX = 5, WAIT_S = 5, WAIT_MAX_S = 60 /* after a refusal with 429 */ };

struct client {
	char server[256];
	char bearer[256];  /* name of a header to read, "" none */
	char ca_file[512]; /* trusted certificates; "": the system's */
	CURL *curl;
	long timeout_ms;  /* for calls with a JSON answer */
	long status;      /* of the last answer; 0 none */
	char *refusal;    /* the error of every request; NULL: none */
	int socket_errno; /* of a socket that could not be created for the last request; 0: none */
	bool is_hurried;  /* waits for nothing */
};

/* ---- what this machine lacks, which libcurl may report as if the server did not answer ---- */

static _Atomic bool has_lacked_memory; /* since the last answer; libcurl resolves names in a thread */

static void *note_lack(void *p)
{
	if (!p)
		has_lacked_memory = true;
	return p;
}

static void *curl_malloc(size_t size)
{
	return note_lack(malloc(size));
}

static void *curl_realloc(void *old, size_t size)
{
	return note_lack(realloc(old, size ? size : 1));
}

static void *curl_calloc(size_t n, size_t size)
{
	return note_lack(calloc(n, size));
}

static char *curl_strdup(const char *text)
{
	return note_lack(strdup(text));
}

bool client_start(void)
{
	return curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_malloc, free, curl_realloc, curl_strdup, curl_calloc) == CURLE_OK;
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct client *c = arg;
	(void)purpose;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	c->socket_errno = fd < 0 ? errno : 0;
	return fd;
}

int client_open(const char *server, const char *token, struct client **out, struct fw_err *err)
{
	if (strncmp(server, "http://", 7) != 0 && strncmp(server, "https://", 8) != 0)
		return err_set(err, ERR_INVALID, "server %s: must begin with http:// or https://", server);
	struct client *c = mem_alloc_zero(1, sizeof *c);
	if (!(c->curl = curl_easy_init())) {
		free(c);
		return err_memory(err, "libcurl did not start");
	}
	if ((size_t)snprintf(c->server, sizeof c->server, "%s", server) >= sizeof c->server) {
		client_close(c);
		return err_set(err, ERR_INVALID, "server: the address is longer than %zu bytes", sizeof c->server - 1);
	}
	if (token && (size_t)snprintf(c->bearer, sizeof c->bearer, "Authorization: Bearer %s", token) >= sizeof c->bearer) {
		client_close(c);
		return err_set(err, ERR_INVALID, "the access token is too long");
	}
	size_t len = strlen(c->server);
	if (len && c->server[len - 1] == '/')
		c->server[len - 1] = '\0';
	c->timeout_ms = TIMEOUT_MS;
	*out = c;
	return 0;
}

void client_open_refusing(const char *why, struct client **out)
{
	struct client *c = mem_alloc_zero(1, sizeof *c);
	c->refusal = mem_copy_text(why);
	c->refusal[strcspn(why, "\n")] = '\0';
	*out = c;
}

int client_trust(struct client *c, const char *ca_file, struct fw_err *err)
{
	if (access(ca_file, R_OK) != 0)
		return err_sys(err, "cannot read the certificates in %s", ca_file);
	if ((size_t)snprintf(c->ca_file, sizeof c->ca_file, "%s", ca_file) >= sizeof c->ca_file)
		return err_set(err, ERR_INVALID, "the path of the certificates is longer than %zu bytes", sizeof c->ca_file - 1);
	return 0;
}

void client_set_timeout(struct client *c, long timeout_ms)
{
	c->timeout_ms = timeout_ms;
	c->is_hurried = true;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	if (c->curl)
		curl_easy_cleanup(c->curl);
	free(c->refusal);
	free(c);
}

int client_reopen(const struct client *c, struct client **out, struct fw_err *err)
{
	if (c->refusal)
		return err_set(err, ERR_INVALID, "%s", c->refusal);
	int result = client_open(c->server, NULL, out, err);
	if (result == 0) {
		memcpy((*out)->bearer, c->bearer, sizeof c->bearer);
		memcpy((*out)->ca_file, c->ca_file, sizeof c->ca_file);
	}
	return result;
}

long client_status(const struct client *c)
{
	return c->status;
}

const char *client_server(const struct client *c)
{
	return c->server;
}

/* Destination of an answer: a refusal is always collected, because its message becomes the error. */
struct sink {
	CURL *curl;
	struct buf *text;
	int fd;       /* -1: everything into `text` */
	long wants;   /* the status whose answer goes to `fd` */
	int64_t from; /* number of bytes that exist already */
	int write_errno;
};

static size_t take(char *data, size_t size, size_t n, void *arg)
{
	struct sink *sink = arg;
	long status = 0;
	size_t len = size * n;
	if (sink->fd < 0 || curl_easy_getinfo(sink->curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status != sink->wants) {
		buf_append(sink->text, data, len);
		return sink->text->failed ? 0 : len;
	}
	if (fd_write(sink->fd, data, len) == 0)
		return len;
	sink->write_errno = errno;
	return 0;
}

/* Return the advice for an answer without a message, such as that of a proxy. */
static const char *remedy_of(long status)
{
	return status == 429                                     ? ": too many requests; try again later"
	       : status == 502 || status == 503 || status == 504 ? ": the daemon is not available now; try again later"
								 : "";
}

/* The message of a problem document, or the status. */
static int refuse(const struct client *c, long status, const struct buf *answer, struct fw_err *err)
{
	json_t *problem = json_loadb(answer->data, answer->len, 0, NULL);
	const char *detail = json_string_value(json_object_get(problem, "detail"));
	enum err_code code = status == 404                    ? ERR_NOT_FOUND
			     : status == 409                  ? ERR_CONFLICT
			     : status == 429 || status == 503 ? ERR_BUSY
			     : status >= 500                  ? ERR_INTERNAL
							      : ERR_INVALID;
	if (detail)
		err_set(err, code, "%s", detail);
	else
		err_set(err, code, "%s answers with status %ld%s", c->server, status, remedy_of(status));
	json_decref(problem);
	return -1;
}

static bool set_options(
	struct client *c, const char *url, struct curl_slist *headers, struct sink *sink, long timeout_ms, char *why)
{
	curl_easy_reset(c->curl);
	c->socket_errno = 0;
	return curl_easy_setopt(c->curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_OPENSOCKETDATA, c) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_URL, url) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*") == CURLE_OK &&
	       (!c->ca_file[0] || (curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca_file) == CURLE_OK &&
					  curl_easy_setopt(c->curl, CURLOPT_CAPATH, NULL) == CURLE_OK)) &&
	       curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, sink) == CURLE_OK &&
	       curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK;
}

static bool is_shortage(const struct client *c, CURLcode code)
{
	const char *host = strstr(c->server, "://");
	bool is_address = host && (host[3] == '[' || strspn(host + 3, "0123456789.") == strcspn(host + 3, ":/"));
	long number = 0;
	if (code == CURLE_OUT_OF_MEMORY || code == CURLE_FAILED_INIT || has_lacked_memory || err_is_shortage(c->socket_errno))
		return true;
	if (code == CURLE_COULDNT_RESOLVE_HOST && is_address) /* which needs no server */
		return true;
	return curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &number) == CURLE_OK && err_is_shortage((int)number);
}

/* Error of a call without an answer. */
static int explain(struct client *c, CURLcode code, const struct sink *sink, const char *why, struct fw_err *err)
{
	curl_off_t connected_us = 0;
	if (sink->write_errno)
		return err_set(err, ERR_FULL, "cannot write the answer: %s", strerror(sink->write_errno));
	if (sink->text->failed)
		return err_set(err, ERR_FULL, "%s", buf_why(sink->text, "the daemon's answer is too large"));
	if (is_shortage(c, code)) {
		err_set(err, ERR_FULL,
			"this machine lacks memory or file descriptors for a request to %s: %s; end other programs, then try again",
			c->server, why[0] ? why : curl_easy_strerror(code));
		err->is_shortage = true;
		return -1;
	}
	if (curl_easy_getinfo(c->curl, CURLINFO_CONNECT_TIME_T, &connected_us) != CURLE_OK)
		connected_us = 0;
	if (code == CURLE_OPERATION_TIMEDOUT && connected_us > 0)
		return err_set(err, ERR_TIMEOUT, "%s did not answer in time", c->server);
	if (code == CURLE_SSL_CACERT_BADFILE && c->ca_file[0])
		return err_set(err, ERR_INVALID, "there is no certificate in PEM in %s", c->ca_file);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return err_set(err, ERR_IO, "the certificate of %s is not trusted: %s (see doc/troubleshooting.md#untrusted)",
			c->server, why[0] ? why : curl_easy_strerror(code));
	return err_set(err, ERR_IO, "cannot reach flopwatchd at %s: %s; is it running? (see doc/troubleshooting.md#unreachable)",
		c->server, why[0] ? why : curl_easy_strerror(code));
}

/* Wait for the time in the daemon's Retry-After. The daemon has not begun the request. */
static void wait_for_limit(struct client *c)
{
	curl_off_t wait_s = 0;
	if (curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &wait_s) != CURLE_OK || wait_s <= 0)
		wait_s = WAIT_S;
	if (wait_s > WAIT_MAX_S)
		wait_s = WAIT_MAX_S;
	fprintf(stderr, "flopwatch: the limit of requests per minute is reached; waiting %d s\n", (int)wait_s);
	(void)nanosleep(&(struct timespec){ .tv_sec = (time_t)wait_s }, NULL);
}

/* Send the prepared request, and again after each answer 429. */
static CURLcode perform(struct client *c, struct sink *sink, long *status)
{
	for (int repeats = 0;; repeats++) {
		CURLcode code = curl_easy_perform(c->curl);
		if (code != CURLE_OK || curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status) != CURLE_OK ||
			*status != 429 || repeats == REPEATS_MAX || c->is_hurried)
			return code;
		wait_for_limit(c);
		buf_clear(sink->text);
	}
}

static int call(struct client *c, const char *method, const char *path, const char *body, struct sink *sink, long timeout_ms,
	struct fw_err *err)
{
	struct buf url;
	if (c->refusal)
		return err_set(err, ERR_INVALID, "%s", c->refusal);
	buf_init(&url, 16384);
	buf_printf(&url, "%s%s", c->server, path);
	if (url.failed) {
		err_set(err, ERR_INVALID, "%s", buf_why(&url, "the request is too long"));
		buf_fini(&url);
		return -1;
	}
	char why[CURL_ERROR_SIZE] = "";
	sink->curl = c->curl;
	struct curl_slist bearer = { .data = c->bearer, .next = NULL };
	struct curl_slist type = { .data = (char[]){ "Content-Type: application/json" }, .next = c->bearer[0] ? &bearer : NULL };
	struct curl_slist headers = { .data = (char[]){ "Accept: application/json, */*;q=0.5" }, .next = &type };
	bool ready = set_options(c, url.data, &headers, sink, timeout_ms, why);
	if (ready && strcmp(method, "POST") == 0)
		ready = curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body)) == CURLE_OK &&
			curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body) == CURLE_OK;
	if (ready && sink->from > 0)
		ready = curl_easy_setopt(c->curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)sink->from) == CURLE_OK;
	long status = 0;
	CURLcode code = ready ? perform(c, sink, &status) : CURLE_FAILED_INIT;
	c->status = status;
	int result = 0;
	if (code == CURLE_OK)
		has_lacked_memory = false;
	if (code != CURLE_OK)
		result = explain(c, code, sink, why, err);
	else if (status < 200 || status > 299)
		result = refuse(c, status, sink->text, err);
	buf_fini(&url);
	return result;
}

static int as_json(const struct buf *answer, json_t **out, struct fw_err *err)
{
	json_error_t where;
	*out = json_loadb(answer->data, answer->len, 0, &where);
	return *out ? 0 : err_set(err, ERR_PROTOCOL, "the daemon's answer is not JSON: line %d: %s", where.line, where.text);
}

int client_get(struct client *c, const char *path, json_t **out, struct fw_err *err)
{
	struct buf answer;
	buf_init(&answer, ANSWER_MAX);
	int result = client_get_raw(c, path, &answer, err);
	if (result == 0)
		result = as_json(&answer, out, err);
	buf_fini(&answer);
	return result;
}

/* Get the page at `path` from `cursor` on. */
static int get_page(struct client *c, const char *path, const char *cursor, json_t **out, struct fw_err *err)
{
	const struct member query[] = { { "limit", .number = 500 }, { "cursor", .text = cursor }, { 0 } };
	return client_get_query(c, path, query, out, err);
}

int client_get_all(struct client *c, const char *path, json_t **out, struct fw_err *err)
{
	const char *cursor;
	if (get_page(c, path, NULL, out, err) != 0)
		return -1;
	while ((cursor = json_string_value(json_object_get(*out, "next_cursor")))) {
		json_t *page = NULL;
		int result = get_page(c, path, cursor, &page, err);
		if (result == 0)
			result = json_array_extend(json_object_get(*out, "items"), json_object_get(page, "items"));
		if (result == 0)
			result = json_object_set(*out, "next_cursor", json_object_get(page, "next_cursor"));
		json_decref(page);
		if (result == 0)
			continue;
		json_decref(*out);
		*out = NULL;
		return err->code ? -1 : err_set(err, ERR_INTERNAL, "the list of %s cannot be put together", path);
	}
	return 0;
}

int client_get_raw(struct client *c, const char *path, struct buf *out, struct fw_err *err)
{
	struct sink sink = { .text = out, .fd = -1 };
	return call(c, "GET", path, "", &sink, c->timeout_ms, err);
}

int client_post(struct client *c, const char *path, const char *body, json_t **out, struct fw_err *err)
{
	struct buf answer;
	buf_init(&answer, ANSWER_MAX);
	struct sink sink = { .text = &answer, .fd = -1 };
	int result = call(c, "POST", path, body, &sink, c->timeout_ms, err);
	if (result == 0 && out)
		result = as_json(&answer, out, err);
	buf_fini(&answer);
	return result;
}

int client_post_step(struct client *c, const char *collection, const char *id, const char *step, const char *body, json_t **out,
	struct fw_err *err)
{
	struct buf path;
	buf_init(&path, 4096);
	buf_printf(&path, "/api/v1/%s/", collection);
	client_argument(&path, id);
	buf_printf(&path, "/%s", step);
	int result = path.failed ? err_set(err, ERR_INVALID, "%.40s...: %s", id, buf_why(&path, "no such name"))
				 : client_post(c, path.data, body, out, err);
	buf_fini(&path);
	return result;
}

void client_write(struct buf *out, const struct member *members)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	for (const struct member *m = members; m->key; m++)
		if (m->text)
			jsonw_kv_string(&j, m->key, m->text);
		else if (m->number || m->is_zero)
			jsonw_kv_int(&j, m->key, m->number);
		else if (m->is_set)
			jsonw_kv_bool(&j, m->key, true);
	jsonw_object_end(&j);
}

int client_post_members(struct client *c, const char *path, const struct member *members, json_t **out, struct fw_err *err)
{
	struct buf body;
	buf_init(&body, MEMBERS_MAX);
	client_write(&body, members);
	int result = body.failed ? err_set(err, ERR_INVALID, "%s", buf_why(&body, "a name is too long"))
				 : client_post(c, path, body.data, out, err);
	buf_fini(&body);
	return result;
}

int client_post_to_file(struct client *c, const char *path, int fd, struct fw_err *err)
{
	struct buf refusal;
	buf_init(&refusal, ANSWER_MAX);
	struct sink sink = { .text = &refusal, .fd = fd, .wants = 200 };
	int result = call(c, "POST", path, "", &sink, BACKUP_TIMEOUT_MS, err);
	buf_fini(&refusal);
	return result;
}

int client_get_to_file(struct client *c, const char *path, int64_t from, int fd, struct fw_err *err)
{
	struct buf refusal;
	buf_init(&refusal, ANSWER_MAX);
	struct sink sink = { .text = &refusal, .fd = fd, .wants = from > 0 ? 206 : 200, .from = from };
	int result = call(c, "GET", path, "", &sink, BACKUP_TIMEOUT_MS, err);
	if (result == 0 && refusal.len > 0)
		result = err_set(err, ERR_PROTOCOL, "the answer to %s has another part than the request", path);
	buf_fini(&refusal);
	return result;
}

void client_argument(struct buf *out, const char *text)
{
	percent_encode(out, text, strlen(text), "-._~");
}

void client_query(struct buf *path, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(path, "%c%s=", strchr(path->data, '?') ? '&' : '?', name);
	client_argument(path, value);
}

int client_get_branches(struct client *c, const char *repo, const char *branch, json_t **out, struct fw_err *err)
{
	struct buf path;
	buf_init(&path, 1 << 16);
	buf_puts(&path, "/api/v1/branches");
	client_query(&path, "branch", branch);
	client_query(&path, "repo", repo);
	int result = path.failed ? err_set(err, ERR_INVALID, "%s", buf_why(&path, "the name of the branch is too long"))
				 : client_get_all(c, path.data, out, err);
	buf_fini(&path);
	return result;
}

int client_get_query(struct client *c, const char *path, const struct member *query, json_t **out, struct fw_err *err)
{
	char digits[24];
	struct buf whole;
	buf_init(&whole, 8192);
	buf_puts(&whole, path);
	for (const struct member *q = query; q->key; q++) {
		snprintf(digits, sizeof digits, "%lld", q->number);
		client_query(&whole, q->key, q->number ? digits : q->text);
	}
	int result = whole.failed ? err_set(err, ERR_INVALID, "%s", buf_why(&whole, "a name is too long"))
				  : client_get(c, whole.data, out, err);
	buf_fini(&whole);
	return result;
}

int client_get_at(struct client *c, const char *prefix, const char *id, const char *suffix, json_t **out, struct fw_err *err)
{
	struct buf path;
	buf_init(&path, 1 << 16);
	buf_puts(&path, prefix);
	client_argument(&path, id);
	buf_puts(&path, suffix);
	int result = path.failed ? err_set(err, ERR_INVALID, "%s", buf_why(&path, "a name is too long"))
				 : client_get(c, path.data, out, err);
	buf_fini(&path);
	return result;
}

/* ---- events ------------------------------------------------------------------------------------------------------------ */

struct stream {
	CURL *curl;
	struct buf text;    /* received beginning of a line */
	struct buf refusal; /* the answer, if its status is not 200 */
	char kind[64];
	long long *last;
	stream_fn *each;
	stream_idle_fn *idle;
	void *arg;
	bool ended;
};

static void take_line(struct stream *s, const char *line)
{
	if (strncmp(line, "id: ", 4) == 0) {
		*s->last = strtoll(line + 4, NULL, 10);
	} else if (strncmp(line, "event: ", 7) == 0) {
		snprintf(s->kind, sizeof s->kind, "%s", line + 7);
	} else if (strncmp(line, "data: ", 6) == 0) {
		json_t *data = json_loads(line + 6, 0, NULL);
		s->ended = s->ended || s->each(s->arg, s->kind, data) != 0;
		json_decref(data);
	}
}

static size_t take_events(char *data, size_t size, size_t n, void *arg)
{
	struct stream *s = arg;
	char *end;
	long status = 0;
	if (curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status != 200) {
		buf_append(&s->refusal, data, size * n);
		return s->refusal.failed ? 0 : size * n;
	}
	buf_append(&s->text, data, size * n);
	while (!s->text.failed && !s->ended && (end = memchr(s->text.data, '\n', s->text.len))) {
		*end = '\0';
		take_line(s, s->text.data);
		buf_consume(&s->text, (size_t)(end - s->text.data) + 1);
	}
	return s->text.failed || s->ended ? 0 : size * n;
}

static int while_waiting(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct stream *s = arg;
	(void)a, (void)b, (void)c, (void)d;
	s->ended = s->ended || s->idle(s->arg) != 0;
	return s->ended;
}

int client_stream(struct client *c, long long *last, stream_fn *each, stream_idle_fn *idle, void *arg, struct fw_err *err)
{
	struct stream s = { .curl = c->curl, .last = last, .each = each, .idle = idle, .arg = arg };
	if (c->refusal)
		return err_set(err, ERR_INVALID, "%s", c->refusal);
	struct buf url;
	char why[CURL_ERROR_SIZE] = "", from[64];
	snprintf(from, sizeof from, "Last-Event-ID: %lld", *last);
	struct curl_slist bearer = { .data = c->bearer };
	struct curl_slist resume = { .data = from, .next = c->bearer[0] ? &bearer : NULL };
	struct curl_slist accept = { .data = (char[]){ "Accept: text/event-stream" }, .next = *last ? &resume : resume.next };
	buf_init(&s.text, 4 << 20);
	buf_init(&s.refusal, ANSWER_MAX);
	buf_init(&url, 4096);
	buf_printf(&url, "%s/api/v1/events", c->server);
	struct sink sink = { .curl = c->curl, .text = &s.refusal, .fd = -1 };
	long status = 0;
	bool ready = !url.failed && set_options(c, url.data, &accept, &sink, 0, why) &&
		     curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_events) == CURLE_OK &&
		     curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &s) == CURLE_OK &&
		     curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
		     curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, while_waiting) == CURLE_OK &&
		     curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, &s) == CURLE_OK;
	CURLcode code = ready ? curl_easy_perform(c->curl) : CURLE_FAILED_INIT;
	int result = 0;
	if (s.ended)
		result = 0;
	else if (url.failed)
		result = err_set(err, ERR_INVALID, "%s", buf_why(&url, "the request is too long"));
	else if (code == CURLE_OK && curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status != 200)
		result = refuse(c, status, &s.refusal, err);
	else if (s.text.failed)
		result = err_set(err, ERR_FULL, "%s", buf_why(&s.text, "an event of the daemon is too large"));
	else if (code == CURLE_OK)
		result = err_set(err, ERR_CONFLICT, "%s ended the stream of events", c->server);
	else
		result = explain(c, code, &sink, why, err);
	buf_fini(&s.text);
	buf_fini(&s.refusal);
	buf_fini(&url);
	return result;
}
