#include "web/api/internal.h"

void comparison_row_write(void *arg, const struct view_comparison *row)
{
	struct jsonw *j = arg;
	jsonw_format(j,
		"{ id=%lld job=%lld repo=%s branch=%s{branch} kind=%s suite=%s verdict=%s base=%s base_how?=%s target=%s subject?=%s author?=%s identical_by?=%s device?=%s cells=%d regressions=%d runs=%d worst_pct=%g worst_cell?=%s best_pct=%g best_cell?=%s gpu_s=%g wall_s=%g finished_at=%lld{time} }",
		(long long)row->id, (long long)row->job, row->repo, row->branch, jobkind_name(row->kind), row->suite,
		verdict_name(row->verdict), row->base, row->base_how, row->target, row->subject, row->author, row->identical_by,
		row->device, row->cells, row->regressions, row->runs, row->worst_pct, row->worst_cell, row->best_pct,
		row->best_cell, row->gpu_s, row->wall_s, (long long)row->finished_at);
}
