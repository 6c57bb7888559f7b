/* lack.c - see lack.h. */
#include "web/answer/lack.h"

#include <stdio.h>

#include "base/log.h"

static void take(void *to, int64_t job, const char *why)
{
	(void)job;
	snprintf(to, LACK_SIZE, "%s", why);
}

bool lack_of(const struct site *site, int64_t job, char why[LACK_SIZE])
{
	struct fw_err err = { 0 };
	why[0] = 0;
	if (site->act->lacking && site->act->lacking(site->control, job, take, why, &err) != 0)
		log_error("job.lacking", "job=%lld err=%s", (long long)job, log_quote(err.text));
	return why[0] != 0;
}

static void count(void *to, int64_t job, const char *why)
{
	(void)job, (void)why;
	++*(int *)to;
}

int lack_count(const struct site *site, int *n, struct fw_err *err)
{
	*n = 0;
	return site->act->lacking ? site->act->lacking(site->control, 0, count, n, err) : 0;
}
