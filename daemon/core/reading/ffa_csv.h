/**
 * ffa_csv.h - the CSV files of MagiAttention's profile_ffa: profile_dense and profile_block_sparse, one side each.
 *
 * Columns and their order are theirs. Absent figures are -1, phases of the other direction are empty. Figures have four decimals as
 * theirs, and more where a short time would otherwise lose what its verdict stands on. Pure.
 */
#ifndef CORE_READING_FFA_CSV_H
#define CORE_READING_FFA_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { FFA_CSV_PHASES = 11 };

/** A row of a profile. Units: ms, TFLOP/s; not above 0: absent. */
struct ffa_csv_row {
	int tokens;
	bool backward;
	const char *mask;   /* dense */
	double ratio;       /* block-sparse, as all that follows */
	int block;          /* tokens */
	int tile_q, tile_k; /* of the kernel that ran; 0: not known */
	double latency_ms, tflops;
	double phase_ms[FFA_CSV_PHASES]; /* at ffa_csv_phase's number */
};

/** The number of a phase, "run", in that direction; -1: these files have no such column. `len`: bytes of the name. */
int ffa_csv_phase(const char *name, size_t len, bool backward);

/** The header of a profile, and one row of it. */
void ffa_csv_head(struct buf *out, bool sparse);
void ffa_csv_put(struct buf *out, bool sparse, const struct ffa_csv_row *row);

#endif
