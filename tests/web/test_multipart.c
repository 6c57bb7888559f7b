/* Bodies of type multipart/form-data, as browsers and curl write them, cut, damaged, and hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "web/http/http.h"

static const char type[] = "multipart/form-data; boundary=--aB3";
static const char body[] = "----aB3\r\nContent-Disposition: form-data; name=\"base\"; filename=\"a \\\"b\\\".csv\"\r\n"
			   "Content-Type: text/csv\r\n\r\n1,2\r\n--\r\n----aB\r\n\r\n"
			   "----aB3\r\ncontent-disposition:form-data;name=unit\r\n\r\n\r\n"
			   "----aB3--\r\n";

static void parts_have_names_and_bytes(void **state)
{
	(void)state;
	struct multipart_part part;
	size_t at = 0;
	assert_int_equal(multipart_next(type, body, sizeof body - 1, &at, &part), 1);
	assert_string_equal(part.name, "base");
	assert_string_equal(part.file, "a \"b\".csv");
	assert_int_equal(part.len, strlen("1,2\r\n--\r\n----aB\r\n"));
	assert_memory_equal(part.data, "1,2\r\n--\r\n----aB\r\n", part.len);
	assert_int_equal(multipart_next(type, body, sizeof body - 1, &at, &part), 1);
	assert_string_equal(part.name, "unit");
	assert_string_equal(part.file, "");
	assert_int_equal(part.len, 0);
	assert_int_equal(multipart_next(type, body, sizeof body - 1, &at, &part), 0);
}

/* Read all parts of `n` bytes that end where their memory ends, so that a sanitizer reports a read beyond it. Returns the last result. */
static int read_all(const char *bytes, size_t n, int *parts)
{
	struct multipart_part part;
	char *copy = malloc(n + 1);
	size_t at = 0;
	int result;
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	copy[n] = '\0';
	for (*parts = 0; (result = multipart_next(type, copy, n, &at, &part)) == 1; ++*parts)
		assert_true(part.data + part.len <= copy + n);
	free(copy);
	return result;
}

static void a_cut_body_is_malformed(void **state)
{
	(void)state;
	int parts;
	size_t whole = strlen(body) - 2; /* the end of the last line may be missing */
	for (size_t n = 0; n < whole; n++) {
		if (read_all(body, n, &parts) != -1)
			fail_msg("a body of %zu bytes is accepted", n);
		assert_true(parts <= 2);
	}
	assert_int_equal(read_all(body, whole, &parts), 0);
	assert_int_equal(parts, 2);
}

/* Any byte may be any other: at worst the body is malformed. */
static void a_damaged_body_is_harmless(void **state)
{
	(void)state;
	static const char bytes[] = { '\0', '"', '\\', ';', '=', '\r', '\n', '-', (char)0xff };
	char copy[sizeof body];
	int parts;
	for (size_t i = 0; i + 1 < sizeof body; i++)
		for (size_t k = 0; k < sizeof bytes; k++) {
			memcpy(copy, body, sizeof body);
			copy[i] = bytes[k];
			assert_true(read_all(copy, sizeof body - 1, &parts) <= 0);
			assert_true(parts <= 2);
		}
}

static int first_of(const char *of_type, const char *text, struct multipart_part *part)
{
	size_t at = 0;
	return multipart_next(of_type, text, strlen(text), &at, part);
}

static void names_and_types_are_checked(void **state)
{
	(void)state;
	static char long_name[600];
	struct multipart_part part;
	assert_true(multipart_is("Multipart/Form-Data; boundary=x"));
	assert_false(multipart_is("multipart/mixed; boundary=x"));
	assert_false(multipart_is(NULL));
	assert_int_equal(first_of("multipart/form-data", body, &part), -1);
	assert_int_equal(first_of("multipart/form-data; boundary=", body, &part), -1);
	assert_int_equal(first_of("multipart/form-data; boundary=\"", body, &part), -1);
	assert_int_equal(first_of("multipart/form-data; charset=utf-8; boundary=\"--aB3\"", body, &part), 1);
	assert_int_equal(
		first_of(type, "----aB3\r\nContent-Disposition: form-data; filename=\"name=x\"\r\n\r\n\r\n----aB3--", &part), -1);
	assert_int_equal(first_of(type, "----aB3\r\nContent-Disposition: form-data; name=\"a\r\n\r\n\r\n----aB3--", &part), -1);
	assert_int_equal(first_of(type, "----aB3\r\nContent-Type: text/csv\r\n\r\n\r\n----aB3--", &part), -1);
	snprintf(long_name, sizeof long_name, "----aB3\r\nContent-Disposition: form-data; name=\"%0100d\"\r\n\r\n\r\n----aB3--",
		1);
	assert_int_equal(first_of(type, long_name, &part), -1);
	snprintf(long_name, sizeof long_name,
		"----aB3\r\nContent-Disposition: form-data; name=\"a\"; filename=\"%0400d\"\r\n\r\n\r\n----aB3--", 1);
	assert_int_equal(first_of(type, long_name, &part), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_have_names_and_bytes),
		cmocka_unit_test(a_cut_body_is_malformed),
		cmocka_unit_test(a_damaged_body_is_harmless),
		cmocka_unit_test(names_and_types_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
