/* judge.c - requests that the daemon judges again, one comparison per request, so that other requests are served in between. */

#include "cli/internal.h"

enum { PAGE = 200 };

struct request_counter {
	long long judged, changed, failed;
	json_t *changes; /* numbers of comparisons; NULL: results are printed immediately */
};

static int judge_one(struct client *c, long long id, struct request_counter *t, struct fw_err *err)
{
	char path[80];
	json_t *answer = NULL;
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld/judge", id);
	if (client_post(c, path, "", &answer, err) != 0)
		return -1;
	bool changed = json_is_true(json_object_get(answer, "changed"));
	json_decref(answer);
	t->judged++;
	t->changed += changed;
	if (changed && t->changes)
		json_array_append_new(t->changes, json_integer(id));
	else if (changed)
		printf("C%lld has another verdict now\n", id);
	return 0;
}

/* A comparison with unreadable single times does not stop the others. */
static int judge_or_name(struct client *c, long long id, struct request_counter *t, struct fw_err *err)
{
	struct fw_err why = { 0 };
	if (judge_one(c, id, t, &why) == 0)
		return 0;
	if (why.code != ERR_INVALID && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	err_context(&why, "C%lld", id);
	(void)verb_fail(&why);
	t->failed++;
	return 0;
}

/* Newest first, page by page. */
static int judge_all(struct client *c, struct request_counter *t, struct fw_err *err)
{
	long long before = 0;
	for (;;) {
		const struct member query[] = { { "limit", .number = PAGE }, { "cursor", .number = before }, { 0 } };
		json_t *page = NULL, *item;
		size_t i;
		int result = 0;
		if (client_get_query(c, "/api/v1/comparisons", query, &page, err) != 0)
			return -1;
		const json_t *items = json_object_get(page, "items");
		json_array_foreach(items, i, item)
		{
			before = value_integer(item, "id");
			if (result == 0)
				result = judge_or_name(c, before, t, err);
		}
		bool more = json_array_size(items) > 0 && !json_is_null(json_object_get(page, "next_cursor"));
		json_decref(page);
		if (result != 0 || !more)
			return result;
	}
}

static void print(const struct request_counter *t)
{
	if (t->changes) {
		json_t *answer = json_pack(
			"{s:I,s:I,s:O}", "judged", (json_int_t)t->judged, "failed", (json_int_t)t->failed, "changed", t->changes);
		verb_print_json(answer);
		json_decref(answer);
		return;
	}
	printf("%lld judged again, %lld changed", t->judged, t->changed);
	if (t->failed)
		printf(", %lld not", t->failed);
	putchar('\n');
}

int verb_judge(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct request_counter t = { 0 };
	const char *number = o->n_arg ? verb_id(o->arg[0], 'C') : "0";
	long long id = strtoll(number, NULL, 10);
	if (!o->again || !verb_is_number(number) || (o->n_arg && id < 1))
		return verb_usage("flopwatch: write: flopwatch judge --again [COMPARISON]");
	t.changes = o->json ? json_array() : NULL;
	int result = id ? judge_one(c, id, &t, &err) : judge_all(c, &t, &err);
	if (result == 0)
		print(&t);
	json_decref(t.changes);
	if (result != 0)
		return verb_fail(&err);
	return t.failed ? EXIT_ERROR : EXIT_OK;
}
