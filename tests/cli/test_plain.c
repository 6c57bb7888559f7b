/* Lines for people are printed whole, without control characters, and also without memory; a table is whole or an error. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/internal.h"
#include "lib/lib.h"

static bool has_no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return has_no_memory ? NULL : __real_realloc(old, size);
}

static char *printed(const char *text, bool is_without_memory)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);
	assert_non_null(out);
	has_no_memory = is_without_memory;
	plain_line(out, "flopwatch: %s", text);
	has_no_memory = false;
	assert_int_equal(fclose(out), 0);
	return line;
}

static void check(const char *text, bool is_without_memory, const char *wanted)
{
	char *line = printed(text, is_without_memory);
	assert_string_equal(line, wanted);
	free(line);
}

static void a_line_has_its_text(void **state)
{
	(void)state;
	check("no such branch", false, "flopwatch: no such branch\n");
	check("no such branch", true, "flopwatch: no such branch\n");
}

static void control_characters_are_replaced(void **state)
{
	(void)state;
	check("a\tb\x1b[2J", false, "flopwatch: a\\x09b\\x1b[2J\n");
	check("a\tb\x1b[2J \xc3\xbc", true, "flopwatch: a?b?[2J ??\n");
}

static void a_long_line_is_whole_unless_memory_is_exhausted(void **state)
{
	(void)state;
	enum { LONG = 100000 };
	char *text = malloc(LONG + 1);
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	char *line = printed(text, false);
	assert_int_equal(strlen(line), strlen("flopwatch: \n") + LONG);
	free(line);
	line = printed(text, true);
	assert_true(strlen(line) > 1000);
	assert_memory_equal(line, "flopwatch: xxx", strlen("flopwatch: xxx"));
	free(line);
	free(text);
}

/* Run in a child: a table that lacks cells ends the program. */
static void print_table(int failing_cell)
{
	static const char *const titles[] = { "commit", "verdict" };
	struct table t;
	FILE *out = fopen("/dev/null", "w");
	table_init(&t, 2, titles);
	for (int i = 0; i < 8; i++) {
		has_no_memory = i == failing_cell;
		table_cell(&t, "%s", i % 2 ? "regression" : "slow");
	}
	has_no_memory = false;
	table_print(&t, out);
	table_fini(&t);
	fclose(out);
	exit(EXIT_OK);
}

static void a_table_without_a_cell_is_an_error(void **state)
{
	(void)state;
	for (int failing_cell = -1; failing_cell < 8; failing_cell++) {
		char said[256] = "";
		int reported[2], status;
		assert_int_equal(pipe(reported), 0);
		fflush(NULL);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			dup2(reported[1], STDERR_FILENO);
			print_table(failing_cell);
		}
		close(reported[1]);
		assert_true(read(reported[0], said, sizeof said - 1) >= 0);
		close(reported[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), failing_cell < 0 ? EXIT_OK : EXIT_ERROR);
		assert_int_equal(strncmp(said, "flopwatch: cannot print a table: ", 33) == 0, failing_cell >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_text),
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(a_table_without_a_cell_is_an_error),
		cmocka_unit_test(a_long_line_is_whole_unless_memory_is_exhausted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
