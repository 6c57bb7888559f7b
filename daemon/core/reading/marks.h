/**
 * marks.h - numbers whose marks of decimals and thousands depend on a locale: 1,234.5 is 1.234,5 or 1'234.5 or 1 234,5 elsewhere.
 *
 * One cell may not say which: 12,345 is two numbers. A file is written in one locale, so its other cells may. Nothing is guessed.
 */
#ifndef CORE_READING_MARKS_H
#define CORE_READING_MARKS_H

#include <stdbool.h>

/** What a file's numbers have shown so far. Zeroed: nothing. */
struct marks {
	char decimal;      /* '.' or ','; 0 not shown */
	bool has_grouping; /* thousands are marked by something that is no decimal mark anywhere: a space, an apostrophe */
	int line_point, line_comma; /* where each was seen to be the decimal mark; 0 nowhere */
};

enum marks_kind {
	MARKS_NO_NUMBER,
	MARKS_NUMBER,
	MARKS_UNDECIDED, /* a number, but the file does not show which */
};

/** Learn from a number in `line`. `unit` is its unit: a thousand percent are none. What is no number teaches nothing. */
void marks_learn(struct marks *m, const char *cell, const char *unit, int line);
/** Whether the file shows both marks as that of decimals. */
bool marks_contradict(const struct marks *m);
/** Read a number as the file as a whole shows. */
enum marks_kind marks_read(const struct marks *m, const char *cell, double *value);

#endif
