/* The reference on the GPU compared with the one on the host; skipped where there is no GPU. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#ifdef FW_HAVE_CUDA

#include <math.h>

#include "attention_cell.h"
#include "attention_run.h"
#include "families/attention/internal.h"
#include "runner/internal.h"
#include "tests/modules/good.c"

static struct device *gpu;
static const struct device_ops *ops;

static int open_gpu(void **state)
{
	(void)state;
	int index;
	struct fw_err err = { 0 };
	if (device_find("cuda:0", &ops, &index, &err) == 0)
		return ops->open(index, 1, &gpu, &err);
	return 0;
}

static int close_gpu(void **state)
{
	(void)state;
	if (gpu)
		ops->close(gpu);
	return 0;
}

static double difference(const double *a, const double *b, size_t n)
{
	double error = 0, size = 1e-30;
	for (size_t i = 0; i < n; i++) {
		if (isinf(a[i]) && a[i] == b[i])
			continue;
		error += (a[i] - b[i]) * (a[i] - b[i]);
		size += a[i] * a[i];
	}
	return sqrt(error / size);
}

static double difference_f(const float *a, const float *b, size_t n)
{
	double error = 0, size = 1e-30;
	for (size_t i = 0; i < n; i++) {
		error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
		size += (double)a[i] * (double)a[i];
	}
	return sqrt(error / size);
}

static void compare_references(struct attention_run *r, double visits)
{
	struct reference_io io = run_io(r);
	struct reference_plan plan;
	struct reference host, device;
	struct accept_result result;
	struct fw_err err = { 0 };
	void *copy[FW_ATTENTION_SLOTS] = { 0 };
	for (int slot = FW_Q; slot <= FW_DV; slot++) {
		assert_int_equal(ops->alloc(gpu, run_bytes(r, slot), &copy[slot], &err), 0);
		assert_int_equal(ops->upload(gpu, copy[slot], r->buffer[slot], run_bytes(r, slot), &err), 0);
		io.on_device[slot] = copy[slot];
	}
	assert_int_equal(reference_plan_make(&r->cell, 5, visits, &plan, &err), 0);
	assert_int_equal(reference_compute(&reference_cpu, &plan, &io, &host, &err), 0);
	if (reference_compute(&reference_cuda, &plan, &io, &device, &err))
		fail_msg("%s", err.text);
	assert_int_equal(host.n_tensors, device.n_tensors);
	for (int t = 0; t < host.n_tensors; t++) {
		const struct reference_tensor *a = &host.tensor[t], *b = &device.tensor[t];
		size_t n = (size_t)a->n * (size_t)a->width;
		assert_true(difference(a->exact, b->exact, n) < 1e-9);
		if (a->slot == FW_LSE)
			continue;
		assert_true(difference_f(a->noise, b->noise, n) < 1e-3);
		assert_true(difference_f(a->naive, b->naive, n) < 5e-3);
		assert_int_equal(!a->shift, !b->shift);
		if (a->shift)
			assert_true(difference_f(a->shift, b->shift, n) < 1e-3);
	}
	assert_int_equal(accept_check(&device, &reference_cuda, &io, &result, &err), 0);
	int32_t mask = attention_of(&r->cell)->mask;
	if (result.ok == (mask == FW_TOKENS || mask == FW_CACHE)) /* the module ignores the first, and refuses the second */
		fail_msg("%s: %s", r->cell.key, result.detail);
	reference_fini(&host);
	reference_fini(&device);
	reference_plan_fini(&plan);
	for (int slot = FW_Q; slot <= FW_DV; slot++)
		ops->release(gpu, copy[slot]);
}

static void both_directions(struct attention_run *r, double visits)
{
	const struct fw_provider *good = fw_entry(FW_ABI)->provider[0];
	assert_int_equal(run_once(r, good, NULL, 0), FW_OK);
	compare_references(r, visits);
	run_direction(r, DIRECTION_BACKWARD);
	assert_int_equal(run_once(r, good, NULL, 0), FW_OK);
	compare_references(r, visits);
	run_fini(r);
}

static void agrees_with_the_host(void **state)
{
	(void)state;
	static const int lengths[] = { 1, 300, 2, 97 };
	struct attention_run r;
	if (!gpu)
		skip();
	run_init(&r, FW_FULL, 129, NULL, 1, 4, 2, 64, 0, 0);
	both_directions(&r, 0);
	run_init(&r, FW_CAUSAL, 400, lengths, 4, 8, 1, 128, 0, 0);
	both_directions(&r, 1);
	run_init(&r, FW_BLOCKS, 512, NULL, 1, 4, 2, 96, 64, 0.3);
	r.bits[3] = 0;
	both_directions(&r, 0);

	static const int equal[] = { 130, 130 };
	static const struct attention_case drawn = { .source = TOKENS_RANDOM, .density = 0.02 };
	run_init(&r, FW_FULL, 260, equal, 2, 4, 2, 64, 0, 0);
	run_tokens(&r, &drawn);
	both_directions(&r, 0);
}

/* Fewer queries than keys, which the module computes; a window over pages. */
static void agrees_in_serving(void **state)
{
	(void)state;
	struct attention_case a = { .mask = FW_CAUSAL,
		.seqlen = 430,
		.nhq = 8,
		.nhk = 2,
		.headdim = 64,
		.dtype = FW_BF16,
		.n_seqs = 2,
		.length = { 130, 300 },
		.queries = 3 };
	struct attention_run r;
	if (!gpu)
		skip();
	run_open(&r, &a);
	assert_int_equal(run_once(&r, fw_entry(FW_ABI)->provider[0], NULL, 0), FW_OK);
	compare_references(&r, 0);
	run_fini(&r);
	a.mask = FW_CACHE;
	a.window = 100;
	a.page = 24;
	run_open(&r, &a);
	compare_references(&r, 0);
	run_fini(&r);
}

static void finds_what_is_not_finite(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct attention_run r;
	void *o;
	int64_t index;
	if (!gpu)
		skip();
	run_init(&r, FW_FULL, 1000, NULL, 1, 2, 1, 64, 0, 0);
	struct reference_io io = run_io(&r);
	uint16_t *values = r.buffer[FW_O];
	memset(values, 0, run_bytes(&r, FW_O));
	assert_int_equal(ops->alloc(gpu, run_bytes(&r, FW_O), &o, &err), 0);
	io.on_device[FW_O] = o;
	for (int64_t bad = -1; bad < 128000; bad += 31999) {
		if (bad >= 0)
			values[bad] = 0xff80;
		assert_int_equal(ops->upload(gpu, o, values, run_bytes(&r, FW_O), &err), 0);
		assert_int_equal(reference_cuda.find_nonfinite(&io, FW_O, &index, &err), 0);
		assert_int_equal(index, bad);
		if (bad >= 0)
			values[bad] = 0;
	}
	ops->release(gpu, o);
	run_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_host),
		cmocka_unit_test(agrees_in_serving),
		cmocka_unit_test(finds_what_is_not_finite),
	};
	return cmocka_run_group_tests(tests, open_gpu, close_gpu);
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
