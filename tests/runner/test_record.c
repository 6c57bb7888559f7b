/* Records reach their reader complete, at once, and in the protocol's form. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/internal.h"

static void read_back(int fd, struct msg *m)
{
	char line[8192];
	struct fw_err err = { 0 };
	ssize_t n = read(fd, line, sizeof line);
	assert_true(n > 1);
	assert_int_equal(line[n - 1], '\n');
	if (protocol_parse(line, (size_t)n - 1, m, &err) != 0)
		fail_msg("%s", err.text);
}

static void what_is_written_can_be_read(void **state)
{
	struct records r;
	struct fw_err err = { 0 };
	struct msg m;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(records_init(&r, fd[1], 7, &err), 0);
	assert_true(fcntl(fd[1], F_GETFD) & FD_CLOEXEC); /* children of branch code do not get it */

	record_at(&r, 4, ROLE_TARGET, "time");
	read_back(fd[0], &m);
	assert_int_equal(m.t, MSG_AT);
	assert_int_equal(m.u.at.run, 7);
	assert_int_equal(m.u.at.role, ROLE_TARGET);
	msg_fini(&m);

	record_at(&r, -1, ROLE_NONE, "load");
	read_back(fd[0], &m);
	assert_int_equal(m.u.at.cell, -1);
	msg_fini(&m);

	char detail[2000];
	memset(detail, 'x', sizeof detail - 1);
	detail[sizeof detail - 1] = '\0';
	record_fault(&r, 2, ROLE_BASE, "crash", detail);
	read_back(fd[0], &m);
	assert_int_equal(m.t, MSG_FAULT);
	assert_int_equal(strlen(m.u.fault.detail), 511);
	msg_fini(&m);

	record_fault(&r, 2, ROLE_BASE, "wrong", "two\nlines \"quoted\"");
	read_back(fd[0], &m);
	assert_string_equal(m.u.fault.failure, "wrong");
	msg_fini(&m);

	float ms[] = { 1.25f, 0.1f };
	struct msg_cell cell = { .run = 7, .set = 1, .series = SERIES_DEVICE, .n_sides = 1, .role = { ROLE_BASE }, .n = 2 };
	cell.ms[0] = ms;
	memcpy(cell.order, "AA", 3);
	snprintf(cell.input_sha256, sizeof cell.input_sha256, "%064d", 7);
	record_send(&r, &(struct msg){ .t = MSG_CELL, .u.cell = &cell });
	read_back(fd[0], &m);
	assert_int_equal(m.t, MSG_CELL);
	assert_memory_equal(m.u.cell->ms[0], ms, sizeof ms); /* bit for bit */
	msg_fini(&m);

	records_fini(&r);
	close(fd[0]);
	close(fd[1]);
}

/* A key whose lines a second writer cannot continue, whatever it has read. */
static void sealed_lines_have_numbers(void **state)
{
	static const char key[] = "000102030405060708090a0b0c0d0e0f";
	struct records r;
	struct fw_err err = { 0 };
	char line[8192], again[8192];
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(records_init(&r, fd[1], 7, &err), 0);
	records_signature(&r, key);
	for (unsigned long long i = 0; i < 3; i++) {
		struct msg m;
		record_at(&r, (int)i, ROLE_TARGET, "time");
		ssize_t n = read(fd[0], line, sizeof line);
		assert_true(n > 1 && line[n - 1] == '\n');
		size_t len = (size_t)n - 1;
		const char *record = signature_open(key, i, line, len);
		assert_non_null(record);
		assert_int_equal(protocol_parse(record, len - (size_t)(record - line), &m, &err), 0);
		assert_int_equal(m.u.at.cell, i);
		msg_fini(&m);
		assert_null(signature_open(key, i + 1, line, len));
		assert_null(signature_open("100102030405060708090a0b0c0d0e0f", i, line, len));
		for (size_t at = 0; at < len; at++) { /* not a bit of it may change */
			memcpy(again, line, len);
			again[at] ^= 1;
			assert_null(signature_open(key, i, again, len));
		}
		for (size_t shorter = 0; shorter < len; shorter++)
			assert_null(signature_open(key, i, line, shorter));
	}
	records_fini(&r);
	close(fd[0]);
	close(fd[1]);
}

static void a_closed_reader_is_an_error(void **state)
{
	struct records r;
	struct fw_err err = { 0 };
	int fd[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(records_init(&r, fd[1], 1, &err), 0);
	close(fd[0]);
	record_at(&r, 0, ROLE_BASE, "plan");
	assert_true(r.failed);
	records_fini(&r);
	close(fd[1]);
}

static void a_closed_descriptor_is_an_error(void **state)
{
	struct records r;
	struct fw_err err = { 0 };
	(void)state;
	assert_int_equal(records_init(&r, 999, 1, &err), -1);
	assert_non_null(strstr(err.text, "999"));
	records_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(sealed_lines_have_numbers),
		cmocka_unit_test(a_closed_reader_is_an_error),
		cmocka_unit_test(a_closed_descriptor_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
