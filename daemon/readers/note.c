/* note.c - notes and metrics of a reading. */
#include "readers/readers.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

void reading_note(struct reading *r, const char *sentence, ...)
{
	char text[READING_NOTE_SIZE], plain[READING_NOTE_SIZE];
	va_list args;

	va_start(args, sentence);
	vsnprintf(plain, sizeof plain, sentence, args);
	va_end(args);
	reading_show(plain, text, sizeof text);
	for (int i = 0; i < r->n_notes; i++)
		if (strcmp(r->note[i], text) == 0)
			return;
	if (r->n_notes == READING_NOTES_MAX) {
		snprintf(r->note[READING_NOTES_MAX - 1], READING_NOTE_SIZE, "more results were left out than are listed here");
		return;
	}
	r->note = mem_grow_one(r->note, (size_t)r->n_notes, sizeof *r->note);
	memcpy(r->note[r->n_notes++], text, sizeof text);
}

/* Scale and quantity of a unit: "Mbyte" is 1e6 of "byte", "us" 1e-3 of "ms". Shape: quantity[size]. */
static double scale_of(const char *unit, char *quantity, size_t size)
{
	static const char prefixes[] = "KMGT";
	const char *at = unit[0] ? strchr(prefixes, toupper((unsigned char)unit[0])) : NULL, *rest = unit;
	double scale = 1;

	if (unit_to_ms(unit) > 0) {
		snprintf(quantity, size, "ms");
		return unit_to_ms(unit);
	}
	if (at && unit[1] == 'i' && unit[2] == 'B') {
		for (const char *p = prefixes; p <= at; p++)
			scale *= 1024;
		rest = unit + 2;
	} else if (at && (strncasecmp(unit + 1, "byte", 4) == 0 || strncasecmp(unit + 1, "hz", 2) == 0 ||
				 strcmp(unit + 1, "B") == 0 || strncmp(unit + 1, "B/", 2) == 0)) {
		for (const char *p = prefixes; p <= at; p++)
			scale *= 1000;
		rest = unit + 1;
	}
	bool bytes = strncasecmp(rest, "byte", 4) == 0 || strcmp(rest, "B") == 0 || strncmp(rest, "B/", 2) == 0;
	bool a_second = bytes && strchr(rest, '/') && strcasecmp(strchr(rest, '/'), "/block") != 0 && strchr(rest, '/')[1] == 's';

	if (bytes && (a_second || !strchr(rest, '/')))
		snprintf(quantity, size, "byte%s", a_second ? "/s" : "");
	else
		snprintf(quantity, size, "%s", rest);
	for (char *p = quantity; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return scale;
}

double reading_unit_factor(const char *from, const char *to)
{
	char a[64], b[64];
	double scale = scale_of(from, a, sizeof a) / scale_of(to, b, sizeof b);

	return strcmp(a, b) == 0 ? scale : 0;
}

static struct reading_figure *find(const struct reading *r, const char *key, const char *metric, const char *unit)
{
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].key, key) == 0 && strcmp(r->figure[i].metric, metric) == 0 &&
			reading_unit_factor(unit, r->figure[i].unit) > 0)
			return &r->figure[i];
	return NULL;
}

const struct reading_figure *reading_find_figure(const struct reading *r, const struct reading_figure *like)
{
	return find(r, like->key, like->metric, like->unit);
}

int reading_add_figure(struct reading *r, const char *key, const char *metric, const char *unit, double value, const char *where,
	struct fw_err *err)
{
	struct reading_figure one = { 0 };

	reading_clean_key(key, one.key);
	reading_show(metric, one.metric, sizeof one.metric);
	reading_show(unit, one.unit, sizeof one.unit);
	if (r->n_figures >= READING_ROWS_MAX || r->n_values >= READING_VALUES_MAX)
		return err_set(err, ERR_INVALID, "%s: more than %d figures or %d values; select fewer with --metric", where,
			READING_ROWS_MAX, READING_VALUES_MAX);
	struct reading_figure *f = find(r, one.key, one.metric, one.unit);

	if (!f) {
		r->figure = mem_grow_one(r->figure, (size_t)r->n_figures, sizeof *r->figure);
		f = &r->figure[r->n_figures++];
		*f = one;
	}
	f->value = mem_grow_one(f->value, (size_t)f->n, sizeof *f->value);
	f->value[f->n++] = value * reading_unit_factor(one.unit, f->unit);
	r->n_values++;
	return 0;
}
