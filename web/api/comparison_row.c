#include "web/api/internal.h"

void comparison_row_write(void *arg, const struct view_comparison *row)
{
	struct jsonw *j = arg;
	answer_object(j,
		"id %lld job %lld repo %s branch %s{branch} kind %s suite %s verdict %s base %s base_how %s{null} target %s "
		"subject %s{null} author %s{null} identical_by %s{null} device %s{null} cells %d regressions %d runs %d "
		"worst_pct %f worst_cell %s{null} best_pct %f best_cell %s{null} gpu_s %f wall_s %f "
		"finished_at %lld{time}",
		(long long)row->id, (long long)row->job, row->repo, row->branch, jobkind_name(row->kind), row->suite,
		verdict_name(row->verdict), row->base, row->base_how, row->target, row->subject, row->author, row->identical_by,
		row->device, row->cells, row->regressions, row->runs, row->worst_pct, row->worst_cell, row->best_pct,
		row->best_cell, row->gpu_s, row->wall_s, (long long)row->finished_at);
}
