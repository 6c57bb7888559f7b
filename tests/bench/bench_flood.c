/* How long a single push takes next to a thousand branches that were pushed at once; the cost of looking up the jobs of
 * allocations. */
#include "flood.h"

#include "db/db.h"
#include "lib/lib.h"

enum { WAITING = 10000, ALLOCATIONS = 64, INTERLEAVE = 20 };

int main(void)
{
	void *state = NULL;
	if (fixture_setup(&state) != 0)
		return 1;
	struct fixture *f = state;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	struct flood out = flood_run(f);
	printf("bench queue.flood_1000.single_median %.3g job_lengths\n", out.median);
	printf("bench queue.flood_1000.single_p95 %.3g job_lengths\n", out.p95);
	printf("bench queue.flood_1000.single_most %.3g job_lengths\n", out.most);
	for (int i = 0; i < WAITING; i++)
		fixture_job(f, "more", 0, (unsigned)i, 1000 + i);
	const struct store_cached_build_request request = { DEVICE_CPU, "w", "[]", "[]", STORE_CACHED_BUILD_ANY, 0 };
	struct store_job_position position[ALLOCATIONS];
	int n = 0;
	int64_t begun_ns = clock_mono_ns();
	for (int i = 0; i < INTERLEAVE; i++)
		ok(store_job_positions(f->db, &request, ALLOCATIONS, position, &n, &err));
	assert_int_equal(n, ALLOCATIONS);
	printf("bench queue.flood_10000.allocations_64 %.3g ms_per_turn\n",
		(double)(clock_mono_ns() - begun_ns) / 1e6 / INTERLEAVE);
	db_rollback(f->db);
	return fixture_teardown(&state);
}
