/* leaked_state.c - snapshots of device settings and process state, and memory accounts of each side. */
#include "runner/internal.h"

struct leak_check {
	struct runner *runner;
	int cell; /* position in task->cell; -1 none */
	const struct side *side;
	bool silent;
	int found;
	struct failure *failure;
};

void leaked_state_enter(struct runner *r)
{
	r->n_settings = r->ops->settings ? r->ops->settings(r->dev, false, r->setting) : 0;
}

static void name(struct leak_check *l, const char *text)
{
	l->found++;
	if (!l->silent)
		record_note(l->runner->records, l->cell < 0 ? -1 : l->runner->task->index[l->cell], l->side->role, text);
}

static void host_changed(void *arg, const char *what, enum hoststate_end end)
{
	struct leak_check *l = arg;
	char text[200];
	snprintf(text, sizeof text, "changed %s, which %s", what,
		end == HOSTSTATE_RESTORED   ? "was set back"
		: end == HOSTSTATE_HARMLESS ? "cannot be undone, and slows no call"
					    : "cannot be undone");
	name(l, text);
	if (end != HOSTSTATE_STAYS)
		return;
	failure_set(l->failure, "slowed", "%s: later calls run under it, the base's too", text);
	l->failure->lost = true; /* otherwise the next side's calls would be rejected for this */
}

static void update_account(struct leak_check *l, const struct device_setting *was, const struct device_setting *now, bool end)
{
	int64_t *held = &l->runner->held[l->side - l->runner->side];
	char text[200];
	*held += now->value - was->value;
	if (!end)
		return;
	snprintf(text, sizeof text, "leaked %s: %lld", was->name, (long long)*held);
	if (*held > was->slack)
		name(l, text);
	*held = 0;
}

/* Compare device settings. `quick`: only the first ones, which are cheap to read. */
static void compare_device(struct leak_check *l, bool quick, bool end)
{
	struct runner *r = l->runner;
	struct device_setting now[DEVICE_SETTINGS_MAX];
	char text[200];
	int n = r->n_settings ? r->ops->settings(r->dev, quick, now) : 0;
	for (int k = 0; k < n && k < r->n_settings; k++) {
		const struct device_setting *was = &r->setting[k];
		if (!was->can_set) {
			update_account(l, was, &now[k], end);
		} else if (now[k].value != was->value) {
			if (strncmp(was->name, "whether ", 8) == 0) /* users cannot interpret register bits */
				snprintf(text, sizeof text, "changed %s, which was set back", was->name);
			else
				snprintf(text, sizeof text, "changed %s from %lld to %lld, which was set back", was->name,
					(long long)was->value, (long long)now[k].value);
			name(l, text);
			r->ops->set_back(r->dev, k, was->value);
		}
	}
}

static int check_leaks(struct leak_check *l, bool quick, bool end)
{
	(void)own_code_check(quick ? OWN_CODE_TABLES : OWN_CODE_ALL,
		l->failure); /* before any call of a function that a module could replace */
	pid_t child = hoststate_end_children();
	compare_device(l, quick, end);
	hoststate_set_back(&l->runner->host, host_changed, l);
	if (child)
		return failure_set(l->failure, "escaped",
			"left process %d running when its call was done: part of the work, or of the load, is not timed",
			(int)child);
	return l->failure->name[0] ? -1 : 0;
}

int leaked_state_leave(struct runner *r, int i, const struct side *side, bool end, struct failure *f)
{
	struct leak_check l = { .runner = r, .cell = i, .side = side, .failure = f };
	int result = check_leaks(&l, false, end);
	if (!r->ops->work && (end || i < 0))
		record_request_inspection(r->records, i < 0 ? -1 : r->task->index[i], side->role);
	return result;
}

int leaked_state_between(struct runner *r, int i, const struct side *side, struct failure *f)
{
	bool *reported = &r->reported[side - r->side];
	struct leak_check l = { .runner = r, .cell = i, .side = side, .silent = *reported, .failure = f };
	int result = check_leaks(&l, true, false);
	*reported = *reported || l.found > 0;
	return result;
}
