/* Readings from a driver's library, with one that a test controls (tests/modules/fake_nvml.c). */
/* Left to `make check`: loads test modules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include "runner/internal.h"

enum { ROOM = 16 };

/* As in fake_nvml.c. */
static struct fake_nvml {
	int n_processes, no_list, no_ecc, no_events;
	unsigned pid[ROOM], mps_server;
	unsigned long long reasons, energy_mj, ecc;
	int n_events;
	unsigned long long event_kind[ROOM], event_data[ROOM];
	unsigned sm_mhz, busy_pct;
} * fake;

static const char gpu[] = "GPU-fake";

static int load(void **state)
{
	(void)state;
	void *library = dlopen("build/tests/modules/fake_nvml.so", RTLD_NOW | RTLD_LOCAL);
	fake = library ? dlsym(library, "fake_nvml") : NULL;
	return fake ? 0 : -1;
}

static int forget(void **state)
{
	(void)state;
	memset(fake, 0, sizeof *fake);
	return 0;
}

static void missing_functions_leave_gaps(void **state)
{
	struct nvml_reading r;
	double limit_w = 0, max_mhz = 0;
	char version[48] = "x";
	(void)state;
	assert_int_equal(nvml_open(), 0);
	fake->reasons = 0x4;
	fake->energy_mj = 5000000123;
	fake->ecc = 3;
	nvml_read(gpu, &r);
	assert_true(r.power_w > 699 && r.power_w < 700);
	assert_true(r.temp_c < 0 && r.sm_mhz < 0);
	nvml_limits(gpu, &limit_w, &max_mhz);
	assert_true(limit_w < 0 && max_mhz < 0);
	assert_true(r.reasons == 4 && r.ecc == 3);
	assert_true(r.energy_j > 5000000 && r.energy_j < 5000001);
	assert_true(nvml_energy_j(gpu) > 5000000);
	fake->no_ecc = 1;
	nvml_read(gpu, &r);
	assert_true(r.ecc == -1);
	nvml_driver(version, sizeof version);
	assert_string_equal(version, "");
	nvml_read("GPU-other", &r);
	assert_true(r.power_w < 0 && r.reasons == -1);
}

static void a_clock_while_something_computes(void **state)
{
	(void)state;
	assert_true(nvml_busy_mhz(gpu) < 0);
	fake->busy_pct = 98;
	assert_true(nvml_busy_mhz(gpu) < 0); /* cannot be read */
	fake->sm_mhz = 1455;
	assert_true(nvml_busy_mhz(gpu) == 1455);
	fake->busy_pct = 20; /* its idle clock belongs to no process */
	assert_true(nvml_busy_mhz(gpu) < 0);
	assert_true(nvml_busy_mhz("GPU-other") < 0);
}

static void processes_but_for_mps_servers(void **state)
{
	unsigned pid[NVML_PIDS_MAX];
	(void)state;
	assert_int_equal(nvml_compute_pids(gpu, pid, NVML_PIDS_MAX), 0);
	memcpy(fake->pid, (unsigned[]){ 400, 0, 402, 403 }, 4 * sizeof(unsigned));
	fake->n_processes = 4;
	assert_int_equal(nvml_compute_pids(gpu, pid, NVML_PIDS_MAX), 4);
	fake->mps_server = 402;
	assert_int_equal(nvml_compute_pids(gpu, pid, NVML_PIDS_MAX), 3);
	assert_true(pid[0] == 400 && pid[1] == 0 && pid[2] == 403);
	fake->n_processes = NVML_PIDS_MAX + 1; /* more processes than were listed: still another process */
	assert_int_equal(nvml_compute_pids(gpu, pid, NVML_PIDS_MAX), NVML_PIDS_MAX);
	fake->no_list = 1;
	assert_int_equal(nvml_compute_pids(gpu, pid, NVML_PIDS_MAX), -1);
}

static void the_own_process_is_not_foreign(void **state)
{
	const unsigned few[] = { 7, 8 }, with_us[] = { 7, 8, 31 }, with_host_number[] = { 7, 8, 90210 };
	const unsigned two_more[] = { 7, 8, 9, 90210 }, namesake[] = { 31, 7 }, namesake_and_us[] = { 31, 7, 90210 };
	(void)state;
	assert_int_equal(nvml_own_pid(31, few, 2, with_us, 3), 31);
	assert_int_equal(nvml_own_pid(31, few, 0, with_us, 3), 31);
	assert_int_equal(nvml_own_pid(31, few, 2, with_host_number, 3), 90210);
	assert_int_equal(nvml_own_pid(31, few, 2, two_more, 4), 0); /* another process came meanwhile */
	assert_int_equal(nvml_own_pid(31, few, 2, few, 2), 0);      /* a container does not see itself */
	assert_int_equal(nvml_own_pid(31, namesake, 2, namesake_and_us, 3), 90210);
	assert_int_equal(nvml_own_pid(31, few, -1, with_us, 3), 0);
	assert_int_equal(nvml_own_pid(31, few, 2, with_us, -1), 0);
}

static void xids_since_the_last_reading(void **state)
{
	(void)state;
	fake->n_events = 1;
	fake->event_kind[0] = 8;
	fake->event_data[0] = 79;
	assert_int_equal(nvml_xid(gpu), 0); /* begins to listen: earlier events are not ours */
	fake->n_events = 2;
	fake->event_kind[1] = 0x10; /* a change of clocks */
	fake->event_data[1] = 5;
	assert_int_equal(nvml_xid(gpu), 79);
	assert_int_equal(nvml_xid(gpu), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(missing_functions_leave_gaps, forget),
		cmocka_unit_test_setup(a_clock_while_something_computes, forget),
		cmocka_unit_test_setup(processes_but_for_mps_servers, forget),
		cmocka_unit_test_setup(the_own_process_is_not_foreign, forget),
		cmocka_unit_test_setup(xids_since_the_last_reading, forget),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
