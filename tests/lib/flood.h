/** flood.h - a thousand branches pushed at once, and single pushes beside them, through the real queue on one simulated device. */
#ifndef TESTS_FLOOD_H
#define TESTS_FLOOD_H

#include "fixture_db.h"

#include <stdlib.h>

#include "db/store/job.h"

enum { FLOOD_BRANCHES = 1000, FLOOD_SINGLES = 100, FLOOD_JOB_MS = 60000, FLOOD_APART = 10 };

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

static inline struct store_job flood_push(struct fixture *f, const char *kind, int n, int64_t now_ms)
{
	char branch[32];
	snprintf(branch, sizeof branch, "%s-%d", kind, n);
	return (struct store_job){ .id = fixture_job(f, branch, 0, (unsigned)(now_ms / 1000 + n), now_ms) };
}

/** One device; a job takes FLOOD_JOB_MS; a single push comes about every FLOOD_APART jobs, at any time of one. */
static inline struct flood flood_run(struct fixture *f)
{
	static double waited[FLOOD_SINGLES];
	static int64_t pushed_at[FLOOD_SINGLES], single[FLOOD_SINGLES];
	struct flood out = { 0 };
	int n_pushed = 0, n_done = 0;
	uint64_t draw = 12345;
	int64_t next_push_ms = 5 * FLOOD_JOB_MS + 7, now_ms = 1000;
	for (int i = 0; i < FLOOD_BRANCHES; i++)
		flood_push(f, "flood", i, now_ms);
	while (n_done < FLOOD_SINGLES) {
		struct store_job j;
		while (n_pushed < FLOOD_SINGLES && next_push_ms <= now_ms) {
			pushed_at[n_pushed] = next_push_ms;
			single[n_pushed] = flood_push(f, "single", n_pushed, next_push_ms).id;
			n_pushed++;
			draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			next_push_ms += FLOOD_APART * FLOOD_JOB_MS / 2 + (int64_t)((draw >> 33) % (FLOOD_APART * FLOOD_JOB_MS));
		}
		int got = store_job_next(f->db, DEVICE_CPU, "", "[]", &j, &err);
		assert_int_equal(got, 1);
		ok(store_job_send(f->db, j.id, f->device, "nonce", now_ms, &err));
		now_ms += FLOOD_JOB_MS;
		ok(store_job_state(f->db, j.id, JOBSTATE_FAILED, "test", now_ms, &err));
		for (int i = 0; i < n_pushed; i++)
			if (single[i] == j.id)
				waited[n_done++] = (double)(now_ms - pushed_at[i]) / FLOOD_JOB_MS;
		out.n_flooded += strncmp(j.branch, "flood", 5) == 0;
		if (out.n_flooded + n_pushed - n_done == FLOOD_BRANCHES && n_pushed == FLOOD_SINGLES)
			break;
	}
	assert_int_equal(n_done, FLOOD_SINGLES);
	qsort(waited, FLOOD_SINGLES, sizeof *waited, flood_by_size);
	out.median = waited[FLOOD_SINGLES / 2];
	out.p95 = waited[FLOOD_SINGLES * 95 / 100];
	out.most = waited[FLOOD_SINGLES - 1];
	return out;
}

#endif
