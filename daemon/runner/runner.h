/** runner.h - state shared by all modes: the device, the loaded subjects, random numbers, and the failure records. */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/protocol.h"
#include "runner/hoststate.h"
#include "runner/record.h"
#include "runner/subject.h"

/** Exit statuses of a run besides 0 and 2. RUNNER_LOST: a fault record reported the lost device. */
enum { RUNNER_ERROR = 1, RUNNER_LOST = 3 };

struct runner {
	const struct msg_run *run;
	struct records *records;
	const struct device_ops *ops;
	struct device *dev;
	int n_subjects;
	struct subject subject[PROTOCOL_SUBJECTS_MAX];      /* in the run's order; `loaded` false after a fault */
	uint64_t random;                                    /* state of runner_random */
	struct device_setting setting[DEVICE_SETTINGS_MAX]; /* before one module's code runs alone (leaked_state.h) */
	int n_settings;
	struct hoststate host;                /* before any module was loaded */
	bool reported[PROTOCOL_SUBJECTS_MAX]; /* changes of a subject in timed calls were reported */
	int64_t held[PROTOCOL_SUBJECTS_MAX];  /* bytes that each subject holds besides its requested buffers */
	bool lost;                            /* nothing more can run in this process */
	int at_cell;                          /* as in the last `at` record */
	enum role at_role;
};

/**
 * Open the device and load every subject, in a random order by the seed. A module that does not load gets a fault record and
 * stays unloaded. Err: the device is missing or has no memory. Own: runner_close, also after an error.
 */
int runner_open(struct runner *r, const struct msg_run *run, struct records *records, struct fw_err *err);
void runner_close(struct runner *r);

/** Return the next number of the run's stream, below `n`. */
uint32_t runner_random(struct runner *r, uint32_t n);
/** Return an unpredictable seed; the task's if a run must be the same on every machine (sim). */
uint64_t runner_secret(const struct runner *r);
/** Make a random order of 0..n-1. Shape: order[n]. */
void runner_shuffle(struct runner *r, int *order, int n);

/** Return the pinned configuration of a subject in cell position `i`; NULL: none. Own: the run's. */
const char *runner_pin(const struct runner *r, int i, const struct subject *subject);

/** Report the current step. `i` is a position in run->cell (-1: none), `subject` NULL: no single subject. */
void runner_at(struct runner *r, int i, const struct subject *subject, const char *step);
/** Read the driver's state for pass `pass` of cell position `i`; notes a lost device. */
void runner_device_check(struct runner *r, int i, int pass, struct msg_device_check *out);
/** Report a failure of a subject (NULL: no single subject) in cell position `i`; notes a lost device. */
void runner_fault(struct runner *r, int i, const struct subject *subject, const struct failure *f);
/** Report an error of the runner itself in cell position `i`; notes a lost device. */
void runner_error(struct runner *r, int i, const struct fw_err *err);

#endif
