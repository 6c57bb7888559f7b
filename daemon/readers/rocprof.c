/* rocprof.c - statistics of rocprof and rocprofv3. */
#include "readers/internal.h"

#include <math.h>

struct statistics {
	int name, average; /* columns */
};

static int read_kernel(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct statistics *s = columns;

	return table_add(out, c, h, s->average, "ns", c->cell[s->name], NAN, err);
}

int read_rocprof(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct statistics s = { -1, -1 };
	struct table_header h;
	struct csv c;

	(void)how;
	csv_init(&c, text, len, file);
	int result = table_header_read(&c, &h, err);

	if (result == 0)
		result = (s.name = table_require_column(&c, &h, "Name", err)) < 0 ||
					 (s.average = table_require_column(&c, &h, "AverageNs", err)) < 0
				 ? -1
				 : table_each(out, &c, &h, read_kernel, &s, err);
	csv_fini(&c);
	return result;
}
