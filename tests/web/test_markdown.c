/* Foreign names and texts in a review comment: whatever they contain, they stay in their span or cell. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/html/html.h"

static struct buf out;

static const char *written(void (*write)(struct buf *, const char *), const char *text)
{
	buf_clear(&out);
	write(&out, text);
	return out.data;
}

static void names_stay_in_their_span(void **state)
{
	(void)state;
	assert_string_equal(written(markdown_code, "gemm/m1024 *x*"), "`gemm/m1024 *x*`");
	assert_string_equal(
		written(markdown_code, "a`![x](https://e.example/p.png)`b"), "`a\\x60![x](https://e.example/p.png)\\x60b`");
	assert_string_equal(written(markdown_code, "fwd|bf16"), "`fwd\\|bf16`");
	assert_string_equal(written(markdown_code, "fwd\\|bf16"), "`fwd\\\\x7cbf16`");
	assert_string_equal(written(markdown_code, "a\nb\x1b\u202e\xff"), "`a\\x0ab\\x1b\\u202e\ufffd`");
	assert_string_equal(written(markdown_code, "@everyone"), "`@everyone`");
}

static void texts_are_no_markup(void **state)
{
	(void)state;
	assert_string_equal(written(markdown_text, "one two\nthree"), "one two three");
	assert_string_equal(written(markdown_text, "![x](y) <b> a|b `c`"), "\\!\\[x\\]\\(y\\) \\<b\\> a\\|b \\`c\\`");
	assert_string_equal(written(markdown_text, "see https://e.example, (www.e.example) by @all"),
		"see `https://e.example,` \\(www.e.example\\) by `@all`");
	assert_string_equal(written(markdown_text, "WWW.e.example"), "`WWW.e.example`");
	assert_string_equal(written(markdown_text, ""), "");
}

/* One span, in one column, on one line. */
static void any_name_is_one_span(void **state)
{
	(void)state;
	static const char pieces[][8] = { "`", "``", "|", "\\", "\n", "\r", "a", " ", "![x](y)", "@", "<", "\xff", "\u2028" };
	srand(7);
	for (int i = 0; i < 20000; i++) {
		char name[128] = "";
		for (int k = rand() % 12; k >= 0; k--)
			strcat(name, pieces[(size_t)rand() % (sizeof pieces / sizeof pieces[0])]);
		const char *code = written(markdown_code, name);
		size_t len = strlen(code);
		assert_true(code[0] == '`' && code[len - 1] == '`' && memchr(code + 1, '`', len - 2) == NULL);
		assert_null(strpbrk(code, "\r\n"));
		for (const char *bar = strchr(code, '|'); bar; bar = strchr(bar + 1, '|'))
			assert_true(bar[-1] == '\\' && bar[-2] != '\\');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_stay_in_their_span),
		cmocka_unit_test(texts_are_no_markup),
		cmocka_unit_test(any_name_is_one_span),
	};
	buf_init(&out, 1 << 16);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_fini(&out);
	return failed;
}
