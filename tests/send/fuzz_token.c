/*
 * fuzz_token.c - arbitrary bytes as an OpenID provider's answer: its keys in the first line, a token in the second, the token's
 * claims in the third. A token opens only with a known signature, and claims are accepted only for their log-in.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/token by default).
 *
 * Attacks: daemon/send daemon/lib
 */
#include "fuzz_replay.h"
#include "send/internal.h"

static void check_claims(const char *text)
{
	static const struct oidc_expected expected = {
		.issuer = "https://id.example.org", .client_id = "fw", .nonce = "n", .subject = "ann", .now_s = 1700000000
	};
	struct fw_err err = { 0 };
	json_t *claims = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!claims)
		return;
	if (oidc_check_claims(claims, &expected, &err) == 0) {
		must(strcmp(json_string_value(json_object_get(claims, "sub")), "ann") == 0, "the claims of another user");
		must(strcmp(json_string_value(json_object_get(claims, "nonce")), "n") == 0, "the claims of another log-in");
	} else {
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	}
	json_decref(claims);
}

/* An address of 4 or 16 bytes: an internal one has several spellings. */
static void check_address(const char *bytes, size_t size)
{
	struct sockaddr_storage to = { .ss_family = size & 1 ? AF_INET : AF_INET6 };

	memcpy((char *)&to + 2, bytes, size < 26 ? size : 26);
	send_is_internal((const struct sockaddr *)&to);
}

static void check_notification(const char *text, size_t size)
{
	struct fw_err err = { 0 };
	struct notification n;

	if (notification_read(text, size, &n, &err) == 0)
		must(n.url && n.body && n.n_header <= SEND_HEADERS_MAX, "a notification without an address");
	else
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	notification_fini(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	struct fw_err err = { 0 };

	check_address((const char *)data, size);
	check_notification((const char *)data, size);
	must(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = '\0';
	const char *keys = strsep(&rest, "\n"), *token = strsep(&rest, "\n");
	json_t *jwks = json_loads(keys, JSON_REJECT_DUPLICATES, NULL);
	json_t *claims = token ? jws_open(token, jwks, &err) : NULL;
	must(!token || (claims != NULL) == (err.code == ERR_NONE), "a refusal without an error, or an error without one");
	must(!claims || json_is_object(claims), "claims that are none");
	json_decref(claims);
	json_decref(jwks);
	if (rest)
		check_claims(rest);
	free(text);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/token", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
