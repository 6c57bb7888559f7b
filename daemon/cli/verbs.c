/* verbs.c - what several verbs end with: an error as one line and its exit status, a job that was queued. */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/plain.h"
#include "cli/value.h"

int verb_fail(const struct fw_err *err)
{
	fputs("flopwatch: ", stderr);
	plain_print(stderr, err->text);
	fputc('\n', stderr);
	switch (err->code) {
	case ERR_NOT_FOUND:
		return EXIT_NOT_FOUND;
	case ERR_IO:
		return EXIT_UNREACHABLE;
	case ERR_TIMEOUT:
		return EXIT_TIMEOUT;
	default:
		return EXIT_ERROR;
	}
}

int verb_fail_here(const struct fw_err *err)
{
	(void)verb_fail(err);
	return EXIT_ERROR;
}

void verb_new_job(const json_t *job, const struct options *o)
{
	long long id = value_integer(job, "id");
	if (o->json) {
		json_dumpf(job, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		printf("job %lld queued; follow it with: flopwatch wait %lld\n", id, id);
	}
}

int verb_status_of_verdict(const char *verdict)
{
	if (strcmp(verdict, "regression") == 0)
		return EXIT_REGRESSION;
	if (strcmp(verdict, "undecided") == 0)
		return EXIT_UNDECIDED;
	if (strcmp(verdict, "failed") == 0 || strcmp(verdict, "rejected") == 0 || strcmp(verdict, "not_comparable") == 0)
		return EXIT_ERROR;
	return EXIT_OK;
}
