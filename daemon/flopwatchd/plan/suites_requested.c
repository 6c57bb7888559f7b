#include "flopwatchd/plan/internal.h"

static int copy_suites(const char (*names)[64], int n, char out[SUITES_REQUESTED_MAX][64])
{
	memcpy(out, names, (size_t)n * sizeof *names);
	return n;
}

bool suites_of_target(const struct store_job *job, const struct config_repo *repo)
{
	return !job->suite[0] && !repo->n_suites && job->kind == JOBKIND_COMPARE;
}

int suites_requested(const struct store_job *job, const struct config_repo *repo, enum suites_side side, const struct manifest *m,
	char out[SUITES_REQUESTED_MAX][64])
{
	if (side == SUITES_OF_REFERENCE || (side == SUITES_OF_TARGET && !suites_of_target(job, repo)))
		return 0;
	if (side == SUITES_OF_BASE && job->suite[0])
		return copy_suites(&job->suite, 1, out);
	if (side == SUITES_OF_BASE && repo->n_suites)
		return copy_suites(repo->suite, repo->n_suites, out);
	return copy_suites(m->suite, m->n_suites, out);
}

const char *suites_likely(const struct store_job *job, const struct config_repo *repo, const struct manifest *target)
{
	if (job->suite[0])
		return job->suite;
	if (repo->n_suites)
		return repo->suite[0];
	return target->n_suites ? target->suite[0] : "";
}
