#include "flopwatchd/planning/unresolved.h"

enum { PASSED_BYTES = 1 << 20 };

void unresolved_init(struct unresolved *u)
{
	*u = (struct unresolved){ .turn = { .repo = 0 } };
	buf_init(&u->passed, PASSED_BYTES);
}

void unresolved_fini(struct unresolved *u)
{
	buf_fini(&u->passed);
}

int unresolved_next(struct unresolved *u, struct db *db, const int64_t *busy, int n, struct store_job *out, struct fw_err *err)
{
	struct buf besides;
	buf_init(&besides, 2 * PASSED_BYTES);
	buf_printf(&besides, "[%s", u->passed.len ? u->passed.data : "");
	for (int i = 0; i < n; i++)
		buf_printf(&besides, "%lld,", (long long)busy[i]);
	buf_printf(&besides, "0]");
	/* the list is full: the remaining jobs wait for the next retry */
	int result = besides.failed || u->passed.failed ? 0 : store_job_next_unresolved(db, &u->turn, besides.data, out, err);
	buf_fini(&besides);
	return result;
}

void unresolved_pass(struct unresolved *u, int64_t job)
{
	buf_printf(&u->passed, "%lld,", (long long)job);
}

void unresolved_again(struct unresolved *u)
{
	buf_fini(&u->passed);
	buf_init(&u->passed, PASSED_BYTES);
}
