/* A child's output is read to its end, or until a reader has enough. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "worker/sandbox/sandbox.h"

struct reading {
	int calls;
	size_t bytes;
	bool refuses;
};

static int take(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct reading *r = arg;
	(void)data;
	r->calls++;
	r->bytes += len;
	if (!r->refuses)
		return 0;
	assert_int_equal(pump_sleep(&(struct peer){ .in = -1, .out = -1 }, 200, err), 0); /* meanwhile the child writes */
	return err_set(err, ERR_PROTOCOL, "enough");
}

/* A child that writes 60,000 bytes to stdout, and then repeatedly to descriptor 3. */
static int watch(struct reading *out, struct reading *records, struct fw_err *err)
{
	static const char *const argv[] = { "/bin/bash", "-c",
		"printf %060000d 1; for ((i = 0; i < 10; i++)); do printf %09000d 1 >&3; done", NULL };
	struct peer peer;
	struct pump pump = { .peer = &peer,
		.stream = { { .read = take, .arg = out, .child_fd = 1 },
			{ .read = take, .arg = records, .child_fd = 3, .socket = true } },
		.n_streams = 2,
		.deadline_ms = 60000 };
	struct proc_exit how;
	peer_init(&peer, -1, -1);
	int result = pump_run(&pump, &(struct proc_spec){ .argv = argv }, &how, err);
	peer_fini(&peer);
	return result;
}

static void everything_is_read(void **state)
{
	struct reading out = { 0 }, records = { 0 };
	struct fw_err err = { 0 };
	(void)state;
	assert_int_equal(watch(&out, &records, &err), 0);
	assert_int_equal(out.bytes, 60000);
	assert_int_equal(records.bytes, 90000);
}

static void a_reader_that_refuses_gets_no_more_data(void **state)
{
	struct reading out = { 0 }, records = { .refuses = true };
	struct fw_err err = { 0 };
	(void)state;
	assert_int_equal(watch(&out, &records, &err), -1);
	assert_string_equal(err.text, "enough");
	assert_int_equal(records.calls, 1);
	assert_int_equal(out.bytes, 60000); /* the last message counts */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_read),
		cmocka_unit_test(a_reader_that_refuses_gets_no_more_data),
	};
	procs_adopt();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
