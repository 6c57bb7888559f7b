/* Progress of a long command: which lines a terminal, a pipe, --progress and --quiet get. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "cli/internal.h"

static char *written;
static size_t n_written;

static void begin(struct progress *p, const struct options *o)
{
	FILE *out = open_memstream(&written, &n_written);
	assert_non_null(out);
	progress_start(p, o, out);
}

static void wrote(struct progress *p, const char *wanted)
{
	assert_int_equal(fflush(p->out), 0);
	assert_string_equal(written, wanted);
}

static void end(struct progress *p)
{
	assert_int_equal(fclose(p->out), 0);
	free(written);
	written = NULL;
}

static void a_pipe_gets_the_start_of_each_step(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .n_arg = 0 });
	progress_step(&p, "reading");
	progress_begin(&p, "sums: starting");
	progress_step(&p, "sums: running 1 of 9");
	progress_step(&p, "sums: running 2 of 9");
	progress_tick(&p);
	progress_clear(&p);
	progress_begin(&p, "dots: starting");
	progress_clear(&p);
	wrote(&p, "sums: starting\ndots: starting\n");
	end(&p);
}

static void a_pipe_gets_the_step_after_a_minute(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .n_arg = 0 });
	progress_begin(&p, "sums: starting");
	progress_step(&p, "sums: running 1 of 9");
	p.next_ns = 0; /* the minute has passed */
	progress_tick(&p);
	progress_tick(&p); /* the next minute has not */
	wrote(&p, "sums: starting\nsums: running 1 of 9\n");
	p.next_ns = 0;
	progress_step(&p, "sums: running 2 of 9");
	p.next_ns = 0;
	progress_step(&p, "sums: running 2 of 9"); /* equal steps in a row */
	wrote(&p, "sums: starting\nsums: running 1 of 9\nsums: running 2 of 9\nsums: running 2 of 9\n");
	end(&p);
}

static void a_line_has_the_time_of_a_long_step(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .n_arg = 0 });
	progress_step(&p, "sums: running");
	p.begun_ns -= INT64_C(75500000000);
	p.next_ns = 0;
	progress_tick(&p);
	assert_int_equal(fflush(p.out), 0);
	assert_non_null(strstr(written, " s  sums: running\n"));
	assert_true(atoi(written) >= 75);
	end(&p);
}

static void every_step_has_a_line_if_the_user_wants_it(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .progress = true });
	progress_step(&p, "reading");
	progress_begin(&p, "sums: starting");
	progress_step(&p, "sums: running");
	progress_step(&p, "sums: running");
	progress_tick(&p);
	progress_clear(&p);
	wrote(&p, "reading\nsums: starting\nsums: running\n");
	end(&p);
}

static void quiet_is_quiet(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .quiet = true, .progress = true });
	progress_begin(&p, "sums: starting");
	p.next_ns = 0;
	progress_step(&p, "sums: running");
	progress_tick(&p);
	progress_clear(&p);
	wrote(&p, "");
	end(&p);
}

static void names_cannot_control_the_terminal(void **state)
{
	struct progress p;
	(void)state;
	begin(&p, &(struct options){ .n_arg = 0 });
	progress_begin(&p, "a\033[2Jb");
	assert_int_equal(fflush(p.out), 0);
	assert_null(strchr(written, '\033'));
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_gets_the_start_of_each_step),
		cmocka_unit_test(a_pipe_gets_the_step_after_a_minute),
		cmocka_unit_test(a_line_has_the_time_of_a_long_step),
		cmocka_unit_test(every_step_has_a_line_if_the_user_wants_it),
		cmocka_unit_test(quiet_is_quiet),
		cmocka_unit_test(names_cannot_control_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
