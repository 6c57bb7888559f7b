/* certificate.c - reads a certificate and its private key, and checks that they belong together. */
#include <stdlib.h>
#include <unistd.h>

#include "web/http/internal.h"

enum { FILE_BYTES_MAX = 1 << 20, CHAIN_MAX = 16, KEY_ID_BYTES = 32 };

struct certificate {
	int references;
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned n;
	gnutls_privkey_t key;
	int64_t begins_at, expires_at;
	int64_t issuers_expire_at; /* the first of the others to expire */
};

/* Own: closes `fd`; buf_fini. */
static int read_all(int fd, const char *path, struct buf *out, struct fw_err *err)
{
	buf_init(out, FILE_BYTES_MAX);
	if (fd < 0)
		return -1;
	int result = buf_read_fd(out, fd) == 0 ? 0 : err_sys(err, "cannot read %s", path);
	close(fd);
	if (result == 0 && out->is_out_of_memory)
		result = err_memory(err, "cannot read %s", path);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_INVALID, "%s is larger than %d bytes", path, FILE_BYTES_MAX);
	return result;
}

static gnutls_datum_t datum_of(const struct buf *text)
{
	return (gnutls_datum_t){ .data = (unsigned char *)text->data, .size = (unsigned)text->len };
}

static int read_key(struct certificate *c, const char *path, struct fw_err *err)
{
	struct buf text;
	int result = read_all(secret_open(path, err), path, &text, err);
	if (result == 0) {
		const gnutls_datum_t data = datum_of(&text);
		int code = gnutls_privkey_import_x509_raw(c->key, &data, GNUTLS_X509_FMT_PEM, NULL, 0);
		if (code < 0 && strstr(text.data, "ENCRYPTED"))
			result = err_set(err, ERR_INVALID, "the key in %s has a passphrase; store it without one", path);
		else if (code < 0)
			result = err_set(
				err, ERR_INVALID, "there is no private key in PEM in %s: %s", path, gnutls_strerror(code));
	}
	if (text.len)
		explicit_bzero(text.data, text.len);
	buf_fini(&text);
	return result;
}

/* The period of the first certificate. Clients may know another certificate of an issuer whose one here has expired. */
static void find_period(struct certificate *c, const gnutls_x509_crt_t *crt)
{
	c->begins_at = (int64_t)gnutls_x509_crt_get_activation_time(crt[0]) * 1000;
	c->expires_at = (int64_t)gnutls_x509_crt_get_expiration_time(crt[0]) * 1000;
	c->issuers_expire_at = INT64_MAX;
	for (unsigned i = 1; i < c->n; i++) {
		int64_t at = (int64_t)gnutls_x509_crt_get_expiration_time(crt[i]) * 1000;
		if (at < c->issuers_expire_at)
			c->issuers_expire_at = at;
	}
}

static bool belong_together(const struct certificate *c, gnutls_x509_crt_t first)
{
	unsigned char of_key[KEY_ID_BYTES], of_certificate[KEY_ID_BYTES];
	size_t key_size = sizeof of_key, certificate_size = sizeof of_certificate;
	gnutls_pubkey_t pubkey;
	if (gnutls_pubkey_init(&pubkey) < 0)
		return false;
	bool are_known = gnutls_pubkey_import_privkey(pubkey, c->key, 0, 0) == 0 &&
			 gnutls_pubkey_get_key_id(pubkey, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) == 0 &&
			 gnutls_x509_crt_get_key_id(first, GNUTLS_KEYID_USE_SHA256, of_certificate, &certificate_size) == 0;
	gnutls_pubkey_deinit(pubkey);
	return are_known && key_size == certificate_size && memcmp(of_key, of_certificate, key_size) == 0;
}

/* Own: *crt, an array of c->n certificates, and its elements. */
static int read_chain(struct certificate *c, const char *path, gnutls_x509_crt_t **crt, struct fw_err *err)
{
	struct buf text;
	unsigned n = 0;
	int code, result = read_all(regular_open("", path, err), path, &text, err);
	const gnutls_datum_t data = datum_of(&text);
	*crt = NULL;
	if (result == 0 && (code = gnutls_x509_crt_list_import2(
				    crt, &n, &data, GNUTLS_X509_FMT_PEM, GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED)) < 0) {
		*crt = NULL;
		if (code == GNUTLS_E_CERTIFICATE_LIST_UNSORTED)
			result = err_set(err, ERR_INVALID,
				"the certificates in %s are not in order: first that of the server, then that of its issuer, and so on",
				path);
		else
			result = err_set(
				err, ERR_INVALID, "there is no certificate in PEM in %s: %s", path, gnutls_strerror(code));
	}
	buf_fini(&text);
	c->n = result == 0 ? n : 0;
	return result;
}

/* Copy the chain into the form that a handshake uses. */
static int fill_chain(struct certificate *c, const char *path, const gnutls_x509_crt_t *crt, struct fw_err *err)
{
	const unsigned n = c->n;
	c->n = 0;
	if (n == 0 || n > CHAIN_MAX)
		return err_set(err, ERR_INVALID, "%s has %u certificates; 1 to %d are possible", path, n, CHAIN_MAX);
	for (unsigned i = 0; i < n; i++, c->n++) {
		int code = gnutls_pcert_import_x509(&c->chain[i], crt[i], 0);
		if (code < 0)
			return err_set(
				err, ERR_INVALID, "certificate %u in %s cannot be used: %s", i + 1, path, gnutls_strerror(code));
	}
	find_period(c, crt);
	return 0;
}

int certificate_load(const char *path, const char *key_file, struct certificate **out, struct fw_err *err)
{
	struct certificate *c = mem_alloc_zero(1, sizeof *c);
	gnutls_x509_crt_t *crt = NULL;
	c->references = 1;
	if (gnutls_privkey_init(&c->key) < 0) {
		free(c);
		return err_set(err, ERR_INTERNAL, "GnuTLS did not start");
	}
	int result = read_chain(c, path, &crt, err);
	const unsigned n = c->n;
	if (result == 0)
		result = fill_chain(c, path, crt, err);
	if (result == 0)
		result = read_key(c, key_file, err);
	if (result == 0 && !belong_together(c, crt[0]))
		result =
			err_set(err, ERR_INVALID, "the key in %s does not belong to the first certificate in %s", key_file, path);
	for (unsigned i = 0; i < n; i++)
		gnutls_x509_crt_deinit(crt[i]);
	gnutls_free(crt);
	if (result == 0)
		*out = c;
	else
		certificate_release(c);
	return result;
}

struct certificate *certificate_share(struct certificate *c)
{
	c->references++;
	return c;
}

void certificate_release(struct certificate *c)
{
	if (!c || --c->references > 0)
		return;
	for (unsigned i = 0; i < c->n; i++)
		gnutls_pcert_deinit(&c->chain[i]);
	gnutls_privkey_deinit(c->key);
	free(c);
}

int64_t certificate_expires_at(const struct certificate *c)
{
	return c->expires_at;
}

int certificate_check_time(const struct certificate *c, int64_t now_ms, struct fw_err *err)
{
	char when[32];
	if (now_ms >= c->expires_at) {
		clock_format(c->expires_at, when);
		return err_set(err, ERR_INVALID, "the certificate expired at %s", when);
	}
	if (now_ms < c->begins_at) {
		clock_format(c->begins_at, when);
		return err_set(err, ERR_INVALID, "the certificate is valid only from %s", when);
	}
	return 0;
}

void certificate_log_issuers(const struct certificate *c, int64_t now_ms)
{
	char when[32];
	if (now_ms < c->issuers_expire_at)
		return;
	clock_format(c->issuers_expire_at, when);
	log_warning("certificate.issuer", "expired=%s warning=\"clients may refuse the certificate; replace that of its issuer\"",
		when);
}

const gnutls_pcert_st *certificate_chain(const struct certificate *c, unsigned *n)
{
	*n = c->n;
	return c->chain;
}

gnutls_privkey_t certificate_key(const struct certificate *c)
{
	return c->key;
}
