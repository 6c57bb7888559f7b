/**
 * ffa_csv.h - writer of the CSV files of MagiAttention's profile_ffa: profile_dense and profile_block_sparse, one side each.
 *
 * Columns and their order are MagiAttention's. Missing results are -1, phases of the other direction are empty. Numbers have
 * four decimals as there, and more for short times, so that they keep the verdict's precision. Pure.
 */
#ifndef READERS_FFA_CSV_H
#define READERS_FFA_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

enum { FFA_CSV_PHASES = 11 };

/** A row of a profile. Units: ms, TFLOP/s; not above 0: missing. */
struct ffa_csv_row {
	int tokens;
	bool backward;
	const char *mask;   /* dense */
	double ratio;       /* block-sparse, as all that follow */
	int block;          /* tokens */
	int tile_q, tile_k; /* of the kernel; 0: unknown */
	double latency_ms, tflops;
	double phase_ms[FFA_CSV_PHASES]; /* indexed by ffa_csv_phase */
};

/** Return the number of a phase, "run", in that direction; -1: no such column. `len`: bytes of the name. */
int ffa_csv_phase(const char *name, size_t len, bool backward);

void ffa_csv_head(struct buf *out, bool sparse);
void ffa_csv_put(struct buf *out, bool sparse, const struct ffa_csv_row *row);

#endif
