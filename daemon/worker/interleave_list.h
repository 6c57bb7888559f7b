/**
 * interleave_list.h - a solo run of an interleaved program through its cells: which cells, in which order, their properties,
 * and the time of a call. Compares nothing.
 */
#ifndef WORKER_INTERLEAVE_LIST_H
#define WORKER_INTERLEAVE_LIST_H

#include "lib/lines.h"
#include "readers/reading.h"
#include "protocol/interleave.h"

/** A cell as its program reports it. Numbers 0 and texts "": not reported. */
struct interleave_reported {
	char key[CASE_KEY_SIZE];
	double ms;       /* shortest call but the first; the first if it is the only one */
	double first_ms; /* of the very first call */
	double flops, bytes, memory_bytes;
	char output[96], config[160];
	char failure[16], detail[INTERLEAVE_TEXT_SIZE]; /* why it has no times */
};

struct interleave_list {
	bool speaks; /* it sent hello: it can be interleaved */
	bool broken; /* it sent an invalid line */
	int n;
	struct interleave_reported *cell; /* cell[n] in the order in which the program reached them */
	/* internal */
	struct interleave_side side;
	struct lines lines;
	const int *fd;
	int calls, untimed, room;
	double spent_ms;       /* in calls of this cell but the first, */
	bool is_slow_to_begin; /* which took so long that it is not repeated to be timed warm */
};

/** Start empty. `fd`: descriptor for answers, set by the code that starts the program. */
void interleave_list_begin(struct interleave_list *l, const int *fd);
void interleave_list_fini(struct interleave_list *l);
/** Parse the program's lines and answer at once (a pump_read_fn). Err: an invalid line. */
int interleave_list_read(void *arg, const char *data, size_t len, struct fw_err *err);
/** Convert the list to a reading, as if from an output file. Own: reading_fini. Err: more cells than a benchmark may have. */
int interleave_list_reading(const struct interleave_list *l, struct reading *out, struct fw_err *err);
/** Return the program's data of a cell; NULL none. */
const struct interleave_reported *interleave_list_find(const struct interleave_list *l, const char *key);

#endif
