/* test_interleave.c - the lines of interleaved programs: what is accepted, what is refused, and which line is allowed when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "protocol/protocol.h"

static struct interleave_line good(const char *text)
{
	struct fw_err err = { 0 };
	struct interleave_line line;

	if (interleave_parse(text, strlen(text), &line, &err) != 0)
		fail_msg("%s: %s", text, err.text);
	return line;
}

static void bad(const char *text, const char *why)
{
	struct fw_err err = { 0 };
	struct interleave_line line;

	assert_int_equal(interleave_parse(text, strlen(text), &line, &err), -1);
	assert_int_equal(err.code, ERR_PROTOCOL);
	if (!strstr(err.text, why))
		fail_msg("%s: %s lacks %s", text, err.text, why);
}

static void lines_are_read(void **state)
{
	(void)state;
	struct interleave_line l = good("flopwatch 1 flopwatch.py 0.1.0");

	assert_int_equal(l.type, INTERLEAVE_HELLO);
	assert_string_equal(l.text, "flopwatch.py 0.1.0");
	l = good("turn gemm/4096/\xc2\xb5");
	assert_int_equal(l.type, INTERLEAVE_TURN);
	assert_string_equal(l.key, "gemm/4096/\xc2\xb5");
	assert_true(good("done 1.25 repeats=8 cut=1").repeats == 8);
	l = good("done 1.25 host_us=12.5 mhz=1620 idle_us=30 cut=1 later=7");
	assert_int_equal(l.type, INTERLEAVE_DONE);
	assert_true(l.ms == 1.25 && l.host_us == 12.5 && l.mhz == 1620 && l.idle_us == 30 && l.cut);
	assert_false(good("done 1 cut=0").cut);
	l = good("done 0 cut=1"); /* so interrupted that it has no time */
	assert_true(l.ms == 0 && l.cut);
	l = good("done 0 late=1 host_us=361 spin_us=742"); /* begun before it was queued */
	assert_true(l.ms == 0 && l.late && !l.cut && l.host_us == 361 && l.spin_us == 742);
	l = good("fact unprimed the call waits for the device");
	assert_true(l.fact == INTERLEAVE_UNPRIMED);
	assert_string_equal(l.text, "the call waits for the device");
	l = good("fact flops 1e12");
	assert_true(l.fact == INTERLEAVE_FLOPS && l.value == 1e12);
	l = good("fact config BLOCK=64 num_stages=3");
	assert_true(l.fact == INTERLEAVE_CONFIG);
	assert_string_equal(l.text, "BLOCK=64 num_stages=3");
	l = good("fail wrong O[3] is \x1b[31m1\x1b[0m instead of 2");
	assert_string_equal(l.failure, "wrong");
	assert_null(strchr(l.text, '\033'));
	assert_int_equal(good("bye").type, INTERLEAVE_BYE);
	assert_int_equal(good("parent").type, INTERLEAVE_PARENT);
	l = good("fresh it has 2 other threads");
	assert_true(l.type == INTERLEAVE_FRESH && strcmp(l.text, "it has 2 other threads") == 0);
	l = good("ended exit 3");
	assert_true(l.type == INTERLEAVE_ENDED && l.status == 3 && l.signal == 0);
	l = good("ended signal 11");
	assert_true(l.status == -1 && l.signal == 11);
}

#define HASH "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void kernels_are_read(void **state)
{
	(void)state;
	struct interleave_line l =
		good("fact kernel matmul num_warps=8 num_stages=3 shared=98304 registers=168 spills=2 code=" HASH " source=" HASH
		     " config=BLOCK_N=128,num_warps=8 launches=3 of=2 later=x");

	assert_int_equal(l.fact, INTERLEAVE_KERNEL);
	assert_string_equal(l.kernel.name, "matmul");
	assert_string_equal(l.kernel.config, "BLOCK_N=128,num_warps=8");
	assert_string_equal(l.kernel.code_sha256, HASH);
	assert_string_equal(l.kernel.source_sha256, HASH);
	assert_true(l.kernel.num_warps == 8 && l.kernel.num_stages == 3 && l.kernel.shared_bytes == 98304);
	assert_true(l.kernel.registers == 168 && l.kernel.spills == 2 && l.kernel.launches == 3 && l.kernels == 2);
	l = good("fact kernel scale");
	assert_true(l.kernel.num_warps == -1 && l.kernel.spills == -1 && l.kernel.launches == -1 && !l.kernel.config[0]);
	bad("fact kernel", "without a name");
	bad("fact kernel a b", "name=value");
	bad("fact kernel a num_warps=x", "an invalid number");
	bad("fact kernel a shared=1e12", "an invalid number");
	bad("fact kernel a code=12", "an invalid hash");
	bad("fact kernel a source=" HASH "0", "an invalid hash");
}

static void lists_of_kernels_are_bounded(void **state)
{
	struct reported_kernels a = { 0 }, b = { 0 };
	struct reported_kernel k = { .name = "scale" };

	(void)state;
	for (int i = 0; i < 2 * REPORTED_KERNELS_MAX; i++)
		reported_kernels_add(&a, &k, 40);
	assert_true(a.n == REPORTED_KERNELS_MAX && a.of == 40);
	reported_kernels_fini(&a);
	reported_kernels_add(&a, &k, 1);
	reported_kernels_add(&b, &k, 1);
	assert_true(reported_kernels_equal(&a, &b));
	b.kernel[0].config[0] = 'x';
	assert_false(reported_kernels_equal(&a, &b));
	reported_kernels_fini(&a);
	reported_kernels_fini(&b);
}

static void malformed_lines_are_refused(void **state)
{
	char key[200], line[300];

	(void)state;
	bad("", "an unknown line");
	bad("hello", "\"hello\"");
	bad("flopwatch 2 x", "version 2");
	bad("flopwatch", "number");
	bad("turn", "1 to 159");
	bad("turn a b", "spaces");
	bad("turn a\x01", "hidden");
	bad("turn \xff", "hidden");
	bad("turn \xe2\x80\xae", "hidden");
	bad("done", "an invalid number");
	bad("done 0", "no time");
	bad("done 0 cut=0", "no time");
	bad("done 0 late=0", "no time");
	bad("done 1 spin_us=-1", "an invalid number");
	bad("done -1", "an invalid number");
	bad("done nan", "an invalid number");
	bad("done inf", "an invalid number");
	bad("done 1e10", "an invalid number");
	bad("done 1 mhz=x", "an invalid number");
	bad("done 1 mhz", "name=number");
	bad("fact weight 3", "an unknown fact");
	bad("fact flops -1", "an invalid number");
	bad("fail slow x", "wrong, unsupported or reported");
	bad("bye bye", "a field to a line that has none");
	bad("parent 1", "a field to a line that has none");
	bad("ended", "neither exit nor signal");
	bad("ended exit", "number");
	bad("ended exit 256", "number");
	bad("ended signal 0", "number");
	bad("ended well 0", "neither exit nor signal");
	memset(key, 'k', sizeof key);
	snprintf(line, sizeof line, "turn %.159s", key);
	assert_int_equal(good(line).type, INTERLEAVE_TURN);
	snprintf(line, sizeof line, "turn %.160s", key);
	bad(line, "1 to 159");
	struct fw_err err = { 0 };
	struct interleave_line l;
	assert_int_equal(interleave_parse("bye\0", 4, &l, &err), -1);
	assert_non_null(strstr(err.text, "zero byte"));
}

static void receive(struct interleave_side *s, const char *text)
{
	struct interleave_line line = good(text);
	struct fw_err err = { 0 };

	if (interleave_receive(s, &line, &err) != 0)
		fail_msg("%s: %s", text, err.text);
}

static void not_now(struct interleave_side s, const char *text, const char *why)
{
	struct interleave_line line = good(text);
	struct fw_err err = { 0 };

	assert_int_equal(interleave_receive(&s, &line, &err), -1);
	assert_int_equal(err.code, ERR_PROTOCOL);
	if (!strstr(err.text, why))
		fail_msg("%s: %s lacks %s", text, err.text, why);
}

static void parents_have_an_order(void **state)
{
	struct interleave_side s = { .state = INTERLEAVE_STARTING };

	(void)state;
	not_now(s, "ended exit 0", "not requested");
	receive(&s, "fresh it has 2 other threads");
	assert_int_equal(s.state, INTERLEAVE_STARTING);
	receive(&s, "parent");
	assert_int_equal(s.state, INTERLEAVE_WAITING);
	assert_false(interleave_holds(&s));
	not_now(s, "flopwatch 1 x", "before a run is requested");
	not_now(s, "parent", "before a run is requested");
	not_now(s, "ended exit 0", "not requested");
	interleave_request_run(&s);
	not_now(s, "parent", "before its hello");
	not_now(s, "fresh x", "before its hello");
	receive(&s, "flopwatch 1 x");
	not_now(s, "parent", "after its hello");
	not_now(s, "fresh x", "after its hello");
	receive(&s, "turn a");
	receive(&s, "ended signal 9"); /* a child may end at any time */
}

static void turns_have_an_order(void **state)
{
	struct interleave_side s = { .state = INTERLEAVE_STARTING };

	(void)state;
	not_now(s, "turn a", "before its hello");
	not_now(s, "bye", "before its hello");
	receive(&s, "flopwatch 1 x");
	assert_int_equal(s.state, INTERLEAVE_BUSY);
	not_now(s, "flopwatch 1 x", "twice");
	not_now(s, "done 1", "without a turn");
	not_now(s, "fact flops 1", "outside its turn");
	receive(&s, "turn a");
	assert_int_equal(s.state, INTERLEAVE_RESTING);
	assert_string_equal(s.key, "a");
	not_now(s, "done 1", "without a turn");
	not_now(s, "turn a", "while it waits");
	not_now(s, "bye", "middle of a turn");
	interleave_grant_turn(&s, 2);
	assert_true(interleave_holds(&s));
	not_now(s, "turn a", "before the calls");
	not_now(s, "bye", "middle of a turn");
	receive(&s, "fact flops 1");
	receive(&s, "done 1");
	assert_int_equal(s.state, INTERLEAVE_HOLDING);
	receive(&s, "done 1");
	assert_int_equal(s.state, INTERLEAVE_AFTER);
	assert_true(interleave_holds(&s));
	not_now(s, "done 1", "without a turn");
	receive(&s, "turn b");
	interleave_end_cell(&s);
	assert_int_equal(s.state, INTERLEAVE_BUSY);
	assert_false(interleave_holds(&s));
	receive(&s, "turn c");
	interleave_grant_turn(&s, 1);
	receive(&s, "fail wrong x");
	not_now(s, "done 1", "without a turn");
	receive(&s, "bye");
	not_now(s, "turn a", "after its `bye`");
}

static void a_talkative_program_is_refused(void **state)
{
	struct interleave_side s = { .state = INTERLEAVE_RESTING };

	(void)state;
	interleave_grant_turn(&s, 1);
	for (int i = 0; i < INTERLEAVE_FACTS_MAX; i++)
		receive(&s, "fact flops 1");
	not_now(s, "fact flops 1", "too many lines");
}

static void answers_are_lines(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out, 1000);
	interleave_write_welcome(&out, true);
	interleave_write_welcome(&out, false);
	interleave_write_go(&out, &(struct interleave_go){ .warm = 1, .calls = 16 });
	interleave_write_go(&out, &(struct interleave_go){ .calls = 1, .is_single = true });
	interleave_write_go(&out, &(struct interleave_go){ .warm = 1, .calls = 1, .spin_us = 742.4 });
	interleave_write_go(&out, &(struct interleave_go){ .warm = 1, .calls = 1, .spin_us = 1e6 });
	interleave_write_next(&out);
	assert_string_equal(out.data,
		"welcome 1 list\nwelcome 1 pairs\ngo 1 16\ngo 0 1 repeats=1\ngo 1 1 spin_us=742\ngo 1 1 spin_us=10000\nnext\n");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(kernels_are_read),
		cmocka_unit_test(lists_of_kernels_are_bounded),
		cmocka_unit_test(malformed_lines_are_refused),
		cmocka_unit_test(parents_have_an_order),
		cmocka_unit_test(turns_have_an_order),
		cmocka_unit_test(a_talkative_program_is_refused),
		cmocka_unit_test(answers_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
