/* pairs.c - see pairs.c. */
#include "web/http/internal.h"

#include "lib/lib.h"

/* '+' is a space. */
static int decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from == '+' ? ' ' : *from;
			continue;
		}
		int byte = percent_byte(from);
		if (byte <= 0)
			return -1;
		*to++ = (char)byte;
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
	return pairs_at(p, name, 0);
}

const char *pairs_at(const struct pairs *p, const char *name, int n)
{
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->pair[i].name, name) == 0 && n-- == 0)
			return p->pair[i].value;
	return NULL;
}

static bool is_among(const char *name, const char *known)
{
	size_t len = strlen(name);
	for (; *known; known += strcspn(known, " "), known += *known == ' ')
		if (strcspn(known, " ") == len && memcmp(known, name, len) == 0)
			return true;
	return false;
}

const char *pairs_unknown(const struct pairs *p, const char *known)
{
	for (int i = 0; i < p->n; i++)
		if (!is_among(p->pair[i].name, known))
			return p->pair[i].name;
	return NULL;
}
