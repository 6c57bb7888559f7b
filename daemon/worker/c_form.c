/* c_form.c - a scanner for C, C++ and CUDA that drops comments, and fails on text that it cannot scan with certainty. */
#include "worker/internal.h"

#include <ctype.h>

struct scan {
	const char *at, *end;
	struct buf *out;
	bool in_directive; /* in a line that begins with # */
	bool is_line_begun;
	bool has_gap, has_line_end; /* since the last token: blanks or comments; a line end outside comments */
};

static bool is_at(const struct scan *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->at) >= n && memcmp(s->at, text, n) == 0;
}

/* Return whether the comment at `s` ends. A line end that a backslash precedes does not end a comment of one line. */
static bool skip_comment(struct scan *s)
{
	bool is_line = s->at[1] == '/';

	for (s->at += 2; s->at < s->end; s->at++) {
		if (!is_line && is_at(s, "*/")) {
			s->at += 2;
			return true;
		}
		if (is_line && *s->at == '\n')
			return true;
		if (*s->at == '\\' && s->at + 1 < s->end && s->at[1] == '\n')
			return false;
	}
	return is_line;
}

/* Skip blanks and comments. Returns false if they are not plain. */
static bool skip_gap(struct scan *s)
{
	while (s->at < s->end) {
		if (is_at(s, "//") || is_at(s, "/*")) {
			if (s->in_directive && !s->has_gap) /* may belong to <path> */
				return false;
			s->has_gap = true;
			if (!skip_comment(s))
				return false;
		} else if (*s->at == '\n' || *s->at == ' ' || *s->at == '\t' || is_at(s, "\r\n")) {
			s->has_gap = true;
			s->has_line_end = s->has_line_end || *s->at == '\n';
			s->at++;
		} else {
			return true;
		}
	}
	return true;
}

/* Write the gap before a token: a line end at the begin and end of a directive, else one blank. */
static void put_gap(struct scan *s)
{
	bool begins = s->at < s->end && *s->at == '#' && (s->has_line_end || !s->is_line_begun);

	if (s->in_directive ? s->has_line_end : begins && s->is_line_begun)
		buf_putc(s->out, '\n');
	else if (s->has_gap && s->is_line_begun && s->at < s->end)
		buf_putc(s->out, ' ');
	s->in_directive = begins || (s->in_directive && !s->has_line_end);
	s->is_line_begun = true;
	s->has_gap = s->has_line_end = false;
}

static void put(struct scan *s, size_t n)
{
	buf_append(s->out, s->at, n);
	s->at += n;
}

/* Copy a literal in quotes. Returns false if its line ends first. */
static bool put_quoted(struct scan *s)
{
	const char *p = s->at + 1;

	for (; p < s->end && *p != *s->at && *p != '\n'; p++)
		if (*p == '\\' && p + 1 < s->end && p[1] != '\n')
			p++;
	if (p >= s->end || *p == '\n')
		return false;
	put(s, (size_t)(p + 1 - s->at));
	return true;
}

/* Copy a raw string from its opening quote: "delimiter(text)delimiter". */
static bool put_raw(struct scan *s)
{
	enum { DELIMITER_MAX = 16 };
	const char *open = memchr(s->at, '(', (size_t)(s->end - s->at));
	char closing[DELIMITER_MAX + 3];

	if (!open || open - s->at - 1 > DELIMITER_MAX)
		return false;
	int n = snprintf(closing, sizeof closing, ")%.*s\"", (int)(open - s->at - 1), s->at + 1);
	const char *close = memmem(open, (size_t)(s->end - open), closing, (size_t)n);

	if (!close)
		return false;
	put(s, (size_t)(close + n - s->at));
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Copy an identifier, and the raw string that it may introduce. */
static bool put_word(struct scan *s)
{
	size_t n = 0;

	while (s->at + n < s->end && is_word(s->at[n]))
		n++;
	bool is_raw = s->at[n - 1] == 'R' && n <= 3 && s->at + n < s->end && s->at[n] == '"';

	put(s, n);
	return !is_raw || put_raw(s);
}

/* Copy a number; C++ may separate its digits by apostrophes. */
static void put_number(struct scan *s)
{
	size_t n = 1;

	while (s->at + n < s->end &&
		(is_word(s->at[n]) || s->at[n] == '.' || (s->at[n] == '\'' && s->at + n + 1 < s->end && is_word(s->at[n + 1]))))
		n++;
	put(s, n);
}

static bool put_token(struct scan *s)
{
	char c = *s->at;

	if (c == '"' || c == '\'')
		return put_quoted(s);
	if (isdigit((unsigned char)c))
		put_number(s);
	else if (is_word(c))
		return put_word(s);
	else if (c == '\\' && is_at(s, "\\\n"))
		put(s, 2);
	else if (c < ' ' || c == '\\')
		return false;
	else
		put(s, 1);
	return true;
}

bool c_form(const char *text, size_t len, struct buf *out)
{
	struct scan s = { .at = text, .end = text + len, .out = out };
	/*
	 * The number of a line depends on comments; a spliced line, and a trigraph, may hide where a comment begins or ends; a
	 * directive may begin with another spelling of #.
	 */
	static const char *const unclear[] = { "__LINE__", "__builtin_LINE", "source_location", "?\?/", "?\?=", "%:", "/\\\n",
		"*\\\n", "\\\r" };

	for (size_t i = 0; i < sizeof unclear / sizeof unclear[0]; i++)
		if (memmem(text, len, unclear[i], strlen(unclear[i])))
			return false;
	bool is_clear = skip_gap(&s);

	while (is_clear && s.at < s.end) {
		put_gap(&s);
		is_clear = put_token(&s) && skip_gap(&s);
	}
	return is_clear && !out->failed;
}
