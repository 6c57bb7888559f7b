/** series.h - the ways in which a cell is timed; times of one are a series. */
#ifndef CORE_STATE_SERIES_H
#define CORE_STATE_SERIES_H

enum series {
	SERIES_DEVICE,    /* a call as the device sees it */
	SERIES_CALL,      /* from an idle stream, the host's time included */
	SERIES_PHASE,     /* one phase of a call */
	SERIES_SUSTAINED, /* sustained runs, in which each side settles at the clock that its own power draw allows */
	SERIES_PROCESS,   /* what a program of its own says */
	SERIES_N
};

/** As in lines, rows and pages: "device" "call" "phase" "sustained" "process". Shape: ends with NULL. */
extern const char *const series_names[SERIES_N + 1];

const char *series_name(enum series series);
/** SERIES_DEVICE for an unknown word, and for "". */
enum series series_from_name(const char *name);

#endif
