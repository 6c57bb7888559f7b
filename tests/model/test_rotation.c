/* Nights of a large suite: every shard within as many nights as the suite specifies, and in the remaining time what changed
 * last. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

enum { SHARDS = 30, NIGHTS = 7, SHARE = 5, DAY = 86400000 };

/* Measure `many` shards in the night that began at `since_ms`; all of them are due again. */
static void pass_night(struct rotation_shard *shard, int64_t since_ms, int many)
{
	for (int i = 0; i < SHARDS; i++)
		shard[i].is_requested = false;
	for (int k = 0; k < many; k++) {
		int i = rotation_next(shard, SHARDS, NIGHTS, since_ms);

		assert_int_equal(rotation_is_behind(shard, SHARDS, NIGHTS, since_ms), k < SHARE);
		assert_true(i >= 0 && !shard[i].is_requested);
		shard[i].measured_at = since_ms + k + 1;
		shard[i].is_requested = true;
	}
}

static void every_shard_is_measured_in_rotation(void **state)
{
	struct rotation_shard shard[SHARDS] = { 0 };

	(void)state;
	for (int night = 1; night <= 40; night++) {
		for (int i = 0; i < SHARDS; i++)
			shard[i].has_change = (i * 7 + night) % 3 != 0; /* much other work, all the time */
		pass_night(shard, (int64_t)night * DAY, night % 4 ? SHARE : SHARE + 4);
		for (int i = 0; i < SHARDS && night >= NIGHTS; i++)
			assert_true(shard[i].measured_at > (int64_t)(night - NIGHTS) * DAY);
	}
}

static void recently_changed_cells_follow_the_share(void **state)
{
	struct rotation_shard shard[SHARDS];

	(void)state;
	for (int i = 0; i < SHARDS; i++)
		shard[i] = (struct rotation_shard){ .measured_at = 1000 + i };
	shard[20].has_change = shard[25].has_change = true;
	for (int k = 0; k < SHARE; k++) {
		assert_int_equal(rotation_next(shard, SHARDS, NIGHTS, DAY), k);
		shard[k].measured_at = DAY + k;
		shard[k].is_requested = true;
	}
	assert_int_equal(rotation_next(shard, SHARDS, NIGHTS, DAY), 25);
	shard[25].is_requested = true;
	assert_int_equal(rotation_next(shard, SHARDS, NIGHTS, DAY), 20);
	shard[20].is_requested = true;
	assert_int_equal(rotation_next(shard, SHARDS, NIGHTS, DAY), SHARE);
}

/* Of equally old shards the first, of those that changed the one measured last, in any order. */
static void shards_in_any_order(void **state)
{
	struct rotation_shard shard[3] = { { .measured_at = 30 }, { .measured_at = 10 }, { .measured_at = 10 } };

	(void)state;
	assert_int_equal(rotation_next(shard, 3, 1, 100), 1);
	for (int i = 0; i < 3; i++)
		shard[i] = (struct rotation_shard){ .measured_at = 30 - 10 * i, .has_change = true };
	assert_false(rotation_is_behind(shard, 3, 3, 30)); /* one of three shards in each of three nights */
	assert_true(rotation_is_behind(shard, 3, 2, 30));
	assert_int_equal(rotation_next(shard, 3, 3, 30), 1); /* the first was measured in this night */
	shard[0].measured_at = 29;
	shard[2] = (struct rotation_shard){ .measured_at = 31 };
	assert_int_equal(rotation_next(shard, 3, 3, 30), 0);
}

static void a_rotation_ends_when_all_shards_are_measured(void **state)
{
	struct rotation_shard shard[SHARDS] = { 0 };

	(void)state;
	pass_night(shard, DAY, SHARDS);
	assert_int_equal(rotation_next(shard, SHARDS, NIGHTS, DAY), -1);
	assert_int_equal(rotation_next(shard, 0, NIGHTS, DAY), -1);
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
