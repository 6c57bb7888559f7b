/* Without a driver everything is unknown and nothing fails; with one, readings are plausible. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "runner/internal.h"

static void an_unknown_gpu_is_unknown(void **state)
{
	struct nvml_reading r = { 1, 1, 1, 1, 1, 1 };
	double limit_w = 1, max_mhz = 1;
	unsigned pid[NVML_PIDS_MAX];
	(void)state;
	nvml_read("GPU-00000000-0000-0000-0000-000000000000", &r);
	assert_true(r.power_w < 0 && r.temp_c < 0 && r.sm_mhz < 0);
	nvml_limits("GPU-00000000-0000-0000-0000-000000000000", &limit_w, &max_mhz);
	assert_true(limit_w < 0 && max_mhz < 0);
	assert_true(r.reasons == -1 && r.ecc == -1 && !(r.energy_j > 0));
	assert_int_equal(nvml_xid("GPU-00000000-0000-0000-0000-000000000000"), 0);
	assert_int_equal(nvml_compute_pids("GPU-00000000-0000-0000-0000-000000000000", pid, NVML_PIDS_MAX), -1);
}

static void driver_and_library_agree(void **state)
{
	char version[48] = "x";
	(void)state;
	nvml_driver(version, sizeof version);
	assert_true((nvml_open() == 0) == (version[0] != '\0'));
	assert_int_equal(nvml_open(), nvml_open()); /* searched for once */
}

static void listed_gpus_can_be_read(void **state)
{
	struct msg_device device[PROTOCOL_DEVICES_MAX];
	int n = device_list(device, PROTOCOL_DEVICES_MAX, NULL);
	(void)state;
	assert_true(n >= 2); /* cpu and sim are everywhere */
	for (int i = 0; i < n && nvml_open() == 0; i++) {
		struct nvml_reading r;
		if (device[i].kind != DEVICE_CUDA)
			continue;
		nvml_read(device[i].uuid, &r);
		assert_true(r.temp_c > 0 && r.temp_c < 120);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_gpu_is_unknown),
		cmocka_unit_test(driver_and_library_agree),
		cmocka_unit_test(listed_gpus_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
