/* unschedulable.c - documented in answer.h. */
#include "web/answer/answer.h"

enum { KEY_SIZE = 24 };

static const char *key_of(int64_t job, char key[KEY_SIZE])
{
	snprintf(key, KEY_SIZE, "%lld", (long long)job);
	return key;
}

static void take(void *to, int64_t job, const char *why)
{
	char key[KEY_SIZE];
	/* not checked: the text may be truncated in the middle of a character */
	json_object_set_new(to, key_of(job, key), json_stringn_nocheck(why, strlen(why)));
}

static void request(struct unschedulable *l)
{
	struct fw_err err = { 0 };
	l->why = json_object();
	if (l->site->act->unschedulable && l->site->act->unschedulable(l->site->control, l->job, take, l->why, &err) != 0)
		log_error("job.unschedulable", "err=%s", log_quote(err.text));
}

const char *unschedulable_of(struct unschedulable *l, int64_t job)
{
	char key[KEY_SIZE];
	if (!l->why)
		request(l);
	const char *why = json_string_value(json_object_get(l->why, key_of(job, key)));
	return why ? why : "";
}

const char *unschedulable_hold(struct unschedulable *l)
{
	struct fw_err err = { 0 };
	if (!l->has_hold && l->site->act->health && l->site->act->health(l->site->control, &err) != 0)
		snprintf(l->hold, sizeof l->hold, "no job begins: %.480s", err.text);
	l->has_hold = true;
	return l->hold;
}

void unschedulable_fini(struct unschedulable *l)
{
	json_decref(l->why);
	l->why = NULL;
}

static void count(void *to, int64_t job, const char *why)
{
	(void)job, (void)why;
	++*(int *)to;
}

int unschedulable_count(const struct site *site, int *n, struct fw_err *err)
{
	*n = 0;
	return site->act->unschedulable ? site->act->unschedulable(site->control, 0, count, n, err) : 0;
}
