/* carry_json.c - one pass over the text: each key and each string value is looked up, everything else is copied. */
#include "db/internal.h"

enum { DEPTH_MAX = 64 };

struct span {
	const char *text;
	size_t len;
};

struct walk {
	const char *at, *end;
	struct buf *out;
	carry_confirmed_fn *confirmed;
	void *arg;
	bool failed;
};

static const struct {
	const char *was, *is;
} keys[] = {
	{ "launch", "run" },
	{ "launches", "runs" },
	{ "launches_ok_min", "runs_ok_min" },
	{ "launches_regression_min", "runs_regression_min" },
	{ "launches_max", "runs_max" },
	{ "epoch", "baseline_period" },
	{ "anchor", "reference" },
	{ "blind", "underpowered" },
	{ "scatter_pct", "noise_pct" },
	{ "stands_out", "outlier" },
	{ "part", "shard" },
	{ "parts", "components" },
	{ "look", "interim" },
};

/* Values of one key. `kind` is that of a job, an alert or a change point, which have no names in common. */
static const struct {
	const char *key, *was, *is;
} values[] = {
	{ "kind", "change", "compare" },
	{ "kind", "anchor", "reference" },
	{ "kind", "pinned", "config" },
	{ "kind", "creep", "drift" },
	{ "kind", "broken", "failing" },
	{ "kind", "vanished", "missing" },
	{ "kind", "silent", "device_offline" },
	{ "state", "sent", "assigned" },
	{ "state", "gone", "target_missing" },
	{ "state", "canary", "health_check" },
	{ "origin", "epoch", "baseline_period" },
	{ "origin", "night", "off_peak" },
	{ "base_how", "last-night", "last-off-peak" },
	{ "origin", "reanchor", "rereference" },
	{ "step", "launch", "run" },
	{ "step", "look", "inspect" },
	{ "role", "anchor", "reference" },
	{ "goal", "broken", "failing" },
	{ "verdict", "vanished", "missing" },
	{ "flags", "blind", "underpowered" },
	{ "event", "epoch.started", "baseline_period.started" },
	{ "event", "epoch.anchored", "baseline_period.reference_set" },
	{ "event", "epoch.reanchored", "baseline_period.reference_moved" },
};

/* Names below these keys come from a branch's code or from a family of kernels. */
static const char *const foreign[] = { "shape", "nodes", "tried", "costs" };

static bool is(struct span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.text, word, s.len) == 0;
}

static bool is_foreign(struct span key)
{
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		if (is(key, foreign[i]))
			return true;
	return false;
}

static struct span key_of_today(struct span key)
{
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (is(key, keys[i].was))
			return (struct span){ keys[i].is, strlen(keys[i].is) };
	return key;
}

static struct span value_of_today(struct span key, struct span value)
{
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		if (is(key, values[i].key) && is(value, values[i].was))
			return (struct span){ values[i].is, strlen(values[i].is) };
	return value;
}

/* ---- the walk -------------------------------------------------------------------------------------------------------- */

static void fail(struct walk *w)
{
	w->failed = true;
	w->at = w->end;
}

/* Copies spaces and returns the character after them; NUL at the end. */
static char next(struct walk *w)
{
	const char *from = w->at;

	while (w->at < w->end && (*w->at == ' ' || *w->at == '\n' || *w->at == '\t' || *w->at == '\r'))
		w->at++;
	buf_append(w->out, from, (size_t)(w->at - from));
	return w->at < w->end ? *w->at : '\0';
}

static void expect(struct walk *w, char c)
{
	if (next(w) == c)
		buf_append(w->out, w->at++, 1);
	else
		fail(w);
}

/* Skip a string, and return it without its quotes; escapes are unchanged. */
static struct span take_text(struct walk *w)
{
	const char *from = ++w->at;

	while (w->at < w->end && *w->at != '"')
		w->at += *w->at == '\\' ? 2 : 1;
	if (w->at >= w->end) {
		fail(w);
		return (struct span){ from, 0 };
	}
	return (struct span){ from, (size_t)(w->at++ - from) };
}

static void put_text(struct walk *w, struct span s)
{
	buf_append(w->out, "\"", 1);
	buf_append(w->out, s.text, s.len);
	buf_append(w->out, "\"", 1);
}

static void walk_value(struct walk *w, struct span key, bool below_foreign, int depth);

/* One key of an object and its value; `cell` is the value of the object's key `cell`. */
static void walk_member(struct walk *w, struct span *cell, bool below_foreign, int depth)
{
	if (next(w) != '"') {
		fail(w);
		return;
	}
	struct span key = take_text(w);

	put_text(w, below_foreign ? key : key_of_today(key));
	expect(w, ':');
	if (is(key, "cell") && next(w) == '"') {
		struct walk ahead = *w;
		*cell = take_text(&ahead);
	}
	walk_value(w, key, below_foreign || is_foreign(key), depth);
	if (w->confirmed && cell->len && is(key, "confirmed_on"))
		buf_puts(w->out, w->confirmed(w->arg, cell->text, cell->len) ? ",\"confirmed\":true" : ",\"confirmed\":false");
}

static void walk_object(struct walk *w, bool below_foreign, int depth)
{
	struct span cell = { "", 0 };

	expect(w, '{');
	if (next(w) != '}') {
		walk_member(w, &cell, below_foreign, depth);
		while (!w->failed && next(w) == ',') {
			expect(w, ',');
			walk_member(w, &cell, below_foreign, depth);
		}
	}
	expect(w, '}');
}

static void walk_array(struct walk *w, struct span key, bool below_foreign, int depth)
{
	expect(w, '[');
	if (next(w) != ']') {
		walk_value(w, key, below_foreign, depth);
		while (!w->failed && next(w) == ',') {
			expect(w, ',');
			walk_value(w, key, below_foreign, depth);
		}
	}
	expect(w, ']');
}

/* A number, true, false or null. */
static void walk_word(struct walk *w)
{
	const char *from = w->at;

	while (w->at < w->end && !strchr(",]} \n\t\r\":{[", *w->at))
		w->at++;
	buf_append(w->out, from, (size_t)(w->at - from));
	if (w->at == from)
		fail(w);
}

static void walk_value(struct walk *w, struct span key, bool below_foreign, int depth)
{
	char c = depth < DEPTH_MAX ? next(w) : '\0';

	if (c == '{') {
		walk_object(w, below_foreign, depth + 1);
	} else if (c == '[') {
		walk_array(w, key, below_foreign, depth + 1);
	} else if (c == '"') {
		struct span value = take_text(w);
		put_text(w, below_foreign ? value : value_of_today(key, value));
	} else if (c) {
		walk_word(w);
	} else {
		fail(w);
	}
}

bool carry_json(const char *text, size_t len, carry_confirmed_fn *confirmed, void *arg, struct buf *out)
{
	struct walk w = { .at = text, .end = text + len, .out = out, .confirmed = confirmed, .arg = arg };

	walk_value(&w, (struct span){ "", 0 }, false, 0);
	if (!w.failed && next(&w))
		fail(&w);
	return !w.failed && !out->failed;
}
