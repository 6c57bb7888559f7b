/* jws.c - signed tokens; documented in internal.h. The only file that uses OpenSSL. */
#include "send/internal.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>

enum { PART_MAX = 1 << 16, RSA_BITS_MIN = 2048, P256_BYTES = 32 };

int jws_unbase64url(struct buf *out, const char *text, size_t len)
{
	struct buf plain;
	buf_init(&plain, PART_MAX);
	for (size_t i = 0; i < len; i++) {
		char c = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
		if (text[i] == '+' || text[i] == '/' || text[i] == '=')
			c = '!';
		buf_append(&plain, &c, 1);
	}
	for (size_t i = len; i % 4; i++)
		buf_append(&plain, "=", 1);
	int result = plain.failed || len % 4 == 1 ? -1 : buf_unbase64(out, plain.data, plain.len);
	buf_fini(&plain);
	return result != 0 || out->failed ? -1 : 0;
}

/* Decode a member of a key. */
static int read_number(const json_t *key, const char *name, struct buf *out)
{
	const char *text = json_string_value(json_object_get(key, name));
	buf_init(out, PART_MAX);
	return text && *text ? jws_unbase64url(out, text, strlen(text)) : -1;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *build)
{
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	if (!params || !context || EVP_PKEY_fromdata_init(context) != 1 ||
		EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(context);
	OSSL_PARAM_free(params);
	return key;
}

static EVP_PKEY *read_rsa(const json_t *jwk)
{
	struct buf n, e;
	EVP_PKEY *key = NULL;
	int n_result = read_number(jwk, "n", &n), e_result = read_number(jwk, "e", &e);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	BIGNUM *modulus = n_result == 0 ? BN_bin2bn((const unsigned char *)n.data, (int)n.len, NULL) : NULL;
	BIGNUM *exponent = e_result == 0 ? BN_bin2bn((const unsigned char *)e.data, (int)e.len, NULL) : NULL;
	if (build && modulus && exponent && BN_num_bits(modulus) >= RSA_BITS_MIN &&
		OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
		OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
		key = make_key("RSA", build);
	BN_free(modulus);
	BN_free(exponent);
	OSSL_PARAM_BLD_free(build);
	buf_fini(&n);
	buf_fini(&e);
	return key;
}

static EVP_PKEY *read_p256(const json_t *jwk)
{
	struct buf x, y;
	unsigned char point[1 + 2 * P256_BYTES] = { 4 }; /* 4: an uncompressed point follows */
	EVP_PKEY *key = NULL;
	const char *curve = json_string_value(json_object_get(jwk, "crv"));
	int x_result = read_number(jwk, "x", &x), y_result = read_number(jwk, "y", &y);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	if (build && curve && strcmp(curve, "P-256") == 0 && x_result == 0 && y_result == 0 && x.len == P256_BYTES &&
		y.len == P256_BYTES) {
		memcpy(point + 1, x.data, P256_BYTES);
		memcpy(point + 1 + P256_BYTES, y.data, P256_BYTES);
		if (OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
			OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1)
			key = make_key("EC", build);
	}
	OSSL_PARAM_BLD_free(build);
	buf_fini(&x);
	buf_fini(&y);
	return key;
}

/* Convert an ES256 signature, two numbers, from JWS's format (concatenated) to OpenSSL's (DER). Own: OPENSSL_free. */
static int make_der(const struct buf *signature, unsigned char **der)
{
	const unsigned char *raw = (const unsigned char *)signature->data;
	ECDSA_SIG *pair = ECDSA_SIG_new();
	int len = -1;
	*der = NULL;
	if (pair && signature->len == (size_t)2 * P256_BYTES) {
		BIGNUM *r = BN_bin2bn(raw, P256_BYTES, NULL), *s = BN_bin2bn(raw + P256_BYTES, P256_BYTES, NULL);
		if (r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
			len = i2d_ECDSA_SIG(pair, der);
		} else {
			BN_free(r);
			BN_free(s);
		}
	}
	ECDSA_SIG_free(pair);
	return len;
}

static bool verify(EVP_PKEY *key, const unsigned char *signature, size_t signature_len, const char *data, size_t len)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_valid = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
			EVP_DigestVerify(context, signature, signature_len, (const unsigned char *)data, len) == 1;
	EVP_MD_CTX_free(context);
	return is_valid;
}

static bool verify_by(const json_t *jwk, bool is_rsa, const struct buf *signature, const char *data, size_t len)
{
	EVP_PKEY *key = is_rsa ? read_rsa(jwk) : read_p256(jwk);
	unsigned char *der = NULL;
	bool is_valid = false;
	if (key && is_rsa) {
		is_valid = verify(key, (const unsigned char *)signature->data, signature->len, data, len);
	} else if (key) {
		int der_len = make_der(signature, &der);
		is_valid = der_len > 0 && verify(key, der, (size_t)der_len, data, len);
	}
	OPENSSL_free(der);
	EVP_PKEY_free(key);
	return is_valid;
}

/* Return whether a member is missing or has this text. */
static bool may_be(const json_t *o, const char *name, const char *wanted)
{
	const json_t *value = json_object_get(o, name);
	return !value || !wanted || (json_is_string(value) && strcmp(json_string_value(value), wanted) == 0);
}

static int check_signature(
	const json_t *header, const json_t *jwks, const struct buf *signature, const char *data, size_t len, struct fw_err *err)
{
	const char *alg = json_string_value(json_object_get(header, "alg"));
	const char *kid = json_string_value(json_object_get(header, "kid"));
	bool is_rsa = alg && strcmp(alg, "RS256") == 0;
	int tried = 0;
	size_t i;
	json_t *jwk;
	if (!is_rsa && (!alg || strcmp(alg, "ES256") != 0))
		return err_set(err, ERR_INVALID, "the ID token is signed with %.20s; RS256 and ES256 are supported",
			alg ? alg : "no algorithm");
	if (json_object_get(header, "crit"))
		return err_set(err, ERR_INVALID, "the ID token requires extensions that are not supported");
	json_array_foreach(json_object_get(jwks, "keys"), i, jwk)
	{
		const char *type = json_string_value(json_object_get(jwk, "kty"));
		if (!type || strcmp(type, is_rsa ? "RSA" : "EC") != 0 || !may_be(jwk, "use", "sig") || !may_be(jwk, "alg", alg) ||
			!may_be(jwk, "kid", kid))
			continue;
		tried++;
		if (verify_by(jwk, is_rsa, signature, data, len))
			return 0;
	}
	return err_set(err, ERR_INVALID,
		tried ? "the signature of the ID token is wrong" : "the provider lists no key for the signature of the ID token");
}

static json_t *read_part(const char *text, size_t len)
{
	struct buf plain;
	buf_init(&plain, PART_MAX);
	json_t *o =
		jws_unbase64url(&plain, text, len) == 0 ? json_loadb(plain.data, plain.len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	buf_fini(&plain);
	if (json_is_object(o))
		return o;
	json_decref(o);
	return NULL;
}

json_t *jws_open(const char *token, const json_t *jwks, struct fw_err *err)
{
	const char *dot = strchr(token, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
	struct buf signature;
	buf_init(&signature, PART_MAX);
	json_t *header = second ? read_part(token, (size_t)(dot - token)) : NULL;
	json_t *claims = second ? read_part(dot + 1, (size_t)(second - dot - 1)) : NULL;
	int result = header && claims && jws_unbase64url(&signature, second + 1, strlen(second + 1)) == 0
			     ? check_signature(header, jwks, &signature, token, (size_t)(second - token), err)
			     : err_set(err, ERR_INVALID, "the ID token is not a signed token of JSON");
	buf_fini(&signature);
	json_decref(header);
	if (result == 0)
		return claims;
	json_decref(claims);
	return NULL;
}
