/* References of transformer blocks and of scales by block, called directly. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "families/linear/linear.h"
#include "model/model.h"
#include "runner/runner.h"

static uint16_t *drawn(int slot, int64_t n)
{
	uint16_t *out = calloc((size_t)n, sizeof *out);
	uint64_t stream = inputs_stream(7, (uint32_t)slot);

	assert_non_null(out);
	for (int64_t i = 0; i < n; i++)
		out[i] = inputs_element(stream, (uint64_t)i);
	return out;
}

/* Shapes that `fits` refuses must not cause a write past a line. */
static void groups_end_with_the_line(void **state)
{
	const struct linear_case block = { .m = 1, .k = 296, .n = 296, .recipe = LINEAR_INT4WO_32, .model = LINEAR_BLOCK };
	struct cell cell = { .direction = DIRECTION_FORWARD, .family = "linear", .seed = 7 };
	struct check_io io = { .cell = &cell };
	struct fw_err err = { 0 };
	uint16_t *x = drawn(FW_LINEAR_X, 16 * 296), *w = drawn(FW_LINEAR_W, 12 * 296 * 296);
	const struct family_check *check = family_check_find("linear");

	(void)state;
	memcpy(cell.shape.bytes, &block, sizeof block);
	io.host[FW_LINEAR_X] = x;
	io.host[FW_LINEAR_W] = w;
	assert_int_equal(family_linear.check(&block, DIRECTION_FORWARD, &err), 0);
	assert_int_not_equal(family_linear.fits(&block, DIRECTION_FORWARD, &err), 0);
	struct expected *e = check->open(&io, 3, 0, &err);
	assert_non_null(e);
	check->close(e);
	free(x);
	free(w);
}

/* Results of zeros are wrong in every output, whatever sizes and scales are. */
static void zeros_are_wrong(const struct linear_case *a, enum direction d, const char *slots)
{
	struct cell cell = { .direction = d, .family = "linear", .seed = 7 };
	struct check_io io = { .cell = &cell };
	const struct family_check *check = family_check_find("linear");
	struct accept_result result;
	struct fw_err err = { 0 };
	void *held[FW_LINEAR_N_SLOTS];

	memcpy(cell.shape.bytes, a, sizeof *a);
	assert_int_equal(family_linear.check(a, d, &err), 0);
	assert_int_equal(family_linear.fits(a, d, &err), 0);
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++) {
		struct fw_tensor t;
		size_t bytes = family_linear.lay_out(a, slot, &t);

		held[slot] = NULL;
		if (family_linear.use(a, d, slot) == SLOT_INPUT)
			held[slot] = drawn(slot, (int64_t)bytes / 2);
		else if (family_linear.use(a, d, slot) == SLOT_OUTPUT)
			held[slot] = calloc(bytes, 1);
		io.host[slot] = held[slot];
	}
	struct expected *e = check->open(&io, 3, 1e5, &err);
	assert_non_null(e);
	assert_int_equal(check->compare(e, &result, &err), 0);
	assert_false(result.ok);
	assert_non_null(strchr(slots, '0' + result.slot));
	check->close(e);
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++)
		free(held[slot]);
}

static const struct {
	enum direction d;
	const char *slots; /* outputs, as digits */
} directions[] = { { DIRECTION_FORWARD, "3" }, { DIRECTION_DGRAD, "5" }, { DIRECTION_WGRAD, "6" }, { DIRECTION_TOTAL, "356" } };

static void gradients_of_any_size(void **state)
{
	static const int sizes[][2] = { { 1, 8 }, { 2, 24 }, { 9, 72 } };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int recipe = 0; recipe < 2; recipe++)
			for (size_t d = 0; d < sizeof directions / sizeof directions[0]; d++) {
				const struct linear_case a = { .m = sizes[i][0],
					.k = sizes[i][1],
					.n = sizes[i][1],
					.recipe = recipe ? LINEAR_FLOAT8DQ_ROW : LINEAR_BASELINE,
					.model = LINEAR_BLOCK };

				zeros_are_wrong(&a, directions[d].d, directions[d].slots);
			}
}

/* A normalised row of one value is 0, so there only the product is checked. */
static void scales_by_block_of_any_size(void **state)
{
	static const int sizes[][3] = { { 1, 1, 1 }, { 3, 127, 129 }, { 130, 300, 257 }, { 5, 128, 600 } };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (int plain = 0; plain <= LINEAR_DY; plain = plain ? 2 * plain : 1)
			for (size_t d = 0; d < sizeof directions / sizeof directions[0]; d++) {
				const struct linear_case a = { .m = sizes[i][0],
					.k = sizes[i][1],
					.n = sizes[i][2],
					.recipe = LINEAR_FLOAT8DQ_BLOCK,
					.plain = plain,
					.model = d % 2 || sizes[i][1] == 1 ? LINEAR_PRODUCT : FW_LINEAR_SILU };

				zeros_are_wrong(&a, directions[d].d, directions[d].slots);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_end_with_the_line),
		cmocka_unit_test(gradients_of_any_size),
		cmocka_unit_test(scales_by_block_of_any_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
