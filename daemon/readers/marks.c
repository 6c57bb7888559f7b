/* marks.c - inference of decimal and thousands marks. */
#include "readers/readers.h"

#include <ctype.h>
#include <stdio.h>

enum { GROUPS_MAX = 16, NUMBER_SIZE = 64, GROUP = 3 };

/*
 * A number in its parts: digits[0] mark[0] digits[1] ... exponent. Marks are '.', ',' and 'g', any other sign between
 * thousands.
 */
struct parts {
	bool negative;
	int n_marks;
	char mark[GROUPS_MAX];
	char digits[GROUPS_MAX + 1][NUMBER_SIZE];
	char exponent[8];
};

/* Length of a thousands sign here, 0 none: apostrophes, spaces, no-break, narrow no-break, thin and figure spaces. */
static size_t grouping_at(const char *at)
{
	static const char *const signs[] = { "'", "\u2019", " ", "\u00a0", "\u202f", "\u2009", "\u2007", "_" };

	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strncmp(at, signs[i], strlen(signs[i])) == 0)
			return strlen(signs[i]);
	return 0;
}

static const char *skip_spaces(const char *at)
{
	for (size_t n; *at && *at != '\'' && *at != '_' && (n = grouping_at(at)) > 0;)
		at += n;
	return at;
}

static bool split(const char *cell, struct parts *p)
{
	const char *at = skip_spaces(cell);
	size_t n;

	*p = (struct parts){ .negative = *at == '-' };
	at += *at == '-' || *at == '+';
	for (;;) {
		n = strspn(at, "0123456789");
		if (n >= NUMBER_SIZE)
			return false;
		memcpy(p->digits[p->n_marks], at, n);
		at += n;
		size_t grouping = *skip_spaces(at) ? grouping_at(at) : 0;

		if (!grouping && *at != '.' && *at != ',')
			break;
		if (p->n_marks == GROUPS_MAX)
			return false;
		p->mark[p->n_marks++] = grouping ? 'g' : *at;
		at += grouping ? grouping : 1;
	}
	if (*at == 'e' || *at == 'E') {
		n = 1 + (at[1] == '-' || at[1] == '+');
		n += strspn(at + n, "0123456789");
		if (n >= sizeof p->exponent || !isdigit((unsigned char)at[n - 1]))
			return false;
		memcpy(p->exponent, at, n);
		at += n;
	}
	return !*skip_spaces(at) && (p->digits[0][0] || (p->n_marks == 1 && p->digits[1][0]));
}

/* Whether the first n marks separate thousands: one to three digits, then groups of three. */
static bool are_thousands(const struct parts *p, int n)
{
	if (n == 0)
		return true;
	for (int i = 1; i <= n; i++)
		if (strlen(p->digits[i]) != GROUP)
			return false;
	return p->digits[0][0] && strlen(p->digits[0]) <= GROUP && p->digits[0][0] != '0';
}

static int count(const struct parts *p, char mark)
{
	int n = 0;

	for (int i = 0; i < p->n_marks; i++)
		n += p->mark[i] == mark;
	return n;
}

static char other(char mark)
{
	return mark == '.' ? ',' : '.';
}

/* What one number shows: its decimal mark; 'g' a separate thousands sign; 0 nothing; -1 no number; '?' ambiguous. */
static int mark_shown_by(const struct parts *p)
{
	int points = count(p, '.'), commas = count(p, ','), own = count(p, 'g');
	char last = p->n_marks ? p->mark[p->n_marks - 1] : 0;

	if (p->n_marks == 0)
		return 0;
	if (own > 0) { /* 1'234 or 1'234.5 */
		bool fraction = points + commas == 1 && last != 'g';

		if ((points + commas > 0 && !fraction) || !are_thousands(p, own))
			return -1;
		return fraction ? last : 'g';
	}
	if (points > 0 && commas > 0) /* 1,234.5 */
		return count(p, last) == 1 && are_thousands(p, p->n_marks - 1) ? last : -1;
	if (p->n_marks > 1) /* 1,234,567 */
		return are_thousands(p, p->n_marks) && !p->exponent[0] ? other(last) : -1;
	return are_thousands(p, 1) && !p->exponent[0] ? '?' : last;
}

void marks_learn(struct marks *m, const char *cell, const char *unit, int line)
{
	struct parts p;
	int shown = split(cell, &p) ? mark_shown_by(&p) : -1;

	if (shown == '?' && strcmp(unit, "%") == 0)
		shown = p.mark[0];
	m->has_grouping = m->has_grouping || (shown > 0 && count(&p, 'g') > 0);
	if (shown == '.' && m->line_point == 0)
		m->line_point = line;
	if (shown == ',' && m->line_comma == 0)
		m->line_comma = line;
	if (shown == '.' || shown == ',')
		m->decimal = m->decimal ? m->decimal : (char)shown;
}

bool marks_contradict(const struct marks *m)
{
	return m->line_point > 0 && m->line_comma > 0;
}

enum marks_kind marks_read(const struct marks *m, const char *cell, double *value)
{
	char plain[(GROUPS_MAX + 1) * NUMBER_SIZE + 16];
	size_t used = 0;
	struct parts p;
	int shown = split(cell, &p) ? mark_shown_by(&p) : -1;

	if (shown < 0)
		return MARKS_NO_NUMBER;
	if (shown == '?' && !m->decimal && !m->has_grouping)
		return MARKS_UNDECIDED;
	char decimal = shown == '.' || shown == ',' ? (char)shown : m->decimal ? m->decimal : shown == '?' ? p.mark[0] : 0;

	plain[used++] = p.negative ? '-' : '+';
	for (int i = 0; i <= p.n_marks; i++) {
		used += (size_t)snprintf(plain + used, sizeof plain - used, "%s", p.digits[i]);
		if (i < p.n_marks && decimal && p.mark[i] == decimal)
			plain[used++] = '.';
	}
	snprintf(plain + used, sizeof plain - used, "%s", p.exponent);
	return reading_number(plain, value) ? MARKS_NUMBER : MARKS_NO_NUMBER;
}
