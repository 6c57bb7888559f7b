/**
 * cell_verdict.h - from what was measured of a cell, and what failed, to its verdict: the steps that worker and daemon share. Pure.
 */
#ifndef CORE_VERDICT_CELL_VERDICT_H
#define CORE_VERDICT_CELL_VERDICT_H

#include "core/verdict/mean.h"

/** What a cell's launches say. */
struct cell_finding {
	struct judgement typical;    /* pairs and bursts together */
	struct judgement sustained;  /* bursts alone; all.launches 0: nothing */
	struct tail tail[MEAN_SETS]; /* slow calls of the series that decides, by set */
};

#endif
