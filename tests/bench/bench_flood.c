/* How long a single push takes beside a thousand branches that were pushed at once. */
#include "flood.h"

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
	db_rollback(f->db);
	return fixture_teardown(&state);
}
