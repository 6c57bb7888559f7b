/**
 * runner.h - what check, run and capture share: the device, the loaded subjects, random numbers, and who to blame.
 */
#ifndef RUNNER_CALL_RUNNER_H
#define RUNNER_CALL_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/protocol/protocol.h"
#include "runner/call/hoststate.h"
#include "runner/call/record.h"
#include "runner/call/subject.h"

/** Exit statuses of a run beside 0 and 2. A lost device was reported by a fault record. */
enum { RUNNER_ERROR = 1, RUNNER_LOST = 3 };

struct runner {
	const struct msg_run *run;
	struct records *records;
	const struct device_ops *ops;
	struct device *dev;
	int n_subjects;
	struct subject subject[PROTOCOL_SUBJECTS_MAX];      /* in the run'r order; `loaded` false after a fault */
	uint64_t random;                                    /* state of runner_random */
	struct device_setting setting[DEVICE_SETTINGS_MAX]; /* before the code of one module runs alone (leaked_state.h) */
	int n_settings;
	struct hoststate host;               /* before any module was loaded */
	bool told[PROTOCOL_SUBJECTS_MAX];    /* what a subject changes in timed calls was noted */
	int64_t held[PROTOCOL_SUBJECTS_MAX]; /* bytes that each subject holds beside what it asked us for */
	bool lost;                           /* nothing more can run in this process */
	int at_cell;                         /* as in the last `at` record */
	enum role at_role;
};

/**
 * Open the device and load every subject, in an order drawn from the seed. A module that does not load is a fault record and
 * stays unloaded. Err: the device is missing or has no memory. Own: runner_close, also after an error.
 */
int runner_open(struct runner *r, const struct msg_run *run, struct records *records, struct fw_err *err);
void runner_close(struct runner *r);

/** Next number of the run'r stream, below `n`. */
uint32_t runner_random(struct runner *r, uint32_t n);
/** A seed that nobody could foresee, the task's where a run has to be the same on every machine (sim). */
uint64_t runner_secret(const struct runner *r);
/** A random order of 0..n-1. Shape: order[n]. */
void runner_shuffle(struct runner *r, int *order, int n);

/** The configuration that was handed back for a subject in cell place `i`; NULL: none. Own: the run's. */
const char *runner_pin(const struct runner *r, int i, const struct subject *subject);

/** Record where we are. `i` is a place in run->cell (-1: none), `subject` NULL when no one is meant. */
void runner_at(struct runner *r, int i, const struct subject *subject, const char *step);
/** What the device's driver says now, beside pass `pass` of cell place `i`; notes a lost device. */
void runner_device_check(struct runner *r, int i, int pass, struct msg_device_check *out);
/** Record a failure of a subject (NULL: nobody in particular) in cell place `i`; notes a lost device. */
void runner_fault(struct runner *r, int i, const struct subject *subject, const struct failure *f);
/** Record a failure of our own work on cell place `i`; notes a lost device. */
void runner_error(struct runner *r, int i, const struct fw_err *err);

#endif
