/* verbs.c - common endings of verbs: an error as one line and its exit status, a list, queued jobs. */
#include "cli/internal.h"

int verb_fail(const struct fw_err *err)
{
	plain_line(stderr, "flopwatch: %s", err->text);
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

void verb_warn_unknown(const char *what, const struct fw_err *err)
{
	if (err->code != ERR_NONE && err->code != ERR_NOT_FOUND)
		plain_line(stdout, "WARNING %s unknown: %s", what, err->text);
}

int verb_fail_of_name(const struct fw_err *err)
{
	int status = verb_fail(err);
	return err->code == ERR_CONFLICT ? EXIT_USAGE : status; /* unambiguous arguments would solve it, so it is a usage error */
}

int verb_fail_here(const struct fw_err *err)
{
	(void)verb_fail(err);
	return EXIT_ERROR;
}

int verb_usage(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

void verb_print_json(const json_t *answer)
{
	json_dumpf(answer, stdout, JSON_INDENT(2));
	putchar('\n');
}

int verb_show(struct client *c, const struct options *o, const char *path, const struct member *query, verb_print_fn *print,
	const char *none)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_get_query(c, path, query, &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json)
		verb_print_json(answer);
	else if (none && json_array_size(json_object_get(answer, "items")) == 0)
		puts(none);
	else
		print(answer);
	json_decref(answer);
	return EXIT_OK;
}

bool verb_is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10;
}

const char *verb_id(const char *text, char letter)
{
	bool has_letter = text[0] == letter || text[0] == letter + ('a' - 'A');
	return has_letter && verb_is_number(text + 1) ? text + 1 : text;
}

int verb_step(struct client *c, const char *collection, const char *id, const char *step)
{
	struct fw_err err = { 0 };
	return client_post_step(c, collection, id, step, "", NULL, &err) == 0 ? EXIT_OK : verb_fail(&err);
}

static void print_queued(long long id)
{
	printf("J%lld queued\nnext: flopwatch wait J%lld\n", id, id);
}

int verb_new_job(const struct options *o, int result, json_t *job, const struct fw_err *err)
{
	if (result == 0 && o->json)
		verb_print_json(job);
	else if (result == 0)
		print_queued(value_integer(job, "id"));
	json_decref(job);
	return result == 0 ? EXIT_OK : verb_fail(err);
}

int verb_request_jobs(struct client *c, const struct options *o, const char *path, const struct member *request)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL, *id;
	size_t i;
	if (client_post_members(c, path, request, &answer, &err) != 0)
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
