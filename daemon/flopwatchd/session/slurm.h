/**
 * slurm.h - a worker's Slurm allocations: reason and position of each pending one, and cancellation of those without an owner.
 * Only squeue and scancel are used: nothing of Slurm is linked, and every version from 20.11 works. The worker, not Slurm,
 * reports how a job ended.
 */
#ifndef FLOPWATCHD_SESSION_SLURM_H
#define FLOPWATCHD_SESSION_SLURM_H

#include "flopwatchd/session/executor_inside.h"

/** Searches at once and periodically for allocations without an owner, such as those of an earlier daemon. Own: slurm_free. */
int slurm_new(struct executors *x, const struct config_worker *w, struct slurm **out, struct fw_err *err);
void slurm_free(struct slurm *s);

/** Name of submission `n` of this daemon in Slurm. Shape: name[EXECUTOR_NAME_SIZE]. */
void slurm_name(const struct slurm *s, unsigned n, char name[EXECUTOR_NAME_SIZE]);
/** Poll the queue while a submission is pending. */
void slurm_look(struct slurm *s);
/** Search for allocations without an owner until there is none. */
void slurm_search(struct slurm *s);

/** One line of squeue in the format of slurm.c. Texts point into the line. */
struct slurm_row {
	const char *id, *state, *reason, *name;
};
/** Split a line. False: it has another format. */
bool slurm_row_read(char *line, struct slurm_row *out);

#endif
