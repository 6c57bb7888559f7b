/** derive.h - figures that pages derive from stored ones: totals, means, fits, what is still missing. Pure arithmetic. */
#ifndef WEB_HTML_DERIVE_H
#define WEB_HTML_DERIVE_H

/** Change of throughput in percent from two times; negative = slower. NAN when either is missing. */
double derive_change_pct(double base_ms, double target_ms);

/** Geometric mean of changes. Shape: change_pct[n]; those that are not finite are left out. NAN for none. */
double derive_geomean_pct(const double *change_pct, int n);

/** t = a + b x, least squares in relative error, so that short times count as much as long ones. Shape: x[n], t[n]; -1 when n < 2 or all x are equal. */
int derive_line(const double *x, const double *t, int n, double *a, double *b);

/**
 * Runs that an undecided cell needs in all so that k standard errors clear the threshold, if the estimate stays where it
 * is; 0 when it sits so close to the threshold that more than `most` would be needed. Units: log ratio for m, se, theta.
 */
int derive_runs(double m, double se, double theta, double k, int runs, int most);

struct chip {
	const char *family; /* "Hopper" */
	double flop_clk_sm; /* dense bf16 FLOP each clock and SM, fp32 accumulation */
	int shared_sm_bytes, shared_reserved_bytes, threads_sm, blocks_sm;
};
/** What is known of a GPU by its name; NULL otherwise. Source: NVIDIA's CUDA programming guide, table of compute capabilities; data sheets. */
const struct chip *derive_chip(const char *device_name);

/** Peak at a clock. Units: TFLOP/s; NAN when something is unknown. */
double derive_peak_tflops(const struct chip *chip, int cores, double mhz);

/** Blocks of a kernel that one SM holds at a time, by registers, shared memory and threads. 0 when the chip is not known. */
int derive_blocks_per_sm(const struct chip *chip, int threads, int registers, long shared_bytes);

#endif
