/* Data that the janitor deletes, and data that it must not delete. */
#include "fixture_db.h"

#include <sys/stat.h>

#include "db/db.h"
#include "flopwatchd/internal.h"

static const int64_t day_ms = INT64_C(24) * 3600 * 1000;
static struct config config = { .keep_samples_ms = INT64_C(14) * 24 * 3600 * 1000 };

static int64_t count(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t n = row_int(s, 0);
	stmt_reset(s);
	return n;
}

static void old_events_are_deleted_in_batches(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	ok(db_begin(f->db, &err));
	for (int i = 0; i < 1200; i++)
		ok(store_event(f->db, now - 8 * day_ms + i, "job.state", "{}", &id, &err));
	for (int i = 0; i < 30; i++)
		ok(store_event(f->db, now - 6 * day_ms + i, "job.state", "{}", &id, &err));
	assert_int_equal(store_notification(f->db, "old", now - 181 * day_ms, &err), 1);
	assert_int_equal(store_notification(f->db, "new", now - day_ms, &err), 1);
	ok(db_commit(f->db, &err));

	assert_int_equal(janitor_step(f->db, &config, now, &err), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 730);
	assert_int_equal(janitor_step(f->db, &config, now, &err), 1);
	assert_int_equal(janitor_step(f->db, &config, now, &err), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 30);
	assert_int_equal(count(f, "SELECT count(*) FROM webhook_seen"), 1);
	assert_int_equal(janitor_step(f->db, &config, now, &err), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 30);
}

/* Events with a time in the future count as the oldest; otherwise they would block those behind them until that time. */
static void events_from_a_fast_clock_are_deleted(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	ok(db_begin(f->db, &err));
	for (int i = 0; i < 700; i++)
		ok(store_event(f->db, now + 400 * day_ms + i, "job.state", "{}", &id, &err));
	for (int i = 0; i < 700; i++)
		ok(store_event(f->db, now - 8 * day_ms + i, "job.state", "{}", &id, &err));
	for (int i = 0; i < 30; i++)
		ok(store_event(f->db, now - day_ms + i, "job.state", "{}", &id, &err));
	ok(db_commit(f->db, &err));
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 30);
}

/* However many notifications arrive, only the newest ones are stored. */
static void notifications_are_bounded(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms;
	char id[32];
	ok(db_begin(f->db, &err));
	for (int i = 0; i < JANITOR_NOTIFICATIONS + 700; i++) {
		snprintf(id, sizeof id, "%d", i);
		assert_int_equal(store_notification(f->db, id, now - 1000000 + i, &err), 1);
	}
	ok(db_commit(f->db, &err));
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	assert_int_equal(count(f, "SELECT count(*) FROM webhook_seen"), JANITOR_NOTIFICATIONS);
	assert_int_equal(count(f, "SELECT min(CAST(id AS INTEGER)) FROM webhook_seen"), 700);
}

static void unused_pages_are_returned_to_the_disk(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	char text[4001] = "";
	memset(text, 'x', sizeof text - 1);
	ok(db_begin(f->db, &err));
	for (int i = 0; i < 2000; i++)
		ok(store_event(f->db, now - 8 * day_ms + i, "job.state", text, &id, &err));
	ok(db_commit(f->db, &err));
	int64_t before = count(f, "PRAGMA page_count");
	int steps = 0, more;
	while ((more = janitor_step(f->db, &config, now, &err)) == 1 && ++steps < 50)
		;
	ok(more);
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 0);
	assert_true(count(f, "PRAGMA page_count") < before / 2);
	assert_true(steps > 4); /* in steps, so that no client waits for it */
	ok(db_check(f->db, &err));
}

/* One run of one cell. */
static int64_t timed(struct fixture *f, unsigned n, int64_t at)
{
	float ms[4] = { 1, 2, 3, 4 };
	int64_t run, id = fixture_comparison(f, "main", n, n + 1, VERDICT_UNCHANGED, at);
	int64_t cell = fixture_cell(f, id, 0, "a/forward", 0, VERDICT_UNCHANGED);
	struct msg_cell m = {
		.series = SERIES_DEVICE, .n_sides = 2, .role = { ROLE_BASE, ROLE_TARGET }, .n = 4, .ms = { ms, ms }
	};
	ok(store_run_insert(f->db, id, 1, 1, 1, &run, &err));
	ok(store_samples_insert(f->db, run, cell, &m, &(struct run_estimate){ .set = 1, .n = 4 }, &err));
	return cell;
}

static bool has_times(struct fixture *f, int64_t cell)
{
	struct store_runs l;
	ok(store_cell_runs(f->db, cell, SERIES_DEVICE, &l, &err));
	bool raw = l.raw;
	buf_fini(&l.values);
	return raw;
}

static void single_times_are_archived_and_their_months_removed(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, cell[8];
	char path[200];
	int steps = 0;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 8; i++)
		cell[i] = timed(f, i, now - (i < 6 ? 100 : i == 6 ? 15 : 13) * day_ms);
	ok(db_commit(f->db, &err));
	config.keep_archive_ms = 0;
	while (janitor_step(f->db, &config, now, &err) == 1) {
		steps++;
		assert_int_equal(count(f, "SELECT count(*) FROM archived"), steps < 7 ? steps : 7); /* one at a time */
	}
	assert_true(steps >= 7);
	assert_int_equal(count(f, "SELECT count(*) FROM comparison WHERE is_raw"), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM archived"), 7);
	for (int i = 0; i < 8; i++)
		assert_true(has_times(f, cell[i]));
	config.keep_archive_ms = 60 * day_ms;
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	assert_int_equal(count(f, "SELECT count(*) FROM archived"), 1);
	for (int i = 0; i < 8; i++)
		assert_true(has_times(f, cell[i]) == (i >= 6));
	snprintf(path, sizeof path, "%s/samples/1972-06.zst", f->folder);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof path, "%s/samples/1972-09.zst", f->folder);
	assert_int_equal(access(path, F_OK), 0);
	config.keep_archive_ms = 0;
}

static void path_of(struct fixture *f, const char *name, char path[200])
{
	snprintf(path, 200, "%s/samples/%s", f->folder, name);
}

/* Nothing is appended to the file of a month that is missing; once its retention ends, it blocks nothing. */
static void a_lost_archive_month_expires(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms;
	char path[200];
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 3; i++)
		timed(f, i, now - 100 * day_ms + i);
	int64_t cell = timed(f, 3, now - 15 * day_ms);
	ok(db_commit(f->db, &err));
	assert_int_equal(janitor_step(f->db, &config, now - 86 * day_ms + 1, &err), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM archived"), 1);
	path_of(f, "1972-06.zst", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(janitor_step(f->db, &config, now, &err), -1);
	assert_non_null(strstr(err.text, "samples/1972-06.zst is missing"));
	err_clear(&err);
	config.keep_archive_ms = 60 * day_ms;
	int steps = 0, more;
	while ((more = janitor_step(f->db, &config, now, &err)) == 1 && ++steps < 50)
		;
	config.keep_archive_ms = 0;
	ok(more);
	assert_int_equal(count(f, "SELECT count(*) FROM comparison WHERE is_raw"), 0);
	assert_int_equal(count(f, "SELECT count(*) FROM archived"), 1);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(has_times(f, cell));
}

/* Killed between the commit and the removal of the file. */
static void leftovers_of_a_killed_janitor_are_removed(void **state)
{
	static const char *const others[] = { "1972-06.zst.away", "1972-6.zst", "notes" };
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms;
	char path[200], month[ARCHIVE_MONTH_SIZE];
	int n;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	timed(f, 0, now - 100 * day_ms);
	timed(f, 1, now - 15 * day_ms);
	ok(db_commit(f->db, &err));
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	ok(archived_forget(f->db, "1972-07", month, &n, &err));
	assert_int_equal(n, 1);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		path_of(f, others[i], path);
		fclose(fopen(path, "w"));
	}
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	path_of(f, "1972-06.zst", path);
	ok(access(path, F_OK)); /* with unlimited retention it may be a user's own file */
	config.keep_archive_ms = 60 * day_ms;
	int more;
	while ((more = janitor_step(f->db, &config, now, &err)) == 1)
		;
	ok(more);
	assert_int_equal(access(path, F_OK), -1);
	path_of(f, "1972-09.zst", path);
	ok(access(path, F_OK));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		path_of(f, others[i], path);
		ok(access(path, F_OK));
	}
	/* a file that cannot be removed is reported, and blocks nothing */
	path_of(f, "1972-05.zst", path);
	ok(mkdir(path, 0700));
	ok(db_begin(f->db, &err));
	for (unsigned i = 2; i < 5; i++)
		timed(f, i, now - 15 * day_ms);
	ok(db_commit(f->db, &err));
	while ((more = janitor_step(f->db, &config, now, &err)) == 1)
		;
	config.keep_archive_ms = 0;
	assert_int_equal(more, -1);
	assert_non_null(strstr(err.text, "cannot remove "));
	err_clear(&err);
	assert_int_equal(count(f, "SELECT count(*) FROM comparison WHERE is_raw"), 0);
}

/* If the archive cannot be written, the other steps continue. */
static void a_full_disk_leaves_single_times_in_the_database(void **state)
{
	struct fixture *f = *state;
	int64_t now = 1000 * day_ms, id;
	char path[200];
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	int64_t cell = timed(f, 1, now - 20 * day_ms);
	ok(store_event(f->db, now - 8 * day_ms, "job.state", "{}", &id, &err));
	ok(db_commit(f->db, &err));
	snprintf(path, sizeof path, "%s/samples", f->folder);
	FILE *file = fopen(path, "w"); /* a file at the path of the folder */
	assert_non_null(file);
	fclose(file);
	assert_int_equal(janitor_step(f->db, &config, now, &err), -1);
	assert_memory_equal(err.text, "single times stay in the database: ", 35);
	err_clear(&err);
	assert_true(has_times(f, cell));
	assert_int_equal(count(f, "SELECT count(*) FROM event"), 0);
	unlink(path);
	while (janitor_step(f->db, &config, now, &err) == 1)
		;
	assert_int_equal(count(f, "SELECT count(*) FROM archived"), 1);
}

static void a_broken_database_is_reported(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err)); /* a transaction was left open: a step must not join it */
	err_clear(&err);
	assert_int_equal(janitor_step(f->db, &config, day_ms, &err), -1);
	assert_true(err.text[0]);
	err_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_events_are_deleted_in_batches, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(events_from_a_fast_clock_are_deleted, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(notifications_are_bounded, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unused_pages_are_returned_to_the_disk, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			single_times_are_archived_and_their_months_removed, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_lost_archive_month_expires, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(leftovers_of_a_killed_janitor_are_removed, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_single_times_in_the_database, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_broken_database_is_reported, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests_name("janitor", tests, NULL, NULL);
}
