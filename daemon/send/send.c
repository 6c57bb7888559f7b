/* send.c - documented in internal.h. */
#include "send/internal.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_TIMEOUT_MS = 5000, TIMEOUT_MS = 15000, ANSWER_MAX = 1 << 20, RETRY_AFTER_MAX_S = 3600 };

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

static int read_keys(json_t *root, struct notification *out, struct fw_err *err)
{
	const char *url = json_string_value(json_object_get(root, "url"));
	const char *body = json_string_value(json_object_get(root, "body"));
	json_t *headers = json_object_get(root, "headers"), *internal = json_object_get(root, "allow_internal");
	if (!url || (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0))
		return err_set(err, ERR_INVALID, "notification: url must begin with http:// or https://");
	if (!body)
		return err_set(err, ERR_INVALID, "notification: body must be text");
	if (headers && !json_is_object(headers))
		return err_set(err, ERR_INVALID, "notification: headers must be an object");
	if (internal && !json_is_boolean(internal))
		return err_set(err, ERR_INVALID, "notification: allow_internal must be true or false");
	out->url = strdup(url);
	out->body = strdup(body);
	out->allow_internal = json_is_true(internal);
	if (!out->url || !out->body)
		return err_set(err, ERR_INTERNAL, "out of memory");
	return read_headers(headers, out, err);
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
	for (int i = 0; i < d->n_header; i++)
		free(d->header[i]);
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
	size_t answer_bytes;
};

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)purpose;
	struct guard *guard = arg;
	if (!guard->allow_internal && send_is_internal(&address->addr)) {
		guard->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The response body is not used; an endless one is cut off. */
static size_t discard(char *data, size_t size, size_t n, void *arg)
{
	(void)data;
	struct guard *guard = arg;
	guard->answer_bytes += size * n;
	return guard->answer_bytes > ANSWER_MAX ? 0 : size * n;
}

static bool set_options(CURL *curl, const struct notification *d, struct curl_slist *headers, struct guard *guard, char *why)
{
	return curl_easy_setopt(curl, CURLOPT_URL, d->url) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USERAGENT, "flopwatch/" FW_VERSION) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(d->body)) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_POSTFIELDS, d->body) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, guard) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, guard) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK;
}

/* Set the result of a call that libcurl ended. */
static int judge(CURL *curl, CURLcode code, const struct guard *guard, const char *why, struct fw_err *err)
{
	long status = 0;
	if (code == CURLE_OK) {
		if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status >= 200 && status <= 299)
			return 0;
		return err_set(err, ERR_IO, "the receiver answered %ld%s", status,
			status >= 300 && status < 400 ? ", and redirects are not followed" : "");
	}
	if (guard->refused)
		return err_set(err, ERR_INVALID,
			"the address is an internal one; set allow_internal for this receiver if that is meant");
	if (guard->answer_bytes > ANSWER_MAX)
		return err_set(err, ERR_IO, "the receiver's answer is longer than %d bytes", ANSWER_MAX);
	return err_set(err, ERR_IO, "%s", why[0] ? why : curl_easy_strerror(code));
}

/* A response with status 429 or 503 may contain the delay before a retry. */
static void take_answer(CURL *curl, struct send_answer *answer)
{
	long status = 0;
	curl_off_t us = 0, wait_s = 0;
	if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK)
		answer->status = (int)status;
	if (curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &us) == CURLE_OK)
		answer->duration_ms = (int)(us / 1000);
	if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s) == CURLE_OK && wait_s > 0)
		answer->retry_after_s = wait_s < RETRY_AFTER_MAX_S ? (int)wait_s : RETRY_AFTER_MAX_S;
}

int send_deliver(const struct notification *d, struct send_answer *answer, struct fw_err *err)
{
	*answer = (struct send_answer){ 0 };
	/* lists on the stack: libcurl only reads them */
	struct curl_slist headers[SEND_HEADERS_MAX + 1] = { { .data = (char[]){ "Expect:" } } };
	for (int i = 0; i < d->n_header; i++) {
		headers[i].next = &headers[i + 1];
		headers[i + 1].data = d->header[i];
	}
	CURL *curl = curl_easy_init();
	if (!curl)
		return err_set(err, ERR_INTERNAL, "libcurl did not start");
	struct guard guard = { .allow_internal = d->allow_internal };
	char why[CURL_ERROR_SIZE] = "";
	int result = set_options(curl, d, headers, &guard, why) ? judge(curl, curl_easy_perform(curl), &guard, why, err)
								: err_set(err, ERR_INTERNAL, "libcurl refused an option");
	take_answer(curl, answer);
	curl_easy_cleanup(curl);
	return result;
}
