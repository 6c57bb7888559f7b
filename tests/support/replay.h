/**
 * replay.h - recorded runs from which a comparison draws, sides as they were recorded.
 */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include "noise.h"

#include <math.h>

#include "recorded.h"
#include "samples.h"

/** Cells in which both sides ran the same kernel. */
static inline bool replay_wants_equal(const char *comparison, const char *cell)
{
	bool forward = strstr(cell, "forward") != NULL;

	static const char *const forward_differs[] = { "fillo", "memset", "evict", "tail" }; /* and nothing of their backward */

	for (size_t i = 0; i < sizeof forward_differs / sizeof *forward_differs; i++)
		if (strcmp(comparison, forward_differs[i]) == 0)
			return !forward;
	if (strncmp(comparison, "slower", 6) == 0)
		return !forward;
	return strcmp(comparison, "onepart") != 0 || forward;
}

/** Equal kernels with the clock of each call: the 20 cells of suite ffa. 0, or -1 where a file cannot be read. */
static inline int replay_read_clocked(const char *recorded_dir, const char *samples_path, struct samples *out)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/h200-clock.csv", recorded_dir);
	return samples_read_csv(path, replay_wants_equal, out) || samples_read_json(samples_path, replay_wants_equal, out) ? -1
															   : 0;
}

/** Equal kernels without clocks, of the older recording: fourteen, of seven runs each. */
static inline void replay_read_unclocked(const char *recorded_dir, struct samples *out)
{
	static struct recording r;

	recorded_read(recorded_dir, &r);
	for (int i = 0; i < r.n; i++) {
		const struct recorded *k = &r.kernel[i];
		for (int l = 0; l < k->n_runs; l++) {
			struct samples_run *to = samples_open(out, k->name);
			if (!to)
				recorded_stop("does not fit", k->name);
			to->n = k->run[l].n;
			memcpy(to->base_ms, k->run[l].a, sizeof k->run[l].a);
			memcpy(to->target_ms, k->run[l].b, sizeof k->run[l].b);
		}
	}
}

/** Changes a current rule to that of version 4, with whose results the current ones are compared. */
static inline void replay_rule_before(struct rule *r)
{
	r->version = 4;
	r->p_interim = 0;
	r->runs_max = 12;
	r->cover = (struct cover_prior){ .odd = 0 };
}

/** The order in which a comparison draws the runs of a cell. Shape: order[n]. */
static inline void replay_shuffle(struct noise *dice, int *order, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)(noise_uniform(dice) * (i + 1)), kept = order[i];
		order[i] = order[k];
		order[k] = kept;
	}
}

/** The change planted in the target: its time is multiplied, and its clock moves by `clock`, which its time follows. Log
 * ratios. */
struct replay_plant {
	double time, clock;
};

/** `beta`: how times of this cell follow its clock. */
static inline void replay_plant(
	const struct samples_run *from, const struct replay_plant *plant, double beta, struct samples_run *to)
{
	*to = *from;
	for (int i = 0; i < to->n; i++) {
		to->target_ms[i] *= (float)exp(plant->time + beta * plant->clock);
		to->target_mhz[i] *= (float)exp(plant->clock);
	}
}

#endif
