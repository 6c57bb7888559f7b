#include "web/api/internal.h"

#include "web/answer/answer.h"

void comparison_row_write(void *arg, const struct view_comparison *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_int(j, "job", row->job);
	jsonw_kv_string(j, "repo", row->repo);
	answer_branch(j, row->branch);
	jsonw_kv_string(j, "kind", jobkind_name(row->kind));
	jsonw_kv_string(j, "suite", row->suite);
	jsonw_kv_string(j, "verdict", verdict_name(row->verdict));
	jsonw_kv_string(j, "base", row->base);
	answer_text(j, "base_how", row->base_how);
	jsonw_kv_string(j, "target", row->target);
	answer_text(j, "subject", row->subject);
	answer_text(j, "author", row->author);
	answer_text(j, "identical_by", row->identical_by);
	answer_text(j, "device", row->device);
	jsonw_kv_int(j, "cells", row->cells);
	jsonw_kv_int(j, "regressions", row->regressions);
	jsonw_kv_int(j, "runs", row->runs);
	jsonw_kv_figure(j, "worst_pct", row->worst_pct);
	answer_text(j, "worst_cell", row->worst_cell);
	jsonw_kv_figure(j, "best_pct", row->best_pct);
	answer_text(j, "best_cell", row->best_cell);
	jsonw_kv_figure(j, "gpu_s", row->gpu_s);
	jsonw_kv_figure(j, "wall_s", row->wall_s);
	answer_time(j, "finished_at", row->finished_at);
	jsonw_object_end(j);
}
