/* rotation.c - choice by age and by changes. */
#include "model/model.h"

static int oldest(const struct rotation_part *part, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!part[i].is_requested && (best < 0 || part[i].measured_at < part[best].measured_at))
			best = i;
	return best;
}

static int newest_change(const struct rotation_part *part, int n, int64_t night_at)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!part[i].is_requested && part[i].has_change && part[i].measured_at < night_at &&
			(best < 0 || part[i].measured_at > part[best].measured_at))
			best = i;
	return best;
}

bool rotation_is_behind(const struct rotation_part *part, int n, int nights, int64_t night_at)
{
	int done = 0, share = (n + nights - 1) / nights;

	for (int i = 0; i < n; i++)
		done += part[i].measured_at >= night_at;
	return done < share;
}

int rotation_next(const struct rotation_part *part, int n, int nights, int64_t night_at)
{
	int alert_update = rotation_is_behind(part, n, nights, night_at) ? -1 : newest_change(part, n, night_at);

	return alert_update >= 0 ? alert_update : oldest(part, n);
}
