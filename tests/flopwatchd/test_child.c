/* Git tasks: results of a child process, texts of failures, limits and deadlines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/lib.h"

struct git_task {
	struct loop *loop;
	int calls;
	char out[256];
	struct fw_err failed;
};

static void done(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct git_task *e = arg;
	e->calls++;
	assert_true(out->len < sizeof e->out);
	memcpy(e->out, out->data, out->len + 1);
	if (failed)
		e->failed = *failed;
	loop_stop(e->loop);
}

static struct git_task run(const char *script, const struct buf *in, size_t out_max, int64_t deadline_ms, int out_fd)
{
	struct git_task e = { 0 };
	struct fw_err err = { 0 };
	const char *args[] = { "-c", script, NULL };
	struct child_spec spec = {
		.program = "sh", .args = args, .in = in, .out_fd = out_fd, .out_max = out_max, .deadline_ms = deadline_ms
	};
	assert_int_equal(loop_new(&e.loop, &err), 0);
	if (child_start(e.loop, &spec, done, &e, NULL, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(loop_run(e.loop, &err), 0);
	loop_free(e.loop);
	assert_int_equal(e.calls, 1);
	return e;
}

static void test_output_comes_back(void **state)
{
	(void)state;
	struct git_task e = run("echo one; echo two; echo diagnostics >&2", NULL, 100, 0, -1);
	assert_string_equal(e.out, "one\ntwo\n");
	assert_int_equal(e.failed.code, ERR_NONE);
}

static void test_input_arrives(void **state)
{
	(void)state;
	struct buf in;
	buf_init(&in, 100);
	buf_puts(&in, "said\n");
	struct git_task e = run("cat; cat", &in, 100, 0, -1);
	assert_string_equal(e.out, "said\n");
	buf_fini(&in);
	e = run("cat; echo end", NULL, 100, 0, -1);
	assert_string_equal(e.out, "end\n");
}

static void test_the_last_line_of_errors_is_the_reason(void **state)
{
	(void)state;
	struct git_task e = run("echo first >&2; echo 'prog: it is broken' >&2; echo >&2; exit 1", NULL, 100, 0, -1);
	assert_string_equal(e.failed.text, "prog: it is broken");
	e = run("exit 4", NULL, 100, 0, -1);
	assert_string_equal(e.failed.text, "sh: exit 4");
	e = run("echo half a line >&2; kill -9 $$", NULL, 100, 0, -1);
	assert_string_equal(e.failed.text, "sh: killed by SIGKILL; last line: half a line");
}

/* Callers decide by the error code, never by the text. */
static void test_how_it_ended_has_a_code(void **state)
{
	(void)state;
	static const struct {
		const char *script;
		enum err_code code;
	} ends[] = { { "exit 1", ERR_INVALID }, { "exit 2", ERR_INVALID }, { "exit 3", ERR_NOT_FOUND }, { "exit 75", ERR_BUSY },
		{ "kill -9 $$", ERR_BUSY }, { "kill -TERM $$", ERR_BUSY }, { "ulimit -c 0; kill -SEGV $$", ERR_CRASHED },
		{ "ulimit -c 0; kill -ABRT $$", ERR_CRASHED } };
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (run(ends[i].script, NULL, 100, 0, -1).failed.code != ends[i].code)
			fail_msg("%s", ends[i].script);
}

static void test_a_deadline(void **state)
{
	(void)state;
	struct git_task e = run("sleep 1000", NULL, 100, 20, -1);
	assert_int_equal(e.failed.code, ERR_TIMEOUT);
}

static void test_too_much_output(void **state)
{
	(void)state;
	struct git_task e = run("echo 0123456789", NULL, 5, 0, -1);
	assert_int_equal(e.failed.code, ERR_INVALID);
	assert_string_equal(e.failed.text, "sh printed more than 5 bytes");
	e = run("exec yes", NULL, 50, 0, -1); /* ends at its file size limit */
	assert_int_not_equal(e.failed.code, ERR_NONE);
}

static void test_output_into_a_file(void **state)
{
	(void)state;
	char path[] = "/tmp/fw-capture-XXXXXX", text[8] = "";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	struct git_task e = run("echo kept", NULL, 100, 0, fd);
	assert_string_equal(e.out, "");
	assert_int_equal(pread(fd, text, 7, 0), 5);
	assert_string_equal(text, "kept\n");
	close(fd);
	unlink(path);
}

static void test_a_cancelled_git_task_is_silent(void **state)
{
	(void)state;
	struct git_task e = { 0 };
	struct fw_err err = { 0 };
	struct child *c = NULL;
	const char *args[] = { "1000", NULL }, *no_args[] = { NULL };
	struct child_spec spec = { .program = "sleep", .args = args, .out_fd = -1, .out_max = 10 };
	assert_int_equal(loop_new(&e.loop, &err), 0);
	assert_int_equal(child_start(e.loop, &spec, done, &e, &c, &err), 0);
	child_cancel(c);
	child_cancel(NULL);
	spec = (struct child_spec){ .program = "no-such-program", .args = no_args, .out_fd = -1, .out_max = 10 };
	assert_int_equal(child_start(e.loop, &spec, done, &e, &c, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	loop_free(e.loop);
	assert_int_equal(e.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_comes_back),
		cmocka_unit_test(test_input_arrives),
		cmocka_unit_test(test_the_last_line_of_errors_is_the_reason),
		cmocka_unit_test(test_how_it_ended_has_a_code),
		cmocka_unit_test(test_a_deadline),
		cmocka_unit_test(test_too_much_output),
		cmocka_unit_test(test_output_into_a_file),
		cmocka_unit_test(test_a_cancelled_git_task_is_silent),
	};
	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
