/**
 * flag.h - what a person has to know about a cell beside its verdict, as bits and as words. Pure.
 */
#ifndef CORE_VERDICT_FLAG_H
#define CORE_VERDICT_FLAG_H

#include <stddef.h>

#include "core/stats/stats.h"

enum {
	FLAG_BORDERLINE = 1, /* decided at the last run, by sign; of programs by the 95 % interval */
	FLAG_TAIL = 2,       /* the typical call is as before, slow calls became more frequent */
	FLAG_SUSTAINED =
		4,         /* decided by sustained runs, in which each side settles at the clock that its own power draw allows */
	FLAG_CALL = 8,     /* a call from an idle stream, host time included, became slower */
	FLAG_ENQUEUE = 16, /* enqueue costs the host more */
	FLAG_CLOCK = 32,   /* a part of the change is what the branch does to the clock */
	FLAG_UNDERPOWERED = 64,  /* equal builds noise too much to see the threshold: a loss has to be clear */
	FLAG_NOISY = 128,        /* undecided by nothing but the noise of its runs: another hour may decide it */
	FLAG_OVERWHELMING = 256, /* decided at once: chance explains it less than once in a million (stats/interim.h) */
	FLAG_END = 512
};

enum { FLAG_WORDS_SIZE = 96 };

/** The words of all flags, separated by single spaces. Shape: out[FLAG_WORDS_SIZE]. */
void flag_words(int flags, char out[FLAG_WORDS_SIZE]);
/** The other way; what is no flag is left out. */
int flag_parse(const char *words);

/** Fewer pairs of whole calls warn of nothing: long calls have few, and there the clock moves more than any host could. */
enum { FLAG_CALL_PAIRS_MIN = 4 };
/** FLAG_CALL where host time included lost more than 1.5 %, the interval excludes no loss, and there are pairs enough. */
int flag_call(const struct estimate *call);
/** Noise of the host's time between runs of the same code, as a log ratio: caches and placement differ from process to process. */
#define FLAG_HOST_TAU0 0.05
#define FLAG_HOST_NU0  6 /* and the weight of that, in runs */
/**
 * FLAG_ENQUEUE where enqueue became longer by more than 2 us and by more than 10 %, and runs agree on it. Units: medians in us,
 * NAN: unknown; `at_least` the log ratio that its standard errors leave.
 */
int flag_enqueue(double base_us, double target_us, double at_least);
/** FLAG_CLOCK where the clock's part of the change is more than 0.1 points and three of its standard errors. */
int flag_clock(const struct estimate *e);

#endif
