/* The layer normalisation module for CPUs, called directly: what bind accepts and what it refuses. Its results are tested in
 * tests/families. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "kernels/fw_layernorm.h"
#include "kernels_module.h"

enum { ROWS = 3, COLUMNS = 16, VALUES = 2 * ROWS * COLUMNS };

static const struct fw_provider *cpu;
static uint16_t memory[FW_LAYERNORM_SLOTS][2 * VALUES]; /* bf16, or half as many fp32 */
static struct fw_tensor slot[FW_LAYERNORM_SLOTS];
static struct fw_plan *plan;

static int load(void **state)
{
	(void)state;
	const struct fw_module *m = kernels_module("layernorm");
	cpu = m && m->abi == FW_ABI ? m->provider[0] : NULL;
	return cpu ? 0 : -1;
}

static int begin(void **state)
{
	(void)state;
	static const struct fw_layernorm shape = { sizeof shape, ROWS, COLUMNS, 1e-5f };
	const struct fw_problem problem = { .struct_size = sizeof problem,
		.family = FW_LAYERNORM,
		.direction = FW_FORWARD,
		.shape = &shape,
		.shape_size = sizeof shape };
	struct fw_info info = { .struct_size = sizeof info };
	char why[256] = "";
	for (int i = 0; i < FW_LAYERNORM_SLOTS; i++)
		slot[i] = (struct fw_tensor){ .data = memory[i], .dtype = FW_BF16 };
	return cpu->plan(&problem, NULL, 1, &plan, &info, why, sizeof why);
}

static int end(void **state)
{
	(void)state;
	cpu->destroy(plan);
	return 0;
}

static int bind(void)
{
	const struct fw_io io = { sizeof io, FW_LAYERNORM_SLOTS, slot, NULL, NULL };
	return cpu->bind(plan, &io);
}

static void test_strides_that_report_row_major_are_the_same(void **state)
{
	(void)state;
	assert_int_equal(bind(), FW_OK);
	slot[FW_LAYERNORM_X].stride[0] = slot[FW_LAYERNORM_Y].stride[0] = COLUMNS;
	slot[FW_LAYERNORM_X].stride[1] = slot[FW_LAYERNORM_Y].stride[1] = 1;
	slot[FW_LAYERNORM_GAMMA].stride[0] = slot[FW_LAYERNORM_MEAN].stride[0] = 1;
	assert_int_equal(bind(), FW_OK);
	assert_int_equal(cpu->enqueue(plan, FW_ALL, NULL), FW_OK);
}

static void test_rows_with_gaps_are_refused(void **state)
{
	(void)state;
	slot[FW_LAYERNORM_X].stride[0] = COLUMNS + 8;
	slot[FW_LAYERNORM_X].stride[1] = 1;
	assert_int_equal(bind(), FW_UNSUPPORTED);
	assert_string_equal(cpu->error(plan), "slot 0 must be row-major without gaps");
	assert_int_equal(cpu->enqueue(plan, FW_ALL, NULL), FW_INVALID);
}

static void test_columns_separate_are_refused(void **state)
{
	(void)state;
	slot[FW_LAYERNORM_Y].stride[0] = 1;
	slot[FW_LAYERNORM_Y].stride[1] = ROWS;
	assert_int_equal(bind(), FW_UNSUPPORTED);
}

static void test_a_vector_with_gaps_is_refused(void **state)
{
	(void)state;
	slot[FW_LAYERNORM_GAMMA].stride[0] = 2;
	assert_int_equal(bind(), FW_UNSUPPORTED);
}

static void test_a_slot_that_is_missing_is_reported(void **state)
{
	(void)state;
	slot[FW_LAYERNORM_BETA].data = NULL;
	assert_int_equal(bind(), FW_INVALID);
	assert_string_equal(cpu->error(plan), "slot 2 is missing");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_strides_that_report_row_major_are_the_same),
		CASE(test_rows_with_gaps_are_refused),
		CASE(test_columns_separate_are_refused),
		CASE(test_a_vector_with_gaps_is_refused),
		CASE(test_a_slot_that_is_missing_is_reported),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
