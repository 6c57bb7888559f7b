/* The simulated device: its clock advances by work alone, with noise determined by the seed and the number of the call. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "runner/internal.h"

enum { CALLS = 512 };

static const struct device_ops *const ops = &device_sim;

/* Times of CALLS calls of `flops` each. */
static void run(uint64_t seed, double flops, float ms[CALLS], float mhz[CALLS])
{
	struct fw_err err = { 0 };
	struct device *d;
	assert_int_equal(ops->open(0, seed, &d, &err), 0);
	assert_int_equal(ops->scrub(d, &err), 0); /* the host is ahead, as it is before every timed call */
	for (int i = 0; i < CALLS; i++) {
		assert_int_equal(ops->stamp(d, i, 0, &err), 0);
		assert_int_equal(ops->mark(d, 0, &err), 0);
		ops->work(d, &(struct device_work){ .flops = flops });
		assert_int_equal(ops->mark(d, 1, &err), 0);
		assert_int_equal(ops->stamp(d, i, 1, &err), 0);
		ms[i] = ops->elapsed_ms(d, 0, 1);
		mhz[i] = ops->clock_mhz(d, i);
	}
	ops->close(d);
}

static void same_seed_same_times(void **state)
{
	static float a[CALLS], b[CALLS], c[CALLS], mhz[CALLS];
	(void)state;
	run(5, 1e9, a, mhz);
	run(5, 1e9, b, mhz);
	run(6, 1e9, c, mhz);
	assert_memory_equal(a, b, sizeof a);
	int differ = 0;
	for (int i = 0; i < CALLS; i++)
		differ += a[i] < c[i] || a[i] > c[i];
	assert_true(differ > CALLS / 2);
}

static int n_left_out;

static void note_left_out(const char *address, const char *why)
{
	assert_string_equal(address, "sim:1");
	assert_string_equal(why, "cannot describe the device: it is broken");
	n_left_out++;
}

static void a_broken_device_does_not_hide_later_devices(void **state)
{
	struct msg_device found[PROTOCOL_DEVICES_MAX];
	(void)state;
	assert_int_equal(setenv("FLOPWATCH_SIM_DEVICES", "0,broken,5", 1), 0);
	int n = device_list(found, PROTOCOL_DEVICES_MAX, note_left_out);
	assert_int_equal(unsetenv("FLOPWATCH_SIM_DEVICES"), 0);
	assert_true(n >= 3);
	assert_string_equal(found[n - 2].uuid, "sim-0");
	assert_string_equal(found[n - 1].uuid, "sim-5");
	assert_int_equal(found[n - 1].index, 2);
	assert_int_equal(n_left_out, 1);
}

static void time_follows_work(void **state)
{
	static float a[CALLS], b[CALLS], mhz[CALLS];
	(void)state;
	run(5, 1e9, a, mhz);
	run(5, 1.05e9, b, mhz);
	for (int i = 0; i < CALLS; i++) {
		double ratio = (double)b[i] / (double)a[i];
		assert_true(fabs(ratio - 1.05) < 1e-5);
	}
}

static void noise_is_that_of_a_gpu(void **state)
{
	static float ms[CALLS], mhz[CALLS];
	double sum = 0, squares = 0, near = 0, far = 0;
	(void)state;
	run(11, 1e9, ms, mhz);
	for (int i = 0; i < CALLS; i++) {
		double y = log((double)ms[i]);
		sum += y;
		squares += y * y;
		assert_true(mhz[i] > 1000 && mhz[i] < 2000);
	}
	for (int i = 0; i + CALLS / 2 < CALLS; i++) {
		near += fabs(log((double)ms[i + 1] / (double)ms[i]));
		far += fabs(log((double)ms[i + CALLS / 2] / (double)ms[i]));
	}
	double sd = sqrt(squares / CALLS - sum / CALLS * (sum / CALLS));
	assert_true(sd > 0.003 && sd < 0.05);
	assert_true(near < far); /* adjacent calls share the current clock */
}

static void only_work_and_scrub_pass_time(void **state)
{
	struct fw_err err = { 0 };
	struct device *d;
	(void)state;
	assert_int_equal(ops->open(0, 1, &d, &err), 0);
	void *p;
	double start = ops->host_us(d);
	assert_int_equal(ops->alloc(d, 1 << 20, &p, &err), 0);
	assert_int_equal(ops->fill_bytes(d, p, 3, 1 << 20, &err), 0);
	assert_int_equal(ops->wait(d, &err), 0);
	assert_true(!(ops->host_us(d) > start));
	assert_int_equal(ops->mark(d, 3, &err), 0);
	ops->work(d, &(struct device_work){ 0 }); /* even empty work takes a nanosecond */
	assert_int_equal(ops->mark(d, 4, &err), 0);
	assert_true((double)ops->elapsed_ms(d, 3, 4) > 0);
	assert_int_equal(ops->wait(d, &err), 0);
	double worked = ops->host_us(d);
	assert_true(worked > start);
	assert_int_equal(ops->scrub(d, &err), 0);
	assert_true(!(ops->host_us(d) > worked)); /* the host has not waited for it yet */
	assert_int_equal(ops->wait(d, &err), 0);
	assert_true(ops->host_us(d) > worked);
	ops->release(d, p);
	ops->close(d);
}

static void describes_itself(void **state)
{
	struct msg_device about;
	struct fw_err err = { 0 };
	(void)state;
	assert_int_equal(ops->describe(0, &about, &err), 0);
	assert_string_equal(about.uuid, "sim-0");
	assert_int_equal(about.kind, DEVICE_SIM);
	assert_int_equal(ops->describe(1, &about, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_times),
		cmocka_unit_test(time_follows_work),
		cmocka_unit_test(a_broken_device_does_not_hide_later_devices),
		cmocka_unit_test(noise_is_that_of_a_gpu),
		cmocka_unit_test(only_work_and_scrub_pass_time),
		cmocka_unit_test(describes_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
