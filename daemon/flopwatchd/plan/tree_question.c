#include "flopwatchd/plan/internal.h"

#include "flopwatchd/job/job.h"

static bool is_suite_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

void tree_question(
	struct tree_question *q, const char *repo_path, const char *sha, const struct manifest *m, char suite[][64], int n_suites)
{
	const char *begin[] = { "tree", "--repo", repo_path, "--commit", sha, "--blob", ".flopwatch.yaml" };
	int n = sizeof begin / sizeof *begin;
	memcpy(q->arg, begin, sizeof begin);
	for (int i = 0; i < m->n_inputs; i++) {
		q->arg[n++] = "--oid";
		q->arg[n++] = m->input[i];
	}
	for (int i = 0; i < n_suites; i++) {
		if (!is_suite_name(suite[i])) /* refused later */
			continue;
		plan_suite_paths(suite[i], q->suite_path[i]);
		for (int k = 0; k < 2; k++) {
			q->arg[n++] = "--blob";
			q->arg[n++] = q->suite_path[i][k];
		}
	}
	q->arg[n] = NULL;
}

static bool was_requested(const struct gitread_commit *c, const char *path)
{
	for (int i = 0; i < c->n_blobs; i++)
		if (!strcmp(c->blob[i].path, path))
			return true;
	return false;
}

bool tree_is_covered(const struct gitread_commit *c, const struct manifest *m, char suite[][64], int n_suites)
{
	const char *oid;
	char path[2][MANIFEST_TEXT_SIZE];
	for (int i = 0; i < m->n_inputs; i++)
		if (!gitread_oid(c, m->input[i], &oid))
			return false;
	for (int i = 0; i < n_suites; i++) {
		plan_suite_paths(suite[i], path);
		if (is_suite_name(suite[i]) && !was_requested(c, path[0]))
			return false;
	}
	return true;
}
