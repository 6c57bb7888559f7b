/*
 * tls.c - HTTPS by libmicrohttpd and GnuTLS. The certificate is chosen at each handshake, so that a new one applies to the next
 * connection, and open connections continue with theirs.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "web/http/internal.h"

/* Static RSA has no forward secrecy. Groups of finite fields cost up to 100 ms a handshake, in which the daemon serves no client. */
#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-GROUP-DH-ALL:%SERVER_PRECEDENCE"

enum { HANDSHAKE_RECORD = 0x16 /* first byte of TLS */, READS_MAX = 16 /* of a plain request */ };

/* GnuTLS uses the chain and the key during the handshake: the connection shares the certificate until its end. */
static int choose_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,
	const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key)
{
	(void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
	struct connection *c = gnutls_session_get_ptr(session);
	if (!c || !c->http->certificate)
		return -1;
	if (!c->certificate)
		c->certificate = certificate_share(c->http->certificate);
	*chain = (gnutls_pcert_st *)certificate_chain(c->certificate, n);
	*key = certificate_key(c->certificate);
	return 0;
}

/* Answer a client that sends HTTP without TLS, as most do by mistake. */
static void refuse_plain(int fd)
{
	static const char body[] =
		"{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
		"\"detail\":\"this port accepts only HTTPS; begin the address with https:// instead of http://\"}\n";
	char text[512], request[4096];
	int len = snprintf(text, sizeof text,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		sizeof body - 1, body);
	for (int i = 0; i < READS_MAX && recv(fd, request, sizeof request, MSG_DONTWAIT) > 0; i++)
		; /* unread bytes would reset the connection */
	if (send(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) != len)
		log_debug("http.plain", "err=%s", log_quote(strerror(errno)));
}

void tls_wake(struct connection *c)
{
	if (!c->awaits_client)
		return;
	c->awaits_client = false;
	epoll_ctl(c->http->fd, EPOLL_CTL_DEL, c->fd, NULL);
	MHD_resume_connection(c->connection);
}

static void on_bytes(struct polled *p)
{
	tls_wake((struct connection *)p);
}

/*
 * Suspend a connection until its client sends more of the handshake: libmicrohttpd 0.9.75 takes the socket for readable until a
 * read of the data that follows, and would use a core meanwhile.
 */
static void await_client(struct connection *c)
{
	struct epoll_event more = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = &c->polled };
	if (c->http->stopping || c->awaits_client)
		return;
	c->polled.on_ready = on_bytes;
	if (epoll_ctl(c->http->fd, EPOLL_CTL_ADD, c->fd, &more) != 0) {
		log_error("http.handshake", "err=%s", log_quote(strerror(errno)));
		return;
	}
	c->awaits_client = true;
	MHD_suspend_connection(c->connection);
}

/* Called by GnuTLS after the client's last message of the handshake. */
static int on_finished(
	gnutls_session_t session, unsigned type, unsigned when, unsigned is_incoming, const gnutls_datum_t *message)
{
	(void)type, (void)when, (void)message;
	struct connection *c = gnutls_session_get_ptr(session);
	if (c && is_incoming)
		c->shakes_hands = false;
	return 0;
}

/* Read from a socket for GnuTLS. */
static ssize_t receive(gnutls_transport_ptr_t arg, void *to, size_t size)
{
	struct connection *c = arg;
	unsigned char first;
	if (!c->has_begun && recv(c->fd, &first, 1, MSG_PEEK) == 1) {
		c->has_begun = true;
		if (first != HANDSHAKE_RECORD && first >= 'A' && first <= 'Z') {
			refuse_plain(c->fd);
			shutdown(c->fd, SHUT_WR);
			errno = ECONNRESET;
			return -1;
		}
	}
	ssize_t n = recv(c->fd, to, size, 0);
	if (n < 0 && errno == EAGAIN && c->shakes_hands) {
		await_client(c);
		errno = EAGAIN;
	}
	return n;
}

void tls_begin(struct connection *c, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!c->http->certificate || !info || !info->tls_session)
		return;
	int on = 1;
	gnutls_session_t session = info->tls_session;
	(void)setsockopt(
		c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* without it, messages of the handshake may wait 40 ms */
	gnutls_session_set_ptr(session, c);
	gnutls_transport_set_ptr2(session, c, (gnutls_transport_ptr_t)(intptr_t)c->fd);
	gnutls_transport_set_pull_function(session, receive);
	c->shakes_hands = true;
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, on_finished);
}

int tls_start(struct http *h, struct MHD_OptionItem options[TLS_OPTIONS], struct fw_err *err)
{
	const struct http_tls *tls = h->config.tls;
	options[0] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	if (!tls)
		return 0;
	if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES ||
		MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK) != MHD_YES)
		return err_set(err, ERR_UNSUPPORTED, "tls: this libmicrohttpd has no HTTPS");
	if (certificate_load(tls->certificate, tls->key_file, &h->certificate, err) != 0) {
		(void)err_context(err, "tls");
		err->code = ERR_IO; /* the files may be half renewed */
		return -1;
	}
	certificate_log_issuers(h->certificate, clock_utc_ms());
	h->hsts_s = tls->hsts_s;
	options[0] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES };
	options[1] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)choose_certificate };
	options[2] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	return 0;
}

int http_check_tls(const struct http_tls *tls, int64_t *expires_at, struct fw_err *err)
{
	struct certificate *certificate = NULL;
	if (certificate_load(tls->certificate, tls->key_file, &certificate, err) != 0)
		return -1;
	*expires_at = certificate_expires_at(certificate);
	certificate_release(certificate);
	return 0;
}

int http_renew_tls(struct http *h, const struct http_tls *tls, struct fw_err *err)
{
	struct certificate *fresh = NULL;
	int64_t now_ms = clock_utc_ms();
	h->hsts_s = tls->hsts_s;
	if (certificate_load(tls->certificate, tls->key_file, &fresh, err) != 0)
		return -1;
	/* An invalid one is used only instead of one that is no better. */
	if (certificate_check_time(fresh, now_ms, err) != 0 &&
		certificate_check_time(h->certificate, now_ms, &(struct fw_err){ 0 }) == 0) {
		certificate_release(fresh);
		return -1;
	}
	*err = (struct fw_err){ 0 };
	certificate_release(h->certificate);
	h->certificate = fresh;
	certificate_log_issuers(fresh, now_ms);
	return 0;
}

int64_t http_tls_expires_at(const struct http *h)
{
	return h->certificate ? certificate_expires_at(h->certificate) : 0;
}
