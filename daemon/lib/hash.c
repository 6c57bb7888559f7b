/* hash.c - with seal.c the only file that uses nettle. */
#include "lib/lib.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <unistd.h>

/* ---- oid ---- */

enum { SHA1_DIGITS = 40, SHA256_DIGITS = 64 };

/* Return the number of hex digits; 0 if the text has another character. */
static size_t digits(const char *text)
{
	size_t n = text ? strspn(text, "0123456789abcdef") : 0;
	return n && !text[n] ? n : 0;
}

bool oid_is_whole(const char *text)
{
	size_t n = digits(text);
	return n == SHA1_DIGITS || n == SHA256_DIGITS;
}

bool oid_is_prefix(const char *text, size_t min)
{
	size_t n = digits(text);
	return n && n >= min && n <= SHA256_DIGITS;
}

/* ---- hash ---- */

_Static_assert(sizeof(struct hash_state) >= sizeof(struct sha256_ctx), "hash_state holds a sha256_ctx");

void hash_to_hex(const void *data, size_t len, char *hex)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *in = data;
	size_t i;

	for (i = 0; i < len; i++) {
		hex[2 * i] = digit[in[i] >> 4];
		hex[2 * i + 1] = digit[in[i] & 15];
	}
	hex[2 * len] = '\0';
}

void hash_begin(struct hash_state *s)
{
	sha256_init((struct sha256_ctx *)(void *)s);
}

void hash_update(struct hash_state *s, const void *data, size_t len)
{
	sha256_update((struct sha256_ctx *)(void *)s, len, data);
}

void hash_text(struct hash_state *s, const char *text)
{
	hash_update(s, text, strlen(text) + 1);
}

void hash_end(struct hash_state *s, char hex[HASH_HEX])
{
	unsigned char digest[SHA256_DIGEST_SIZE];

	sha256_digest((struct sha256_ctx *)(void *)s, sizeof digest, digest);
	hash_to_hex(digest, sizeof digest, hex);
}

void hash_hex(const void *data, size_t len, char hex[HASH_HEX])
{
	struct hash_state s;

	hash_begin(&s);
	hash_update(&s, data, len);
	hash_end(&s, hex);
}

int hash_fd(int fd, char hex[HASH_HEX], struct fw_err *err)
{
	char chunk[65536];
	struct hash_state s;

	hash_begin(&s);
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof chunk);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "read for hashing");
		if (got == 0)
			break;
		hash_update(&s, chunk, (size_t)got);
	}
	hash_end(&s, hex);
	return 0;
}

int hash_file(const char *path, char hex[HASH_HEX], struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int result;

	if (fd < 0)
		return err_sys(err, "open %s", path);
	result = hash_fd(fd, hex, err);
	close(fd);
	return result != 0 ? err_context(err, "%s", path) : 0;
}

void hash_hmac(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[32])
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, key_len, key);
	hmac_sha256_update(&ctx, len, data);
	hmac_sha256_digest(&ctx, SHA256_DIGEST_SIZE, mac);
}

void hash_hmac_sha1(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[20])
{
	struct hmac_sha1_ctx context;

	hmac_sha1_set_key(&context, key_len, key);
	hmac_sha1_update(&context, len, data);
	hmac_sha1_digest(&context, SHA1_DIGEST_SIZE, mac);
}

void hash_bytes(const void *data, size_t len, unsigned char digest[32])
{
	struct sha256_ctx context;

	sha256_init(&context);
	sha256_update(&context, len, data);
	sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
}

bool hash_equal(const void *a, const void *b, size_t len)
{
	return memeql_sec(a, b, len);
}
