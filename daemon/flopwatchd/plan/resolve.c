/*
 * resolve.c - a job's three queries to git, one after the other: the target's tree, its base, the base's tree; and, once it has a
 * device, the tree of the reference commit.
 */
#include "flopwatchd/plan/internal.h"

#include <math.h>

#include "flopwatchd/history/history.h"

/* ---- ancestor: The search along the first parents, from the newest to the oldest. ---- */

struct ancestor_search {
	struct db *db;
	const struct ancestor_request *request;
	const struct gitread_base *ancestry;
	bool is_rewritten;
	int from; /* index of the first permitted base */
	struct ancestor *out;
};

static int find_index(const struct gitread_base *ancestry, const char *sha)
{
	for (int i = 0; i < ancestry->n_first_parents; i++)
		if (!strcmp(ancestry->first_parent[i], sha))
			return i;
	return -1;
}

static int set_base(struct ancestor_search *s, const char *sha)
{
	snprintf(s->out->sha, sizeof s->out->sha, "%s", sha);
	s->out->how = s->is_rewritten ? "last-judged" : "first-parent";
	return 1;
}

/* The merge-base is enough if it or the last judged tip is complete. Returns 1 chosen, 0, -1. */
static int try_merge_base(struct ancestor_search *s, const char *suite, struct store_base *tip, struct fw_err *err)
{
	struct store_base fork;
	if (store_base_get(s->db, s->request->repo, s->request->branch, s->request->last_judged, suite, tip, err) != 0 ||
		store_base_get(s->db, s->request->repo, s->request->branch, s->ancestry->merge_base, suite, &fork, err) != 0)
		return -1;
	bool reported = tip->state == STORE_BASE_COMPLETE || fork.state == STORE_BASE_COMPLETE;
	return reported ? set_base(s, s->ancestry->merge_base) : 0;
}

/* Search by the comparisons of this suite. Returns 1 found, 0 none, -1. */
static int search_ancestry(struct ancestor_search *s, const char *suite, struct fw_err *err)
{
	const struct gitread_base *ancestry = s->ancestry;
	struct store_base newest = { .state = STORE_BASE_UNKNOWN }, one;
	s->out->undecided = s->out->slower = 0;
	int got = s->is_rewritten ? try_merge_base(s, suite, &newest, err) : 0;
	if (got)
		return got;
	if (newest.state == STORE_BASE_OPEN && find_index(ancestry, newest.base_sha) < s->from)
		newest.state = STORE_BASE_UNKNOWN; /* no longer in the history, too */
	for (int i = s->from; i < ancestry->n_first_parents; i++) {
		const char *sha = ancestry->first_parent[i];
		if (store_base_get(s->db, s->request->repo, s->request->branch, sha, suite, &one, err) != 0)
			return -1;
		if (one.state == STORE_BASE_COMPLETE) {
			s->out->undecided = one.undecided;
			s->out->slower = one.slower;
			return set_base(s, sha);
		}
		/* a commit compared with itself shows nothing about older commits */
		if (one.state == STORE_BASE_OPEN && newest.state == STORE_BASE_UNKNOWN && strcmp(one.base_sha, sha) != 0)
			newest = one;
	}
	bool is_held = newest.state == STORE_BASE_OPEN && newest.base_sha[0] && strcmp(newest.base_sha, s->request->target) != 0;
	return is_held ? set_base(s, newest.base_sha) : 0;
}

/*
 * Choose the newest first parent that is complete: none of its cells is open (db/base.c). After a force-push choose none
 * newer than the merge-base with the last judged tip; the merge-base is enough if it or that tip is complete. Commits that could
 * not be measured are skipped, however many: their regressions must stay between the base and the next measurable commit. Without
 * a complete first parent: the base of the newest compared one; without a comparison by this suite: the result for another suite;
 * else the first parent, else the commit itself.
 */
static int ancestor_choose(struct db *db, const struct ancestor_request *request, const struct gitread_base *ancestry,
	struct ancestor *out, struct fw_err *err)
{
	struct ancestor_search s = { .db = db, .request = request, .ancestry = ancestry, .out = out };
	*out = (struct ancestor){ .sha = "" };
	bool is_followed = !request->last_judged[0] || find_index(ancestry, request->last_judged) >= 0;
	s.is_rewritten = !is_followed && ancestry->merge_base[0] && strcmp(ancestry->merge_base, request->target) != 0;
	int fork = find_index(ancestry, ancestry->merge_base);
	s.from = s.is_rewritten && fork >= 0 ? fork : 0;
	if (s.is_rewritten && fork < 0) /* merged in: no first parent is known to be older */
		return set_base(&s, ancestry->merge_base) == 1 ? 0 : -1;
	int got = search_ancestry(&s, request->suite, err);
	if (got == 0 && request->suite[0])
		got = search_ancestry(&s, "", err);
	if (got != 0)
		return got < 0 ? -1 : 0;
	if (s.is_rewritten) {
		set_base(&s, ancestry->merge_base);
	} else if (ancestry->n_first_parents) {
		set_base(&s, ancestry->first_parent[0]);
	} else {
		snprintf(out->sha, sizeof out->sha, "%s", request->target);
		out->how = "self";
	}
	return 0;
}

/* ---- measurement_options ---- */

enum { REREFERENCE_RUNS = 12 };

/** A profile has the largest cell of each group and direction, or the first cells of a suite if it covers every cell. */
static void limit_cells(struct plan *p, const struct store_job *job)
{
	struct profile_cells most = { .n = 0 };
	char words[EVIDENCE_CELLS_MAX * CASE_KEY_SIZE];
	int n_left = 0;
	if (job->every_cell && p->request.n_cells > EVIDENCE_SUITE_MAX)
		p->request.n_cells = EVIDENCE_SUITE_MAX;
	if (job->every_cell || p->request.n_cells <= EVIDENCE_CELLS_MAX)
		return;
	for (int i = 0; i < p->request.n_cells; i++) {
		const struct cell *c = &p->request.cell[i];
		profile_cells_add(&most, c->key, c->group, direction_name(c->direction), case_flops(c));
	}
	profile_cells_choose(&most, EVIDENCE_CELLS_MAX);
	profile_cells_text(&most, words, sizeof words);
	for (int i = 0; i < p->request.n_cells; i++)
		if (suite_matches(p->request.cell[i].key, words))
			p->request.cell[n_left++] = p->request.cell[i];
	p->request.n_cells = n_left;
}

/* Apply a job's options to a plan with kind, sides and cells. A profile is limited to EVIDENCE_CELLS_MAX cells. */
static void set_measurement_options(struct plan *p, const struct store_job *job, bool is_benchmark)
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
	for (int i = 0; is_benchmark && i < p->request.n_sides && job->threshold_pct > 0; i++)
		p->request.side[i].benchmark.threshold_pct = job->threshold_pct;
}

/* ---- suites_requested ---- */

static int copy_requested_suites(const char (*names)[64], int n, char out[MANIFEST_SUITES_MAX][64])
{
	memcpy(out, names, (size_t)n * sizeof *names);
	return n;
}

/* True if the branch's own suites are checked: its base's suites judge it, but its own must exist before they apply. */
static bool suites_of_target(const struct store_job *job, const struct config_repo *repo)
{
	return !job->suite[0] && !repo->n_suites && job->kind == JOBKIND_COMPARE;
}

/*
 * List suites whose files are needed of a side: for the base the job's, else the configured ones, else those of its manifest
 * `m`. Returns their number. Shape: out[MANIFEST_SUITES_MAX].
 */
static int suites_requested(const struct store_job *job, const struct config_repo *repo, enum suites_side side,
	const struct manifest *m, char out[MANIFEST_SUITES_MAX][64])
{
	if (side == SUITES_OF_REFERENCE || (side == SUITES_OF_TARGET && !suites_of_target(job, repo)))
		return 0;
	if (side == SUITES_OF_BASE && job->suite[0])
		return copy_requested_suites(&job->suite, 1, out);
	if (side == SUITES_OF_BASE && repo->n_suites)
		return copy_requested_suites(repo->suite, repo->n_suites, out);
	return copy_requested_suites(m->suite, m->n_suites, out);
}

/* Guess the suite of the commit: the base decides, and the target mostly agrees. "" unknown. */
static const char *suites_likely(const struct store_job *job, const struct config_repo *repo, const struct manifest *target)
{
	if (job->suite[0])
		return job->suite;
	if (repo->n_suites)
		return repo->suite[0];
	return target->n_suites ? target->suite[0] : "";
}

/* ---- tree_question ---- */

/* A benchmark of the manifest has no file, and an invalid name is refused later. */
static bool has_suite_file(const struct manifest *m, const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && !manifest_benchmark(m, name);
}

/*
 * Query the commit's manifest, the inputs that `m` names and the files of these suites. Own: borrows all texts, which must
 * outlive `q`. Shape: suite[n_suites <= MANIFEST_SUITES_MAX].
 */
static void tree_question(
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
		if (!has_suite_file(m, suite[i]))
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

/* True if the answer `c` covers all inputs of `m` and all these suites, present or absent. */
static bool tree_is_covered(const struct gitread_commit *c, const struct manifest *m, char suite[][64], int n_suites)
{
	const char *oid;
	char path[2][MANIFEST_TEXT_SIZE];
	for (int i = 0; i < m->n_inputs; i++)
		if (!gitread_oid(c, m->input[i], &oid))
			return false;
	for (int i = 0; i < n_suites; i++) {
		plan_suite_paths(suite[i], path);
		if (has_suite_file(m, suite[i]) && !was_requested(c, path[0]))
			return false;
	}
	return true;
}

/* ---- resolve ---- */

enum { OUTPUT_MAX = 16 << 20, GIT_DEADLINE_MS = 60000, REQUEST_AGAIN_MAX = 3, DAY_MS = 24 * 3600 * 1000 };

/* One side: queried with guessed inputs first, and again if its manifest names other inputs. */
struct side {
	struct gitread_commit *commit;
	struct manifest manifest;
	bool has_manifest;
	int requested; /* number of queries */
};

struct resolve {
	struct loop *loop;
	struct db *db;
	const struct config *config;
	const struct config_repo *repo;
	struct store_job job;
	resolve_fn *fn;
	void *arg;
	struct loop_source *start;
	struct child *git_task;
	char repo_path[4096];
	char base_sha[65], last_judged[65];
	struct gitread_base *ancestors; /* of an upstream commit whose base is not chosen yet; owned */
	bool is_chosen_again;
	bool is_fork; /* the target is code of a fork: the base's manifest applies to both sides */
	struct side target, base, reference;
	struct resolve_answer answer;
};

static void resolve_free(struct resolve *r)
{
	gitread_commit_free(r->target.commit);
	gitread_commit_free(r->base.commit);
	gitread_commit_free(r->reference.commit);
	plan_fini(&r->answer.plan);
	free(r->ancestors);
	free(r);
}

void resolve_cancel(struct resolve *r)
{
	if (!r)
		return;
	loop_remove(r->loop, r->start);
	child_cancel(r->git_task);
	resolve_free(r);
}

static void finish(struct resolve *r)
{
	r->fn(r->arg, &r->answer);
	resolve_free(r);
}

static void end_job(struct resolve *r, enum jobstate state, const char *why)
{
	r->answer.state = state;
	snprintf(r->answer.why, sizeof r->answer.why, "%s", why);
	finish(r);
}

/* True if the commit is not at fault: memory, disk, a deadline, a killed child. */
static bool is_temporary(const struct fw_err *err)
{
	return err->code == ERR_INTERNAL || err->code == ERR_CRASHED || err->code == ERR_IO || err->code == ERR_FULL ||
	       err->code == ERR_BUSY || err->code == ERR_TIMEOUT;
}

/* git failed: the object is permanently missing, or a retry may succeed. */
static void end_for_git(struct resolve *r, const struct fw_err *failed)
{
	r->answer.again = is_temporary(failed);
	r->answer.crashed = failed->code == ERR_CRASHED;
	end_job(r, failed->code == ERR_NOT_FOUND ? JOBSTATE_TARGET_MISSING : JOBSTATE_FAILED, failed->text);
}

static void end_for_error(struct resolve *r, const struct fw_err *err)
{
	r->answer.again = is_temporary(err);
	end_job(r, JOBSTATE_FAILED, err->text);
}

static void start_git(struct resolve *r, const char *const *args, child_fn *fn)
{
	struct fw_err err = { 0 };
	struct child_spec spec = {
		.program = "flopwatch-git",
		.args = args,
		.out_fd = -1,
		.out_max = OUTPUT_MAX,
		.deadline_ms = GIT_DEADLINE_MS,
	};
	if (child_start(r->loop, &spec, fn, r, &r->git_task, &err) != 0)
		end_for_error(r, &err);
}

static int get_suites(const struct resolve *r, const struct side *s, const struct manifest *m, char out[MANIFEST_SUITES_MAX][64])
{
	if (s == &r->target && r->is_fork)
		return 0; /* its own suites never apply */
	enum suites_side side = s == &r->target ? SUITES_OF_TARGET : s == &r->base ? SUITES_OF_BASE : SUITES_OF_REFERENCE;
	return suites_requested(&r->job, r->repo, side, m, out);
}

/* Shape: names[n]. */
static bool has_suite(const char (*names)[64], int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/*
 * Benchmarks that only the target's manifest names are measured alone, so that the commit that adds a broken one is blamed. A
 * base that a user named has nothing to replace it, so these are only named in the job's log.
 */
static void add_new_benchmarks(struct resolve *r)
{
	struct resolve_answer *a = &r->answer;
	const struct manifest *own = &r->target.manifest;
	bool is_given = !strcmp(a->plan.base_how, "given");
	for (int i = 0; i < own->n_suites && a->n_suites < MANIFEST_SUITES_MAX; i++) {
		if (!manifest_benchmark(own, own->suite[i]) || has_suite((const char(*)[64])a->suite, a->n_suites, own->suite[i]))
			continue;
		if (is_given && !a->note[0])
			snprintf(a->note, sizeof a->note,
				"benchmark %.64s is not measured: it is new, and base %.12s does not have it", own->suite[i],
				r->base_sha);
		else if (is_given)
			snprintf(a->note, sizeof a->note, "new benchmarks are not measured: base %.12s does not have them",
				r->base_sha);
		else
			snprintf(a->suite[a->n_suites++], sizeof a->suite[0], "%s", own->suite[i]);
	}
}

static void list_suites(struct resolve *r)
{
	r->answer.n_suites = get_suites(r, &r->base, &r->base.manifest, r->answer.suite);
	/* a fork's own manifest never applies */
	if (!r->is_fork && suites_of_target(&r->job, r->repo))
		add_new_benchmarks(r);
}

/* Query a commit: its manifest, and the inputs and suites that the manifest names or probably names. */
static void query_tree(struct resolve *r, struct side *s, const char *sha, child_fn *fn)
{
	char suite[MANIFEST_SUITES_MAX][64];
	struct tree_question question;
	struct manifest guess;
	manifest_default(&guess);
	const struct manifest *m = s->has_manifest ? &s->manifest : r->target.has_manifest ? &r->target.manifest : &guess;
	tree_question(&question, r->repo_path, sha, m, suite, get_suites(r, s, m, suite));
	s->requested++;
	start_git(r, question.arg, fn);
}

static bool is_covered(struct resolve *r, const struct side *s)
{
	char suite[MANIFEST_SUITES_MAX][64];
	int n = get_suites(r, s, &s->manifest, suite);
	return tree_is_covered(s->commit, &s->manifest, suite, n);
}

/* Read a `tree` response. 1: complete, 0: queried again (or the resolve ended), -1 with err: the commit cannot be used. */
static int read_tree(struct resolve *r, struct side *s, const struct buf *out, child_fn *fn, struct fw_err *err)
{
	char sha[65];
	gitread_commit_free(s->commit);
	s->commit = NULL;
	if (gitread_tree(out, &s->commit, err) != 0)
		return -1;
	bool has_given = s == &r->target && r->is_fork; /* the manifest of a fork is not even parsed */
	if (!has_given && plan_manifest(s->commit, &s->manifest, err) != 0)
		return -1;
	s->has_manifest = true;
	if (s == &r->base)
		list_suites(r);
	if (is_covered(r, s))
		return 1;
	if (s->requested >= REQUEST_AGAIN_MAX)
		return err_set(err, ERR_PROTOCOL, "flopwatch-git omits a requested path");
	snprintf(sha, sizeof sha, "%s", s->commit->commit.sha);
	query_tree(r, s, sha, fn);
	return 0;
}

static void on_base_tree(void *arg, const struct buf *out, const struct fw_err *failed);

static void use_base(struct resolve *r, const char *sha, const char *how)
{
	snprintf(r->base_sha, sizeof r->base_sha, "%s", sha);
	snprintf(r->answer.plan.base_how, sizeof r->answer.plan.base_how, "%s", how);
	r->answer.plan.request.kind = plan_kind(&r->job, sha, how);
	query_tree(r, &r->base, sha, on_base_tree);
}

static void store_upstream(struct resolve *r, const struct gitread_base *b)
{
	struct resolve_answer *a = &r->answer;
	memcpy(a->upstream[0], r->job.target_sha, sizeof a->upstream[0]);
	memcpy(a->upstream[1], b->first_parent, (size_t)b->n_first_parents * sizeof a->upstream[0]);
	a->n_upstream = 1 + b->n_first_parents;
}

static const char *likely_suite(const struct resolve *r)
{
	return suites_likely(&r->job, r->repo, &r->target.manifest);
}

static int find_ancestor(struct resolve *r, const char *suite, struct ancestor *out, struct fw_err *err)
{
	char upstream[1024];
	struct ancestor_request request = { .repo = r->job.repo,
		.branch = upstream,
		.target = r->job.target_sha,
		.suite = suite,
		.last_judged = r->last_judged };
	if (gitread_encode(r->repo->upstream, upstream, sizeof upstream, err) != 0)
		return -1;
	return ancestor_choose(r->db, &request, r->ancestors, out, err);
}

/* A slowdown in these cells is now in the base, so the job's log names them. */
static void use_ancestor(struct resolve *r, const struct ancestor *base)
{
	char slower[48] = "";
	r->answer.note[0] = '\0';
	if (base->slower)
		snprintf(slower, sizeof slower, ", of which %d %s probably slower", base->slower,
			base->slower == 1 ? "is" : "are");
	if (base->undecided)
		snprintf(r->answer.note, sizeof r->answer.note,
			"base %.12s has %d undecided cell%s%s: only the history shows a slowdown that it has there", base->sha,
			base->undecided, base->undecided == 1 ? "" : "s", slower);
	use_base(r, base->sha, base->how);
}

/* For the upstream branch, and for commits on it. */
static void choose_ancestor(struct resolve *r)
{
	struct fw_err err = { 0 };
	struct ancestor base;
	if (r->job.branch[0])
		store_upstream(r, r->ancestors);
	if (find_ancestor(r, likely_suite(r), &base, &err) != 0)
		end_for_error(r, &err);
	else
		use_ancestor(r, &base);
}

/* If the base names another suite, choose once more with that one. Returns true if the current base stays. */
static bool choose_again(struct resolve *r)
{
	struct fw_err err = { 0 };
	struct ancestor base;
	list_suites(r);
	if (!r->ancestors || r->is_chosen_again || !r->answer.n_suites || !strcmp(r->answer.suite[0], likely_suite(r)))
		return false;
	r->is_chosen_again = true;
	if (find_ancestor(r, r->answer.suite[0], &base, &err) != 0) {
		end_for_error(r, &err);
		return true;
	}
	if (!strcmp(base.sha, r->base_sha))
		return false;
	gitread_commit_free(r->base.commit);
	memset(&r->base, 0, sizeof r->base);
	use_ancestor(r, &base);
	return true;
}

/* Read the response of `flopwatch-git base`. Own: free. NULL: invalid, and the resolve ended. */
static struct gitread_base *read_base(struct resolve *r, const struct buf *out, const struct fw_err *failed)
{
	struct fw_err err = { 0 };
	struct gitread_base *b = mem_alloc(sizeof *b);
	r->git_task = NULL;
	if (failed) {
		end_for_git(r, failed);
	} else if (gitread_base(out, b, &err) != 0) {
		end_for_error(r, &err);
	} else {
		return b;
	}
	free(b);
	return NULL;
}

static void on_ancestors(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct gitread_base *b = read_base(r, out, failed);
	if (!b) /* `r` is freed */
		return;
	r->ancestors = b;
	choose_ancestor(r);
}

static void on_merge_base(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct gitread_base *b = read_base(r, out, failed);
	if (!b)
		return;
	bool is_contained = !strcmp(b->merge_base, r->job.target_sha);
	if (is_contained && !r->job.branch[0]) {
		r->ancestors = b; /* requested by its hash, and on the upstream branch */
		choose_ancestor(r);
		return;
	}
	char why[REFUSAL_SIZE], base[65];
	bool has_upstream = b->upstream[0] != 0;
	memcpy(base, b->merge_base, sizeof base);
	free(b);
	if (!has_upstream) {
		config_no_upstream(r->repo, why, sizeof why);
		end_job(r, JOBSTATE_FAILED, why);
	} else if (!base[0]) {
		refusal_unrelated(r->repo, &r->job, why);
		end_job(r, JOBSTATE_FAILED, why);
	} else if (is_contained) {
		refusal_contained(r->repo, &r->job, why);
		end_job(r, JOBSTATE_CANCELLED, why);
	} else {
		use_base(r, base, "merge-base");
	}
}

static void query_base(struct resolve *r)
{
	struct fw_err err = { 0 };
	char upstream[1024], parents[16];
	snprintf(parents, sizeof parents, "%d", GITREAD_PARENTS_MAX);
	if (gitread_encode(r->repo->upstream, upstream, sizeof upstream, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	bool is_upstream = !strcmp(r->job.branch, upstream);
	if (is_upstream && store_base_last(r->db, r->job.repo, r->job.branch, r->job.target_sha, r->last_judged, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	const char *args[12] = { "base", "--repo", r->repo_path, "--target", r->job.target_sha };
	int n = 5;
	if (is_upstream || !r->job.branch[0]) {
		args[n++] = "--first-parents";
		args[n++] = parents;
	}
	if (!is_upstream) {
		args[n++] = "--upstream";
		args[n++] = upstream;
	} else if (r->last_judged[0]) {
		args[n++] = "--with";
		args[n++] = r->last_judged;
	}
	start_git(r, args, is_upstream ? on_ancestors : on_merge_base);
}

static int check_line(struct resolve *r, struct fw_err *err)
{
	struct plan *p = &r->answer.plan;
	bool fills = r->job.kind == JOBKIND_BACKFILL || r->job.kind == JOBKIND_REFERENCE;
	char upstream[sizeof p->upstream_branch];
	if (gitread_encode(r->repo->upstream, upstream, sizeof upstream, err) != 0)
		return -1;
	p->is_upstream = fills || (!strcmp(r->job.branch, upstream) && !r->job.quick);
	snprintf(p->upstream_branch, sizeof p->upstream_branch, "%s", p->is_upstream ? upstream : "");
	return 0;
}

/* The reference commit depends on the device: another device has another baseline period. */
static int choose_reference(struct resolve *r, struct fw_err *err)
{
	struct plan *p = &r->answer.plan;
	p->reference[0] = 0;
	if (check_line(r, err) != 0)
		return -1;
	if (!p->is_upstream || !r->job.device)
		return 0;
	return store_baseline_period_reference(r->db, r->job.repo, p->suite_name, r->job.device, p->reference, err);
}

static int add_to_range(void *arg, const struct store_commit *commit, struct fw_err *err)
{
	struct resolve_answer *a = arg;
	(void)err;
	if (a->n_range == RESOLVE_RANGE_MAX)
		return 1;
	snprintf(a->range[a->n_range++], sizeof a->range[0], "%s", commit->sha);
	return 0;
}

static void on_range(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct fw_err ignored = { 0 };
	r->git_task = NULL;
	if (failed || gitread_log(out, add_to_range, &r->answer, &ignored) < 0)
		r->answer.n_range = 0; /* without a range the comparison is still valid */
	finish(r);
}

/* For a branch's own comparison query the range once, so that accepted regressions follow the commit. */
static void query_range(struct resolve *r)
{
	struct fw_err err = { 0 };
	const struct plan *p = &r->answer.plan;
	const char *base = p->request.side[0].commit, *target = p->request.side[1].commit;
	char count[16];
	snprintf(count, sizeof count, "%d", RESOLVE_RANGE_MAX);
	bool is_requested = r->job.branch[0] && p->request.kind == JOBKIND_COMPARE && strcmp(base, target) != 0;
	int known = is_requested ? store_range_known(r->db, r->job.repo, base, target, &err) : 1;
	if (known < 0) {
		end_for_error(r, &err);
	} else if (known) {
		finish(r);
	} else {
		const char *const args[] = { "log", "--repo", r->repo_path, "--from", target, "--not", base, "--count", count,
			NULL };
		start_git(r, args, on_range);
	}
}

static void on_changes(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct resolve_answer *a = &r->answer;
	struct fw_err ignored = { 0 };
	r->git_task = NULL;
	if (failed || gitread_changes(out, a->files_json, sizeof a->files_json, &a->n_files, &ignored) != 0)
		a->files_json[0] = '\0'; /* without names of files the comparison is still valid */
	query_range(r);
}

/* Finish a valid plan. A benchmark program is profiled only on request: query the changed files instead, once. */
static void finish_plan(struct resolve *r)
{
	struct fw_err err = { 0 };
	const struct plan *p = &r->answer.plan;
	const char *base = p->request.side[0].commit, *target = p->request.side[1].commit;
	char count[16];
	snprintf(count, sizeof count, "%d", RESOLVE_FILES_MAX);
	bool is_needed =
		p->request.kind == JOBKIND_COMPARE && plan_is_benchmark(p) && plan_needs_worker(p) && strcmp(base, target) != 0;
	int known = is_needed ? store_changed_files_known(r->db, r->job.repo, base, target, &err) : 1;
	if (known < 0) {
		end_for_error(r, &err);
	} else if (known) {
		query_range(r);
	} else {
		const char *const args[] = { "changes", "--repo", r->repo_path, "--from", base, "--commit", target, "--count",
			count, NULL };
		start_git(r, args, on_changes);
	}
}

/* Without its reference commit a commit is still compared with its base; only its position in the history is missing. */
/* As read_tree, for the answer of flopwatch-git; a failed one ends the resolve. */
static int receive_tree(
	struct resolve *r, struct side *s, const struct buf *out, const struct fw_err *failed, child_fn *fn, struct fw_err *err)
{
	r->git_task = NULL;
	if (!failed)
		return read_tree(r, s, out, fn, err);
	end_for_git(r, failed);
	return 0;
}

static void on_reference_tree(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct resolve_answer *a = &r->answer;
	struct fw_err err = { 0 };
	r->git_task = NULL;
	if (failed && is_temporary(failed)) {
		end_for_git(r, failed);
		return;
	}
	int got = -1;
	if (failed)
		err = *failed;
	else
		got = read_tree(r, &r->reference, out, on_reference_tree, &err);
	if (got == 0)
		return;
	if (got < 0 || plan_side(&a->plan, 2, ROLE_REFERENCE, r->reference.commit, &r->reference.manifest, &err) != 0 ||
		(plan_is_benchmark(&a->plan) ? plan_side_benchmark(&a->plan, 2, &r->reference.manifest, &err)
					     : refusal_of_build(r->repo, &r->reference.manifest, r->reference.commit->commit.sha,
						       a->suite[0], &err)) != 0) {
		if (err.is_shortage) {
			end_for_error(r, &err);
			return;
		}
		a->plan.request.n_sides = 2;
		snprintf(a->note, sizeof a->note, "not measured against the reference commit: %.400s", err.text);
	}
	finish(r);
}

/* True if only the target's manifest has the suite, as a benchmark; never of a fork, to which the base's manifest applies. */
static bool is_new_benchmark(const struct resolve *r)
{
	const char *name = r->answer.suite[0];
	const struct manifest *base = &r->base.manifest;
	/* a suite of that name in the base's manifest or in the configuration still applies */
	return !r->repo->n_suites && r->base.has_manifest && manifest_benchmark(&r->target.manifest, name) &&
	       !manifest_benchmark(base, name) && !has_suite((const char(*)[64])base->suite, base->n_suites, name);
}

/* The base cannot be used, or lacks the new benchmark: an error if a user requested it, else the commit itself replaces it. */
static void replace_base(struct resolve *r, bool is_new, const struct fw_err *why)
{
	if (is_temporary(why) || !strcmp(r->answer.plan.base_how, "given") || !strcmp(r->base_sha, r->job.target_sha) ||
		r->is_fork) {
		end_for_error(r, why);
		return;
	}
	snprintf(r->answer.note, sizeof r->answer.note, STORE_JOB_ALONE "%s%.400s",
		is_new ? "" : "its base cannot be used: ", why->text);
	gitread_commit_free(r->base.commit);
	memset(&r->base, 0, sizeof r->base);
	use_base(r, r->job.target_sha, "self");
}

static void copy_suites(const struct resolve *r, const struct side *side, struct resolve_suites *out)
{
	out->n = r->repo->n_suites ? 0 : side->manifest.n_suites;
	for (int i = 0; i < out->n; i++)
		snprintf(out->name[i], sizeof out->name[i], "%s", side->manifest.suite[i]);
}

static void add_suite_position(const struct resolve *r, struct fw_err *e)
{
	char position[REFUSAL_SIZE];
	size_t len;
	refusal_suite_position(r->repo, &r->base.manifest, r->base.commit->commit.sha, r->answer.suite[0], position);
	len = strlen(position);
	if (len > 2)
		err_context(e, "%.*s", (int)len - 2, position);
}

static void make_plan(struct resolve *r)
{
	struct fw_err err = { 0 };
	struct resolve_answer *a = &r->answer;
	struct plan *p = &a->plan;
	p->request.quick = r->job.quick;
	p->shard = r->job.shard;
	if (!r->is_fork && suites_of_target(&r->job, r->repo) &&
		refusal_of_suites(r->config, r->target.commit, &r->target.manifest, &r->base.manifest, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	a->peers = r->base.manifest.peers;
	copy_suites(r, &r->base, &a->before);
	copy_suites(r, &r->target, &a->after);
	if (plan_side(p, 1, ROLE_TARGET, r->target.commit, &r->target.manifest, &err) != 0 ||
		plan_side(p, 0, ROLE_BASE, r->base.commit, &r->base.manifest, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	p->request.side[1].untrusted = r->is_fork;
	if (a->n_suites == 0) {
		end_job(r, JOBSTATE_FAILED, "neither the configuration nor .flopwatch.yaml of the base names a suite");
		return;
	}
	const struct benchmark *benchmark = manifest_benchmark(&r->base.manifest, a->suite[0]);

	refusal_peer_position(r->repo, &r->base.manifest, p->request.side[0].commit, r->job.base_provider, p->provider_position);
	snprintf(p->request.side[0].provider, sizeof p->request.side[0].provider, "%s", r->job.base_provider);
	snprintf(p->request.side[1].provider, sizeof p->request.side[1].provider, "%s", r->job.target_provider);
	snprintf(p->request.side[0].config, sizeof p->request.side[0].config, "%s", r->job.base_config);
	snprintf(p->request.side[1].config, sizeof p->request.side[1].config, "%s", r->job.target_config);
	p->request.side[0].tools = r->job.base_tools;
	p->request.side[1].tools = r->job.target_tools;
	if (benchmark && (r->job.base_provider[0] || r->job.target_provider[0])) {
		end_job(r, JOBSTATE_FAILED, "a benchmark has no providers; only modules have");
		return;
	}
	if (benchmark && (r->job.base_config[0] || r->job.target_config[0])) {
		end_job(r, JOBSTATE_FAILED, "a benchmark takes no configuration; only providers of modules do");
		return;
	}

	if (benchmark && r->job.cells_glob[0])
		snprintf(a->note, sizeof a->note, "all rows are measured: one run of a benchmark writes them all");
	if (benchmark)
		plan_benchmark(p, r->config, r->repo->name, benchmark, &r->target.manifest);
	if (is_new_benchmark(r)) {
		err_set(&err, ERR_NOT_FOUND, "benchmark %s is new: its base %.12s does not have it", a->suite[0], r->base_sha);
		replace_base(r, true, &err);
		return;
	}
	if (p->dropped && p->request.kind != JOBKIND_COMPARE) { /* gives a search for a change no information */
		plan_side_benchmark(p, 1, &r->target.manifest, &err);
		end_for_error(r, &err);
		return;
	}
	if (!benchmark && plan_suite(p, r->config, r->repo->name, r->base.commit, a->suite[0], r->job.cells_glob, &err) != 0) {
		bool is_wrong = err.code == ERR_NOT_FOUND || err.code == ERR_INVALID; /* also, a later commit may have fixed it */
		if (err.code == ERR_NOT_FOUND)
			add_suite_position(r, &err);
		if (is_wrong && !r->job.cells_glob[0])
			replace_base(r, false, &err);
		else
			end_for_error(r, &err);
		return;
	}
	if (!benchmark && refusal_of_build(r->repo, &r->target.manifest, r->target.commit->commit.sha, a->suite[0], &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	if (!benchmark && refusal_of_build(r->repo, &r->base.manifest, r->base.commit->commit.sha, a->suite[0], &err) != 0) {
		replace_base(r, false, &err);
		return;
	}
	plan_compare(p);
	p->identical = p->identical && !r->job.every_cell; /* a report about one commit counts as identical too */
	/* the options of a job that needs a worker are read when it is sent */
	if (!plan_needs_worker(p))
		set_measurement_options(p, &r->job, benchmark != NULL);
	if (check_line(r, &err) != 0)
		end_for_error(r, &err);
	else
		finish_plan(r);
}

static void on_fork_tree(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct fw_err err = { 0 };
	int got = receive_tree(r, &r->target, out, failed, on_fork_tree, &err);
	if (got == 0)
		return;
	if (r->target.commit)
		r->answer.target = r->target.commit->commit;
	if (got < 0)
		end_for_error(r, &err);
	else
		make_plan(r);
}

/* Read the inputs of a fork that the base's manifest names. */
static void query_fork(struct resolve *r)
{
	r->target.manifest = r->base.manifest;
	r->target.has_manifest = true;
	query_tree(r, &r->target, r->job.target_sha, on_fork_tree);
}

static void on_base_tree(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct fw_err err = { 0 };
	int got = receive_tree(r, &r->base, out, failed, on_base_tree, &err);
	if (got == 0)
		return;
	if (r->base.commit)
		r->answer.base = r->base.commit->commit;
	if (got > 0 && choose_again(r))
		return;
	if (got > 0) { /* check its inputs now, while the base can still be replaced */
		struct plan *p = &r->answer.plan;
		if (plan_side(p, 0, ROLE_BASE, r->base.commit, &r->base.manifest, &err) == 0) {
			if (r->is_fork)
				query_fork(r);
			else
				make_plan(r);
			return;
		}
	}
	replace_base(r, false, &err);
}

/* ---- Commits of forks: a commit of which nothing is known is one, too. ---- */

enum trust {
	TRUST_OWN,
	TRUST_FORK,    /* a commit of a request; `fork` has it */
	TRUST_UNKNOWN, /* neither on a branch nor of a request */
	TRUST_ENDED    /* the resolve ended */
};

/* Decide by the response of `contains`; by the database alone if both are NULL. */
static enum trust read_trust(
	struct resolve *r, const char *sha, const struct buf *out, const struct fw_err *failed, struct store_fork *fork)
{
	struct fw_err err = { 0 };
	bool is_on_branch = false;
	if (failed && failed->code != ERR_NOT_FOUND) {
		end_for_git(r, failed);
		return TRUST_ENDED;
	}
	if (out && !failed && gitread_contains(out, &is_on_branch, &err) != 0) {
		end_for_error(r, &err);
		return TRUST_ENDED;
	}
	int is_own = is_on_branch ? store_pull_mark_own(r->db, r->job.repo, sha, &err) >= 0 ? 1 : -1
				  : store_pull_is_own(r->db, r->job.repo, sha, &err);
	int is_fork = is_own ? 0 : store_pull_fork(r->db, r->job.repo, sha, fork, &err);
	if (is_own < 0 || is_fork < 0) {
		end_for_error(r, &err);
		return TRUST_ENDED;
	}
	if (is_own || is_fork || !out)
		return is_fork ? TRUST_FORK : TRUST_OWN;
	if (failed) { /* not in the repository */
		end_for_git(r, failed);
		return TRUST_ENDED;
	}
	return TRUST_UNKNOWN;
}

static void query_trust(struct resolve *r, const char *sha, child_fn *fn)
{
	const char *const args[] = { "contains", "--repo", r->repo_path, "--commit", sha, NULL };
	if (r->repo->pulls.refs[0])
		start_git(r, args, fn);
	else
		fn(r, NULL, NULL);
}

static const char *get_base_how(const struct resolve *r)
{
	return r->job.base_how[0] ? r->job.base_how : "given";
}

/* The manifest of a base applies to both sides, so it is never one of a fork, not even an approved one. */
static void on_base_trust(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct store_fork fork;
	char why[REFUSAL_SIZE];
	r->git_task = NULL;
	switch (read_trust(r, r->job.base_sha, out, failed, &fork)) {
	case TRUST_OWN:
		use_base(r, r->job.base_sha, get_base_how(r));
		return;
	case TRUST_FORK:
		snprintf(why, sizeof why,
			"the base %.12s is a commit of a fork (pull request %d); give a commit of a branch as base",
			r->job.base_sha, fork.number);
		break;
	case TRUST_UNKNOWN:
		snprintf(why, sizeof why,
			"the base %.12s is on no branch, so it may be a commit of a fork; give a commit of a branch as base",
			r->job.base_sha);
		break;
	default:
		return;
	}
	end_job(r, JOBSTATE_CANCELLED, why);
}

/* A base that the daemon chooses is an ancestor of a branch. */
static void find_base(struct resolve *r)
{
	if (!r->job.base_sha[0])
		query_base(r);
	else
		query_trust(r, r->job.base_sha, on_base_trust);
}

static bool is_skipped(const struct resolve *r)
{
	return !strcmp(r->job.origin, "push") && strstr(r->target.commit->commit.subject, "[skip flopwatch]");
}

static void on_target_tree(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct fw_err err = { 0 };
	int got = receive_tree(r, &r->target, out, failed, on_target_tree, &err);
	if (got == 0)
		return;
	if (r->target.commit)
		r->answer.target = r->target.commit->commit;
	if (r->target.commit && is_skipped(r)) {
		end_job(r, JOBSTATE_CANCELLED, "skipped by [skip flopwatch] in the commit message");
		return;
	}
	if (got < 0 || plan_side(&r->answer.plan, 1, ROLE_TARGET, r->target.commit, &r->target.manifest, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	find_base(r);
}

enum { FORK_LEAST_S = 10 }; /* a comparison in less time would be cut off at once, and count as a failed job */

/* Set the device time that forks may still use today. Returns false if it is too little: then the resolve ended. */
static bool find_time_left(struct resolve *r, double *left_s)
{
	struct fw_err err = { 0 };
	char why[REFUSAL_SIZE];
	const struct config_pulls *conf = &r->repo->pulls;
	int64_t now_ms = clock_utc_ms();
	double used_s = 0, day_s = (double)conf->day_ms / 1e3;
	struct store_pull_use use = { .repo = r->job.repo,
		.since = now_ms - DAY_MS,
		.now_ms = now_ms,
		.except = r->job.id,
		.job_s = (double)conf->job_ms / 1e3 };
	if (store_pull_device_s(r->db, &use, &used_s, &err) != 0) {
		end_for_error(r, &err);
		return false;
	}
	*left_s = day_s - used_s;
	if (*left_s > 0 && *left_s >= fmin(FORK_LEAST_S, day_s))
		return true;
	snprintf(why, sizeof why,
		"forks used %.0f s of device time in 24 hours, and the limit is %.0f s (pull_requests.device_time.day of %.100s); retry "
		"later",
		used_s, day_s, r->repo->name);
	end_job(r, JOBSTATE_CANCELLED, why);
	return false;
}

/* True if an approved commit of a fork may be measured now; else the resolve ended. */
static bool check_fork(struct resolve *r, const struct store_fork *fork)
{
	char why[REFUSAL_SIZE];
	double left_s;
	if (fork->approved)
		return find_time_left(r, &left_s);
	snprintf(why, sizeof why, "pull request %d comes from a fork, and this commit is not approved: flopwatch approve %d %s",
		fork->number, fork->number, fork->head);
	end_job(r, JOBSTATE_CANCELLED, why);
	return false;
}

static void on_target_trust(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct resolve *r = arg;
	struct store_fork fork;
	char why[REFUSAL_SIZE];
	r->git_task = NULL;
	switch (read_trust(r, r->job.target_sha, out, failed, &fork)) {
	case TRUST_OWN:
		query_tree(r, &r->target, r->job.target_sha, on_target_tree);
		return;
	case TRUST_FORK:
		r->is_fork = true;
		if (check_fork(r, &fork)) /* the base's manifest names the files to read */
			find_base(r);
		return;
	case TRUST_UNKNOWN:
		snprintf(why, sizeof why,
			"commit %.12s is on no branch, so it may be code of a fork; push it to a branch, or approve the request "
			"where it is the head",
			r->job.target_sha);
		end_job(r, JOBSTATE_CANCELLED, why);
		return;
	default:
		return;
	}
}

/* No callback may run before resolve_start returns, so the first step waits for the loop. */
static void on_start(void *arg)
{
	struct resolve *r = arg;
	bool is_pull = strncmp(r->job.branch, PULL_BRANCH, sizeof PULL_BRANCH - 1) == 0;
	r->start = NULL;
	if (!strcmp(r->job.origin, "push") && !is_pull) /* was the tip of a branch, which may have moved since */
		query_tree(r, &r->target, r->job.target_sha, on_target_tree);
	else
		query_trust(r, r->job.target_sha, on_target_trust);
}

/* The inputs of the reference commit are probably those of the target. */
static void guess_reference_manifest(struct resolve *r)
{
	const struct msg_side *target = &r->answer.plan.request.side[1];
	struct manifest *m = &r->target.manifest;
	manifest_default(m);
	m->n_inputs = target->n_inputs;
	for (int i = 0; i < m->n_inputs; i++)
		memcpy(m->input[i], target->input[i].path, sizeof m->input[i]);
	r->target.has_manifest = true;
}

/*
 * Limit the device time of a fork's job: the budget of its suite by the rest of the day, too; a single check or run only by the
 * job's limit, because one that is cut off is a failure of the commit. Other jobs of forks may have started since it was planned.
 * Returns false if the resolve ended.
 */
static bool limit_fork(struct resolve *r, struct msg_job *request)
{
	double left_s, job_s = (double)r->repo->pulls.job_ms / 1e3;
	if (!find_time_left(r, &left_s))
		return false;
	request->limits.budget_s = fmin(request->limits.budget_s, fmin(job_s, left_s));
	request->limits.check_s = fmin(request->limits.check_s, job_s);
	request->limits.run_s = fmin(request->limits.run_s, job_s);
	return true;
}

/* Read the stored plan and add the values that depend on the device and on the current configuration and history. */
static void on_start_for_device(void *arg)
{
	struct resolve *r = arg;
	struct fw_err err = { 0 };
	struct plan *p = &r->answer.plan;
	r->start = NULL;
	snprintf(r->answer.suite[0], sizeof r->answer.suite[0], "%s", r->job.suite);
	if (plan_read(r->db, r->config, &r->job, p, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	set_measurement_options(p, &r->job, plan_is_benchmark(p));
	if (p->request.side[1].untrusted && !limit_fork(r, &p->request))
		return;
	if (calibrate_plan(r->db, p, r->job.repo, r->job.device, clock_utc_ms(), &err) != 0 || choose_reference(r, &err) != 0) {
		end_for_error(r, &err);
		return;
	}
	const char *reference = p->reference, *base = p->request.side[0].commit, *target = p->request.side[1].commit;
	if (!reference[0] || !strcmp(reference, base) || !strcmp(reference, target)) {
		finish(r);
		return;
	}
	guess_reference_manifest(r);
	query_tree(r, &r->reference, reference, on_reference_tree);
}

static int start(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, loop_timer_fn *first,
	resolve_fn *fn, void *arg, struct resolve **out, struct fw_err *err)
{
	int at = config_repo_find(c, job->repo_name);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "repository %s is no longer configured", job->repo_name);
	struct resolve *r = mem_alloc_zero(1, sizeof *r);
	*r = (struct resolve){ .loop = l, .db = db, .config = c, .repo = &c->repo[at], .job = *job, .fn = fn, .arg = arg };
	plan_init(&r->answer.plan);
	r->answer.state = JOBSTATE_N;
	if (config_repo_path(c, r->repo, r->repo_path, sizeof r->repo_path, err) != 0) {
		resolve_free(r);
		return -1;
	}
	loop_after(l, 0, first, r, &r->start);
	*out = r;
	return 0;
}

int resolve_start(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn, void *arg,
	struct resolve **out, struct fw_err *err)
{
	return start(l, db, c, job, on_start, fn, arg, out, err);
}

int resolve_for_device(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn,
	void *arg, struct resolve **out, struct fw_err *err)
{
	return start(l, db, c, job, on_start_for_device, fn, arg, out, err);
}
