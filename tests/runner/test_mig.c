/* GPUs that are partitioned into instances: which are listed, described, found and read (tests/modules/fake_nvml.c). */
/* Left to `make check`: loads test modules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
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
	int instances;
	unsigned event_instance;
} * fake;

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
	return unsetenv("CUDA_VISIBLE_DEVICES");
}

/* The behaviour of CUDA: it sees the devices that were visible at its first call. */
static int describe(int index, struct msg_device *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	out->kind = DEVICE_CUDA;
	out->index = index;
	if (index != 0 || !mig_own(out->uuid, sizeof out->uuid))
		return err_set(err, ERR_NOT_FOUND, "no instance");
	if (strcmp(out->uuid, "MIG-fake-3") == 0)
		abort();
	return 0;
}

static void whole_gpus_are_cudas_to_number(void **state)
{
	struct mig_names names;
	(void)state;
	mig_names(&names);
	assert_int_equal(names.n, 0);
	assert_int_equal(mig_find(&names, "cuda"), -1);
	setenv("CUDA_VISIBLE_DEVICES", "GPU-fake,1", 1);
	fake->instances = 2;
	mig_names(&names);
	assert_int_equal(names.n, 0);
}

static void each_instance_is_a_device(void **state)
{
	struct mig_names names;
	struct msg_device found[4];
	(void)state;
	fake->instances = 2;
	mig_names(&names);
	assert_int_equal(names.n, 2);
	assert_int_equal(mig_list(&names, describe, found, 4), 2);
	assert_string_equal(found[0].uuid, "MIG-fake-1");
	assert_string_equal(found[1].uuid, "MIG-fake-2");
	assert_int_equal(found[1].index, 1);
	assert_null(getenv("CUDA_VISIBLE_DEVICES")); /* here CUDA was not called */
	assert_int_equal(mig_list(&names, describe, found, 1), 1);
}

static void a_failing_instance_leaves_the_others(void **state)
{
	struct mig_names names;
	struct msg_device found[4];
	(void)state;
	setenv("CUDA_VISIBLE_DEVICES", "MIG-fake-3,,GPU-fake,MIG-fake-1", 1);
	mig_names(&names);
	assert_int_equal(names.n, 3);
	assert_int_equal(mig_list(&names, describe, found, 4), 1);
	assert_string_equal(found[0].uuid, "MIG-fake-1");
	assert_int_equal(found[0].index, 2); /* as mig_find counts */
}

static void one_is_found_by_number_and_name(void **state)
{
	struct mig_names names;
	struct fw_err err = { 0 };
	char own[NVML_UUID_SIZE];
	(void)state;
	fake->instances = 2;
	mig_names(&names);
	assert_int_equal(mig_find(&names, "cuda"), 0);
	assert_int_equal(mig_find(&names, "cuda:1"), 1);
	assert_int_equal(mig_find(&names, "MIG-fake-2"), 1);
	assert_int_equal(mig_find(&names, "cuda:2"), -1);
	assert_false(mig_own(own, sizeof own));
	assert_int_equal(mig_enter(&names, 1, &err), 0);
	assert_true(mig_own(own, sizeof own));
	assert_string_equal(own, "MIG-fake-2");
	mig_names(&names); /* from then on there are no others */
	assert_int_equal(names.n, 1);
	assert_int_equal(mig_find(&names, "MIG-fake-2"), 0);
	setenv("CUDA_VISIBLE_DEVICES", "MIG-fake-1,MIG-fake-2", 1);
	assert_false(mig_own(own, sizeof own));
}

#ifdef FW_HAVE_CUDA
static void a_runner_enters_the_requested_instance(void **state)
{
	const struct device_ops *ops;
	struct fw_err err = { 0 };
	int index = -1;
	(void)state;
	fake->instances = 2;
	assert_int_equal(device_find("cuda:1", &ops, &index, &err), 0);
	assert_int_equal(ops->kind, DEVICE_CUDA);
	assert_int_equal(index, 0);
	assert_string_equal(getenv("CUDA_VISIBLE_DEVICES"), "MIG-fake-2");
}
#endif

static void an_instance_has_separate_processes_and_the_clock_of_its_gpu(void **state)
{
	struct nvml_reading r;
	unsigned pid[NVML_PIDS_MAX];
	(void)state;
	fake->instances = 2;
	fake->sm_mhz = 1455;
	fake->ecc = 3;
	fake->reasons = 4;
	fake->energy_mj = 7000;
	memcpy(fake->pid, (unsigned[]){ 0, 101, 102 }, 3 * sizeof(unsigned));
	fake->n_processes = 3;
	nvml_read("MIG-fake-2", &r);
	assert_true(r.sm_mhz == 1455 && r.ecc == 3 && r.reasons == 4);
	assert_true(r.power_w < 0 && r.energy_j < 0); /* sum over all instances */
	assert_true(nvml_energy_j("MIG-fake-2") < 0);
	assert_int_equal(nvml_compute_pids("MIG-fake-2", pid, NVML_PIDS_MAX), 1);
	assert_int_equal(pid[0], 102);
	nvml_read("GPU-fake", &r);
	assert_true(r.power_w > 699 && r.energy_j == 7);
	assert_int_equal(nvml_compute_pids("GPU-fake", pid, NVML_PIDS_MAX), 3);
}

static void another_instances_xid_is_not_ours(void **state)
{
	(void)state;
	fake->instances = 2;
	assert_int_equal(nvml_xid("MIG-fake-2"), 0);
	fake->n_events = 1;
	fake->event_kind[0] = 8;
	fake->event_data[0] = 79;
	fake->event_instance = 1;
	assert_int_equal(nvml_xid("MIG-fake-2"), 0);
	fake->n_events = 1;
	fake->event_instance = 2;
	assert_int_equal(nvml_xid("MIG-fake-2"), 79);
	fake->n_events = 1;
	fake->event_instance = -1u; /* the whole GPU's */
	assert_int_equal(nvml_xid("MIG-fake-2"), 79);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whole_gpus_are_cudas_to_number, forget),
		cmocka_unit_test_setup(each_instance_is_a_device, forget),
		cmocka_unit_test_setup(a_failing_instance_leaves_the_others, forget),
		cmocka_unit_test_setup(one_is_found_by_number_and_name, forget),
#ifdef FW_HAVE_CUDA
		cmocka_unit_test_setup(a_runner_enters_the_requested_instance, forget),
#endif
		cmocka_unit_test_setup(an_instance_has_separate_processes_and_the_clock_of_its_gpu, forget),
		cmocka_unit_test_setup(another_instances_xid_is_not_ours, forget),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
