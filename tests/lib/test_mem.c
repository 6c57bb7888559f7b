/* Memory of computed sizes: zeroed, grown, copied; the program reports a failed allocation and aborts, or exits if it asked for it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/lib.h"

/* An address sanitizer would end the program itself. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void memory_is_zeroed_and_grown(void **state)
{
	(void)state;
	int *list = mem_alloc_zero(3, sizeof *list);
	assert_int_equal(list[0] | list[1] | list[2], 0);
	list[2] = 7;
	list = mem_grow(list, 1000, sizeof *list);
	assert_int_equal(list[2], 7);
	free(list);
	list = mem_grow(NULL, 0, sizeof *list);
	assert_non_null(list);
	free(list);
	char *text = mem_copy_text("a text");
	assert_string_equal(text, "a text");
	free(text);
}

static size_t too_large(void)
{
	volatile size_t half = SIZE_MAX / 2; /* that the compiler does not see */
	return half;
}

static void alloc(void)
{
	free(mem_alloc(too_large()));
}

static void alloc_product(void)
{
	free(mem_alloc_zero(too_large(), 4));
}

static void grow(void)
{
	free(mem_grow(NULL, too_large(), 4));
}

static void grow_buf(void)
{
	struct buf b;

	buf_init(&b, too_large());
	assert_null(buf_reserve(&b, too_large() - 1));
	assert_true(b.failed && b.is_out_of_memory);
	buf_fini(&b);
}

static void grow_optional_buf(void)
{
	struct buf b;

	buf_init(&b, too_large());
	b.is_optional = true;
	assert_null(buf_reserve(&b, too_large() - 1));
	buf_fini(&b);
}

static void require_memory(void)
{
	struct buf b;

	buf_init(&b, too_large());
	buf_puts(&b, "text");
	buf_require_memory(&b);
	assert_null(buf_reserve(&b, too_large() - 5));
	buf_require_memory(&b);
}

static void end_by_alloc(void)
{
	mem_end_program("flopwatch-git", 75);
	alloc();
}

static void end_by_buf(void)
{
	mem_end_program("flopwatch-git", 75);
	grow_buf();
}

static void go_on_without_optional_buf(void)
{
	mem_end_program("flopwatch-git", 75);
	grow_optional_buf();
}

/* What the child writes to stderr; returns how it ended. */
static int run(void (*fn)(void), const char *said)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		fn();
		_exit(0);
	}
	close(ends[1]);
	struct buf text;
	int how;
	buf_init(&text, 1 << 16);
	assert_int_equal(buf_read_fd(&text, ends[0]), 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_non_null(strstr(text.data, said));
	/* the sanitizers report such an allocation themselves */
	assert_true(*said || text.len == 0 || !strstr(text.data, "out of memory"));
	buf_fini(&text);
	return how;
}

static void aborts(void (*fn)(void), const char *said)
{
	int how = run(fn, said);

	assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
}

static void exits(void (*fn)(void), int status, const char *said)
{
	int how = run(fn, said);

	assert_true(WIFEXITED(how));
	assert_int_equal(WEXITSTATUS(how), status);
}

static void without_memory_the_program_aborts(void **state)
{
	(void)state;
	aborts(alloc, "out of memory: 9223372036854775807 bytes\n");
	aborts(alloc_product, "out of memory: 18446744073709551615 bytes\n");
	aborts(grow, "out of memory: 18446744073709551615 bytes\n");
	aborts(require_memory, "out of memory: ");
	grow_buf(); /* its owner reports it */
}

static void a_program_of_one_task_ends_with_its_status(void **state)
{
	(void)state;
	exits(end_by_alloc, 75,
		"flopwatch-git: out of memory: 9223372036854775807 bytes; free memory on this machine and try again\n");
	exits(end_by_buf, 75,
		"flopwatch-git: out of memory: 9223372036854775807 bytes; free memory on this machine and try again\n");
	exits(go_on_without_optional_buf, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_grown),
		cmocka_unit_test(without_memory_the_program_aborts),
		cmocka_unit_test(a_program_of_one_task_ends_with_its_status),
	};
	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
