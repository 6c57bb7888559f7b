/* A database of commit 91174416 is converted to today's schema: all rows, today's names, completely or not at all. */
/* Left to `make check`: takes seconds. */
#include "fixture_db.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "db/db.h"
#include "db/internal.h"
#include "lib/lib.h"

#define DATA "tests/data/migration/"

/* ---- the old database ------------------------------------------------------------------------------------------------ */

static void run_file(struct db *db, const char *path)
{
	struct stat st;
	FILE *file = fopen(path, "re");
	assert_true(file && fstat(fileno(file), &st) == 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)st.st_size, file), (size_t)st.st_size);
	fclose(file);
	ok(db_script(db, text, &err));
	free(text);
}

static int setup(void **state) /* closed */
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f)
		return -1;
	snprintf(f->folder, sizeof f->folder, "/tmp/fw-db-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/flopwatch.db", f->folder);
	fixture_open(f);
	run_file(f->db, DATA "schema-91174416.sql");
	ok(db_set_version(f->db, 1, &err));
	run_file(f->db, DATA "rows-91174416.sql");
	db_close(f->db);
	f->db = NULL;
	*state = f;
	return 0;
}

static const char *beside(const struct fixture *f, const char *suffix)
{
	static char path[4][192];
	static unsigned turn;
	char *p = path[turn++ % 4];
	snprintf(p, sizeof path[0], "%s%s", f->path, suffix);
	return p;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	unlink(beside(f, CARRY_OLD_SUFFIX));
	unlink(beside(f, CARRY_OLD_SUFFIX "-wal"));
	unlink(beside(f, CARRY_OLD_SUFFIX "-shm"));
	return fixture_teardown(state);
}

static void hash_of(const char *path, char hex[HASH_HEX])
{
	ok(hash_file(path, hex, &err));
}

/* ---- conversion ------------------------------------------------------------------------------------------------------ */

struct carried {
	int n, of;
	int kill_at; /* 0: never */
};

static void tell(void *arg, const char *what, int n, int of)
{
	struct carried *t = arg;
	assert_true(*what && n > 0 && n <= of);
	if (n == t->kill_at)
		raise(SIGKILL);
	t->n = n;
	t->of = of;
}

/* Converts as the daemon's start does. Leaves the database open. */
static struct carried carry(struct fixture *f)
{
	struct carried t = { .n = 0 };
	ok(db_open(f->path, true, &f->db, &err));
	ok(carry_over(&f->db, f->path, tell, &t, &err));
	assert_true(!f->db == (t.of > 0));
	db_close(f->db);
	fixture_open(f);
	ok(migrate(f->db, &err));
	return t;
}

static void open_carried(struct fixture *f)
{
	struct carried t = carry(f);
	assert_true(t.n > 60 && t.n == t.of);
}

/* From here on the old rows are in the schema `old`. */
static void attach_old(struct fixture *f)
{
	struct stmt *s = db_stmt(f->db, "ATTACH :path AS old", &err);
	assert_non_null(s);
	stmt_text(s, ":path", beside(f, CARRY_OLD_SUFFIX));
	ok(stmt_run(s, &err));
}

#define SAME_NUMBER(f, table, was)                                                                                               \
	do {                                                                                                                     \
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM main." table),                                          \
			fixture_number(f, "SELECT count(*) FROM old." was));                                                     \
		assert_true(fixture_number(f, "SELECT count(*) FROM main." table) > 0);                                          \
	} while (0)
/* Every column has its old value. */
#define SAME_ROWS(f, table, was)                                                                                                 \
	do {                                                                                                                     \
		SAME_NUMBER(f, table, was);                                                                                      \
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM (SELECT * FROM main." table                             \
						   " EXCEPT SELECT * FROM old." was ")"),                                        \
			0);                                                                                                      \
	} while (0)

/* Its columns before those that later migrations add. */
#define ENVIRONMENT                                                                                                              \
	"id, class, hash, driver, toolkit, cudnn, cublas, image, vbios, suite_sha, timing, power_limit_w, isolation, first_at"

static void all_rows_are_there(void **state)
{
	struct fixture *f = *state;
	open_carried(f);
	attach_old(f);
	SAME_ROWS(f, "repo", "repo");
	SAME_ROWS(f, "branch_tip", "branch_tip");
	SAME_ROWS(f, "git_commit", "git_commit");
	SAME_ROWS(f, "mainline", "mainline");
	SAME_ROWS(f, "device_class", "device_class");
	SAME_NUMBER(f, "device", "device");
	SAME_ROWS(f, "device_throttle", "device_throttle");
	SAME_NUMBER(f, "environment", "environment");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM (SELECT " ENVIRONMENT
					   " FROM main.environment EXCEPT SELECT " ENVIRONMENT " FROM old.environment)"),
		0);
	SAME_ROWS(f, "suite", "suite");
	SAME_ROWS(f, "build", "build");
	SAME_NUMBER(f, "job", "job");
	SAME_ROWS(f, "job_cell", "job_cell");
	SAME_ROWS(f, "job_peer", "job_peer");
	SAME_ROWS(f, "job_source", "job_source");
	SAME_ROWS(f, "cached_build", "kept_build");
	SAME_ROWS(f, "job_log", "job_log");
	SAME_NUMBER(f, "comparison", "comparison");
	SAME_ROWS(f, "cell_shape", "form");
	SAME_ROWS(f, "cell", "cell");
	SAME_ROWS(f, "run", "launch");
	SAME_NUMBER(f, "sample_kind", "sample_kind");
	SAME_ROWS(f, "sample", "sample");
	SAME_ROWS(f, "archived", "archived");
	SAME_ROWS(f, "slow_calls", "slow_calls");
	SAME_NUMBER(f, "metric_name", "metric_name");
	SAME_ROWS(f, "metric", "metric");
	SAME_ROWS(f, "artifact", "artifact");
	SAME_ROWS(f, "noise", "scatter");
	SAME_ROWS(f, "baseline_period", "epoch");
	SAME_ROWS(f, "ratio", "ratio");
	SAME_ROWS(f, "reference_link", "anchor_link");
	SAME_ROWS(f, "reference_time", "anchor_time");
	SAME_ROWS(f, "current_baseline", "standing");
	SAME_ROWS(f, "environment_change", "environment_change");
	SAME_ROWS(f, "environment_effect", "environment_effect");
	SAME_NUMBER(f, "change_point", "change_point");
	SAME_NUMBER(f, "alert", "alert");
	SAME_ROWS(f, "alert_event", "alert_event");
	SAME_NUMBER(f, "bisect", "bisect");
	SAME_ROWS(f, "bisect_cell", "bisect_cell");
	SAME_ROWS(f, "bisect_commit", "bisect_commit");
	SAME_ROWS(f, "bisect_job", "bisect_job");
	SAME_ROWS(f, "profile", "profile");
	SAME_ROWS(f, "profile_cell", "profile_cell");
	SAME_ROWS(f, "profile_kernel", "profile_kernel");
	SAME_ROWS(f, "profile_value", "profile_value");
	SAME_ROWS(f, "profile_code", "profile_code");
	SAME_ROWS(f, "profile_diagnostic", "profile_complaint");
	SAME_ROWS(f, "cause", "cause");
	SAME_NUMBER(f, "outbox", "outbox");
	SAME_NUMBER(f, "outbox_attempt", "outbox_attempt");
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM main.outbox_attempt n JOIN old.outbox_attempt o ON o.id = n.id WHERE "
				  "(n.outbox, n.at, n.duration_ms, n.status, n.error, n.answer) <> (o.outbox, o.at, "
				  "o.duration_ms, o.status, o.error, '')"),
		0);
	SAME_NUMBER(f, "event", "event");
	SAME_ROWS(f, "sqlite_sequence", "sqlite_sequence");
	SAME_ROWS(f, "webhook_seen", "webhook_seen");
	SAME_NUMBER(f, "idempotency_key", "idempotency_key");
	SAME_NUMBER(f, "token", "token");
	SAME_NUMBER(f, "session", "session");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM (SELECT hash, token, expires_at FROM main.session EXCEPT SELECT "
					   "hash, token, expires_at FROM old.session)"),
		0);
	SAME_ROWS(f, "job_duration", "job_duration");
	SAME_ROWS(f, "self_check", "self_check");
	/* no table of today's schema is missing above: new tables begin empty, `counted` is recomputed */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table'"),
		fixture_number(f, "SELECT count(*) + 9 FROM old.sqlite_schema WHERE type = 'table'"));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM commit_range"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job_plan"), 0);
}

/* A converted database has the schema of a new one, to the letter. */
static void the_schema_is_that_of_a_new_database(void **state)
{
	struct fixture *f = *state, new = *f;
	char carried[HASH_HEX], created[HASH_HEX];
	open_carried(f);
	ok(carry_schema_hash(f->db, carried, &err));
	snprintf(new.path, sizeof new.path, "%s/copy.db", f->folder);
	fixture_open(&new);
	ok(migrate(new.db, &err));
	ok(carry_schema_hash(new.db, created, &err));
	db_close(new.db);
	assert_string_equal(carried, created);
}

#define COUNT(f, rest) fixture_number(f, "SELECT count(*) FROM " rest)

static void names_are_current(void **state)
{
	struct fixture *f = *state;
	open_carried(f);
	attach_old(f);
	assert_int_equal(
		COUNT(f,
			"job WHERE id = 7 AND state = 'assigned' AND progress ->> 'run' = 2 AND progress ->> 'role' = 'reference' "
			"AND progress ->> 'step' = 'run' AND daemon_ends = 0 AND nonce = 'n7'"),
		1);
	assert_int_equal(COUNT(f, "job WHERE id = 8 AND state = 'target_missing' AND kind = 'compare'"), 1);
	assert_int_equal(COUNT(f, "job WHERE id = 9 AND state = 'queued' AND kind = 'config' AND base_config = 'tile 64'"), 1);
	assert_int_equal(COUNT(f, "job WHERE id = 10 AND kind = 'reference' AND origin = 'baseline_period'"), 1);
	assert_int_equal(COUNT(f, "job WHERE id = 11 AND kind = 'reference' AND origin = 'rereference'"), 1);
	assert_int_equal(COUNT(f, "job WHERE kind IN ('change', 'anchor', 'pinned') OR origin IN ('epoch', 'reanchor')"), 0);
	assert_int_equal(COUNT(f, "comparison WHERE kind IN ('change', 'anchor', 'pinned')"), 0);
	assert_int_equal(COUNT(f, "comparison WHERE kind = 'compare' AND NOT rows_unknown"),
		COUNT(f, "old.comparison WHERE kind = 'change'"));
	assert_int_equal(
		COUNT(f, "comparison WHERE rule ->> 'runs_max' > 0 AND rule ->> 'launches_max' IS NULL"), COUNT(f, "comparison"));
	assert_int_equal(COUNT(f, "device WHERE state = 'health_check' AND state_why = 'a canary was asked for'"), 1);
	assert_int_equal(COUNT(f, "sample_kind WHERE side = 'reference'"), COUNT(f, "old.sample_kind WHERE subject = 'anchor'"));
	assert_int_equal(COUNT(f, "metric_name WHERE name = 'sustained.runs'"), 1);
	assert_int_equal(COUNT(f, "alert WHERE id = 1 AND kind = 'environment'"), 1);
	assert_int_equal(COUNT(f, "alert WHERE id = 2 AND kind = 'drift'"), 1);
	assert_int_equal(COUNT(f, "alert WHERE id = 3 AND kind = 'failing' AND cells ->> '$[0].verdict' = 'failed'"), 1);
	assert_int_equal(COUNT(f, "alert WHERE id = 4 AND kind = 'missing' AND cells ->> '$[0].verdict' = 'missing'"), 1);
	assert_int_equal(COUNT(f, "alert WHERE id = 5 AND kind = 'device_offline'"), 1);
	assert_int_equal(COUNT(f, "bisect WHERE goal = 'failing'"), 1);
	assert_int_equal(COUNT(f, "change_point WHERE id = 1 AND kind = 'drift' AND job IS NULL"), 1);
	assert_int_equal(COUNT(f, "change_point WHERE id = 2 AND kind = 'step' AND job = 11"), 1); /* the newest of two */
	assert_int_equal(COUNT(f, "event WHERE kind GLOB 'epoch.*'"), 0);
	assert_int_equal(COUNT(f, "event WHERE kind GLOB 'baseline_period.*' AND payload ->> 'event' = kind"),
		COUNT(f, "old.event WHERE kind GLOB 'epoch.*'"));
	assert_int_equal(COUNT(f, "event WHERE kind = 'baseline_period.reference_moved' AND payload ->> 'reference' <> ''"), 1);
	assert_int_equal(COUNT(f, "event WHERE kind = 'job.done' AND payload ->> 'kind' IN ('change', 'anchor')"), 0);
	assert_int_equal(
		COUNT(f,
			"outbox WHERE id = 1 AND state = 'waiting' AND payload ->> 'event' = 'baseline_period.reference_set' AND "
			"payload ->> 'reference' <> '' AND payload ->> 'baseline_period' = 1"),
		1);
	assert_int_equal(COUNT(f, "outbox WHERE id = 2 AND state = 'sent' AND payload = '{\"event\":\"note\"}'"), 1);
	assert_int_equal(
		COUNT(f,
			"idempotency_key WHERE body = '{\"id\": 9, \"kind\": \"config\", \"state\": \"queued\", \"origin\": \"api\"}'"),
		1);
}

static void counters_are_right(void **state)
{
	struct fixture *f = *state;
	open_carried(f);
	assert_int_equal(
		COUNT(f,
			"(SELECT 'jobs' AS what, state AS label, count(*) AS n FROM job GROUP BY 2 "
			"UNION ALL SELECT 'comparisons', verdict, count(*) FROM comparison WHERE kind NOT IN ('peer', 'config', "
			"'environment') GROUP BY 2 UNION ALL SELECT 'alerts', state, count(*) FROM alert GROUP BY 2 "
			"UNION ALL SELECT 'notifications', state, count(*) FROM outbox GROUP BY 2 EXCEPT SELECT * FROM counted)"),
		0);
	assert_int_equal(fixture_number(f, "SELECT sum(n) FROM counted"),
		fixture_number(f,
			"SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM comparison WHERE kind NOT IN ('peer', 'config', "
			"'environment')) + (SELECT count(*) FROM alert) + (SELECT count(*) FROM outbox)"));
	/* triggers continue from there */
	ok(db_script(f->db, "UPDATE job SET state = 'cancelled' WHERE id = 9", &err));
	assert_int_equal(fixture_number(f, "SELECT n FROM counted WHERE what = 'jobs' AND label = 'cancelled'"), 1);
	ok(db_check(f->db, &err));
}

static void bodies_have_current_names(void **state)
{
	static const char *const was[] = { "launch", "\"epoch\"", "\"blind\"", "scatter_pct", "\"change\"", "\"anchor\"" };
	struct fixture *f = *state;
	struct buf body;
	char etag[HASH_HEX], hex[HASH_HEX];
	open_carried(f);
	buf_init(&body, 1 << 20);
	for (int id = 1; id <= 5; id++) {
		buf_clear(&body);
		ok(view_body(f->db, id, &body, etag, &err));
		hash_hex(body.data, body.len, hex);
		assert_string_equal(etag, hex);
		for (size_t i = 0; i < sizeof was / sizeof was[0]; i++)
			assert_null(strstr(body.data, was[i]));
		assert_non_null(strstr(body.data, "\"baseline_period\":\""));
		assert_non_null(strstr(body.data, "\"runs_max\":"));
		/* one of these was timed twice */
		assert_true(!strstr(body.data, "\"confirmed\":true") == (id != 5));
		assert_true(!strstr(body.data, "\"confirmed\":false") == (id == 5));
	}
	buf_fini(&body);
}

static bool is_confirmed(void *arg, const char *key, size_t len)
{
	return !arg && len == 2 && memcmp(key, "k2", 2) == 0;
}

static void json_is_renamed_where_it_is_ours(void **state)
{
	static const struct {
		const char *was, *is;
		bool is_body;
	} texts[] = {
		{ "{}", "{}", false },
		{ " [ 1.50 , -2e-9, null ,true ] ", " [ 1.50 , -2e-9, null ,true ] ", false },
		{ "{\"device\":\"sim-0\",\"stands_out\":\"\"}", "{\"device\":\"sim-0\",\"outlier\":\"\"}", false },
		{ "{\"launches\":3,\"x\":[{\"launches\":{}}]}", "{\"runs\":3,\"x\":[{\"runs\":{}}]}", false },
		{ "{\"flags\":[\"tail\",\"blind\"],\"blind\":{\"scatter_pct\":0.25}}",
			"{\"flags\":[\"tail\",\"underpowered\"],\"underpowered\":{\"noise_pct\":0.25}}", false },
		{ "{\"origin\":\"night\",\"base_how\":\"last-night\",\"title\":\"night\"}",
			"{\"origin\":\"off_peak\",\"base_how\":\"last-off-peak\",\"title\":\"night\"}", false },
		{ "{\"part\":{\"number\":0},\"cells\":[{\"parts\":null}]}",
			"{\"shard\":{\"number\":0},\"cells\":[{\"components\":null}]}", false },
		{ "{\"kind\":\"creep\",\"title\":\"creep\",\"state\":\"gone\"}",
			"{\"kind\":\"drift\",\"title\":\"creep\",\"state\":\"target_missing\"}", false },
		{ "{\"shape\":{\"launches\":1,\"kind\":\"change\"},\"kind\":\"change\"}",
			"{\"shape\":{\"launches\":1,\"kind\":\"change\"},\"kind\":\"compare\"}", false },
		{ "{\"subject\":\"a \\\"launches\\\": b\\\\\"}", "{\"subject\":\"a \\\"launches\\\": b\\\\\"}", false },
		{ "{\"cells\":[{\"cell\":\"k1\",\"confirmed_on\":null},{\"cell\":\"k2\",\"confirmed_on\":\"d\",\"x\":1}]}",
			"{\"cells\":[{\"cell\":\"k1\",\"confirmed_on\":null,\"confirmed\":false},{\"cell\":\"k2\",\"confirmed_on\":\"d\",\"confirmed\":true,\"x\":1}]}",
			true },
	};
	static const char *const no_json[] = { "", "{", "{\"a\"", "{\"a\":", "[1,", "[1 2]", "\"a", "{\"a\":1}}", "{a:1}",
		"\"\\" };
	struct buf out;
	(void)state;
	buf_init(&out, 4096);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		buf_clear(&out);
		assert_true(carry_json(texts[i].was, strlen(texts[i].was), texts[i].is_body ? is_confirmed : NULL, NULL, &out));
		assert_string_equal(out.data, texts[i].is);
	}
	for (size_t i = 0; i < sizeof no_json / sizeof no_json[0]; i++) {
		buf_clear(&out);
		assert_false(carry_json(no_json[i], strlen(no_json[i]), NULL, NULL, &out));
	}
	buf_fini(&out);
}

/* ---- completely or not at all ---------------------------------------------------------------------------------------- */

static void the_old_database_remains_and_a_second_start_changes_nothing(void **state)
{
	struct fixture *f = *state;
	char before[HASH_HEX], after[HASH_HEX];
	hash_of(f->path, before);
	open_carried(f);
	hash_of(beside(f, CARRY_OLD_SUFFIX), after);
	assert_string_equal(before, after);
	assert_int_equal(access(beside(f, ".new"), F_OK), -1);
	db_close(f->db);
	assert_int_equal(carry(f).of, 0);
}

/* The state after a killed daemon: the last transactions are in the WAL next to the database. */
static void the_write_ahead_log_is_carried_over(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct fw_err why = { 0 };
		_exit(db_open(f->path, false, &f->db, &why) ||
			db_script(f->db, "INSERT INTO webhook_seen VALUES ('the last', 7)", &why));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(stat(beside(f, "-wal"), &st) == 0 && st.st_size > 0);
	open_carried(f);
	attach_old(f);
	assert_int_equal(COUNT(f, "webhook_seen WHERE id = 'the last'"), 1);
	assert_int_equal(COUNT(f, "old.webhook_seen WHERE id = 'the last'"), 1);
}

static void kill_at(struct fixture *f, int n)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct fw_err why = { 0 };
		struct carried t = { .kill_at = n };
		if (db_open(f->path, true, &f->db, &why) == 0)
			carry_over(&f->db, f->path, tell, &t, &why);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_kill_at_any_step_loses_no_rows(void **state)
{
	static const int at[] = { 1, 2, 12, 23, 40, 56, 63, 64, 65, 66, 67, 68 };
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
		kill_at(f, at[i]);
		assert_int_equal(access(f->path, F_OK), 0);
		/* the file is still the old database, with all its rows */
		char hex[HASH_HEX];
		struct db *db;
		ok(db_open(f->path, true, &db, &err));
		ok(carry_schema_hash(db, hex, &err));
		struct stmt *s = db_stmt(db, "SELECT count(*) FROM launch", &err);
		int64_t n;
		assert_non_null(s);
		assert_int_equal(stmt_first_int(s, &n, &err), 1);
		assert_int_equal(n, 16);
		db_close(db);
	}
	open_carried(f);
	assert_int_equal(COUNT(f, "run"), 16);
	ok(db_check(f->db, &err));
	assert_int_equal(access(beside(f, ".new"), F_OK), -1);
	assert_int_equal(access(beside(f, ".new-journal"), F_OK), -1);
}

static void a_kill_after_the_swap_leaves_the_new_database(void **state)
{
	struct fixture *f = *state;
	kill_at(f, 69);
	assert_int_equal(carry(f).of, 0);
	attach_old(f);
	SAME_ROWS(f, "run", "launch");
	ok(db_check(f->db, &err));
}

static void a_full_disk_leaves_the_old_database(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, limit;
	struct carried t = { .n = 0 };
	char was[HASH_HEX], is[HASH_HEX];
	hash_of(f->path, was);
	ok(db_open(f->path, true, &f->db, &err));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 200000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err_clear(&err);
	int rc = carry_over(&f->db, f->path, tell, &t, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, ERR_FULL);
	assert_non_null(strstr(err.text, "free some space"));
	db_close(f->db);
	f->db = NULL;
	hash_of(f->path, is);
	assert_string_equal(was, is);
	assert_int_equal(access(beside(f, ".new"), F_OK), -1);
	assert_int_equal(access(beside(f, CARRY_OLD_SUFFIX), F_OK), -1);
	open_carried(f); /* with free space again */
}

/* Also a copy without a WAL: opening it for writing would change it. */
static void other_tables_are_not_touched(void **state)
{
	struct fixture *f = *state;
	char was[HASH_HEX], is[HASH_HEX];
	fixture_open(f);
	ok(db_script(f->db, "ALTER TABLE job ADD COLUMN of_another_commit INTEGER", &err));
	db_close(f->db);
	for (int is_copy = 0; is_copy < 2; is_copy++) {
		struct carried t = { .n = 0 };
		if (is_copy) {
			fixture_open(f);
			ok(db_script(f->db, "PRAGMA journal_mode = DELETE", &err));
			db_close(f->db);
		}
		hash_of(f->path, was);
		ok(db_open(f->path, true, &f->db, &err));
		ok(carry_over(&f->db, f->path, tell, &t, &err));
		assert_true(t.of == 0 && f->db);
		refused(ERR_UNSUPPORTED, migrate_check(f->db, &err));
		assert_non_null(strstr(err.text, "its tables are not those of version 1"));
		db_close(f->db);
		f->db = NULL;
		hash_of(f->path, is);
		assert_string_equal(was, is);
		assert_int_equal(access(beside(f, CARRY_OLD_SUFFIX), F_OK), -1);
	}
}

static void a_copy_is_carried_over_as_well(void **state)
{
	struct fixture *f = *state;
	char was[HASH_HEX], is[HASH_HEX];
	fixture_open(f);
	ok(db_script(f->db, "PRAGMA journal_mode = DELETE", &err));
	db_close(f->db);
	hash_of(f->path, was);
	open_carried(f);
	hash_of(beside(f, CARRY_OLD_SUFFIX), is);
	assert_string_equal(was, is);
}

static void another_file_of_that_name_is_not_replaced(void **state)
{
	struct fixture *f = *state;
	struct carried t = { .n = 0 };
	char was[HASH_HEX], is[HASH_HEX];
	int fd = open(beside(f, CARRY_OLD_SUFFIX), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, "mine", 4) == 4);
	close(fd);
	hash_of(f->path, was);
	ok(db_open(f->path, true, &f->db, &err));
	refused(ERR_UNSUPPORTED, carry_over(&f->db, f->path, tell, &t, &err));
	assert_non_null(strstr(err.text, beside(f, CARRY_OLD_SUFFIX)));
	assert_non_null(strstr(err.text, "move that file away"));
	db_close(f->db);
	f->db = NULL;
	hash_of(f->path, is);
	assert_string_equal(was, is);
	unlink(beside(f, CARRY_OLD_SUFFIX));
	open_carried(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_rows_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(the_schema_is_that_of_a_new_database, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_current, setup, teardown),
		cmocka_unit_test_setup_teardown(counters_are_right, setup, teardown),
		cmocka_unit_test_setup_teardown(bodies_have_current_names, setup, teardown),
		cmocka_unit_test(json_is_renamed_where_it_is_ours),
		cmocka_unit_test_setup_teardown(the_old_database_remains_and_a_second_start_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(the_write_ahead_log_is_carried_over, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kill_at_any_step_loses_no_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kill_after_the_swap_leaves_the_new_database, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_the_old_database, setup, teardown),
		cmocka_unit_test_setup_teardown(other_tables_are_not_touched, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_is_carried_over_as_well, setup, teardown),
		cmocka_unit_test_setup_teardown(another_file_of_that_name_is_not_replaced, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
