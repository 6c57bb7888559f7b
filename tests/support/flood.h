/** flood.h - a thousand branches pushed at once, and single pushes among them, through the real queue on one simulated device. */
#ifndef TESTS_FLOOD_H
#define TESTS_FLOOD_H

#include "fixture_db.h"

#include <stdlib.h>

#include "db/db.h"

enum { FLOOD_BRANCHES = 1000, FLOOD_SINGLES = 100, FLOOD_JOB_MS = 60000, FLOOD_SEPARATE = 10, FLOOD_RESOLVE_MS = 1200 };

/** Of single pushes, from push to end; and how many of the flood were done when the last of these was. Units: job lengths. */
struct flood {
	double median, p95, most;
	int n_flooded;
};

static inline int flood_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* It is resolved later. Returns its id. */
static inline int64_t flood_push(struct fixture *f, const char *kind, int n, int64_t now_ms)
{
	struct store_job j = { .repo = f->repo, .kind = JOBKIND_COMPARE, .origin = "push" };
	snprintf(j.branch, sizeof j.branch, "%s-%d", kind, n);
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha((unsigned)(now_ms / 1000 + n)));
	ok(store_job_insert(f->db, &j, now_ms, &err));
	return j.id;
}

/* The next one that waits for that. False: there is none. */
static inline bool flood_resolve(struct fixture *f, struct store_job_round_robin *turn)
{
	struct store_job j;
	int got = store_job_next_unresolved(f->db, turn, "[]", &j, &err);
	assert_true(got >= 0);
	if (got == 1) {
		ok(store_job_resolve(f->db, j.id, fixture_sha(0), "merge-base", j.kind, "ffa", &err));
		fixture_plan(f, j.id);
	}
	return got == 1;
}

struct flood_clock {
	int64_t now_ms, next_push_ms, next_resolve_ms, pushed_at[FLOOD_SINGLES], single[FLOOD_SINGLES];
	int n_pushed;
	uint64_t draw;
	struct store_job_round_robin turn;
};

/* Resolve everything that was pushed up to now. */
static inline void flood_pass(struct fixture *f, struct flood_clock *c)
{
	while (c->next_resolve_ms <= c->now_ms) {
		for (; c->n_pushed < FLOOD_SINGLES && c->next_push_ms <= c->next_resolve_ms; c->n_pushed++) {
			c->pushed_at[c->n_pushed] = c->next_push_ms;
			c->single[c->n_pushed] = flood_push(f, "single", c->n_pushed, c->next_push_ms);
			c->draw = c->draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			c->next_push_ms +=
				FLOOD_SEPARATE * FLOOD_JOB_MS / 2 + (int64_t)((c->draw >> 33) % (FLOOD_SEPARATE * FLOOD_JOB_MS));
		}
		(void)flood_resolve(f, &c->turn);
		c->next_resolve_ms += FLOOD_RESOLVE_MS;
	}
}

/**
 * One device; a job takes FLOOD_JOB_MS, and another is resolved every FLOOD_RESOLVE_MS, so that the flood takes as long as 20
 * jobs to resolve; a single push comes about every FLOOD_SEPARATE jobs, at any time during one.
 */
static inline struct flood flood_run(struct fixture *f)
{
	static double waited[FLOOD_SINGLES];
	static struct flood_clock c;
	struct flood out = { 0 };
	int n_done = 0;
	c = (struct flood_clock){
		.now_ms = 1000, .next_push_ms = 2 * FLOOD_JOB_MS + 7, .next_resolve_ms = 1000 + FLOOD_RESOLVE_MS, .draw = 12345
	};
	for (int i = 0; i < FLOOD_BRANCHES; i++)
		flood_push(f, "flood", i, c.now_ms);
	while (n_done < FLOOD_SINGLES) {
		struct store_job j;
		flood_pass(f, &c);
		int got = store_job_next(f->db, DEVICE_CPU, "", "[]", &j, &err);
		assert_true(got >= 0);
		if (got == 0) {
			c.now_ms += FLOOD_RESOLVE_MS;
			continue;
		}
		ok(store_job_send(f->db, j.id, f->device, "nonce", c.now_ms, &err));
		c.now_ms += FLOOD_JOB_MS;
		ok(store_job_state(f->db, j.id, JOBSTATE_FAILED, "test", c.now_ms, &err));
		for (int i = 0; i < c.n_pushed; i++)
			if (c.single[i] == j.id)
				waited[n_done++] = (double)(c.now_ms - c.pushed_at[i]) / FLOOD_JOB_MS;
		out.n_flooded += strncmp(j.branch, "flood", 5) == 0;
	}
	qsort(waited, FLOOD_SINGLES, sizeof *waited, flood_by_size);
	out.median = waited[FLOOD_SINGLES / 2];
	out.p95 = waited[FLOOD_SINGLES * 95 / 100];
	out.most = waited[FLOOD_SINGLES - 1];
	return out;
}

#endif
