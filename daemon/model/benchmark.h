/**
 * benchmark.h - a benchmark program: its command, output format, and rule.
 *
 * Its cells are unknown before it has run: every row of its output is one. A process is the unit of measurement: base and
 * target processes alternate A B B A, a process gives one time a cell (the median of its values), two such pairs are a run, and
 * the usual rule judges runs.
 */
#ifndef MODEL_BENCHMARK_H
#define MODEL_BENCHMARK_H

#include <stdbool.h>

#include "lib/yaml.h"
#include "model/case.h"
#include "stats/stats.h"

enum {
	BENCHMARK_ARGS_MAX = 16,
	BENCHMARK_OUTPUTS_MAX = 4,
	BENCHMARK_ARTIFACTS_MAX = 8,
	BENCHMARK_TEXT_SIZE = 256,
	BENCHMARK_PAIRS = 2,
	BENCHMARK_RUNS_MAX = 32,      /* of a cell: each process has its own speed, which only more processes average */
	BENCHMARK_INTERLEAVE_MIN = 8, /* limits of a manifest's pairs in an interleaved session */
	BENCHMARK_INTERLEAVE_MAX = STATS_PAIRS_MAX
};

/** Family of the cells of such a benchmark. */
#define BENCHMARK_FAMILY "command"

struct benchmark {
	char name[64]; /* "": none */
	int n_command;
	char command[BENCHMARK_ARGS_MAX][BENCHMARK_TEXT_SIZE];   /* run in build.dir; "{device}" becomes cuda or cpu */
	int n_outputs;                                           /* 0: its standard output is read */
	char output[BENCHMARK_OUTPUTS_MAX][BENCHMARK_TEXT_SIZE]; /* files that it writes, relative to build.dir */
	int n_artifacts;                                         /* 0: it may read the whole folder, sources included */
	char artifact[BENCHMARK_ARTIFACTS_MAX]
		     [BENCHMARK_TEXT_SIZE]; /* files and folders that exist when it runs, relative to build.dir */
	char reader[24], unit[16];          /* format of readers/reading.h; unit "" unless a triton file needs it */
	char time[8];                       /* google-benchmark: "real" or "cpu"; "" real */
	double threshold_pct;               /* 1.5 */
	double timeout_s;                   /* of one process; 300 */
	double budget_s;                    /* of a comparison; 600 */
	int pairs;                          /* maximum for a cell in one interleaved session; 0 the default */
	bool gpu;                           /* it may use the GPU of its device; true */
};

/** Read one item of `benchmarks:`; mistakes go into `y`. */
void benchmark_read(struct yaml *y, struct yaml_node *node, const char *name, struct benchmark *out);

/**
 * Return the rule for `n_cells` cells of it: two pairs a run, up to 32 runs, and no runs for an interval narrower than half the
 * threshold.
 */
void benchmark_rule(const struct benchmark *b, int n_cells, struct rule *out);

/** Make the cell of a row. Units: flops of one call, 0 unknown. */
void benchmark_cell(const struct benchmark *b, const char *key, double flops, struct cell *out);

#endif
