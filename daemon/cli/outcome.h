/** outcome.h - what a worker said of one trial: builds, checks, times, what failed. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include "protocol/protocol.h"

enum { OUTCOME_NOTES_MAX = 16, OUTCOME_FAULTS_MAX = 16, OUTCOME_TEXT_SIZE = 560 };

struct outcome_cell {
	char key[CASE_KEY_SIZE];
	double flops;     /* NAN unknown */
	double bytes;     /* of what is shown by them; NAN else */
	double ms;        /* median of the run; NAN none */
	char failure[16]; /* "" none */
	char detail[512];
};

struct outcome {
	struct msg_device device; /* kind DEVICE_ANY: no hello came */
	bool is_sandboxed;
	char build_state[8]; /* of the target; "" not reached */
	char build_detail[256];
	double build_s;
	struct buf log; /* of the build */
	int n_cells;
	struct outcome_cell *cell;
	int n_notes, n_faults, n_left; /* n_left: notes and faults for which there was no room */
	char note[OUTCOME_NOTES_MAX][OUTCOME_TEXT_SIZE];
	struct {
		char failure[16], detail[OUTCOME_TEXT_SIZE];
	} fault[OUTCOME_FAULTS_MAX]; /* of no cell in particular */
	int runs;
	double check_s, run_s; /* wall time until the first run after the build, and of it */
	int64_t built_ns, launched_ns;
	bool is_done;
};

void outcome_init(struct outcome *o);
void outcome_fini(struct outcome *o);
/** The cells that are asked for. Err: memory. */
int outcome_cells(struct outcome *o, const struct cell *cell, int n, struct fw_err *err);
/** Take note of a message. Err: memory. */
int outcome_receive(struct outcome *o, const struct msg *m, struct fw_err *err);
/** Cells with a time, cells that are not supported, cells that failed. */
void outcome_count(const struct outcome *o, int *timed, int *unsupported, int *failed);

#endif
