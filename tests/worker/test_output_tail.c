/* output_tail.c: which end of a process's output is stored, and how it is quoted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "worker/sandbox/sandbox.h"

static void quoted(const char *text, size_t len, const char *wanted)
{
	struct output_tail w = { .n = 0 };
	char out[OUTPUT_TAIL_QUOTE];

	output_tail_add(&w, text, len);
	output_tail_quote(&w, out);
	assert_string_equal(out, wanted);
}

static void the_last_line_is_quoted(void **state)
{
	char longer[300], wanted[OUTPUT_TAIL_QUOTE];

	(void)state;
	quoted("", 0, "");
	quoted("\n \n", 3, "");
	quoted("one", 3, "; last output: \"one\"");
	quoted("one\ntwo words \n\n", 16, "; last output: \"two words\"");
	quoted("a\tb\x1b[2J\x7f\xc3\xa9~", 11, "; last output: \"a?b?[2J?\xc3\xa9~\"");
	quoted("a\xff\xc3 \xe2\x80\xae~", 8, "; last output: \"a?? ?~\""); /* broken, and one that reverses a line */
	quoted("expected \xe2\x80\x98;\xe2\x80\x99", 16,
		"; last output: \"expected \xe2\x80\x98;\xe2\x80\x99\""); /* gcc's quotes */
	memset(longer, 'x', sizeof longer);
	snprintf(wanted, sizeof wanted, "; last output: \"%.199s\"", longer);
	quoted(longer, sizeof longer, wanted);
	memcpy(longer + 198, "\xe2\x80\x98", 3); /* a character that does not fit is left out as a whole */
	snprintf(wanted, sizeof wanted, "; last output: \"%.198s\"", longer);
	quoted(longer, sizeof longer, wanted);
}

static void quoted_of(const char *text, const char *line)
{
	char wanted[OUTPUT_TAIL_QUOTE];

	snprintf(wanted, sizeof wanted, "; last output: \"%s\"", line);
	quoted(text, strlen(text), wanted);
}

/* pytest, Python, faulthandler, compilers, glibc and C++ write the reason before other lines */
static void the_line_that_explains_the_failure_is_quoted(void **state)
{
	(void)state;
	quoted_of(
		"test_x.py:1: in <module>\n    import numpyx\nE   ModuleNotFoundError: No module named 'numpyx'\n=== short test "
		"summary info ===\nERROR test_x.py\n=== 1 error in 2.79s ===\n  warner(PytestBenchmarkWarning(text))\n",
		"E   ModuleNotFoundError: No module named 'numpyx'");
	quoted_of(
		"E     File \"t.py\", line 3\nE       f(\nE        ^\nE   SyntaxError: '(' was never closed\n=== 1 error in 2.79s ===\n",
		"E   SyntaxError: '(' was never closed");
	quoted_of("E       assert 1 == 2\nE        +  where 1 = f()\n=== 1 failed ===\n", "E       assert 1 == 2");
	quoted_of("Traceback (most recent call last):\n  File \"b.py\", line 1\ntorch.OutOfMemoryError: no room\nbye\n",
		"torch.OutOfMemoryError: no room");
	quoted_of(
		"Fatal Python error: Aborted\n\nCurrent thread (most recent call first):\n  File \"b.py\", line 2 in <module>\n",
		"Fatal Python error: Aborted");
	quoted_of(
		"a.c:3:2: error: expected ';'\n    3 | x\n      |  ^\nmake: *** [a.o] Error 1\n", "a.c:3:2: error: expected ';'");
	quoted_of("terminate called after throwing an instance of 'x'\n  what():  odd\nAborted\n", "  what():  odd");
	quoted_of("max error: 0.1\nrow 7 is odd\n", "row 7 is odd"); /* a result is no reason */
}

static void a_build_is_explained_by_its_first_error(void **state)
{
	const char text[] = "make\na.c:3:2: error: one\na.c:9:2: error: two\nmake: *** [a.o] Error 1\n";
	size_t len;
	const char *line = output_tail_find_cause(text, sizeof text - 1, true, &len);

	(void)state;
	assert_int_equal(len, strlen("a.c:3:2: error: one"));
	assert_memory_equal(line, "a.c:3:2: error: one", len);
	line = output_tail_find_cause("one\ntwo\n", 8, true, &len);
	assert_int_equal(len, 3);
	assert_memory_equal(line, "two", len);
}

static void only_the_end_is_stored(void **state)
{
	static char text[3 * OUTPUT_TAIL_SIZE];
	struct output_tail w = { .n = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i % 23);
	output_tail_add(&w, text, 10);
	output_tail_add(&w, text + 10, OUTPUT_TAIL_SIZE - 10); /* exactly full */
	assert_int_equal(w.n, OUTPUT_TAIL_SIZE);
	assert_memory_equal(w.text, text, OUTPUT_TAIL_SIZE);
	output_tail_add(&w, text + OUTPUT_TAIL_SIZE, 100);
	assert_int_equal(w.n, OUTPUT_TAIL_SIZE);
	assert_memory_equal(w.text, text + 100, OUTPUT_TAIL_SIZE);
	output_tail_add(&w, text, sizeof text); /* more than fits at once */
	assert_int_equal(w.n, OUTPUT_TAIL_SIZE);
	assert_memory_equal(w.text, text + sizeof text - OUTPUT_TAIL_SIZE, OUTPUT_TAIL_SIZE);
	output_tail_add(&w, text, 0);
	assert_memory_equal(w.text, text + sizeof text - OUTPUT_TAIL_SIZE, OUTPUT_TAIL_SIZE);
}

static bool is_memory_full(const char *text)
{
	struct output_tail w = { .n = 0 };

	output_tail_add(&w, text, strlen(text));
	return output_tail_is_out_of_memory(&w);
}

static void a_full_device_is_recognized(void **state)
{
	(void)state;
	assert_true(is_memory_full("RuntimeError: CUDA error: out of memory"));
	assert_true(is_memory_full("torch.cuda.OutOfMemoryError"));
	assert_true(is_memory_full("CUDA_ERROR_OUT_OF_MEMORY\nat line 7\n"));
	assert_true(is_memory_full("cudaErrorMemoryAllocation"));
	assert_true(is_memory_full("all CUDA-capable devices are busy or unavailable"));
	assert_true(is_memory_full("CUDA_ERROR_DEVICE_UNAVAILABLE"));
	assert_true(is_memory_full("cudaErrorDevicesUnavailable"));
	assert_false(is_memory_full("out of luck"));
	assert_false(is_memory_full(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_is_quoted),
		cmocka_unit_test(the_line_that_explains_the_failure_is_quoted),
		cmocka_unit_test(a_build_is_explained_by_its_first_error),
		cmocka_unit_test(only_the_end_is_stored),
		cmocka_unit_test(a_full_device_is_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
