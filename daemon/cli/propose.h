/**
 * propose.h - from what lies in a checkout to what its manifest should say, each line with its reason. Pure but for questions whether a file is there.
 */
#ifndef CLI_PROPOSE_H
#define CLI_PROPOSE_H

#include <stdbool.h>

#include "cli/command.h"
#include "cli/scan.h"

enum { PROPOSE_BENCHMARKS_MAX = 4, PROPOSE_STEPS_MAX = 12, PROPOSE_NOTES_MAX = 12 };

struct propose_benchmark {
	char name[64], why[320];
	struct command command;
	const char *reader;
	char output[128];   /* "" it prints */
	char artifact[256]; /* "" the whole folder */
	bool uses_gpu;
};

struct proposal {
	char module[256]; /* the module's path, "" none: then there are benchmarks */
	char module_why[320];
	char suite[SCAN_SUITES_MAX][64];
	char suite_why[160];
	int n_suites;
	int n_steps; /* of the build */
	struct command step[PROPOSE_STEPS_MAX];
	char step_why[PROPOSE_STEPS_MAX][320];
	int n_benchmarks;
	struct propose_benchmark benchmark[PROPOSE_BENCHMARKS_MAX];
	int n_notes; /* for people: what was seen and not used, and what may be missing */
	char note[PROPOSE_NOTES_MAX][400];
};

/** False: nothing there that can be measured is known. The notes then say what was seen. */
bool propose(const struct scan *l, struct proposal *out);

#endif
