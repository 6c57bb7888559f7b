/**
 * case.h - what is measured: a case (a shape of a family, with its data), a direction, their names and their useful FLOPs.
 *
 * Keys are readable, stable and opaque: nothing parses them. "attention/dense/causal/s8192/hq64/hk8/d128/bf16" is a case,
 * with "/forward" it is a cell.
 */
#ifndef CORE_CASE_CASE_H
#define CORE_CASE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/state/direction.h"
#include "core/state/series.h"
#include "family/family.h"
#include "kernels/fw_kernel.h"

enum { CASE_KEY_SIZE = FAMILY_KEY_SIZE };

/** The shape of a case, of the family's type. */
union shape {
	unsigned char bytes[FAMILY_SHAPE_BYTES];
	max_align_t aligned;
};

/** Self-contained: everything the runner needs to make the inputs. */
struct cell {
	char key[CASE_KEY_SIZE]; /* case key + "/" + direction */
	char case_key[CASE_KEY_SIZE];
	char baseline[CASE_KEY_SIZE]; /* key of the cell that it is held against where a suite has both; "" none */
	char family[16];              /* "attention" */
	char group[16];               /* "dense" or "block_sparse": the table it is shown in */
	char title[48];               /* "causal", "banded, keep 0.1, block 64": its row's name there, with the size */
	char line[48];                /* what cells share whose times lie on one line over their pieces; "" none */
	int64_t size;                 /* 0: none */
	double pieces;
	enum direction direction;
	double threshold_pct;    /* loss of throughput that is a regression */
	double flops;            /* of a call of a foreign benchmark (family "command"); 0 unknown */
	enum series decide;      /* the series that decides: of calls where host time is part of the promise */
	double tau0;             /* noise of runs that was learned, log ratio; 0: the rule's */
	double nu0;              /* in how many runs it was seen; 0: tau0 comes beside what pairs say */
	double underpowered_pct; /* equal builds noise so much that a smaller loss has to be clear; 0: it sees its threshold */
	uint64_t seed;           /* of the inputs */
	union shape shape;
};

/** Its family; NULL of a foreign benchmark. */
const struct family *case_family(const struct cell *c);

/** Fill keys, group, title and size from `c->family`, `c->shape` and `c->direction`. */
void case_name(struct cell *c);

/** Useful FLOPs of one call; of a foreign benchmark what it says. NAN unknown. */
double case_flops(const struct cell *c);

/** Bytes that every implementation moves at least: each input read and each output written once. */
double case_bytes(const struct cell *c);

/** By what the cell is shown to be fast. */
enum family_metric case_metric(const struct cell *c);

/** Whether runs of it noise more than others', by the table that it is shown in. */
bool case_is_irregular(const struct cell *c);

/** The kernel ABI's view. Shape: `shape` has the family's abi_bytes. Own: `out` points at `shape`. */
void case_problem(const struct cell *c, void *shape, struct fw_problem *out);

/** Refuse impossible sizes in words a person can act on (heads that do not divide, a block that does not fit, ...). */
int case_check(const struct cell *c, struct fw_err *err);

#endif
