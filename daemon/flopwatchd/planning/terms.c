/* terms.c - see terms.h. */
#include "flopwatchd/planning/terms.h"

#include <string.h>

#include "flopwatchd/history/reanchor.h"

void terms_set(struct plan *p, const struct store_job *job, bool is_benchmark)
{
	if (job->quick) { /* a look, not a verdict: what one launch shows */
		p->ask.rule.launches_max = 1;
		p->ask.rule.confirm = false;
	}
	if (!strcmp(job->origin, REANCHOR_ORIGIN)) { /* a measurement that many others will stand on */
		p->ask.rule.launches_ok_min = p->ask.rule.launches_regression_min = p->ask.rule.launches_max;
		p->ask.rule.confirm = false;
	}
	if (p->ask.kind == JOBKIND_PEER) /* how far behind, not whether somebody has to be called */
		p->ask.rule.confirm = false;
	for (int i = 0; i < p->ask.n_cells && job->threshold_pct > 0; i++)
		p->ask.cell[i].threshold_pct = job->threshold_pct;
	for (int i = 0; is_benchmark && i < p->ask.n_subjects && job->threshold_pct > 0; i++)
		p->ask.subject[i].run.threshold_pct = job->threshold_pct;
}
