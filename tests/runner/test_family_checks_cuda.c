/* The checks of families read the same from tensors on a GPU as from host memory; skipped where there is no GPU. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#ifdef FW_HAVE_CUDA

#include <math.h>

#include "model/model.h"
#include "runner/internal.h"

static struct device *gpu, *cpu;
static const struct device_ops *gpu_ops, *cpu_ops;

static int open_devices(void **state)
{
	(void)state;
	int index;
	struct fw_err err = { 0 };
	if (device_find("cuda:0", &gpu_ops, &index, &err) != 0)
		return 0;
	return gpu_ops->open(index, 1, &gpu, &err) != 0 || device_find("cpu", &cpu_ops, &index, &err) != 0 ||
	       cpu_ops->open(index, 1, &cpu, &err) != 0;
}

static int close_devices(void **state)
{
	(void)state;
	if (gpu)
		gpu_ops->close(gpu);
	if (cpu)
		cpu_ops->close(cpu);
	return 0;
}

/* Fill the outputs, and the results of a forward that the cell reads, with values that are wrong everywhere. */
static void fill(struct problem *p)
{
	struct fw_err err = { 0 };
	for (int i = 0; i < p->family->n_slots; i++)
		if (p->slot[i].use == SLOT_OUTPUT || p->slot[i].use == SLOT_FORWARD)
			assert_int_equal(
				p->ops->fill_inputs(p->dev, p->slot[i].data, 99, (uint32_t)i, p->slot[i].bytes / 2, &err), 0);
}

static struct accept_result check(const struct device_ops *ops, struct device *dev, const struct cell *cell, double visits)
{
	struct problem p;
	struct verifier v;
	struct failure f = { 0 };
	struct accept_result result;
	struct fw_err err = { 0 };
	if (problem_open(&p, ops, dev, cell, &err) != 0)
		fail_msg("%s", err.text);
	fill(&p);
	if (verifier_open(&v, &p, cell->direction, 5, visits, &f) != 0)
		fail_msg("%s: %s", cell->key, f.detail);
	(void)verifier_result(&v, "", &result, &f);
	verifier_close(&v);
	problem_close(&p);
	return result;
}

static void compare_suite(const char *text, double visits)
{
	struct suite s;
	struct fw_err err = { 0 };
	if (!gpu)
		skip();
	if (suite_parse(text, strlen(text), "s.yaml", &s, &err) != 0)
		fail_msg("%s", err.text);
	assert_true(s.n_cells > 0);
	for (int i = 0; i < s.n_cells; i++) {
		struct accept_result host = check(cpu_ops, cpu, &s.cell[i], visits);
		struct accept_result device = check(gpu_ops, gpu, &s.cell[i], visits);
		if (fabs(host.error_ratio - device.error_ratio) > 1e-4 * host.error_ratio || host.slot != device.slot)
			fail_msg("%s: %g %s on the host, %g %s on the GPU", s.cell[i].key, host.error_ratio, host.detail,
				device.error_ratio, device.detail);
	}
	suite_fini(&s);
}

#define LINEAR(more) "suite: s\nfamily: linear\nseed: 7\nthreshold_pct: 2\nbudget_s: 10\n" more

static void linear_in_all_recipes(void **state)
{
	(void)state;
	static const char text[] = LINEAR("shapes: [{name: custom, shapes: [[300, 512, 384], [4, 256, 1024]]}]\n"
					  "recipes: [baseline, int8wo, int4wo-64, float8wo, float8dq-tensor, float8dq-row]\n"
					  "directions: [forward]\n");
	compare_suite(text, 0);
	compare_suite(text, 1);
}

static void linear_in_training(void **state)
{
	(void)state;
	static const char text[] = LINEAR("shapes: [{name: custom, shapes: [[512, 256, 384]]}]\n"
					  "recipes: [baseline, float8dq-tensor, float8dq-row]\n"
					  "directions: [forward, dgrad, wgrad]\n");
	compare_suite(text, 0);
	compare_suite(text, 1);
}

static void layernorm_in_both_directions(void **state)
{
	(void)state;
	static const char text[] = "suite: s\nfamily: layernorm\nseed: 7\nthreshold_pct: 2\nbudget_s: 10\n"
				   "rows: [1, 333]\ncolumns: [64, 1000]\ndirections: [forward, backward]\n";
	compare_suite(text, 0);
}

static void values_that_are_not_finite_are_found(void **state)
{
	(void)state;
	enum { N = 100003 };
	static uint16_t values[2 * N];
	struct fw_err err = { 0 };
	void *data;
	int64_t index;
	float largest;
	if (!gpu)
		skip();
	assert_int_equal(gpu_ops->alloc(gpu, sizeof values, &data, &err), 0);
	for (int bad = -1; bad < N; bad += 33334)
		for (int wide = 0; wide < 2; wide++) {
			memset(values, 0, sizeof values);
			if (bad >= 0)
				values[wide ? 2 * bad + 1 : bad] = 0xff80;
			values[bad == 7 ? 9 : 7] = 0x4000; /* 2, and small as half of an fp32 value */
			assert_int_equal(gpu_ops->upload(gpu, data, values, sizeof values, &err), 0);
			assert_int_equal(gpu_ops->find_nonfinite(gpu, data, N, wide, &index, &err), 0);
			assert_int_equal(index, bad);
			if (bad >= 0 || wide)
				continue;
			assert_int_equal(gpu_ops->find_largest(gpu, data, N, &largest, &err), 0);
			assert_true(largest == 2);
		}
	gpu_ops->release(gpu, data);
}

static void rows_at_a_distance(void **state)
{
	(void)state;
	enum { ROWS = 777, PITCH = 130, WIDTH = 6 };
	static uint16_t values[ROWS * PITCH], out[ROWS * WIDTH];
	struct fw_err err = { 0 };
	void *data;
	if (!gpu)
		skip();
	for (int i = 0; i < ROWS * PITCH; i++)
		values[i] = (uint16_t)(i * 31);
	assert_int_equal(gpu_ops->alloc(gpu, sizeof values, &data, &err), 0);
	assert_int_equal(gpu_ops->upload(gpu, data, values, sizeof values, &err), 0);
	assert_int_equal(gpu_ops->download_rows(gpu, out, (char *)data + 8, 2 * PITCH, 2 * WIDTH, ROWS - 1, &err), 0);
	for (int i = 0; i < (ROWS - 1) * WIDTH; i++)
		assert_int_equal(out[i], values[i / WIDTH * PITCH + 4 + i % WIDTH]);
	gpu_ops->release(gpu, data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_that_are_not_finite_are_found),
		cmocka_unit_test(rows_at_a_distance),
		cmocka_unit_test(layernorm_in_both_directions),
		cmocka_unit_test(linear_in_all_recipes),
		cmocka_unit_test(linear_in_training),
	};
	return cmocka_run_group_tests(tests, open_devices, close_devices);
}

#else

static void needs_a_build_with_cuda(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(needs_a_build_with_cuda) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
