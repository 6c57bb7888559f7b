/* measured_share.c - measured shares of the difference: clock, host, and the target with the base's configuration. */
#include <math.h>
#include <stdio.h>

#include "profile/internal.h"

void measured_share_find(const struct cause_evidence *e, struct findings *f)
{
	bool slower = f->sign > 0;

	finding_exact(f, CAUSE_CLOCK, NULL, e->clock_ms,
		slower ? "the device runs at a lower clock under the target"
		       : "the device runs at a higher clock under the target");
	finding_exact(f, CAUSE_HOST, NULL, e->host_ms,
		slower ? "the host takes longer to submit the work" : "the host takes less time to submit the work");
}

void configuration_find(const struct cause_evidence *e, struct findings *f)
{
	char delta[CONFIG_DELTA_SIZE], what[FINDING_SIZE];
	double lost = e->with_target_ms - e->with_base_ms, back = e->with_target_ms - e->with_ms;

	config_delta_text(e->base_config, e->target_config, delta);
	if (!delta[0])
		return;
	snprintf(what, sizeof what, "%.*s", FINDING_SIZE - 1, delta);
	sentence_plain(what);
	if (!(e->with_base_ms > 0) || !(e->with_target_ms > 0) || !(e->with_ms > 0)) {
		finding_seen(f, CAUSE_CONFIG, NULL, 2, what);
		return;
	}
	/* that run has its own difference: the configuration gets the same share of the verdict's difference */
	double of = e->target_ms - e->base_ms, share = lost * of > 0 ? back / lost : NAN;

	finding_exact(f, CAUSE_CONFIG, NULL, isfinite(share) ? of * fmin(share, 1) : back, what);
}
