#include "flopwatchd/plan/plan.h"

#include <stdio.h>

#define MANIFEST ".flopwatch.yaml"
enum { SUITE_BYTES_MAX = 1 << 20, GUESS_DISTANCE = 3 };

/* Write "branch topic", or the commit if there is no branch. */
static void name_target(const struct store_job *job, char *text, size_t size)
{
	if (job->branch[0])
		snprintf(text, size, "branch %.100s", job->branch);
	else
		snprintf(text, size, "commit %.12s", job->target_sha);
}

/* Write the position of `upstream`: " (flopwatchd.yml:7:12: repos[0].upstream)", "" unknown. */
static void name_upstream(const struct config_repo *repo, char *text, size_t size)
{
	char position[640];
	config_position(repo, repo->upstream_at, "upstream", -1, position, sizeof position);
	size_t len = strlen(position);
	text[0] = 0;
	if (len > 2)
		snprintf(text, size, " (%.*s)", (int)len - 2, position);
}

void refusal_contained(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE])
{
	char position[660];
	name_upstream(repo, position, sizeof position);
	snprintf(why, REFUSAL_SIZE,
		"branch %.100s has no commit that its upstream %.60s%.400s lacks, so it would be compared with itself; to "
		"compare it "
		"with another commit: flopwatch compare COMMIT %.100s",
		job->branch, repo->upstream, position, job->branch);
}

void refusal_unrelated(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE])
{
	char position[660], target[120];
	name_upstream(repo, position, sizeof position);
	name_target(job, target, sizeof target);
	snprintf(why, REFUSAL_SIZE,
		"%s has no commit in common with its upstream %.60s%.400s, so there is nothing to compare it with; name a "
		"commit: "
		"flopwatch compare COMMIT %.100s",
		target, repo->upstream, position, job->branch[0] ? job->branch : job->target_sha);
}

static int find_name(const char (*names)[64], int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* Write "commit 0123456789ab: .flopwatch.yaml:4:10: suites[0]: ". */
static void position_in_manifest(
	const char *commit, struct yaml_position at, const char *list, int i, char position[REFUSAL_SIZE])
{
	snprintf(position, REFUSAL_SIZE, "commit %.12s: " MANIFEST ":%d:%d: %s[%d]: ", commit, at.line, at.column, list, i);
}

void refusal_suite_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *name,
	char position[REFUSAL_SIZE])
{
	position[0] = 0;
	int i = find_name(repo->suite, repo->n_suites, name);
	if (i >= 0) {
		config_position(repo, repo->suite_at[i], "suites", i, position, REFUSAL_SIZE);
		return;
	}
	i = repo->n_suites ? -1 : find_name(m->suite, m->n_suites, name);
	if (i >= 0 && m->suite_at[i].line)
		position_in_manifest(commit, m->suite_at[i], "suites", i, position);
}

/* Find the nearest name: a suite of the base, or a benchmark of the commit; NULL none. */
static const char *find_nearest(const char *name, const struct manifest *own, const struct manifest *base)
{
	const char *nearest = NULL;
	int least = GUESS_DISTANCE + 1;
	for (int i = 0; i < base->n_suites + own->n_benchmarks; i++) {
		const char *candidate = i < base->n_suites ? base->suite[i] : own->benchmark[i - base->n_suites].name;
		int distance = similar_distance(name, candidate);
		if (distance < least && distance < (int)strlen(candidate) && distance > 0) {
			least = distance;
			nearest = candidate;
		}
	}
	return nearest;
}

static int refuse_suite(const struct gitread_commit *c, const struct manifest *own, const struct manifest *base, int i,
	const char *installed, struct fw_err *err)
{
	char position[REFUSAL_SIZE] = "", path[2][MANIFEST_TEXT_SIZE];
	const char *meant = find_nearest(own->suite[i], own, base);
	plan_suite_paths(own->suite[i], path);
	position_in_manifest(c->commit.sha, own->suite_at[i], "suites", i, position);
	return err_set(err, ERR_INVALID,
		"%.200sthere is no suite %s: the commit has neither %.120s nor %.120s, and there is no %.200s%s%s%s", position,
		own->suite[i], path[0], path[1], installed, meant ? "; did you mean `" : "", meant ? meant : "",
		meant ? "`?" : "");
}

int refusal_of_suites(const struct config *config, const struct gitread_commit *c, const struct manifest *own,
	const struct manifest *base, struct fw_err *err)
{
	char file[1024];
	int result = 0;
	struct buf text;
	buf_init(&text, SUITE_BYTES_MAX);
	for (int i = 0; i < own->n_suites && result == 0; i++) {
		struct suite suite;
		bool installed;
		if (!own->suite_at[i].line || manifest_benchmark(own, own->suite[i]))
			continue;
		int got = strchr(own->suite[i], '/') || own->suite[i][0] == '.'
				  ? 0
				  : plan_find_suite(config, c, own->suite[i], &text, file, &installed, err);
		if (got < 1) {
			result = got < 0 ? -1 : refuse_suite(c, own, base, i, file, err);
		} else if (!installed) { /* an installed suite is not the commit's fault */
			result = suite_parse(text.data, text.len, file, &suite, err);
			if (result == 0)
				suite_fini(&suite);
			else
				err_context(err, "commit %.12s", c->commit.sha);
		}
	}
	buf_fini(&text);
	return result;
}

int refusal_of_build(
	const struct config_repo *repo, const struct manifest *m, const char *commit, const char *suite, struct fw_err *err)
{
	char position[REFUSAL_SIZE];

	if (m->build.n_command > 0)
		return 0;
	refusal_suite_position(repo, m, commit, suite, position);
	return err_set(err, ERR_INVALID,
		"%.300ssuite %s times modules, and " MANIFEST " of commit %.12s has no build for them; add build: {command: "
		"[make], outputs: {FAMILY: FILE}}, or take %s from its suites",
		position, suite, commit, suite);
}

void refusal_peer_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *provider,
	char position[REFUSAL_SIZE])
{
	int i = repo->has_peers ? peers_find(&repo->peers, provider) : peers_find(&m->peers, provider);
	position[0] = 0;
	if (i >= 0 && repo->has_peers)
		config_position(repo, repo->peers.of[i].at, "peers", i, position, REFUSAL_SIZE);
	else if (i >= 0 && m->peers.of[i].at.line)
		position_in_manifest(commit, m->peers.of[i].at, "peers", i, position);
}

static const struct msg_check *find_unknown_provider(const struct result *r)
{
	for (int i = 0; i < r->n_checks; i++)
		if (!r->check[i].ok && strcmp(r->check[i].failure, "provider") == 0 && r->check[i].role != ROLE_REFERENCE)
			return &r->check[i];
	return NULL;
}

static bool lacks_rows(const struct result *r, const struct store_job *job)
{
	if (!job->cells_glob[0] || !plan_is_benchmark(&r->plan) || r->identical_by[0] || job->kind == JOBKIND_BISECT)
		return false;
	for (int i = 0; i < r->n_faults; i++)
		if (r->fault[i].cell < 0)
			return false;
	for (int i = 0; i < 2; i++)
		if (strcmp(r->build[i].state, "failed") == 0)
			return false;
	for (int i = 0; i < r->plan.request.n_cells; i++)
		if (suite_matches(r->plan.request.cell[i].key, job->cells_glob))
			return false;
	return true;
}

bool refusal_of_result(const struct result *r, const struct store_job *job, char why[REFUSAL_SIZE])
{
	const struct msg_check *check = find_unknown_provider(r);
	if (check) {
		int side = result_side(r, check->role);
		bool is_base = check->role == ROLE_BASE;
		snprintf(why, REFUSAL_SIZE, "%.400s%s %.12s: %.500s", is_base ? r->plan.provider_position : "",
			role_name(check->role), r->plan.request.side[side].commit, check->detail);
		return true;
	}
	if (!lacks_rows(r, job))
		return false;
	snprintf(why, REFUSAL_SIZE, "no row of benchmark %.64s matches %.200s; it writes %.200s%s", r->plan.suite_name,
		job->cells_glob, r->plan.request.n_cells ? r->plan.request.cell[0].key : "none",
		r->plan.request.n_cells > 1 ? " and others" : "");
	return true;
}
