/* Access tokens and the sessions of browsers: which of them is valid, until when, and what ends both. */
#include "failing_statements.h"

#include "fixture_db.h"

#include "db/db.h"

enum { NOW = 10000000, HOUR = 3600 * 1000 };

static int setup(void **state)
{
	return fixture_setup(state);
}

static struct token_row row;

static struct token_new token(const char *name, const char *scope, const char *made_by, int64_t expires_at)
{
	return (struct token_new){ .name = name, .hash = name, .scope = scope, .made_by = made_by, .expires_at = expires_at };
}

static int insert(struct fixture *f, const char *name, const char *scope, const char *made_by, int64_t expires_at)
{
	struct token_new new = token(name, scope, made_by, expires_at);
	return store_token_insert(f->db, &new, NOW, &err);
}

/* Whether the token with this hash is valid. */
static bool is_valid(struct fixture *f, const char *hash, int64_t now_ms)
{
	int found = store_token_find(f->db, hash, now_ms, &row, &err);
	assert_true(found >= 0);
	return found == 1;
}

static bool has_session(struct fixture *f, const char *hash, int64_t now_ms)
{
	int found = store_session_find(f->db, hash, now_ms, &row, &err);
	assert_true(found >= 0);
	return found == 1;
}

static void names_of_scopes(void **state)
{
	(void)state;
	assert_int_equal(token_scope_of("read"), TOKEN_READ);
	assert_int_equal(token_scope_of("trigger"), TOKEN_TRIGGER);
	assert_int_equal(token_scope_of("admin"), TOKEN_ADMIN);
	assert_int_equal(token_scope_of("Admin"), TOKEN_NONE);
	assert_int_equal(token_scope_of(""), TOKEN_NONE);
	assert_int_equal(token_scope_of(NULL), TOKEN_NONE);
}

static void a_token_is_valid_until_it_ends(void **state)
{
	struct fixture *f = *state;
	ok(insert(f, "ci", "trigger", "ann", 0));
	ok(insert(f, "short", "read", "ann", NOW + HOUR));
	refused(ERR_CONFLICT, insert(f, "ci", "admin", "bob", 0));
	assert_true(is_valid(f, "ci", NOW));
	assert_string_equal(row.name, "ci");
	assert_string_equal(row.scope, "trigger"); /* the refused one changed nothing */
	assert_string_equal(row.made_by, "ann");
	assert_false(is_valid(f, "c", NOW) || is_valid(f, "", NOW) || is_valid(f, "CI", NOW));
	assert_true(is_valid(f, "short", NOW + HOUR - 1));
	assert_false(is_valid(f, "short", NOW + HOUR));
	ok(store_token_revoke(f->db, "ci", NOW, &err));
	assert_false(is_valid(f, "ci", NOW));
	refused(ERR_NOT_FOUND, store_token_revoke(f->db, "ci", NOW, &err));
	refused(ERR_NOT_FOUND, store_token_revoke(f->db, "nobody", NOW, &err));
	refused(ERR_CONFLICT, insert(f, "ci", "read", "bob", 0)); /* its name stays: the log of users has it */
}

/* The last use is written once an hour, not at every request. */
static void the_last_use_is_recorded(void **state)
{
	struct fixture *f = *state;
	ok(insert(f, "ci", "read", "ann", 0));
	assert_true(is_valid(f, "ci", NOW));
	assert_true(is_valid(f, "ci", NOW + HOUR - 1));
	assert_int_equal(row.used_at, NOW);
	assert_true(is_valid(f, "ci", NOW + HOUR));
	assert_int_equal(fixture_number(f, "SELECT used_at FROM token"), NOW + HOUR);
}

/* A token is accepted although its use cannot be noted, as on a full disk. */
static void a_use_that_cannot_be_recorded(void **state)
{
	struct fixture *f = *state;
	ok(insert(f, "ci", "read", "ann", 0));
	ok(db_script(f->db, "PRAGMA query_only = 1", &err));
	assert_true(is_valid(f, "ci", NOW + 2 * HOUR));
	ok(db_script(f->db, "PRAGMA query_only = 0", &err));
	assert_int_equal(row.used_at, 0);
	assert_true(is_valid(f, "ci", NOW + 2 * HOUR));
	assert_true(is_valid(f, "ci", NOW + 2 * HOUR));
	assert_int_equal(row.used_at, NOW + 2 * HOUR);
}

static void see(void *arg, const struct token_row *one)
{
	char *text = arg;
	snprintf(text + strlen(text), 100 - strlen(text), "%s%s ", one->name, one->revoked_at ? "(revoked)" : "");
}

static void tokens_without_a_creator(void **state)
{
	struct fixture *f = *state;
	char names[100] = "";
	int n;
	ok(insert(f, "old", "admin", "", 0));
	ok(insert(f, "reader", "read", "", 0));
	ok(insert(f, "boss", "admin", "ann", 0));
	ok(store_session_insert(f->db, "s-old", 1, NULL, NOW + HOUR, NOW, &err));
	ok(store_session_insert(f->db, "s-boss", 3, NULL, NOW + HOUR, NOW, &err));
	ok(store_token_revoke_unvouched(f->db, NOW, &n, &err));
	assert_int_equal(n, 1);
	assert_false(is_valid(f, "old", NOW) || has_session(f, "s-old", NOW));
	assert_true(is_valid(f, "reader", NOW) && is_valid(f, "boss", NOW) && has_session(f, "s-boss", NOW));
	ok(store_token_list(f->db, see, names, &err));
	assert_string_equal(names, "boss old(revoked) reader ");
}

static void a_session_ends_with_its_token(void **state)
{
	struct fixture *f = *state;
	struct token_new again = token("ann", "read", "daemon", 0);
	bool was_open;
	ok(insert(f, "ann", "admin", "daemon", NOW + HOUR));
	ok(store_session_insert(f->db, "s", 1, NULL, NOW + 2 * HOUR, NOW, &err));
	assert_true(has_session(f, "s", NOW));
	assert_int_equal(row.expires_at, NOW + HOUR); /* of the token, which is earlier */
	assert_false(has_session(f, "s", NOW + HOUR));
	assert_false(has_session(f, "other", NOW));
	again.hash = "new";
	ok(store_token_replace(f->db, &again, NOW, &err));
	assert_false(has_session(f, "s", NOW));
	assert_false(is_valid(f, "ann", NOW));
	assert_true(is_valid(f, "new", NOW));
	assert_string_equal(row.scope, "read");
	ok(store_session_insert(f->db, "s", 1, NULL, NOW + HOUR, NOW, &err));
	assert_true(has_session(f, "s", NOW + HOUR - 1));
	assert_false(has_session(f, "s", NOW + HOUR));
	ok(store_session_end(f->db, "s", &was_open, &err));
	assert_true(was_open);
	ok(store_session_end(f->db, "s", &was_open, &err));
	assert_false(was_open);
	ok(store_session_insert(f->db, "s", 1, NULL, NOW + HOUR, NOW, &err));
	ok(store_session_insert(f->db, "later", 1, NULL, NOW + 3 * HOUR, NOW + HOUR, &err)); /* deletes expired ones */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM session"), 1);
	ok(store_token_revoke(f->db, "ann", NOW, &err));
	assert_false(has_session(f, "later", NOW));
}

static void log_out_is(struct fixture *f, const char *hash, const char *wanted)
{
	struct buf found;
	buf_init(&found, 64);
	ok(store_session_log_out(f->db, hash, &found, &err));
	assert_string_equal(found.data, wanted);
	buf_fini(&found);
}

static void a_session_has_its_own_log_out(void **state)
{
	struct fixture *f = *state;
	struct buf small;
	ok(insert(f, "ann", "read", "ann", 0));
	int64_t id = fixture_number(f, "SELECT id FROM token");
	ok(store_session_insert(f->db, "s1", id, "sealed-one", NOW + HOUR, NOW, &err));
	ok(store_session_insert(f->db, "s2", id, "sealed-two", NOW + HOUR, NOW, &err));
	ok(store_session_insert(f->db, "s3", id, NULL, NOW + HOUR, NOW, &err));
	log_out_is(f, "s1", "sealed-one");
	log_out_is(f, "s2", "sealed-two");
	log_out_is(f, "s3", "");
	log_out_is(f, "s4", ""); /* there is no such session */
	buf_init(&small, 4);
	refused(ERR_FULL, store_session_log_out(f->db, "s1", &small, &err));
	buf_fini(&small);
}

#define TOKEN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_scopes),
		TOKEN_TEST(a_token_is_valid_until_it_ends),
		TOKEN_TEST(the_last_use_is_recorded),
		TOKEN_TEST(a_use_that_cannot_be_recorded),
		TOKEN_TEST(tokens_without_a_creator),
		TOKEN_TEST(a_session_ends_with_its_token),
		TOKEN_TEST(a_session_has_its_own_log_out),
	};
	return run_twice(tests);
}
