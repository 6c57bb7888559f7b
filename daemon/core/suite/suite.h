/**
 * suite.h - a suite file becomes a list of cells, in the order of the file: dense before block-sparse, each case forward then
 * backward. Also the rule constants that go with it.
 */
#ifndef CORE_SUITE_SUITE_H
#define CORE_SUITE_SUITE_H

#include "base/yaml.h"
#include "core/case/case.h"

enum { SUITE_CELLS_MAX = 8192, JOB_CELLS_MAX = 400 /* of one comparison: the rest is measured in parts (shard.h) */ };

struct suite {
	char name[64];
	char family[16];
	double threshold_pct; /* of cells without an override */
	double budget_s;      /* device seconds a comparison may use */
	int push_cells;       /* that are measured on a push, with those of `always` at least; 0: all */
	int nights;           /* in which the others are to have been measured */
	char *always;         /* globs of cells that are measured on a push, separated by spaces; NULL none */
	int n_cells;
	struct cell *cell; /* cell[n_cells] */
};

/**
 * Read and resolve a suite. Mistakes (unknown keys, impossible shapes) are collected in `y`, each with its position.
 * Err: -1 when there was any mistake; `out` is then empty. Own: suite_fini frees.
 */
int suite_read(struct yaml *y, struct suite *out);

/** Convenience: parse `text`; on mistakes `err` holds all of them, separated by " | " and cut to fit. */
int suite_parse(const char *text, size_t len, const char *file, struct suite *out, struct fw_err *err);
void suite_fini(struct suite *s);

/** Whether a key matches one of `globs`, separated by spaces (fnmatch; '*' also crosses '/'). */
bool suite_matches(const char *key, const char *globs);
/** Keep only cells whose key matches one of `globs`. Returns how many are left. */
int suite_filter(struct suite *s, const char *globs);

/** SHA-256 of the resolved cells: equal files of other formatting hash alike. Shape: hex[65]. */
void suite_hash(const struct suite *s, char hex[65]);

#endif
