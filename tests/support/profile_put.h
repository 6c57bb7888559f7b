/** profile_put.h - store a cell of tests/data/profiles as the profile of a comparison, as the daemon does at the end of a job. */
#ifndef TESTS_PROFILE_PUT_H
#define TESTS_PROFILE_PUT_H

#include "db/db.h"
#include "fixture_db.h"
#include "profile_case.h"

/** A profile without cells, of a job in `state`. Its id. */
static inline int64_t put_profile_request(
	struct fixture *f, int64_t comparison, int64_t alert, const char *state, const char *why)
{
	struct store_job job = {
		.repo = f->repo, .kind = JOBKIND_PROFILE, .origin = "alert", .base_how = "given", .suite = "ffa"
	};
	struct store_profile p = { .comparison = comparison, .alert = alert };
	char text[512];

	snprintf(job.base_sha, sizeof job.base_sha, "%s", fixture_sha(1));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(2));
	ok(store_job_insert(f->db, &job, 5, &err));
	p.job = job.id;
	ok(store_profile_insert(f->db, &p, &err));
	snprintf(text, sizeof text, "UPDATE job SET state = '%s', state_why = '%s', ended_at = 9 WHERE id = %lld", state, why,
		(long long)job.id);
	ok(db_script(f->db, text, &err));
	return p.id;
}

/** One cell of it, under a key. Times of the case's verdict where `base_ms` is 0. Its id. */
static inline int64_t profile_cell_put(
	struct fixture *f, int64_t profile, int n, const char *key, struct profile_case *c, double base_ms, double target_ms)
{
	struct store_profile_cell cell = { .profile = profile, .n = n, .key = key, .why = "" };
	struct cause cause[CAUSE_MAX];

	if (base_ms > 0) {
		c->e.noise_ms *= base_ms / c->e.base_ms;
		c->e.base_ms = base_ms;
		c->e.target_ms = target_ms;
	}
	cell.base_ms = c->e.base_ms;
	cell.target_ms = c->e.target_ms;
	for (size_t i = 0; i < c->n_lines; i++) {
		if (c->line[i].t == MSG_PROFILE)
			cell.end = &c->line[i].u.profile;
		if (c->line[i].t == MSG_COUNTERFACTUAL)
			cell.with = &c->line[i].u.counterfactual;
	}
	cell.why = cell.end->why;
	ok(store_profile_cell_put(f->db, &cell, &err));
	for (size_t i = 0; i < c->n_lines; i++) {
		if (c->line[i].t == MSG_KERNEL)
			ok(store_profile_kernel_put(f->db, cell.id, &c->line[i].u.kernel, &err));
		if (c->line[i].t == MSG_CODE)
			ok(store_profile_code_put(f->db, cell.id, c->line[i].u.code, &err));
	}
	size_t causes = cause_rank(&c->e, cause, CAUSE_MAX);

	for (size_t i = 0; i < causes; i++)
		ok(store_profile_cause_put(f->db, cell.id,
			&(struct store_profile_cause){ .rank = (int)i,
				.code = cause_kind_names[cause[i].kind],
				.kernel = cause[i].kernel,
				.sentence = cause[i].sentence,
				.explained_ms = cause[i].explained_ms,
				.of_ms = cause[i].of_ms,
				.confidence = cause_confidence_names[cause[i].confidence] },
			&err));
	return cell.id;
}

#endif
