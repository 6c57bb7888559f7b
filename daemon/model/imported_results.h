/** imported_results.h - measured rows of a foreign benchmark, as submitted. */
#ifndef CORE_REQUEST_FIGURES_H
#define CORE_REQUEST_FIGURES_H

/** Rows measured elsewhere. `base_ms` 0: the target only. Times are medians; tflops 0: unknown. */
struct foreign_row {
	const char *cell;
	const char *failure; /* the benchmark's error for the target, which then has no time; NULL none */
	double base_ms, target_ms, base_tflops, target_tflops;
};
struct foreign_figures {
	const char *repo, *branch, *commit, *base; /* branch and base NULL: none; full commit ids */
	const char *name;                          /* stored in place of a suite's name */
	int n;
	const struct foreign_row *row; /* row[n] */
};

#endif
