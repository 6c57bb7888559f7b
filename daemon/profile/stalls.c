/* stalls.c - shares of warp stalls. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>

#define NOISES    3
#define FLOOR     0.003 /* of a kernel's time: processes do not repeat stalls better */
#define OWN_LEAST 0.2   /* minimum share of a wait's growth beyond that of all waits */

const char *const stall_names[STALLS + 1] = { "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss",
	"lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction",
	"not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait", NULL };

void stalls_read(const struct kernel_pair *p, struct stalls *out)
{
	struct amount of[STALLS];
	double base = 0, target = 0;

	*out = (struct stalls){ 0 };
	for (int i = 0; i < STALLS; i++) {
		char metric[80];

		snprintf(metric, sizeof metric, "smsp__warps_issue_stalled_%s.sum", stall_names[i]);
		of[i] = amount_of(p, metric);
		base += of[i].base;
		target += of[i].target;
	}
	if (!(base > 0) || !(target > 0) || !p->is_timed)
		return;
	out->is_known = true;
	for (int i = 0; i < STALLS; i++) {
		double target_ms = p->base_ms + p->change_ms, noise = p->base_ms * fmax(FLOOR, of[i].noise / base);

		out->of[i].base = of[i].base / base;
		out->of[i].target = of[i].target / target;
		double ms = target_ms * out->of[i].target - p->base_ms * out->of[i].base;
		double own = (of[i].target / of[i].base - target / base) * out->of[i].base * p->base_ms;

		if (!(of[i].base > 0))
			own = ms;
		if (i != STALL_SELECTED && fabs(ms) > NOISES * noise && own * ms > 0 && fabs(own) > OWN_LEAST * fabs(ms))
			out->of[i].ms = ms;
	}
}

double stalls_sum(const struct stalls *s, unsigned which, double sign)
{
	double sum = 0;

	for (int i = 0; i < STALLS; i++)
		if ((which >> i & 1) && s->of[i].ms * sign > 0)
			sum += s->of[i].ms;
	return sum;
}
