/* c_form.c: comments and layout do not change the form of a C source; every token does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "worker/internal.h"

/* Shape: out[256]. Returns false if the text has no form. */
static bool form(const char *text, char *out)
{
	struct buf b;

	buf_init(&b, 255);
	bool result = c_form(text, strlen(text), &b);

	memcpy(out, b.data, b.len + 1);
	buf_fini(&b);
	return result;
}

static void compare(const char *a, const char *b, bool is_same)
{
	char x[256], y[256];

	assert_true(form(a, x));
	assert_true(form(b, y));
	if ((strcmp(x, y) == 0) != is_same)
		fail_msg("\"%s\" and \"%s\" are %s", a, b, is_same ? "not the same" : "the same");
}

static void comments_and_layout_do_not_count(void **state)
{
	(void)state;
	compare("int a;\nint b;\n", "// a\nint a;\n\n/* of\n two */\n  int b; // b\n", true);
	compare("#define A 1\nint a;\n", "/* c */\n#define  A\t1 // one\n\n\nint a;", true);
	compare("#define A 1 \\\n 2\nint a;\n", "#define A 1 \\\n   2\nint a;\n", true);
	compare("int a;\r\nint b;\r\n", "int a;\nint b;\n", true);
	compare("f(1'000'000);", "f( 1'000'000 ) ;", false); /* a blank may become one of a string, by a macro */
	compare("s = \"// no comment\";", "s = \"// no comment\"; // a comment", true);
	compare("r = R\"x(/* \" )\" )x\"; // a", "r = R\"x(/* \" )\" )x\";", true);
	compare("a = b / /* c */ d;", "a = b / d;", true);
	compare("/* c */ int a;", "int a;", true);
	compare("", "// nothing\n", true);
}

static void tokens_count(void **state)
{
	(void)state;
	compare("int a;", "int b;", false);
	compare("s = \"a b\";", "s = \"a  b\";", false);
	compare("s = \"// a\";", "s = \"// b\";", false);
	compare("c = '/'; x // */", "c = '/'; y // */", false);
	compare("a = 1'0; '\"'; b // \"", "a = 1'0; '\"'; c // \"", false);
	compare("r = R\"(a // b)\";", "r = R\"(a // c)\";", false);
	compare("a + +b", "a ++b", false);
	compare("int/**/a;", "inta;", false);
	compare("#define A 1\n2", "#define A 1 2", false);
	compare("a\n#if 1\nb\n#endif\n", "a\n#if 0\nb\n#endif\n", false);
	compare("a /* \n */ #b", "a\n#b", false);
	compare("#define A(x) #x\n", "#define A(x) # x\n", false);
	compare("x // a\ny", "x // a y", false);
}

static void unclear_text_has_no_form(void **state)
{
	static const char *const unclear[] = { "f(__LINE__);", "/* open", "s = \"open\n\";", "c = 'x\n", "// spliced \\\n code",
		"__builtin_LINE()", "std::source_location::current()", "%:define A 1\n", "?\?=define A 1\n", "/\\\n/ c", "?\?/",
		"r = R\"(open", "#include <a//b>\n", "#error don't\n", "a\f", "a \\ b", "/* a \\\n */ b" };
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof unclear / sizeof unclear[0]; i++)
		if (form(unclear[i], out))
			fail_msg("\"%s\" has the form \"%s\"", unclear[i], out);
	char large[400];

	memset(large, 'a', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	assert_false(form(large, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_and_layout_do_not_count),
		cmocka_unit_test(tokens_count),
		cmocka_unit_test(unclear_text_has_no_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
