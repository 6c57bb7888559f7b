/* The base rows, and a transaction that is open in each test and rolled back after it. */
#ifndef TESTS_FIXTURE_TRANSACTION_H
#define TESTS_FIXTURE_TRANSACTION_H

#include "fixture_db.h"

static inline int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	return fixture_teardown(state);
}

#endif
