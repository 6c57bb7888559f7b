/**
 * manifest.h - `.flopwatch.yaml` at a branch's root: what travels, how it is built, where the modules come out.
 *

 * It may also name benchmarks that are programs of their own:
 *   benchmarks: {vecsum: {command: [python3, bench.py], reader: flopwatch}}
 * With them the defaults are inputs [.], dir ., no build, and the benchmarks as suites.
 *
 * Without a file the defaults suit flopwatch's own repository: inputs [kernels], dir kernels, make DEVICE={device},
 * attention at build/{device}/libattention.so, suites [ffa], peers [cudnn@cuda]. A file that says how to build, or names
 * benchmarks, has the peers that it names.
 */
#ifndef CORE_SUITE_MANIFEST_H
#define CORE_SUITE_MANIFEST_H

#include "base/yaml.h"
#include "core/suite/benchmark.h"
#include "core/suite/peers.h"

enum { MANIFEST_LIST_MAX = 32, MANIFEST_TEXT_SIZE = 256, MANIFEST_BENCHMARKS_MAX = 4 };

struct manifest {
	int n_inputs;
	char input[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE];   /* paths in the tree, relative, no ".." */
	char dir[MANIFEST_TEXT_SIZE];                        /* where the command runs */
	int n_command;                                       /* 0: nothing is built */
	char command[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE]; /* argument vector; "{device}" becomes cuda, cpu or sim's cpu */
	int n_outputs;
	char family[8][16];                 /* "attention" */
	char output[8][MANIFEST_TEXT_SIZE]; /* path of the module, relative to dir */
	int n_suites;
	char suite[8][64];
	struct yaml_place suite_at[8]; /* where each is named; nowhere where the defaults do */
	double timeout_s;              /* of the build; default 900 */
	int n_benchmarks;
	struct benchmark benchmark[MANIFEST_BENCHMARKS_MAX];
	struct peers peers; /* whom the upstream branch is measured beside */
};

/** The defaults above. */
void manifest_default(struct manifest *m);
/** `text` NULL gives the defaults. Err: all mistakes, each with file:line:col, separated by " | ". Paths that are absolute or hold ".." are mistakes. */
int manifest_parse(const char *text, size_t len, const char *file, struct manifest *out, struct fw_err *err);
/** The benchmark of that name, NULL none. */
const struct benchmark *manifest_benchmark(const struct manifest *m, const char *name);
/** Whether `path` is relative and stays inside: no leading slash, no "..", no empty or "." part; "." alone is the root. */
bool manifest_path_ok(const char *path);
/** Replace "{device}" in `text`. Shape: out[size]. */
void manifest_expand(const char *text, const char *device, char *out, size_t size);

/** A string into a field, a list of strings into rows[max][size]; mistakes go into `y`. The list returns how many, `n` when it is absent. */
void manifest_read_text(struct yaml *y, struct yaml_node *n, bool path, char *out, size_t size);
int manifest_read_list(struct yaml *y, struct yaml_node *list, bool path, char *rows, size_t size, int max, int n);

#endif
