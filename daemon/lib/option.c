/* option.c - long options of a program, read by a table. */
#include "lib/lib.h"

#include <getopt.h>
#include <stdio.h>

enum { OPTIONS_MAX = 32, FIRST = 256, USAGE = 2 };

int option_read(int argc, char **argv, const struct option_row *row)
{
	struct option options[OPTIONS_MAX + 1] = { 0 };
	int n = 0, at, status = OPTION_NEXT;

	for (; row[n].name && n < OPTIONS_MAX; n++)
		options[n] = (struct option){ row[n].name, row[n].flag || row[n].print ? no_argument : required_argument, NULL,
			FIRST + n };
	while (status == OPTION_NEXT && (at = getopt_long(argc, argv, "", options, NULL)) != -1) {
		const struct option_row *r = at < FIRST ? NULL : &row[at - FIRST];

		if (r && r->flag)
			*r->flag = true;
		else if (r && r->text)
			*r->text = optarg;
		else if (r && r->take)
			status = r->take(optarg);
		else
			status = !r ? USAGE : fputs(r->print, stdout) < 0;
	}
	return status;
}
