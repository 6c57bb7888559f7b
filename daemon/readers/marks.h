/**
 * marks.h - numbers with locale-dependent decimal and thousands marks: 1,234.5 is 1.234,5 or 1'234.5 or 1 234,5 elsewhere.
 *
 * One cell may be ambiguous: 12,345 is two numbers. A file has one locale, so its other cells may decide. Nothing is guessed.
 */
#ifndef READERS_MARKS_H
#define READERS_MARKS_H

#include <stdbool.h>

/** Marks shown by a file's numbers so far. Zeroed: none. */
struct marks {
	char decimal;               /* '.' or ','; 0 unknown */
	bool has_grouping;          /* thousands have a sign that is never a decimal mark: a space, an apostrophe */
	int line_point, line_comma; /* line in which each was the decimal mark; 0 none */
};

enum marks_kind {
	MARKS_NO_NUMBER,
	MARKS_NUMBER,
	MARKS_UNDECIDED, /* a number, but the file does not show which */
};

/** Learn from a number in `line`. `unit` is its unit: a percentage of a thousand is impossible. Other text is ignored. */
void marks_learn(struct marks *m, const char *cell, const char *unit, int line);
/** Return whether the file shows both marks as decimal mark. */
bool marks_contradict(const struct marks *m);
enum marks_kind marks_read(const struct marks *m, const char *cell, double *value);

#endif
