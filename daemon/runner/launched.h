/** launched.h - kernels of a call in order, and their phases, read from captured graphs. */
#ifndef RUNNER_LAUNCHED_H
#define RUNNER_LAUNCHED_H

#include "runner/runner.h"

struct launched {
	int n; /* nodes, kernels and others */
	int n_kernels;
	bool is_cut;             /* there were more than EVIDENCE_KERNELS_MAX */
	struct msg_kernel *node; /* node[n]; role, repeat and cell are set, values are not */
	bool *is_kernel;
};

/**
 * List the kernels of subject `u`, planned and bound, in cell position `i`. Own: launched_free, also after -1. Err: the call
 * cannot be captured.
 */
int launched_list(struct launched *l, struct runner *r, int i, struct subject *u, struct fw_err *err);
void launched_free(struct launched *l);

#endif
