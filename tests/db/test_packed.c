/* Packed data is restored to the byte, and damaged data is rejected. */
#include "fixture_db.h"

#include "db/internal.h"

static struct buf packed_of(const char *text, size_t len)
{
	struct buf out;
	buf_init(&out, PACKED_MAX_BYTES);
	ok(pack(text, len, &out, &err));
	return out;
}

static void texts_come_back(void **state)
{
	(void)state;
	static char text[150000]; /* more than two blocks of lz4 */
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = "{\"cell\":1.5}"[i % 12];
	static const size_t lens[] = { 1, 2, 39999, 40000, 65536, 65537, sizeof text };
	for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
		struct buf packed = packed_of(text, lens[i]), back;
		buf_init(&back, PACKED_MAX_BYTES);
		buf_puts(&back, "before ");
		ok(unpack(packed.data, packed.len, lens[i], &back, &err));
		assert_int_equal(back.len, lens[i] + 7);
		assert_memory_equal(back.data, "before ", 7);
		assert_memory_equal(back.data + 7, text, lens[i]);
		if (lens[i] > 1000)
			assert_true(packed.len < lens[i] / 50);
		buf_fini(&packed);
		buf_fini(&back);
	}
	struct buf nothing;
	buf_init(&nothing, 10);
	ok(unpack("", 0, 0, &nothing, &err));
	assert_int_equal(nothing.len, 0);
	buf_fini(&nothing);
}

static void damage_is_refused(void **state)
{
	(void)state;
	static const char text[] = "one verdict and another verdict and a third verdict";
	struct buf packed = packed_of(text, sizeof text), back;
	buf_init(&back, 100);
	refused(ERR_INVALID, unpack(packed.data, packed.len - 3, sizeof text, &back, &err));
	refused(ERR_INVALID, unpack(packed.data, packed.len, sizeof text + 1, &back, &err)); /* less than declared */
	refused(ERR_INVALID, unpack(packed.data, packed.len, sizeof text - 1, &back, &err)); /* more */
	packed.data[packed.len / 2] ^= 1;
	refused(ERR_INVALID, unpack(packed.data, packed.len, sizeof text, &back, &err));
	assert_int_equal(back.len, 0);
	packed.data[packed.len / 2] ^= 1;
	ok(unpack(packed.data, packed.len, sizeof text, &back, &err)); /* the damage affects no later text */
	assert_int_equal(back.len, sizeof text);
	assert_memory_equal(back.data, text, sizeof text);
	refused(ERR_FULL, unpack(packed.data, packed.len, sizeof text, &back, &err));
	buf_fini(&packed);
	buf_fini(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(texts_come_back), cmocka_unit_test(damage_is_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
