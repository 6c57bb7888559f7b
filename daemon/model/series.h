/** series.h - ways of timing a cell; the times of one way are a series. */
#ifndef MODEL_SERIES_H
#define MODEL_SERIES_H

enum series {
	SERIES_DEVICE,    /* device time of a call */
	SERIES_CALL,      /* from an idle stream, host time included */
	SERIES_PHASE,     /* one phase of a call */
	SERIES_SUSTAINED, /* sustained runs, in which each side stabilises at the clock of its own power draw */
	SERIES_PROCESS,   /* reported by a benchmark program */
	SERIES_N
};

/** As in lines, rows and pages: "device" "call" "phase" "sustained" "process". Shape: ends with NULL. */
extern const char *const series_names[SERIES_N + 1];

const char *series_name(enum series series);
/** SERIES_DEVICE for an unknown word, and for "". */
enum series series_from_name(const char *name);

#endif
