/**
 * failing_statements.h - the tests of a file run twice: as they are, and with each statement of each ok(CALL) failing once, as if
 * the disk could not be read. The call must then return -1 with an error, leave no transaction open that it began, and succeed when
 * it is repeated. Include it before fixture_db.h, and end main with run_twice(tests).
 *
 * The error comes from the first sqlite3_step of a statement, which is replaced here, so callbacks see each row once; statements that
 * begin or end transactions do not fail. In a transaction of the test a savepoint undoes what the call had changed.
 */
#ifndef TESTS_FAILING_STATEMENTS_H
#define TESTS_FAILING_STATEMENTS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sqlite.h"

static struct {
	bool is_active;
	int left;        /* the statement whose step fails, from now on; 0: none */
	bool has_failed; /* it did */
	char sql[200];   /* its text */
	bool has_savepoint;
	sqlite3 *handle; /* of the last step; NULL after it is closed */
} failing;

static inline bool failing_is_control(const char *sql)
{
	static const char *const words[] = { "BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA",
		"SELECT*FROM" /* of SQLite itself, which reads the schema */ };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!sql || strncmp(sql, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

int sqlite3_step(sqlite3_stmt *s)
{
	static int (*real)(sqlite3_stmt *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sqlite3_step");
	failing.handle = sqlite3_db_handle(s);
	if (failing.left > 0 && !sqlite3_stmt_busy(s) && !failing_is_control(sqlite3_sql(s)) && --failing.left == 0) {
		failing.has_failed = true;
		snprintf(failing.sql, sizeof failing.sql, "%s", sqlite3_sql(s));
		return SQLITE_IOERR;
	}
	return real(s);
}

/* Its own steps do not fail. */
int sqlite3_exec(sqlite3 *handle, const char *sql, int (*each)(void *, int, char **, char **), void *arg, char **problem)
{
	static int (*real)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
	int left = failing.left, rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sqlite3_exec");
	failing.left = 0;
	rc = real(handle, sql, each, arg, problem);
	failing.left = left;
	return rc;
}

int sqlite3_close(sqlite3 *handle)
{
	static int (*real)(sqlite3 *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sqlite3_close");
	if (handle == failing.handle)
		failing.handle = NULL;
	return real(handle);
}

static inline void failing_control(const char *sql)
{
	int rc = sqlite3_exec(failing.handle, sql, NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		fail_msg("%s: %s (%d)", sql, sqlite3_errmsg(failing.handle), rc);
}

/* After a try, and before the next one: whether there is one. */
static inline bool failing_goes_on(int *nth, int result, const char *call, const struct fw_err *err)
{
	if (!failing.is_active)
		return (*nth)++ == 0;
	failing.left = 0;
	if (*nth > 0) {
		if (failing.has_failed && (result != -1 || !err->text[0]))
			fail_msg("%s: returned %d (%s) although this failed: %s", call, result, err->text, failing.sql);
		bool is_open = failing.handle && !sqlite3_get_autocommit(failing.handle);
		if (failing.has_savepoint && failing.has_failed)
			failing_control("ROLLBACK TO failing");
		if (failing.has_savepoint && is_open)
			failing_control("RELEASE failing");
		else if (!failing.has_savepoint && failing.has_failed && is_open)
			fail_msg("%s: its transaction is open after this failed: %s", call, failing.sql);
		if (!failing.has_failed)
			return false;
	}
	*nth += 1 + *nth / 8;
	failing.has_failed = false;
	failing.has_savepoint = failing.handle && !sqlite3_get_autocommit(failing.handle);
	if (failing.has_savepoint)
		failing_control("SAVEPOINT failing");
	failing.left = *nth;
	return true;
}

#define FIXTURE_TRIES(result, call) for (int nth_try = 0; failing_goes_on(&nth_try, result, #call, &err);)

#define run_twice(tests)                                                                                                         \
	({                                                                                                                       \
		int failed_as_they_are = cmocka_run_group_tests(tests, NULL, NULL);                                              \
		failing.is_active = true;                                                                                        \
		failed_as_they_are + cmocka_run_group_tests_name("each statement fails once", tests, NULL, NULL);                \
	})

#endif
