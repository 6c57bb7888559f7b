/* given.c - what the comparison has measured itself: how much of the difference a clock makes, and how much the host. */
#include <stdio.h>

#include "core/cause/classes.h"

void given_find(const struct cause_evidence *e, struct findings *f)
{
	bool slower = f->sign > 0;

	finding_exact(f, CAUSE_CLOCK, NULL, e->clock_ms,
		slower ? "the device runs at a lower clock under the target"
		       : "the device runs at a higher clock under the target");
	finding_exact(f, CAUSE_HOST, NULL, e->host_ms,
		slower ? "the host takes longer to hand the work over" : "the host takes less time to hand the work over");
}
