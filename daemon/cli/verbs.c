/* verbs.c - what several verbs end with: an error as one line and its exit status, a list, jobs that were queued. */
#include "cli/internal.h"

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

void verb_print_json(const json_t *answer)
{
	json_dumpf(answer, stdout, JSON_INDENT(2));
	putchar('\n');
}

int verb_show(struct client *c, const struct options *o, const struct buf *path, verb_print_fn *print, const char *none)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	int result = path->failed ? err_set(&err, ERR_INVALID, "a name is too long") : client_get(c, path->data, &answer, &err);
	if (result != 0)
		return verb_fail(&err);
	const json_t *items = json_object_get(answer, "items");
	if (o->json)
		verb_print_json(answer);
	else if (none && json_array_size(items) == 0)
		puts(none);
	else
		print(items);
	json_decref(answer);
	return EXIT_OK;
}

int verb_show_whole(struct client *c, const struct options *o, const struct buf *path, verb_print_fn *print)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	int result = path->failed ? err_set(&err, ERR_INVALID, "a name is too long") : client_get(c, path->data, &answer, &err);
	if (result != 0)
		return verb_fail(&err);
	(o->json ? verb_print_json : print)(answer);
	json_decref(answer);
	return EXIT_OK;
}

static void print_queued(long long id)
{
	printf("job %lld queued; follow it with: flopwatch wait %lld\n", id, id);
}

void verb_new_job(const json_t *job, const struct options *o)
{
	if (o->json)
		verb_print_json(job);
	else
		print_queued(value_integer(job, "id"));
}

int verb_request_jobs(struct client *c, const struct options *o, const char *path, const struct buf *request)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL, *id;
	size_t i;
	int result = request->failed ? err_set(&err, ERR_INVALID, "a name is too long")
				     : client_post(c, path, request->data, &answer, &err);
	if (result != 0)
		return verb_fail(&err);
	if (o->json)
		verb_print_json(answer);
	json_array_foreach(json_object_get(answer, "jobs"), i, id)
	{
		if (!o->json)
			print_queued(json_integer_value(id));
	}
	json_decref(answer);
	return EXIT_OK;
}

int verb_status_of_verdict(enum verdict verdict)
{
	if (verdict == VERDICT_REGRESSION)
		return EXIT_REGRESSION;
	bool compares_nothing = verdict_is_absence(verdict);
	if (verdict == VERDICT_UNDECIDED || compares_nothing)
		return EXIT_UNDECIDED;
	if (verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_NOT_COMPARABLE)
		return EXIT_ERROR;
	return EXIT_OK;
}
