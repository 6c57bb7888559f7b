/* Readings of a device that discard a run, the signature of a record, and the lists that only parts of messages have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/internal.h"
#include "protocol/protocol.h"

static void readings_before_and_after(void **state)
{
	struct msg_device_check g, after;

	(void)state;
	device_check_unknown(&g);
	assert_true(g.power_w < 0 && g.temp_c < 0 && g.sm_mhz < 0 && g.foreign < 0 && g.energy_j < 0);
	device_check_unknown(&after);
	device_check_merge(&g, &after);
	assert_true(g.energy_j < 0 && g.power_w < 0); /* unknown stays unknown */
	g = (struct msg_device_check){ .power_w = 300, .temp_c = 50, .sm_mhz = 1800, .energy_j = 1000, .reasons = 1, .ecc = 1 };
	after = (struct msg_device_check){
		.power_w = 650, .temp_c = 45, .sm_mhz = -1, .energy_j = 1250, .reasons = 4, .foreign = 2, .xid = 31, .ecc = 2
	};
	device_check_merge(&g, &after);
	assert_true(g.energy_j == 250 && g.power_w == 650 && g.temp_c == 50 && g.sm_mhz == 1800);
	assert_true(g.reasons == 5 && g.foreign == 2 && g.xid == 31 && g.ecc == 3);
	g.energy_j = 500; /* a counter that went back was reset */
	after.energy_j = 100;
	device_check_merge(&g, &after);
	assert_true(g.energy_j < 0);
}

static void what_discards_a_run(void **state)
{
	static const struct {
		struct msg_device_check g;
		const char *why; /* NULL: nothing */
	} cases[] = {
		{ { .power_w = 700, .foreign = 0 }, NULL },
		{ { .reasons = DEVICE_CHECK_POWER_CAP | 1, .foreign = -1 }, NULL },
		{ { .xid = 79, .ecc = 1 }, "the driver reported XID 79" },
		{ { .ecc = 2, .foreign = 1 }, "2 uncorrected memory errors" },
		{ { .foreign = 1, .reasons = DEVICE_CHECK_HW_SLOWDOWN }, "1 other process used the device" },
		{ { .foreign = 3 }, "3 other processes used the device" },
		{ { .reasons = DEVICE_CHECK_HW_SLOWDOWN }, "a hardware slowdown reduced the clock (limit reasons 0x8)" },
		{ { .reasons = DEVICE_CHECK_SW_THERMAL | 1 }, "heat reduced the clock (limit reasons 0x21)" },
		{ { .reasons = DEVICE_CHECK_HW_THERMAL }, "heat reduced the clock (limit reasons 0x40)" },
		{ { .reasons = DEVICE_CHECK_POWER_BRAKE }, "the power brake reduced the clock (limit reasons 0x80)" },
	};
	char why[DEVICE_CHECK_WHY_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(device_check_discards(&cases[i].g, why), cases[i].why != NULL);
		assert_string_equal(why, cases[i].why ? cases[i].why : "");
	}
	assert_true(device_check_xid_breaks(79) && device_check_xid_breaks(48));
	assert_false(device_check_xid_breaks(31) || device_check_xid_breaks(0)); /* 31: a fault of the program */
}

static void signatures_of_records(void **state)
{
	char key[SIGNATURE_KEY + 1], mac[SIGNATURE_MAC + 1], line[SIGNATURE_MAC + 64];

	(void)state;
	memset(key, 'k', SIGNATURE_KEY);
	key[SIGNATURE_KEY] = '\0';
	signature_make(key, "7 text", 6, mac);
	assert_int_equal(strlen(mac), SIGNATURE_MAC);
	int len = snprintf(line, sizeof line, "%s 7 text", mac);
	assert_string_equal(signature_open(key, 7, line, (size_t)len), "text");
	assert_null(signature_open(key, 8, line, (size_t)len)); /* one that is repeated, or left out */
	assert_null(signature_open(key, 77, line, (size_t)len));
	for (int cut = 0; cut < len; cut++)
		assert_null(signature_open(key, 7, line, (size_t)cut));
	for (int i = 0; i < len; i++) {
		line[i] ^= 1;
		assert_null(signature_open(key, 7, line, (size_t)len));
		line[i] ^= 1;
	}
	key[0] = 'x';
	assert_null(signature_open(key, 7, line, (size_t)len));
}

static struct tried_config tried(const char *config, double ms)
{
	struct tried_config t = { .ms = ms };

	snprintf(t.config, sizeof t.config, "%s", config);
	return t;
}

static void tried_configurations(void **state)
{
	struct tried t = { .n = 5, .of = 9 };
	struct buf out;
	struct jsonw j;

	(void)state;
	t.config = mem_alloc_zero(5, sizeof *t.config);
	t.config[0] = tried("failed", 0), t.config[1] = tried("slow", 3), t.config[2] = tried("fast", 1);
	t.config[3] = tried("also fast", 1), t.config[4] = tried("a failed one", 0);
	tried_sort(&t);
	assert_string_equal(t.config[0].config, "also fast");
	assert_string_equal(t.config[1].config, "fast");
	assert_string_equal(t.config[2].config, "slow");
	assert_string_equal(t.config[4].config, "failed"); /* those without a time are last */
	t.n = 2;
	buf_init(&out, 4096);
	jsonw_init(&j, &out);
	tried_write(&j, &t);
	assert_string_equal(out.data, "{\"of\":9,\"list\":[{\"config\":\"also fast\",\"ms\":1},{\"config\":\"fast\",\"ms\":1}]}");
	tried_fini(&t);
	tried_sort(&t);
	buf_clear(&out);
	jsonw_init(&j, &out);
	tried_write(&j, &t);
	assert_string_equal(out.data, "null");
	buf_fini(&out);
}

static void seconds_of_a_record(void **state)
{
	float base[] = { 500, 1500 }, target[] = { 1000, 1000 };
	struct msg_cell m = { .n = 2, .n_sides = 2, .ms = { base, target } };

	(void)state;
	assert_true(msg_cell_seconds(&m) == 4);
}

#define COMMIT "1111111111111111111111111111111111111111"
#define SHA    "0000000000000000000000000000000000000000000000000000000000000000"
#define STALLS(lines)                                                                                                            \
	"{\"t\":\"stalls\",\"cell\":0,\"role\":\"base\",\"symbol_sha256\":\"" SHA "\",\"samples\":9,\"lines\":" lines "}\n"

/* Rows without keys are read by hand, so each of their values is checked here. */
static void stalls_are_checked(void **state)
{
	static const char *const bad[] = { "[[0]]", "[[0,1,\"wait\"]]", "[[-1,1,\"wait\",1]]", "[[0,-1,\"wait\",1]]",
		"[[0,1,\"wait\",-1]]", "[[0,1.5,\"wait\",1]]", "[[0,1,7,1]]", "[[0,1,\"\",1]]", "[[0,1,\"a b\",1]]",
		"[[4294967296,1,\"wait\",1]]", "[[0,1,\"a_reason_that_is_longer_than_any_of_them_ever_was_0123456789\",1]]",
		"[[16,1,\"wait\",1],[16,1,\"wait\",1]]", "[[16,1,\"wait\",1],[0,1,\"wait\",1]]", "[7]", "7" };
	struct fw_err err = { 0 };
	struct msg m;

	(void)state;
	const char *good = STALLS("[[0,3,\"wait\",2],[16,1,\"long_scoreboard\",1]]");
	assert_int_equal(protocol_parse(good, strlen(good), &m, &err), 0);
	assert_int_equal(m.u.stalls.n, 2);
	assert_int_equal(m.u.stalls.line[1].offset, 16);
	assert_string_equal(m.u.stalls.line[1].reason, "long_scoreboard");
	msg_fini(&m);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char line[512];
		snprintf(line, sizeof line, STALLS("%s"), bad[i]);
		err_clear(&err);
		if (protocol_parse(line, strlen(line), &m, &err) == 0)
			fail_msg("accepted: %s", bad[i]);
		if (err.code != ERR_PROTOCOL || !strstr(err.text, "lines"))
			fail_msg("%s: %s", bad[i], err.text);
	}
}

/* A stored list of sides reads as the same, and has each role once. */
static void sides_of_a_job(void **state)
{
	static struct msg_job job, again;
	struct fw_err err = { 0 };
	struct buf out, second;

	(void)state;
	assert_int_equal(protocol_parse_sides("[]", 2, &job, &err), -1);
	assert_int_equal(err.code, ERR_PROTOCOL);
	memset(&job, 0, sizeof job);
	job.n_sides = 2;
	for (int i = 0; i < 2; i++) {
		job.side[i].role = i ? ROLE_TARGET : ROLE_BASE;
		snprintf(job.side[i].commit, sizeof job.side[i].commit, "%s", COMMIT);
		snprintf(job.side[i].build.dir, sizeof job.side[i].build.dir, ".");
		snprintf(job.side[i].build.command[0], sizeof job.side[i].build.command[0], "make");
		job.side[i].build.n_command = 1;
		job.side[i].build.timeout_s = 60;
	}
	buf_init(&out, 1 << 16);
	buf_init(&second, 1 << 16);
	protocol_write_sides(&out, &job);
	err_clear(&err);
	if (protocol_parse_sides(out.data, out.len, &again, &err) != 0)
		fail_msg("%s", err.text);
	protocol_write_sides(&second, &again);
	assert_string_equal(second.data, out.data);
	job.side[1].role = ROLE_BASE;
	buf_clear(&out);
	protocol_write_sides(&out, &job);
	assert_int_equal(protocol_parse_sides(out.data, out.len, &again, &err), -1);
	assert_string_equal(err.text, "job.sides: role base appears twice");
	buf_fini(&out);
	buf_fini(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_before_and_after),
		cmocka_unit_test(what_discards_a_run),
		cmocka_unit_test(signatures_of_records),
		cmocka_unit_test(tried_configurations),
		cmocka_unit_test(seconds_of_a_record),
		cmocka_unit_test(stalls_are_checked),
		cmocka_unit_test(sides_of_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
