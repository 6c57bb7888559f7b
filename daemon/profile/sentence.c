/* sentence.c - text of causes. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>

#define NEARLY_ALL 0.9

enum { ARGUMENTS_MAX = 40 };

/* "f<128, (int)1>" becomes "f<128, 1>": demanglers add the type of each number. */
static void drop_casts(char *name)
{
	char *to = name;

	for (const char *at = name; *at; at++) {
		const char *close = *at == '(' ? strchr(at, ')') : NULL;

		if (close && at > name && (close[1] == '-' || (close[1] >= '0' && close[1] <= '9')))
			at = close;
		else
			*to++ = *at;
	}
	*to = '\0';
}

void sentence_kernel(const char *name, char *out)
{
	const char *from = name, *end = name + strlen(name), *arguments = NULL;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		if (*at == '<' && depth++ == 0)
			arguments = at;
		else if (*at == '>')
			depth -= depth > 0;
		else if (depth > 0)
			continue;
		else if (*at == '(' && strncmp(at, "(anonymous namespace)", 21) == 0)
			at += 20;
		else if (*at == '(') {
			end = at;
			break;
		} else if (*at == ' ' || *at == ':') {
			from = at + 1;
			arguments = NULL;
		}
	}
	if (arguments && end - arguments > ARGUMENTS_MAX)
		end = arguments;
	if (end <= from) {
		from = name;
		end = name + strlen(name);
	}
	snprintf(out, CAUSE_NAME_SIZE, "%.*s", (int)(end - from), from);
	drop_casts(out);
	sentence_plain(out);
}

void sentence_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

void sentence_ms(double ms, char *out)
{
	snprintf(out, 16, fabs(ms) >= 999.5 ? "%.0f" : "%.3g", ms);
}

static const char *change_verb(const struct cause *c)
{
	return c->of_ms < 0 ? "gained" : "lost";
}

static void write_open(struct cause *c, const char *why)
{
	char left[16], of[16];

	sentence_ms(fabs(c->explained_ms), left);
	sentence_ms(fabs(c->of_ms), of);
	snprintf(c->sentence, sizeof c->sentence, "%s of the %s ms that a call %s are not explained%.100s", left, of,
		change_verb(c), why);
}

void sentence_write(struct cause *c, const char *what, double own_ms)
{
	char explained[16], of[16], own[16];
	const char *space = c->kernel[0] ? " " : "";

	if (c->kind == CAUSE_NOT_EXPLAINED) {
		write_open(c, what);
		return;
	}
	sentence_ms(fabs(c->explained_ms), explained);
	sentence_ms(fabs(c->of_ms), of);
	sentence_ms(fabs(own_ms), own);
	int used = snprintf(c->sentence, sizeof c->sentence, "%.100s%s%.200s", c->kernel, space, what);
	size_t size = sizeof c->sentence - (size_t)used;
	char *to = c->sentence + used;

	if (c->confidence == CAUSE_SEEN && own_ms * c->of_ms > 0)
		snprintf(to, size, "; the kernel is %s of %s ms %s", own, of, c->of_ms < 0 ? "faster" : "slower");
	else if (c->confidence == CAUSE_SEEN)
		snprintf(to, size, "; cost not measured");
	else if (c->confidence == CAUSE_FOLLOWS)
		snprintf(to, size, "; a consequence of the causes above");
	else if (c->kind == CAUSE_CONFIG && c->explained_ms / c->of_ms > NEARLY_ALL)
		snprintf(to, size, ": %s of the %s ms that a call %s; with the base's configuration the %s is gone", explained,
			of, change_verb(c), c->of_ms < 0 ? "gain" : "slowdown");
	else
		snprintf(to, size, ": %s of the %s ms that a call %s", explained, of, change_verb(c));
}

void sentence_add_how(struct cause *c, const char *kernel, const char *what)
{
	size_t used = strlen(c->sentence);

	snprintf(c->sentence + used, sizeof c->sentence - used, "; %.60s %s", kernel, what);
}
