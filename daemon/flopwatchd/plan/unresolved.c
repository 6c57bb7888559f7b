#include "flopwatchd/plan/plan.h"

enum { PASSED_BYTES = 1 << 20 };

void unresolved_init(struct unresolved *u)
{
	*u = (struct unresolved){ .next = { .repo = 0 } };
	buf_init(&u->passed, PASSED_BYTES);
}

void unresolved_fini(struct unresolved *u)
{
	buf_fini(&u->passed);
}

int unresolved_next(struct unresolved *u, struct db *db, const int64_t *busy, int n, struct store_job *out, struct fw_err *err)
{
	struct buf busy_ids;
	buf_init(&busy_ids, (size_t)2 * PASSED_BYTES);
	buf_printf(&busy_ids, "[%s", u->passed.len ? u->passed.data : "");
	for (int i = 0; i < n; i++)
		buf_printf(&busy_ids, "%lld,", (long long)busy[i]);
	buf_printf(&busy_ids, "0]");
	/* the list is full: the remaining jobs wait for the next retry */
	int result = busy_ids.failed || u->passed.failed ? 0 : store_job_next_unresolved(db, &u->next, busy_ids.data, out, err);
	buf_fini(&busy_ids);
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
