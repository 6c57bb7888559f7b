#include "flopwatchd/record/internal.h"

#include "verdict/verdict.h"

#define HALF_WIDTH 1.96 /* of an interval, in standard errors */

/* A side's kernels: ms of a call, and the difference between two processes. */
struct kernel_times {
	double ms, separate_ms; /* 0 0: a kernel has no time */
};

/* Take the deciding figures of sustained runs or slow calls, else the pairs, and the clock's part of them. */
static void use_verdict(struct cause_evidence *e, const struct store_cell *c)
{
	double m = isfinite(c->m) ? c->m : log(c->target_median_ms / c->base_median_ms), se = c->se;
	e->base_ms = c->base_median_ms;
	if (c->decider == DECIDER_SUSTAINED_RUNS && isfinite(c->decided_m)) {
		e->clock_ms = e->base_ms * (exp(c->decided_m) - exp(m));
		m = c->decided_m;
		se = c->decided_se;
	} else if ((c->flags & FLAG_CLOCK) && isfinite(c->m_code)) {
		e->clock_ms = e->base_ms * (exp(m) - exp(c->m_code));
	}
	e->target_ms = e->base_ms * exp(m);
	e->noise_ms = isfinite(se) ? HALF_WIDTH * se * e->base_ms : 0;
}

static struct kernel_times kernel_times(const struct cause_evidence *e, bool of_target)
{
	double sum[CAUSE_REPEATS] = { 0 };
	bool seen[CAUSE_REPEATS] = { false };
	for (size_t i = 0; i < e->n_kernels; i++) {
		const struct cause_kernel *k = &e->kernel[i];
		if (k->of_target != of_target)
			continue;
		if (k->ms < 0)
			return (struct kernel_times){ 0 };
		sum[k->repeat] += k->ms;
		seen[k->repeat] = true;
	}
	int processes = seen[0] + seen[1];
	return (struct kernel_times){ .ms = processes ? (sum[0] + sum[1]) / processes : 0,
		.separate_ms = processes == 2 ? fabs(sum[0] - sum[1]) : 0 };
}

static bool is_timed(const struct store_cell *c)
{
	return c && isfinite(c->base_median_ms) && isfinite(c->target_median_ms) && c->base_median_ms > 0 &&
	       c->target_median_ms > 0;
}

void profile_times(const struct store_cell *timed, struct cause_evidence *e)
{
	struct kernel_times base = kernel_times(e, false), target = kernel_times(e, true);
	if (!is_timed(timed)) {
		e->base_ms = base.ms;
		e->target_ms = target.ms;
		return;
	}
	use_verdict(e, timed);
	if (timed->series != SERIES_CALL || !(base.ms > 0) || !(target.ms > 0))
		return;
	double host_ms = e->target_ms - e->base_ms - (target.ms - base.ms);
	e->host_ms = fabs(host_ms) > base.separate_ms + target.separate_ms ? host_ms : 0;
}
