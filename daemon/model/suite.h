/**
 * suite.h - a suite file as a list of cells, in the order of the file: dense before block-sparse, each case forward then
 * backward. Also the constants of its rule.
 */
#ifndef MODEL_SUITE_H
#define MODEL_SUITE_H

#include "lib/yaml.h"
#include "model/case.h"

enum { SUITE_CELLS_MAX = 8192, JOB_CELLS_MAX = 400 /* of one comparison: larger suites are measured in shards (shard.h) */ };

struct suite {
	char name[64];
	char family[16];
	double threshold_pct; /* of cells without an override */
	double budget_s;      /* device seconds a comparison may use */
	int push_cells;       /* number that a push measures, at least those of `always`; 0: all */
	int nights;           /* in which the others are to be measured */
	char *always;         /* globs of cells that every push measures, separated by spaces; NULL none */
	int n_cells;
	struct cell *cell; /* cell[n_cells] */
};

/**
 * Read and resolve a suite. Mistakes (unknown keys, impossible shapes) are collected in `y`, each with its position. Err: -1
 * after any mistake; `out` is then empty. Own: suite_fini frees.
 */
int suite_read(struct yaml *y, struct suite *out);

/** Parse `text`; on mistakes `err` holds all of them, separated by " | " and cut to fit. */
int suite_parse(const char *text, size_t len, const char *file, struct suite *out, struct fw_err *err);
void suite_fini(struct suite *s);

/** Return whether a key matches one of `globs`, separated by spaces (fnmatch; '*' also crosses '/'). */
bool suite_matches(const char *key, const char *globs);
/** Remove cells whose key matches none of `globs`. Returns the number left. */
int suite_filter(struct suite *s, const char *globs);

/** Compute SHA-256 of the resolved cells: files that differ only in format hash alike. Shape: hex[65]. */
void suite_hash(const struct suite *s, char hex[65]);

#endif
