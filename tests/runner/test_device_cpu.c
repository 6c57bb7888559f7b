/* The host as a device: redzones, inputs, checksums, marks, names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "model/model.h"
#include "runner/internal.h"

static const struct device_ops *const ops = &device_cpu;

static int setup(void **state)
{
	struct fw_err err = { 0 };
	struct device *d;
	if (ops->open(0, 1, &d, &err) != 0)
		return -1;
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	ops->close(*state);
	return 0;
}

static void *buffer(struct device *d, size_t bytes)
{
	struct fw_err err = { 0 };
	void *p = NULL;
	assert_int_equal(ops->alloc(d, bytes, &p, &err), 0);
	return p;
}

static void device_check_zones_begin_at_the_first_foreign_byte(void **state)
{
	struct device *d = *state;
	struct fw_err err = { 0 };
	void *which = NULL;
	unsigned char *a = buffer(d, 100), *b = buffer(d, 4096);

	assert_int_equal((uintptr_t)a % 4096, 0);
	memset(a, 0x11, 100);
	memset(b, 0x22, 4096);
	assert_int_equal(ops->check_redzones(d, &which, &err), 0);

	unsigned char *volatile past = b;
	past[4096] = 1;
	assert_int_equal(ops->check_redzones(d, &which, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_ptr_equal(which, b);
	err_clear(&err);
	assert_int_equal(ops->check_redzones(d, &which, &err), 0); /* repaired */

	past = a;
	*(past - 1) ^= 0xff;
	assert_int_equal(ops->check_redzones(d, &which, &err), -1);
	assert_ptr_equal(which, a);
	err_clear(&err);

	past[100 + DEVICE_REDZONE_BYTES - 1] ^= 1;
	assert_int_equal(ops->check_redzones(d, &which, &err), -1);
	assert_ptr_equal(which, a);
	ops->release(d, a);
	ops->release(d, b);
	ops->release(d, NULL);
}

static void inputs_are_those_of_core(void **state)
{
	struct device *d = *state;
	struct fw_err err = { 0 };
	const size_t n = 3 * 65536 + 17;
	uint16_t *got = buffer(d, n * 2), *want = malloc(n * 2);

	assert_non_null(want);
	inputs_fill(42, FW_K, 0, n, want);
	assert_int_equal(ops->fill_inputs(d, got, 42, FW_K, n, &err), 0);
	assert_memory_equal(got, want, n * 2);
	free(want);
	ops->release(d, got);
}

static void checksum_sees_values_and_positions(void **state)
{
	struct device *d = *state;
	struct fw_err err = { 0 };
	uint16_t *p = buffer(d, 2000);
	uint64_t first, again, other;

	for (int i = 0; i < 1000; i++)
		p[i] = (uint16_t)(i * 7);
	assert_int_equal(ops->checksum(d, p, 2000, &first, &err), 0);
	assert_int_equal(ops->checksum(d, p, 2000, &again, &err), 0);
	assert_true(first == again);
	p[999] ^= 1;
	assert_int_equal(ops->checksum(d, p, 2000, &other, &err), 0);
	assert_true(first != other);
	p[999] ^= 1;
	uint16_t swap = p[3];
	p[3] = p[4];
	p[4] = swap;
	assert_int_equal(ops->checksum(d, p, 2000, &other, &err), 0);
	assert_true(first != other);
	assert_int_equal(ops->checksum(d, p, 1994, &first, &err), 0); /* ends inside a word of 8 bytes */
	p[996] ^= 1;
	assert_int_equal(ops->checksum(d, p, 1994, &other, &err), 0);
	assert_true(first != other);
	p[997] ^= 1;
	assert_int_equal(ops->checksum(d, p, 1994, &first, &err), 0);
	assert_true(first == other);
	ops->release(d, p);
}

static void marks_count_time_forward(void **state)
{
	struct device *d = *state;
	struct fw_err err = { 0 };
	double before = ops->host_us(d);

	assert_int_equal(ops->mark(d, 0, &err), 0);
	assert_int_equal(ops->scrub(d, &err), 0);
	assert_int_equal(ops->mark(d, DEVICE_MARKS_MAX - 1, &err), 0);
	double ms = (double)ops->elapsed_ms(d, 0, DEVICE_MARKS_MAX - 1);
	assert_true(ms > 0);
	assert_true(ms <= (ops->host_us(d) - before) * 1e-3 * 1.0001);
	assert_true((double)ops->clock_mhz(d, 0) == 0);
}

static void names_find_devices(void **state)
{
	const struct device_ops *found = NULL;
	struct msg_device about;
	struct fw_err err = { 0 };
	int index = -1;

	(void)state;
	assert_int_equal(ops->describe(0, &about, &err), 0);
	assert_int_equal(about.kind, DEVICE_CPU);
	assert_int_equal(strlen(about.uuid), 16);
	assert_memory_equal(about.uuid, "cpu-", 4);
	assert_true(about.cores >= 1);
	assert_true(about.memory_bytes > 0);
	assert_int_equal(ops->describe(1, &about, &err), -1);
	err_clear(&err);

	const char *const names[] = { "cpu", "cpu:0", about.uuid };
	for (int i = 0; i < 3; i++) {
		assert_int_equal(device_find(names[i], &found, &index, &err), 0);
		assert_ptr_equal(found, &device_cpu);
		assert_int_equal(index, 0);
	}
	assert_int_equal(device_find("sim-0", &found, &index, &err), 0);
	assert_ptr_equal(found, &device_sim);
	assert_int_equal(device_find("cuda:77", &found, &index, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "cuda:77"));
	assert_non_null(strstr(err.text, "cpu:0, sim:0"));
}

static void cpu_threads_can_be_set(void **state)
{
	struct msg_device about;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(setenv("FLOPWATCH_CPU_THREADS", "3", 1), 0);
	assert_int_equal(ops->describe(0, &about, &err), 0);
	assert_int_equal(about.cores, 3);
	assert_int_equal(setenv("FLOPWATCH_CPU_THREADS", "3x", 1), 0);
	assert_int_equal(ops->describe(0, &about, &err), 0);
	assert_int_not_equal(about.cores, 0);
	assert_int_equal(unsetenv("FLOPWATCH_CPU_THREADS"), 0);
}

static void cpu_cache_can_be_set(void **state)
{
	static const char *const wrong[] = { "", "0", "-2", "2M", "1025" };
	struct msg_device about;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(unsetenv("FLOPWATCH_CPU_CACHE_MIB"), 0);
	assert_int_equal(ops->describe(0, &about, &err), 0);
	int64_t reported = about.l2_bytes;
	assert_int_equal(setenv("FLOPWATCH_CPU_CACHE_MIB", "3", 1), 0);
	assert_int_equal(ops->describe(0, &about, &err), 0);
	assert_int_equal(about.l2_bytes, 3 << 20);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(setenv("FLOPWATCH_CPU_CACHE_MIB", wrong[i], 1), 0);
		assert_int_equal(ops->describe(0, &about, &err), 0);
		assert_int_equal(about.l2_bytes, reported);
	}
	assert_int_equal(unsetenv("FLOPWATCH_CPU_CACHE_MIB"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(device_check_zones_begin_at_the_first_foreign_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(inputs_are_those_of_core, setup, teardown),
		cmocka_unit_test_setup_teardown(checksum_sees_values_and_positions, setup, teardown),
		cmocka_unit_test_setup_teardown(marks_count_time_forward, setup, teardown),
		cmocka_unit_test(names_find_devices),
		cmocka_unit_test(cpu_threads_can_be_set),
		cmocka_unit_test(cpu_cache_can_be_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
