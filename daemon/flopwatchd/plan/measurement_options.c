#include "flopwatchd/plan/internal.h"

#include "flopwatchd/history/history.h"
#include "flopwatchd/job/job.h"

enum { REREFERENCE_RUNS = 12 };

/** A profile has the largest cell of each group and direction, or the first cells of a suite if it covers every cell. */
static void limit_cells(struct plan *p, const struct store_job *job)
{
	struct profile_cells most = { .n = 0 };
	char words[EVIDENCE_CELLS_MAX * CASE_KEY_SIZE];
	int kept = 0;
	if (job->every_cell && p->request.n_cells > EVIDENCE_SUITE_MAX)
		p->request.n_cells = EVIDENCE_SUITE_MAX;
	if (job->every_cell || p->request.n_cells <= EVIDENCE_CELLS_MAX)
		return;
	for (int i = 0; i < p->request.n_cells; i++) {
		const struct cell *c = &p->request.cell[i];
		profile_cells_add(&most, c->key, c->group, direction_name(c->direction), case_flops(c));
	}
	profile_cells_choose(&most, EVIDENCE_CELLS_MAX);
	profile_cells_words(&most, words, sizeof words);
	for (int i = 0; i < p->request.n_cells; i++)
		if (suite_matches(p->request.cell[i].key, words))
			p->request.cell[kept++] = p->request.cell[i];
	p->request.n_cells = kept;
}

void set_measurement_options(struct plan *p, const struct store_job *job, bool is_benchmark)
{
	if (job->quick) { /* one run without a verdict is enough */
		p->request.rule.runs_max = 1;
		p->request.rule.confirm = false;
	}
	if (!strcmp(job->origin, REREFERENCE_ORIGIN)) { /* many later measurements depend on this one */
		p->request.rule.runs_ok_min = p->request.rule.runs_regression_min =
			p->request.rule.runs_max < REREFERENCE_RUNS ? p->request.rule.runs_max : REREFERENCE_RUNS;
		p->request.rule.confirm = false;
	}
	if (p->request.kind == JOBKIND_PROFILE)
		limit_cells(p, job);
	bool opens_alert = p->request.kind == JOBKIND_ENVIRONMENT;
	/* shows a distance, not a regression: no alert depends on it */
	if (jobkind_is_side_by_side(p->request.kind) && !opens_alert)
		p->request.rule.confirm = false;
	for (int i = 0; i < p->request.n_cells && job->threshold_pct > 0; i++)
		p->request.cell[i].threshold_pct = job->threshold_pct;
	for (int i = 0; is_benchmark && i < p->request.n_subjects && job->threshold_pct > 0; i++)
		p->request.subject[i].run.threshold_pct = job->threshold_pct;
}
