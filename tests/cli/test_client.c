/* A request that this machine has no memory or descriptor for is not the daemon's fault. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <curl/curl.h>
#include <string.h>

#include "cli/internal.h"

static CURLcode answer = CURLE_OK;

CURLcode __wrap_curl_easy_perform(CURL *curl);
CURLcode __wrap_curl_easy_perform(CURL *curl)
{
	(void)curl;
	return answer;
}

static void check(CURLcode code, const char *text, enum err_code wanted, bool is_shortage)
{
	struct client *c = NULL;
	struct fw_err err = { 0 };
	json_t *list = NULL;
	long long last = 0;

	answer = code;
	assert_int_equal(client_open("http://127.0.0.1:9", NULL, &c, &err), 0);
	assert_int_equal(client_get(c, "/api/v1/jobs", &list, &err), -1);
	assert_non_null(strstr(err.text, text));
	assert_int_equal(err.code, wanted);
	assert_int_equal(err.is_shortage, is_shortage);
	assert_int_equal(strstr(err.text, "is it running") != NULL, !is_shortage);
	err_clear(&err);
	assert_int_equal(client_stream(c, &last, NULL, NULL, NULL, &err), -1);
	assert_int_equal(err.is_shortage, is_shortage);
	client_close(c);
}

static void a_shortage_here_is_named(void **state)
{
	static const char lacks[] = "this machine lacks memory or file descriptors for a request to http://127.0.0.1:9: ";

	(void)state;
	check(CURLE_OUT_OF_MEMORY, lacks, ERR_FULL, true);
	check(CURLE_FAILED_INIT, lacks, ERR_FULL, true);
	check(CURLE_COULDNT_CONNECT, "cannot reach flopwatchd at http://127.0.0.1:9: ", ERR_IO, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shortage_here_is_named),
	};
	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
