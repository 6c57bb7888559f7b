/* Data that is stored as a whole: bodies of comparisons, their artifacts, their metrics. */
#include "failing_statements.h"

#include "fixture_views.h"

#include <math.h>

#include "db/db.h"

static void bodies_and_artifacts_come_back(void **state)
{
	struct fixture *f = *state;
	struct buf out;
	char etag[65];
	fill(f, 2);
	buf_init(&out, 1 << 20);
	ok(db_begin(f->db, &err));
	ok(store_comparison_body(f->db, 2, "{\"id\":2}", 8, "e7a6", &err));
	ok(store_artifact(f->db, "cell", 3, "nodes", "[1]", 3, &err));
	ok(store_artifact(f->db, "cell", 3, "nodes", "[2]", 3, &err));
	ok(store_metric(f->db, 3, "x", "ms", 1, &err));
	ok(store_metric(f->db, 3, "x", "ms", NAN, &err));
	ok(db_commit(f->db, &err));
	ok(view_body(f->db, 2, &out, etag, &err));
	assert_string_equal(out.data, "{\"id\":2}");
	assert_string_equal(etag, "e7a6");
	refused(ERR_NOT_FOUND, view_body(f->db, 99, &out, etag, &err));
	buf_clear(&out);
	ok(view_artifact(f->db, "cell", 3, "nodes", &out, &err));
	assert_string_equal(out.data, "[2]");
	refused(ERR_NOT_FOUND, view_artifact(f->db, "cell", 4, "nodes", &out, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric WHERE value = 1"), 1);
	buf_fini(&out);
}

static void note_metric(void *arg, const char *name, const char *unit, double value)
{
	buf_printf(arg, "%s %s %g, ", name, unit, value);
}

/* Phases are shown in the order of execution, whatever the order in other cells. */
static void metrics_are_named_once_and_keep_their_order(void **state)
{
	struct fixture *f = *state;
	struct buf out;
	fill(f, 2);
	buf_init(&out, 1 << 10);
	ok(db_begin(f->db, &err));
	ok(store_metric(f->db, 1, "phase.combine.base_ms", "ms", 1, &err));
	ok(store_metric(f->db, 1, "phase.run.base_ms", "ms", 2, &err));
	ok(store_metric(f->db, 2, "phase.run.base_ms", "ms", 3, &err));
	ok(store_metric(f->db, 2, "phase.combine.base_ms", "ms", 4, &err));
	ok(store_metric(f->db, 2, "phase.combine.base_ms", "us", 5, &err));
	ok(store_metric(f->db, 2, "phase.run.base_ms", "ms", 6, &err)); /* judged again */
	ok(db_commit(f->db, &err));
	ok(view_metrics(f->db, 2, note_metric, &out, &err));
	assert_string_equal(out.data, "phase.run.base_ms ms 6, phase.combine.base_ms ms 4, phase.combine.base_ms us 5, ");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM metric_name"), 3);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(metrics_are_named_once_and_keep_their_order, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(bodies_and_artifacts_come_back, setup, fixture_teardown),
	};
	return run_twice(tests);
}
