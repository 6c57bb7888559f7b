/* device_check_script.c - injected readings: one rule per line. */
#include "runner/internal.h"

struct word {
	const char *name, *value;
	size_t name_len, value_len;
};

/* Parse the next NAME=VALUE of a line. Returns the rest, NULL at its end. */
static const char *next_word(const char *at, struct word *w)
{
	at += strspn(at, " \t");
	size_t len = strcspn(at, " \t\n");
	const char *equals = memchr(at, '=', len);
	if (len == 0)
		return NULL;
	w->name = at;
	w->name_len = equals ? (size_t)(equals - at) : len;
	w->value = equals ? equals + 1 : at + len;
	w->value_len = (size_t)(at + len - w->value);
	return at + len;
}

static bool is(const struct word *w, const char *name)
{
	return strlen(name) == w->name_len && memcmp(name, w->name, w->name_len) == 0;
}

static bool in_range(const struct word *w, int n)
{
	char *end;
	long low = strtol(w->value, &end, 10), high = *end == '-' ? strtol(end + 1, NULL, 10) : low;
	return n >= low && n <= high;
}

static bool rule_applies(const char *line, const struct device_check_moment *when)
{
	static const char *const moments[] = { [DEVICE_CHECK_AT_TIME] = "time",
		[DEVICE_CHECK_AT_IDLE] = "idle",
		[DEVICE_CHECK_AT_HEALTH_CHECK] = "health_check",
		[DEVICE_CHECK_AT_CLOCKS] = "clocks" };
	const char *now = moments[when->at];
	struct word w;
	bool any_at = false;
	for (const char *at = line; (at = next_word(at, &w));) {
		if (is(&w, "at")) {
			any_at = true;
			if (strlen(now) != w.value_len || memcmp(now, w.value, w.value_len) != 0)
				return false;
		} else if ((is(&w, "run") && !in_range(&w, when->run)) || (is(&w, "cell") && !in_range(&w, when->cell)) ||
			   (is(&w, "pass") && !in_range(&w, when->pass))) {
			return false;
		}
	}
	return any_at || when->at == DEVICE_CHECK_AT_TIME;
}

static bool take(const char *line, struct msg_device_check *g)
{
	struct word w;
	bool lost = false;
	for (const char *at = line; (at = next_word(at, &w));) {
		if (is(&w, "reasons"))
			g->reasons = strtoull(w.value, NULL, 0);
		else if (is(&w, "foreign"))
			g->foreign = (int)strtol(w.value, NULL, 10);
		else if (is(&w, "xid"))
			g->xid = (int)strtol(w.value, NULL, 10);
		else if (is(&w, "ecc"))
			g->ecc = (int)strtol(w.value, NULL, 10);
		else if (is(&w, "temp_c"))
			g->temp_c = strtod(w.value, NULL);
		else if (is(&w, "power_w"))
			g->power_w = strtod(w.value, NULL);
		else if (is(&w, "sm_mhz"))
			g->sm_mhz = strtod(w.value, NULL);
		else if (is(&w, "lost"))
			lost = true;
	}
	return lost;
}

bool device_check_script_apply(const char *script, const struct device_check_moment *when, struct msg_device_check *g)
{
	bool lost = false;
	for (const char *line = script; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (rule_applies(line, when) && take(line, g))
			lost = true;
	return lost;
}
