/* rotation.c - choice by age and by changes. */
#include "model/model.h"

static int oldest(const struct rotation_shard *shard, int n)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!shard[i].is_requested && (best < 0 || shard[i].measured_at < shard[best].measured_at))
			best = i;
	return best;
}

static int newest_change(const struct rotation_shard *shard, int n, int64_t since_ms)
{
	int best = -1;

	for (int i = 0; i < n; i++)
		if (!shard[i].is_requested && shard[i].has_change && shard[i].measured_at < since_ms &&
			(best < 0 || shard[i].measured_at > shard[best].measured_at))
			best = i;
	return best;
}

bool rotation_is_behind(const struct rotation_shard *shard, int n, int nights, int64_t since_ms)
{
	int done = 0, share = (n + nights - 1) / nights;

	for (int i = 0; i < n; i++)
		done += shard[i].measured_at >= since_ms;
	return done < share;
}

int rotation_next(const struct rotation_shard *shard, int n, int nights, int64_t since_ms)
{
	int alert_update = rotation_is_behind(shard, n, nights, since_ms) ? -1 : newest_change(shard, n, since_ms);

	return alert_update >= 0 ? alert_update : oldest(shard, n);
}
