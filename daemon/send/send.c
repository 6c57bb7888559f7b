/* send.c - one notification over HTTP or SMTP; documented in internal.h. */
#include "send/internal.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CONNECT_TIMEOUT_MS = 5000, TIMEOUT_MS = 15000, ANSWER_MAX = 1 << 20, READ_MAX = 1 << 16, RETRY_AFTER_MAX_S = 3600 };
enum { LIST_MAX = 8 << 20 /* bytes of a page of comments */, COMMENTS_MAX = 100, MEMBER_MAX = 128 };

/* Read "Name: value" lines from an object of texts. */
static int read_headers(json_t *headers, struct notification *out, struct fw_err *err)
{
	const char *name;
	json_t *value;
	json_object_foreach(headers, name, value)
	{
		const char *v = json_string_value(value);
		if (!v || !*name || strpbrk(name, "\r\n: ") || strpbrk(v, "\r\n"))
			return err_set(err, ERR_INVALID, "notification: header %.40s is not one line of text", name);
		if (out->n_header == SEND_HEADERS_MAX)
			return err_set(err, ERR_INVALID, "notification: headers: more than %d", SEND_HEADERS_MAX);
		size_t size = strlen(name) + strlen(v) + 3;
		char *line = malloc(size);
		if (!line)
			return err_set(err, ERR_INTERNAL, "out of memory");
		snprintf(line, size, "%s: %s", name, v);
		out->header[out->n_header++] = line;
	}
	return 0;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Copy an optional text; without it `*out` remains NULL. */
static int copy_text(const json_t *o, const char *key, char **out, struct fw_err *err)
{
	const json_t *value = json_object_get(o, key);
	const char *text = json_string_value(value);
	if (!value || json_is_null(value))
		return 0;
	if (!text)
		return err_set(err, ERR_INVALID, "notification: %s must be text", key);
	*out = strdup(text);
	return *out ? 0 : err_set(err, ERR_INTERNAL, "out of memory");
}

/* Copy an address of the envelope, which becomes a part of a line of SMTP, so it must not contain others. */
static int copy_address(const json_t *value, const char *key, char **out, struct fw_err *err)
{
	const char *text = json_string_value(value);
	if (!text || !strchr(text, '@') || strpbrk(text, "\r\n<> "))
		return err_set(err, ERR_INVALID, "notification: mail.%s must be an address such as name@example.org", key);
	*out = strdup(text);
	return *out ? 0 : err_set(err, ERR_INTERNAL, "out of memory");
}

static int read_mail(const json_t *o, struct send_mail *m, struct fw_err *err)
{
	const json_t *to = json_object_get(o, "to"), *one;
	const char *tls = json_string_value(json_object_get(o, "tls"));
	size_t i;
	if (json_array_size(to) == 0 || json_array_size(to) > SEND_RECIPIENTS_MAX)
		return err_set(
			err, ERR_INVALID, "notification: mail.to must be a list of 1 to %d addresses", SEND_RECIPIENTS_MAX);
	if (tls && strcmp(tls, "none") != 0 && strcmp(tls, "required") != 0)
		return err_set(err, ERR_INVALID, "notification: mail.tls must be required or none");
	m->is_plain = tls && strcmp(tls, "none") == 0;
	if (copy_address(json_object_get(o, "from"), "from", &m->from, err) != 0)
		return -1;
	json_array_foreach(to, i, one)
	{
		if (copy_address(one, "to", &m->to[m->n_to], err) != 0)
			return -1;
		m->n_to++;
	}
	return copy_text(o, "user", &m->user, err) != 0 ? -1 : copy_text(o, "password", &m->password, err);
}

static const char *const methods[] = { "POST", "PUT", "PATCH", "GET" };

static int read_keys(json_t *root, struct notification *out, struct fw_err *err)
{
	const char *url = json_string_value(json_object_get(root, "url"));
	const char *body = json_string_value(json_object_get(root, "body"));
	const char *method = json_string_value(json_object_get(root, "method"));
	json_t *headers = json_object_get(root, "headers"), *internal = json_object_get(root, "allow_internal");
	json_t *mail = json_object_get(root, "mail");
	out->is_mail = mail != NULL;
	if (mail && (!json_is_object(mail) || !url || (!begins_with(url, "smtp://") && !begins_with(url, "smtps://"))))
		return err_set(err, ERR_INVALID, "notification: url of a mail must begin with smtp:// or smtps://");
	if (!mail && (!url || (!begins_with(url, "https://") && !begins_with(url, "http://"))))
		return err_set(err, ERR_INVALID, "notification: url must begin with http:// or https://");
	if (!body)
		return err_set(err, ERR_INVALID, "notification: body must be text");
	if (headers && !json_is_object(headers))
		return err_set(err, ERR_INVALID, "notification: headers must be an object");
	if (internal && !json_is_boolean(internal))
		return err_set(err, ERR_INVALID, "notification: allow_internal must be true or false");
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		if (strcmp(method ? method : "POST", methods[i]) == 0)
			out->method = methods[i];
	if (!out->method)
		return err_set(err, ERR_INVALID, "notification: method must be POST, PUT, PATCH or GET");
	out->url = strdup(url);
	out->body = strdup(body);
	out->allow_internal = json_is_true(internal);
	if (!out->url || !out->body)
		return err_set(err, ERR_INTERNAL, "out of memory");
	if (copy_text(root, "answer", &out->answer_key, err) != 0 || copy_text(root, "ca_file", &out->ca_file, err) != 0 ||
		copy_text(root, "line", &out->line, err) != 0)
		return -1;
	return mail ? read_mail(mail, &out->mail, err) : read_headers(headers, out, err);
}

int notification_read(const char *text, size_t len, struct notification *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	json_error_t where = { 0 };
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	int result;
	if (!root)
		result = err_set(err, ERR_INVALID, "notification: line %d: %s", where.line, where.text);
	else if (!json_is_object(root))
		result = err_set(err, ERR_INVALID, "notification: not an object");
	else
		result = read_keys(root, out, err);
	json_decref(root);
	if (result != 0)
		notification_fini(out);
	return result;
}

void notification_fini(struct notification *d)
{
	free(d->url);
	free(d->body);
	free(d->answer_key);
	free(d->line);
	free(d->ca_file);
	for (int i = 0; i < d->n_header; i++)
		free(d->header[i]);
	free(d->mail.from);
	free(d->mail.user);
	free(d->mail.password);
	for (int i = 0; i < d->mail.n_to; i++)
		free(d->mail.to[i]);
	memset(d, 0, sizeof *d);
}

static bool is_internal_v4(uint32_t a)
{
	static const struct {
		uint32_t net, bits;
	} internal[] = {
		{ 0x00000000, 8 },  /* this network */
		{ 0x0a000000, 8 },  /* private */
		{ 0x64400000, 10 }, /* carrier NAT */
		{ 0x7f000000, 8 },  /* loopback */
		{ 0xa9fe0000, 16 }, /* link-local, used by cloud metadata services */
		{ 0xac100000, 12 }, /* private */
		{ 0xc0000000, 24 }, /* protocol assignments */
		{ 0xc0000200, 24 }, /* documentation */
		{ 0xc0586300, 24 }, /* 6to4 relays */
		{ 0xc0a80000, 16 }, /* private */
		{ 0xc6120000, 15 }, /* benchmarks */
		{ 0xc6336400, 24 }, /* documentation */
		{ 0xcb007100, 24 }, /* documentation */
		{ 0xe0000000, 3 },  /* multicast and reserved */
	};
	for (size_t i = 0; i < sizeof internal / sizeof internal[0]; i++)
		if ((a ^ internal[i].net) >> (32 - internal[i].bits) == 0)
			return true;
	return false;
}

bool send_is_internal(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return is_internal_v4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
	if (address->sa_family != AF_INET6)
		return true;
	const unsigned char *b = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
	static const unsigned char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	static const unsigned char nat64[12] = { 0, 0x64, 0xff, 0x9b };
	uint32_t low = (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 | (uint32_t)b[14] << 8 | b[15];
	if (memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0)
		return is_internal_v4(low);
	/* only 2000::/3 is assigned to the internet; 2002::/16 contains an IPv4 address */
	if ((b[0] & 0xe0) != 0x20)
		return true;
	if (b[0] == 0x20 && b[1] == 0x02)
		return is_internal_v4((uint32_t)b[2] << 24 | (uint32_t)b[3] << 16 | (uint32_t)b[4] << 8 | b[5]);
	/* 2001::/23 protocol assignments (Teredo among them), 2001:db8::/32 and 3fff::/20 documentation */
	if (b[0] == 0x20 && b[1] == 0x01 && (b[2] < 2 || (b[2] == 0x0d && b[3] == 0xb8)))
		return true;
	return b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10;
}

struct guard {
	bool allow_internal, refused;
	int fd;           /* of the newest connection; -1: none */
	int socket_errno; /* of a socket that could not be created; 0: none */
	size_t answer_bytes, answer_max, read_max;
	struct buf answer; /* start of the response */
	const char *mail;  /* rest of the message to send */
};

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)purpose;
	struct guard *guard = arg;
	if (!guard->allow_internal && send_is_internal(&address->addr)) {
		guard->refused = true;
		return CURL_SOCKET_BAD;
	}
	guard->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	guard->socket_errno = guard->fd < 0 ? errno : 0;
	return guard->fd;
}

/* Store the start of the response, and end the request if it is too long. */
static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct guard *guard = arg;
	size_t bytes = size * n, space = guard->read_max - guard->answer.len;
	guard->answer_bytes += bytes;
	buf_append(&guard->answer, data, bytes < space ? bytes : space);
	return guard->answer_bytes > guard->answer_max ? 0 : bytes;
}

static size_t give_mail(char *to, size_t size, size_t n, void *arg)
{
	struct guard *guard = arg;
	size_t len = strlen(guard->mail), bytes = len < size * n ? len : size * n;
	memcpy(to, guard->mail, bytes);
	guard->mail += bytes;
	return bytes;
}

static bool set_body(CURL *curl, const struct notification *d)
{
	if (strcmp(d->method, "GET") == 0)
		return curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L) == CURLE_OK;
	return curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(d->body)) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDS, d->body) == CURLE_OK &&
	       (strcmp(d->method, "POST") == 0 || curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, d->method) == CURLE_OK);
}

static bool set_http(CURL *curl, const struct notification *d, struct curl_slist *headers)
{
	return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USERAGENT, "flopwatch/" FW_VERSION) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK && set_body(curl, d);
}

static bool set_mail(CURL *curl, const struct notification *d, struct curl_slist *recipients, struct guard *guard)
{
	const struct send_mail *m = &d->mail;
	guard->mail = d->body;
	return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USE_SSL, m->is_plain ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_MAIL_FROM, m->from) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients) == CURLE_OK &&
	       (!m->user || curl_easy_setopt(curl, CURLOPT_USERNAME, m->user) == CURLE_OK) &&
	       (!m->password || curl_easy_setopt(curl, CURLOPT_PASSWORD, m->password) == CURLE_OK) &&
	       curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_mail) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_READDATA, guard) == CURLE_OK;
}

/* Set libcurl's options. `list`: headers of HTTP, or recipients of a mail. */
static bool set_options(CURL *curl, const struct notification *d, struct curl_slist *list, struct guard *guard, char *why)
{
	return curl_easy_setopt(curl, CURLOPT_URL, d->url) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       (!d->ca_file || (curl_easy_setopt(curl, CURLOPT_CAINFO, d->ca_file) == CURLE_OK &&
				       curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) == CURLE_OK)) &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, guard) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, guard) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK &&
	       (d->is_mail ? set_mail(curl, d, list, guard) : set_http(curl, d, list));
}

/* Return 0, or -1 with the error of a request that libcurl has ended. */
static int judge(
	CURL *curl, const struct notification *d, CURLcode code, const struct guard *guard, const char *why, struct fw_err *err)
{
	long status = 0;
	if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK)
		status = 0;
	if (code == CURLE_OK) {
		if (d->is_mail || (status >= 200 && status <= 299) || (d->line && status == 304))
			return 0;
		return err_set(err, ERR_IO, "the receiver answered %ld%s", status,
			status >= 300 && status < 400 ? ", and redirects are not followed" : "");
	}
	if (guard->refused)
		return err_set(
			err, ERR_INVALID, "the address is an internal one; set allow_internal for this receiver to permit it");
	if (code == CURLE_OUT_OF_MEMORY || code == CURLE_FAILED_INIT || err_is_shortage(guard->socket_errno))
		return err_set(err, ERR_FULL, "this machine lacks memory or file descriptors for a connection: %s",
			guard->socket_errno ? strerror(guard->socket_errno) : curl_easy_strerror(code));
	if (guard->answer_bytes > guard->answer_max)
		return err_set(err, ERR_IO, "the receiver's answer is longer than %zu bytes", guard->answer_max);
	if (code == CURLE_USE_SSL_FAILED)
		return err_set(err, ERR_IO, "the mail server offers no STARTTLS; tls: none sends mails unencrypted");
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return err_set(err, ERR_IO,
			"the receiver's certificate is not trusted: %s; name a private authority's by ca_file",
			why[0] ? why : curl_easy_strerror(code));
	if (d->is_mail && status >= 400)
		return err_set(err, ERR_IO, "the mail server answered %ld: %s", status, why[0] ? why : curl_easy_strerror(code));
	return err_set(err, ERR_IO, "%s", why[0] ? why : curl_easy_strerror(code));
}

/* Copy the member `answer_key` of the response. Without it the answer is "", since the notification was delivered. */
static void take_member(const struct notification *d, const struct guard *guard, struct send_answer *answer)
{
	if (!d->answer_key || guard->answer.failed)
		return;
	json_t *root = json_loadb(guard->answer.data, guard->answer.len, 0, NULL);
	const json_t *value = json_object_get(root, d->answer_key);
	const char *text = json_string_value(value);
	if (text && strlen(text) < sizeof answer->answer)
		snprintf(answer->answer, sizeof answer->answer, "%s", text);
	else if (json_is_integer(value))
		snprintf(answer->answer, sizeof answer->answer, "%lld", (long long)json_integer_value(value));
	json_decref(root);
}

/* Return the number of the line of a body that is `text`, with spaces around it; -1: none. */
static int find_line(const char *body, const char *text)
{
	size_t len = strlen(text);
	int n = 0;
	for (const char *line = body; *line; line += strcspn(line, "\n"), line += *line == '\n', n++) {
		size_t end = strncmp(line, text, len) == 0 ? len + strspn(line + len, " \r") : 0;
		if (end && (line[end] == '\n' || !line[end]))
			return n;
	}
	return -1;
}

/* Copy a short member. Returns 0; -1: out of memory. */
static int copy_member(json_t *to, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);
	bool is_short =
		json_is_string(value) ? json_string_length(value) < MEMBER_MAX : json_is_integer(value) || json_is_boolean(value);
	return is_short ? json_object_set(to, key, value) : 0;
}

/* Return whether a member is missing, null, "", 0 or false. */
static bool is_blank(const json_t *value)
{
	return !value || json_is_null(value) || json_is_false(value) || (json_is_string(value) && !json_string_length(value)) ||
	       (json_is_integer(value) && json_integer_value(value) == 0);
}

/* Return whether a migration created the comment: its author at this forge may be the user who migrated the repository. */
static bool is_imported(const json_t *comment)
{
	static const char *const keys[] = { "original_author", "original_author_id", "imported" };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (!is_blank(json_object_get(comment, keys[i])))
			return true;
	return false;
}

/* Describe a comment for the daemon, without its text; NULL: out of memory. Own: json_decref. */
static json_t *describe_comment(const json_t *comment, int line)
{
	static const char *const keys[] = { "id", "created_at", "updated_at", "system" };
	static const char *const people[] = { "user", "author" };
	json_t *out = json_pack("{s:i,s:b}", "line", line, "imported", is_imported(comment));
	int result = out ? 0 : -1;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		result |= copy_member(out, comment, keys[i]);
	for (size_t i = 0; i < sizeof people / sizeof people[0]; i++) {
		const json_t *one = json_object_get(comment, people[i]);
		json_t *person = json_object();
		result |=
			copy_member(person, one, "id") | copy_member(person, one, "login") | copy_member(person, one, "username");
		result |= json_object_set_new(out, people[i], person);
	}
	if (result == 0)
		return out;
	json_decref(out);
	return NULL;
}

/* Find the comments with the line. Err: ERR_IO if the response is not a list. */
static int take_comments(const struct notification *d, const struct guard *guard, struct send_answer *answer, struct fw_err *err)
{
	json_t *list = guard->answer.failed ? NULL : json_loadb(guard->answer.data, guard->answer.len, 0, NULL);
	const json_t *one;
	size_t i;
	answer->comments = json_array();
	int result = json_is_array(list) ? 0 : err_set(err, ERR_IO, "the receiver's answer is not a list of comments");
	json_array_foreach(list, i, one)
	{
		const char *body = json_string_value(json_object_get(one, "body"));
		int line = body ? find_line(body, d->line) : -1;
		if (result != 0 || line < 0 || json_array_size(answer->comments) == COMMENTS_MAX)
			continue;
		if (json_array_append_new(answer->comments, describe_comment(one, line)) != 0)
			result = err_set(err, ERR_INTERNAL, "out of memory");
	}
	json_decref(list);
	return result;
}

/* Return the number in a header; -1: none. */
static long long read_number(CURL *curl, const char *name)
{
	struct curl_header *header;
	char *end;
	if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return -1;
	long long n = strtoll(header->value, &end, 10);
	return end == header->value || *end ? -1 : n;
}

/* Return the time until a forge's rate limit ends, if the limit is reached: its header has the second of the end. */
static long long rate_limit_s(CURL *curl)
{
	static const char *const names[][2] = { { "x-ratelimit-remaining", "x-ratelimit-reset" },
		{ "ratelimit-remaining", "ratelimit-reset" } };
	long long now = (long long)time(NULL);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		long long reset = read_number(curl, names[i][1]);
		if (read_number(curl, names[i][0]) == 0 && reset > now)
			return reset - now;
	}
	return 0;
}

/* Copy a header; "" if it does not fit. */
static void copy_header(CURL *curl, const char *name, char out[SEND_ANSWER_SIZE])
{
	struct curl_header *header;
	bool has = curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
	snprintf(out, SEND_ANSWER_SIZE, "%s", has && strlen(header->value) < SEND_ANSWER_SIZE ? header->value : "");
}

static bool names_next_page(CURL *curl)
{
	struct curl_header *header;
	return curl_easy_header(curl, "link", 0, CURLH_HEADER, -1, &header) == CURLHE_OK &&
	       strstr(header->value, "rel=\"next\"") != NULL;
}

/* Find the delay that the response requires before a retry or a further request. */
static void take_answer(CURL *curl, struct send_answer *answer)
{
	long status = 0;
	curl_off_t us = 0, wait_s = 0;
	if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK)
		answer->status = (int)status;
	if (curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &us) == CURLE_OK)
		answer->duration_ms = (int)(us / 1000);
	if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s) != CURLE_OK || wait_s <= 0)
		wait_s = rate_limit_s(curl);
	if (wait_s > 0)
		answer->retry_after_s = wait_s < RETRY_AFTER_MAX_S ? (int)wait_s : RETRY_AFTER_MAX_S;
	copy_header(curl, "etag", answer->etag);
	answer->has_next = names_next_page(curl);
}

int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err)
{
	_Static_assert(SEND_RECIPIENTS_MAX <= SEND_HEADERS_MAX + 1, "a list for either");
	*answer = (struct send_answer){ 0 };
	/* the lists are on the stack, because libcurl only reads them */
	struct curl_slist list[SEND_HEADERS_MAX + 1] = { { .data = (char[]){ "Expect:" } } };
	int n = d->is_mail ? 0 : 1;
	for (int i = 0; i < (d->is_mail ? d->mail.n_to : d->n_header); i++)
		list[n++].data = d->is_mail ? d->mail.to[i] : d->header[i];
	for (int i = 1; i < n; i++)
		list[i - 1].next = &list[i];
	CURL *curl = curl_easy_init();
	if (!curl)
		return err_set(err, ERR_INTERNAL, "libcurl did not start");
	struct guard guard = { .allow_internal = d->allow_internal,
		.fd = -1,
		.answer_max = d->line ? LIST_MAX : ANSWER_MAX,
		.read_max = d->line ? LIST_MAX : READ_MAX };
	char why[CURL_ERROR_SIZE] = "";
	buf_init(&guard.answer, guard.read_max);
	int result = set_options(curl, d, list, &guard, why) ? judge(curl, d, curl_easy_perform(curl), &guard, why, err)
							     : err_set(err, ERR_INTERNAL, "libcurl refused an option");
	take_answer(curl, answer);
	take_member(d, &guard, answer);
	if (d->body_out)
		buf_append(d->body_out, guard.answer.data, guard.answer.len);
	if (result == 0 && d->line && answer->status != 304)
		result = take_comments(d, &guard, answer, err);
	if (result != 0 && d->is_mail && guard.fd >= 0)
		(void)shutdown(guard.fd, SHUT_RDWR); /* otherwise libcurl sends QUIT and waits minutes for a reply */
	buf_fini(&guard.answer);
	curl_easy_cleanup(curl);
	return result;
}
