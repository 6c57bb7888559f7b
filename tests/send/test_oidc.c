/* What flopwatch-send accepts as an ID token, and requests of log-ins that it rejects. Requests with a provider: tests/web/test_login_faults.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "send/internal.h"

enum { NOW_S = 1700000000 };

static struct fw_err err;

static int check(const char *claims)
{
	static const struct oidc_expected expected = {
		.issuer = "https://id.example.org", .client_id = "fw", .nonce = "n", .subject = "ann", .now_s = NOW_S
	};
	json_t *o = json_loads(claims, 0, NULL);
	assert_non_null(o);
	err_clear(&err);
	int result = oidc_check_claims(o, &expected, &err);
	json_decref(o);
	return result;
}

#define CLAIMS(iss, aud, exp, more)                                                                                              \
	"{\"iss\":\"" iss "\",\"aud\":" aud ",\"exp\":" exp ",\"nonce\":\"n\",\"sub\":\"ann\"" more "}"
#define ISSUER "https://id.example.org"

static void claims_of_this_log_in(void **state)
{
	static const char *const good[] = {
		CLAIMS(ISSUER, "\"fw\"", "1700000300", ""), CLAIMS(ISSUER, "[\"fw\"]", "1700000300.5", ""),
		CLAIMS(ISSUER, "[\"x\",\"fw\"]", "1700000300", ",\"azp\":\"fw\""),
		CLAIMS(ISSUER, "\"fw\"", "1699999941", ",\"iat\":1700000060"), /* clocks may differ by a minute */
	};
	static const struct {
		const char *claims, *why;
	} bad[] = {
		{ CLAIMS("https://id.example.org/", "\"fw\"", "1700000300", ""), "(iss)" },
		{ CLAIMS(ISSUER, "\"FW\"", "1700000300", ""), "(aud)" },
		{ CLAIMS(ISSUER, "[\"x\"]", "1700000300", ""), "(aud)" },
		{ CLAIMS(ISSUER, "[]", "1700000300", ""), "(aud)" },
		{ CLAIMS(ISSUER, "[\"x\",\"fw\"]", "1700000300", ""), "(aud)" },
		{ CLAIMS(ISSUER, "[\"x\",\"fw\"]", "1700000300", ",\"azp\":\"x\""), "(aud)" },
		{ CLAIMS(ISSUER, "\"fw\"", "1700000300", ",\"azp\":\"x\""), "(aud)" },
		{ CLAIMS(ISSUER, "\"fw\"", "1699999940", ""), "(exp)" },
		{ CLAIMS(ISSUER, "\"fw\"", "\"1700000300\"", ""), "(exp)" },
		{ CLAIMS(ISSUER, "\"fw\"", "null", ""), "(exp)" },
		{ CLAIMS(ISSUER, "\"fw\"", "1700000300", ",\"iat\":1700000061"), "(iat)" },
		{ "{\"iss\":\"" ISSUER "\",\"aud\":\"fw\",\"exp\":1700000300,\"sub\":\"ann\"}", "(nonce)" },
		{ "{\"iss\":\"" ISSUER "\",\"aud\":\"fw\",\"exp\":1700000300,\"nonce\":\"m\",\"sub\":\"ann\"}", "(nonce)" },
		{ "{\"iss\":\"" ISSUER "\",\"aud\":\"fw\",\"exp\":1700000300,\"nonce\":\"n\"}", "(sub)" },
		{ "{\"iss\":\"" ISSUER "\",\"aud\":\"fw\",\"exp\":1700000300,\"nonce\":\"n\",\"sub\":\"bob\"}", "(sub)" },
		{ "{\"iss\":\"" ISSUER "\",\"aud\":\"fw\",\"exp\":1700000300,\"nonce\":\"n\",\"sub\":7}", "(sub)" },
		{ "{}", "(iss)" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (check(good[i]) != 0)
			fail_msg("%s: %s", good[i], err.text);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(check(bad[i].claims), -1);
		if (!strstr(err.text, bad[i].why))
			fail_msg("%s: %s", bad[i].claims, err.text);
	}
}

/* The example of RFC 7515, A.2: RS256. Its claims are {"iss":"joe",...}. */
static const char rsa_key[] =
	"{\"keys\":[{\"kty\":\"RSA\",\"n\":\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0"
	"Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
	"R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
	"\",\"e\":\"AQAB\"}]}";
static const char rsa_token[] =
	"eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
	"cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX"
	"4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOP"
	"qvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
/* The example of RFC 7515, A.3: ES256. */
static const char ec_key[] =
	"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\",\"y\":\"x_FEzRu9m36HLN_"
	"tue659LNpXW6pCyStikYjKIWI5a0\"}]}";
static const char ec_token[] =
	"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
	"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";

static bool opens(const char *token, const char *keys)
{
	json_t *jwks = json_loads(keys, 0, NULL);
	assert_non_null(jwks);
	err_clear(&err);
	json_t *claims = jws_open(token, jwks, &err);
	const char *issuer = json_string_value(json_object_get(claims, "iss"));
	bool is_joe = issuer && strcmp(issuer, "joe") == 0;
	json_decref(claims);
	json_decref(jwks);
	return is_joe;
}

static void signatures_of_the_standard(void **state)
{
	static const char *const tokens[] = { rsa_token, ec_token }, *const keys[] = { rsa_key, ec_key };
	(void)state;
	for (int i = 0; i < 2; i++) {
		char token[1024];
		if (!opens(tokens[i], keys[i]))
			fail_msg("%s: %s", tokens[i], err.text);
		assert_false(opens(tokens[i], keys[!i]));
		assert_false(opens(tokens[i], "{\"keys\":[]}"));
		assert_false(opens(tokens[i], "{}"));
		size_t len = strlen(tokens[i]), claims_at = strcspn(tokens[i], ".") + 1;
		for (size_t at = claims_at; at + 1 < len; at += 7) { /* a change anywhere; the last character has unused bits */
			memcpy(token, tokens[i], len + 1);
			if (token[at] == '.')
				continue;
			token[at] = token[at] == 'A' ? 'B' : 'A';
			assert_false(opens(token, keys[i]));
		}
		memcpy(token, tokens[i], len + 1);
		token[len - 4] = '\0'; /* cut */
		assert_false(opens(token, keys[i]));
		*strrchr(token, '.') = '\0'; /* no signature */
		assert_false(opens(token, keys[i]));
	}
	assert_false(opens("", rsa_key));
	assert_false(opens("..", rsa_key));
	assert_false(opens("eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UifQ.", rsa_key)); /* {"alg":"none"} */
	assert_non_null(strstr(err.text, "signed with none"));
}

static void requests_that_lack_something(void **state)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"step\":\"other\"}", "{\"step\":\"begin\"}",
		"{\"step\":\"code\",\"issuer\":\"https://id.example.org\",\"client_id\":\"a\",\"client_secret\":\"b\"}",
		"{\"step\":\"refresh\",\"issuer\":\"https://id.example.org\",\"client_id\":\"a\",\"client_secret\":\"b\",\"refresh_token\":"
		"\"\",\"subject\":\"x\"}" };
	struct buf out;
	(void)state;
	buf_init(&out, 1024);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&err);
		assert_int_equal(oidc_perform(bad[i], strlen(bad[i]), &out, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
	}
	assert_int_equal(out.len, 0);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(claims_of_this_log_in), cmocka_unit_test(signatures_of_the_standard),
		cmocka_unit_test(requests_that_lack_something) };
	return cmocka_run_group_tests_name("oidc", tests, NULL, NULL);
}
