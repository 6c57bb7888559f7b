/*
 * Request pages repeatedly on several connections and print the response times: bench_load NAME PORT CONNECTIONS SECONDS PATH
 * [HEADER]. One "{1-10000}" in PATH is replaced by a number of that range, drawn again for every request, so that not only one
 * cached response is measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/lib.h"
#include "model/model.h"

enum { CONNECTIONS_MAX = 64, HEAD_MAX = 4096, SAMPLES_MAX = 4 << 20 };

struct client {
	int fd;
	int64_t sent_ns;
	char head[HEAD_MAX];
	size_t head_len;
	long left; /* bytes of the body still to come; -1: the header is incomplete */
};

static char before[HEAD_MAX], after[HEAD_MAX]; /* the request, around the drawn number */
static uint64_t first_number, n_numbers;       /* n_numbers 0: none is drawn */
static float *took_ms;
static size_t n_took, n_bytes;

static void fail(const char *what)
{
	fprintf(stderr, "bench_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static size_t next_request(char request[2 * HEAD_MAX])
{
	static uint64_t drawn;
	if (n_numbers == 0)
		return (size_t)snprintf(request, 2 * HEAD_MAX, "%s%s", before, after);
	uint64_t number = first_number + inputs_mix(++drawn) % n_numbers;
	return (size_t)snprintf(request, 2 * HEAD_MAX, "%s%llu%s", before, (unsigned long long)number, after);
}

static void ask(struct client *c)
{
	char request[2 * HEAD_MAX];
	size_t len = next_request(request);
	c->head_len = 0;
	c->left = -1;
	c->sent_ns = clock_mono_ns();
	if (send(c->fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		fail("send");
}

static void answered(struct client *c)
{
	if (n_took < SAMPLES_MAX)
		took_ms[n_took++] = (float)((double)(clock_mono_ns() - c->sent_ns) * 1e-6);
	ask(c);
}

/* The header is complete: the number of bytes that follow. */
static void begin_body(struct client *c, const char *end)
{
	const char *length = strcasestr(c->head, "\r\nContent-Length: ");
	long got = (long)(c->head + c->head_len - (end + 4));
	int status = atoi(c->head + 9);
	if (status != 200 && status != 304) {
		fprintf(stderr, "bench_load: answered %d\n", status);
		exit(1);
	}
	c->left = status == 304 || !length ? 0 : atol(length + 18) - got;
	n_bytes += status == 304 || !length ? 0 : (size_t)atol(length + 18);
}

static void take(struct client *c)
{
	static char body[1 << 16];
	bool in_head = c->left < 0;
	ssize_t n = in_head ? recv(c->fd, c->head + c->head_len, sizeof c->head - 1 - c->head_len, 0)
			    : recv(c->fd, body, sizeof body, 0);
	if (n <= 0)
		fail("the connection ended");
	if (in_head) {
		c->head_len += (size_t)n;
		c->head[c->head_len] = '\0';
		const char *end = strstr(c->head, "\r\n\r\n");
		if (end)
			begin_body(c, end);
	} else {
		c->left -= n;
	}
	if (c->left == 0)
		answered(c);
}

static int reach(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
		fail("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static int by_time(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static void plan(const char *path, const char *port, const char *header)
{
	const char *open = strchr(path, '{'), *close = open ? strchr(open, '}') : NULL;
	unsigned long long first, last;
	if (close && sscanf(open, "{%llu-%llu}", &first, &last) == 2 && first <= last) {
		first_number = first;
		n_numbers = last - first + 1;
	} else {
		open = close = NULL;
	}
	snprintf(before, sizeof before, "GET %.*s", open ? (int)(open - path) : (int)strlen(path), path);
	snprintf(after, sizeof after, "%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n%s%s\r\n", close ? close + 1 : "", port, header,
		*header ? "\r\n" : "");
}

int main(int argc, char **argv)
{
	static struct client client[CONNECTIONS_MAX];
	struct pollfd ready[CONNECTIONS_MAX];
	int port = argc > 5 ? atoi(argv[2]) : 0, n = argc > 5 ? atoi(argv[3]) : 0;
	if (port < 1 || n < 1 || n > CONNECTIONS_MAX) {
		fputs("usage: bench_load NAME PORT CONNECTIONS SECONDS PATH [HEADER]\n", stderr);
		return 2;
	}
	took_ms = malloc(SAMPLES_MAX * sizeof *took_ms);
	plan(argv[5], argv[2], argc > 6 ? argv[6] : "");
	for (int i = 0; i < n && took_ms; i++) {
		client[i].fd = reach(port);
		ready[i] = (struct pollfd){ .fd = client[i].fd, .events = POLLIN };
		ask(&client[i]);
	}
	const int64_t begun_ns = clock_mono_ns(), until_ns = begun_ns + (int64_t)(atof(argv[4]) * 1e9);
	while (took_ms && clock_mono_ns() < until_ns) {
		if (poll(ready, (nfds_t)n, 1000) < 0)
			fail("poll");
		for (int i = 0; i < n; i++)
			if (ready[i].revents)
				take(&client[i]);
	}
	const double seconds = (double)(clock_mono_ns() - begun_ns) * 1e-9;
	if (n_took == 0) {
		fputs("bench_load: nothing was answered\n", stderr);
		return 1;
	}
	qsort(took_ms, n_took, sizeof *took_ms, by_time);
	printf("bench %s_p50 %.6g ms\n", argv[1], (double)took_ms[n_took / 2]);
	printf("bench %s_p99 %.6g ms\n", argv[1], (double)took_ms[n_took * 99 / 100]);
	printf("bench %s_rate %.6g per_s\n", argv[1], (double)n_took / seconds);
	if (n_bytes)
		printf("bench %s_size %.6g bytes\n", argv[1], (double)n_bytes / (double)n_took);
	free(took_ms);
	return 0;
}
