#include "flopwatchd/job/internal.h"

#include <stdlib.h>

#include "db/db.h"

enum { SIDES = 2 };

struct cell_pair {
	struct store_runs cell, baseline;
};

static double median(const float *values, int n)
{
	float sorted[STATS_PAIRS_MAX];

	n = n > STATS_PAIRS_MAX ? STATS_PAIRS_MAX : n;
	memcpy(sorted, values, (size_t)n * sizeof *sorted);
	return stats_median(sorted, n);
}

static void sum_runs(const struct cell_pair *p, struct over_baseline *out)
{
	double sum[SIDES] = { 0 };

	for (int i = 0; i < p->cell.n; i++)
		for (int k = 0; k < p->baseline.n; k++) {
			const struct run_pairs *a = &p->cell.pairs[i], *b = &p->baseline.pairs[k];

			if (p->cell.process_run[i] != p->baseline.process_run[k] || a->n < 1 || b->n < 1)
				continue;
			sum[0] += log(median(b->base_ms, b->n) / median(a->base_ms, a->n));
			sum[1] += log(median(b->target_ms, b->n) / median(a->target_ms, a->n));
			out->runs++;
		}
	for (int side = 0; side < SIDES; side++)
		out->speed[side] = out->runs ? exp(sum[side] / out->runs) : NAN;
}

int over_baseline_read(
	struct db *db, int64_t cell, int64_t baseline, enum series series, struct over_baseline *out, struct fw_err *err)
{
	struct cell_pair *p = calloc(1, sizeof *p);

	*out = (struct over_baseline){ .speed = { NAN, NAN } };
	if (!p)
		return err_set(err, ERR_INTERNAL, "out of memory");
	int result = store_cell_runs(db, cell, series, &p->cell, err);

	if (result == 0) {
		result = store_cell_runs(db, baseline, series, &p->baseline, err);
		if (result == 0 && p->cell.raw && p->baseline.raw)
			sum_runs(p, out);
		buf_fini(&p->baseline.values);
	}
	buf_fini(&p->cell.values);
	free(p);
	return result;
}
