/** fixture_result.h - results of jobs as a worker would have sent them, made from seeded noise. */
#ifndef TESTS_FIXTURE_RESULT_H
#define TESTS_FIXTURE_RESULT_H

#include "attention_cell.h"
#include "fixture_db.h"

#include "flopwatchd/job/job.h"
#include "flopwatchd/record/record.h"
#include "noise.h"

/** An empty result for a job of `n` cells, dense causal, then one block-sparse in four. */
static inline struct result *fixture_result_of(struct fixture *f, int64_t job, unsigned base, unsigned target, int n_cells)
{
	struct plan plan;
	plan_init(&plan);
	struct msg_job *request = &plan.request;
	request->job = job;
	request->kind = JOBKIND_COMPARE;
	request->n_sides = 2;
	request->side[0].role = ROLE_BASE;
	request->side[1].role = ROLE_TARGET;
	snprintf(request->side[0].commit, 65, "%s", fixture_sha(base));
	snprintf(request->side[1].commit, 65, "%s", fixture_sha(target));
	for (int i = 0; i < request->n_sides; i++) { /* every commit has different sources */
		struct msg_side *m = &request->side[i];
		m->n_inputs = 1;
		snprintf(m->input[0].path, sizeof m->input[0].path, "attention.c");
		snprintf(m->input[0].oid, sizeof m->input[0].oid, "%s", m->commit);
	}
	request->n_cells = n_cells;
	request->cell = calloc((size_t)n_cells, sizeof *request->cell);
	assert_non_null(request->cell);
	for (int i = 0; i < n_cells; i++) {
		struct cell *c = &request->cell[i];
		bool sparse = i % 4 == 3;
		c->direction = DIRECTION_FORWARD;
		c->threshold_pct = 1.5;
		snprintf(c->family, sizeof c->family, "attention");
		*attention_of(c) = (struct attention_case){ .mask = sparse ? FW_BLOCKS : FW_CAUSAL,
			.seqlen = 1024 * (i + 1),
			.nhq = 4,
			.nhk = 1,
			.headdim = 128,
			.dtype = FW_BF16,
			.n_seqs = 1,
			.length = { 1024 * (i + 1) },
			.block = sparse ? 64 : 0,
			.sparsity_ratio = sparse ? 0.2 : 0 };
		c->seed = 42;
		case_name(c);
	}
	rule_default(&request->rule, n_cells);
	cost_limits_default(&plan.costs);
	snprintf(plan.base_how, sizeof plan.base_how, "merge-base");
	snprintf(plan.suite_name, sizeof plan.suite_name, "ffa");
	snprintf(plan.suite_sha, sizeof plan.suite_sha, "5a17e");
	snprintf(plan.suite_origin, sizeof plan.suite_origin, "installed");
	buf_puts(&plan.suite_text, "suite: ffa\n");
	struct result *r = result_new(&plan);
	assert_non_null(r);
	r->device = fixture_device();
	r->device_id = f->device;
	snprintf(r->isolation, sizeof r->isolation, "none");
	r->done = (struct msg_done){ .gpu_s = 12.5, .wall_s = 30 };
	return r;
}

/** Such a job on a branch, queued, and an empty result for it. */
static inline struct result *fixture_result(struct fixture *f, const char *branch, unsigned base, unsigned target, int n_cells)
{
	return fixture_result_of(f, fixture_job(f, branch, base, target, 1000), base, target, n_cells);
}

static inline void fixture_add(struct result *r, struct msg *m)
{
	ok(result_add(r, m, &err));
	msg_fini(m);
}

static inline void fixture_build(struct result *r, enum role role, const char *state, const char *module)
{
	struct msg m = { .t = MSG_BUILD };
	m.u.build.role = role;
	snprintf(m.u.build.state, sizeof m.u.build.state, "%s", state);
	snprintf(m.u.build.module_sha256, sizeof m.u.build.module_sha256, "%s", module);
	snprintf(m.u.build.toolchain, sizeof m.u.build.toolchain, "gcc 12.2.0");
	m.u.build.exit = strcmp(state, "failed") == 0 ? 2 : 0;
	if (m.u.build.exit)
		snprintf(m.u.build.detail, sizeof m.u.build.detail, "make: exit 2");
	buf_init(&m.u.build.log, 4096);
	buf_puts(&m.u.build.log, "cc -c attention.c\n");
	fixture_add(r, &m);
}

static inline void fixture_check(struct result *r, enum role role, int cell, const char *failure, const char *input)
{
	struct msg m = { .t = MSG_CHECK, .u.check = { .cell = cell, .ok = !failure[0], .error_ratio = 0.31 } };
	m.u.check.role = role;
	snprintf(m.u.check.failure, sizeof m.u.check.failure, "%s", failure);
	snprintf(m.u.check.input_sha256, sizeof m.u.check.input_sha256, "%s", input);
	snprintf(m.u.check.detail, sizeof m.u.check.detail,
		"O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)");
	fixture_add(r, &m);
}

static inline void fixture_fault(struct result *r, enum role role, int cell, const char *failure)
{
	struct msg m = { .t = MSG_FAULT, .u.fault = { .cell = cell } };
	m.u.fault.role = role;
	snprintf(m.u.fault.failure, sizeof m.u.fault.failure, "%s", failure);
	snprintf(m.u.fault.detail, sizeof m.u.fault.detail, "killed by SIGSEGV");
	fixture_add(r, &m);
}

/** Both sides built to different modules, each commit to its own, and every cell accepted. */
static inline void fixture_accepted(struct result *r)
{
	static const enum role roles[] = { ROLE_BASE, ROLE_TARGET };
	for (int s = 0; s < 2; s++) {
		char module[65];
		snprintf(module, sizeof module, "%s%.48s", s ? "bbbb" : "aaaa", r->plan.request.side[s].commit);
		fixture_build(r, roles[s], "ok", module);
		for (int i = 0; i < r->plan.request.n_cells; i++)
			fixture_check(r, roles[s], i, "", "feed");
	}
}

static inline void fixture_run(struct result *r, int run, int set)
{
	struct msg m = { .t = MSG_RUN };
	m.u.run = calloc(1, sizeof *m.u.run);
	assert_non_null(m.u.run);
	*m.u.run = (struct msg_run){ .run = run, .set = set, .seed = UINT64_MAX - (unsigned)run };
	fixture_add(r, &m);
}

static inline float *fixture_copy(const float *from, int n)
{
	float *to = malloc((size_t)n * sizeof *to);
	assert_non_null(to);
	memcpy(to, from, (size_t)n * sizeof *to);
	return to;
}

/** One record of 16 pairs whose target is `shift` slower (log). `reasons`: limit reasons of the clock. */
static inline void fixture_timing(struct result *r, struct noise *noise, int run, int set, int cell, enum series series,
	const char *phase, double shift, uint64_t reasons)
{
	enum { PAIRS = 16 };
	struct msg m = { .t = MSG_CELL };
	struct noise_run l;
	struct run_pairs p;
	noise_pairs(noise, shift, PAIRS, set, &l, &p);
	struct msg_cell *c = m.u.cell = calloc(1, sizeof *m.u.cell);
	assert_non_null(c);
	c->run = run;
	c->set = set;
	c->cell = cell;
	c->n_sides = 2;
	c->n = PAIRS;
	c->series = series;
	snprintf(c->phase, sizeof c->phase, "%s", phase);
	snprintf(c->input_sha256, sizeof c->input_sha256, "feed");
	c->role[0] = ROLE_BASE;
	c->role[1] = ROLE_TARGET;
	c->ms[0] = fixture_copy(l.base_ms, PAIRS);
	c->ms[1] = fixture_copy(l.target_ms, PAIRS);
	if (p.base_mhz) {
		c->mhz[0] = fixture_copy(l.base_mhz, PAIRS);
		c->mhz[1] = fixture_copy(l.target_mhz, PAIRS);
	}
	c->device_check =
		(struct msg_device_check){ .power_w = -1, .temp_c = -1, .sm_mhz = -1, .reasons = reasons, .foreign = -1 };
	fixture_add(r, &m);
}

/** The runs of a worker: 6 of set 1 and 6 of set 2 of every cell; cell i is shift[i] slower; calls in the first run, phases in
 * that of each set. */
static inline void fixture_measured(struct result *r, const double *shift)
{
	struct noise noise = { .state = 7, .white = 0.003, .run = 0.0005, .clock = 0.004, .outlier = 0.02 };
	struct noise second =
		noise; /* phases are drawn a second time, all other draws are the same: recorded histories depend on them */
	second.state = 8;
	fixture_accepted(r);
	for (int run = 1; run <= 12; run++) {
		int set = run <= 6 ? 1 : 2;
		fixture_run(r, run, set);
		for (int i = 0; i < r->plan.request.n_cells; i++) {
			fixture_timing(r, &noise, run, set, i, SERIES_DEVICE, "", shift[i], 0);
			if (run == 1)
				fixture_timing(r, &noise, run, set, i, SERIES_CALL, "", shift[i], 0);
			if (run != 1 && run != 7)
				continue;
			struct noise *of = run == 1 ? &noise : &second;
			fixture_timing(r, of, run, set, i, SERIES_PHASE, "prepare", 0, 0);
			fixture_timing(r, of, run, set, i, SERIES_PHASE, "run", shift[i], 0);
		}
	}
}

#endif
