/* Accounts of users of the OpenID Connect provider: their names, which of them is due to be checked, and their end. */
#include "failing_statements.h"

#include "fixture_db.h"

#include "db/db.h"

enum { EVERY = 300000, AGAIN = 60000, NOW = 10000000, LATER = NOW + 1000000 };

static int setup(void **state)
{
	return fixture_setup(state);
}

static int put(struct fixture *f, const char *subject, const char *name, const char *refresh, int64_t *token)
{
	char hash[HASH_HEX];
	hash_hex(subject, strlen(subject), hash);
	err_clear(&err);
	return store_account_put(f->db,
		&(struct store_account){ .issuer = "https://id.example.org",
			.subject = subject,
			.name = name,
			.scope = "trigger",
			.hash = hash,
			.refresh = refresh },
		token, NOW, &err);
}

static void log_in(struct fixture *f, const char *subject, const char *name, const char *refresh)
{
	int64_t token;
	char hash[HASH_HEX];
	assert_int_equal(put(f, subject, name, refresh, &token), 0);
	hash_hex(name, strlen(name), hash);
	ok(store_session_insert(f->db, hash, token, NULL, LATER, NOW, &err));
}

static struct store_account_due due;

static int find_due(struct fixture *f, int64_t now_ms)
{
	err_clear(&err);
	return store_account_due(f->db, EVERY, AGAIN, now_ms, &due, &err);
}

static void a_name_belongs_to_one_user(void **state)
{
	struct fixture *f = *state;
	int64_t ann, again, other;
	assert_int_equal(put(f, "1", "oidc~ann", "x", &ann), 0);
	assert_int_equal(put(f, "1", "oidc~ann", "y", &again), 0);
	assert_int_equal(ann, again);
	refused(ERR_CONFLICT, put(f, "2", "oidc~ann", "x", &other));
	err_clear(&err);
	ok(store_token_revoke(f->db, "oidc~ann", NOW, &err));
	assert_int_equal(put(f, "2", "oidc~ann", "x", &other), 0);
	assert_int_not_equal(ann, other);
	refused(ERR_CONFLICT, put(f, "1", "oidc~ann", "x", &ann));
	assert_int_equal(put(f, "1", "oidc~anna", "x", &again), 0); /* the provider has renamed the first one */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM token WHERE name = 'oidc~anna' AND revoked_at IS NULL"), 1);
}

static void users_who_are_logged_in_are_checked(void **state)
{
	struct fixture *f = *state;
	int64_t token;
	assert_int_equal(find_due(f, NOW), 0);
	assert_int_equal(put(f, "0", "oidc~gone", "x", &token), 0); /* without a session */
	log_in(f, "1", "oidc~kim", "");                             /* without a refresh token */
	assert_int_equal(find_due(f, NOW), 0);
	log_in(f, "2", "oidc~ann", "sealed");
	assert_int_equal(find_due(f, NOW), 1);
	assert_string_equal(due.subject, "2");
	assert_string_equal(due.name, "oidc~ann");
	assert_string_equal(due.refresh, "sealed");
	assert_int_equal(due.at, NOW + EVERY);
	assert_int_equal(find_due(f, NOW - 5000), 1); /* the clock was set back */
	assert_int_equal(due.at, NOW - 5000);
	ok(store_account_try(f->db, due.id, NOW - 5000, &err));
	assert_int_equal(find_due(f, NOW - 5000), 1); /* and a request has begun: it is not due again at once */
	assert_int_equal(due.at, NOW - 5000 + EVERY);
	ok(store_account_try(f->db, due.id, NOW + EVERY, &err));
	assert_int_equal(find_due(f, NOW + EVERY), 1); /* no answer: again after a minute */
	assert_int_equal(due.at, NOW + EVERY + AGAIN);
	bool is_current;
	struct store_account_due used = due;
	ok(store_account_check(f->db, &used, "read", "newer", NOW + EVERY, &is_current, &err));
	assert_true(is_current);
	assert_int_equal(find_due(f, NOW + EVERY), 1);
	assert_int_equal(due.at, NOW + 2 * EVERY);
	assert_string_equal(due.scope, "read");
	assert_string_equal(due.refresh, "newer");
	assert_int_equal(find_due(f, LATER), 0); /* the session has expired */
	/* an answer to an older refresh token changes nothing: the user has logged in again since */
	ok(store_account_check(f->db, &used, "admin", "older", NOW + EVERY, &is_current, &err));
	assert_false(is_current);
	ok(store_account_end(f->db, &used, &is_current, &err));
	assert_false(is_current);
	assert_int_equal(find_due(f, NOW + EVERY), 1);
	assert_string_equal(due.scope, "read");
	ok(store_account_end(f->db, &due, &is_current, &err));
	assert_true(is_current);
	assert_int_equal(find_due(f, NOW + EVERY), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM session"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM account WHERE refresh = 'newer'"), 0);
}

static void a_log_in_without_a_refresh_token_ends_no_checks(void **state)
{
	struct fixture *f = *state;
	int64_t token;
	log_in(f, "1", "oidc~ann", "sealed");
	assert_int_equal(put(f, "1", "oidc~ann", "", &token), 0);
	assert_int_equal(find_due(f, NOW), 1);
	assert_string_equal(due.refresh, "sealed");
}

static void another_issuer_ends_all(void **state)
{
	struct fixture *f = *state;
	log_in(f, "1", "oidc~ann", "sealed");
	ok(store_account_end_others(f->db, "https://id.example.org", NOW, &err));
	assert_int_equal(find_due(f, NOW), 1);
	ok(store_account_end_others(f->db, "", NOW, &err));
	assert_int_equal(find_due(f, NOW), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM session"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM token WHERE name = 'oidc~ann' AND revoked_at IS NULL"), 0);
}

static void refresh_tokens_do_not_outlive_sessions(void **state)
{
	struct fixture *f = *state;
	log_in(f, "1", "oidc~ann", "sealed");
	ok(store_account_forget(f->db, NOW, &err));
	assert_int_equal(find_due(f, NOW), 1);
	ok(store_account_forget(f->db, LATER, &err));
	assert_int_equal(find_due(f, NOW), 0);
}

static void checks_of_all_users_can_be_moved_forward(void **state)
{
	struct fixture *f = *state;
	log_in(f, "1", "oidc~ann", "sealed");
	ok(store_account_hurry(f->db, NOW - EVERY, &err));
	assert_int_equal(find_due(f, NOW), 1);
	assert_int_equal(due.at, NOW + AGAIN); /* not more often than after a failed request */
	ok(store_account_hurry(f->db, NOW + 1, &err));
	assert_int_equal(fixture_number(f, "SELECT checked_at FROM account"), NOW - EVERY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_name_belongs_to_one_user, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(users_who_are_logged_in_are_checked, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_log_in_without_a_refresh_token_ends_no_checks, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(another_issuer_ends_all, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(checks_of_all_users_can_be_moved_forward, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(refresh_tokens_do_not_outlive_sessions, setup, fixture_teardown),
	};
	return run_twice(tests);
}
