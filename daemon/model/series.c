/* series.c - names. */
#include "model/internal.h"

const char *const series_names[SERIES_N + 1] = {
	[SERIES_DEVICE] = "device",
	[SERIES_CALL] = "call",
	[SERIES_PHASE] = "phase",
	[SERIES_SUSTAINED] = "sustained",
	[SERIES_PROCESS] = "process",
};

const char *series_name(enum series series)
{
	return series_names[series < SERIES_N ? series : SERIES_DEVICE];
}

enum series series_from_name(const char *name)
{
	int at = name_find(series_names, SERIES_N, name);
	return at < SERIES_N ? (enum series)at : SERIES_DEVICE;
}
