/**
 * case.h - a case (a shape of a family, with its data), a direction, their names and their useful FLOPs.
 *
 * Keys are readable, stable and opaque: no code parses them. "attention/dense/causal/s8192/hq64/hk8/d128/bf16" is a case, with
 * "/forward" it is a cell.
 */
#ifndef MODEL_CASE_H
#define MODEL_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/direction.h"
#include "model/series.h"
#include "model/family.h"
#include "kernels/fw_kernel.h"

enum { CASE_KEY_SIZE = FAMILY_KEY_SIZE };

union shape {
	unsigned char bytes[FAMILY_SHAPE_BYTES];
	max_align_t aligned;
};

/** Self-contained: all data that the runner needs to make the inputs. */
struct cell {
	char key[CASE_KEY_SIZE]; /* case key + "/" + direction */
	char case_key[CASE_KEY_SIZE];
	char baseline[CASE_KEY_SIZE]; /* key of the baseline cell, if the suite has both; "" none */
	char family[16];              /* "attention" */
	char group[16];               /* "dense" or "block_sparse": its table */
	char title[48];               /* "causal", "banded, keep 0.1, block 64": row name there, without the size */
	char line[48];                /* common line of a plot, for cells that differ only in their number of pieces; "" none */
	int64_t size;                 /* 0: none */
	double pieces;
	enum direction direction;
	double threshold_pct;    /* minimum loss of throughput that is a regression */
	double flops;            /* of a call of a benchmark program (family "command"); 0 unknown */
	enum series decide;      /* the deciding series: call, if host time counts */
	double tau0;             /* learned noise of runs, log ratio; 0: the rule's */
	double nu0;              /* degrees of freedom of tau0; 0: tau0 is a prior in addition to pairs */
	double underpowered_pct; /* smallest loss that noisy equal builds let through; 0: the threshold */
	uint64_t seed;           /* of the inputs */
	union shape shape;
};

/** Return its family; NULL for a benchmark program. */
const struct family *case_family(const struct cell *c);

/** Fill keys, group, title and size from `c->family`, `c->shape` and `c->direction`. */
void case_name(struct cell *c);

/** Return the useful FLOPs of one call, for a benchmark program as reported. NAN unknown. */
double case_flops(const struct cell *c);

/** Return the minimum bytes of any implementation: each input read and each output written once. */
double case_bytes(const struct cell *c);

enum family_metric case_metric(const struct cell *c);

/** Return whether its runs are noisier than others', by its table. */
bool case_is_irregular(const struct cell *c);

/** Convert to the kernel ABI. Shape: `shape` has the family's abi_bytes. Own: `out` points at `shape`. */
void case_problem(const struct cell *c, void *shape, struct fw_problem *out);

/** Reject impossible sizes with a message that names the fault (heads that do not divide, a block that does not fit, ...). */
int case_check(const struct cell *c, struct fw_err *err);

#endif
