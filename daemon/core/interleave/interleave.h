/**
 * interleave.h - the lines between the worker and a program of its own that is timed call by call (doc/interleave.md), and what may be said when.
 * Pure: no I/O, no clock.
 *
 * A program asks for a turn of a cell, rests until it is granted, makes its calls, says what they took, and asks again. A turn
 * lasts from its `go` until the program rests again: whatever it does in between, it does alone.
 */
#ifndef CORE_INTERLEAVE_INTERLEAVE_H
#define CORE_INTERLEAVE_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/case/case.h"

#define INTERLEAVE_VERSION 1
/** Tells a program the descriptor of its socket. */
#define INTERLEAVE_VARIABLE "FLOPWATCH_INTERLEAVE"

enum {
	INTERLEAVE_LINE_MAX = 4096,
	INTERLEAVE_TEXT_SIZE = 400,
	INTERLEAVE_CALLS_MAX = 1 << 16, /* of one turn */
	INTERLEAVE_FACTS_MAX = 64       /* lines that a program may say in one turn beside its times */
};

/** What a program says. */
enum interleave_word { INTERLEAVE_HELLO, INTERLEAVE_TURN, INTERLEAVE_DONE, INTERLEAVE_FACT, INTERLEAVE_FAIL, INTERLEAVE_BYE };

enum interleave_fact {
	INTERLEAVE_FLOPS,
	INTERLEAVE_BYTES,
	INTERLEAVE_FIRST_MS,
	INTERLEAVE_MEMORY_BYTES,
	INTERLEAVE_OUTPUT,
	INTERLEAVE_CONFIG
};

/** A line of a program. */
struct interleave_line {
	enum interleave_word word;
	char text[INTERLEAVE_TEXT_SIZE]; /* hello: who speaks; fail: why; fact output and config: what */
	char key[CASE_KEY_SIZE];         /* turn: of the cell */
	double ms, host_us, mhz;         /* done: of the call; ms 0: it has no time, and is cut; host_us, mhz 0: not known */
	double repeats; /* done: calls that the program chose to make, of which `ms` is the mean; 0: not told, one */
	double idle_us; /* done: until the device answered before the call; 0: not told */
	bool cut;       /* done: something outside the program interrupted the call */
	enum interleave_fact fact;
	double value;     /* fact: of the others */
	char failure[16]; /* fail: "wrong" "unsupported" "reported" */
};

/**
 * Read one line, without its LF. Text for people is cleaned, everything else is refused unless it is exact; words after those of a `done`
 * that are not known are passed over. Err: ERR_PROTOCOL in words that follow "the benchmark", `out` undefined.
 */
int interleave_parse(const char *line, size_t len, struct interleave_line *out, struct fw_err *err);

/** What the worker says. `is_list`: calls for knowing the cells, nothing is compared. */
void interleave_write_welcome(struct buf *out, bool is_list);
/**
 * One turn: `warm` calls that are not timed, then `calls` that are, one directly after the other where they are several. `is_single`: a program
 * that repeats its calls is asked to make each one once.
 */
void interleave_write_go(struct buf *out, int warm, int calls, bool is_single);
/** No further turn for this cell. */
void interleave_write_next(struct buf *out);

enum interleave_state {
	INTERLEAVE_STARTING, /* nothing was said yet */
	INTERLEAVE_BUSY,     /* between cells: does what it likes, beside the others */
	INTERLEAVE_RESTING,  /* asked, and waits */
	INTERLEAVE_HOLDING,  /* has the turn, and calls to make */
	INTERLEAVE_AFTER,    /* has the turn, its calls are made */
	INTERLEAVE_GONE      /* said bye */
};

/** One program, as far as its lines tell. Starts zeroed. */
struct interleave_side {
	enum interleave_state state;
	char key[CASE_KEY_SIZE]; /* of the cell that it asked for last */
	int calls_left, facts;   /* of this turn */
};

/** Take a line into account. Err: ERR_PROTOCOL it may not be said now; the program is not to be believed any further. */
int interleave_hear(struct interleave_side *s, const struct interleave_line *line, struct fw_err *err);
/** The worker's answers to one that rests. */
void interleave_granted(struct interleave_side *s, int calls);
void interleave_sent_on(struct interleave_side *s);
/** Whether it computes, or may. */
bool interleave_holds(const struct interleave_side *s);

#endif
