/**
 * slurm.h - a worker's allocations as Slurm has them: why and at which place each waits, and those that nobody waits for any more.
 *
 * Only squeue and scancel are asked, so that nothing of Slurm is linked and every version from 20.11 on will do. Whether a job did well is
 * never asked there: its worker says so.
 */
#ifndef FLOPWATCHD_EXECUTOR_SLURM_H
#define FLOPWATCHD_EXECUTOR_SLURM_H

#include "flopwatchd/executor/executor_inside.h"

/** Own: slurm_free. What has no owner, as what an earlier daemon left, is searched for at once and now and then. */
int slurm_new(struct executors *x, const struct config_worker *w, struct slurm **out, struct fw_err *err);
/** Accepts NULL. */
void slurm_free(struct slurm *s);

/** Under which name submission `n` of this daemon is known there. Shape: name[EXECUTOR_NAME_SIZE]. */
void slurm_name(const struct slurm *s, unsigned n, char name[EXECUTOR_NAME_SIZE]);
/** Something waits: look now and then, until nothing does. */
void slurm_look(struct slurm *s);
/** An allocation may have lost its owner: search until there is none such. */
void slurm_search(struct slurm *s);

/** One line of squeue, as slurm.c asks for it. Texts point into the line. */
struct slurm_row {
	const char *id, *state, *reason, *name;
};
/** Take a line apart. False: it is none. */
bool slurm_row_read(char *line, struct slurm_row *out);

#endif
