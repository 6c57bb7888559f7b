/* Jobs, logs, devices, events and counts as pages show them. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include "db/db.h"

struct seen {
	int n;
	int64_t first, last;
	char text[256];
};

static void see_job(void *arg, const struct view_job *row)
{
	struct seen *s = arg;
	if (s->n++ == 0)
		s->first = row->id;
	s->last = row->id;
	snprintf(s->text, sizeof s->text, "%s %s %s %s %s %s %s %d", row->repo, row->branch, jobstate_name(row->state),
		row->state_why, row->progress, row->device, row->comparison ? verdict_name(row->verdict) : "", row->attempt);
}

static bool is_left(int64_t id)
{
	return id % 3 != 0 && (id < 11 || id > 19);
}

/* From the returned id on no row is older than the time, before it every row is: in lists with gaps and in an empty one, too. */
static void a_time_is_found_in_a_list(void **state)
{
	struct fixture *f = *state;
	int64_t id;
	ok(view_seek(f->db, VIEW_LIST_JOBS, 1, &id, &err));
	assert_int_equal(id, 1);
	for (int64_t i = 1; i <= 40; i++)
		assert_int_equal(fixture_job(f, "main", (unsigned)i, (unsigned)i + 1, 1000 + 10 * i), i);
	ok(db_script(f->db, "DELETE FROM job_plan; DELETE FROM job WHERE id % 3 = 0 OR id BETWEEN 11 AND 19", &err));
	for (int64_t at = 990; at <= 1420; at += 5) {
		ok(view_seek(f->db, VIEW_LIST_JOBS, at, &id, &err));
		for (int64_t i = 1; i <= 40; i++)
			if (is_left(i))
				assert_int_equal(i >= id, 1000 + 10 * i >= at);
	}
}

struct positions {
	int n;
	int64_t id[16];
};

static void see_position(void *arg, const struct view_job *row)
{
	struct positions *p = arg;
	p->id[p->n++] = row->id;
}

static int64_t waits(struct fixture *f, int64_t repo, const char *branch, int priority, int64_t now_ms)
{
	struct store_job j = { .repo = repo,
		.kind = JOBKIND_COMPARE,
		.base_how = "merge-base",
		.suite = "ffa",
		.origin = "push",
		.priority = priority };
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.base_sha, sizeof j.base_sha, "%s", fixture_sha(1));
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha((unsigned)now_ms));
	ok(store_job_insert(f->db, &j, now_ms, &err));
	fixture_plan(f, j.id);
	return j.id;
}

/* One repository is flooded; the page shows that pushes of the other do not wait for it. */
static void the_position_of_a_job_is_its_place_in_the_order(void **state)
{
	struct fixture *f = *state;
	struct positions seen = { 0 }, before = { 0 };
	int64_t other;
	ok(store_repo_put(f->db, "others", "/srv/git/others.git", true, "main", &other, &err));
	waits(f, f->repo, "", -6, 900);
	for (int i = 0; i < 6; i++) {
		char branch[16];
		snprintf(branch, sizeof branch, "flood%d", i);
		waits(f, f->repo, branch, 0, 1000 + i);
	}
	waits(f, other, "one", 0, 2000);
	waits(f, other, "two", 0, 2001);
	ok(view_waiting(f->db, 16, see_position, &seen, &err));
	assert_int_equal(seen.n, 9);
	ok(view_waiting(f->db, 4, see_position, &before, &err));
	assert_int_equal(before.n, 4);
	assert_memory_equal(before.id, seen.id, 4 * sizeof *seen.id);
	for (int i = 0; i < seen.n; i++) {
		struct store_job next;
		assert_int_equal(store_job_next(f->db, DEVICE_SIM, "sim-0", "[]", &next, &err), 1);
		assert_int_equal(next.id, seen.id[i]);
		ok(store_job_send(f->db, next.id, f->device, "n", 5000 + i, &err));
	}
}

static void jobs_by_state(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	int64_t ids[6];
	for (unsigned i = 0; i < 6; i++)
		ids[i] = fixture_job(f, "main", i, i + 1, 1);
	int64_t done = fixture_comparison(f, "dev", 8, 9, VERDICT_IMPROVEMENT, 5);
	ok(store_job_send(f->db, ids[0], f->device, "n", 2, &err));
	ok(store_job_state(f->db, ids[0], JOBSTATE_MEASURING, "", 3, &err));
	ok(store_job_progress(f->db, ids[0], "{\"run\":3}", &err));
	ok(store_job_state(f->db, ids[1], JOBSTATE_CANCELLED, "by anna", 4, &err));
	ok(view_jobs(f->db, NULL, 0, 100, see_job, &s, &err));
	assert_int_equal(s.n, 7);
	assert_true(s.first > s.last);
	s = (struct seen){ 0 };
	ok(view_jobs(f->db, "open", 0, 100, see_job, &s, &err));
	assert_int_equal(s.n, 5);
	s = (struct seen){ 0 };
	ok(view_jobs(f->db, "open", 0, 2, see_job, &s, &err));
	assert_int_equal(s.n, 2);
	ok(view_jobs(f->db, "open", s.last, 100, see_job, &s, &err));
	assert_int_equal(s.n, 5);
	s = (struct seen){ 0 };
	ok(view_jobs(f->db, "cancelled", 0, 0, see_job, &s, &err));
	assert_int_equal(s.n, 1);
	assert_string_equal(s.text, "kernels main cancelled by anna    0");
	ok(view_job(f->db, ids[0], see_job, &s, &err));
	assert_string_equal(s.text, "kernels main measuring  {\"run\":3} sim-0  1");
	s = (struct seen){ 0 };
	ok(view_jobs(f->db, "done", 0, 0, see_job, &s, &err));
	assert_string_equal(s.text, "kernels dev done    improvement 0");
	assert_int_equal(done, 1);
	refused(ERR_NOT_FOUND, view_job(f->db, 999, see_job, &s, &err));
}

static void see_line(void *arg, int64_t id, int64_t at, const char *line)
{
	struct seen *s = arg;
	(void)at;
	s->n++;
	s->last = id;
	snprintf(s->text, sizeof s->text, "%s", line);
}

static void logs_are_followed(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	int64_t one = fixture_job(f, "main", 0, 1, 1), two = fixture_job(f, "main", 1, 2, 1);
	for (int i = 0; i < 10; i++) {
		char line[32];
		snprintf(line, sizeof line, "line %d", i);
		ok(store_job_log(f->db, i % 2 ? one : two, i, line, &err));
	}
	ok(view_log(f->db, one, 0, 3, see_line, &s, &err));
	assert_int_equal(s.n, 3);
	assert_string_equal(s.text, "line 5");
	ok(view_log(f->db, one, s.last, 100, see_line, &s, &err));
	assert_int_equal(s.n, 5);
	assert_string_equal(s.text, "line 9");
	ok(view_log(f->db, one, s.last, 100, see_line, &s, &err));
	assert_int_equal(s.n, 5);
}

static void see_last_event(void *arg, int64_t id, int64_t at, const char *kind, const char *payload)
{
	struct seen *s = arg;
	(void)at;
	s->n++;
	s->last = id;
	snprintf(s->text, sizeof s->text, "%s %s", kind, payload);
}

static void events_are_followed(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	int64_t last, newest;
	ok(view_event_ends(f->db, &(int64_t){ 0 }, &newest, &err));
	assert_int_equal(newest, 0);
	for (int i = 0; i < 5; i++)
		ok(store_event(f->db, i, "job.sent", "{\"job\":1}", &last, &err));
	ok(view_event_ends(f->db, &(int64_t){ 0 }, &newest, &err));
	assert_int_equal(newest, last);
	ok(view_events(f->db, last - 2, 100, see_last_event, &s, &err));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.text, "job.sent {\"job\":1}");
	ok(view_events(f->db, last, 100, see_last_event, &s, &err));
	assert_int_equal(s.n, 2);
}

static void see_device(void *arg, const struct view_device *row)
{
	struct seen *s = arg;
	s->n++;
	s->last = row->job;
	snprintf(s->text, sizeof s->text, "%s %s %s %s", row->uuid, row->kind, devicestate_name(row->state), row->state_why);
}

static void devices_show_their_job(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	ok(view_devices(f->db, see_device, &s, &err));
	assert_string_equal(s.text, "sim-0 sim ok ");
	assert_int_equal(s.last, 0);
	int64_t id = fixture_job(f, "main", 0, 1, 1);
	ok(store_job_send(f->db, id, f->device, "n", 2, &err));
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, "by anna", 1, &err));
	ok(view_devices(f->db, see_device, &s, &err));
	assert_string_equal(s.text, "sim-0 sim paused by anna");
	assert_int_equal(s.last, id);
}

static void see_count(void *arg, const char *what, const char *label, int64_t n)
{
	struct seen *s = arg;
	s->n++;
	if (strcmp(what, "jobs") == 0 && strcmp(label, "queued") == 0)
		s->first = n;
	if (strcmp(what, "comparisons") == 0 && strcmp(label, "regression") == 0)
		s->last = n;
}

static void counts_report_every_state(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	for (unsigned i = 0; i < 4; i++)
		fixture_job(f, "main", i, i + 1, 1);
	for (unsigned i = 0; i < 3; i++)
		fixture_comparison(f, "dev", i, i + 1, VERDICT_REGRESSION, 5);
	ok_once(view_counts(f->db, see_count, &s, &err));
	assert_int_equal(s.first, 4);
	assert_int_equal(s.last, 3);
	assert_int_equal(s.n, 10 + 11 + 5 + 4 + 1 + 1); /* states without jobs are listed with 0 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_time_is_found_in_a_list, setup, teardown),
		cmocka_unit_test_setup_teardown(the_position_of_a_job_is_its_place_in_the_order, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_by_state, setup, teardown),
		cmocka_unit_test_setup_teardown(logs_are_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(events_are_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_show_their_job, setup, teardown),
		cmocka_unit_test_setup_teardown(counts_report_every_state, setup, teardown),
	};
	return run_twice(tests);
}
