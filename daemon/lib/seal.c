/* seal.c - documented in lib.h. */
#include "lib/lib.h"

#include <nettle/gcm.h>
#include <nettle/memops.h>
#include <string.h>
#include <sys/random.h>

enum { HEAD_SIZE = GCM_IV_SIZE + GCM_DIGEST_SIZE, SEALED_MAX = 1 << 20 };

static void begin(struct gcm_aes256_ctx *context, const char *secret, const char *about, const unsigned char *nonce)
{
	static const char purpose[] = "flopwatch seal 1";
	unsigned char key[32];
	hash_hmac(secret, strlen(secret), purpose, sizeof purpose - 1, key);
	gcm_aes256_set_key(context, key);
	gcm_aes256_set_iv(context, GCM_IV_SIZE, nonce);
	gcm_aes256_update(context, strlen(about), (const unsigned char *)about);
	explicit_bzero(key, sizeof key);
}

int seal_text(const char *secret, const char *about, const char *text, struct buf *out, struct fw_err *err)
{
	struct gcm_aes256_ctx context;
	size_t len = strlen(text);
	unsigned char *bytes = mem_alloc(HEAD_SIZE + len);
	if (getrandom(bytes, GCM_IV_SIZE, 0) != GCM_IV_SIZE) {
		free(bytes);
		return err_sys(err, "cannot read random bytes");
	}
	begin(&context, secret, about, bytes);
	gcm_aes256_encrypt(&context, len, bytes + HEAD_SIZE, (const unsigned char *)text);
	gcm_aes256_digest(&context, GCM_DIGEST_SIZE, bytes + GCM_IV_SIZE);
	buf_base64(out, bytes, HEAD_SIZE + len);
	explicit_bzero(&context, sizeof context);
	free(bytes);
	return out->failed ? err_set(err, ERR_FULL, "the sealed text does not fit") : 0;
}

int seal_open(const char *secret, const char *about, const char *sealed, struct buf *out, struct fw_err *err)
{
	struct gcm_aes256_ctx context;
	struct buf bytes;
	unsigned char tag[GCM_DIGEST_SIZE];
	int result = -1;
	buf_init(&bytes, SEALED_MAX);
	if (buf_unbase64(&bytes, sealed, strlen(sealed)) == 0 && !bytes.failed && bytes.len >= HEAD_SIZE) {
		unsigned char *in = (unsigned char *)bytes.data;
		size_t len = bytes.len - HEAD_SIZE;
		begin(&context, secret, about, in);
		gcm_aes256_decrypt(&context, len, in + HEAD_SIZE, in + HEAD_SIZE);
		gcm_aes256_digest(&context, sizeof tag, tag);
		if (memeql_sec(tag, in + GCM_IV_SIZE, sizeof tag)) {
			buf_append(out, in + HEAD_SIZE, len);
			result = out->failed ? -1 : 0;
		}
		explicit_bzero(bytes.data, bytes.len);
		explicit_bzero(&context, sizeof context);
	}
	buf_fini(&bytes);
	return result == 0 ? 0 : err_set(err, ERR_INVALID, "the stored secret was sealed with another key, or changed");
}
