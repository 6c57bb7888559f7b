/*
 * The site over a made-up database, for screenshots and manual review: 24 pushes of main, one of them slower and never repaired, a
 * branch with a regression, one with an improvement, one undecided, one that fails, a running and two waiting jobs. The real judge
 * processes all of them; the times are device `sim`'s. Usage: pages_demo FOLDER [PORT]; prints "listening on http://..." and serves
 * until killed.
 */
#include "attention_cell.h"
#include "fixture_result.h"
#include "profile_put.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "lib/lib.h"
#include "model/model.h"
#include "web/page/page.h"
#include "web/web.h"

enum { PAIRS = 12, RUNS = 4, MAIN_PUSHES = 24, SLOWER_PUSH = 9, HOUR_MS = 3600 * 1000 };
#define LOSS_ON_MAIN 0.028 /* log */

struct story {
	struct fixture f;
	struct suite suite;
	struct noise noise;
	int64_t now_ms;
	double dense_level; /* log of the time of dense cells on main, against the first commit */
	char suite_text[8192];
	unsigned commits;
};

static struct story story;

static const char *sha_of(unsigned n)
{
	static char text[4][65];
	static unsigned turn;
	char *t = text[turn++ % 4];
	unsigned long long mixed = (n + 1) * 0x9e3779b97f4a7c15ull;
	snprintf(t, 65, "%016llx%016llx%08llx", mixed, mixed * 0xbf58476d1ce4e5b9ull, (mixed >> 7) & 0xffffffff);
	return t;
}

static void add_commit(unsigned n, unsigned parent, const char *author, const char *subject)
{
	struct store_commit c = { .committed_at = story.now_ms - HOUR_MS / 4 };
	snprintf(c.sha, sizeof c.sha, "%s", sha_of(n));
	snprintf(c.tree, sizeof c.tree, "%s", sha_of(n + 5000));
	snprintf(c.first_parent, sizeof c.first_parent, "%s", sha_of(parent));
	snprintf(c.author, sizeof c.author, "%s", author);
	snprintf(c.subject, sizeof c.subject, "%s", subject);
	ok(store_commit_put(story.f.db, story.f.repo, &c, &err));
}

static int64_t add_job(const char *branch, unsigned base, unsigned target, const char *how)
{
	struct store_job j = { .repo = story.f.repo, .kind = JOBKIND_COMPARE, .suite = "ffa", .origin = "push" };
	snprintf(j.base_how, sizeof j.base_how, "%s", how);
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.base_sha, sizeof j.base_sha, "%s", sha_of(base));
	snprintf(j.target_sha, sizeof j.target_sha, "%s", sha_of(target));
	ok(store_job_insert(story.f.db, &j, story.now_ms - 90 * 1000, &err));
	return j.id;
}

static struct result *begin(const char *branch, unsigned base, unsigned target, const char *how)
{
	struct plan plan;
	plan_init(&plan);
	struct msg_job *request = &plan.request;
	request->job = add_job(branch, base, target, how);
	request->kind = JOBKIND_COMPARE;
	request->n_sides = 2;
	request->side[0].role = ROLE_BASE;
	request->side[1].role = ROLE_TARGET;
	snprintf(request->side[0].commit, 65, "%s", sha_of(base));
	snprintf(request->side[1].commit, 65, "%s", sha_of(target));
	request->n_cells = story.suite.n_cells;
	request->cell = calloc((size_t)request->n_cells, sizeof *request->cell);
	memcpy(request->cell, story.suite.cell, (size_t)request->n_cells * sizeof *request->cell);
	rule_default(&request->rule, request->n_cells);
	snprintf(plan.base_how, sizeof plan.base_how, "%s", how);
	snprintf(plan.suite_name, sizeof plan.suite_name, "ffa");
	suite_hash(&story.suite, plan.suite_sha);
	snprintf(plan.suite_origin, sizeof plan.suite_origin, "installed");
	buf_puts(&plan.suite_text, story.suite_text);
	struct result *r = result_new(&plan);
	assert_non_null(r);
	r->device = fixture_device();
	snprintf(r->device.name, sizeof r->device.name, "simulated NVIDIA H200");
	r->device.cores = 132;
	r->device.memory_bytes = INT64_C(141) << 30;
	r->device.l2_bytes = 50 << 20;
	r->device.clock_max_mhz = 1980;
	r->device.peak_tflops = 989;
	r->device.peak_gb_s = 4800;
	snprintf(r->isolation, sizeof r->isolation, "bwrap");
	return r;
}

static bool is_sparse(const struct cell *c)
{
	return attention_in(c)->mask == FW_BLOCKS;
}

/* The usual time of such a cell. Units: ms. */
static double usual_ms(const struct cell *c)
{
	bool back = c->direction == DIRECTION_BACKWARD;
	double tflops = is_sparse(c) ? (attention_in(c)->block == 64 ? 330 : 430) * (back ? 0.8 : 1) : back ? 540 : 640;
	return (case_flops(c) / tflops * 1e-9 + 0.02) * (is_sparse(c) ? 1 : exp(story.dense_level));
}

static void add_timing(struct result *r, int run, int set, int i, enum series series, const char *phase, double share, double d)
{
	struct noise *n = &story.noise;
	double ms = usual_ms(&r->plan.request.cell[i]) * share, offset = 0.0004 * noise_normal(n);
	struct msg m = { .t = MSG_CELL };
	struct msg_cell *c = m.u.cell = calloc(1, sizeof *c);
	*c = (struct msg_cell){ .run = run, .set = set, .cell = i, .n_sides = 2, .n = PAIRS };
	c->series = series;
	snprintf(c->phase, sizeof c->phase, "%s", phase);
	snprintf(c->input_sha256, sizeof c->input_sha256, "feed");
	for (int s = 0; s < 2; s++) {
		c->role[s] = s ? ROLE_TARGET : ROLE_BASE;
		c->ms[s] = calloc(PAIRS, sizeof(float));
		c->mhz[s] = calloc(PAIRS, sizeof(float));
		c->host_us[s] = calloc(PAIRS, sizeof(float));
		for (int k = 0; k < PAIRS; k++) {
			double clock = 0.006 * noise_normal(n);
			c->mhz[s][k] = (float)(1712 * exp(clock));
			c->ms[s][k] = (float)(ms * exp((s ? d + offset : 0) - clock + 0.001 * noise_normal(n)));
			c->host_us[s][k] = (float)(9.2 + 0.4 * noise_uniform(n));
		}
	}
	for (int k = 0; k < 2 * PAIRS; k++)
		c->order[k] = "ABBA"[k % 4];
	c->device_check = (struct msg_device_check){
		.power_w = 684, .temp_c = 61, .sm_mhz = 1712, .reasons = 0x4, .foreign = 0, .regime = "power_limited"
	};
	fixture_add(r, &m);
}

static void add_work(struct result *r, int i, int side, bool slower)
{
	const struct cell *c = &r->plan.request.cell[i];
	enum role role = side ? ROLE_TARGET : ROLE_BASE;
	struct msg m = { .t = MSG_WORK,
		.u.work = { .cell = i,
			.flops_issued = case_flops(c) * 1.07,
			.bytes_moved = 2.1e9,
			.workspace_bytes = 64 << 20,
			.blocks_kept = -1 } };
	m.u.work.role = role;
	const char *named = r->plan.request.side[side].provider;
	snprintf(m.u.work.provider, sizeof m.u.work.provider, "%s", *named ? named : "hopper.v2");
	snprintf(m.u.work.config, sizeof m.u.work.config, "tile 128x128 stages %d", side && slower ? 3 : 2);
	fixture_add(r, &m);
	const char *const kernels[] = { "prepare_lists",
		c->direction == DIRECTION_BACKWARD ? "v2_backward_kernel<128, 128, 1>" : "forward_v2", "cast_output" };
	static const char *const phases[] = { "prepare", "run", "cast" };
	for (int k = 0; k < 3; k++) {
		struct msg node = { .t = MSG_NODE,
			.u.node = { .cell = i,
				.grid = { 132, 1, 1 },
				.block = { k == 1 ? 384 : 256, 1, 1 },
				.registers = k == 1 ? (side && slower ? 216 : 240) : 32,
				.shared_bytes = k == 1 ? 213000 : 0,
				.local_bytes = k != 1           ? 0
					       : side && slower ? 96
								: 8 } };
		node.u.node.role = role;
		snprintf(node.u.node.phase, sizeof node.u.node.phase, "%s", phases[k]);
		snprintf(node.u.node.kernel, sizeof node.u.node.kernel, "%s", kernels[k]);
		/* the last kernel is a library's and not in the module's file */
		if (k < 2)
			snprintf(node.u.node.code_sha256, sizeof node.u.node.code_sha256, "%.40s%.24s",
				sha_of((unsigned)k + (k == 1 && side && slower ? 77 : 50)), sha_of(9));
		fixture_add(r, &node);
	}
}

/* The peer of this demo does not support block masks. */
static bool lacks(const struct result *r, int i)
{
	return r->plan.request.kind == JOBKIND_PEER && is_sparse(&r->plan.request.cell[i]);
}

static void refuse(struct result *r, int i)
{
	struct msg m = { .t = MSG_CHECK, .u.check = { .cell = i, .error_ratio = -1 } };
	m.u.check.role = ROLE_BASE;
	snprintf(m.u.check.failure, sizeof m.u.check.failure, "unsupported");
	snprintf(m.u.check.detail, sizeof m.u.check.detail, "no block masks");
	fixture_add(r, &m);
}

/* Cells slower by d(i), log; `run_noise` makes a cell hard to decide. */
static void measured(struct result *r, double (*d)(const struct cell *), double run_noise)
{
	char module[65];
	for (int s = 0; s < 2; s++) {
		/* one commit, one module */
		snprintf(module, sizeof module, "%.32s%.32s", r->plan.request.side[s].commit + 8, sha_of(7));
		fixture_build(r, s ? ROLE_TARGET : ROLE_BASE, "ok", module);
		for (int i = 0; i < r->plan.request.n_cells; i++) {
			bool cannot = s == 0 && lacks(r, i);
			if (cannot)
				refuse(r, i);
			else
				fixture_check(r, s ? ROLE_TARGET : ROLE_BASE, i, "", "feed");
			if (!cannot)
				add_work(r, i, s, d(&r->plan.request.cell[i]) > 0.01);
		}
	}
	for (int run = 1; run <= 2 * RUNS; run++) {
		int set = run <= RUNS ? 1 : 2;
		fixture_run(r, run, set);
		for (int i = 0; i < r->plan.request.n_cells; i++) {
			double loss = d(&r->plan.request.cell[i]),
			       shift = loss + (loss != 0 ? run_noise * noise_normal(&story.noise) : 0);
			if ((set == 2 && loss < 0.02) || lacks(r, i)) /* a loss that the first set shows is confirmed */
				continue;
			add_timing(r, run, set, i, SERIES_DEVICE, "", 1, shift);
			add_timing(r, run, set, i, SERIES_PHASE, "prepare", 0.03, 0);
			add_timing(r, run, set, i, SERIES_PHASE, "run", 0.92, shift * 1.05);
			add_timing(r, run, set, i, SERIES_PHASE, "cast", 0.04, 0);
			if (run <= 2)
				add_timing(r, run, set, i, SERIES_CALL, "", 1.02, shift);
		}
	}
}

static int64_t finish(struct result *r)
{
	struct judge_outcome outcome;
	int64_t job = r->plan.request.job;
	char text[256];
	double gpu_s = 52 + 6 * noise_uniform(&story.noise);
	bool is_timed = !r->identical_by[0];
	r->done = (struct msg_done){ .gpu_s = is_timed ? gpu_s : 0, .wall_s = is_timed ? 68 : 0.4 };
	result_end(r);
	ok(judge_finish(story.f.db, NULL, r, story.now_ms, &outcome, &err));
	result_free(r);
	snprintf(text, sizeof text,
		"UPDATE job SET device = (SELECT max(id) FROM device), started_at = %lld, ended_at = %lld WHERE id = %lld",
		(long long)story.now_ms - 74000, (long long)story.now_ms, (long long)job);
	ok(db_script(story.f.db, text, &err));
	return outcome.alert;
}

static double nothing(const struct cell *c)
{
	(void)c;
	return 0.0002 * noise_normal(&story.noise);
}
static double sparse_backward(const struct cell *c)
{
	return is_sparse(c) && c->direction == DIRECTION_BACKWARD ? (attention_in(c)->block == 64 ? 0.041 : 0.023) : nothing(c);
}
static double faster(const struct cell *c)
{
	return is_sparse(c) ? nothing(c) : -0.034;
}
static double hard_to_report(const struct cell *c)
{
	return is_sparse(c) && attention_in(c)->block == 128 ? 0.0145 : nothing(c);
}
static double loss_on_main(const struct cell *c)
{
	return is_sparse(c) ? nothing(c) : LOSS_ON_MAIN;
}

static void tip(const char *key, const char *display, unsigned n)
{
	ok(store_tip_put(story.f.db, story.f.repo, key, display, sha_of(n), true, story.now_ms, &err));
}

static int64_t last_comparison(void)
{
	int64_t id = 0;
	struct stmt *s = db_stmt(story.f.db, "SELECT max(id) FROM comparison", &err);
	assert_non_null(s);
	assert_int_equal(stmt_first_int(s, &id, &err), 1);
	return id;
}

/* A profile of one cell: the counters of a recorded shape, scaled to the times of the demo. */
static void explain(int64_t profile, int n, const struct cell *c, const char *file)
{
	struct profile_case *reported = profile_case_new(file);
	double base_ms, change_pct;
	struct stmt *s =
		db_query(story.f.db, &err, "SELECT base_median_ms, change_pct FROM cell WHERE comparison = :id AND key = :key",
			"id=%ld key=%s", last_comparison(), c->key);
	assert_int_equal(stmt_first(s, &err, base_ms, change_pct), 1);
	double factor = base_ms / reported->e.base_ms; /* as if the kernel had that much more work */
	for (size_t i = 0, kernel = 0; i < reported->n_lines; i++) {
		struct msg_kernel *k = &reported->line[i].u.kernel;
		if (reported->line[i].t != MSG_KERNEL)
			continue;
		reported->kernel[kernel].ms = k->ms *= factor;
		for (int v = 0; v < k->n_values; v++)
			if (!strstr(k->value[v].metric, "pct_of") && !strstr(k->value[v].metric, "ctas"))
				reported->value[kernel][v].value = k->value[v].value *= factor;
		kernel++;
	}
	profile_cell_put(&story.f, profile, n, c->key, reported, base_ms, base_ms / (1 + change_pct / 100));
	profile_case_free(reported);
}

/* The cause of the regression of the sparse backward, for the alert of its comparison. */
static void explained(int64_t alert)
{
	static const char *const files[] = { "tests/data/profiles/02-register-cap.jsonl",
		"tests/data/profiles/06-other-parts.jsonl" };
	static const char *const cells[] = { "/r0.2/b64/", "/r0.1/b128/" }; /* the worst one, and one of the other block size */
	int64_t profile = put_profile_request(&story.f, last_comparison(), alert, "done", "");
	for (int n = 0; n < 2; n++)
		for (int i = 0; i < story.suite.n_cells; i++) {
			const struct cell *c = &story.suite.cell[i];
			if (strstr(c->key, cells[n]) && c->direction == DIRECTION_BACKWARD)
				explain(profile, n, c, files[n]);
		}
}

static int64_t judged(
	const char *branch, unsigned base, unsigned target, const char *how, double (*d)(const struct cell *), double run_noise)
{
	struct result *r = begin(branch, base, target, how);
	measured(r, d, run_noise);
	return finish(r);
}

static double beside_cudnn(const struct cell *c)
{
	return c->direction == DIRECTION_BACKWARD ? -0.034 : attention_in(c)->mask == FW_CAUSAL ? -0.105 : 0.027;
}

static void measured_beside_peer(unsigned commit)
{
	char text[160];
	story.now_ms += HOUR_MS / 2;
	struct result *r = begin("", commit, commit, "given");
	r->plan.request.kind = JOBKIND_PEER;
	r->plan.request.rule.confirm = false;
	snprintf(r->plan.request.side[0].provider, sizeof r->plan.request.side[0].provider, "cudnn");
	snprintf(text, sizeof text, "UPDATE job SET kind = 'peer', origin = 'idle', base_provider = 'cudnn' WHERE id = %lld",
		(long long)r->plan.request.job);
	ok(db_script(story.f.db, text, &err));
	measured(r, beside_cudnn, 0.0004);
	finish(r);
}

static void pushes_of_main(void)
{
	static const char *const subjects[] = { "attention: keep scores in registers", "list building: one pass fewer",
		"backward: name the stages", "tests: more ragged lengths", "forward: prefetch the next key block",
		"docs: say what a tile is" };
	for (int i = 1; i <= MAIN_PUSHES; i++) {
		story.now_ms += 5 * HOUR_MS;
		add_commit((unsigned)i, (unsigned)i - 1, i % 3 ? "Ada Brandt" : "Noor Haddad",
			i == SLOWER_PUSH ? "forward: wider tiles" : subjects[i % 6]);
		if (i == 5 || i == 17) { /* only comments changed */
			struct result *r = begin("main", (unsigned)i - 1, (unsigned)i, "last-judged");
			snprintf(r->identical_by, sizeof r->identical_by, "tree");
			r->device.uuid[0] = '\0';
			finish(r);
			continue;
		}
		judged("main", (unsigned)i - 1, (unsigned)i, "last-judged", i == SLOWER_PUSH ? loss_on_main : nothing, 0.0004);
		if (i == SLOWER_PUSH)
			story.dense_level = LOSS_ON_MAIN;
		if (i % 4 == 0)
			measured_beside_peer((unsigned)i);
	}
	tip("main", "main", MAIN_PUSHES);
}

/* Commit `n` is one of those that `target` has and `base` does not. */
static void in_range(unsigned base, unsigned target, unsigned n)
{
	char sha[1][65];
	snprintf(sha[0], sizeof sha[0], "%s", sha_of(n));
	ok(store_range_put(story.f.db, story.f.repo, sha_of(base), sha_of(target), (const char(*)[65])sha, 1, &err));
}

/* A bisect that a user requested over pushes of main, which found the slower one. */
static void bisected(void)
{
	char text[2048];
	struct store_bisect b = { .repo = story.f.repo, .origin = "api", .who = "noor" };
	snprintf(b.good_sha, sizeof b.good_sha, "%s", sha_of(SLOWER_PUSH - 4));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", sha_of(SLOWER_PUSH + 4));
	snprintf(b.suite, sizeof b.suite, "ffa");
	snprintf(b.goal, sizeof b.goal, "regression");
	ok(store_bisect_insert(story.f.db, &b, story.now_ms, &err));
	for (int n = 0; n <= 8; n++)
		ok(store_bisect_commit(story.f.db, b.id, n, sha_of((unsigned)(SLOWER_PUSH - 4 + n)), &err));
	snprintf(text, sizeof text,
		"INSERT INTO bisect_cell (bisect, n, word) SELECT %lld, c.n, c.key FROM comparison x JOIN cell c ON c.comparison = x.id "
		"AND c.verdict = 'regression' WHERE x.target_sha = '%s'; "
		"UPDATE bisect SET n_jobs = 3, state = 'done', state_why = 'culprit: %.12s forward: wider tiles (-2.9 %%), named with "
		"probability above 0.9999', ended_at = %lld, culprits = (SELECT json_array(json_object('from', '%s', 'to', '%s', "
		"'commits', 1, 'skipped', 0, 'subject', 'forward: wider tiles', 'author', 'Ada Brandt', 'confirmed', json('true'), "
		"'change_pct', min(c.decided_pct), 'probability', 0.99996, 'comparison', x.id, 'cells', json_group_array(c.key))) FROM "
		"comparison x JOIN cell c ON c.comparison = x.id AND c.verdict = 'regression' WHERE x.target_sha = '%s') WHERE id = %lld",
		(long long)b.id, sha_of(SLOWER_PUSH), sha_of(SLOWER_PUSH), (long long)story.now_ms + 240000,
		sha_of(SLOWER_PUSH - 1), sha_of(SLOWER_PUSH), sha_of(SLOWER_PUSH), (long long)b.id);
	ok(db_script(story.f.db, text, &err));
}

/* A bisect over pushes of main that a user requested, with a suite that pushes do not run. */
static struct store_bisect requested(const char *who, unsigned good, unsigned bad)
{
	struct store_bisect b = { .repo = story.f.repo, .origin = "api", .suite = "long" };
	snprintf(b.who, sizeof b.who, "%s", who);
	snprintf(b.good_sha, sizeof b.good_sha, "%s", sha_of(good));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", sha_of(bad));
	return b;
}

/* One that failed, and one that waits for a job, which compares both ends. */
static void bisecting(void)
{
	char why[160];
	struct store_bisect failed = requested("ada", MAIN_PUSHES, 2), waiting = requested("kim", 2, 16);
	struct store_job job = {
		.repo = story.f.repo, .kind = JOBKIND_BISECT, .suite = "long", .origin = "bisect", .base_how = "given"
	};
	snprintf(why, sizeof why,
		"the good end %.12s is not an ancestor of the bad end %.12s by first parents: perhaps they are swapped",
		failed.good_sha, failed.bad_sha);
	ok(store_bisect_insert(story.f.db, &failed, story.now_ms - HOUR_MS, &err));
	ok(store_bisect_state(story.f.db, failed.id, "failed", why, story.now_ms - HOUR_MS, &err));
	ok(store_bisect_insert(story.f.db, &waiting, story.now_ms, &err));
	for (int n = 0; n <= 14; n++)
		ok(store_bisect_commit(story.f.db, waiting.id, n, sha_of((unsigned)n + 2), &err));
	ok(store_bisect_state(story.f.db, waiting.id, "measuring", "", story.now_ms, &err));
	snprintf(job.base_sha, sizeof job.base_sha, "%s", sha_of(2));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", sha_of(16));
	ok(store_job_insert(story.f.db, &job, story.now_ms, &err));
	ok(store_bisect_wait(story.f.db, waiting.id, job.id, 0, 14, &err));
}

static void branches(void)
{
	unsigned top = MAIN_PUSHES;
	story.now_ms += HOUR_MS;
	add_commit(101, top, "Ada Brandt", "backward: three stages for the sparse path");
	judged("ada/three-stages", top, 101, "merge-base", sparse_backward, 0.0004);
	story.now_ms += HOUR_MS;
	add_commit(102, 101, "Ada Brandt", "backward: three stages, smaller tiles");
	in_range(top, 102, 101);
	in_range(top, 102, 102);
	tip("ada/three-stages", "ada/three-stages", 102);
	explained(judged("ada/three-stages", top, 102, "merge-base", sparse_backward, 0.0004));
	story.now_ms += HOUR_MS;
	add_commit(103, top, "Noor Haddad", "forward: swizzle the key tiles");
	tip("noor/swizzle", "noor/swizzle", 103);
	judged("noor/swizzle", top, 103, "merge-base", faster, 0.0004);
	story.now_ms += HOUR_MS;
	add_commit(104, top, "Kim Osei", "cache hints on value loads");
	tip("kim/cache-hints", "kim/cache-hints", 104);
	judged("kim/cache-hints", top, 104, "merge-base", hard_to_report, 0.0022);
	story.now_ms += HOUR_MS;
	add_commit(105, top, "Kim Osei", "one accumulator for both halves");
	tip("kim/accumulator", "kim/accumulator", 105);
	struct result *r = begin("kim/accumulator", top, 105, "merge-base");
	fixture_build(r, ROLE_BASE, "ok", sha_of(700));
	fixture_build(r, ROLE_TARGET, "ok", sha_of(701));
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		fixture_check(r, ROLE_BASE, i, "", "feed");
		fixture_check(r, ROLE_TARGET, i, "wrong", "feed");
	}
	finish(r);
}

static void queue(void)
{
	char text[768];
	story.now_ms = clock_utc_ms();
	int64_t running = add_job("noor/swizzle", MAIN_PUSHES, 103, "merge-base");
	(void)add_job("kim/cache-hints", MAIN_PUSHES, 104, "merge-base");
	(void)add_job("kim/accumulator", MAIN_PUSHES, 105, "merge-base");
	snprintf(text, sizeof text,
		"UPDATE job SET state = 'measuring', device = (SELECT max(id) FROM device), started_at = %lld, attempt = 1, "
		"progress = "
		"'{\"run\":3,\"cells\":20,\"open\":14,\"budget_s\":60,\"set\":1,\"cell\":\"%s\",\"role\":\"target\",\"step\":\"time\",\"checked\":40,\"checks\":40}' "
		"WHERE id = %lld; "
		"UPDATE device SET seen_at = %lld",
		(long long)story.now_ms - 41000, story.suite.cell[3].key, (long long)running, (long long)story.now_ms - 2000);
	ok(db_script(story.f.db, text, &err));
	ok(store_job_log(story.f.db, running, story.now_ms - 40000, "base built from cache", &err));
	ok(store_job_log(story.f.db, running, story.now_ms - 20000, "20 cells of both sides accepted", &err));
	bisecting();
}

static void report(const char *folder)
{
	struct fixture *f = &story.f;
	FILE *file = fopen("etc/suites/ffa.yaml", "re");
	size_t n = file ? fread(story.suite_text, 1, sizeof story.suite_text - 1, file) : 0;
	if (file)
		fclose(file);
	ok(suite_parse(story.suite_text, n, "etc/suites/ffa.yaml", &story.suite, &err));
	snprintf(f->path, sizeof f->path, "%s/flopwatch.db", folder);
	fixture_open(f);
	ok(migrate(f->db, &err));
	story.noise = (struct noise){ .state = 20 };
	story.now_ms = clock_utc_ms() - (MAIN_PUSHES + 2) * INT64_C(5) * HOUR_MS;
	ok(db_begin(f->db, &err));
	ok(store_repo_put(f->db, "kernels", "/srv/git/kernels.git", true, "main", &f->repo, &err));
	ok(db_commit(f->db, &err));
	ok(db_begin(f->db, &err));
	add_commit(0, 9999, "Ada Brandt", "first kernels");
	pushes_of_main();
	branches();
	bisected();
	queue();
	ok(db_commit(f->db, &err));
}

/* ---- serving ---------------------------------------------------------------------------------------------------------- */

static int refuse_to(struct fw_err *e)
{
	return err_set(e, ERR_BUSY, "this is a demonstration; nothing is measured");
}
static int no_job(struct control *c, const struct job_request *q, int64_t *id, struct fw_err *e)
{
	(void)c, (void)q, (void)id;
	return refuse_to(e);
}
static int no_calibration(struct control *c, const struct job_request *q, int runs, int64_t *jobs, struct fw_err *e)
{
	(void)c, (void)q, (void)runs, (void)jobs;
	return refuse_to(e);
}
static int no_forgetting(struct control *c, const struct job_request *q, const char *who, int *n, struct fw_err *e)
{
	(void)c, (void)q, (void)who, (void)n;
	return refuse_to(e);
}
static int no_end(struct control *c, int64_t id, const char *who, struct fw_err *e)
{
	(void)c, (void)id, (void)who;
	return refuse_to(e);
}
static int no_retry(struct control *c, int64_t job, int64_t *new_job, struct fw_err *e)
{
	(void)c, (void)job, (void)new_job;
	return refuse_to(e);
}
static int no_pause(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *e)
{
	(void)c, (void)uuid, (void)paused, (void)who;
	return refuse_to(e);
}
static int no_trigger(struct control *c, const char *repo, int64_t *look, struct fw_err *e)
{
	(void)c, (void)repo, (void)look;
	return refuse_to(e);
}
static int no_secret(struct control *c, const char *repo, const char **secret, struct fw_err *e)
{
	(void)c, (void)secret;
	return err_set(e, ERR_NOT_FOUND, "there is no webhook for %.100s", repo);
}
static int no_import(
	struct control *c, const struct foreign_results *figures, int64_t *comparison, bool *is_new, struct fw_err *e)
{
	(void)c, (void)figures, (void)comparison, (void)is_new;
	return refuse_to(e);
}
static int no_judging(struct control *c, int64_t comparison, bool *changed, struct fw_err *e)
{
	(void)c, (void)comparison, (void)changed;
	return refuse_to(e);
}
static int no_notification(struct control *c, int64_t notification, struct fw_err *e)
{
	(void)c, (void)notification;
	return refuse_to(e);
}
static int no_step(struct control *c, int64_t id, enum alertstate state, const char *who, const char *reason, struct fw_err *e)
{
	(void)c, (void)id, (void)state, (void)who, (void)reason;
	return refuse_to(e);
}
static void no_workers(const struct control *c, worker_status_fn *each, void *to)
{
	(void)c, (void)each, (void)to;
}
static int made_up_settings(const struct control *c, struct site_settings *out, struct fw_err *e)
{
	(void)c, (void)e;
	static const struct {
		const char *name, *value;
		int line;
	} settings[] = { { "state_dir", "/var/lib/flopwatch", 5 }, { "listen", "127.0.0.1:8451", 13 },
		{ "sandbox", "required", 22 }, { "workers[0].name", "gpu", 67 }, { "repos[0].name", "kernels", 88 },
		{ "repos[0].url", "/srv/git/kernels.git", 89 }, { "repos[0].branches", "main, */*", 90 },
		{ "webhooks[0].name", "chat", 108 }, { "webhooks[0].url", "https://chat.example.org", 109 },
		{ "webhooks[0].secret_file", "set", 110 } };
	out->file = "/etc/flopwatch/flopwatchd.yml";
	out->folder = "/var/lib/flopwatch";
	out->free_bytes = INT64_C(412) << 30;
	out->total_bytes = INT64_C(960) << 30;
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		out->setting(out->to, settings[i].name, settings[i].value, settings[i].line);
	out->receiver(out->to_receiver,
		&(struct site_receiver){
			.name = "chat", .kind = "webhook", .address = "https://chat.example.org", .has_secret = true });
	return 0;
}
static int no_peers(struct control *c, const struct job_request *q, int64_t *jobs, int *n, struct fw_err *e)
{
	(void)c, (void)q, (void)jobs, (void)n;
	return refuse_to(e);
}
static int no_backup(struct control *c, struct fw_err *e)
{
	(void)c;
	return refuse_to(e);
}
static int no_copy(struct control *c, char *path, size_t size, struct fw_err *e)
{
	(void)c, (void)path, (void)size;
	return refuse_to(e);
}
static void no_copy_over(struct control *c)
{
	(void)c;
}
static int healthy(struct control *c, struct fw_err *e)
{
	(void)c, (void)e;
	return 0;
}

static const struct site_actions actions = {
	.enqueue = no_job,
	.calibrate = no_calibration,
	.forget = no_forgetting,
	.cancel = no_end,
	.retry = no_retry,
	.raise_commit = no_end,
	.pause = no_pause,
	.trigger = no_trigger,
	.secret = no_secret,
	.health = healthy,
	.bisect = no_job,
	.profile = no_job,
	.import = no_import,
	.cancel_bisect = no_end,
	.judge = no_judging,
	.redeliver = no_notification,
	.alert = no_step,
	.workers = no_workers,
	.settings = made_up_settings,
	.peer = no_peers,
	.backup = no_backup,
	.backup_take = no_copy,
	.backup_discard = no_copy_over,
};

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: pages_demo FOLDER [PORT]\n", stderr);
		return 2;
	}
	struct http *http;
	report(argv[1]);
	struct site site = { .db = story.f.db, .pages = page_cache_new() };
	site.act = &actions;
	ok(site_start(&site, "127.0.0.1", argc > 2 ? atoi(argv[2]) : 0, &http, &err));
	printf("listening on http://127.0.0.1:%d\n", http_port(http));
	fflush(stdout);
	for (;;) {
		int64_t wait_ms = http_run(http);
		poll(&(struct pollfd){ .fd = http_fd(http), .events = POLLIN }, 1,
			wait_ms < 0 || wait_ms > 500 ? 500 : (int)wait_ms);
	}
}
