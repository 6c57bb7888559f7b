/* The reference of transformer blocks, called directly. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_end_with_the_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
