/* Lines: any split of the stream gives the same lines and payloads; a line that is too long is refused at any position. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"

/* The output: lines in [], payload bytes in (). */
static void drain(struct lines *l, struct buf *seen)
{
	char *line;
	const char *data;
	size_t len;

	for (;;) {
		len = lines_payload(l, &data);
		if (len) {
			buf_append(seen, data, len);
			continue;
		}
		if (!lines_next(l, &line, &len))
			return;
		assert_int_equal(strlen(line), len);
		buf_printf(seen, "[%s]", line);
		if (line[0] == 'p')
			lines_expect(l, (size_t)atoi(line + 1));
	}
}

static void any_cut_gives_the_same(void **state)
{
	static const char stream[] = "one\n\np5\nab\ncdtwo\np0\np3\n\n\n\nend\nrest";
	static const char wanted[] = "[one][][p5]ab\ncd[two][p0][p3]\n\n\n[end]";
	size_t step;

	(void)state;
	for (step = 1; step < sizeof stream; step++) {
		struct fw_err err = { 0 };
		struct lines l;
		struct buf seen;
		size_t at;

		lines_init(&l, 10);
		buf_init(&seen, 1000);
		for (at = 0; at < sizeof stream - 1; at += step) {
			size_t n = sizeof stream - 1 - at < step ? sizeof stream - 1 - at : step;

			assert_int_equal(lines_feed(&l, stream + at, n, &err), 0);
			drain(&l, &seen);
		}
		assert_string_equal(seen.data, wanted);
		lines_fini(&l);
		buf_fini(&seen);
	}
}

static void too_long_is_refused(void **state)
{
	struct fw_err err = { 0 };
	struct lines l;
	struct buf seen;

	(void)state;
	buf_init(&seen, 1000);
	lines_init(&l, 5);
	assert_int_equal(lines_feed(&l, "12345", 5, &err), 0);
	assert_int_equal(lines_feed(&l, "\n", 1, &err), 0);
	drain(&l, &seen);
	assert_string_equal(seen.data, "[12345]");
	assert_int_equal(lines_feed(&l, "123456", 6, &err), -1);
	assert_int_equal(err.code, ERR_PROTOCOL);
	lines_fini(&l);

	/* after a good line, complete, in one piece: buffered and refused at the next feed */
	err_clear(&err);
	buf_clear(&seen);
	lines_init(&l, 5);
	assert_int_equal(lines_feed(&l, "ok\n1234567\n", 11, &err), 0);
	drain(&l, &seen);
	assert_string_equal(seen.data, "[ok]");
	assert_int_equal(lines_feed(&l, "x", 1, &err), -1);
	lines_fini(&l);
	buf_fini(&seen);
}

static void payload_may_be_longer_than_a_line(void **state)
{
	struct fw_err err = { 0 };
	struct lines l;
	char block[1000];
	const char *data;
	char *line;
	size_t len, got = 0;
	int i;

	(void)state;
	memset(block, 'x', sizeof block);
	lines_init(&l, 8);
	assert_int_equal(lines_feed(&l, "p100000\n", 8, &err), 0);
	assert_int_equal(lines_next(&l, &line, &len), 1);
	lines_expect(&l, 100000);
	for (i = 0; i < 100; i++) {
		assert_int_equal(lines_feed(&l, block, sizeof block, &err), 0);
		while ((len = lines_payload(&l, &data)) > 0)
			got += len;
	}
	assert_int_equal(got, 100000);
	assert_int_equal(lines_next(&l, &line, &len), 0);
	assert_int_equal(lines_feed(&l, "next\n", 5, &err), 0);
	assert_int_equal(lines_next(&l, &line, &len), 1);
	assert_string_equal(line, "next");
	lines_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_cut_gives_the_same), cmocka_unit_test(too_long_is_refused),
		cmocka_unit_test(payload_may_be_longer_than_a_line) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
