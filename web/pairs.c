/* pairs.c - see pairs.h. */
#include "web/pairs.h"

#include <stddef.h>
#include <string.h>

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* '+' is a space. */
static int decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from == '+' ? ' ' : *from;
			continue;
		}
		int high = hex_value(from[1]), low = high < 0 ? -1 : hex_value(from[2]);
		if (low < 0 || (high == 0 && low == 0))
			return -1;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

int pairs_split(struct pairs *p, char *text)
{
	p->n = 0;
	for (char *save = NULL, *part = strtok_r(text, "&", &save); part; part = strtok_r(NULL, "&", &save)) {
		if (p->n == PAIRS_MAX)
			return -1;
		char *value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		else
			value = part + strlen(part);
		if (decode(part) != 0 || decode(value) != 0)
			return -1;
		p->pair[p->n].name = part;
		p->pair[p->n++].value = value;
	}
	return 0;
}

const char *pairs_get(const struct pairs *p, const char *name)
{
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->pair[i].name, name) == 0)
			return p->pair[i].value;
	return NULL;
}
