/* nsys.c - CSV of nsys stats. */
#include "readers/internal.h"

#include <stdio.h>

enum { NAME_SIZE = TABLE_KEY_SIZE - 128 }; /* space for the grid and the block */

struct sums {
	int name, grid, block; /* columns, -1 none */
	int n;                 /* statistics */
	struct {
		int at;
		double unit_ms;
		const char *name;
		int rank;
	} time[2];
};

/* Old files write "Average" in ns without a unit. */
static bool is_statistic(const char *column, const char *brief, const char *full, double *unit_ms)
{
	char series[TABLE_NAME_SIZE], unit[COLUMN_UNIT_SIZE];

	(void)column_split(column, series, sizeof series, unit);
	*unit_ms = unit_to_ms(unit[0] ? unit : "ns");
	return *unit_ms > 0 && (strcmp(series, brief) == 0 || strcmp(series, full) == 0);
}

/* Only sums of kernels have instances of a name; API calls have numbers of calls, copies have counts of an operation. */
static bool find_columns(const struct table_header *h, struct sums *s)
{
	*s = (struct sums){
		.name = table_column(h, "Name"), .grid = table_column(h, "GridXYZ"), .block = table_column(h, "BlockXYZ")
	};
	for (int rank = 0; rank < 2; rank++)
		for (int i = 0; i < h->n; i++) {
			double unit_ms;

			if (!is_statistic(h->name[i], rank ? "Avg" : "Med", rank ? "Average" : "Median", &unit_ms))
				continue;
			s->time[s->n].at = i;
			s->time[s->n].unit_ms = unit_ms;
			s->time[s->n].name = rank ? READING_MEAN : READING_MEDIAN;
			s->time[s->n++].rank = rank;
			break;
		}
	return s->name >= 0 && s->n > 0 && table_column(h, "Instances") >= 0;
}

static int read_kernel(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct sums *s = columns;
	char key[TABLE_KEY_SIZE], why[READING_WHY_SIZE], where[TABLE_POSITION_SIZE];
	const char *unfit = NULL;
	struct reading_time time[2];
	int n = 0;

	table_name(c->cell[s->name], strlen(c->cell[s->name]), key, NAME_SIZE);
	if (s->grid >= 0)
		table_put(key, "grid", c->cell[s->grid]);
	if (s->block >= 0)
		table_put(key, "block", c->cell[s->block]);
	for (int i = 0; i < s->n; i++) {
		double value;
		const char *wrong = table_unfit(c->cell[s->time[i].at], &value, why);

		if (!wrong && reading_is_time(value * s->time[i].unit_ms))
			time[n++] = (struct reading_time){ s->time[i].name, s->time[i].rank, value * s->time[i].unit_ms };
		else
			unfit = wrong ? wrong : "its time is out of range";
	}
	return n > 0 ? reading_state(out, key, time, n, table_position(where, c, h->name[s->time[0].at]), err)
		     : reading_skip(out, key, err, "%s", unfit);
}

/* An empty line ends a report; others may follow. */
static size_t end_of_report(const char *text, size_t at, size_t len)
{
	struct text_line line = text_begin(text + at, len - at);

	while (text_next(&line))
		if (line.n == 0)
			return (size_t)(line.at - text);
	return len;
}

int read_nsys(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct sums sums;
	struct csv c;
	int tables = 0, result = 0;

	(void)how;
	csv_init(&c, text, len, file);
	while (result == 0 && table_seek(&c, "Total Time")) {
		c.len = end_of_report(text, c.at, len);
		result = table_header_read(&c, &h, err) == 0 ? 0 : -1;
		if (result == 0 && find_columns(&h, &sums)) {
			tables++;
			result = table_each(out, &c, &h, read_kernel, &sums, err);
		}
		c.at = c.len;
		c.len = len;
	}
	csv_fini(&c);
	if (result == 0 && tables == 0)
		return err_set(err, ERR_INVALID,
			"%s: holds no sums of kernels; let nsys write them: nsys stats --report cuda_gpu_kern_sum --format csv",
			file);
	return result;
}
