/* Nights of a large suite: every part within as many nights as the suite specifies, and in the remaining time what changed
 * last. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

enum { PARTS = 30, NIGHTS = 7, SHARE = 5, DAY = 86400000 };

/* Measure `many` parts in the night that began at `night_at`; all of them are due again. */
static void pass_night(struct rotation_part *part, int64_t night_at, int many)
{
	for (int i = 0; i < PARTS; i++)
		part[i].is_requested = false;
	for (int k = 0; k < many; k++) {
		int i = rotation_next(part, PARTS, NIGHTS, night_at);

		assert_int_equal(rotation_is_behind(part, PARTS, NIGHTS, night_at), k < SHARE);
		assert_true(i >= 0 && !part[i].is_requested);
		part[i].measured_at = night_at + k + 1;
		part[i].is_requested = true;
	}
}

static void every_shard_is_measured_in_rotation(void **state)
{
	struct rotation_part part[PARTS] = { 0 };

	(void)state;
	for (int night = 1; night <= 40; night++) {
		for (int i = 0; i < PARTS; i++)
			part[i].has_change = (i * 7 + night) % 3 != 0; /* much other work, all the time */
		pass_night(part, (int64_t)night * DAY, night % 4 ? SHARE : SHARE + 4);
		for (int i = 0; i < PARTS && night >= NIGHTS; i++)
			assert_true(part[i].measured_at > (int64_t)(night - NIGHTS) * DAY);
	}
}

static void recently_changed_cells_follow_the_share(void **state)
{
	struct rotation_part part[PARTS];

	(void)state;
	for (int i = 0; i < PARTS; i++)
		part[i] = (struct rotation_part){ .measured_at = 1000 + i };
	part[20].has_change = part[25].has_change = true;
	for (int k = 0; k < SHARE; k++) {
		assert_int_equal(rotation_next(part, PARTS, NIGHTS, DAY), k);
		part[k].measured_at = DAY + k;
		part[k].is_requested = true;
	}
	assert_int_equal(rotation_next(part, PARTS, NIGHTS, DAY), 25);
	part[25].is_requested = true;
	assert_int_equal(rotation_next(part, PARTS, NIGHTS, DAY), 20);
	part[20].is_requested = true;
	assert_int_equal(rotation_next(part, PARTS, NIGHTS, DAY), SHARE);
}

/* Of equally old parts the first, of those that changed the one measured last, in any order. */
static void shards_in_any_order(void **state)
{
	struct rotation_part part[3] = { { .measured_at = 30 }, { .measured_at = 10 }, { .measured_at = 10 } };

	(void)state;
	assert_int_equal(rotation_next(part, 3, 1, 100), 1);
	for (int i = 0; i < 3; i++)
		part[i] = (struct rotation_part){ .measured_at = 30 - 10 * i, .has_change = true };
	assert_false(rotation_is_behind(part, 3, 3, 30)); /* one of three parts in each of three nights */
	assert_true(rotation_is_behind(part, 3, 2, 30));
	assert_int_equal(rotation_next(part, 3, 3, 30), 1); /* the first was measured in this night */
	part[0].measured_at = 29;
	part[2] = (struct rotation_part){ .measured_at = 31 };
	assert_int_equal(rotation_next(part, 3, 3, 30), 0);
}

static void a_rotation_ends_when_all_shards_are_measured(void **state)
{
	struct rotation_part part[PARTS] = { 0 };

	(void)state;
	pass_night(part, DAY, PARTS);
	assert_int_equal(rotation_next(part, PARTS, NIGHTS, DAY), -1);
	assert_int_equal(rotation_next(part, 0, NIGHTS, DAY), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shard_is_measured_in_rotation),
		cmocka_unit_test(recently_changed_cells_follow_the_share),
		cmocka_unit_test(shards_in_any_order),
		cmocka_unit_test(a_rotation_ends_when_all_shards_are_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
