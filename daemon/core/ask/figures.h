/** figures.h - figures that somebody else measured, as they are handed in. */
#ifndef CORE_ASK_FIGURES_H
#define CORE_ASK_FIGURES_H

/** Figures that somebody else measured. `base_ms` 0: of the target alone. Times are medians; tflops 0: unknown. */
struct foreign_row {
	const char *cell;
	const char *failure; /* what the benchmark said went wrong with the target, which then has no time; NULL nothing */
	double base_ms, target_ms, base_tflops, target_tflops;
};
struct foreign_figures {
	const char *repo, *branch, *commit, *base; /* branch and base NULL: none; commits in full */
	const char *name;                          /* what it is stored under, where a suite's name stands */
	int n;
	const struct foreign_row *row; /* row[n] */
};

#endif
