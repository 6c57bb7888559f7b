/* Queued jobs without a device: none of the kind, the class, or the name that they need. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include <string.h>

#include "db/db.h"

static int64_t job(struct fixture *f, enum device_kind kind, const char *uuid, int64_t class)
{
	struct store_job j = { .repo = f->repo,
		.kind = JOBKIND_COMPARE,
		.origin = "api",
		.device_kind = kind,
		.device_class = class };
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(0xb0));
	snprintf(j.device_uuid, sizeof j.device_uuid, "%s", uuid);
	ok(store_job_insert(f->db, &j, 1000, &err));
	return j.id;
}

/* Ids and workers that are down, "3 5:far ". */
static void write_row(void *arg, const struct find_unschedulable *row)
{
	char *text = arg;
	size_t n = strlen(text);
	snprintf(text + n, 200 - n, "%lld%s%s ", (long long)row->job, *row->down ? ":" : "", row->down);
}

#define UNSCHEDULABLE(f, devices, workers, wanted)                                                                               \
	do {                                                                                                                     \
		char text[200] = "";                                                                                             \
		ok(find_unschedulable((f)->db, devices, workers, 0, write_row, text, &err));                                     \
		assert_string_equal(text, wanted);                                                                               \
	} while (0)
#define WORKER(name, kind, how) "{\"name\":\"" name "\",\"kind\":\"" kind "\",\"how\":\"" how "\"}"

static void jobs_for_missing_devices_are_unschedulable(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	char here[100];
	snprintf(here, sizeof here, "[\"%s\"]", d.uuid);
	assert_int_equal(job(f, DEVICE_ANY, "", 0), 1);
	assert_int_equal(job(f, DEVICE_SIM, "", 0), 2);
	assert_int_equal(job(f, DEVICE_CUDA, "", 0), 3);
	assert_int_equal(job(f, DEVICE_ANY, d.uuid, 0), 4);
	assert_int_equal(job(f, DEVICE_ANY, "never-seen", 0), 5);
	UNSCHEDULABLE(f, here, "[]", "3 5 ");
	UNSCHEDULABLE(f, "[\"another\"]", "[]", "1 2 3 4 5 ");

	UNSCHEDULABLE(f, "[]", "[" WORKER("far", "", "starting") "]", ""); /* it may have any device */
	UNSCHEDULABLE(f, "[]", "[" WORKER("far", "cuda", "starting") "]", "2 4 ");
	UNSCHEDULABLE(f, "[]", "[" WORKER("far", "cuda", "down") "]", "1:far 2 3:far 4 5:far ");
	UNSCHEDULABLE(f, here, "[" WORKER("far", "cuda", "down") "]", "3:far 5:far ");

	ok(store_job_state(f->db, 3, JOBSTATE_CANCELLED, "", 2, &err));
	UNSCHEDULABLE(f, here, "[]", "5 ");
	char text[200] = "";
	ok(find_unschedulable(f->db, "[]", "[]", 4, write_row, text, &err)); /* one of them */
	assert_string_equal(text, "4 ");
}

static void a_scheduler_has_what_it_gave_once(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	assert_int_equal(job(f, DEVICE_ANY, "", 0), 1);
	assert_int_equal(job(f, DEVICE_CUDA, "", 0), 2);
	assert_int_equal(job(f, DEVICE_ANY, d.uuid, 0), 3);
	UNSCHEDULABLE(f, "[]", "[" WORKER("cluster", "sim", "on call") "]", "2 3 ");
	ok(store_device_through(f->db, f->device, "cluster", "node1", true, &err));
	UNSCHEDULABLE(f, "[]", "[" WORKER("cluster", "sim", "on call") "]", "2 ");
	UNSCHEDULABLE(f, "[]", "[" WORKER("other", "sim", "on call") "]", "2 3 ");
}

static void a_class_is_unschedulable_when_nothing_fits_it(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device(), later = d, else_where = d;
	int64_t class, id;
	char here[100];
	snprintf(here, sizeof here, "[\"%s\"]", d.uuid);
	ok(store_class_put(f->db, &d, &class, &err));
	assert_int_equal(job(f, DEVICE_ANY, "", class), 1);
	UNSCHEDULABLE(f, here, "[]", "");
	UNSCHEDULABLE(f, "[]", "[]", "1 ");

	snprintf(else_where.uuid, sizeof else_where.uuid, "else");
	snprintf(else_where.name, sizeof else_where.name, "another model");
	ok(store_device_put(f->db, &else_where, 2000, &id, &err));
	UNSCHEDULABLE(f, "[\"else\"]", "[]", "1 ");

	snprintf(later.driver, sizeof later.driver, "999.1"); /* the same card with a newer driver; no device has the old one */
	ok(store_device_put(f->db, &later, 2000, &id, &err));
	UNSCHEDULABLE(f, here, "[]", "");
}

static void count_row(void *arg, const struct find_unschedulable *row)
{
	(void)row;
	++*(int *)arg;
}

/* In steps of SQLite's virtual machine: the cost of the query for all queued jobs with that many devices. */
static int64_t cost_of(struct fixture *f, int n_devices, int n_jobs)
{
	struct buf devices;
	int n = 0;
	buf_init(&devices, 4096);
	for (int i = 0; i < n_devices; i++)
		buf_printf(&devices, "%s\"dev-%d\"", i ? "," : "[", i);
	buf_putc(&devices, ']');
	int64_t before = db_steps(f->db);
	ok(find_unschedulable(f->db, devices.data, "[]", 0, count_row, &n, &err));
	assert_int_equal(n, n_jobs);
	buf_fini(&devices);
	return db_steps(f->db) - before;
}

static void see_step(void *arg, const char *sql, const char *step)
{
	int *by_state = arg;
	if (strstr(sql, "json_each(:devices)"))
		*by_state += strstr(step, "INDEX job_by_state") != NULL;
}

static void devices_are_looked_up_once_for_jobs_that_want_the_same(void **state)
{
	struct fixture *f = *state;
	int64_t more[2]; /* for 49 more devices: with one job, with 200 */
	int by_state = 0;
	for (int i = 0; i < 50; i++) {
		struct msg_device d = fixture_device();
		int64_t id;
		snprintf(d.uuid, sizeof d.uuid, "dev-%d", i);
		ok(store_device_put(f->db, &d, 1000, &id, &err));
	}
	job(f, DEVICE_CUDA, "", 0);
	cost_of(f, 1, 1); /* prepares the statements */
	more[0] = cost_of(f, 50, 1) - cost_of(f, 1, 1);
	for (int i = 1; i < 200; i++)
		job(f, DEVICE_CUDA, "", 0);
	more[1] = cost_of(f, 50, 200) - cost_of(f, 1, 200);
	assert_true(more[0] > 0);
	assert_int_equal(more[0], more[1]);
	ok_once(db_explain(f->db, see_step, &by_state, &err));
	assert_int_equal(by_state, 1); /* jobs that ended long ago are not read */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(jobs_for_missing_devices_are_unschedulable, setup, teardown),
		cmocka_unit_test_setup_teardown(a_scheduler_has_what_it_gave_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_class_is_unschedulable_when_nothing_fits_it, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_are_looked_up_once_for_jobs_that_want_the_same, setup, teardown),
	};
	return run_twice(tests);
}
