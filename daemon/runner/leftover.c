/* leftover.c - two snapshots of the device's settings, and an account of memory for each subject. */
#include "runner/leftover.h"

#include <stdio.h>

void leftover_enter(struct runner *r)
{
	r->n_settings = r->ops->settings ? r->ops->settings(r->dev, r->setting) : 0;
}

static void name(struct runner *r, int i, const struct subject *subject, const char *text)
{
	record_note(r->records, i < 0 ? -1 : r->run->index[i], subject->role, text);
}

void leftover_leave(struct runner *r, int i, const struct subject *subject, bool end)
{
	struct device_setting now[DEVICE_SETTINGS_MAX];
	int64_t *held = &r->held[subject - r->subject];
	char text[200];
	int n = r->n_settings ? r->ops->settings(r->dev, now) : 0;
	for (int k = 0; k < n && k < r->n_settings; k++) {
		const struct device_setting *was = &r->setting[k];
		if (!was->can_set) {
			*held += now[k].value - was->value;
			if (!end)
				continue;
			snprintf(text, sizeof(text), "left %s behind: %lld", was->name, (long long)*held);
			if (*held > was->slack)
				name(r, i, subject, text);
			*held = 0;
		} else if (now[k].value != was->value) {
			snprintf(text, sizeof(text), "changed %s from %lld to %lld, which was set back", was->name,
				(long long)was->value, (long long)now[k].value);
			name(r, i, subject, text);
			r->ops->set_back(r->dev, k, was->value);
		}
	}
}
