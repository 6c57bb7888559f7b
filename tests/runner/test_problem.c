/* A cell's buffers: which exist, their contents, and whether a write into an input is detected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "kernels/fw_layernorm.h"
#include "model/model.h"
#include "runner/internal.h"
#include "runner_run.h"

static const struct device_ops *const ops = &device_cpu;
static struct device *dev;

static int open_device(void **state)
{
	struct fw_err err = { 0 };
	(void)state;
	return ops->open(0, 1, &dev, &err);
}

static int close_device(void **state)
{
	(void)state;
	ops->close(dev);
	return 0;
}

/* Layer normalisation whose author left the strides at "all 0: row-major". */
static struct family bare;
const struct family *__real_family_find(const char *name);
const struct family *__wrap_family_find(const char *name);
const struct family *__wrap_family_find(const char *name)
{
	return strcmp(name, "bare") == 0 ? &bare : __real_family_find(name);
}

static size_t lay_out_without_strides(const void *shape, int slot, struct fw_tensor *t)
{
	size_t bytes = __real_family_find("layernorm")->lay_out(shape, slot, t);

	memset(t->stride, 0, sizeof t->stride);
	return bytes;
}

static void make(struct problem *p, int32_t mask, enum direction direction, int n_seqs, const int32_t *length)
{
	struct fw_err err = { 0 };
	struct cell c = small_cell(mask, direction, n_seqs, length);
	if (problem_open(p, ops, dev, &c, &err) != 0)
		fail_msg("%s", err.text);
}

static void forward_has_its_slots(void **state)
{
	static const enum slot_use want[FW_ATTENTION_SLOTS] = {
		[FW_Q] = SLOT_INPUT,
		[FW_K] = SLOT_INPUT,
		[FW_V] = SLOT_INPUT,
		[FW_O] = SLOT_OUTPUT,
		[FW_LSE] = SLOT_OUTPUT,
	};
	const int32_t length[] = { 40 };
	struct problem p;
	uint16_t q[40 * 2 * 16];
	(void)state;
	make(&p, FW_CAUSAL, DIRECTION_FORWARD, 1, length);
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		assert_int_equal(p.slot[i].use, want[i]);
		assert_true((p.tensor[i].data != NULL) == (want[i] != SLOT_UNUSED));
	}
	assert_int_equal(p.tensor[FW_Q].stride[0], 32);
	assert_int_equal(p.tensor[FW_K].stride[0], 16);
	assert_int_equal(p.tensor[FW_LSE].stride[0], 40);
	assert_int_equal(p.slot[FW_LSE].bytes, 2 * 40 * 4);
	inputs_fill(42, FW_Q, 0, 40 * 2 * 16, q);
	assert_memory_equal(p.tensor[FW_Q].data, q, sizeof q);
	assert_int_equal(strlen(p.input_sha256), 64);
	problem_close(&p);
}

static void a_write_into_an_input_is_named_and_undone(void **state)
{
	const int32_t length[] = { 10, 6 };
	struct problem p;
	struct fw_err err = { 0 };
	struct failure f = { 0 };
	const char *name;
	(void)state;
	make(&p, FW_FULL, DIRECTION_BACKWARD, 2, length);
	memset(p.slot[FW_O].data, 0x11, p.slot[FW_O].bytes);
	memset(p.slot[FW_LSE].data, 0x22, p.slot[FW_LSE].bytes);
	assert_int_equal(problem_copy_forward(&p, false, &err), 0);
	assert_int_equal(problem_sum_forward(&p, false, &err), 0);
	assert_int_equal(problem_modified(&p, &name, &err), 0);
	assert_null(name);

	static const struct {
		int slot;
		const char *name;
	} inputs[] = { { FW_Q, "Q" }, { FW_O, "O" }, { FW_LSE, "LSE" }, { FW_DO, "dO" }, { FW_CU_K, "sequence offsets" } };
	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		struct problem_slot *s = &p.slot[inputs[i].slot];
		((unsigned char *)s->data)[s->bytes - 1] ^= 0x40;
		assert_int_equal(problem_modified(&p, &name, &err), 0);
		assert_string_equal(name, inputs[i].name);
		assert_int_equal(problem_restore(&p, &f), 0);
		assert_int_equal(problem_modified(&p, &name, &err), 0);
		assert_null(name);
	}
	assert_int_equal(problem_poison(&p, 0xff, &f), 0);
	float x;
	memset(&x, 0xff, sizeof x);
	assert_true(x != x);
	assert_memory_equal(p.slot[FW_DQ].data, &x, sizeof x);
	problem_close(&p);
}

static int make_forward(struct problem *p, int o, int lse, bool second)
{
	struct fw_err err = { 0 };
	memset(p->slot[FW_O].data, o, p->slot[FW_O].bytes);
	memset(p->slot[FW_LSE].data, lse, p->slot[FW_LSE].bytes);
	return problem_copy_forward(p, second, &err) == 0 ? problem_sum_forward(p, second, &err) : -1;
}

/* Row i is row (i + by) of the tensor's original contents. */
static void assert_rolled(const struct problem *p, int slot, int by)
{
	const struct problem_slot *s = &p->slot[slot];
	size_t row = (size_t)p->tensor[slot].stride[0] * 2, n = s->bytes / row;
	for (size_t i = 0; i < n; i++)
		assert_memory_equal((char *)s->data + i * row, (char *)s->master + (i + (size_t)by) % n * row, row);
}

static void inputs_are_arranged_and_watched(void **state)
{
	const int32_t length[] = { 10, 6 };
	struct problem p;
	struct fw_err err = { 0 };
	struct failure f = { 0 };
	const char *name;
	(void)state;
	make(&p, FW_CAUSAL, DIRECTION_BACKWARD, 2, length);
	struct input_variant rolled = { .roll = { [FW_K] = 3, [FW_V] = 15 } };
	assert_int_equal(variant_add_second(&p, &rolled, &err), 0);
	assert_int_equal(make_forward(&p, 0x11, 0x22, false), 0);
	assert_int_equal(make_forward(&p, 0x33, 0x44, true), 0);

	struct input_variant a = p.second;
	a.roll[FW_DO] = 7;
	assert_int_equal(variant_sum(&p, &a, &err), 0);
	assert_rolled(&p, FW_Q, 0);
	assert_rolled(&p, FW_K, 3);
	assert_rolled(&p, FW_V, 15);
	assert_rolled(&p, FW_DO, 7);
	assert_int_equal(*(unsigned char *)p.slot[FW_O].data, 0x33);
	assert_int_equal(*(unsigned char *)p.slot[FW_LSE].data, 0x44);
	assert_int_equal(problem_modified(&p, &name, &err), 0);
	assert_null(name);
	*(unsigned char *)p.slot[FW_V].data ^= 1;
	assert_int_equal(problem_modified(&p, &name, &err), 0);
	assert_string_equal(name, "V");

	assert_int_equal(problem_restore(&p, &f), 0);
	for (int slot = FW_Q; slot <= FW_V; slot++)
		assert_rolled(&p, slot, 0);
	assert_int_equal(*(unsigned char *)p.slot[FW_O].data, 0x11);
	assert_int_equal(problem_modified(&p, &name, &err), 0);
	assert_null(name);
	problem_close(&p);
}

/* Every copy from which inputs are restored, of either forward, and nothing else. */
static void a_changed_copy_is_found(void **state)
{
	const int32_t length[] = { 10, 6 };
	static const int slots[] = { FW_Q, FW_K, FW_V, FW_O, FW_LSE, FW_DO, FW_CU_Q, FW_CU_K };
	struct input_variant rolled = { .roll = { [FW_K] = 3, [FW_V] = 15 } };
	struct problem p;
	struct fw_err err = { 0 };
	struct failure f = { 0 };
	int slot;
	(void)state;
	make(&p, FW_CAUSAL, DIRECTION_BACKWARD, 2, length);
	assert_int_equal(variant_add_second(&p, &rolled, &err), 0);
	assert_int_equal(make_forward(&p, 0x11, 0x22, false), 0);
	assert_int_equal(make_forward(&p, 0x33, 0x44, true), 0);
	assert_int_equal(problem_poison(&p, 0x55, &f), 0);
	*(unsigned char *)p.slot[FW_Q].data ^= 1;
	assert_int_equal(forward_hold_inputs(&p, &f), 0);
	for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
		for (int second = 0; second < 2; second++) {
			unsigned char *copy = second ? p.slot[slots[i]].second : p.slot[slots[i]].master;
			if (!copy)
				continue;
			copy[p.slot[slots[i]].bytes - 1] ^= 1;
			assert_int_equal(problem_damaged(&p, &slot, &err), 0);
			assert_int_equal(slot, slots[i]);
			assert_int_equal(forward_hold_inputs(&p, &f), -1);
			assert_string_equal(f.name, "oob");
			copy[p.slot[slots[i]].bytes - 1] ^= 1;
			f = (struct failure){ 0 };
		}
	}
	assert_non_null(p.slot[FW_LSE].second);
	assert_int_equal(problem_damaged(&p, &slot, &err), 0);
	assert_int_equal(slot, -1);
	problem_close(&p);
}

static int ones(const struct problem *p)
{
	int n = 0;
	for (size_t i = 0; i < p->slot[FW_BLOCK_BITS].bytes / 4; i++)
		n += __builtin_popcount(((const uint32_t *)p->slot[FW_BLOCK_BITS].laid)[i]);
	return n;
}

static void second_masks_have_equal_sizes(void **state)
{
	const int32_t one[] = { 64 }, many[] = { 192 }, two[] = { 10, 6 }, same[] = { 8, 8 };
	struct problem p;
	struct fw_err err = { 0 };
	uint32_t bits[4];
	(void)state;

	make(&p, FW_BLOCKS, DIRECTION_FORWARD, 1, one);
	assert_int_equal(p.slot[FW_BLOCK_BITS].bytes, sizeof bits);
	memcpy(bits, p.slot[FW_BLOCK_BITS].laid, sizeof bits);
	int kept = ones(&p);
	assert_int_equal(kept, 8);
	assert_true(problem_has_second(&p));
	assert_int_equal(problem_second(&p, &err), 0);
	assert_int_equal(ones(&p), kept);
	assert_memory_not_equal(p.slot[FW_BLOCK_BITS].laid, bits, sizeof bits);
	assert_memory_equal(p.slot[FW_BLOCK_BITS].data, p.slot[FW_BLOCK_BITS].laid, sizeof bits);
	problem_close(&p);

	for (int i = 0; i < PATTERNS * 40; i++) { /* however few blocks a pattern leaves to be drawn */
		struct cell c = small_cell(FW_BLOCKS, DIRECTION_FORWARD, 1, many);
		uint32_t before[12 * 6];
		attention_of(&c)->pattern = (enum pattern)(i % PATTERNS);
		c.seed = (uint64_t)i;
		case_name(&c);
		assert_int_equal(problem_open(&p, ops, dev, &c, &err), 0);
		assert_true(p.slot[FW_BLOCK_BITS].bytes <= sizeof before);
		memcpy(before, p.slot[FW_BLOCK_BITS].laid, p.slot[FW_BLOCK_BITS].bytes);
		assert_true(problem_has_second(&p));
		assert_int_equal(problem_second(&p, &err), 0);
		assert_memory_not_equal(p.slot[FW_BLOCK_BITS].laid, before, p.slot[FW_BLOCK_BITS].bytes);
		assert_memory_equal(p.slot[FW_BLOCK_BITS].data, p.slot[FW_BLOCK_BITS].laid, p.slot[FW_BLOCK_BITS].bytes);
		problem_close(&p);
	}

	make(&p, FW_CAUSAL, DIRECTION_FORWARD, 2, two);
	assert_true(problem_has_second(&p));
	assert_int_equal(problem_second(&p, &err), 0);
	assert_int_equal(((int32_t *)p.slot[FW_CU_Q].laid)[1], 6);
	assert_int_equal(((int32_t *)p.slot[FW_CU_Q].laid)[2], 16);
	assert_int_equal(((int32_t *)p.tensor[FW_CU_Q].data)[1], 6);
	problem_close(&p);

	make(&p, FW_CAUSAL, DIRECTION_FORWARD, 2, same);
	assert_false(problem_has_second(&p));
	problem_close(&p);
	make(&p, FW_FULL, DIRECTION_FORWARD, 1, one);
	assert_false(problem_has_second(&p));
	problem_close(&p);
}

static void the_name_of_the_inputs_follows_them(void **state)
{
	const int32_t one[] = { 32 };
	struct problem p;
	char first[HASH_HEX];
	struct fw_err err = { 0 };
	(void)state;
	make(&p, FW_FULL, DIRECTION_FORWARD, 1, one);
	memcpy(first, p.input_sha256, sizeof first);
	problem_close(&p);
	make(&p, FW_FULL, DIRECTION_FORWARD, 1, one);
	assert_string_equal(p.input_sha256, first);
	problem_close(&p);
	struct cell c = small_cell(FW_FULL, DIRECTION_FORWARD, 1, one);
	c.seed++; /* the key is the same, the inputs are not */
	assert_int_equal(problem_open(&p, ops, dev, &c, &err), 0);
	assert_string_not_equal(p.input_sha256, first);
	problem_close(&p);
}

/* Rows shift by their stride: without one the runner would be killed by a division by zero, reported as a crash of the module. */
static void the_message_names_a_family_without_strides(void **state)
{
	const struct fw_layernorm shape = { sizeof shape, 4, 40, 1e-5f };
	struct cell c = { .direction = DIRECTION_FORWARD, .family = "bare", .seed = 42 };
	struct problem p;
	struct fw_err err = { 0 };
	(void)state;

	bare = *__real_family_find("layernorm");
	bare.lay_out = lay_out_without_strides;
	memcpy(c.shape.bytes, &shape, sizeof shape);
	case_name(&c);
	assert_int_equal(problem_open(&p, ops, dev, &c, &err), -1);
	assert_non_null(strstr(err.text, "the family gives X no stride"));
	problem_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forward_has_its_slots),
		cmocka_unit_test(a_write_into_an_input_is_named_and_undone),
		cmocka_unit_test(inputs_are_arranged_and_watched),
		cmocka_unit_test(a_changed_copy_is_found),
		cmocka_unit_test(second_masks_have_equal_sizes),
		cmocka_unit_test(the_name_of_the_inputs_follows_them),
		cmocka_unit_test(the_message_names_a_family_without_strides),
	};
	return cmocka_run_group_tests(tests, open_device, close_device);
}
