/* Migrations: completely or not at all, never backwards, and the same schema on every migration path. */
#include "fixture_db.h"

#include "lib/lib.h"

/** SHA-256 over the whole schema. */
static void schema_hash(struct db *db, char hex[HASH_HEX])
{
	struct hash_state h;
	hash_begin(&h);
	struct stmt *s =
		db_stmt(db, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name", &err);
	while (stmt_step(s, &err) == 1)
		for (int i = 0; i < 4; i++)
			hash_update(&h, row_text(s, i), strlen(row_text(s, i)) + 1);
	hash_end(&h, hex);
}

static struct migration script(int version, const char *text)
{
	return (struct migration){ .version = version, .name = "a test", .start = text, .end = text + strlen(text) };
}

static int bare_setup(void **state) /* opened, not migrated */
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f)
		return -1;
	snprintf(f->folder, sizeof f->folder, "/tmp/fw-db-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/flopwatch.db", f->folder);
	fixture_open(f);
	*state = f;
	return 0;
}

static int version_of(struct db *db)
{
	int v;
	ok(db_version(db, &v, &err));
	return v;
}

static void new_file_gets_everything(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(version_of(f->db), 0);
	ok(migrate(f->db, &err));
	assert_int_equal(version_of(f->db), migrate_latest());
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sqlite_schema WHERE name IN "
					   "('repo', 'job', 'comparison', 'cell', 'sample', 'alert', 'outbox', 'event')"),
		8);
	/* every table rejects values of another type */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND "
					   "NOT strict AND name NOT LIKE 'sqlite_%'"),
		0);
	ok(migrate(f->db, &err)); /* again: nothing to do */
	ok(db_check(f->db, &err));
}

static void newer_database_is_refused(void **state)
{
	struct fixture *f = *state;
	ok(migrate(f->db, &err));
	int newer = migrate_latest() + 1;
	ok(db_set_version(f->db, newer, &err));
	refused(ERR_UNSUPPORTED, migrate(f->db, &err));
	char want[64];
	snprintf(want, sizeof want, "database is version %d, this flopwatchd supports %d:", newer, newer - 1);
	assert_memory_equal(err.text, want, strlen(want));
	assert_int_equal(version_of(f->db), newer);
}

static void tables_of_between_releases_are_refused(void **state)
{
	struct fixture *f = *state;
	ok(migrate(f->db, &err));
	ok(db_script(f->db, "ALTER TABLE job DROP COLUMN daemon_ends;", &err));
	refused(ERR_UNSUPPORTED, migrate(f->db, &err));
	char want[64];
	snprintf(want, sizeof want, "its tables are not those of version %d,", migrate_latest());
	assert_non_null(strstr(err.text, want));
	assert_non_null(strstr(err.text, "(no such column: job.daemon_ends)"));
}

/* A script changes no tables that it was not written for. */
static void other_tables_are_not_migrated(void **state)
{
	struct fixture *f = *state;
	ok(migrate_first(f->db, &err));
	ok(db_script(f->db, "ALTER TABLE job DROP COLUMN daemon_ends;", &err));
	refused(ERR_UNSUPPORTED, migrate_check(f->db, &err));
	refused(ERR_UNSUPPORTED, migrate(f->db, &err));
	assert_non_null(strstr(err.text, "its tables are not those of version 1,"));
	assert_int_equal(version_of(f->db), 1);
}

static void a_version_below_zero_is_damage(void **state)
{
	struct fixture *f = *state;
	ok(migrate(f->db, &err));
	ok(db_set_version(f->db, -7, &err));
	refused(ERR_DAMAGED, migrate(f->db, &err));
	assert_memory_equal(err.text, "database has version -7, which no flopwatchd has written:", 57);
}

static void failing_script_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	const struct migration list[] = { script(1, "CREATE TABLE a (x INTEGER) STRICT;"),
		script(2, "CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);") };
	refused(ERR_INTERNAL, migrate_list(f->db, list, 2, &err));
	assert_non_null(strstr(err.text, "a test"));
	assert_int_equal(version_of(f->db), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'a'"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
	assert_false(db_in_transaction(f->db));
}

static void stepwise_and_direct_migrations_give_the_same_schema(void **state)
{
	struct fixture *f = *state;
	struct fixture other = *f;
	const struct migration list[] = { script(1, "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (5);"),
		script(2, "ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT 'old';"), script(3, "CREATE INDEX a_by_y ON a(y);") };
	char stepped[HASH_HEX], at_once[HASH_HEX];
	for (int n = 1; n <= 3; n++) {
		ok(migrate_list(f->db, list, n, &err));
		assert_int_equal(version_of(f->db), n);
	}
	snprintf(other.path, sizeof other.path, "%s/copy.db", f->folder);
	fixture_open(&other);
	ok(migrate_list(other.db, list, 3, &err));
	schema_hash(f->db, stepped);
	schema_hash(other.db, at_once);
	assert_string_equal(stepped, at_once);
	assert_int_equal(fixture_number(f, "SELECT x FROM a WHERE y = 'old'"), 5);
	db_close(other.db);
}

static void backup_of_a_migrated_file_equals_a_fresh_one(void **state)
{
	struct fixture *f = *state;
	struct fixture copy = *f;
	char one[HASH_HEX], two[HASH_HEX];
	ok(migrate(f->db, &err));
	snprintf(copy.path, sizeof copy.path, "%s/copy.db", f->folder);
	ok(db_backup(f->db, copy.path, &err));
	fixture_open(&copy);
	ok(migrate(copy.db, &err));
	schema_hash(f->db, one);
	schema_hash(copy.db, two);
	assert_string_equal(one, two);
	assert_int_equal(version_of(copy.db), migrate_latest());
	db_close(copy.db);
}

/* A database of scripts before version 1 is distinguished from one of a later version 2. */
static void databases_of_before_version_1_are_refused(void **state)
{
	struct fixture *f = *state;
	ok(migrate(f->db, &err));
	ok(db_script(f->db, "PRAGMA application_id = 1719100264", &err));
	ok(db_set_version(f->db, 25, &err));
	db_close(f->db);
	f->db = NULL;
	refused(ERR_UNSUPPORTED, db_open(f->path, false, &f->db, &err));
	assert_non_null(strstr(err.text, "older than version 1"));
	assert_non_null(strstr(err.text, "move it away"));
	assert_null(strchr(err.text, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(new_file_gets_everything, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(newer_database_is_refused, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(tables_of_between_releases_are_refused, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(other_tables_are_not_migrated, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_version_below_zero_is_damage, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(failing_script_leaves_nothing, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			stepwise_and_direct_migrations_give_the_same_schema, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(databases_of_before_version_1_are_refused, bare_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(backup_of_a_migrated_file_equals_a_fresh_one, bare_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
