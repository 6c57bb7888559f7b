/** flag.h - flags of a cell besides its verdict, as bits and as words. Pure. */
#ifndef VERDICT_FLAG_H
#define VERDICT_FLAG_H

#include <stddef.h>

#include "stats/stats.h"

enum {
	FLAG_BORDERLINE = 1,     /* decided at the last run, by sign; for programs by the 95 % interval */
	FLAG_TAIL = 2,           /* the typical call is unchanged, slow calls became more frequent */
	FLAG_SUSTAINED = 4,      /* decided by sustained runs, in which each side stabilises at the clock of its own power draw */
	FLAG_CALL = 8,           /* a call from an idle stream, host time included, became slower */
	FLAG_ENQUEUE = 16,       /* enqueue takes more host time */
	FLAG_CLOCK = 32,         /* a part of the change is the branch's effect on the clock */
	FLAG_UNDERPOWERED = 64,  /* equal builds are too noisy for the threshold: only a clear loss shows */
	FLAG_NOISY = 128,        /* undecided only because of noisy runs: may be decided at another time */
	FLAG_OVERWHELMING = 256, /* decided at once: chance explains it less than once in a million (stats/interim.h) */
	FLAG_END = 512
};

enum { FLAG_WORDS_SIZE = 96 };

/** Write the words of all flags, separated by single spaces. Shape: out[FLAG_WORDS_SIZE]. */
void flag_words(int flags, char out[FLAG_WORDS_SIZE]);
/** Parse the words; unknown ones are ignored. */
int flag_parse(const char *words);

/** Minimum pairs of whole calls for a warning: long calls have few, and their clock varies more than any host time. */
enum { FLAG_CALL_PAIRS_MIN = 4 };
/** Return FLAG_CALL if throughput with host time lost over 1.5 %, the interval excludes no loss, and pairs are enough. */
int flag_call(const struct estimate *call);
/** Noise of host time between runs of the same code, as a log ratio: caches and placement differ from process to process. */
#define FLAG_HOST_TAU0 0.05
#define FLAG_HOST_NU0  6 /* its weight, in runs */
/**
 * Return FLAG_ENQUEUE if enqueue became longer by more than 2 us and by more than 10 %, and runs agree. Units: medians in us,
 * NAN: unknown; `at_least` the log ratio minus its standard errors.
 */
int flag_enqueue(double base_us, double target_us, double at_least);
/** Return FLAG_CLOCK if the clock's part of the change is more than 0.1 points and three of its standard errors. */
int flag_clock(const struct estimate *e);

#endif
