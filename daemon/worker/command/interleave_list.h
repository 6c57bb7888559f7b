/**
 * interleave_list.h - a program that takes turns runs alone through its cells: which there are, in which order, what they are, and how long a
 * call takes. Nothing is compared.
 */
#ifndef WORKER_COMMAND_INTERLEAVE_LIST_H
#define WORKER_COMMAND_INTERLEAVE_LIST_H

#include "base/lines.h"
#include "core/reading/reading.h"
#include "core/interleave/interleave.h"

/** A cell as its program tells it. Numbers 0 and texts "": not told. */
struct interleave_told {
	char key[CASE_KEY_SIZE];
	double ms;       /* the shortest call but the first, or that */
	double first_ms; /* of the first call of all */
	double flops, bytes, memory_bytes;
	char output[96], config[160];
	char failure[16], detail[INTERLEAVE_TEXT_SIZE]; /* why it has no times */
};

struct interleave_list {
	bool speaks; /* it said hello: it takes turns */
	bool broken; /* what it said is nonsense */
	int n;
	struct interleave_told *cell; /* cell[n] in the order in which it came to them */
	/* internal */
	struct interleave_side side;
	struct lines lines;
	const int *fd;
	int calls, untimed, room;
	double spent_ms;       /* in calls of this cell but the first, */
	bool is_slow_to_begin; /* which took so long that a call is not made twice to be timed once */
};

/** Start empty. `fd`: where its answers go, filled by whoever starts the program. */
void interleave_list_begin(struct interleave_list *l, const int *fd);
void interleave_list_fini(struct interleave_list *l);
/** A pump_read_fn: what the program said, answered at once. Err: it is nonsense. */
int interleave_list_read(void *arg, const char *data, size_t len, struct fw_err *err);
/** As if it had written them into a file. Own: reading_fini. Err: more cells than a benchmark may have. */
int interleave_list_reading(const struct interleave_list *l, struct reading *out, struct fw_err *err);
/** What it told of a cell; NULL nothing. */
const struct interleave_told *interleave_list_find(const struct interleave_list *l, const char *key);

#endif
