/**
 * interleave.h - the protocol between the worker and a benchmark program that is timed call by call (doc/interleave.md). Pure:
 * no I/O, no clock.
 *
 * A program requests a turn of a cell, rests until it is granted, makes its calls, reports their times, and requests again. A
 * turn lasts from its `go` until the program rests again: it has no other program next to it in that time.
 */
#ifndef PROTOCOL_INTERLEAVE_H
#define PROTOCOL_INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "model/case.h"

#define INTERLEAVE_VERSION 1
/** Environment variable with the descriptor of the program's socket. */
#define INTERLEAVE_VARIABLE "FLOPWATCH_INTERLEAVE"

enum {
	INTERLEAVE_LINE_MAX = 4096,
	INTERLEAVE_TEXT_SIZE = 400,
	INTERLEAVE_CALLS_MAX = 1 << 16, /* of one turn */
	INTERLEAVE_FACTS_MAX = 64       /* lines of a program in one turn besides its times */
};

enum interleave_word { INTERLEAVE_HELLO, INTERLEAVE_TURN, INTERLEAVE_DONE, INTERLEAVE_FACT, INTERLEAVE_FAIL, INTERLEAVE_BYE };

enum interleave_fact {
	INTERLEAVE_FLOPS,
	INTERLEAVE_BYTES,
	INTERLEAVE_FIRST_MS,
	INTERLEAVE_MEMORY_BYTES,
	INTERLEAVE_OUTPUT,
	INTERLEAVE_CONFIG
};

struct interleave_line {
	enum interleave_word word;
	char text[INTERLEAVE_TEXT_SIZE]; /* hello: the program's name; fail: the reason; facts output and config: the value */
	char key[CASE_KEY_SIZE];         /* turn: of the cell */
	double ms, host_us, mhz;         /* done: of the call; ms 0: no time, and cut; host_us, mhz 0: unknown */
	double repeats;                  /* done: number of calls chosen by the program, with mean `ms`; 0: not reported, one */
	double idle_us;                  /* done: time until the device answered before the call; 0: not reported */
	bool cut;                        /* done: an external interrupt during the call */
	enum interleave_fact fact;
	double value;     /* fact: of the others */
	char failure[16]; /* fail: "wrong" "unsupported" "reported" */
};

/**
 * Parse one line, without its LF. Display text is cleaned, everything else must be exact; unknown words at the end of a `done`
 * are ignored. Err: ERR_PROTOCOL with a predicate of "the benchmark", `out` undefined.
 */
int interleave_parse(const char *line, size_t len, struct interleave_line *out, struct fw_err *err);

/** Write the worker's welcome. `is_list`: only list the cells, compare nothing. */
void interleave_write_welcome(struct buf *out, bool is_list);
/**
 * Write one turn: `warm` untimed calls, then `calls` timed ones, back to back if several. `is_single`: a program that repeats
 * calls must make each one once.
 */
void interleave_write_go(struct buf *out, int warm, int calls, bool is_single);
void interleave_write_next(struct buf *out);

enum interleave_state {
	INTERLEAVE_STARTING, /* no line yet */
	INTERLEAVE_BUSY,     /* between cells: may compute, concurrently with others */
	INTERLEAVE_RESTING,  /* requested a turn, and waits */
	INTERLEAVE_HOLDING,  /* has the turn, and calls to make */
	INTERLEAVE_AFTER,    /* has the turn, its calls are made */
	INTERLEAVE_GONE      /* sent bye */
};

/** State of one program by its lines. Starts zeroed. */
struct interleave_side {
	enum interleave_state state;
	char key[CASE_KEY_SIZE]; /* of the last requested cell */
	int calls_left, facts;   /* of this turn */
};

/** Apply a line to the state. Err: ERR_PROTOCOL the line is not allowed now; trust no further lines of the program. */
int interleave_receive(struct interleave_side *s, const struct interleave_line *line, struct fw_err *err);
void interleave_granted(struct interleave_side *s, int calls);
void interleave_sent_on(struct interleave_side *s);
/** Return whether it computes, or may. */
bool interleave_holds(const struct interleave_side *s);

#endif
