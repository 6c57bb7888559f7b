/* side_names.c - names of sides as parts of file names. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static void replace_others(char *name)
{
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p))
			*p = '-';
	if (name[0] == '.')
		name[0] = '-';
}

void side_names(const struct side_label side[2], char name[2][SIDE_NAME_SIZE])
{
	for (int i = 0; i < 2; i++) {
		const struct side_label *s = &side[i];
		snprintf(name[i], SIDE_NAME_SIZE, "%.*s%s%s", *s->name ? 70 : 12, *s->name ? s->name : s->commit,
			*s->provider ? "-" : "", s->provider);
		replace_others(name[i]);
	}
	if (strcmp(name[0], name[1]) == 0)
		snprintf(name[1], SIDE_NAME_SIZE, "%.100s-%.12s", name[0],
			strcmp(side[0].commit, side[1].commit) != 0 ? side[1].commit : "again");
}
